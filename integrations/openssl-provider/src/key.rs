//! A key as OpenSSL's contexts share it, with runners that are kept from call to call.

use std::sync::Arc;

use once_cell::race::OnceBox;
use rsalab_rsa::{
    Backend, CpuBackend, Error, Pooled, Prepared, PrivateKey, PublicKey, Result, Status, encryption::Encryptor,
    random::SystemRng, scheme::EncryptionScheme,
};

use crate::{memory, shared::Sharing, statistics};

/// One operation of a key, made ready when it is first used. Nobody waits for another thread that does the same, which
/// in a child of a fork may be one of the parent's.
#[derive(Default)]
struct Ready(OnceBox<Pooled>);

impl Ready {
    fn prepared(&self, make: impl FnOnce() -> Result<Box<dyn Prepared>>) -> Result<&Pooled> {
        self.0.get_or_try_init(|| Ok(Box::new(Pooled::new(make()?))))
    }
}

/// An RSA key, public or private.
pub(crate) struct Key {
    public: PublicKey,
    private: Option<Arc<Sharing>>,
    public_ready: Ready,
    private_ready: Ready,
}

impl Key {
    pub(crate) fn from_public(public: PublicKey) -> Key {
        Key::new(public, None)
    }

    fn new(public: PublicKey, private: Option<PrivateKey>) -> Key {
        Key {
            public,
            private: private.map(|private| Arc::new(Sharing::new(private))),
            public_ready: Ready::default(),
            private_ready: Ready::default(),
        }
    }

    pub(crate) fn from_private(private: PrivateKey) -> Key {
        Key::new(private.public().clone(), Some(private))
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn private(&self) -> Option<&PrivateKey> {
        self.private.as_ref().map(|sharing| sharing.key())
    }

    pub(crate) fn bits(&self) -> usize {
        self.public.bits()
    }

    pub(crate) fn modulus_len(&self) -> usize {
        self.public.modulus_len()
    }

    fn prepared_private(&self) -> Result<&Pooled> {
        let private = self.private().ok_or_else(|| Error::Scheme {
            reason: "the operation needs a private key, and this one is public".into(),
        })?;
        self.private_ready
            .prepared(|| CpuBackend::auto().prepare_private(private))
    }

    /// The private half as one that may share passes with others; none if the key is public.
    pub(crate) fn sharing(&self) -> Option<&Arc<Sharing>> {
        self.private.as_ref()
    }

    /// Whether so many blocks are worth a pass of the widest kernel, and not one by one on the fastest for a few.
    pub(crate) fn fills(&self, items: usize) -> Result<bool> {
        let prepared = self.prepared_private()?;
        Ok(items > 0 && prepared.kernels_for(items) == [prepared.kernel()])
    }

    /// Items that the widest kernel works on at once.
    pub(crate) fn lanes(&self) -> Result<usize> {
        Ok(self.prepared_private()?.lanes())
    }

    /// The private operation on each block.
    pub(crate) fn run_private(&self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let prepared = self.prepared_private()?;
        statistics::count(status.len());
        prepared.runner()?.run(inputs, outputs, status)
    }

    fn prepared_public(&self) -> Result<&Pooled> {
        self.public_ready
            .prepared(|| CpuBackend::auto().prepare_public(&self.public))
    }

    /// A message encrypted, with fresh randomness.
    pub(crate) fn encrypt(&self, scheme: EncryptionScheme, message: &[u8]) -> Result<Vec<u8>> {
        let _memory = memory::operation()?;
        let runner = self.prepared_public()?.runner()?;
        let mut ciphertext = vec![0; self.modulus_len()];
        Encryptor::new(runner, self.bits(), scheme)?.encrypt(&[message], &mut ciphertext, &mut SystemRng)?;
        Ok(ciphertext)
    }

    /// The public operation on one block; `None` if it is not below the modulus.
    pub(crate) fn run_public(&self, block: &[u8]) -> Result<Option<Vec<u8>>> {
        let _memory = memory::operation()?;
        let prepared = self.prepared_public()?;
        let mut output = vec![0; self.modulus_len()];
        let mut status = [Status::Done];
        let mut runner = prepared.runner()?;
        runner.run(block, &mut output, &mut status)?;
        Ok((status[0] == Status::Done).then_some(output))
    }

    pub(crate) fn is_same(&self, other: &Key) -> bool {
        self.public.n() == other.public.n() && self.public.e() == other.public.e()
    }
}
