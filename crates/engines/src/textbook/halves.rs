//! The two halves of one private operation on two threads at once: article (d)'s "multithreaded CPU" for a single message.
//!
//! ```text
//! runner: start the second thread, and pin it beside the harness's own
//! for each block
//!     hand over   the block is left where both threads see it; a gate opens
//!     work        here modulo p, there modulo q
//!     collect     the gate again
//!     recombine   here
//! between blocks the second thread waits at the gate: spinning for a millisecond, then asleep
//! ```
//!
//! The time that is measured holds the handing over, the waiting for the slower half and, after a long pause, waking the
//! second thread. It does not hold starting it: that is once for each runner.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
};

use num_bigint::BigUint;
use rsalab_measure::{
    Topology,
    pin::{allowed_cpus, pin_current_thread},
};

use super::crt::Crt;
use crate::{
    engine::EngineError,
    harness::gate::{Broken, Gate},
    ledger::Reason,
};

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
    second: Option<JoinHandle<()>>,
}

struct Shared {
    crt: Arc<Crt>,
    gate: Gate,
    /// The block on the way there, `m2` on the way back.
    slot: Mutex<BigUint>,
}

impl Pair {
    /// Starts the second thread on a CPU, or wherever the system likes.
    pub(super) fn start(crt: Arc<Crt>, cpu: Option<usize>) -> Result<Self, EngineError> {
        let failed = |message: String| EngineError::library("starting the second thread", message);
        let shared = Arc::new(Shared {
            crt,
            gate: Gate::new(2, true),
            slot: Mutex::default(),
        });
        let second = thread::Builder::new().name("half-q".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.second(cpu)
        });
        let mut pair = Pair {
            shared,
            second: None,
        };
        pair.second = Some(second.map_err(|error| failed(error.to_string()))?);
        // It comes to the gate once it is pinned, and breaks the gate if it cannot be.
        pair.shared
            .gate
            .wait()
            .map_err(|Broken| failed("it could not be pinned".to_owned()))?;
        Ok(pair)
    }

    /// `c^d mod n`.
    pub(super) fn power_vartime(&mut self, c: &BigUint) -> Result<BigUint, EngineError> {
        let Shared { crt, gate, .. } = &*self.shared;
        let lost = |Broken| EngineError::library("the half modulo q", "its thread has ended");
        self.shared.slot().clone_from(c);
        gate.wait().map_err(lost)?;
        let m1 = crt.half_p_vartime(c);
        gate.wait().map_err(lost)?;
        let m2 = mem::take(&mut *self.shared.slot());
        Ok(crt.recombined_vartime(m1, m2))
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.shared.gate.break_open();
        if let Some(second) = self.second.take() {
            // It has said on standard error what it died of, if it did.
            let _ = second.join();
        }
    }
}

impl Shared {
    fn slot(&self) -> MutexGuard<'_, BigUint> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of the second thread.
    fn second(&self, cpu: Option<usize>) {
        let _leaving = BreakOnDrop(&self.gate);
        if cpu.is_some_and(|cpu| pin_current_thread(cpu).is_err()) {
            return;
        }
        // A broken gate is how it learns that it is over.
        if self.gate.wait().is_err() {
            return;
        }
        while self.gate.wait().is_ok() {
            let c = mem::take(&mut *self.slot());
            let m2 = self.crt.half_q_vartime(&c);
            *self.slot() = m2;
            if self.gate.wait().is_err() {
                return;
            }
        }
    }
}

/// Whatever way the second thread leaves, nobody waits for it.
struct BreakOnDrop<'a>(&'a Gate);

impl Drop for BreakOnDrop<'_> {
    fn drop(&mut self) {
        self.0.break_open();
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
        thread::sleep(std::time::Duration::from_millis(50));
        let one = BigUint::from(1_u32);
        assert_eq!(pair.power_vartime(&one), Ok(one));
        drop(pair);
        // The second thread has ended, or it would hold the key too.
        assert_eq!(Arc::strong_count(&crt), 1);
    }

    #[test]
    fn a_second_thread_that_is_gone_is_an_error_and_no_hang() {
        let mut pair = pair();
        pair.shared.gate.break_open();
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
