//! The private and the public operation on raw blocks.

use crypto_bigint::BoxedUint;
use rand_chacha::ChaCha20Rng;
use rsa::{
    RsaPrivateKey, RsaPublicKey,
    hazmat::{rsa_decrypt, rsa_decrypt_and_check, rsa_encrypt},
    traits::PublicKeyParts,
};
use rsalab_engines::{EngineError, Prepared, RunStats, Runner, StudyKey, check_blocks, job};

use crate::generate::random;

/// A form of the private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateForm {
    /// Blinded and checked, as `sign_with_rng` and `decrypt_blinded` do it.
    Blinded,
    /// Checked only, as `sign` does it.
    Unblinded,
    /// Neither.
    Unchecked,
}

/// A private key, shared by all threads.
pub(crate) struct PreparedPrivate {
    form: PrivateForm,
    key: RsaPrivateKey,
    modulus: Vec<u8>,
}

impl PreparedPrivate {
    pub(crate) fn new(form: PrivateForm, key: &StudyKey) -> Result<Self, EngineError> {
        Ok(Self {
            form,
            key: private_key(key)?,
            modulus: key.n.clone(),
        })
    }
}

impl Prepared for PreparedPrivate {
    fn kernel(&self) -> String {
        match self.form {
            PrivateForm::Blinded | PrivateForm::Unblinded => "rsa_decrypt_and_check",
            PrivateForm::Unchecked => "rsa_decrypt",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let key = &self.key;
        let precision = key.n_bits_precision();
        let modulus = self.modulus.as_slice();
        Ok(match self.form {
            PrivateForm::Blinded => {
                let mut random = random()?;
                Box::new(BlockRunner {
                    modulus,
                    precision,
                    apply: move |block: &BoxedUint| {
                        rsa_decrypt_and_check(key, Some(&mut random), block)
                    },
                })
            }
            PrivateForm::Unblinded => Box::new(BlockRunner {
                modulus,
                precision,
                apply: move |block: &BoxedUint| {
                    rsa_decrypt_and_check::<ChaCha20Rng>(key, None, block)
                },
            }),
            PrivateForm::Unchecked => Box::new(BlockRunner {
                modulus,
                precision,
                apply: move |block: &BoxedUint| rsa_decrypt::<ChaCha20Rng>(None, key, block),
            }),
        })
    }
}

/// A public key, shared by all threads.
pub(crate) struct PreparedPublic {
    key: RsaPublicKey,
    modulus: Vec<u8>,
}

impl PreparedPublic {
    pub(crate) fn new(key: &StudyKey) -> Result<Self, EngineError> {
        Ok(Self {
            key: public_key(key)?,
            modulus: key.n.clone(),
        })
    }
}

impl Prepared for PreparedPublic {
    fn kernel(&self) -> String {
        "rsa_encrypt".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let key = &self.key;
        Ok(Box::new(BlockRunner {
            modulus: &self.modulus,
            precision: key.n_bits_precision(),
            apply: move |block: &BoxedUint| rsa_encrypt(key, block),
        }))
    }
}

/// A key for the library's private operations.
pub(crate) fn private_key(key: &StudyKey) -> Result<RsaPrivateKey, EngineError> {
    let [n, e, d, p, q] = [&key.n, &key.e, &key.d, &key.p, &key.q]
        .map(|bytes| BoxedUint::from_be_slice_vartime(bytes));
    RsaPrivateKey::from_components(n, e, d, vec![p, q]).map_err(refused)
}

/// A key for its public ones.
pub(crate) fn public_key(key: &StudyKey) -> Result<RsaPublicKey, EngineError> {
    let [n, e] = [&key.n, &key.e].map(|bytes| BoxedUint::from_be_slice_vartime(bytes));
    RsaPublicKey::new_with_size_limits(n, e, job::MODULUS_BITS).map_err(refused)
}

/// An operation on one block, done to each of a batch.
struct BlockRunner<'a, F> {
    modulus: &'a [u8],
    /// Bits of the words that hold the modulus.
    precision: u32,
    apply: F,
}

impl<F: FnMut(&BoxedUint) -> rsa::Result<BoxedUint>> Runner for BlockRunner<'_, F> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_blocks(inputs, outputs, self.modulus)?;
        let length = self.modulus.len();
        for (input, output) in inputs
            .chunks_exact(length)
            .zip(outputs.chunks_exact_mut(length))
        {
            let block = BoxedUint::from_be_slice(input, self.precision)
                .expect("a block has the modulus's length");
            let result = (self.apply)(&block).map_err(|error| EngineError::Library {
                call: "rsa",
                message: error.to_string(),
            })?;
            write(&result, output);
        }
        Ok(RunStats::default())
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
