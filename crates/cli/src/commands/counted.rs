//! The CPU backend, with a count of the blocks that are done, so that long work can be followed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::Duration,
};

use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, Prepared, PreparedMultiKey,
    PrivateKey, PublicKey, Status,
};

use crate::{output::Talk, progress::Counter};

/// A backend whose prepared keys count the blocks that they have done.
pub(super) struct Counted {
    backend: CpuBackend,
    done: Arc<AtomicU64>,
}

impl Counted {
    pub(super) fn new(backend: CpuBackend) -> Self {
        Counted {
            backend,
            done: Arc::default(),
        }
    }

    /// Does work of so many blocks, while another thread says how far it is. Without a thread to spare nothing is said.
    pub(super) fn followed<T>(&self, talk: Talk, blocks: u64, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let (working, ended) = sync_channel::<()>(0);
            let follow = move || {
                let mut counter = Counter::new(talk, "block", blocks, 0);
                while ended.recv_timeout(Duration::from_millis(100))
                    == Err(RecvTimeoutError::Timeout)
                {
                    counter.advance(self.done.load(Ordering::Relaxed));
                }
                counter.finish();
            };
            let _ = thread::Builder::new().spawn_scoped(scope, follow);
            let result = work();
            drop(working);
            result
        })
    }

    fn counted(&self, key: Box<dyn Prepared>) -> Box<dyn Prepared> {
        Box::new(CountedKey {
            key,
            done: Arc::clone(&self.done),
        })
    }
}

impl Backend for Counted {
    fn name(&self) -> &str {
        self.backend.name()
    }

    fn kernel(&self) -> &str {
        self.backend.kernel()
    }

    fn lanes(&self) -> usize {
        self.backend.lanes()
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        self.backend
            .prepare_private(key)
            .map(|key| self.counted(key))
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        self.backend.prepare_multi_key(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.backend
            .prepare_public(key)
            .map(|key| self.counted(key))
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        self.backend.tester(bits)
    }
}

struct CountedKey {
    key: Box<dyn Prepared>,
    done: Arc<AtomicU64>,
}

impl Prepared for CountedKey {
    fn modulus_len(&self) -> usize {
        self.key.modulus_len()
    }

    fn kernel(&self) -> &str {
        self.key.kernel()
    }

    fn lanes(&self) -> usize {
        self.key.lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + '_>, Error> {
        Ok(Box::new(CountedRunner {
            runner: self.key.runner()?,
            done: &self.done,
        }))
    }
}

struct CountedRunner<'a> {
    runner: Box<dyn BlockRunner + 'a>,
    done: &'a AtomicU64,
}

impl BlockRunner for CountedRunner<'_> {
    fn run(
        &mut self,
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        self.runner.run(inputs, outputs, status)?;
        self.done.fetch_add(status.len() as u64, Ordering::Relaxed);
        Ok(())
    }
}
