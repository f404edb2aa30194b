//! RSASSA-PKCS1-v1_5 (RFC 8017, section 8.2) over batches, for SHA-256 digests.
//!
//! A signature is verified as the standard says, by comparing encodings: the digest is encoded and compared with the whole
//! result of the public operation. Nothing of a signature is parsed, so that there is nothing to be lenient about.

use crate::{BlockRunner, Error, Status};

/// Bytes of a SHA-256 digest.
pub const DIGEST_BYTES: usize = 32;

/// The DER of a `DigestInfo` with SHA-256, up to the digest (section 9.2, note 1).
const SHA256_DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05,
    0x00, 0x04, 0x20,
];

/// One thread's hands for signing: a runner of the private operation, and room for encodings.
pub struct Signer<R> {
    runner: R,
    modulus_len: usize,
    encodings: Vec<u8>,
}

impl<R: BlockRunner> Signer<R> {
    /// `runner` does the private operation on blocks of `modulus_len` bytes.
    pub fn new(runner: R, modulus_len: usize) -> Self {
        Signer {
            runner,
            modulus_len,
            encodings: Vec::new(),
        }
    }

    /// Signs digests of [`DIGEST_BYTES`] each, into signatures of the modulus's length each.
    ///
    /// # Errors
    ///
    /// Only if the lengths of the buffers do not belong together.
    pub fn sign(
        &mut self,
        digests: &[u8],
        signatures: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        encode_all(
            digests.chunks(DIGEST_BYTES),
            self.modulus_len,
            &mut self.encodings,
        );
        self.runner.run(&self.encodings, signatures, status)
    }
}

/// One thread's hands for verifying: a runner of the public operation, and room for blocks.
pub struct Verifier<R> {
    runner: R,
    modulus_len: usize,
    signatures: Vec<u8>,
    powers: Vec<u8>,
    encodings: Vec<u8>,
    status: Vec<Status>,
}

impl<R: BlockRunner> Verifier<R> {
    /// `runner` does the public operation on blocks of `modulus_len` bytes.
    pub fn new(runner: R, modulus_len: usize) -> Self {
        Verifier {
            runner,
            modulus_len,
            signatures: Vec::new(),
            powers: Vec::new(),
            encodings: Vec::new(),
            status: Vec::new(),
        }
    }

    /// Tells of each `digest ‖ signature`, of [`DIGEST_BYTES`] and the modulus's length, whether the signature is the
    /// digest's: exactly, and below the modulus.
    ///
    /// # Errors
    ///
    /// Only if the lengths of the buffers do not belong together.
    pub fn verify(&mut self, signed: &[u8], is_right: &mut [bool]) -> Result<(), Error> {
        let items = || signed.chunks(DIGEST_BYTES + self.modulus_len);
        self.signatures.clear();
        for item in items() {
            self.signatures
                .extend_from_slice(&item[DIGEST_BYTES.min(item.len())..]);
        }
        encode_all(
            items().map(|item| &item[..DIGEST_BYTES.min(item.len())]),
            self.modulus_len,
            &mut self.encodings,
        );
        self.powers.resize(self.signatures.len(), 0);
        self.status.resize(is_right.len(), Status::Done);
        self.runner
            .run(&self.signatures, &mut self.powers, &mut self.status)?;
        let pairs = self
            .powers
            .chunks(self.modulus_len)
            .zip(self.encodings.chunks(self.modulus_len));
        for ((is_right, status), (power, encoding)) in
            is_right.iter_mut().zip(&self.status).zip(pairs)
        {
            *is_right = *status == Status::Done && power == encoding;
        }
        Ok(())
    }
}

/// `EMSA-PKCS1-v1_5` (section 9.2) of each digest, one after another.
fn encode_all<'a>(
    digests: impl Iterator<Item = &'a [u8]>,
    modulus_len: usize,
    encodings: &mut Vec<u8>,
) {
    encodings.clear();
    for digest in digests {
        encodings.extend_from_slice(&[0, 1]);
        // The smallest modulus of the crate has 64 bytes, and all but the ones take 54.
        let ones = modulus_len - 3 - SHA256_DIGEST_INFO.len() - DIGEST_BYTES;
        encodings.resize(encodings.len() + ones, 0xff);
        encodings.push(0);
        encodings.extend_from_slice(&SHA256_DIGEST_INFO);
        encodings.extend_from_slice(digest);
    }
}
