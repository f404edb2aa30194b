//! Exponentiations of a prepared key, whatever its kernel: each file is one way to take a power, or protects one.

pub(crate) mod blinded_check;
pub(crate) mod crt;
pub(crate) mod multi_key;
pub(crate) mod plain;
pub(crate) mod product;
pub(crate) mod public;

use crate::Status;

/// Powers of up to [`items`](Self::items) numbers at once: what a prepared key does, whatever its kernel.
pub(crate) trait Exponentiation: Send + Sync {
    /// Numbers that one call takes.
    fn items(&self) -> usize;
    /// Words of working memory.
    fn working_words(&self) -> usize;
    /// Raises each number of `limbs` limbs in `values`, in place; at most [`items`](Self::items) of them, each below
    /// the modulus before and after.
    fn raise(&self, values: &mut [u64], working: &mut [u64]);
}

/// Powers of up to [`items`](Self::items) numbers at once with a public exponent, whatever the kernel.
pub(crate) trait PublicExponentiation: Send + Sync {
    /// Numbers that one call takes.
    fn items(&self) -> usize;
    /// Bits of the modulus.
    fn modulus_bits(&self) -> usize;
    /// Words of working memory.
    fn working_words(&self) -> usize;
    /// Raises big-endian numbers of the modulus's bytes, one for each entry of `status`, at most
    /// [`items`](Self::items), in a time that depends on what they are. One that is not below the modulus gets
    /// [`Status::OutOfRange`] and a zero output.
    fn raise_vartime(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status], working: &mut [u64]);
    /// As [`raise_vartime`](Self::raise_vartime), for secret numbers: of them the time shows which are not below the
    /// modulus, and nothing else.
    fn raise(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status], working: &mut [u64]);
}
