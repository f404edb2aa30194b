//! Inversion and gcd in constant time by division steps (Bernstein and Yang, "Fast constant-time gcd computation and
//! modular inversion", 2019, eprint 2019/266).
//!
//! One division step of the paper, for odd f:
//!
//! ```text
//! (delta, f, g) -> (1 - delta, g, (g - f) / 2)              if delta > 0 and g is odd
//!                  (1 + delta, f, (g + (g mod 2) f) / 2)    otherwise
//! ```
//!
//! Sixty-two steps depend only on the low 62 bits of f and g. They are done on single words, giving a matrix that is
//! then applied to the whole numbers; numbers are held in signed 62-bit digits, only the top one negative. That
//! arrangement is Pieter Wuille's for libsecp256k1 (`doc/safegcd_implementation.md`).

use crate::declassify::declassify;
use crate::limbs::modulus::inverse_word;
use std::hint::black_box;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Bits in a digit, and steps in a batch.
const DIGIT: usize = 62;
const DIGIT_MASK: i64 = (1 << DIGIT) - 1;

/// Working memory for numbers of a fixed count of limbs.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Inverter {
    limbs: usize,
    f: Vec<i64>,
    g: Vec<i64>,
    d: Vec<i64>,
    e: Vec<i64>,
    modulus: Vec<i64>,
}

/// 2^62 (f', g') = (u f + v g, q f + r g).
struct Matrix {
    u: i64,
    v: i64,
    q: i64,
    r: i64,
}

impl Inverter {
    /// For numbers of `limbs` limbs.
    pub(crate) fn new(limbs: usize) -> Self {
        // Two bits more than the numbers: a sign, and values down to -2 n.
        let zero = vec![0; (64 * limbs + 2).div_ceil(DIGIT)];
        Self {
            limbs,
            f: zero.clone(),
            g: zero.clone(),
            d: zero.clone(),
            e: zero.clone(),
            modulus: zero,
        }
    }

    /// a = a^-1 mod n for odd n > 1; true if there is one, otherwise `a` is meaningless. `a` need not be below n.
    ///
    /// Time depends on the number of limbs only; whether there is an inverse becomes public.
    pub(crate) fn invert(&mut self, a: &mut [u64], n: &[u64]) -> bool {
        debug_assert!(n[0] & 1 == 1);
        to_digits(&mut self.modulus, n);
        self.f.copy_from_slice(&self.modulus);
        to_digits(&mut self.g, a);
        // Throughout, d a = f and e a = g modulo n, up to the powers of two that each batch removes.
        self.d.fill(0);
        self.e.fill(0);
        self.e[0] = 1;
        let inverse = inverse_word(n[0]) as i64 & DIGIT_MASK;
        let mut delta = 1;
        for _ in 0..batches(64 * self.limbs) {
            let matrix = divsteps(&mut delta, self.f[0], self.g[0]);
            apply(&matrix, &mut self.f, &mut self.g);
            apply_mod(&matrix, &mut self.d, &mut self.e, &self.modulus, inverse);
        }
        debug_assert!(self.g.iter().all(|&digit| digit == 0));
        // f is 1 or -1 if the inverse exists, and d is its sign times the inverse, in (-2 n, n).
        let negative = sign(&self.f);
        let below = sign(&self.d);
        add_masked(&mut self.d, &self.modulus, below);
        negate_masked(&mut self.d, negative);
        let below = sign(&self.d);
        add_masked(&mut self.d, &self.modulus, below);
        negate_masked(&mut self.f, negative);
        from_digits(a, &self.d);
        let rest = self.f[1..].iter().fold(self.f[0] ^ 1, |rest, &digit| rest | digit);
        declassify(rest.ct_eq(&0))
    }

    /// a = gcd(a, f) for odd f. Time depends on the number of limbs only.
    pub(crate) fn gcd(&mut self, a: &mut [u64], f: &[u64]) {
        debug_assert!(f[0] & 1 == 1);
        to_digits(&mut self.f, f);
        to_digits(&mut self.g, a);
        let mut delta = 1;
        for _ in 0..batches(64 * self.limbs) {
            let matrix = divsteps(&mut delta, self.f[0], self.g[0]);
            apply(&matrix, &mut self.f, &mut self.g);
        }
        debug_assert!(self.g.iter().all(|&digit| digit == 0));
        let negative = sign(&self.f);
        negate_masked(&mut self.f, negative);
        from_digits(a, &self.f);
    }
}

/// Batches after which g is zero for every f and g of at most `bits` bits (theorem 11.2 of the paper).
fn batches(bits: usize) -> usize {
    let steps = if bits < 46 {
        (49 * bits + 80) / 17
    } else {
        (49 * bits + 57) / 17
    };
    steps.div_ceil(DIGIT)
}

/// A batch of division steps on the low digits of f and g.
fn divsteps(delta: &mut i64, f: i64, g: i64) -> Matrix {
    let (mut f, mut g) = (f, g);
    let mut m = Matrix { u: 1, v: 0, q: 0, r: 1 };
    for _ in 0..DIGIT {
        // Masks pass through `black_box` so that the compiler cannot see that they are all or nothing, and branch.
        let positive = black_box(delta.wrapping_neg() >> 63);
        let odd = black_box(-(g & 1));
        let signed = |x: i64| (x ^ positive).wrapping_sub(positive) & odd;
        g = g.wrapping_add(signed(f));
        m.q = m.q.wrapping_add(signed(m.u));
        m.r = m.r.wrapping_add(signed(m.v));
        let swap = positive & odd;
        *delta = (*delta ^ swap) - swap + 1;
        f = f.wrapping_add(g & swap);
        m.u = m.u.wrapping_add(m.q & swap);
        m.v = m.v.wrapping_add(m.r & swap);
        g >>= 1;
        m.u = m.u.wrapping_shl(1);
        m.v = m.v.wrapping_shl(1);
    }
    m
}

/// (f, g) = the matrix times (f, g), over 2^62; the division is exact.
fn apply(m: &Matrix, f: &mut [i64], g: &mut [i64]) {
    let (mut cf, mut cg) = (0, 0);
    for i in 0..f.len() {
        cf += wide(m.u, f[i]) + wide(m.v, g[i]);
        cg += wide(m.q, f[i]) + wide(m.r, g[i]);
        if i > 0 {
            f[i - 1] = cf as i64 & DIGIT_MASK;
            g[i - 1] = cg as i64 & DIGIT_MASK;
        }
        cf >>= DIGIT;
        cg >>= DIGIT;
    }
    let top = f.len() - 1;
    (f[top], g[top]) = (cf as i64, cg as i64);
}

/// (d, e) = the matrix times (d, e), over 2^62, modulo n; both stay in (-2 n, n). `inverse` is n^-1 mod 2^62.
fn apply_mod(m: &Matrix, d: &mut [i64], e: &mut [i64], n: &[i64], inverse: i64) {
    // First as if n had been added to negative inputs, which keeps the result above -2 n.
    let (sd, se) = (sign(d), sign(e));
    let mut kd = (m.u & sd) + (m.v & se);
    let mut ke = (m.q & sd) + (m.r & se);
    // Then the multiples of n that make the sum divisible by 2^62.
    let low_d = m.u.wrapping_mul(d[0]).wrapping_add(m.v.wrapping_mul(e[0]));
    let low_e = m.q.wrapping_mul(d[0]).wrapping_add(m.r.wrapping_mul(e[0]));
    kd -= inverse.wrapping_mul(low_d).wrapping_add(kd) & DIGIT_MASK;
    ke -= inverse.wrapping_mul(low_e).wrapping_add(ke) & DIGIT_MASK;
    let (mut cd, mut ce) = (0, 0);
    for i in 0..d.len() {
        cd += wide(m.u, d[i]) + wide(m.v, e[i]) + wide(kd, n[i]);
        ce += wide(m.q, d[i]) + wide(m.r, e[i]) + wide(ke, n[i]);
        if i > 0 {
            d[i - 1] = cd as i64 & DIGIT_MASK;
            e[i - 1] = ce as i64 & DIGIT_MASK;
        }
        cd >>= DIGIT;
        ce >>= DIGIT;
    }
    let top = d.len() - 1;
    (d[top], e[top]) = (cd as i64, ce as i64);
}

/// The full product.
fn wide(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

/// All ones if negative, else zero.
fn sign(a: &[i64]) -> i64 {
    black_box(a[a.len() - 1] >> 63)
}

/// a += b & mask.
fn add_masked(a: &mut [i64], b: &[i64], mask: i64) {
    let top = a.len() - 1;
    let mut carry = 0;
    for i in 0..=top {
        let sum = a[i] + (b[i] & mask) + carry;
        a[i] = if i < top { sum & DIGIT_MASK } else { sum };
        carry = sum >> DIGIT;
    }
}

/// a = -a where `mask` is all ones.
fn negate_masked(a: &mut [i64], mask: i64) {
    let top = a.len() - 1;
    let mut carry = 0;
    for (i, a) in a.iter_mut().enumerate() {
        let sum = (*a ^ mask) - mask + carry;
        *a = if i < top { sum & DIGIT_MASK } else { sum };
        carry = sum >> DIGIT;
    }
}

/// Cuts limbs into digits.
fn to_digits(digits: &mut [i64], limbs: &[u64]) {
    let limb = |i: usize| limbs.get(i).copied().unwrap_or(0);
    for (i, digit) in digits.iter_mut().enumerate() {
        let at = DIGIT * i;
        let pair = u128::from(limb(at / 64)) | u128::from(limb(at / 64 + 1)) << 64;
        *digit = (pair >> (at % 64)) as i64 & DIGIT_MASK;
    }
}

/// Joins the digits of a number that is not negative and fits.
fn from_digits(limbs: &mut [u64], digits: &[i64]) {
    limbs.fill(0);
    for (i, &digit) in digits.iter().enumerate() {
        let at = DIGIT * i;
        let pair = u128::from(digit as u64) << (at % 64);
        if let Some(limb) = limbs.get_mut(at / 64) {
            *limb |= pair as u64;
        }
        if let Some(limb) = limbs.get_mut(at / 64 + 1) {
            *limb |= (pair >> 64) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::words;
    use crate::model::{any_limbs, gcd, limbs, number, power_of_two};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    fn check(a: &[u64], n: &[u64]) {
        let mut inverter = Inverter::new(n.len());
        let (x, m) = (number(a), number(n));
        let common = gcd(&x, &m);
        let mut divisor = a.to_vec();
        inverter.gcd(&mut divisor, n);
        assert_eq!(number(&divisor), common);
        if m > BigUint::from(1u8) {
            let mut inverse = a.to_vec();
            let exists = inverter.invert(&mut inverse, n);
            assert_eq!(exists, common == BigUint::from(1u8));
            if exists {
                assert_eq!(Some(number(&inverse)), x.modinv(&m));
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_euclid((a, mut n) in (1usize..18).prop_flat_map(|len| (any_limbs(len), any_limbs(len)))) {
            n[0] |= 1;
            check(&a, &n);
        }

        #[test]
        fn finds_common_factors((a, b, c) in (any_limbs(3), any_limbs(3), any_limbs(2))) {
            let odd = |x: &[u64]| number(x) | BigUint::from(1u8);
            check(&limbs(&(number(&a) * number(&c)), 6), &limbs(&(odd(&b) * odd(&c)), 6));
        }
    }

    #[test]
    fn edges() {
        for len in [1, 2, 8, 31, 32] {
            let top = power_of_two(64 * len - 1);
            let highest = (&top - 1u8) * 2u8 + 1u8;
            let n: Vec<BigUint> = [BigUint::from(3u8), &top + 1u8, &highest - 2u8, highest.clone()].into();
            for n in &n {
                for a in [
                    BigUint::ZERO,
                    BigUint::from(1u8),
                    BigUint::from(2u8),
                    n - 1u8,
                    n.clone(),
                    top.clone(),
                    highest.clone(),
                ] {
                    check(&limbs(&a, len), &limbs(n, len));
                }
            }
        }
    }

    /// Consecutive Fibonacci numbers: the slowest for Euclid.
    #[test]
    fn the_number_of_steps_suffices() {
        let (mut a, mut b) = (BigUint::from(1u8), BigUint::from(2u8));
        while b.bits() <= 512 {
            (a, b) = (b.clone(), a + b);
            let (odd, other) = if a.bit(0) { (&a, &b) } else { (&b, &a) };
            check(&limbs(other, 9), &limbs(odd, 9));
        }
        assert!(batches(2048) * DIGIT >= (49 * 2048 + 57) / 17);
    }

    #[test]
    fn digits_hold_what_limbs_held() {
        for len in 1..8 {
            let limbs: Vec<u64> = (1..=len).map(|i| u64::MAX.wrapping_mul(i) ^ i << 40).collect();
            let mut digits = Inverter::new(len as usize).f.clone();
            to_digits(&mut digits, &limbs);
            assert!(digits.iter().all(|digit| (0..=DIGIT_MASK).contains(digit)));
            let mut back = vec![3; len as usize];
            from_digits(&mut back, &digits);
            assert!(bool::from(words::is_equal(&back, &limbs)));
        }
    }
}
