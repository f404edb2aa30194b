//! The issuer: blind signing (RFC 9474, section 4.3), one or many.

use super::{BlindError, Result, Variant, check_size};
use crate::{
    CpuBackend, Error, PrivateKey,
    backend::{Backend, BlockRunner, Pooled, Prepared, Status},
};

/// A private key made ready to sign blindly. Shared by threads.
///
/// One batch may hold the messages of many clients: each gets a result of its own, and one that is refused changes
/// nothing for the others.
pub struct Issuer {
    prepared: Pooled,
}

impl Issuer {
    /// Prepares a key on this CPU.
    ///
    /// Prepares a key. The client chooses what is signed; that its encoding fits is checked for `variant`.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`] if the key is too short for the variant.
    pub fn new(key: &PrivateKey, variant: Variant) -> Result<Self> {
        Issuer::with_backend(key, variant, &CpuBackend::auto())
    }

    /// Prepares a key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(key: &PrivateKey, variant: Variant, backend: &(impl Backend + ?Sized)) -> Result<Self> {
        variant.check(key.bits())?;
        Ok(Issuer {
            prepared: Pooled::new(backend.prepare_private(key)?),
        })
    }

    /// The kernels that a call with so many items runs on, for the record.
    pub fn kernels_for(&self, items: usize) -> Vec<&str> {
        self.prepared.kernels_for(items)
    }

    /// Bytes of a blinded message, and of a blind signature.
    pub fn modulus_len(&self) -> usize {
        self.prepared.modulus_len()
    }

    /// A runner for one thread, which keeps the scratch memory and the blinding that [`sign_batch`](Self::sign_batch)
    /// makes anew in each call.
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none for blinding.
    pub fn signer(&self) -> Result<BlindSigner<impl BlockRunner + '_>> {
        let runner = self.prepared.runner()?;
        Ok(BlindSigner::new(runner, self.prepared.modulus_len()))
    }

    /// Signs a blinded message. The signature is as long as the modulus.
    ///
    /// # Errors
    ///
    /// [`BlindError::UnexpectedInputSize`] or [`BlindError::OutOfRange`] for what is no blinded message under this key,
    /// [`BlindError::SigningFailure`] if the result failed its check and was withheld, and those of the backend.
    pub fn sign(&self, blinded: &[u8]) -> Result<Vec<u8>> {
        self.sign_batch(&[blinded])?.remove(0)
    }

    /// Signs blinded messages, together in the lanes of the kernel. Each has its own result, as [`sign`](Self::sign)
    /// would give it.
    ///
    /// # Errors
    ///
    /// Errors of the backend, where nothing is signed.
    pub fn sign_batch(&self, blinded: &[&[u8]]) -> Result<Vec<Result<Vec<u8>>>> {
        self.signer()?.sign_batch(blinded)
    }
}

/// Signs blindly on one thread.
pub struct BlindSigner<R> {
    runner: R,
    modulus_len: usize,
    // Nothing in these is secret: the issuer gets the ones and gives the others away.
    inputs: Vec<u8>,
    outputs: Vec<u8>,
    status: Vec<Status>,
}

impl<R: BlockRunner> BlindSigner<R> {
    /// Signs with a runner of a key's private operation, for those who keep runners themselves. The modulus has
    /// `modulus_len` bytes; [`Variant::check`] says whether the key suits a variant.
    pub fn new(runner: R, modulus_len: usize) -> Self {
        BlindSigner {
            runner,
            modulus_len,
            inputs: Vec::new(),
            outputs: Vec::new(),
            status: Vec::new(),
        }
    }

    /// As [`Issuer::sign_batch`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn sign_batch(&mut self, blinded: &[&[u8]]) -> Result<Vec<Result<Vec<u8>>>> {
        let k = self.modulus_len;
        let of_length = || blinded.iter().filter(|message| message.len() == k);
        self.inputs.clear();
        self.inputs.extend(of_length().copied().flatten());
        self.outputs.resize(self.inputs.len(), 0);
        self.status.resize(self.inputs.len() / k, Status::Done);
        self.runner
            .run(&self.inputs, &mut self.outputs, &mut self.status)
            .map_err(|error| match error {
                Error::Fault { .. } => BlindError::SigningFailure,
                other => other.into(),
            })?;
        let mut results = self.outputs.chunks(k).zip(&self.status);
        let result_of = |message: &&[u8]| {
            check_size("a blinded message", message.len(), k)?;
            let (signature, status) = results.next().expect("there is one for each");
            match status {
                Status::Done => Ok(signature.to_vec()),
                Status::OutOfRange => Err(BlindError::OutOfRange),
                Status::Fault => Err(BlindError::SigningFailure),
            }
        };
        Ok(blinded.iter().map(result_of).collect())
    }
}
