//! Keys with what their files say of them, prepared for the arithmetic when they are first used.

use once_cell::race::OnceBox;
use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Pooled, Prepared, PrivateKey, PublicKey, Result,
    format::{Annotations, Content, Loaded, Restrictions, Usage},
};

/// A key, shared by the threads that use it.
pub(crate) struct Ready<K> {
    pub(crate) loaded: Loaded<K>,
    /// Threads that come first side by side prepare it each, and one of them is kept: nobody waits for another, who in
    /// a child of a fork may be a thread of the parent's.
    prepared: OnceBox<Pooled>,
}

impl<K> Ready<K> {
    pub(crate) fn new(loaded: Loaded<K>) -> Self {
        Ready {
            loaded,
            prepared: OnceBox::new(),
        }
    }

    /// Of a new key.
    pub(crate) fn of(key: K) -> Self {
        Ready::annotated(key, Annotations::default())
    }

    /// Of a key that was made from a seed.
    pub(crate) fn insecure(key: K) -> Self {
        Ready::annotated(key, Annotations::insecure(true))
    }

    fn annotated(key: K, annotations: Annotations) -> Self {
        Ready::new(Loaded {
            key,
            usage: Usage::Any,
            restrictions: Restrictions::default(),
            annotations,
            content: Content::Pkcs8,
            encryption: None,
        })
    }

    fn runner_by(
        &self,
        prepare: impl FnOnce(&CpuBackend, &K) -> Result<Box<dyn Prepared>>,
    ) -> Result<Box<dyn BlockRunner + Send + '_>> {
        let new = || prepare(&CpuBackend::auto(), &self.loaded.key).map(|prepared| Box::new(Pooled::new(prepared)));
        self.prepared.get_or_try_init(new)?.runner()
    }
}

impl Ready<PrivateKey> {
    /// Does the private operation, on one thread.
    pub(crate) fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        self.runner_by(|backend, key| backend.prepare_private(key))
    }

    /// The public half, with what the file says of it.
    pub(crate) fn public(&self) -> Ready<PublicKey> {
        let own = &self.loaded;
        Ready::new(Loaded {
            key: own.key.public().clone(),
            usage: own.usage.clone(),
            restrictions: own.restrictions.clone(),
            annotations: own.annotations.clone(),
            content: own.content,
            encryption: own.encryption.clone(),
        })
    }
}

impl Ready<PublicKey> {
    /// Does the public operation, on one thread.
    pub(crate) fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        self.runner_by(|backend, key| backend.prepare_public(key))
    }
}
