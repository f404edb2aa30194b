//! The schemes of RFC 8017: what is put around a message before it is raised, and looked for afterwards.
//!
//! | scheme | of | file |
//! |---|---|---|
//! | RSASSA-PKCS1-v1_5, RSAES-PKCS1-v1_5 | sections 8.2 and 7.2 | `pkcs1v15` |
//! | RSASSA-PSS | section 8.1 | `pss` |
//! | RSAES-OAEP | section 7.1 | `oaep` |
//! | the masks of the last two: MGF1, or SHAKE | appendix B.2.1; RFC 8702, section 3.2.1 | `mask` |
//! | the parameters of PSS and OAEP | | `parameters` |
//! | the step at which a signature fails | | `failure` |
//! | what RSAES-PKCS1-v1_5 gives for a ciphertext that is wrong | draft-irtf-cfrg-rsa-guidance | `implicit` |
//!
//! These files are about bytes alone: no key is in them. [`signing`](crate::signing) and
//! [`encryption`](crate::encryption) put them together with the arithmetic.

mod failure;
pub(crate) mod implicit;
mod mask;
pub(crate) mod oaep;
mod parameters;
pub(crate) mod pkcs1v15;
pub(crate) mod pss;

use rand_core::TryCryptoRng;

use crate::{Error, Result, error::check_len, hash::Hash};

pub use failure::VerificationFailure;
pub use parameters::{Oaep, Pss, SaltLen};

/// How signatures are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SignatureScheme {
    /// RSASSA-PKCS1-v1_5: deterministic, and what most of the world verifies.
    Pkcs1v15(Hash),
    /// RSASSA-PSS: with a random salt and a proof.
    Pss(Pss),
}

/// How messages are encrypted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EncryptionScheme {
    /// RSAES-PKCS1-v1_5, decrypted with implicit rejection: a ciphertext that is wrong yields a pseudorandom message,
    /// which nobody can distinguish from one that was meant. For protocols that have nothing better.
    Pkcs1v15,
    /// RSAES-OAEP.
    Oaep(Oaep),
}

impl SignatureScheme {
    /// The hash of the message.
    pub fn hash(&self) -> Hash {
        match self {
            SignatureScheme::Pkcs1v15(hash) => *hash,
            SignatureScheme::Pss(pss) => pss.hash,
        }
    }

    /// Refuses functions and parameters that do not belong together, whatever the key: SHAKE outside RSASSA-PSS, and
    /// RSASSA-PSS with SHAKE but not as RFC 8702 defines it.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`].
    pub fn check_functions(&self) -> Result<()> {
        let pss = match self {
            SignatureScheme::Pkcs1v15(hash) if hash.is_xof() => {
                return refused(format!(
                    "PKCS#1 v1.5 signatures have no algorithm for {hash}; take RSASSA-PSS, or another hash function"
                ));
            }
            SignatureScheme::Pkcs1v15(_) => return Ok(()),
            SignatureScheme::Pss(pss) => pss,
        };
        let (hash, mgf_hash) = (pss.hash, pss.mgf_hash);
        if !hash.is_xof() && !mgf_hash.is_xof() {
            return Ok(());
        }
        if hash != mgf_hash {
            return refused(format!(
                "RSASSA-PSS takes SHAKE for message and mask together (RFC 8702), and not {hash} with a mask of {mgf_hash}"
            ));
        }
        let len = hash.digest_len();
        match pss.salt_len {
            SaltLen::Digest => Ok(()),
            SaltLen::Bytes(bytes) if bytes == len => Ok(()),
            _ => refused(format!(
                "RSASSA-PSS with {hash} has a salt of {len} bytes and no other (RFC 8702)"
            )),
        }
    }

    /// Refuses what must not, or cannot, sign with a key of `bits` bits.
    pub(crate) fn check_signing(&self, bits: usize) -> Result<()> {
        self.check(bits)?;
        let is_broken = match self {
            SignatureScheme::Pkcs1v15(hash) => hash.is_broken(),
            SignatureScheme::Pss(pss) => pss.hash.is_broken() || pss.mgf_hash.is_broken(),
        };
        if is_broken {
            return refused("SHA-1 signs nothing any more: its collisions are found in practice; take sha256");
        }
        match self {
            SignatureScheme::Pss(pss) if !pss.salt_len.is_for_signing() => {
                refused("a signature needs a length of salt: only verification can do without")
            }
            _ => Ok(()),
        }
    }

    /// Refuses what no signature of a key of `bits` bits can be.
    pub(crate) fn check(&self, bits: usize) -> Result<()> {
        self.check_functions()?;
        match self {
            SignatureScheme::Pkcs1v15(hash) => {
                let needed = pkcs1v15::signature_overhead(*hash);
                too_short(bits, bits.div_ceil(8) < needed, needed * 8 - 7)
            }
            SignatureScheme::Pss(pss) => {
                let salt = pss.salt_len.least(pss.hash);
                let needed = pss.hash.digest_len().saturating_add(salt).saturating_add(2);
                let has = (bits - 1).div_ceil(8);
                too_short(bits, has < needed, needed.saturating_mul(8).saturating_sub(6))
            }
        }
    }
}

impl SignatureScheme {
    /// The first step that a block of a key of `bits` bits, which a signature was raised to, fails; none if it is an
    /// encoding of the digest. Takes it apart in place.
    pub(crate) fn failure(&self, bits: usize, digest: &[u8], block: &mut [u8]) -> Option<VerificationFailure> {
        match *self {
            SignatureScheme::Pkcs1v15(hash) => pkcs1v15::failure(hash, digest, block),
            SignatureScheme::Pss(pss) => pss::Encoder::new(pss, bits).failure(digest, block),
        }
    }
}

/// Encodings for programs that raise blocks elsewhere.
impl SignatureScheme {
    /// The encoding of a digest of the scheme's hash function for a key of `bits` bits, as long as the modulus: to the
    /// private exponent, it is the signature. `rng` gives the salt of RSASSA-PSS, and is not asked by
    /// RSASSA-PKCS1-v1_5.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme, or the scheme signs nothing any more; if the digest
    /// has another length, or there is no randomness.
    pub fn encode<R: TryCryptoRng + ?Sized>(&self, bits: usize, digest: &[u8], rng: &mut R) -> Result<Vec<u8>> {
        self.check_signing(bits)?;
        check_len("the digest", digest.len(), self.hash().digest_len())?;
        let mut encoding = vec![0; bits.div_ceil(8)];
        Encoder::new(*self, bits).encode(digest, rng, &mut encoding)?;
        Ok(encoding)
    }

    /// As [`encode`](Self::encode), but with SHA-1 too: for programs that must sign as others expect, such as DNSSEC's
    /// algorithm 5.
    ///
    /// # Errors
    ///
    /// As for [`encode`](Self::encode), and [`Error::Scheme`] for a salt of any length.
    pub fn encode_with_broken_hash<R: TryCryptoRng + ?Sized>(
        &self,
        bits: usize,
        digest: &[u8],
        rng: &mut R,
    ) -> Result<Vec<u8>> {
        self.check(bits)?;
        if let SignatureScheme::Pss(pss) = self
            && !pss.salt_len.is_for_signing()
        {
            return refused("a signature needs a length of salt: only verification can do without");
        }
        check_len("the digest", digest.len(), self.hash().digest_len())?;
        let mut encoding = vec![0; bits.div_ceil(8)];
        Encoder::new(*self, bits).encode(digest, rng, &mut encoding)?;
        Ok(encoding)
    }

    /// Returns whether a signature raised to the public exponent, as long as the modulus, is an encoding of the digest.
    /// Takes the block apart in place.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme; if digest or block have another length.
    pub fn is_encoding_of(&self, bits: usize, digest: &[u8], block: &mut [u8]) -> Result<bool> {
        self.check(bits)?;
        check_len("the digest", digest.len(), self.hash().digest_len())?;
        check_len("the block", block.len(), bits.div_ceil(8))?;
        Ok(Encoder::new(*self, bits).is_encoding_of(digest, block))
    }
}

/// A signature scheme with what is prepared once for a key.
pub(crate) enum Encoder {
    Pkcs1v15(pkcs1v15::Template),
    Pss(pss::Encoder),
}

impl Encoder {
    /// For a key of `bits` bits, which the scheme was checked for.
    pub(crate) fn new(scheme: SignatureScheme, bits: usize) -> Encoder {
        match scheme {
            SignatureScheme::Pkcs1v15(hash) => Encoder::Pkcs1v15(pkcs1v15::Template::new(hash, bits.div_ceil(8))),
            SignatureScheme::Pss(pss) => Encoder::Pss(pss::Encoder::new(pss, bits)),
        }
    }

    /// The encoding of a digest, in as many bytes as the modulus has.
    pub(crate) fn encode<R: TryCryptoRng + ?Sized>(
        &self,
        digest: &[u8],
        rng: &mut R,
        encoding: &mut [u8],
    ) -> Result<()> {
        match self {
            Encoder::Pkcs1v15(template) => {
                template.encode(digest, encoding);
                Ok(())
            }
            Encoder::Pss(encoder) => encoder.encode(digest, rng, encoding),
        }
    }

    /// Returns whether what a signature came to, all of it public, is an encoding of the digest. Takes it apart in
    /// place.
    pub(crate) fn is_encoding_of(&self, digest: &[u8], encoding: &mut [u8]) -> bool {
        let mut is_valid = [true];
        self.are_encodings_of(digest, encoding, &mut is_valid);
        is_valid == [true]
    }

    /// Leaves true of `is_valid` what is true and whose encoding, of those that lie one after another, is one of its
    /// digest. Takes them apart in place.
    pub(crate) fn are_encodings_of(&self, digests: &[u8], encodings: &mut [u8], is_valid: &mut [bool]) {
        if is_valid.is_empty() {
            return;
        }
        let (h, k) = (digests.len() / is_valid.len(), encodings.len() / is_valid.len());
        match self {
            Encoder::Pkcs1v15(template) => {
                let items = digests.chunks_exact(h).zip(encodings.chunks_exact(k));
                for (is_valid, (digest, encoding)) in is_valid.iter_mut().zip(items) {
                    *is_valid &= template.is_encoding_of(digest, encoding);
                }
            }
            Encoder::Pss(encoder) => encoder.are_encodings_of(digests, encodings, is_valid),
        }
    }
}

impl EncryptionScheme {
    /// Refuses functions that the scheme has no algorithm for, whatever the key: SHAKE inside OAEP.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`].
    pub fn check_functions(&self) -> Result<()> {
        let EncryptionScheme::Oaep(oaep) = self else {
            return Ok(());
        };
        match [oaep.hash, oaep.mgf_hash].into_iter().find(|hash| hash.is_xof()) {
            None => Ok(()),
            Some(hash) => refused(format!(
                "OAEP has no algorithm for {hash}; take another hash function, such as sha256"
            )),
        }
    }

    /// Bytes of the longest message that a key of `bits` bits encrypts, or the reason why there is none.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short, or as for [`check_functions`](Self::check_functions).
    pub fn max_len(&self, bits: usize) -> Result<usize> {
        self.check_functions()?;
        let k = bits.div_ceil(8);
        let overhead = match self {
            EncryptionScheme::Pkcs1v15 => pkcs1v15::ENCRYPTION_OVERHEAD,
            EncryptionScheme::Oaep(oaep) => 2 * oaep.hash.digest_len() + 2,
        };
        too_short(bits, k < overhead, overhead * 8 - 7)?;
        Ok(k - overhead)
    }

    /// The encoding of a message that is not too long.
    pub(crate) fn encode<R: TryCryptoRng + ?Sized>(
        &self,
        message: &[u8],
        rng: &mut R,
        encoding: &mut [u8],
    ) -> Result<()> {
        match self {
            EncryptionScheme::Pkcs1v15 => pkcs1v15::encode_message(message, rng, encoding),
            EncryptionScheme::Oaep(oaep) => oaep::encode(oaep, message, rng, encoding),
        }
    }
}

fn too_short(bits: usize, is_too_short: bool, least: usize) -> Result<()> {
    match is_too_short {
        false => Ok(()),
        true => refused(format!(
            "a key of {bits} bits is too short for this scheme, which takes {least} bits at least"
        )),
    }
}

fn refused<T>(reason: impl Into<String>) -> Result<T> {
    Err(Error::Scheme { reason: reason.into() })
}
