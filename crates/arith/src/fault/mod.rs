//! Bits that are flipped on request, in the memory of a private operation: to show that no wrong result is released.
//!
//! A differential fault attack needs one wrong result that the attacker sees: with a signature whose half modulo p is
//! wrong, gcd(s^e − m, n) is q (Boneh, DeMillo and Lipton 1997; Lenstra 1996 for one signature).
//! [`crate::PrivateContext`] raises each result to e and compares it with what the caller gave before it is released.
//! `campaign`, and the example `faults` that runs it, flip single bits at every place where that operation keeps
//! something, kernel by kernel.
//!
//! The operation calls `pass` and its relatives where something lies in memory. They are empty functions unless this
//! crate has the feature `faults`: what ships has none of this.
//!
//! Not covered: instructions that are skipped or altered, two faults in one operation, and a result that changes after
//! it was checked. The last, s ± 2^k, is wrong modulo each prime, so that its power shows no factor of n but by chance.

#[cfg(feature = "faults")]
mod flip;

use crate::kernel::LaneKernel;

#[cfg(feature = "faults")]
pub use flip::{Fault, sizes, with_fault};

/// Where a bit is flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The caller's block, once it is read into limbs.
    Input,
    /// r^e of a blinding pair.
    BlindingFactor,
    /// 1 / r of a blinding pair.
    BlindingInverse,
    /// The block times r^e.
    Blinded,
    /// The number that a power is taken of: modulo a prime, in Montgomery form.
    Base,
    /// The table of its powers.
    Table,
    /// The entry of the table that the power begins with.
    First,
    /// A power: a half of the result.
    Half,
    /// The powers, their differences, products and sums during recombination.
    Recombination,
    /// The result, before its check.
    Result,
    /// The result's copy that is raised to e.
    CheckBase,
    /// The result's e-th power that is compared with the block.
    CheckPower,
    /// n of the key, which blocks and results are read and written by.
    KeyModulus,
    /// A kernel's constants of each prime: n, R mod n, R^2 mod n, the inverse by which it reduces.
    Primes,
    /// The digits of the private exponents.
    Exponents,
    /// Constants of recombination: q^-1 mod p, and the primes.
    Coefficients,
    /// n as blinding and check have it, and what a kernel has prepared of it.
    CheckModulus,
    /// e.
    PublicExponent,
}

#[cfg(feature = "faults")]
impl Place {
    /// Every place, in the order of an operation; those of the key come last.
    pub const ALL: [Self; 18] = [
        Self::Input,
        Self::BlindingFactor,
        Self::BlindingInverse,
        Self::Blinded,
        Self::Base,
        Self::Table,
        Self::First,
        Self::Half,
        Self::Recombination,
        Self::Result,
        Self::CheckBase,
        Self::CheckPower,
        Self::KeyModulus,
        Self::Primes,
        Self::Exponents,
        Self::Coefficients,
        Self::CheckModulus,
        Self::PublicExponent,
    ];

    /// `true` if it is memory of the prepared key, where a fault stays.
    pub fn is_of_key(self) -> bool {
        matches!(
            self,
            Self::KeyModulus
                | Self::Primes
                | Self::Exponents
                | Self::Coefficients
                | Self::CheckModulus
                | Self::PublicExponent
        )
    }
}

#[cfg(feature = "faults")]
pub(crate) use flip::{pass, pass_bytes};

/// Words in memory at a place of the operation.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn pass(_: Place, _: &mut [u64]) {}

/// Bytes in memory at a place of the operation.
#[cfg(not(feature = "faults"))]
#[inline(always)]
pub(crate) fn pass_bytes(_: Place, _: &mut [u8]) {}

/// Prepared moduli at a place of the operation.
#[inline(always)]
pub(crate) fn pass_moduli<K: LaneKernel>(place: Place, kernel: K, moduli: &mut K::Moduli) {
    #[cfg(feature = "faults")]
    kernel.for_each_constant(moduli, &mut |words| pass(place, words));
    #[cfg(not(feature = "faults"))]
    let _ = (place, kernel, moduli);
}
