//! Signing and verifying, one message or many.
//!
//! Two levels. [`SigningKey`] and [`VerifyingKey`] are keys with a scheme, shared by threads; they take messages or
//! digests, and implement the `signature` crate's traits. [`Signer`] and [`Verifier`] are per-thread runners: they hold
//! scratch memory and blinding, which a key's own methods borrow from the key for each call, and take digests in
//! contiguous batches.

mod screening;
use std::sync::Arc;

use once_cell::race::OnceBox;
use rand_core::TryCryptoRng;
use signature::Keypair;

use crate::{
    CpuBackend, Error, PrivateKey, PublicKey, Result,
    backend::{Backend, BlockRunner, Pooled, Prepared, Status},
    error::check_len,
    hash::Digest,
    random::SystemRng,
    scheme::{Encoder, SignatureScheme, VerificationFailure},
};

/// Signs on one thread: a runner of the private operation, and room for encodings.
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
    pub fn new(runner: R, bits: usize, scheme: SignatureScheme) -> Result<Self> {
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
    ) -> Result<()> {
        let (h, k) = (self.digest_len, self.modulus_len);
        check_len("the digests", digests.len(), status.len() * h)?;
        self.encodings.resize(status.len() * k, 0);
        for (digest, encoding) in digests.chunks(h).zip(self.encodings.chunks_mut(k)) {
            self.encoder.encode(digest, rng, encoding)?;
        }
        self.runner.run(&self.encodings, signatures, status)
    }
}

/// Verifies on one thread: a runner of the public operation, and room for blocks.
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
    pub fn new(runner: R, bits: usize, scheme: SignatureScheme) -> Result<Self> {
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

    /// Sets, for each signature of the modulus's length, whether it is its digest's: exactly, and below the modulus.
    ///
    /// # Errors
    ///
    /// If the lengths of the buffers do not belong together.
    pub fn verify(&mut self, digests: &[u8], signatures: &[u8], is_valid: &mut [bool]) -> Result<()> {
        let (h, k) = (self.digest_len, self.modulus_len);
        check_len("the digests", digests.len(), is_valid.len() * h)?;
        self.powers.resize(signatures.len(), 0);
        self.status.resize(is_valid.len(), Status::Done);
        self.runner.run(signatures, &mut self.powers, &mut self.status)?;
        let items = digests.chunks(h).zip(self.powers.chunks_mut(k));
        for ((is_valid, status), (digest, power)) in is_valid.iter_mut().zip(&self.status).zip(items) {
            *is_valid = *status == Status::Done && self.encoder.is_encoding_of(digest, power);
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

/// Any bytes may be a signature; verification decides.
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

/// A public key made ready to verify with one scheme. Cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct VerifyingKey {
    public: Arc<Public>,
    bits: usize,
    scheme: SignatureScheme,
}

/// A public key, made ready when it is first used: many that sign never verify.
struct Public {
    key: PublicKey,
    backend: Box<dyn Backend>,
    prepared: OnceBox<Pooled>,
}

impl Public {
    fn prepared(&self) -> Result<&Pooled> {
        self.prepared.get_or_try_init(|| {
            let prepared = self.backend.prepare_public(&self.key)?;
            Ok(Box::new(Pooled::new(prepared)))
        })
    }
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
        let digests: Vec<Digest> = messages.iter().map(|message| hash.digest(message)).collect();
        let digests: Vec<&[u8]> = digests.iter().map(|digest| &digest[..]).collect();
        self.sign_digests_with_rng(rng, &digests)
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
        let mut signatures = vec![0; digests.len() * self.prepared.modulus_len()];
        let mut status = vec![Status::Done; digests.len()];
        self.signer()?
            .sign(&digests.concat(), &mut signatures, &mut status, rng)?;
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
    /// Prepares the key on this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the scheme.
    pub fn new(key: &PublicKey, scheme: SignatureScheme) -> Result<Self> {
        VerifyingKey::with_backend(key, scheme, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(
        key: &PublicKey,
        scheme: SignatureScheme,
        backend: &(impl Backend + Clone + 'static),
    ) -> Result<Self> {
        scheme.check(key.bits())?;
        let verifying = VerifyingKey::unprepared(key, scheme, Box::new(backend.clone()));
        verifying.public.prepared()?;
        Ok(verifying)
    }

    /// For a key that the scheme was checked for.
    fn unprepared(key: &PublicKey, scheme: SignatureScheme, backend: Box<dyn Backend>) -> Self {
        VerifyingKey {
            public: Arc::new(Public {
                key: key.clone(),
                backend,
                prepared: OnceBox::new(),
            }),
            bits: key.bits(),
            scheme,
        }
    }

    /// The kernels that a call with so many items runs on, for the record; none if the backend fails.
    pub fn kernels_for(&self, items: usize) -> Vec<&str> {
        let prepared = self.public.prepared();
        prepared.map_or_else(|_| Vec::new(), |prepared| prepared.kernels_for(items))
    }

    /// The scheme.
    pub fn scheme(&self) -> SignatureScheme {
        self.scheme
    }

    /// A runner for one thread.
    ///
    /// # Errors
    ///
    /// Errors of the backend.
    pub fn verifier(&self) -> Result<Verifier<impl BlockRunner + '_>> {
        Verifier::new(self.public.prepared()?.runner()?, self.bits, self.scheme)
    }

    /// Returns whether the signature is the message's: of exactly the modulus's length, below it, and encoded to the
    /// letter.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> bool {
        self.verify_batch(&[(message, signature)]) == [true]
    }

    /// Returns whether each signature is its message's, together in the lanes of the kernel.
    pub fn verify_batch(&self, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
        let hash = self.scheme.hash();
        let digests: Vec<Digest> = pairs.iter().map(|(message, _)| hash.digest(message)).collect();
        let pairs = digests.iter().zip(pairs);
        let pairs: Vec<_> = pairs
            .map(|(digest, (_, signature))| (&digest[..], *signature))
            .collect();
        self.verify_digests(&pairs)
    }

    /// Returns whether each signature is that of its message's digest, together in the lanes of the kernel. A digest of
    /// another length than the hash function's is nobody's.
    pub fn verify_digests(&self, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
        let h = self.scheme.hash().digest_len();
        let k = self.bits.div_ceil(8);
        let fits = |digest: &[u8], signature: &[u8]| digest.len() == h && signature.len() == k;
        let mut digests = vec![0; pairs.len() * h];
        let mut signatures = vec![0; pairs.len() * k];
        let places = digests.chunks_mut(h).zip(signatures.chunks_mut(k));
        for ((digest, signature), place) in pairs.iter().zip(places) {
            // One of another length is wrong, whatever stands in its place.
            if fits(digest, signature) {
                place.0.copy_from_slice(digest);
                place.1.copy_from_slice(signature);
            }
        }
        let mut is_valid = vec![false; pairs.len()];
        let verified = self
            .verifier()
            .and_then(|mut verifier| verifier.verify(&digests, &signatures, &mut is_valid));
        if verified.is_err() {
            is_valid.fill(false);
        }
        for (is_valid, (digest, signature)) in is_valid.iter_mut().zip(pairs) {
            *is_valid &= fits(digest, signature);
        }
        is_valid
    }

    /// The first step of verification that a signature of a digest does not pass; none if it is valid. For people who
    /// look for a mistake: it takes longer than [`verify_digests`](Self::verify_digests), whose verdict it shares.
    ///
    /// # Errors
    ///
    /// Errors of the backend.
    pub fn failure_of_digest(&self, digest: &[u8], signature: &[u8]) -> Result<Option<VerificationFailure>> {
        use VerificationFailure as F;
        let (k, h) = (self.bits.div_ceil(8), self.scheme.hash().digest_len());
        let lengths = |expected, got| (expected != got).then_some((expected, got));
        if let Some((expected, got)) = lengths(k, signature.len()) {
            return Ok(Some(F::Length { expected, got }));
        }
        if let Some((expected, got)) = lengths(h, digest.len()) {
            return Ok(Some(F::DigestLength { expected, got }));
        }
        let (mut block, mut status) = (vec![0; k], [Status::Fault]);
        let mut runner = self.public.prepared()?.runner()?;
        runner.run(signature, &mut block, &mut status)?;
        match status {
            [Status::Done] => Ok(self.scheme.failure(self.bits, digest, &mut block)),
            [Status::OutOfRange] => Ok(Some(F::Range)),
            [Status::Fault] => Err(Error::Fault { item: 0 }),
        }
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
