//! A key as OpenSSL's contexts share it, with runners that are kept from call to call.

use std::{
    process,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Error, Prepared, PrivateKey, PublicKey, Result, Status,
};

use crate::statistics;

type Boxed<'key> = Box<dyn BlockRunner + Send + 'key>;

self_cell::self_cell!(
    struct Runner {
        owner: Arc<dyn Prepared>,
        #[not_covariant]
        dependent: Boxed,
    }
);

/// One operation of a key, made ready when it is first used.
#[derive(Default)]
struct Ready {
    prepared: OnceLock<Arc<dyn Prepared>>,
    /// Runners that no thread uses now, and the process that made them: a forked child must not reuse its parent's blinding.
    idle: Mutex<(u32, Vec<Runner>)>,
}

impl Ready {
    fn prepared(
        &self,
        make: impl FnOnce() -> Result<Box<dyn Prepared>>,
    ) -> Result<&Arc<dyn Prepared>> {
        if let Some(prepared) = self.prepared.get() {
            return Ok(prepared);
        }
        let prepared = make()?.into();
        Ok(self.prepared.get_or_init(|| prepared))
    }

    fn run(
        &self,
        prepared: &Arc<dyn Prepared>,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<()> {
        let process = process::id();
        let kept = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.0 != process {
                *idle = (process, Vec::new());
            }
            idle.1.pop()
        };
        let mut runner = match kept {
            Some(runner) => runner,
            None => Runner::try_new(Arc::clone(prepared), |prepared| prepared.runner())?,
        };
        runner.with_dependent_mut(|_, runner| runner.run(inputs, outputs, status))?;
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.0 == process {
            idle.1.push(runner);
        }
        Ok(())
    }
}

/// An RSA key, public or private.
pub(crate) struct Key {
    public: PublicKey,
    private: Option<PrivateKey>,
    public_ready: Ready,
    private_ready: Ready,
}

impl Key {
    pub(crate) fn from_public(public: PublicKey) -> Key {
        Key {
            public,
            private: None,
            public_ready: Ready::default(),
            private_ready: Ready::default(),
        }
    }

    pub(crate) fn from_private(private: PrivateKey) -> Key {
        Key {
            private: Some(private.clone()),
            ..Key::from_public(private.public().clone())
        }
    }

    pub(crate) fn public(&self) -> &PublicKey {
        &self.public
    }

    pub(crate) fn private(&self) -> Option<&PrivateKey> {
        self.private.as_ref()
    }

    pub(crate) fn bits(&self) -> usize {
        self.public.bits()
    }

    pub(crate) fn modulus_len(&self) -> usize {
        self.public.modulus_len()
    }

    fn prepared_private(&self) -> Result<&Arc<dyn Prepared>> {
        let private = self.private.as_ref().ok_or_else(|| Error::Scheme {
            reason: "the operation needs a private key, and this one is public".into(),
        })?;
        self.private_ready
            .prepared(|| CpuBackend::auto().prepare_private(private))
    }

    /// Items that the widest kernel works on at once.
    pub(crate) fn lanes(&self) -> Result<usize> {
        Ok(self.prepared_private()?.lanes())
    }

    /// The private operation on each block.
    pub(crate) fn run_private(
        &self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<()> {
        let prepared = self.prepared_private()?;
        statistics::count(status.len());
        self.private_ready.run(prepared, inputs, outputs, status)
    }

    /// The public operation on one block; `None` if it is not below the modulus.
    pub(crate) fn run_public(&self, block: &[u8]) -> Result<Option<Vec<u8>>> {
        let prepared = self
            .public_ready
            .prepared(|| CpuBackend::auto().prepare_public(&self.public))?;
        let mut output = vec![0; self.modulus_len()];
        let mut status = [Status::Done];
        self.public_ready
            .run(prepared, block, &mut output, &mut status)?;
        Ok((status[0] == Status::Done).then_some(output))
    }

    pub(crate) fn is_same(&self, other: &Key) -> bool {
        self.public.n() == other.public.n() && self.public.e() == other.public.e()
    }
}
