//! What is prepared for the moduli of all lanes.

use super::form::Form;
use super::reduction::Modulus;
use crate::limbs::aligned::Aligned;
use crate::limbs::modulus::inverse_word;
use crate::limbs::{LIMB_BITS, Nat, words};
use zeroize::Zeroizing;

use crate::kernel::doubles::Vector;

/// The moduli of N lanes, prepared.
#[derive(Clone)]
pub(crate) struct Moduli<const N: usize> {
    pub(super) form: Form,
    /// Every lane's modulus in plain limbs.
    pub(super) plain: [Nat; N],
    pub(super) n: Aligned,
    /// -1 / n mod R.
    pub(super) inverse: Aligned,
    /// R mod n.
    pub(super) one: Aligned,
    /// R^2 mod n.
    pub(super) rr: Aligned,
    /// 2^(64 limbs) R^2 mod n.
    pub(super) high_rr: Aligned,
    /// 1, not in Montgomery form.
    pub(super) unit: Aligned,
}

impl<const N: usize> Moduli<N> {
    /// Room for moduli of `limbs` limbs.
    pub(super) fn new(limbs: usize) -> Self {
        let form = Form::new(limbs);
        let zero = || Aligned::zero(N * form.digits);
        let mut unit = zero();
        unit[..N].fill(1f64.to_bits());
        Self {
            form,
            plain: std::array::from_fn(|_| Nat::zero(limbs)),
            n: zero(),
            inverse: zero(),
            one: zero(),
            rr: zero(),
            high_rr: zero(),
            unit,
        }
    }

    /// What a reduction takes of them.
    pub(super) fn modulus(&self) -> Modulus<'_, N> {
        Modulus {
            form: self.form,
            n: vectors(&self.n),
            inverse: vectors(&self.inverse),
        }
    }
}

pub(super) fn vectors<const N: usize>(words: &[u64]) -> &[Vector<N>] {
    words.as_chunks().0
}

pub(super) fn vectors_mut<const N: usize>(words: &mut [u64]) -> &mut [Vector<N>] {
    words.as_chunks_mut().0
}

/// -1 / n mod 2^(64 limbs), for an odd n, by Newton's iteration: x (2 - n x) is right to twice as many limbs as x. In constant time.
pub(super) fn negated_inverse(n: &[u64], limbs: usize) -> Nat {
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

/// Limbs that R needs.
pub(super) fn limbs_of_r(form: Form) -> usize {
    form.r_bits().div_ceil(LIMB_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{any_modulus, limbs, number};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn inverses_are_inverses(
            (bits, n) in (2usize..1200).prop_flat_map(|bits| (Just(bits), any_modulus(bits))),
            spare in 0usize..4,
        ) {
            let n_limbs = bits.div_ceil(64);
            let len = n_limbs + spare;
            let inverse = negated_inverse(&limbs(&n, n_limbs), len);
            let r = BigUint::from(1u8) << (64 * len);
            prop_assert_eq!((number(&inverse) * n + 1u8) % r, BigUint::ZERO);
        }
    }
}
