//! Montgomery arithmetic on eight numbers at once, in 52-bit digits, one number a lane.
//!
//! ```text
//! formula     a b / R mod n, below 3 n for a, b < 3 n
//! a, b, n     L digits of 52 bits, digit j of all eight lanes in one Vec8; R = 2^(52 L) >= 16 n
//! multiply    t = a b, in blocks of ten rows                                     blocks::product
//!             for each block but the last: t = t / 2^520 mod n, without quotients  blocks::reduce_partially
//!             t = (t + q n) / 2^520, q digit by digit                             blocks::reduce_rows
//!             result < 3 n, digits < 2^52
//! L = 10      product and reduction in one path, all columns in registers         fused; in assembly x86_64::ifma_ten
//! L = 20, 30… the same in blocks of ten by ten, in assembly where the lanes have it: pairs of blocks after Karatsuba,
//!             and a table is looked up beside the reductions                      tens, x86_64::ifma_blocks
//! power       for each window: square `width` times, look up, multiply            fixed_window
//! ```
//!
//! # Bounds
//!
//! `bounds.rs` proves those of columns and digits by running this code on intervals.
//!
//! L digits, R = 2^(52 L). L is the least multiple of five for which R ≥ 16 · 2^(64 N), so R > 16 n.
//!
//! - A value is below 3 n, its digits below 2^52. `store` takes n away twice, under masks.
//! - Partial reduction (below) of any t leaves t / B plus less than B n, where B = 2^520 (2^260 for the small block
//!   that comes first): with all partial reductions, t / (R / B) + B n (1 + 2^-200). The last block then gives less
//!   than t / R + n (2 + 2^-200).
//! - For a, b < 3 n: 9 n² / R + (2 + 2^-200) n < 3 n.
//! - A number that enters, a < 2^(64 N) ≤ R/16, need not be reduced: a (R² mod n) / R < n/16. The two halves of a long
//!   one: n/8.
//! - Leaving multiplies by 1 or by a plain number below n: below 3 n.
//! - Ten digits at once (below) reduce nothing partially: below t / R + n.
//! - Powers of two (`doublings.rs`) double the columns before they are carried, and want R ≥ 64 n: for a value below 5
//!   n, twice (25 n² / R + (2 + 2^-200) n) < 4.8 n. Columns stay below 2^64 for L < 512. They start from a single bit:
//!   V = 2^j stands for 2^(j − r) with R = 2^r, so that the exponent is a negative one and nothing is entered.
//! - A column gathers at most 2 L low and high products of the two factors, 2 L of digits and partially reduced moduli
//!   or quotients and n, and carries: below 4 L · 2^52 + 2^13. That stays below 2^64 for L < 1,024; 16,384 bits have
//!   L = 320.
//! - A quotient digit needs the true low digit of its column. Column c is complete but for the carry from below when
//!   its turn comes, and that carry is added first. Adding q n₀ (its low digit) would clear the low 52 bits, and so
//!   carry 1 unless they are zero already; adding 2^52 − 1 carries just the same, and needs no product.
//!
//! # Schedule
//!
//! A *block* is ten rows (five where a multiple of five is left over): ten digits of one factor in ten registers, and a
//! window of eleven columns in eleven more. A step loads one digit of the other factor and one column, does 20
//! multiplications, stores the lowest column and moves the window up. So 20 multiplications share two loads and one
//! store, whatever L is.
//!
//! - Product: blocks of rows over all digits. Square: each block's rows times the digits above it, then the products
//!   inside the block, then those 2 · 10 columns, which are complete, are doubled and the squares are added. (Digits
//!   cannot be doubled beforehand: IFMA reads 52 bits.)
//! - Reduction: from one quotient digit to the next is a chain of three multiplications and additions, 9 cycles at a
//!   latency of 4. So all blocks but the last *reduce partially*: ten columns are carried into digits, taken away, and
//!   multiplied with 1 / 2^520 mod n onto the columns above. That is the same number of multiplications, and waits for
//!   nothing. The first carries are done as soon as their columns are complete. The last block has quotient digits in a
//!   block of 10 × 10, all in registers; then their rows slide over the rest of n.
//! - Ten digits (`fused.rs`), the prime of 512 bits: one fused path of ten rows, products in one set of registers, the
//!   reduction in another that they join column by column, so that the quotient digits' chain runs in parallel with the
//!   products. Alone it is 15 % above its count; so two numbers are worked on alternately (`fixed_window.rs`), which
//!   takes eight private operations a pass. What is written again and again lies together: where a load agrees with an
//!   earlier store in the lowest twelve bits of its address, the CPU holds it back, and a pass took 125,000 to 158,000
//!   cycles as memory happened to lie. And each of the two has its own copy of the code, but one only: with a second
//!   copy for squarings that have a look-up interleaved a pass took 165,000, which is more than the CPU keeps decoded.
//! - Look-up: all entries pass by ten vectors in registers, merged under a mask for each entry. It is bound by loads,
//!   two a cycle; so where numbers have more than ten digits, two windows are looked up while the table is read once.
//! - Where tables are looked up beside squarings (`tens`, and two powers of ten digits), it is in slots that are free
//!   there: windows of 5 bits.
//! - Windows elsewhere: of 5 bits, but of 4 where two tables of 32 entries of 10 digits, or one of 25 or more, would
//!   leave a first-level cache of 48 KB: 4 % of an exponentiation at L = 30, none at L = 20, where a table of 32 fits.

mod blocks;
#[cfg(test)]
mod bounds;
mod digits;
mod doublings;
mod fixed_window;
mod fused;
mod lookup;
mod moduli;
mod operations;
mod set_up;
#[cfg(all(test, target_arch = "x86_64"))]
mod tens_agree;

use super::lanes::{DIGIT_BITS, DIGIT_MASK, Lanes};
use super::tens;
use super::{Doublings, FixedWindow, LaneKernel, Table, exp_fixed_window, fill_table, window_width};
use crate::limbs::aligned::Aligned;
use crate::limbs::modulus::inverse_word;
use crate::limbs::{LIMB_BITS, Modulus, Nat, words};
use moduli::{Moduli, digits, vec8s, vec8s_mut};
use operations::{EnterWide, Multiply, Select, Square};
use zeroize::Zeroizing;

/// The eight-lane kernel over one form of lanes.
#[derive(Clone, Copy)]
pub(crate) struct Mont52x8<V: Lanes> {
    token: V::Token,
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
                a: vec8s_mut(a),
                b: vec8s(b),
                t: vec8s_mut(t),
            },
        );
    }
}

impl<V: Lanes> LaneKernel for Mont52x8<V> {
    const LANES: usize = 8;
    type Moduli = Moduli;

    fn words(limbs: usize) -> usize {
        8 * digits(limbs)
    }

    fn streams(limbs: usize) -> usize {
        // One number of ten digits cannot keep the multipliers busy: what one waits for, the other fills.
        match digits(limbs) {
            fused::DIGITS => 2,
            _ => 1,
        }
    }

    fn window_width(limbs: usize, bits: usize) -> usize {
        // Two tables of 32 entries of 10 digits, or one of 25 or more, leave a first-level cache of 48 KB, and from 60
        // digits on a multiplication costs more than reading it. Measured: see the notes.
        match (bits, digits(limbs)) {
            (..=384, _) => window_width(bits),
            // Looked up beside the squarings, in the time that they take.
            (_, digits) if V::HAS_TENS && (digits == fused::DIGITS || tens::fit(digits)) => tens::WIDTH,
            (_, ..=10 | 25..60) => 4,
            _ => 5,
        }
    }

    fn working_words(limbs: usize) -> usize {
        let digits = digits(limbs);
        if V::HAS_TENS && tens::fit(digits) {
            return 8 * tens::working_of_power(digits);
        }
        let values = match digits {
            fused::DIGITS => fixed_window::VALUES,
            // A product, and what is looked up for a second window.
            _ => 3,
        };
        values * Self::words(limbs)
    }

    fn moduli(self, limbs: usize) -> Moduli {
        let zero = || Aligned::zero(Self::words(limbs));
        let mut unit = zero();
        vec8s_mut(&mut unit)[0] = [1; 8];
        Moduli {
            plain: std::array::from_fn(|_| Nat::zero(limbs)),
            n: zero(),
            n0: Zeroizing::new([0; 8]),
            one: zero(),
            rr: zero(),
            high_rr: zero(),
            small_inverse: zero(),
            large_inverse: zero(),
            unit,
            working: Nat::zero(4 * limbs),
        }
    }

    fn set_modulus(self, moduli: &mut Moduli, lane: usize, modulus: &Modulus) {
        let limbs = modulus.limbs();
        let [one, rr, high_rr] = modulus.powers_of(Self::r_bits(limbs));
        for (constant, limbs) in [
            (&mut moduli.n, modulus.n()),
            (&mut moduli.one, &one),
            (&mut moduli.rr, &rr),
            (&mut moduli.high_rr, &high_rr),
        ] {
            digits::put(vec8s_mut(constant), lane, limbs);
        }
        let (one, working) = moduli.working.split_at_mut(limbs);
        let (rr, t) = working.split_at_mut(limbs);
        for (rows, inverse) in [
            (blocks::SMALL, &mut moduli.small_inverse),
            (blocks::LARGE, &mut moduli.large_inverse),
        ] {
            // Only numbers of more than one block are reduced in parts.
            let Some(above) = (limbs * LIMB_BITS).checked_sub(rows * DIGIT_BITS) else {
                continue;
            };
            // R' / 2^(52 rows), and without R'.
            rr.fill(0);
            rr[above / LIMB_BITS] = 1 << (above % LIMB_BITS);
            one.fill(0);
            one[0] = 1;
            modulus.mul_reduced(rr, one, t);
            digits::put(vec8s_mut(inverse), lane, rr);
        }
        moduli.n0[lane] = modulus.n0() & DIGIT_MASK;
        moduli.plain[lane].copy_from_slice(modulus.n());
    }

    #[cfg(feature = "faults")]
    fn for_each_constant(self, moduli: &mut Moduli, visit: &mut dyn FnMut(&mut [u64])) {
        moduli.for_each_constant(visit);
    }

    fn copy_modulus(self, to: &mut Moduli, lane: usize, from: &Moduli, from_lane: usize) {
        for (to, from) in [
            (&mut to.n, &from.n),
            (&mut to.one, &from.one),
            (&mut to.rr, &from.rr),
            (&mut to.high_rr, &from.high_rr),
            (&mut to.small_inverse, &from.small_inverse),
            (&mut to.large_inverse, &from.large_inverse),
        ] {
            self.copy_lane(to, lane, from, from_lane);
        }
        to.n0[lane] = from.n0[from_lane];
        to.plain[lane].copy_from_slice(&from.plain[from_lane]);
    }

    fn load(self, _: &Moduli, lane: usize, limbs: &[u64], value: &mut [u64]) {
        digits::put(vec8s_mut(value), lane, limbs);
    }

    fn load_bytes(self, _: &Moduli, lane: usize, bytes: &[u8], _: &mut [u64], value: &mut [u64]) {
        digits::put_bytes(vec8s_mut(value), lane, bytes);
    }

    fn load_ending(self, _: &Moduli, lane: usize, bytes: &[u8], changed: usize, _: &mut [u64], value: &mut [u64]) {
        digits::put_ending(vec8s_mut(value), lane, bytes, changed);
    }

    fn store(self, moduli: &Moduli, lane: usize, value: &[u64], limbs: &mut [u64]) {
        let n = &moduli.plain[lane];
        let mut above = digits::take(vec8s(value), lane, limbs);
        for _ in 0..2 {
            let over = !words::is_zero(&[above]) | !words::is_less(limbs, n);
            let borrow = words::sub_if(limbs, n, over);
            above = above.wrapping_sub(u64::from(borrow.unwrap_u8()));
        }
    }

    fn store_bytes_vartime(self, moduli: &Moduli, lane: usize, value: &[u64], _: &mut [u64], bytes: &mut [u8]) {
        let n = &moduli.plain[lane];
        let mut above = digits::take_bytes(vec8s(value), lane, bytes);
        // As in `store`, at most twice, whatever a fault made of the value; the first limb mostly tells.
        for _ in 0..2 {
            if above == 0 && words::is_less_be_vartime(bytes, n) {
                return;
            }
            above = above.wrapping_sub(u64::from(words::sub_be(bytes, n)));
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
                low: vec8s_mut(low),
                high: vec8s(high),
                t: vec8s_mut(working),
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
                a: vec8s_mut(a),
                times,
                t: vec8s_mut(working),
            },
        );
    }

    fn fill_tables<const STREAMS: usize>(self, tables: [Table<'_, Moduli>; STREAMS]) {
        let mut tables = tables.into_iter();
        while let Some(mut one) = tables.next() {
            let fits = V::HAS_TENS && one.table.len() == tens::ENTRIES * 8 * fused::DIGITS;
            match if fits { tables.next() } else { None } {
                Some(mut two) => {
                    for table in [&mut one, &mut two] {
                        let (first, rest) = table.table.split_at_mut(table.value.len());
                        self.one(table.moduli, first);
                        rest[..table.value.len()].copy_from_slice(table.value);
                    }
                    V::run(self.token, fixed_window::Tables([one, two]));
                }
                None => fill_table(self, one),
            }
        }
    }

    fn exp_fixed_window<const STREAMS: usize>(self, powers: [FixedWindow<'_, Moduli>; STREAMS], width: usize) {
        let digits = powers[0].value.len() / 8;
        if fixed_window::Tens::fit::<V>(digits, width) {
            return powers
                .into_iter()
                .for_each(|power| V::run(self.token, fixed_window::Tens(power)));
        }
        if V::HAS_TENS && tens::fit(digits) {
            return powers
                .into_iter()
                .for_each(|power| exp_fixed_window(self, power, width));
        }
        if digits != fused::DIGITS {
            return powers.into_iter().for_each(|power| by_pairs(self, power, width));
        }
        let mut powers = powers.into_iter();
        while let Some(one) = powers.next() {
            match powers.next() {
                Some(two) => V::run(self.token, fixed_window::Two([one, two], width)),
                None => V::run(self.token, fixed_window::One(one, width)),
            }
        }
    }

    fn r_bits(limbs: usize) -> usize {
        digits(limbs) * DIGIT_BITS
    }

    fn can_double(limbs: usize, bits: usize) -> bool {
        bits + 6 <= Self::r_bits(limbs)
    }

    fn set_moduli_to_square(self, moduli: &mut Moduli, n: &[Nat], _bits: usize, working: &mut [u64]) {
        for (lane, n) in n.iter().enumerate() {
            digits::put(vec8s_mut(&mut moduli.n), lane, n);
            moduli.n0[lane] = inverse_word(n[0]).wrapping_neg() & DIGIT_MASK;
            moduli.plain[lane].copy_from_slice(n);
        }
        let t = vec8s_mut(working);
        V::run(self.token, set_up::SetPartialInverses { moduli, t });
    }

    fn set_moduli_for_powers(self, moduli: &mut Moduli, n: &[Nat], least_bits: usize, working: &mut [u64]) {
        self.set_moduli_to_square(moduli, n, least_bits, working);
        let t = vec8s_mut(working);
        let form = set_up::SetForm { moduli, least_bits, t };
        V::run(self.token, form);
        // R^2 = 2^r R: of r = c 2^i the factor c has been doubled in, and i squarings are to come.
        let r = digits(n[0].len()) * DIGIT_BITS;
        let mut rr = std::mem::replace(&mut moduli.rr, Aligned::zero(0));
        self.sqr(moduli, &mut rr, r.trailing_zeros() as usize, working);
        moduli.rr = rr;
    }

    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Moduli>; STREAMS]) {
        let is_fused = powers[0].value.len() == 8 * fused::DIGITS;
        let mut powers = powers.into_iter();
        while let Some(one) = powers.next() {
            match if is_fused { powers.next() } else { None } {
                Some(two) => V::run(self.token, doublings::Two([one, two])),
                None => V::run(self.token, doublings::One(one)),
            }
        }
    }

    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]) {
        let select = Select {
            table: vec8s(table),
            digits: [digits],
            selected: [vec8s_mut(value)],
        };
        V::run(self.token, select);
    }
}

/// An exponentiation of numbers of any other length: the table is read once for two windows.
fn by_pairs<V: Lanes>(kernel: Mont52x8<V>, power: FixedWindow<'_, Moduli>, width: usize) {
    let FixedWindow {
        moduli,
        value,
        table,
        digits,
        selected,
        working,
    } = power;
    let (working, second) = working.split_at_mut(2 * value.len());
    let second = &mut second[..value.len()];
    let (pairs, rest) = digits.as_chunks::<16>();
    for pair in pairs {
        let (digits1, digits2) = pair.split_at(8);
        let select = Select {
            table: vec8s(table),
            digits: [digits1, digits2],
            selected: [vec8s_mut(selected), vec8s_mut(second)],
        };
        V::run(kernel.token, select);
        for selected in [&*selected, &*second] {
            kernel.sqr(moduli, value, width, working);
            kernel.mul(moduli, value, selected, working);
        }
    }
    let power = FixedWindow {
        moduli,
        value,
        table,
        digits: rest,
        selected,
        working,
    };
    exp_fixed_window(kernel, power, width);
}

#[cfg(test)]
pub(crate) mod tests {
    /// Numbers of one block and of several, with a small block and without.
    pub(crate) const LIMBS: &[usize] = &[1, 2, 4, 5, 6, 8, 12, 13, 16, 24, 32, 41, 48];

    use super::*;
    use crate::kernel::lanes::Portable;
    use crate::model::{limbs, number};
    use num_bigint::BigUint;

    #[test]
    fn what_is_not_reduced_is_reduced_on_its_way_to_bytes() {
        let kernel = Mont52x8::<Portable>::new(());
        for (bits, len) in [(1000, 16), (1024, 16), (2041, 32), (2048, 32), (3072, 48)] {
            // The first limb alone tells nothing of these: ones, and zeros below it.
            for n in [
                (BigUint::from(1u8) << bits) - 1u8,
                (BigUint::from(1u8) << (bits - 1)) + 1u8,
            ] {
                let modulus = Modulus::new(&limbs(&n, len), bits, len);
                let prepared = kernel.prepare(&[&modulus; 8]);
                let one = BigUint::from(1u8);
                for value in [&n - &one, n.clone(), &n + &one, &n + &n - &one, BigUint::ZERO] {
                    // Twice the modulus may take a limb more, for which there are digits.
                    let mut digits = vec![0; Mont52x8::<Portable>::words(len)];
                    digits::put(vec8s_mut(&mut digits), 3, &limbs(&value, len + 1));
                    let mut bytes = vec![0xa5; bits.div_ceil(8)];
                    kernel.store_bytes_vartime(&prepared, 3, &digits, &mut vec![0; len], &mut bytes);
                    assert_eq!(BigUint::from_bytes_be(&bytes), &value % &n, "{bits} bits");
                }
                let mut stored = vec![0; len];
                kernel.store(&prepared, 3, &vec![0; Mont52x8::<Portable>::words(len)], &mut stored);
                assert_eq!(number(&stored), BigUint::ZERO);
            }
        }
    }

    /// All bits of all digits, from which n can be subtracted 2^17 times.
    #[test]
    fn what_a_fault_made_of_a_value_is_stored_at_once() {
        let kernel = Mont52x8::<Portable>::new(());
        let (bits, len) = (1024, 16);
        let n = (BigUint::from(1u8) << (bits - 1)) + 1u8;
        let modulus = Modulus::new(&limbs(&n, len), bits, len);
        let prepared = kernel.prepare(&[&modulus; 8]);
        let value = vec![DIGIT_MASK; Mont52x8::<Portable>::words(len)];
        let mut bytes = vec![0; bits / 8];
        kernel.store_bytes_vartime(&prepared, 3, &value, &mut vec![0; len], &mut bytes);
        let value = (BigUint::from(1u8) << (value.len() / 8 * DIGIT_BITS)) - 1u8;
        let expected = (value - &n * 2u8) % (BigUint::from(1u8) << bits);
        assert_eq!(BigUint::from_bytes_be(&bytes), expected);
    }
}
