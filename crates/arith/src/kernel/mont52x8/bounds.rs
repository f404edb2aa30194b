//! Proof that no column overflows and every factor is a digit, for every length: the kernel's own code, on intervals.
//!
//! [`Range`] is a form of the lanes like the others. Its value is not eight words but the least and the greatest that a
//! word can be. Each operation computes what its result can be, and panics if a sum may reach 2^64, or a factor may
//! have more than 52 bits, of which the multiplier would take the low ones in silence. One factor may: a column whose
//! low digit makes the next quotient digit; the other one is then n₀, which is marked.
//!
//! That the highest digit carries nothing out is no matter of single columns: it follows from how large a number is, in
//! `numbers_stay_below_their_bounds`.

use super::moduli::{Moduli, vec8s, vec8s_mut};
use super::operations::{EnterWide, Multiply, Square};
use super::{Mont52x8, doublings};
use crate::kernel::lanes::{DIGIT_MASK, Lanes, Vec8, Work};
use crate::kernel::{Doublings, LaneKernel};

/// The values that a word can have.
#[derive(Clone, Copy, Debug)]
struct Range {
    least: u64,
    most: u64,
    /// `true` if it is multiplied with the low digit of whatever there is.
    takes_columns: bool,
}

impl Range {
    fn up_to(most: u64) -> Self {
        Self {
            least: 0,
            most,
            takes_columns: false,
        }
    }

    /// A digit, of `bits` bits.
    fn digit(bits: u32) -> Self {
        Self::up_to((1 << bits) - 1)
    }

    fn words(self) -> Vec8 {
        let mut vec = [0; 8];
        (vec[0], vec[1], vec[2]) = (self.least, self.most, self.takes_columns.into());
        vec
    }

    /// The greatest product of two digits.
    fn product(self, b: Self) -> u128 {
        let [a, b] = [(self, b), (b, self)].map(|(factor, other)| {
            let is_digit = factor.most <= DIGIT_MASK;
            assert!(is_digit || other.takes_columns, "a factor is no digit: {factor:?}");
            factor.most.min(DIGIT_MASK)
        });
        u128::from(a) * u128::from(b)
    }

    fn plus(self, most: u64) -> Self {
        let most = self.most.checked_add(most);
        Self {
            most: most.expect("a column stays below 2^64"),
            ..self
        }
    }
}

impl Lanes for Range {
    type Token = ();
    type Mask = ();

    fn run<W: Work>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(never)]
    fn load((): (), vec: &Vec8) -> Self {
        Self {
            least: vec[0],
            most: vec[1],
            takes_columns: vec[2] == 1,
        }
    }

    #[inline(never)]
    fn splat((): (), word: u64) -> Self {
        Self {
            least: word,
            ..Self::up_to(word)
        }
    }

    #[inline(never)]
    fn store(self, vec: &mut Vec8) {
        *vec = self.words();
    }

    #[inline(never)]
    fn add(self, b: Self) -> Self {
        Self {
            least: self.least + b.least,
            ..self.plus(b.most)
        }
    }

    #[inline(never)]
    fn and(self, b: Self) -> Self {
        assert!(b.least == DIGIT_MASK && b.most == DIGIT_MASK, "a mask: {b:?}");
        match self.most <= DIGIT_MASK {
            true => self,
            false => Self::up_to(DIGIT_MASK),
        }
    }

    #[inline(never)]
    fn shift_right<const BITS: u32>(self) -> Self {
        Self {
            least: self.least >> BITS,
            ..Self::up_to(self.most >> BITS)
        }
    }

    #[inline(never)]
    fn add_low(self, a: Self, b: Self) -> Self {
        let product = a.product(b);
        self.plus(product.min(DIGIT_MASK.into()) as u64)
    }

    #[inline(never)]
    fn add_high(self, a: Self, b: Self) -> Self {
        self.plus((a.product(b) >> 52) as u64)
    }

    /// Nothing is known of where numbers are equal.
    #[inline(never)]
    fn equal(self, _: Self) {}

    #[inline(never)]
    fn merge(self, b: Self, (): ()) -> Self {
        Self {
            least: self.least.min(b.least),
            ..Self::up_to(self.most.max(b.most))
        }
    }

    fn equal_bits(self, _: Self) -> Self {
        unreachable!("columns are added to only")
    }

    fn choose(self, _: Self, _: Self) -> Self {
        unreachable!("columns are added to only")
    }

    #[inline(never)]
    fn sub(self, _: Self) -> Self {
        unreachable!("columns are added to only")
    }

    fn or(self, _: Self) -> Self {
        unreachable!("columns are added to only")
    }

    fn min(self, _: Self) -> Self {
        unreachable!("columns are added to only")
    }

    fn shift_left(self, _: Self) -> Self {
        unreachable!("columns are added to only")
    }
}

/// Does every operation on numbers whose digits are any of `bits` bits, and checks that digits come out. Returns the
/// digits of a number.
fn operate(limbs: usize, bits: u32) -> usize {
    type Kernel = Mont52x8<Range>;
    let kernel = Kernel::new(());
    let number = || {
        let mut words = vec![0; Kernel::words(limbs)];
        vec8s_mut(&mut words).fill(Range::digit(bits).words());
        words
    };
    let mut moduli: Moduli = kernel.moduli(limbs);
    for constant in [
        &mut moduli.n,
        &mut moduli.rr,
        &mut moduli.high_rr,
        &mut moduli.small_inverse,
        &mut moduli.large_inverse,
    ] {
        vec8s_mut(constant).fill(Range::digit(52).words());
    }
    *moduli.n0 = Range {
        takes_columns: true,
        ..Range::digit(52)
    }
    .words();
    let (mut a, mut b) = (number(), number());
    let mut working = vec![0; Kernel::working_words(limbs)];
    let check = |number: &[u64]| {
        let digits = vec8s(number);
        assert!(digits.iter().all(|digit| digit[1] <= DIGIT_MASK), "a digit");
        digits.len()
    };
    let moduli = &moduli;
    Multiply {
        moduli,
        a: vec8s_mut(&mut a),
        b: vec8s(&b),
        t: vec8s_mut(&mut working),
    }
    .run::<Range>(());
    check(&a);
    let mut a = number();
    Square {
        moduli,
        a: vec8s_mut(&mut a),
        times: 1,
        t: vec8s_mut(&mut working),
    }
    .run::<Range>(());
    check(&a);
    let mut a = number();
    EnterWide {
        moduli,
        low: vec8s_mut(&mut a),
        high: vec8s(&b),
        t: vec8s_mut(&mut working),
    }
    .run::<Range>(());
    check(&a);
    doublings::One(Doublings {
        moduli,
        value: &mut b,
        bits: &[1; 8],
        working: &mut working,
    })
    .run::<Range>(());
    check(&b)
}

#[test]
fn no_column_overflows_at_any_length() {
    for limbs in 1..=256 {
        operate(limbs, 52);
    }
}

#[test]
#[should_panic(expected = "a factor is no digit")]
fn digits_of_one_bit_more_are_found() {
    operate(32, 53);
}

#[test]
#[should_panic(expected = "a column stays below 2^64")]
fn numbers_of_too_many_digits_are_found() {
    // Of 1,025 digits: the columns of the doubled square are the longest.
    operate(832, 52);
}

/// The largest multiple of n that a number can reach, by the formulas of the [module above](super).
#[test]
fn numbers_stay_below_their_bounds() {
    // R in n, the greatest factor in n, and whether the result is doubled: what comes out is no greater than what may
    // go in.
    let result = |r: f64, factor: f64, times: f64| times * (factor * factor / r + 2.0 + 2f64.powi(-200));
    assert!(result(16.0, 3.0, 1.0) < 3.0);
    assert!(result(64.0, 5.0, 2.0) < 5.0);
    for limbs in 1..=256usize {
        let r_bits = Mont52x8::<Range>::r_bits(limbs);
        assert!(r_bits >= 64 * limbs + 4, "{limbs}");
        for bits in [64 * limbs, 64 * limbs - 1, 64 * limbs - 2, 64 * limbs - 63] {
            // Numbers of 5 n have room, in R and where powers of two are taken.
            assert!(!Mont52x8::<Range>::can_double(limbs, bits) || r_bits >= bits + 6);
        }
        // Three times a number of all limbs is below R: the highest digit carries nothing out.
        assert!(r_bits >= 64 * limbs + 2);
    }
    // One bit less of R, and they grow without end.
    assert!(result(8.0, 3.0, 1.0) > 3.0);
    assert!(result(32.0, 5.0, 2.0) > 5.0);
}
