//! Scratch memory and blinding of a private key, kept from call to call: making them anew takes as long as a signature.

use std::{
    mem, process,
    sync::{Arc, Mutex},
    thread,
};

use rsalab_rsa::{BlockRunner, Prepared, Result, Status};
use self_cell::self_cell;

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

/// Those that nobody uses now.
#[derive(Default)]
pub(crate) struct Runners(Mutex<Idle>);

#[derive(Default)]
struct Idle {
    /// Who made them. A fork makes its own: two processes must not go on from the same blinding.
    process: u32,
    runners: Vec<Owned>,
}

/// One that a thread uses, and gives back.
pub(crate) struct Runner<'pool> {
    pool: &'pool Runners,
    process: u32,
    /// Taken out when it is dropped only.
    runner: Option<Owned>,
}

impl Runners {
    /// One that was used before, or a new one. Never waits: in a fork the lock may be held by a thread that the child does not have.
    pub(crate) fn get(&self, key: &Arc<dyn Prepared>) -> Result<Runner<'_>> {
        let process = process::id();
        let idle = self.0.try_lock().ok();
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
            None => Owned::try_new(Arc::clone(key), |key| key.runner())?,
        };
        Ok(Runner {
            pool: self,
            process,
            runner: Some(runner),
        })
    }
}

impl BlockRunner for Runner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<()> {
        let runner = self
            .runner
            .as_mut()
            .expect("it is there until it is dropped");
        runner.with_dependent_mut(|_, runner| runner.run(inputs, outputs, status))
    }
}

impl Drop for Runner<'_> {
    fn drop(&mut self) {
        let runner = mem::take(&mut self.runner);
        // What panicked is not used again.
        if thread::panicking() {
            return;
        }
        if let Ok(mut idle) = self.pool.0.try_lock()
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
    use rsalab_rsa::{Backend, CpuBackend, PrivateKey};

    fn kept(runners: &Runners) -> usize {
        runners.0.lock().unwrap().runners.len()
    }

    #[test]
    fn a_runner_is_kept_unless_it_panicked_or_belongs_to_another_process() {
        let key = PrivateKey::generate(512).unwrap();
        let key: Arc<dyn Prepared> = CpuBackend::auto().prepare_private(&key).unwrap().into();
        let runners = Runners::default();
        {
            let _one = runners.get(&key).unwrap();
            let _other = runners.get(&key).unwrap();
            assert_eq!(kept(&runners), 0);
        }
        assert_eq!(kept(&runners), 2);
        drop(runners.get(&key).unwrap());
        assert_eq!(kept(&runners), 2);

        // As it is in a fork.
        runners.0.lock().unwrap().process ^= 1;
        let _new = runners.get(&key).unwrap();
        assert_eq!(kept(&runners), 0);
        drop(_new);
        assert_eq!(kept(&runners), 1);

        // Held by a thread that is not there: nobody waits.
        let held = runners.0.lock().unwrap();
        drop(runners.get(&key).unwrap());
        assert_eq!(held.runners.len(), 1);
        drop(held);

        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _runner = runners.get(&key).unwrap();
            panic!("on purpose");
        }));
        assert!(panicked.is_err());
        assert_eq!(kept(&runners), 0);
    }
}
