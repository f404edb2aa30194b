//! Candidates for primes: a batch of them goes to one side, the one that was seen to be faster, and now and then to the
//! other, so that what is seen is about today.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use rsalab_rsa::{CandidateTester, Error};

use super::{
    balance::mixed,
    lost::{Lost, locked},
};

/// Candidates go to whichever side was faster with as many.
pub(super) struct Tester<'a> {
    pub(super) cpu: Box<dyn CandidateTester + 'a>,
    pub(super) gpu: Option<Box<dyn CandidateTester + 'a>>,
    pub(super) lost: &'a Lost,
    pub(super) preferences: Arc<Preferences>,
}

/// Times that all threads have seen that test candidates of one length.
#[derive(Default)]
pub(super) struct Preferences {
    pre_tests: Mutex<Preference>,
    rounds: Mutex<Preference>,
}

/// What was seen of both sides.
#[derive(Default)]
struct Preference {
    /// By the size of a batch, to the next power of two.
    seen: Vec<Seen>,
    /// When the device's first batch was done. Calls that began before have waited for its compiler.
    first_ended: Option<Instant>,
}

/// What was seen with batches of one size.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// Seconds for a candidate, by side.
    took: [Option<f64>; 2],
    /// Batches for the faster side since the slower one was asked.
    since: u32,
    /// How often the slower side was asked again, and still was.
    confirmed: u32,
}

impl Seen {
    /// The faster side, once both were tried.
    fn faster(&self) -> Option<usize> {
        let [Some(cpu), Some(gpu)] = self.took else {
            return None;
        };
        Some(if gpu < cpu { Preference::GPU } else { Preference::CPU })
    }
}

impl Preference {
    const CPU: usize = 0;
    const GPU: usize = 1;
    /// The slower side is asked again in every so many batches of a size, since neither a device nor a CPU that others
    /// use is as fast at all times.
    const EVERY: u32 = 32;
    /// As long as it stays the slower one, it is asked half as often each time, but not more rarely than this many
    /// halvings: a side that is hopeless with so many costs little.
    const HALVINGS: u32 = 7;

    fn of(&mut self, items: usize) -> &mut Seen {
        let place = items.max(1).next_power_of_two().ilog2() as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, Seen::default());
        }
        &mut self.seen[place]
    }

    /// The side for a batch of so many: the faster, once both were tried, and now and then the other.
    fn side(&mut self, items: usize) -> usize {
        let seen = self.of(items);
        let Some(faster) = seen.faster() else {
            return match seen.took[Preference::CPU] {
                None => Preference::CPU,
                Some(_) => Preference::GPU,
            };
        };
        seen.since += 1;
        if seen.since < Preference::EVERY << seen.confirmed {
            return faster;
        }
        seen.since = 0;
        seen.confirmed = (seen.confirmed + 1).min(Preference::HALVINGS);
        1 - faster
    }

    /// A batch of so many was done by a side.
    fn saw(&mut self, side: usize, items: usize, began: Instant, ended: Instant) {
        if side == Preference::GPU {
            match self.first_ended {
                None => {
                    self.first_ended = Some(ended);
                    return;
                }
                Some(first) if began < first => return,
                Some(_) => {}
            }
        }
        let took = ended.duration_since(began).as_secs_f64() / items.max(1) as f64;
        let seen = self.of(items);
        let faster = seen.faster();
        seen.took[side] = Some(match faster {
            // What the slower side took long ago says nothing of now.
            Some(faster) if faster != side => took,
            _ => mixed(seen.took[side], took),
        });
        if seen.faster() != faster {
            (seen.since, seen.confirmed) = (0, 0);
        }
    }
}

impl Tester<'_> {
    fn test(
        &mut self,
        which: fn(&Preferences) -> &Mutex<Preference>,
        items: usize,
        mut run: impl FnMut(&mut dyn CandidateTester) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let preferences = Arc::clone(&self.preferences);
        let preference = || locked(which(&preferences));
        let side = preference().side(items);
        let began = Instant::now();
        if side == Preference::GPU
            && let Some(gpu) = &mut self.gpu
        {
            match run(gpu.as_mut()) {
                Ok(()) => {
                    preference().saw(side, items, began, Instant::now());
                    return Ok(());
                }
                Err(error) => {
                    // What is refused is refused by both: only a device that fails where the CPU does not is given up.
                    run(self.cpu.as_mut())?;
                    self.lost.give_up(&error);
                    self.gpu = None;
                    return Ok(());
                }
            }
        }
        let began = Instant::now();
        run(self.cpu.as_mut())?;
        preference().saw(Preference::CPU, items, began, Instant::now());
        Ok(())
    }
}

impl CandidateTester for Tester<'_> {
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.test(
            |preferences| &preferences.pre_tests,
            passed.len(),
            |side| side.pre_test(candidates, passed),
        )
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.test(
            |preferences| &preferences.rounds,
            passed.len(),
            |side| side.round(candidates, bases, passed),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A preference, with a clock that is moved by hand.
    struct Seconds {
        preference: Preference,
        start: Instant,
    }

    impl Seconds {
        fn new() -> Self {
            Seconds {
                preference: Preference::default(),
                start: Instant::now(),
            }
        }

        fn saw(&mut self, side: usize, items: usize, [began, ended]: [u64; 2]) {
            let at = |seconds| self.start + Duration::from_secs(seconds);
            self.preference.saw(side, items, at(began), at(ended));
        }

        /// Which of so many batches, counted from 1, go to a side; none of them is seen.
        fn to(&mut self, side: usize, items: usize, batches: usize) -> Vec<usize> {
            (1..=batches).filter(|_| self.preference.side(items) == side).collect()
        }
    }

    const CPU: usize = Preference::CPU;
    const GPU: usize = Preference::GPU;

    #[test]
    fn candidates_go_to_the_faster_side_once_both_were_tried() {
        let mut seconds = Seconds::new();
        assert_eq!(seconds.preference.side(100), CPU);
        seconds.saw(CPU, 100, [0, 1]);
        assert_eq!(seconds.preference.side(128), GPU);
        // The first time is a compiler's.
        seconds.saw(GPU, 128, [1, 101]);
        assert_eq!(seconds.preference.side(128), GPU);
        seconds.saw(GPU, 128, [101, 102]);
        assert_eq!(seconds.preference.side(70), GPU);
        // Other sizes are another matter.
        assert_eq!(seconds.preference.side(16), CPU);
        seconds.saw(GPU, 128, [102, 111]);
        assert_eq!(seconds.preference.side(100), CPU);
    }

    #[test]
    fn what_waited_for_the_compiler_is_not_counted_on_any_thread() {
        let mut seconds = Seconds::new();
        seconds.saw(CPU, 64, [0, 2]);
        // Three threads come together; one compiles, and the others wait for it.
        for ended in [10, 11, 12] {
            seconds.saw(GPU, 64, [2, ended]);
            assert_eq!(seconds.preference.side(64), GPU);
        }
        // So does one with another size, and one that comes while the first batch is still at work.
        seconds.saw(CPU, 8, [0, 2]);
        seconds.saw(GPU, 8, [9, 12]);
        assert_eq!(seconds.preference.side(8), GPU);
        seconds.saw(GPU, 64, [12, 13]);
        seconds.saw(GPU, 8, [10, 13]);
        assert_eq!(seconds.to(GPU, 64, 10), Vec::from_iter(1..=10));
        assert_eq!(seconds.preference.side(8), CPU);
    }

    #[test]
    fn the_slower_side_is_asked_again_and_more_rarely_as_long_as_it_stays_so() {
        let mut seconds = Seconds::new();
        seconds.saw(GPU, 4, [0, 1]);
        seconds.saw(CPU, 4, [0, 1]);
        seconds.saw(GPU, 4, [1, 100]);
        assert_eq!(seconds.to(GPU, 4, 32), [32]);
        // It is still slower.
        seconds.saw(GPU, 4, [100, 102]);
        assert_eq!(seconds.to(GPU, 4, 64), [64]);
        for _ in 0..20 {
            seconds.to(GPU, 4, 4096);
        }
        assert_eq!(seconds.to(GPU, 4, 4096).len(), 1);
        // One fast batch is enough: the slow ones of then are forgotten.
        seconds.saw(CPU, 4, [102, 103]);
        seconds.saw(GPU, 4, [103, 103]);
        assert_eq!(seconds.to(CPU, 4, 32), [32]);
    }
}
