//! An odd modulus with its Montgomery constants.

use super::montgomery::{self, Products};
use super::{LIMB_BITS, Nat, words};

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// An odd modulus n of N limbs, and what Montgomery multiplication (Montgomery 1985) by R = 2^(64 N) needs.
///
/// n may be secret; its length in bits is public.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Modulus {
    n: Nat,
    bits: usize,
    n0: u64,
    one: Nat,
    rr: Nat,
}

impl Modulus {
    /// Prepares n = `n`, of public length `bits`, in `limbs` limbs, which may be more than its length asks for. Panics
    /// unless n is odd, at least 3, and fits.
    pub(crate) fn new(n: &[u64], bits: usize, limbs: usize) -> Self {
        let mut modulus = Self::zero(limbs);
        modulus.set(&Nat::from_limbs(n).resized(limbs), bits, &mut Nat::zero(2 * limbs));
        modulus
    }

    /// Room for a modulus of `limbs` limbs; no modulus yet.
    pub(crate) fn zero(limbs: usize) -> Self {
        let zero = Nat::zero(limbs);
        Self {
            n: zero.clone(),
            bits: 0,
            n0: 0,
            one: zero.clone(),
            rr: zero,
        }
    }

    /// Puts another modulus in the place of this one, as [`new`](Self::new) does, without allocating. `t` holds 2 N
    /// limbs or more.
    pub(crate) fn set(&mut self, n: &[u64], bits: usize, t: &mut [u64]) {
        self.set_to_reduce(n, bits);
        self.set_one();
        self.set_rr(t);
    }

    /// Puts another modulus in the place of this one, to multiply and reduce by: what [`one`](Self::one) and
    /// [`rr`](Self::rr) say stays behind.
    pub(crate) fn set_to_reduce(&mut self, n: &[u64], bits: usize) {
        assert!(n[0] & 1 == 1 && bits >= 2 && bits <= LIMB_BITS * n.len());
        self.n.copy_from_slice(n);
        self.bits = bits;
        self.n0 = inverse_word(n[0]).wrapping_neg();
    }

    /// Copies another modulus of as many limbs.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.n.copy_from_slice(&other.n);
        self.bits = other.bits;
        self.n0 = other.n0;
        self.one.copy_from_slice(&other.one);
        self.rr.copy_from_slice(&other.rr);
    }

    /// Visits its numbers as they lie in memory.
    pub(crate) fn for_each_number(&mut self, visit: &mut dyn FnMut(&mut [u64])) {
        for number in [&mut self.n, &mut self.one, &mut self.rr] {
            visit(number);
        }
        visit(std::slice::from_mut(&mut self.n0));
    }

    /// The modulus itself.
    pub(crate) fn n(&self) -> &[u64] {
        &self.n
    }

    /// Number of limbs, N.
    pub(crate) fn limbs(&self) -> usize {
        self.n.len()
    }

    /// Public length in bits.
    pub(crate) fn bits(&self) -> usize {
        self.bits
    }

    /// -n^-1 mod 2^64.
    pub(crate) fn n0(&self) -> u64 {
        self.n0
    }

    /// The parts that multiplication and reduction take.
    pub(crate) fn odd(&self) -> montgomery::Odd<'_> {
        (&self.n, self.n0)
    }

    /// R mod n, which is 1 in Montgomery form.
    pub(crate) fn one(&self) -> &[u64] {
        &self.one
    }

    /// R^2 mod n: multiplying by it enters Montgomery form.
    pub(crate) fn rr(&self) -> &[u64] {
        &self.rr
    }

    /// a b / R mod n, reduced, into `a`, for a b < n R. `t` holds 2 N limbs.
    pub(crate) fn mul_reduced(&self, a: &mut [u64], b: &[u64], t: &mut [u64]) {
        montgomery::Portable.montgomery_mul(self.odd(), a, b, t);
        words::reduce_once(a, &self.n);
    }

    /// Constants of Montgomery form by another R, 2^`r_bits` of at least 2^(64 N): R mod n, R^2 mod n and 2^(64 N) R^2
    /// mod n.
    pub(crate) fn powers_of(&self, r_bits: usize) -> [Nat; 3] {
        let mut t = Nat::zero(2 * self.limbs());
        // R mod n, from R' = 2^(64 N) mod n by doubling.
        let mut one = Nat::from_limbs(&self.one);
        for _ in self.limbs() * LIMB_BITS..r_bits {
            words::shift_in_mod(&mut one, 0, &self.n);
        }
        // R R / R', then R^2 / R' R'^2 / R', then R^2 R'^2 / R' = R' R^2.
        let mut rr = one.clone();
        self.mul_reduced(&mut rr, &one, &mut t);
        self.mul_reduced(&mut rr, &self.rr, &mut t);
        let mut high_rr = rr.clone();
        self.mul_reduced(&mut high_rr, &self.rr, &mut t);
        [one, rr, high_rr]
    }

    /// R mod n, from 2^(bits-1) < n by doubling.
    fn set_one(&mut self) {
        self.one.fill(0);
        self.one[(self.bits - 1) / LIMB_BITS] = 1 << ((self.bits - 1) % LIMB_BITS);
        for _ in self.bits - 1..LIMB_BITS * self.n.len() {
            words::shift_in_mod(&mut self.one, 0, &self.n);
        }
    }

    /// R^2 mod n, by doubling and squaring 2 R along the bits of 64 N: each squaring doubles the exponent k of the
    /// 2^k R it holds.
    fn set_rr(&mut self, t: &mut [u64]) {
        let exponent = (LIMB_BITS * self.limbs()) as u64;
        // Taken out of `self`, whose other constants the squarings read.
        let mut x = std::mem::replace(&mut self.rr, Nat::zero(0));
        x.copy_from_slice(&self.one);
        words::shift_in_mod(&mut x, 0, &self.n);
        for i in (0..exponent.ilog2()).rev() {
            montgomery::Portable.montgomery_sqr(self.odd(), &mut x, 1, t);
            words::reduce_once(&mut x, &self.n);
            if exponent >> i & 1 == 1 {
                words::shift_in_mod(&mut x, 0, &self.n);
            }
        }
        self.rr = x;
    }
}

/// a^-1 mod 2^64 for odd a, by Newton's iteration: a is its own inverse mod 8, and each step doubles the bits.
pub(crate) fn inverse_word(a: u64) -> u64 {
    let mut x = a;
    for _ in 0..5 {
        x = x.wrapping_mul(2u64.wrapping_sub(a.wrapping_mul(x)));
    }
    x
}

/// -1 / n mod 2^(64 limbs), for an odd n, by Newton's iteration: x (2 - n x) is right to twice as many limbs as x. In
/// constant time.
pub(crate) fn negated_inverse(n: &[u64], limbs: usize) -> Nat {
    let mut x = Nat::zero(limbs);
    let mut n_x = Zeroizing::new(vec![0; 2 * limbs]);
    let mut product = Zeroizing::new(vec![0; 2 * limbs]);
    x[0] = inverse_word(n[0]);
    let mut right = 1;
    while right < limbs {
        let next = (2 * right).min(limbs);
        let n = &n[..next.min(n.len())];
        // n x = 1 + 2^(64 right) f: x (2 - n x) = x - 2^(64 right) f x.
        let n_x = &mut n_x[..n.len() + right];
        words::mul(n_x, n, &x[..right]);
        let f = n_x.get(right..next.min(n_x.len())).unwrap_or_default();
        let product = &mut product[..f.len() + right];
        words::mul(product, f, &x[..right]);
        let (_, above) = x.split_at_mut(right);
        let above = &mut above[..next - right];
        let f_x = &product[..above.len().min(product.len())];
        above[..f_x.len()].copy_from_slice(f_x);
        negate(above);
        right = next;
    }
    negate(&mut x);
    x
}

/// x = -x mod 2^(64 limbs).
fn negate(x: &mut [u64]) {
    x.iter_mut().for_each(|limb| *limb = !*limb);
    words::add_carry(x, subtle::Choice::from(1));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{any_modulus, limbs, number, power_of_two};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn constants_are_what_they_say(
            (bits, n) in (2usize..700).prop_flat_map(|bits| (Just(bits), any_modulus(bits))),
            spare in 0usize..4,
        ) {
            let len = bits.div_ceil(64) + spare;
            let modulus = Modulus::new(&limbs(&n, len), bits, len);
            prop_assert_eq!(number(modulus.one()), power_of_two(64 * len) % &n);
            prop_assert_eq!(number(modulus.rr()), power_of_two(128 * len) % &n);
            prop_assert_eq!(modulus.n()[0].wrapping_mul(modulus.n0()), u64::MAX);
            prop_assert_eq!(number(modulus.n()), n);
        }

        #[test]
        fn inverses_are_inverses(
            (bits, n) in (2usize..1200).prop_flat_map(|bits| (Just(bits), any_modulus(bits))),
            len in 1usize..24,
        ) {
            let inverse = negated_inverse(&limbs(&n, bits.div_ceil(64)), len);
            prop_assert_eq!((number(&inverse) * n + 1u8) % power_of_two(64 * len), BigUint::ZERO);
        }
    }
}
