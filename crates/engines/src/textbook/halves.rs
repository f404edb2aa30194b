//! The two halves of one private operation on two threads at once: article (d)'s "multithreaded CPU" for a single
//! message.
//!
//! ```text
//! runner: start the second thread, and pin it to a CPU of its own
//! for each block
//!     hand over   the block is left where both threads see it; a barrier releases both
//!     work        here modulo p, there modulo q
//!     collect     the barrier again
//!     recombine   here
//! between blocks the second thread waits at the barrier: spinning for a millisecond, then asleep
//! ```
//!
//! The time that is measured holds the handing over, the waiting for the slower half and, after a long pause, waking
//! the second thread. It does not hold starting it: that is once for each runner.

use std::{
    convert::Infallible,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use num_bigint::BigUint;
use rsalab_measure::{
    Barrier, Pool, Topology,
    barrier::Broken,
    pin::allowed_cpus,
    pool::{Member, Threads},
};

use super::crt::Crt;
use crate::{engine::EngineError, ledger::Reason};

/// Where the second thread goes, or why there is no place for it. Asked before the calling thread is pinned.
pub(super) fn second_cpu() -> Result<Option<usize>, Reason> {
    let placement = Topology::detect().placement(2);
    if placement.oversubscribed {
        return Err("two halves at once take two CPUs, and this process may use one".into());
    }
    // A system that does not say where a thread may run does not pin it either.
    Ok(allowed_cpus().ok().map(|_| placement.cpus[1]))
}

/// Two threads with a key: the one that calls, and one of its own.
pub(super) struct Pair {
    shared: Arc<Shared>,
    /// The second thread. It has one task: to work until the barrier is broken.
    second: Option<Pool<()>>,
}

struct Shared {
    crt: Arc<Crt>,
    barrier: Barrier,
    /// The block on the way there, `m2` on the way back.
    slot: Mutex<BigUint>,
}

impl Pair {
    /// Starts the second thread on a CPU, or wherever the system likes.
    pub(super) fn start(crt: Arc<Crt>, cpu: Option<usize>) -> Result<Self, EngineError> {
        const CALL: &str = "starting the second thread";
        let shared = Arc::new(Shared {
            crt,
            barrier: Barrier::new(2, true),
            slot: Mutex::default(),
        });
        let threads = Threads {
            name: "half-q",
            count: 1,
            cpus: cpu.as_slice(),
        };
        let second = Arc::clone(&shared);
        let second = Pool::detached(threads, move |member| second.work(member));
        let second = second.map_err(|error| EngineError::library(CALL, error))?;
        second.send(0, ()).map_err(|error| EngineError::library(CALL, error))?;
        Ok(Pair {
            shared,
            second: Some(second),
        })
    }

    /// `c^d mod n`.
    pub(super) fn power_vartime(&mut self, c: &BigUint) -> Result<BigUint, EngineError> {
        let Shared { crt, barrier, .. } = &*self.shared;
        let lost = |Broken| EngineError::library("the half modulo q", "its thread has ended");
        self.shared.slot().clone_from(c);
        barrier.wait().map_err(lost)?;
        let m1 = crt.half_p_vartime(c);
        barrier.wait().map_err(lost)?;
        let m2 = mem::take(&mut *self.shared.slot());
        Ok(crt.recombined_vartime(m1, m2))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.shared.barrier.break_now();
        // Waits for the thread, which holds the key.
        self.second = None;
    }
}

impl Shared {
    fn slot(&self) -> MutexGuard<'_, BigUint> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the second thread.
    fn work(&self, member: Member<(), Infallible>) -> Result<(), Infallible> {
        let _leaving = self.barrier.break_on_drop();
        for () in member.tasks() {
            while self.barrier.wait().is_ok() {
                let c = mem::take(&mut *self.slot());
                let m2 = self.crt.half_q_vartime(&c);
                *self.slot() = m2;
                if self.barrier.wait().is_err() {
                    break;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rsalab_rsa::random::InsecureStudySeed;

    use super::*;
    use crate::{exponent::Exponent, job::StudyKey};

    fn pair() -> Pair {
        let seed = InsecureStudySeed::new([9; 32]);
        let key = StudyKey::from_seed(&seed, 768, Exponent::F4).unwrap();
        Pair::start(Arc::new(Crt::new(&key).unwrap()), None).unwrap()
    }

    #[test]
    fn a_pair_serves_block_after_block_and_ends() {
        let mut pair = pair();
        let crt = Arc::clone(&pair.shared.crt);
        for c in [0_u32, 1, 2, 3, u32::MAX] {
            let c = BigUint::from(c);
            let expected = crt.recombined_vartime(crt.half_p_vartime(&c), crt.half_q_vartime(&c));
            assert_eq!(pair.power_vartime(&c), Ok(expected));
        }
        // Asleep, it must still be woken.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let one = BigUint::from(1_u32);
        assert_eq!(pair.power_vartime(&one), Ok(one));
        drop(pair);
        // The second thread has ended, or it would hold the key too.
        assert_eq!(Arc::strong_count(&crt), 1);
    }

    #[test]
    fn a_second_thread_that_is_gone_is_an_error_and_no_hang() {
        let mut pair = pair();
        pair.shared.barrier.break_now();
        assert!(matches!(
            pair.power_vartime(&BigUint::from(5_u32)),
            Err(EngineError::Library { .. })
        ));
    }

    #[test]
    fn a_cpu_that_is_not_there_is_an_error() {
        let crt = Arc::clone(&pair().shared.crt);
        // No system has so many.
        assert!(Pair::start(crt, Some(1 << 30)).is_err() || cfg!(not(target_os = "linux")));
    }
}
