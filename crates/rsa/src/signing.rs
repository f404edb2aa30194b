//! Signing and verifying, one message or many.
//!
//! Two levels. [`SigningKey`] and [`VerifyingKey`] are whole keys with a scheme, shared by threads; they take messages, and
//! carry the `signature` crate's traits. [`Signer`] and [`Verifier`] are one thread's hands on them: they keep the scratch and
//! the blinding that a key's own methods make anew in each call, and take digests in contiguous batches.

use std::sync::Arc;

use rand_core::TryCryptoRng;
use signature::Keypair;

use crate::{
    Backend, BlockRunner, Error, Prepared, PrivateKey, PublicKey, Status,
    error::check_len,
    hash::{Digested, Hash},
    random::SystemRng,
    scheme::{Encoder, SignatureScheme},
};

/// One thread's hands for signing: a runner of the private operation, and room for encodings.
pub struct Signer<R> {
    runner: R,
    encoder: Encoder,
    digest_len: usize,
    modulus_len: usize,
    encodings: Vec<u8>,
}

impl<R: BlockRunner> Signer<R> {
    /// `runner` does the private operation of a key of `bits` bits.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme, or the scheme signs nothing any more.
    pub fn new(runner: R, bits: usize, scheme: SignatureScheme) -> Result<Self, Error> {
        scheme.check_signing(bits)?;
        Ok(Signer {
            runner,
            encoder: Encoder::new(scheme, bits),
            digest_len: scheme.hash().digest_len(),
            modulus_len: bits.div_ceil(8),
            encodings: Vec::new(),
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
    ) -> Result<(), Error> {
        let (h, k) = (self.digest_len, self.modulus_len);
        check_len("the digests", digests.len(), status.len() * h)?;
        self.encodings.resize(status.len() * k, 0);
        for (digest, encoding) in digests.chunks(h).zip(self.encodings.chunks_mut(k)) {
            self.encoder.encode(digest, rng, encoding)?;
        }
        self.runner.run(&self.encodings, signatures, status)
    }
}

/// One thread's hands for verifying: a runner of the public operation, and room for blocks.
pub struct Verifier<R> {
    runner: R,
    encoder: Encoder,
    digest_len: usize,
    modulus_len: usize,
    powers: Vec<u8>,
    status: Vec<Status>,
}

impl<R: BlockRunner> Verifier<R> {
    /// `runner` does the public operation of a key of `bits` bits.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(runner: R, bits: usize, scheme: SignatureScheme) -> Result<Self, Error> {
        scheme.check(bits)?;
        Ok(Verifier {
            runner,
            encoder: Encoder::new(scheme, bits),
            digest_len: scheme.hash().digest_len(),
            modulus_len: bits.div_ceil(8),
            powers: Vec::new(),
            status: Vec::new(),
        })
    }

    /// Tells of each signature, of the modulus's length, whether it is its digest's: exactly, and below the modulus.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together.
    pub fn verify(
        &mut self,
        digests: &[u8],
        signatures: &[u8],
        is_right: &mut [bool],
    ) -> Result<(), Error> {
        let (h, k) = (self.digest_len, self.modulus_len);
        check_len("the digests", digests.len(), is_right.len() * h)?;
        self.powers.resize(signatures.len(), 0);
        self.status.resize(is_right.len(), Status::Done);
        self.runner
            .run(signatures, &mut self.powers, &mut self.status)?;
        let items = digests.chunks(h).zip(self.powers.chunks_mut(k));
        for ((is_right, status), (digest, power)) in
            is_right.iter_mut().zip(&self.status).zip(items)
        {
            *is_right = *status == Status::Done && self.encoder.is_encoding_of(digest, power);
        }
        Ok(())
    }
}

/// A signature, as long as the modulus of its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature(Box<[u8]>);

impl Signature {
    /// The bytes, big-endian.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Signature {
    fn from(bytes: Vec<u8>) -> Self {
        Signature(bytes.into())
    }
}

/// Any bytes may be a signature; verification tells.
impl TryFrom<&[u8]> for Signature {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        Ok(Signature(bytes.into()))
    }
}

impl From<Signature> for Box<[u8]> {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

impl signature::SignatureEncoding for Signature {
    type Repr = Box<[u8]>;
}

/// A private key made ready to sign with one scheme. Cheap to clone, and shared by threads.
///
/// ```
/// use rsalab_rsa::{CpuBackend, PrivateKey, generate, hash::Hash, random::SystemRng};
/// use rsalab_rsa::scheme::{Pss, SignatureScheme};
/// use rsalab_rsa::signing::SigningKey;
///
/// let backend = CpuBackend::auto();
/// let key = generate::generate(2048, generate::DEFAULT_EXPONENT, &mut SystemRng, &backend)?.key;
/// let signing = SigningKey::new(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)), &backend)?;
/// let signature = signing.sign(b"a message")?;
/// assert!(signing.verifying_key().verify(b"a message", signature.as_bytes()));
///
/// // Many at once are several times as fast.
/// let signatures = signing.sign_all(&[b"one".as_slice(), b"two"])?;
/// let pairs = [(b"one".as_slice(), signatures[0].as_bytes()), (b"two", signatures[0].as_bytes())];
/// assert_eq!(signing.verifying_key().verify_all(&pairs), [true, false]);
/// # Ok::<(), rsalab_rsa::Error>(())
/// ```
#[derive(Clone)]
pub struct SigningKey {
    prepared: Arc<dyn Prepared>,
    verifying: VerifyingKey,
}

/// A public key made ready to verify with one scheme. Cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct VerifyingKey {
    prepared: Arc<dyn Prepared>,
    bits: usize,
    scheme: SignatureScheme,
}

impl SigningKey {
    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme, or the scheme signs nothing any more; and what the backend
    /// says.
    pub fn new(
        key: &PrivateKey,
        scheme: SignatureScheme,
        backend: &impl Backend,
    ) -> Result<Self, Error> {
        scheme.check_signing(key.bits())?;
        Ok(SigningKey {
            prepared: backend.prepare_private(key)?.into(),
            verifying: VerifyingKey::new(key.public(), scheme, backend)?,
        })
    }

    /// Bytes of a signature.
    pub fn modulus_len(&self) -> usize {
        self.prepared.modulus_len()
    }

    /// The public half.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.verifying
    }

    /// One thread's hands.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none for blinding.
    pub fn signer(&self) -> Result<Signer<impl BlockRunner + '_>, Error> {
        Signer::new(
            self.prepared.runner()?,
            self.verifying.bits,
            self.verifying.scheme,
        )
    }

    /// Signs a message.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none, and [`Error::Fault`] if the result failed its check and was withheld.
    pub fn sign(&self, message: &[u8]) -> Result<Signature, Error> {
        self.sign_with_rng(&mut SystemRng, message)
    }

    /// Signs a message, with the salt from a generator.
    ///
    /// # Errors
    ///
    /// As for [`sign`](Self::sign).
    pub fn sign_with_rng<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        message: &[u8],
    ) -> Result<Signature, Error> {
        let mut all = self.sign_all_with_rng(rng, &[message])?;
        Ok(all.remove(0))
    }

    /// Signs messages, side by side in the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// As for [`sign`](Self::sign), of any of them.
    pub fn sign_all(&self, messages: &[&[u8]]) -> Result<Vec<Signature>, Error> {
        self.sign_all_with_rng(&mut SystemRng, messages)
    }

    /// Signs messages, with the salts from a generator.
    ///
    /// # Errors
    ///
    /// As for [`sign_all`](Self::sign_all).
    pub fn sign_all_with_rng<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        messages: &[&[u8]],
    ) -> Result<Vec<Signature>, Error> {
        let digests = digests(self.verifying.scheme.hash(), messages.iter().copied());
        let mut signatures = vec![0; messages.len() * self.prepared.modulus_len()];
        let mut status = vec![Status::Done; messages.len()];
        self.signer()?
            .sign(&digests, &mut signatures, &mut status, rng)?;
        if let Some(item) = status.iter().position(|status| *status != Status::Done) {
            return Err(Error::Fault { item });
        }
        Ok(signatures
            .chunks(self.prepared.modulus_len())
            .map(|signature| Signature(signature.into()))
            .collect())
    }
}

impl VerifyingKey {
    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme; and what the backend says.
    pub fn new(
        key: &PublicKey,
        scheme: SignatureScheme,
        backend: &impl Backend,
    ) -> Result<Self, Error> {
        scheme.check(key.bits())?;
        Ok(VerifyingKey {
            prepared: backend.prepare_public(key)?.into(),
            bits: key.bits(),
            scheme,
        })
    }

    /// The scheme.
    pub fn scheme(&self) -> SignatureScheme {
        self.scheme
    }

    /// One thread's hands.
    ///
    /// # Errors
    ///
    /// What the backend says.
    pub fn verifier(&self) -> Result<Verifier<impl BlockRunner + '_>, Error> {
        Verifier::new(self.prepared.runner()?, self.bits, self.scheme)
    }

    /// Whether the signature is the message's: of exactly the modulus's length, below it, and encoded to the letter.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.verify_all(&[(message, signature)]) == [true]
    }

    /// Whether each signature is its message's, side by side in the lanes of the kernel.
    pub fn verify_all(&self, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
        let digests: Vec<Digested> = pairs
            .iter()
            .map(|(message, _)| self.scheme.hash().digest(message))
            .collect();
        let pairs: Vec<(&[u8], &[u8])> = digests
            .iter()
            .zip(pairs)
            .map(|(digest, (_, signature))| (&digest[..], *signature))
            .collect();
        self.verify_all_digests(&pairs)
    }

    /// Whether each signature is that of its message's digest, side by side in the lanes of the kernel. A digest of another
    /// length than the hash function's is nobody's.
    pub fn verify_all_digests(&self, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
        let h = self.scheme.hash().digest_len();
        let k = self.prepared.modulus_len();
        let fits = |digest: &[u8], signature: &[u8]| digest.len() == h && signature.len() == k;
        let mut digests = vec![0; pairs.len() * h];
        let mut signatures = vec![0; pairs.len() * k];
        let rooms = digests.chunks_mut(h).zip(signatures.chunks_mut(k));
        for ((digest, signature), rooms) in pairs.iter().zip(rooms) {
            // One of another length is wrong, whatever stands in its place.
            if fits(digest, signature) {
                rooms.0.copy_from_slice(digest);
                rooms.1.copy_from_slice(signature);
            }
        }
        let mut is_right = vec![false; pairs.len()];
        let verified = self
            .verifier()
            .and_then(|mut verifier| verifier.verify(&digests, &signatures, &mut is_right));
        if verified.is_err() {
            is_right.fill(false);
        }
        for (is_right, (digest, signature)) in is_right.iter_mut().zip(pairs) {
            *is_right &= fits(digest, signature);
        }
        is_right
    }
}

/// The digests of messages, one after another.
fn digests<'a>(hash: Hash, messages: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    messages
        .flat_map(|message| hash.digest(message).to_vec())
        .collect()
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
        self.sign_with_rng(rng, message)
            .map_err(signature::Error::from_source)
    }
}

impl signature::Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        match VerifyingKey::verify(self, message, signature.as_bytes()) {
            true => Ok(()),
            false => Err(signature::Error::new()),
        }
    }
}

impl Keypair for SigningKey {
    type VerifyingKey = VerifyingKey;

    fn verifying_key(&self) -> VerifyingKey {
        self.verifying.clone()
    }
}
