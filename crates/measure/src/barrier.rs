//! A barrier that is quick while its threads are at work and costs nothing while they wait for long.

use std::{
    hint,
    sync::{
        Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// A reusable barrier for a fixed number of threads.
///
/// The standard library's barrier sleeps at once, and waking its threads takes tens of microseconds, one after another:
/// far too much for a sample of a millisecond. Here a thread first spins, and sleeps only if the others take long.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    spins: u32,
    arrived: AtomicUsize,
    /// Counts the rounds. Changed only with the lock held, so that no sleeper misses a change.
    rounds: AtomicUsize,
    broken: AtomicBool,
    lock: Mutex<()>,
    changed: Condvar,
}

/// Some thread has left for good; the others must do so too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl Barrier {
    /// For `threads` threads. With fewer CPUs than threads, spinning would only keep the others from running: no `spin`
    /// then.
    pub fn new(threads: usize, spin: bool) -> Self {
        Barrier {
            threads,
            // A spin-loop hint takes 40 to 140 cycles: about a millisecond in all.
            spins: if spin { 30_000 } else { 0 },
            arrived: AtomicUsize::new(0),
            rounds: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Waits until all threads have called this.
    ///
    /// # Errors
    /// [`Broken`] if it was broken, before or meanwhile.
    pub fn wait(&self) -> Result<(), Broken> {
        // A thread alone must not pay for a barrier inside its timed call.
        if self.threads == 1 {
            return self.check();
        }
        // No round is complete before this thread arrives, so the count is that of this round.
        let round = self.rounds.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.change(|| self.rounds.store(round.wrapping_add(1), Ordering::Release));
            return self.check();
        }
        for _ in 0..self.spins {
            if self.rounds.load(Ordering::Acquire) != round || self.broken.load(Ordering::Acquire) {
                return self.check();
            }
            hint::spin_loop();
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while self.rounds.load(Ordering::Acquire) == round && !self.broken.load(Ordering::Acquire) {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.check()
    }

    /// Lets every thread through, now and for ever, with [`Broken`].
    pub fn break_now(&self) {
        self.change(|| self.broken.store(true, Ordering::Release));
    }

    /// Breaks the barrier when it is dropped: whatever way a thread leaves, nobody waits for it.
    pub fn break_on_drop(&self) -> BreakOnDrop<'_> {
        BreakOnDrop(self)
    }

    fn change(&self, change: impl FnOnce()) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        change();
        self.changed.notify_all();
    }

    fn check(&self) -> Result<(), Broken> {
        if self.broken.load(Ordering::Acquire) {
            Err(Broken)
        } else {
            Ok(())
        }
    }
}

/// See [`Barrier::break_on_drop`].
#[derive(Debug)]
pub struct BreakOnDrop<'a>(&'a Barrier);

impl Drop for BreakOnDrop<'_> {
    fn drop(&mut self) {
        self.0.break_now();
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicU64, thread, time::Duration};

    use super::*;

    #[test]
    fn nobody_passes_before_everybody_has_arrived() {
        for spin in [true, false] {
            const THREADS: u64 = 5;
            const ROUNDS: u64 = 50;
            let barrier = Barrier::new(THREADS as usize, spin);
            let arrivals = AtomicU64::new(0);
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        for round in 0..ROUNDS {
                            arrivals.fetch_add(1, Ordering::SeqCst);
                            barrier.wait().unwrap();
                            let seen = arrivals.load(Ordering::SeqCst);
                            assert!(seen >= (round + 1) * THREADS, "{seen} in round {round}");
                            barrier.wait().unwrap();
                        }
                    });
                }
            });
            assert_eq!(arrivals.into_inner(), THREADS * ROUNDS);
        }
    }

    #[test]
    fn a_broken_barrier_wakes_sleepers_and_stops_newcomers() {
        let barrier = Barrier::new(2, false);
        thread::scope(|scope| {
            let sleeper = scope.spawn(|| barrier.wait());
            thread::sleep(Duration::from_millis(20));
            barrier.break_now();
            assert_eq!(sleeper.join().unwrap(), Err(Broken));
        });
        assert_eq!(barrier.wait(), Err(Broken));
    }
}
