//! The check that a new key must pass before it is returned.

use rand_core::TryCryptoRng;
use zeroize::Zeroizing;

use crate::{Error, PrivateKey, Result, backend::Backend, draw, keys::modulus_len};

/// Has each key of `bits` bits do a private operation on a random number, and the public one on its result (the
/// pairwise consistency test of FIPS 140-3, done from the private side).
pub(super) fn check_consistency<R: TryCryptoRng + ?Sized>(
    keys: &[PrivateKey],
    bits: usize,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<()> {
    let len = modulus_len(bits);
    let mut messages = Zeroizing::new(Vec::with_capacity(keys.len() * len));
    for _ in keys {
        // One bit less than the modulus is below it.
        messages.extend_from_slice(&draw::bits(rng, bits - 1, len)?);
    }
    let mut passed = vec![false; keys.len()];
    backend.prepare_multi_key(keys)?.check(&messages, &mut passed)?;
    match passed.iter().all(|&passed| passed) {
        true => Ok(()),
        false => Err(Error::generation(
            "a new key did not decrypt what it had encrypted; this points to a fault of the machine",
        )),
    }
}
