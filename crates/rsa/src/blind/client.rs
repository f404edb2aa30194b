//! The client: blinding (RFC 9474, section 4.2), finalizing (4.4) and verifying (4.5), one or many.

use std::sync::Arc;

use rand_core::TryCryptoRng;
use rsalab_arith::Invertible;
use zeroize::Zeroizing;

use super::{BlindError, InputMessage, Pending, Result, Variant, arithmetic, check_size, state::identity};
use crate::{
    CpuBackend, PublicKey,
    backend::{Backend, BlockRunner, Pooled, Prepared, Status},
    random::SystemRng,
    scheme::{Encoder, SignatureScheme, VerificationFailure},
    signing::{Signature, VerifyingKey},
};

/// An issuer's public key made ready to blind, finalize and verify. Cheap to clone, and shared by threads.
#[derive(Clone)]
pub struct BlindingKey {
    key: PublicKey,
    variant: Variant,
    scheme: SignatureScheme,
    identity: [u8; 48],
    verifying: VerifyingKey,
    /// For the factor and its inverse, which are secret.
    prepared: Arc<Pooled>,
}

impl BlindingKey {
    /// Prepares the key on this CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`](crate::Error::Scheme) if the key is too short for the variant: it takes 98 bytes of encoding
    /// with a salt, 50 without.
    pub fn new(key: &PublicKey, variant: Variant) -> Result<Self> {
        BlindingKey::with_backend(key, variant, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(key: &PublicKey, variant: Variant, backend: &(impl Backend + Clone + 'static)) -> Result<Self> {
        let scheme = variant.scheme();
        Ok(BlindingKey {
            key: key.clone(),
            variant,
            scheme,
            identity: identity(key),
            verifying: VerifyingKey::with_backend(key, scheme, backend)?,
            prepared: Arc::new(Pooled::new(backend.prepare_public_for_secrets(key)?)),
        })
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The kernels that a call with so many items runs on, for the record.
    pub fn kernels_for(&self, items: usize) -> Vec<&str> {
        self.prepared.kernels_for(items)
    }

    /// Bytes of a blinded message, of a blind signature and of a signature.
    pub fn modulus_len(&self) -> usize {
        self.key.modulus_len()
    }

    /// Blinds a message: what goes to the issuer, as long as the modulus, and what is needed when the answer comes.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`](crate::Error::Randomness) if there is none; [`BlindError::InvalidInput`] if the encoded
    /// message shares a factor with the modulus; [`BlindError::State`] for a message that was prepared for another
    /// variant.
    pub fn blind(&self, message: &InputMessage) -> Result<(Vec<u8>, Pending)> {
        Ok(self.blind_batch(&[message])?.remove(0))
    }

    /// Blinds messages, together in the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// As for [`blind`](Self::blind), of any of them.
    pub fn blind_batch(&self, messages: &[&InputMessage]) -> Result<Vec<(Vec<u8>, Pending)>> {
        let mut drawn = self.arithmetic(messages.len())?;
        let len = messages.len() * self.modulus_len();
        let mut factors = Zeroizing::new(vec![0; len]);
        let mut inverses = Zeroizing::new(vec![0; len]);
        // Step 5 and 6: r uniform, with its inverse; one that has none is drawn again.
        drawn.draw(&mut factors, &mut inverses).map_err(arithmetic)?;
        self.blind_by(&mut SystemRng, messages, &factors, &inverses, &mut drawn)
    }

    /// Blinds a message with a factor of the caller's, and the salt from a generator: to repeat what is published.
    ///
    /// # Errors
    ///
    /// As for [`blind`](Self::blind); [`BlindError::UnexpectedInputSize`] for a factor of another length than the
    /// modulus's; [`BlindError::Blinding`] for one that is 0, not below the modulus, or not invertible.
    #[cfg(feature = "hazmat")]
    pub fn blind_with_factor<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        message: &InputMessage,
        factor: &[u8],
    ) -> Result<(Vec<u8>, Pending)> {
        use rsalab_arith::integer;
        check_size("a blinding factor", factor.len(), self.modulus_len())?;
        if !integer::is_less(factor, self.key.n()) {
            return Err(BlindError::Blinding);
        }
        let inverse = integer::invert(factor, self.key.n()).map_err(|_| BlindError::Blinding)?;
        let mut drawn = self.arithmetic(1)?;
        Ok(self.blind_by(rng, &[message], factor, &inverse, &mut drawn)?.remove(0))
    }

    /// The arithmetic modulo n, for calls of so many messages.
    fn arithmetic(&self, messages: usize) -> Result<Invertible> {
        Invertible::for_calls_of(self.key.n(), messages).map_err(arithmetic)
    }

    /// Blinds messages with factors and their inverses.
    fn blind_by<G: TryCryptoRng + ?Sized>(
        &self,
        rng: &mut G,
        messages: &[&InputMessage],
        factors: &[u8],
        inverses: &[u8],
        modular: &mut Invertible,
    ) -> Result<Vec<(Vec<u8>, Pending)>> {
        let k = self.modulus_len();
        // Steps 1 to 3: the encoding, which has a bit less than the modulus, and so lies below it.
        let encoder = Encoder::new(self.scheme, self.key.bits());
        let mut blinded = Zeroizing::new(vec![0; messages.len() * k]);
        for (message, encoding) in messages.iter().zip(blinded.chunks_mut(k)) {
            self.check_variant(message.variant())?;
            encoder.encode(message.digest(), rng, encoding)?;
        }
        // Step 4: it shares no factor with n.
        if !modular.are_coprime(&blinded).map_err(arithmetic)? {
            return Err(BlindError::InvalidInput);
        }
        // Step 7: x = r^e mod n.
        let mut powers = Zeroizing::new(vec![0; blinded.len()]);
        let mut status = vec![Status::Done; messages.len()];
        self.prepared.runner()?.run(factors, &mut powers, &mut status)?;
        if status.iter().any(|status| *status != Status::Done) {
            return Err(BlindError::Blinding);
        }
        // Steps 8 and 9: z = m x mod n.
        modular.multiply(&mut blinded, &powers).map_err(arithmetic)?;
        Ok(messages
            .iter()
            .zip(blinded.chunks(k).zip(inverses.chunks(k)))
            .map(|(message, (blinded, inverse))| {
                let pending = Pending {
                    variant: self.variant,
                    prefix: Zeroizing::new(message.prefix().to_vec()),
                    key: self.identity,
                    inverse: Zeroizing::new(inverse.to_vec()),
                };
                (blinded.to_vec(), pending)
            })
            .collect())
    }

    /// Returns whether a blinded message and a state are a request for this message: z r^-e mod n is an encoding of it.
    /// The encoding is taken apart in variable time, as in verification.
    ///
    /// # Errors
    ///
    /// Errors of the backend.
    pub fn is_request(&self, message: &InputMessage, pending: &Pending, blinded: &[u8]) -> Result<bool> {
        let k = self.modulus_len();
        let is_ours = message.variant() == self.variant
            && pending.variant == self.variant
            && pending.key == self.identity
            && *pending.prefix == *message.prefix();
        if !is_ours || blinded.len() != k {
            return Ok(false);
        }
        let mut power = Zeroizing::new(vec![0; k]);
        let mut status = [Status::Done];
        self.prepared.runner()?.run(&pending.inverse, &mut power, &mut status)?;
        let mut encoding = Zeroizing::new(blinded.to_vec());
        match self.arithmetic(1)?.multiply(&mut encoding, &power) {
            Ok(()) if status == [Status::Done] => {}
            Ok(()) | Err(rsalab_arith::Error::OutOfRange { .. }) => return Ok(false),
            Err(error) => return Err(arithmetic(error)),
        }
        let encoder = Encoder::new(self.scheme, self.key.bits());
        Ok(encoder.is_encoding_of(message.digest(), &mut encoding))
    }

    fn check_variant(&self, variant: Variant) -> Result<()> {
        match variant == self.variant {
            true => Ok(()),
            false => Err(BlindError::State {
                reason: format!("this is of {variant}, and not of {}", self.variant),
            }),
        }
    }

    /// The signature, out of what the issuer sent. It has been verified.
    ///
    /// # Errors
    ///
    /// [`BlindError::UnexpectedInputSize`] for a blind signature of another length than the modulus's;
    /// [`BlindError::InvalidSignature`] if it is not the request's, or not below the modulus; [`BlindError::State`] if
    /// the state is of another key, variant or prefix.
    pub fn finalize(&self, message: &InputMessage, pending: &Pending, blind_signature: &[u8]) -> Result<Signature> {
        self.finalize_batch(&[(message, pending, blind_signature)])?.remove(0)
    }

    /// The signatures of requests, together in the lanes of the kernel. Each has its own result, as
    /// [`finalize`](Self::finalize) would give it.
    ///
    /// # Errors
    ///
    /// Errors of the backend, where nothing is finalized.
    pub fn finalize_batch(&self, answers: &[(&InputMessage, &Pending, &[u8])]) -> Result<Vec<Result<Signature>>> {
        let mut modular = self.arithmetic(1)?;
        let unblinded: Vec<Result<Zeroizing<Vec<u8>>>> = answers
            .iter()
            .map(|(message, pending, answer)| self.unblind(&mut modular, message, pending, answer))
            .collect();
        let pairs: Vec<(&[u8], &[u8])> = answers
            .iter()
            .zip(&unblinded)
            .filter_map(|((message, ..), signature)| Some((message.digest(), &signature.as_ref().ok()?[..])))
            .collect();
        let mut verified = self.verifying.verify_digests(&pairs).into_iter();
        let result_of = |signature: Result<Zeroizing<Vec<u8>>>| {
            let signature = signature?;
            match verified.next().expect("there is one for each") {
                true => Ok(Signature::from(signature.to_vec())),
                false => Err(BlindError::InvalidSignature),
            }
        };
        Ok(unblinded.into_iter().map(result_of).collect())
    }

    /// s = z r^-1 mod n.
    fn unblind(
        &self,
        modular: &mut Invertible,
        message: &InputMessage,
        pending: &Pending,
        answer: &[u8],
    ) -> Result<Zeroizing<Vec<u8>>> {
        self.check_variant(message.variant())?;
        self.check_variant(pending.variant)?;
        if pending.key != self.identity {
            let reason = "this state of a blind signature is of another key".to_owned();
            return Err(BlindError::State { reason });
        }
        if *pending.prefix != *message.prefix() {
            let reason = "this state is of a message with another prefix".to_owned();
            return Err(BlindError::State { reason });
        }
        check_size("a blind signature", answer.len(), self.modulus_len())?;
        let mut signature = Zeroizing::new(answer.to_vec());
        match modular.multiply(&mut signature, &pending.inverse) {
            Ok(()) => Ok(signature),
            // The inverse is below n.
            Err(rsalab_arith::Error::OutOfRange { .. }) => Err(BlindError::InvalidSignature),
            Err(error) => Err(arithmetic(error)),
        }
    }

    /// Returns whether the signature is the message's. A message that was prepared for another variant has none.
    pub fn verify(&self, message: &InputMessage, signature: &[u8]) -> bool {
        self.verify_batch(&[(message, signature)]) == [true]
    }

    /// The first step of verification that a signature of a message does not pass; none if it is valid. For people who
    /// look for a mistake.
    ///
    /// # Errors
    ///
    /// [`BlindError::State`] for a message that was prepared for another variant, and those of the backend.
    pub fn failure(&self, message: &InputMessage, signature: &[u8]) -> Result<Option<VerificationFailure>> {
        self.check_variant(message.variant())?;
        Ok(self.verifying.failure_of_digest(message.digest(), signature)?)
    }

    /// Returns whether each signature is its message's, together in the lanes of the kernel.
    pub fn verify_batch(&self, pairs: &[(&InputMessage, &[u8])]) -> Vec<bool> {
        let digests: Vec<(&[u8], &[u8])> = pairs
            .iter()
            .map(|(message, signature)| (message.digest(), *signature))
            .collect();
        let mut verified = self.verifying.verify_digests(&digests);
        for (verified, (message, _)) in verified.iter_mut().zip(pairs) {
            *verified &= message.variant() == self.variant;
        }
        verified
    }
}
