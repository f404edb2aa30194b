//! Verifying, one signature or many.

use std::sync::Arc;

use once_cell::race::OnceBox;

use super::signature_bytes::Signature;
use crate::{
    CpuBackend, Error, PublicKey, Result,
    backend::{Backend, BlockRunner, Pooled, Prepared, Status},
    error::check_len,
    scheme::{Encoder, SignatureScheme, VerificationFailure},
};

/// Verifies on one thread: a runner of the public operation, and room for blocks.
pub struct Verifier<R> {
    runner: R,
    encoder: Encoder,
    digest_len: usize,
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
        check_len("the digests", digests.len(), is_valid.len() * self.digest_len)?;
        is_valid.fill(false);
        self.powers.resize(signatures.len(), 0);
        self.status.resize(is_valid.len(), Status::Done);
        self.runner.run(signatures, &mut self.powers, &mut self.status)?;
        for (is_valid, status) in is_valid.iter_mut().zip(&self.status) {
            *is_valid = *status == Status::Done;
        }
        self.encoder.are_encodings_of(digests, &mut self.powers, is_valid);
        Ok(())
    }
}

/// A public key made ready to verify with one scheme. Cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct VerifyingKey {
    pub(super) public: Arc<Public>,
    pub(super) bits: usize,
    pub(super) scheme: SignatureScheme,
}

/// A public key, made ready when it is first used: many that sign never verify.
pub(super) struct Public {
    pub(super) key: PublicKey,
    pub(super) backend: Box<dyn Backend>,
    prepared: OnceBox<Pooled>,
}

impl Public {
    pub(super) fn prepared(&self) -> Result<&Pooled> {
        self.prepared.get_or_try_init(|| {
            let prepared = self.backend.prepare_public(&self.key)?;
            Ok(Box::new(Pooled::new(prepared)))
        })
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
    pub(super) fn unprepared(key: &PublicKey, scheme: SignatureScheme, backend: Box<dyn Backend>) -> Self {
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
        let messages: Vec<&[u8]> = pairs.iter().map(|(message, _)| *message).collect();
        let digests = self.scheme.hash().digest_many(&messages);
        self.verify_contiguous(&digests, pairs.iter().map(|(_, signature)| *signature))
    }

    /// Returns whether each signature is that of its message's digest, together in the lanes of the kernel. A digest of
    /// another length than the hash function's is nobody's.
    pub fn verify_digests(&self, pairs: &[(&[u8], &[u8])]) -> Vec<bool> {
        let h = self.scheme.hash().digest_len();
        let mut digests = vec![0; pairs.len() * h];
        for ((digest, _), place) in pairs.iter().zip(digests.chunks_exact_mut(h)) {
            // One of another length is wrong, whatever stands in its place.
            if digest.len() == h {
                place.copy_from_slice(digest);
            }
        }
        let mut is_valid = self.verify_contiguous(&digests, pairs.iter().map(|(_, signature)| *signature));
        for (is_valid, (digest, _)) in is_valid.iter_mut().zip(pairs) {
            *is_valid &= digest.len() == h;
        }
        is_valid
    }

    /// Returns whether each signature is that of its digest; these lie one after another.
    fn verify_contiguous<'s>(&self, digests: &[u8], signatures: impl ExactSizeIterator<Item = &'s [u8]>) -> Vec<bool> {
        let k = self.bits.div_ceil(8);
        let count = signatures.len();
        let mut contiguous = vec![0; count * k];
        let mut has_length = vec![false; count];
        for ((signature, place), has_length) in signatures.zip(contiguous.chunks_exact_mut(k)).zip(&mut has_length) {
            // As for digests.
            *has_length = signature.len() == k;
            if *has_length {
                place.copy_from_slice(signature);
            }
        }
        let mut is_valid = vec![false; count];
        let verified = self
            .verifier()
            .and_then(|mut verifier| verifier.verify(digests, &contiguous, &mut is_valid));
        if verified.is_err() {
            is_valid.fill(false);
        }
        is_valid
            .iter_mut()
            .zip(has_length)
            .for_each(|(is_valid, has_length)| *is_valid &= has_length);
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

impl signature::Verifier<Signature> for VerifyingKey {
    fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), signature::Error> {
        match VerifyingKey::verify(self, message, signature.as_bytes()) {
            true => Ok(()),
            false => Err(signature::Error::new()),
        }
    }
}
