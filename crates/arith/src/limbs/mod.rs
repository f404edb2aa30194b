//! Numbers as little-endian 64-bit limbs. The number of limbs is public; their values may be secret.

pub(crate) mod aligned;
pub(crate) mod modulus;
pub(crate) mod montgomery;
pub(crate) mod nat;
pub(crate) mod words;

pub(crate) use modulus::{Modulus, negated_inverse};
pub(crate) use nat::Nat;

/// Bits in a limb.
pub(crate) const LIMB_BITS: usize = 64;

/// Limbs that hold `bits` bits.
pub(crate) const fn limbs_for_bits(bits: usize) -> usize {
    bits.div_ceil(LIMB_BITS)
}
