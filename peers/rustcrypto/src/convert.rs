//! Keys, numbers and failures, from one side to the other.

use crypto_bigint::BoxedUint;
use rsa::{PrivateKey, PublicKey};
use rsalab_engines::{EngineError, StudyKey, job};
use rsalab_rsa::random::WorkerRng;

/// A variant of the private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateVariant {
    /// Blinded and checked, as `sign_with_rng` and `decrypt_blinded` do it, and `sign` in a default build.
    Blinded,
    /// Checked only, as `sign` does it in a build without the system's random numbers.
    Unblinded,
    /// Neither.
    Unchecked,
}

/// A key for the library's private operations.
pub(crate) fn private_key(key: &StudyKey) -> Result<PrivateKey, EngineError> {
    let [n, e, d, p, q] = [&key.n, &key.e, &key.d, &key.p, &key.q].map(|bytes| BoxedUint::from_be_slice_vartime(bytes));
    let others = key
        .others
        .iter()
        .map(|other| BoxedUint::from_be_slice_vartime(&other.r));
    let primes = [p, q].into_iter().chain(others).collect();
    PrivateKey::from_components(n, e, d, primes).map_err(refused)
}

/// A key for its public ones.
pub(crate) fn public_key(key: &StudyKey) -> Result<PublicKey, EngineError> {
    let [n, e] = [&key.n, &key.e].map(|bytes| BoxedUint::from_be_slice_vartime(bytes));
    PublicKey::new_with_size_limits(n, e, job::MODULUS_BITS).map_err(refused)
}

/// A generator for one thread, with a key of the system's.
pub(crate) fn random() -> Result<WorkerRng, EngineError> {
    WorkerRng::from_system().map_err(|error| EngineError::library("the system's generator", error))
}

/// An operation on a number as one on a block; `precision` is the bits of the words that hold the modulus.
pub(crate) fn on_numbers(
    precision: u32,
    mut operation: impl FnMut(&BoxedUint) -> rsa::Result<BoxedUint>,
) -> impl FnMut(&[u8], &mut [u8]) -> Result<(), EngineError> {
    move |input, output| {
        let block = BoxedUint::from_be_slice(input, precision).expect("a block has the modulus's length");
        let result = operation(&block).map_err(|error| EngineError::library("rsa", error))?;
        write(&result, output);
        Ok(())
    }
}

/// Fills a big-endian string with a number that fits it, and zeros in front.
pub(crate) fn write(number: &BoxedUint, output: &mut [u8]) {
    let bytes = number.to_be_bytes();
    let spare = bytes.len().abs_diff(output.len());
    if bytes.len() < output.len() {
        let (zeros, rest) = output.split_at_mut(spare);
        zeros.fill(0);
        rest.copy_from_slice(&bytes);
    } else {
        let (zeros, rest) = bytes.split_at(spare);
        assert!(
            zeros.iter().all(|byte| *byte == 0),
            "a number below the modulus is no longer than it"
        );
        output.copy_from_slice(rest);
    }
}

fn refused(error: rsa::Error) -> EngineError {
    EngineError::Key(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_at_any_length_that_holds_them() {
        let number = BoxedUint::from(0x01_0203_u32);
        for length in [3, 8, 9, 20] {
            let mut output = vec![0xA5; length];
            write(&number, &mut output);
            assert_eq!(output[length - 3..], [1, 2, 3]);
            assert!(output[..length - 3].iter().all(|byte| *byte == 0));
        }
    }
}
