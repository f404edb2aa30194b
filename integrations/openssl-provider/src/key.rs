//! A key as OpenSSL's contexts share it, with runners that are kept from call to call.

use std::sync::Arc;

use once_cell::race::OnceBox;
use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Pooled, Prepared, PrivateKey, PublicKey, Status, encryption::Encryptor,
    random::SystemRng, scheme::EncryptionScheme,
};

use crate::{failure::Result, memory, requests};

/// An RSA key, public or private.
pub(crate) struct Key {
    public: PublicKey,
    private: Option<Arc<rsalab_batch::Key>>,
    /// Made when it is first used. Nobody waits for another thread that does the same, which in a child of a fork may
    /// be one of the parent's.
    public_ready: OnceBox<Pooled>,
}

impl Key {
    pub(crate) fn from_public(public: PublicKey) -> Key {
        Key {
            public,
            private: None,
            public_ready: OnceBox::new(),
        }
    }

    pub(crate) fn from_private(private: PrivateKey) -> Key {
        Key {
            private: Some(requests::key(private.clone())),
            ..Key::from_public(private.public().clone())
        }
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn private(&self) -> Option<&PrivateKey> {
        self.private.as_ref().map(|key| key.private_key())
    }

    /// The private half, of which private operations are requested.
    pub(crate) fn requested(&self) -> Result<&Arc<rsalab_batch::Key>> {
        let private = self.private.as_ref();
        private.ok_or_else(|| "the operation needs a private key, and this one is public".into())
    }

    pub(crate) fn bits(&self) -> usize {
        self.public.bits()
    }

    pub(crate) fn modulus_len(&self) -> usize {
        self.public.modulus_len()
    }

    fn prepared_public(&self) -> Result<&Pooled> {
        self.public_ready.get_or_try_init(|| {
            let prepared = CpuBackend::auto().prepare_public(&self.public)?;
            Ok(Box::new(Pooled::new(prepared)))
        })
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
        prepared.runner()?.run(block, &mut output, &mut status)?;
        Ok((status[0] == Status::Done).then_some(output))
    }

    pub(crate) fn is_same(&self, other: &Key) -> bool {
        self.public.n() == other.public.n() && self.public.e() == other.public.e()
    }
}
