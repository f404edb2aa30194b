//! Signing and verifying, one message or many.
//!
//! Two levels. [`SigningKey`] and [`VerifyingKey`] are keys with a scheme, shared by threads; they take messages or
//! digests, and implement the `signature` crate's traits. [`Signer`] and [`Verifier`] are per-thread runners: they hold
//! scratch memory and blinding, which a key's own methods borrow from the key for each call, and take digests in
//! contiguous batches.

mod screening;
mod signature_bytes;
mod verifying;

use std::sync::Arc;

use rand_core::TryCryptoRng;
use signature::Keypair;
use zeroize::Zeroizing;

use crate::{
    CpuBackend, Error, PrivateKey, Result,
    backend::{Backend, BlockRunner, Pooled, Prepared, Status},
    error::check_len,
    random::SystemRng,
    room::make_room,
    scheme::{Encoder, SignatureScheme},
};

pub use signature_bytes::Signature;
pub use verifying::{Verifier, VerifyingKey};

/// Signs on one thread: a runner of the private operation, and room for encodings.
pub struct Signer<R> {
    runner: R,
    encoder: Encoder,
    digest_len: usize,
    modulus_len: usize,
    /// What is signed may be secret.
    encodings: Zeroizing<Vec<u8>>,
}

impl<R: BlockRunner> Signer<R> {
    /// `runner` does the private operation of a key of `bits` bits.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme, or the scheme signs nothing any more.
    pub fn new(runner: R, bits: usize, scheme: SignatureScheme) -> Result<Self> {
        scheme.check_signing(bits)?;
        Ok(Signer {
            runner,
            encoder: Encoder::new(scheme, bits),
            digest_len: scheme.hash().digest_len(),
            modulus_len: bits.div_ceil(8),
            encodings: Zeroizing::new(Vec::new()),
        })
    }

    /// Signs digests that lie one after another, into signatures of the modulus's length each. `rng` gives the salts of
    /// RSASSA-PSS, and is not asked by RSASSA-PKCS1-v1_5.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together, or there is no randomness.
    pub fn sign<G: TryCryptoRng + ?Sized>(
        &mut self,
        digests: &[u8],
        signatures: &mut [u8],
        status: &mut [Status],
        rng: &mut G,
    ) -> Result<()> {
        let (h, k) = (self.digest_len, self.modulus_len);
        check_len("the digests", digests.len(), status.len() * h)?;
        make_room(&mut self.encodings, status.len() * k);
        for (digest, encoding) in digests.chunks(h).zip(self.encodings.chunks_mut(k)) {
            self.encoder.encode(digest, rng, encoding)?;
        }
        self.runner.run(&self.encodings, signatures, status)
    }
}

/// A private key made ready to sign with one scheme. Cheap to clone, and shared by threads.
///
/// ```
/// use rsalab_rsa::{PrivateKey, hash::Hash};
/// use rsalab_rsa::scheme::{Pss, SignatureScheme};
/// use rsalab_rsa::signing::SigningKey;
///
/// let key = PrivateKey::generate(2048)?;
/// let signing = SigningKey::new(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)))?;
/// let signature = signing.sign(b"a message")?;
/// assert!(signing.verifying_key().verify(b"a message", signature.as_bytes()));
///
/// // Many at once are several times as fast.
/// let signatures = signing.sign_batch(&[b"one".as_slice(), b"two"])?;
/// let pairs = [(b"one".as_slice(), signatures[0].as_bytes()), (b"two", signatures[0].as_bytes())];
/// assert_eq!(signing.verifying_key().verify_batch(&pairs), [true, false]);
/// # Ok::<(), rsalab_rsa::Error>(())
/// ```
#[derive(Clone)]
pub struct SigningKey {
    prepared: Arc<Pooled>,
    verifying: VerifyingKey,
}

impl SigningKey {
    /// Prepares the key on this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme, or the scheme signs nothing any more.
    pub fn new(key: &PrivateKey, scheme: SignatureScheme) -> Result<Self> {
        SigningKey::with_backend(key, scheme, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(
        key: &PrivateKey,
        scheme: SignatureScheme,
        backend: &(impl Backend + Clone + 'static),
    ) -> Result<Self> {
        scheme.check_signing(key.bits())?;
        Ok(SigningKey {
            prepared: Arc::new(Pooled::new(backend.prepare_private(key)?)),
            verifying: VerifyingKey::unprepared(key.public(), scheme, Box::new(backend.clone())),
        })
    }

    /// Bytes of a signature.
    pub fn modulus_len(&self) -> usize {
        self.prepared.modulus_len()
    }

    /// The kernels that a call with so many items runs on, for the record.
    pub fn kernels_for(&self, items: usize) -> Vec<&str> {
        self.prepared.kernels_for(items)
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// A runner for one thread.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none for blinding.
    pub fn signer(&self) -> Result<Signer<impl BlockRunner + '_>> {
        Signer::new(self.prepared.runner()?, self.verifying.bits, self.verifying.scheme)
    }

    /// Signs a message.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none, and [`Error::Fault`] if the result failed its check and was withheld.
    pub fn sign(&self, message: &[u8]) -> Result<Signature> {
        self.sign_with_rng(&mut SystemRng, message)
    }

    /// Signs a message, with the salt from a generator.
    ///
    /// # Errors
    ///
    /// As for [`sign`](Self::sign).
    pub fn sign_with_rng<G: TryCryptoRng + ?Sized>(&self, rng: &mut G, message: &[u8]) -> Result<Signature> {
        let mut signatures = self.sign_batch_with_rng(rng, &[message])?;
        Ok(signatures.remove(0))
    }

    /// Signs messages, together in the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// As for [`sign`](Self::sign), of any of them.
    pub fn sign_batch(&self, messages: &[&[u8]]) -> Result<Vec<Signature>> {
        self.sign_batch_with_rng(&mut SystemRng, messages)
    }

    /// Signs messages, with the salts from a generator.
    ///
    /// # Errors
    ///
    /// As for [`sign_batch`](Self::sign_batch).
    pub fn sign_batch_with_rng<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        messages: &[&[u8]],
    ) -> Result<Vec<Signature>> {
        let hash = self.verifying.scheme.hash();
        // One by one: what is signed may be secret, and lanes are not wiped. The room is taken at once: growing would
        // leave copies behind.
        let mut digests = Zeroizing::new(Vec::with_capacity(messages.len() * hash.digest_len()));
        for message in messages {
            digests.extend_from_slice(&hash.digest(message));
        }
        self.sign_contiguous(rng, &digests)
    }

    /// Signs digests of the scheme's hash function, together in the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// As for [`sign_batch`](Self::sign_batch), and [`Error::Length`] for a digest of another length than the hash
    /// function's.
    pub fn sign_digests(&self, digests: &[&[u8]]) -> Result<Vec<Signature>> {
        self.sign_digests_with_rng(&mut SystemRng, digests)
    }

    /// Signs digests, with the salts from a generator.
    ///
    /// # Errors
    ///
    /// As for [`sign_digests`](Self::sign_digests).
    pub fn sign_digests_with_rng<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        digests: &[&[u8]],
    ) -> Result<Vec<Signature>> {
        let h = self.verifying.scheme.hash().digest_len();
        for digest in digests {
            check_len("a digest", digest.len(), h)?;
        }
        self.sign_contiguous(rng, &Zeroizing::new(digests.concat()))
    }

    /// Signs digests that lie one after another.
    fn sign_contiguous<G: TryCryptoRng + ?Sized>(&self, rng: &mut G, digests: &[u8]) -> Result<Vec<Signature>> {
        let count = digests.len() / self.verifying.scheme.hash().digest_len();
        let mut signatures = vec![0; count * self.prepared.modulus_len()];
        let mut status = vec![Status::Done; count];
        self.signer()?.sign(digests, &mut signatures, &mut status, rng)?;
        if let Some(item) = status.iter().position(|status| *status != Status::Done) {
            return Err(Error::Fault { item });
        }
        Ok(signatures
            .chunks(self.prepared.modulus_len())
            .map(|signature| Signature::from(signature.to_vec()))
            .collect())
    }
}

impl signature::Signer<Signature> for SigningKey {
    fn try_sign(&self, message: &[u8]) -> Result<Signature, signature::Error> {
        self.sign(message).map_err(signature::Error::from_source)
    }
}

impl signature::RandomizedSigner<Signature> for SigningKey {
    fn try_sign_with_rng<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        message: &[u8],
    ) -> Result<Signature, signature::Error> {
        self.sign_with_rng(rng, message).map_err(signature::Error::from_source)
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        self.verifying.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;
    use zeroize::ZeroizeOnDrop;

    /// Does not compile for what is not wiped.
    fn is_wiped(_: &impl ZeroizeOnDrop) {}

    #[test]
    fn encodings_are_wiped() {
        let key = PrivateKey::generate(512).unwrap();
        let signing = SigningKey::new(&key, SignatureScheme::Pkcs1v15(Hash::Sha256)).unwrap();
        let signer = signing.signer().unwrap();
        is_wiped(&signer.encodings);
    }
}
