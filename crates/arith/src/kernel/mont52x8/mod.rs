//! Montgomery arithmetic on eight numbers side by side, in 52-bit digits, one number a lane.

mod climb;
mod digits;
mod doublings;
mod lookup;
mod set_up;
mod sweep;
mod tiles;

use super::lanes::{Cell, DIGIT_BITS, DIGIT_MASK, Lanes, Work};
use super::{Doublings, Ladder, LaneKernel};
use crate::exp;
use crate::limbs::aligned::Aligned;
use crate::limbs::modulus::inverse_word;
use crate::limbs::{LIMB_BITS, Modulus, Nat, words};
use tiles::Folds;
use zeroize::Zeroizing;

/// The eight-lane kernel over one form of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Mont52x8<V: Lanes> {
    token: V::Token,
}

/// The moduli of eight lanes, prepared.
#[derive(Clone)]
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
    /// 2^(64 N) R^2 mod n, where N is the number of limbs.
    high_rr: Aligned,
    /// 1 / 2^(52 rows) mod n for the rows of a small and of a large tile.
    small_fold: Aligned,
    large_fold: Aligned,
    /// 1, not in Montgomery form.
    unit: Aligned,
    /// Room to prepare one modulus: two numbers, one of them of twice the length.
    working: Nat,
}

/// Digits of a number that has `limbs` limbs: R is at least 16 n, and tiles of five rows fit.
fn digits(limbs: usize) -> usize {
    (limbs * LIMB_BITS + 4)
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

    fn streams(limbs: usize) -> usize {
        // One number of ten digits cannot keep the multipliers busy: what one waits for, the other fills.
        match digits(limbs) {
            sweep::DIGITS => 2,
            _ => 1,
        }
    }

    fn window_width(limbs: usize, bits: usize) -> usize {
        // Two tables of 32 entries of 10 digits, or one of 25 or more, leave a first-level cache of 48 KB, and from 60
        // digits on a multiplication costs more than reading it. Measured: see the notes.
        match (bits, digits(limbs)) {
            (..=384, _) => exp::window_width(bits),
            (_, ..=10 | 25..60) => 4,
            _ => 5,
        }
    }

    fn working_words(limbs: usize) -> usize {
        let values = match digits(limbs) {
            sweep::DIGITS => climb::VALUES,
            // A product, and what is looked up for a second window.
            _ => 3,
        };
        values * Self::words(limbs)
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
            high_rr: zero(),
            small_fold: zero(),
            large_fold: zero(),
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
        // R^2 R'^2 / R' = 2^(64 limbs) R^2.
        modulus.mul_reduced(rr, modulus.rr(), t);
        digits::put(cells_mut(&mut moduli.high_rr), lane, rr);
        for (rows, fold) in [
            (tiles::SMALL, &mut moduli.small_fold),
            (tiles::LARGE, &mut moduli.large_fold),
        ] {
            // Only numbers of more than one tile are folded.
            let Some(above) = (limbs * LIMB_BITS).checked_sub(rows * DIGIT_BITS) else {
                continue;
            };
            // R' / 2^(52 rows), and without R'.
            rr.fill(0);
            rr[above / LIMB_BITS] = 1 << (above % LIMB_BITS);
            one.fill(0);
            one[0] = 1;
            modulus.mul_reduced(rr, one, t);
            digits::put(cells_mut(fold), lane, rr);
        }
        moduli.n0[lane] = modulus.n0() & DIGIT_MASK;
        moduli.plain[lane].copy_from_slice(modulus.n());
    }

    fn copy_modulus(self, to: &mut Moduli, lane: usize, from: &Moduli, from_lane: usize) {
        for (to, from) in [
            (&mut to.n, &from.n),
            (&mut to.one, &from.one),
            (&mut to.rr, &from.rr),
            (&mut to.high_rr, &from.high_rr),
            (&mut to.small_fold, &from.small_fold),
            (&mut to.large_fold, &from.large_fold),
        ] {
            self.copy_lane(to, lane, from, from_lane);
        }
        to.n0[lane] = from.n0[from_lane];
        to.plain[lane].copy_from_slice(&from.plain[from_lane]);
    }

    fn load(self, _: &Moduli, lane: usize, limbs: &[u64], value: &mut [u64]) {
        digits::put(cells_mut(value), lane, limbs);
    }

    fn store(self, moduli: &Moduli, lane: usize, value: &[u64], limbs: &mut [u64]) {
        let n = &moduli.plain[lane];
        let mut above = digits::take(cells(value), lane, limbs);
        for _ in 0..2 {
            let over = !words::is_zero(&[above]) | !words::is_less(limbs, n);
            let borrow = words::sub_if(limbs, n, over);
            above = above.wrapping_sub(u64::from(borrow.unwrap_u8()));
        }
    }

    fn one(self, moduli: &Moduli, value: &mut [u64]) {
        value.copy_from_slice(&moduli.one);
    }

    fn enter(self, moduli: &Moduli, a: &mut [u64], working: &mut [u64]) {
        self.times(moduli, a, &moduli.rr, working);
    }

    fn enter_wide(self, moduli: &Moduli, low: &mut [u64], high: &mut [u64], working: &mut [u64]) {
        V::run(
            self.token,
            EnterWide {
                moduli,
                low: cells_mut(low),
                high: cells(high),
                t: cells_mut(working),
            },
        );
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

    fn climb<const STREAMS: usize>(self, ladders: [Ladder<'_, Moduli>; STREAMS], width: usize) {
        if ladders[0].value.len() != 8 * sweep::DIGITS {
            return ladders
                .into_iter()
                .for_each(|ladder| climb::by_twos(self, ladder, width));
        }
        let mut ladders = ladders.into_iter();
        while let Some(one) = ladders.next() {
            match ladders.next() {
                Some(two) => V::run(self.token, climb::Two([one, two], width)),
                None => V::run(self.token, climb::One(one, width)),
            }
        }
    }

    fn r_bits(limbs: usize) -> usize {
        digits(limbs) * DIGIT_BITS
    }

    fn can_double(limbs: usize, bits: usize) -> bool {
        bits + 6 <= Self::r_bits(limbs)
    }

    fn set_moduli_to_square(
        self,
        moduli: &mut Moduli,
        n: &[Nat],
        _bits: usize,
        working: &mut [u64],
    ) {
        for (lane, n) in n.iter().enumerate() {
            digits::put(cells_mut(&mut moduli.n), lane, n);
            moduli.n0[lane] = inverse_word(n[0]).wrapping_neg() & DIGIT_MASK;
            moduli.plain[lane].copy_from_slice(n);
        }
        let t = cells_mut(working);
        V::run(self.token, set_up::SetFolds { moduli, t });
    }

    fn set_moduli_for_powers(
        self,
        moduli: &mut Moduli,
        n: &[Nat],
        least_bits: usize,
        working: &mut [u64],
    ) {
        self.set_moduli_to_square(moduli, n, least_bits, working);
        let t = cells_mut(working);
        let form = set_up::SetForm {
            moduli,
            least_bits,
            t,
        };
        V::run(self.token, form);
        // R^2 = 2^r R: of r = c 2^i the factor c has been doubled in, and i squarings are to come.
        let r = digits(n[0].len()) * DIGIT_BITS;
        let mut rr = std::mem::replace(&mut moduli.rr, Aligned::zero(0));
        self.sqr(moduli, &mut rr, r.trailing_zeros() as usize, working);
        moduli.rr = rr;
    }

    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Moduli>; STREAMS]) {
        let is_sweep = powers[0].value.len() == 8 * sweep::DIGITS;
        let mut powers = powers.into_iter();
        while let Some(one) = powers.next() {
            match if is_sweep { powers.next() } else { None } {
                Some(two) => V::run(self.token, doublings::Two([one, two])),
                None => V::run(self.token, doublings::One(one)),
            }
        }
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        let select = Select {
            table: cells(table),
            digits: [digits],
            selected: [cells_mut(value)],
        };
        V::run(self.token, select);
    }
}

/// The number `a` and its modulus if they have ten digits, so that all columns fit into registers; else `a` again.
#[inline(always)]
fn sweep<'a>(
    moduli: &'a Moduli,
    a: &'a mut [Cell],
) -> Result<(&'a mut [Cell; sweep::DIGITS], sweep::Modulus<'a>), &'a mut [Cell]> {
    match cells(&moduli.n).try_into() {
        Ok(n) => Ok((a.try_into().expect("as long as n"), (n, &moduli.n0))),
        Err(_) => Err(a),
    }
}

/// out = t / R mod n, doubled where `double` says so.
#[inline(always)]
fn reduce<V: Lanes>(
    token: V::Token,
    moduli: &Moduli,
    t: &mut [Cell],
    out: &mut [Cell],
    double: Option<V::Mask>,
) {
    let folds = Folds {
        small: cells(&moduli.small_fold),
        large: cells(&moduli.large_fold),
    };
    tiles::reduce::<V>(token, t, (cells(&moduli.n), &moduli.n0), folds, out, double);
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
        match sweep(moduli, a) {
            Ok((a, n)) => {
                let b = b.try_into().expect("as long as a");
                sweep::multiply::<V>(token, a, b, n);
            }
            Err(a) => {
                let t = &mut t[..2 * a.len()];
                tiles::product::<V>(token, t, a, b);
                reduce::<V>(token, moduli, t, a, None);
            }
        }
    }
}

/// low = (low + 2^(64 N) high) R mod n.
struct EnterWide<'a> {
    moduli: &'a Moduli,
    low: &'a mut [Cell],
    high: &'a [Cell],
    t: &'a mut [Cell],
}

impl Work for EnterWide<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self {
            moduli,
            low,
            high,
            t,
        } = self;
        let t = &mut t[..2 * low.len()];
        tiles::product::<V>(token, t, low, cells(&moduli.rr));
        tiles::add_product::<V>(token, t, high, cells(&moduli.high_rr));
        reduce::<V>(token, moduli, t, low, None);
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
        let Self {
            moduli,
            a,
            times,
            t,
        } = self;
        match sweep(moduli, a) {
            Ok((a, n)) => {
                for _ in 0..times {
                    sweep::square::<V>(token, a, n, None);
                }
            }
            Err(a) => {
                let t = &mut t[..2 * a.len()];
                for _ in 0..times {
                    tiles::square::<V>(token, t, a);
                    reduce::<V>(token, moduli, t, a, None);
                }
            }
        }
    }
}

struct Select<'a, const WINDOWS: usize> {
    table: &'a [Cell],
    digits: [&'a [u8]; WINDOWS],
    selected: [&'a mut [Cell]; WINDOWS],
}

impl<const WINDOWS: usize> Work for Select<'_, WINDOWS> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        lookup::look_up::<V, WINDOWS>(token, self.table, self.digits, self.selected);
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
