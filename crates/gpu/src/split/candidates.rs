//! Candidates for primes: a batch of them goes to one side, the one that was seen to be faster.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
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

/// The time that each side was seen to take, by the size of a batch to the next power of two.
#[derive(Default)]
struct Preference {
    seen: Vec<[Option<f64>; 2]>,
    /// `true` once the device has done a batch: before that its kernels had to be compiled.
    is_compiled: bool,
}

impl Preference {
    const CPU: usize = 0;
    const GPU: usize = 1;

    fn of(&mut self, items: usize) -> &mut [Option<f64>; 2] {
        let place = items.max(1).next_power_of_two().ilog2() as usize;
        if self.seen.len() <= place {
            self.seen.resize(place + 1, [None; 2]);
        }
        &mut self.seen[place]
    }

    /// The side for a batch of so many: the faster, once both were tried.
    fn side(&mut self, items: usize) -> usize {
        match *self.of(items) {
            [None, _] => Preference::CPU,
            [_, None] => Preference::GPU,
            [Some(cpu), Some(gpu)] if gpu < cpu => Preference::GPU,
            _ => Preference::CPU,
        }
    }

    fn saw(&mut self, side: usize, items: usize, took: Duration) {
        if side == Preference::GPU && !std::mem::replace(&mut self.is_compiled, true) {
            return;
        }
        let seen = &mut self.of(items)[side];
        *seen = Some(mixed(*seen, took.as_secs_f64() / items.max(1) as f64));
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
                    preference().saw(side, items, began.elapsed());
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
        preference().saw(Preference::CPU, items, began.elapsed());
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
    use super::*;

    #[test]
    fn candidates_go_to_the_faster_side_once_both_were_tried() {
        let mut preference = Preference::default();
        assert_eq!(preference.side(100), Preference::CPU);
        preference.saw(Preference::CPU, 100, Duration::from_secs(1));
        assert_eq!(preference.side(128), Preference::GPU);
        // The first time is a compiler's.
        preference.saw(Preference::GPU, 128, Duration::from_secs(100));
        assert_eq!(preference.side(128), Preference::GPU);
        preference.saw(Preference::GPU, 128, Duration::from_secs(1));
        assert_eq!(preference.side(70), Preference::GPU);
        // Other sizes are another matter.
        assert_eq!(preference.side(16), Preference::CPU);
        preference.saw(Preference::GPU, 128, Duration::from_secs(9));
        assert_eq!(preference.side(100), Preference::CPU);
    }
}
