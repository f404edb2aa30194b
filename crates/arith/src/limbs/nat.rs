//! A natural number of public length that wipes itself.

use super::words;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// Little-endian limbs. The number of limbs is fixed when the number is made, and public.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Nat {
    limbs: Vec<u64>,
}

impl Nat {
    /// Zero, in `limbs` limbs.
    pub(crate) fn zero(limbs: usize) -> Self {
        Self { limbs: vec![0; limbs] }
    }

    /// The number `value`, in `limbs` (at least one) limbs.
    pub(crate) fn from_word(value: u64, limbs: usize) -> Self {
        let mut nat = Self::zero(limbs);
        nat.limbs[0] = value;
        nat
    }

    /// Reads big-endian bytes into as many limbs as their length asks for (at least one).
    pub(crate) fn from_be(bytes: &[u8]) -> Self {
        let mut nat = Self::zero(bytes.len().div_ceil(8).max(1));
        words::read_be(&mut nat.limbs, bytes);
        nat
    }

    /// A copy of `limbs`.
    pub(crate) fn from_limbs(limbs: &[u64]) -> Self {
        Self { limbs: limbs.to_vec() }
    }

    /// The number in `limbs` limbs. Limbs cut off must be zero.
    pub(crate) fn resized(&self, limbs: usize) -> Self {
        let mut nat = Self::zero(limbs);
        let kept = limbs.min(self.limbs.len());
        nat.limbs[..kept].copy_from_slice(&self.limbs[..kept]);
        debug_assert!(self.limbs[kept..].iter().all(|&limb| limb == 0));
        nat
    }

    /// The low `len` bytes, big-endian.
    pub(crate) fn to_be(&self, len: usize) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(vec![0; len]);
        words::write_be(&self.limbs, &mut bytes);
        bytes
    }
}

impl std::ops::Deref for Nat {
    type Target = [u64];
    fn deref(&self) -> &[u64] {
        &self.limbs
    }
}

impl std::ops::DerefMut for Nat {
    fn deref_mut(&mut self) -> &mut [u64] {
        &mut self.limbs
    }
}

/// a b, in as many limbs as both together.
pub(crate) fn product(a: &[u64], b: &[u64]) -> Nat {
    let mut product = Nat::zero(a.len() + b.len());
    words::mul(&mut product, a, b);
    product
}
