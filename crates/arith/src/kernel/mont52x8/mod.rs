//! Montgomery arithmetic on eight numbers side by side, in 52-bit digits, one number a lane.

mod digits;
mod lookup;
mod tiles;

use super::LaneKernel;
use super::lanes::{Cell, DIGIT_BITS, DIGIT_MASK, Lanes, Work};
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Modulus, Nat, words};
use lookup::LookUp;
use subtle::Choice;
use tiles::Beside;
use zeroize::Zeroizing;

/// The eight-lane kernel over one form of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Mont52x8<V: Lanes> {
    token: V::Token,
}

/// The moduli of eight lanes, prepared.
pub(crate) struct Moduli {
    /// Every lane's modulus in plain limbs.
    plain: [Nat; 8],
    n: Aligned,
    /// -1 / n mod 2^52.
    n0: Zeroizing<Cell>,
    /// R mod n.
    one: Aligned,
    /// R^2 mod n.
    rr: Aligned,
    /// 1, not in Montgomery form.
    unit: Aligned,
    /// Room to prepare one modulus: two numbers, one of them of twice the length.
    working: Nat,
}

/// Digits of a number that has `limbs` limbs: R exceeds 4 n, and tiles of five rows fit.
fn digits(limbs: usize) -> usize {
    (limbs * LIMB_BITS + 2)
        .div_ceil(DIGIT_BITS)
        .next_multiple_of(tiles::SMALL)
}

fn cells(words: &[u64]) -> &[Cell] {
    words.as_chunks().0
}

fn cells_mut(words: &mut [u64]) -> &mut [Cell] {
    words.as_chunks_mut().0
}

impl<V: Lanes> Mont52x8<V> {
    /// The kernel, for who can prove that the CPU has the instructions.
    pub(crate) fn new(token: V::Token) -> Self {
        Self { token }
    }

    fn times(self, moduli: &Moduli, a: &mut [u64], b: &[u64], t: &mut [u64]) {
        V::run(
            self.token,
            Multiply {
                moduli,
                a: cells_mut(a),
                b: cells(b),
                t: cells_mut(t),
            },
        );
    }
}

impl<V: Lanes> LaneKernel for Mont52x8<V> {
    const NAME: &'static str = V::MONT52X8;
    const LANES: usize = 8;
    type Moduli = Moduli;

    fn words(limbs: usize) -> usize {
        8 * digits(limbs)
    }

    fn working_words(limbs: usize) -> usize {
        2 * Self::words(limbs)
    }

    fn moduli(self, limbs: usize) -> Moduli {
        let zero = || Aligned::zero(Self::words(limbs));
        let mut unit = zero();
        cells_mut(&mut unit)[0] = [1; 8];
        Moduli {
            plain: std::array::from_fn(|_| Nat::zero(limbs)),
            n: zero(),
            n0: Zeroizing::new([0; 8]),
            one: zero(),
            rr: zero(),
            unit,
            working: Nat::zero(4 * limbs),
        }
    }

    fn set_modulus(self, moduli: &mut Moduli, lane: usize, modulus: &Modulus) {
        let limbs = modulus.limbs();
        let (one, working) = moduli.working.split_at_mut(limbs);
        let (rr, t) = working.split_at_mut(limbs);
        // R mod n, from R' = 2^(64 limbs) mod n by doubling.
        one.copy_from_slice(modulus.one());
        for _ in limbs * LIMB_BITS..digits(limbs) * DIGIT_BITS {
            words::shift_in_mod(one, 0, modulus.n());
        }
        // R R / R', then R^2 / R' R'^2 / R'.
        rr.copy_from_slice(one);
        modulus.mul_reduced(rr, one, t);
        modulus.mul_reduced(rr, modulus.rr(), t);
        digits::put(cells_mut(&mut moduli.n), lane, modulus.n());
        digits::put(cells_mut(&mut moduli.one), lane, one);
        digits::put(cells_mut(&mut moduli.rr), lane, rr);
        moduli.n0[lane] = modulus.n0() & DIGIT_MASK;
        moduli.plain[lane].copy_from_slice(modulus.n());
    }

    fn load(self, _: &Moduli, lane: usize, limbs: &[u64], value: &mut [u64]) {
        digits::put(cells_mut(value), lane, limbs);
    }

    fn store(self, moduli: &Moduli, lane: usize, value: &[u64], limbs: &mut [u64]) {
        let n = &moduli.plain[lane];
        let above = digits::take(cells(value), lane, limbs);
        let over = Choice::from(above as u8 & 1) | !words::is_less(limbs, n);
        words::sub_if(limbs, n, over);
    }

    fn one(self, moduli: &Moduli, value: &mut [u64]) {
        value.copy_from_slice(&moduli.one);
    }

    fn enter(self, moduli: &Moduli, a: &mut [u64], working: &mut [u64]) {
        self.times(moduli, a, &moduli.rr, working);
    }

    fn leave(self, moduli: &Moduli, a: &mut [u64], working: &mut [u64]) {
        self.times(moduli, a, &moduli.unit, working);
    }

    fn mul(self, moduli: &Moduli, a: &mut [u64], b: &[u64], working: &mut [u64]) {
        self.times(moduli, a, b, working);
    }

    fn sqr(self, moduli: &Moduli, a: &mut [u64], times: usize, working: &mut [u64]) {
        V::run(
            self.token,
            Square {
                moduli,
                a: cells_mut(a),
                times,
                t: cells_mut(working),
            },
        );
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        let work = Select {
            table: cells(table),
            digits,
            selected: cells_mut(value),
        };
        V::run(self.token, work);
    }

    fn sqr_select(
        self,
        moduli: &Moduli,
        (a, times): (&mut [u64], usize),
        (table, digits): (&[u64], &[u8]),
        selected: &mut [u64],
        working: &mut [u64],
    ) {
        let square = Square {
            moduli,
            a: cells_mut(a),
            times,
            t: cells_mut(working),
        };
        let select = Select {
            table: cells(table),
            digits,
            selected: cells_mut(selected),
        };
        V::run(self.token, SquareSelect { square, select });
    }
}

struct Multiply<'a> {
    moduli: &'a Moduli,
    a: &'a mut [Cell],
    b: &'a [Cell],
    t: &'a mut [Cell],
}

impl Work for Multiply<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self { moduli, a, b, t } = self;
        let t = &mut t[..2 * a.len()];
        tiles::product::<V>(token, t, a, b);
        tiles::reduce::<V>(token, t, cells(&moduli.n), &moduli.n0, a, &mut tiles::Idle);
    }
}

struct Square<'a> {
    moduli: &'a Moduli,
    a: &'a mut [Cell],
    times: usize,
    t: &'a mut [Cell],
}

impl Work for Square<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        square_beside::<V>(self, token, &mut tiles::Idle);
    }
}

#[inline(always)]
fn square_beside<V: Lanes>(square: Square<'_>, token: V::Token, beside: &mut impl Beside) {
    let Square {
        moduli,
        a,
        times,
        t,
    } = square;
    let t = &mut t[..2 * a.len()];
    for _ in 0..times {
        tiles::square::<V>(token, t, a, beside);
        tiles::reduce::<V>(token, t, cells(&moduli.n), &moduli.n0, a, beside);
    }
}

struct Select<'a> {
    table: &'a [Cell],
    digits: &'a [u8],
    selected: &'a mut [Cell],
}

impl Work for Select<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        LookUp::<V>::new(token, self.table, self.digits, self.selected).finish();
    }
}

/// A look-up, and the squarings it hides in.
struct SquareSelect<'a> {
    square: Square<'a>,
    select: Select<'a>,
}

impl Work for SquareSelect<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Select {
            table,
            digits,
            selected,
        } = self.select;
        let mut look_up = LookUp::<V>::new(token, table, digits, selected);
        square_beside::<V>(self.square, token, &mut look_up);
        look_up.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::Portable;
    use crate::kernel::tests::{agrees_with_the_model, selects};

    fn is_a_kernel<V: Lanes>(token: V::Token) {
        let kernel = Mont52x8::<V>::new(token);
        for len in [1, 2, 4, 5, 6, 8, 12, 13, 16, 24, 32] {
            for bits in [64 * len, 64 * len - 1, 64 * len - 63, 32 * len] {
                agrees_with_the_model(kernel, bits.max(2), len, 4);
            }
        }
        agrees_with_the_model(kernel, 16384, 256, 1);
        for len in [1, 4, 8, 13, 16] {
            selects(kernel, len);
        }
    }

    #[test]
    fn the_portable_form_is_a_kernel() {
        is_a_kernel::<Portable>(());
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_register_form_is_a_kernel() {
        use crate::kernel::x86_64::ifma512::{HaveIfma, Zmm};
        match HaveIfma::check() {
            Some(token) => is_a_kernel::<Zmm>(token),
            None => eprintln!("skipped: this CPU has no AVX-512 IFMA"),
        }
    }
}
