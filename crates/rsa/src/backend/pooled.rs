//! Scratch memory and blinding of a prepared key, kept from call to call: making them anew takes as long as an
//! operation.

use std::{
    process,
    sync::{Arc, Mutex},
    thread,
};

use self_cell::self_cell;

use super::{BlockRunner, Prepared, Status};
use crate::Result;

/// The most that are kept: more threads than that make some anew.
const MOST: usize = 64;

type RunnerOf<'key> = Box<dyn BlockRunner + Send + 'key>;

self_cell!(
    /// A runner with the key it borrows.
    struct Owned {
        owner: Arc<dyn Prepared>,
        #[not_covariant]
        dependent: RunnerOf,
    }
);

/// A prepared key whose runners are kept when they are dropped, and used again: for keys that many threads share, each
/// for a call at a time.
///
/// Asking for a runner never waits, and a runner is never used in two processes: a child of a fork makes its own, for
/// two processes must not go on from the same blinding. What a runner keeps is wiped with the key.
pub struct Pooled {
    prepared: Arc<dyn Prepared>,
    idle: Mutex<Idle>,
}

/// Runners that nobody uses now.
#[derive(Default)]
struct Idle {
    /// The process that made them.
    process: u32,
    runners: Vec<Owned>,
}

/// One that a thread uses, and gives back.
struct Runner<'pool> {
    pool: &'pool Pooled,
    process: u32,
    /// Taken out when it is dropped only.
    runner: Option<Owned>,
}

impl Pooled {
    /// Without any runners yet.
    pub fn new(prepared: Box<dyn Prepared>) -> Self {
        Pooled {
            prepared: prepared.into(),
            idle: Mutex::default(),
        }
    }
}

impl Prepared for Pooled {
    fn modulus_len(&self) -> usize {
        self.prepared.modulus_len()
    }

    fn kernel(&self) -> &str {
        self.prepared.kernel()
    }

    fn kernels_for(&self, items: usize) -> Vec<&str> {
        self.prepared.kernels_for(items)
    }

    fn lanes(&self) -> usize {
        self.prepared.lanes()
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>> {
        let process = process::id();
        // In a child of a fork the lock may be held by a thread that only its parent has.
        let idle = self.idle.try_lock().ok();
        let runner = idle.and_then(|mut idle| {
            if idle.process != process {
                *idle = Idle {
                    process,
                    runners: Vec::new(),
                };
            }
            idle.runners.pop()
        });
        let runner = match runner {
            Some(runner) => runner,
            None => Owned::try_new(Arc::clone(&self.prepared), |key| key.runner())?,
        };
        Ok(Box::new(Runner {
            pool: self,
            process,
            runner: Some(runner),
        }))
    }
}

impl BlockRunner for Runner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let runner = self.runner.as_mut().expect("it is there until it is dropped");
        runner.with_dependent_mut(|_, runner| runner.run(inputs, outputs, status))
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        let runner = self.runner.take();
        // What panicked is not used again.
        if thread::panicking() {
            return;
        }
        if let Ok(mut idle) = self.pool.idle.try_lock()
            && idle.process == self.process
            && idle.runners.len() < MOST
        {
            idle.runners.extend(runner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, CpuBackend, PrivateKey};

    fn kept(key: &Pooled) -> usize {
        key.idle.lock().unwrap().runners.len()
    }

    #[test]
    fn a_runner_is_kept_unless_it_panicked_or_belongs_to_another_process() {
        let key = PrivateKey::generate(512).unwrap();
        let key = Pooled::new(CpuBackend::auto().prepare_private(&key).unwrap());
        {
            let _one = key.runner().unwrap();
            let _other = key.runner().unwrap();
            assert_eq!(kept(&key), 0);
        }
        assert_eq!(kept(&key), 2);
        drop(key.runner().unwrap());
        assert_eq!(kept(&key), 2);

        // As it is in a child of a fork.
        key.idle.lock().unwrap().process ^= 1;
        let new = key.runner().unwrap();
        assert_eq!(kept(&key), 0);
        drop(new);
        assert_eq!(kept(&key), 1);

        // Locked by a thread that is not there: nobody waits.
        let locked = key.idle.lock().unwrap();
        drop(key.runner().unwrap());
        assert_eq!(locked.runners.len(), 1);
        drop(locked);

        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _runner = key.runner().unwrap();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(kept(&key), 0);
    }

    #[test]
    fn runners_compute_with_their_key() {
        let private = PrivateKey::generate(512).unwrap();
        let key = Pooled::new(CpuBackend::auto().prepare_private(&private).unwrap());
        let public = CpuBackend::auto().prepare_public(private.public()).unwrap();
        for round in 0..3_u8 {
            let block: Vec<u8> = (0..64).map(|at| at ^ round).collect();
            let mut powers = [0; 64];
            let mut status = [Status::Done];
            let mut runner = key.runner().unwrap();
            runner.run(&block, &mut powers, &mut status).unwrap();
            assert_eq!(status, [Status::Done]);
            let mut back = [0; 64];
            let mut runner = public.runner().unwrap();
            runner.run(&powers, &mut back, &mut status).unwrap();
            assert_eq!(back[..], block[..]);
        }
    }
}
