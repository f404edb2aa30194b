//! An engine made slower by a known share, so that a measurement can be tried on an effect that is there.

use std::time::Instant;

use crate::{
    engine::{Engine, EngineError, EngineInfo, Prepared, RunStats, Runner},
    job::{Job, StudyKey},
    ledger::{Ledger, Reason},
};

/// An engine each of whose calls takes longer by a share of its time, inside of what is timed.
///
/// It has a name of its own, so that a coordinator that has not asked for it refuses it, and its version and its ledger
/// say what it is. The delay is exact to a reading of the clock over many calls; calls of less than some microseconds
/// are slowed by the readings themselves.
pub struct Delayed {
    engine: Box<dyn Engine>,
    delay: Delay,
}

/// How calls are slowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delay {
    /// The share of their time: 0.02 is two per cent.
    pub share: f64,
    /// Milliseconds that delays add up to before they are served, in one pause; 0 for a delay after each call. Pauses
    /// are half as long to one and a half times as long, so that they do not keep step with the blocks of a
    /// measurement, whose beginnings are discarded.
    pub pause_ms: f64,
}

impl Delayed {
    /// Slows an engine.
    pub fn new(engine: Box<dyn Engine>, delay: Delay) -> Self {
        Delayed { engine, delay }
    }

    /// The name of an engine that is slowed.
    pub fn name_of(engine: &str) -> String {
        format!("{engine} with an injected delay")
    }

    fn words(&self) -> String {
        let Delay { share, pause_ms } = self.delay;
        let pauses = match pause_ms > 0.0 {
            true => format!(", in pauses of {pause_ms} ms"),
            false => String::new(),
        };
        format!("an injected delay of {} %{pauses}", share * 100.0)
    }
}

impl Engine for Delayed {
    fn info(&self) -> EngineInfo {
        let info = self.engine.info();
        EngineInfo {
            name: Delayed::name_of(&info.name),
            version: format!("{} with {}", info.version, self.words()),
            ..info
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        let ledger = self.engine.supports(job)?;
        Ok(Ledger {
            setup: format!("{}; in the time is {}", ledger.setup, self.words()),
            ..ledger
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        Ok(Box::new(DelayedJob {
            prepared: self.engine.prepare(job, keys)?,
            delay: self.delay,
        }))
    }
}

struct DelayedJob<'e> {
    prepared: Box<dyn Prepared + 'e>,
    delay: Delay,
}

impl Prepared for DelayedJob<'_> {
    fn kernel(&self) -> String {
        self.prepared.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(DelayedRunner {
            runner: self.prepared.runner()?,
            owed: OwedDelay::new(self.delay),
        }))
    }
}

struct DelayedRunner<'p> {
    runner: Box<dyn Runner + 'p>,
    owed: OwedDelay,
}

impl DelayedRunner<'_> {
    /// One call with its delay.
    fn delayed(
        &mut self,
        call: impl FnOnce(&mut dyn Runner) -> Result<RunStats, EngineError>,
    ) -> Result<RunStats, EngineError> {
        let begin = Instant::now();
        let stats = call(self.runner.as_mut())?;
        self.owed.serve(|| begin.elapsed().as_nanos() as f64);
        Ok(stats)
    }
}

impl Runner for DelayedRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        self.delayed(|runner| runner.run(inputs, outputs))
    }

    fn keep(&mut self, batches: &mut dyn Iterator<Item = &[u8]>) -> Result<(), EngineError> {
        self.runner.keep(batches)
    }

    fn run_kept(&mut self, batch: usize, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        self.delayed(|runner| runner.run_kept(batch, inputs, outputs))
    }

    fn collect(&mut self, batch: usize, outputs: &mut [u8]) -> Result<(), EngineError> {
        self.runner.collect(batch, outputs)
    }
}

/// Delay that is still to be served.
struct OwedDelay {
    share: f64,
    /// The length of a pause in the mean.
    pause_ns: f64,
    /// Less is not served yet.
    least_ns: f64,
    /// Of the lengths of pauses: Weyl's sequence of the golden ratio.
    fraction: f64,
    /// Negative where a call was delayed for too long, by as much as the clock's readings are apart.
    owed_ns: f64,
}

impl OwedDelay {
    fn new(delay: Delay) -> Self {
        OwedDelay {
            share: delay.share,
            pause_ns: delay.pause_ms * 1e6,
            least_ns: delay.pause_ms * 1e6,
            fraction: 0.5,
            owed_ns: 0.0,
        }
    }

    /// Waits after a call; `since_begin` is the time since it began.
    fn serve(&mut self, mut since_begin: impl FnMut() -> f64) {
        let worked = since_begin();
        self.owed_ns += worked * self.share;
        if self.owed_ns < self.least_ns {
            return;
        }
        self.fraction = (self.fraction + GOLDEN).fract();
        self.least_ns = self.pause_ns * (0.5 + self.fraction);
        let mut now = worked;
        // Without the hint for such loops, for which the host of a virtual machine takes its CPU away.
        while now - worked < self.owed_ns {
            now = since_begin();
        }
        // Of a wait that somebody else's work made longer nothing is given back: the calls after it would do without
        // their delay, and a median would see them alone.
        self.owed_ns = (self.owed_ns - (now - worked)).max(-LARGEST_READING_NS);
    }
}

/// The golden ratio less 1: multiples of it fill the unit interval evenly.
const GOLDEN: f64 = 0.618_033_988_749_894_9;
/// Readings of a clock are not further apart than that.
const LARGEST_READING_NS: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Textbook, op::Op};

    fn after_each_call(share: f64) -> Delay {
        Delay { share, pause_ms: 0.0 }
    }

    #[test]
    fn calls_take_longer_by_the_share_however_coarse_the_clock() {
        // Readings of the clock are 40 ns apart, and 7 % of a call is not a multiple of that.
        const READING: f64 = 40.0;
        for (share, call) in [(0.02, 300_000.0), (0.07, 1_234.0), (0.5, 3.0), (0.0, 100.0)] {
            let mut owed = OwedDelay::new(after_each_call(share));
            let (mut worked, mut taken) = (0.0, 0.0);
            for round in 0..1000 {
                let call = call + f64::from(round % 7);
                let mut now = call - READING;
                owed.serve(|| {
                    now += READING;
                    now
                });
                worked += call;
                taken += now;
            }
            let delay = taken - worked;
            assert!(
                (delay - share * worked).abs() <= READING,
                "{delay} of {worked} is not {share}"
            );
        }
    }

    #[test]
    fn pauses_are_about_as_long_as_asked_and_add_up_to_the_share() {
        let mut owed = OwedDelay::new(Delay {
            share: 0.1,
            pause_ms: 5.0,
        });
        let (mut taken, mut pauses) = (0.0, Vec::new());
        for _ in 0..1000 {
            let mut now = 1e6 - 1e3;
            owed.serve(|| {
                now += 1e3;
                now
            });
            taken += now;
            if now > 1e6 {
                pauses.push(now - 1e6);
            }
        }
        assert!((18..=21).contains(&pauses.len()), "{pauses:?}");
        assert!(
            pauses.iter().all(|pause| (2.5e6..=7.61e6).contains(pause)),
            "{pauses:?}"
        );
        let shortest = pauses.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(shortest < 3.5e6, "{pauses:?}");
        // What the last pause would still serve is owed.
        assert!((taken - 1.1e9).abs() < 7.5e6, "{taken}");
    }

    #[test]
    fn a_wait_that_was_interrupted_spares_no_other_call() {
        let mut owed = OwedDelay::new(after_each_call(10.0));
        for call in 0..20 {
            // Every fourth wait takes a hundred times as long, because the machine had something else to do.
            let (mut now, mut readings) = (0.0, 0);
            owed.serve(|| {
                readings += 1;
                now += match readings {
                    1 => 1e5,
                    2 if call % 4 == 0 => 1e8,
                    _ => 1e4,
                };
                now
            });
            assert!(now >= 1.09e6, "call {call}: {now}");
        }
    }

    #[test]
    fn a_delayed_engine_says_what_it_is_and_answers_as_ever() {
        let delayed = Delayed::new(Box::new(Textbook), after_each_call(0.02));
        let info = delayed.info();
        assert_eq!(info.name, "textbook with an injected delay");
        assert!(info.version.ends_with("with an injected delay of 2 %"));
        let job = Job::new(Op::Private, 512);
        let of = |engine: &dyn Engine| engine.supports(&job);
        let (slow, plain) = (of(&delayed).unwrap(), of(&Textbook).unwrap());
        assert!(slow.setup.contains("an injected delay of 2 %"));
        assert!(slow.differences(&plain).is_empty());
    }

    /// A runner that works on what it was shown beforehand, and hands it out afterwards.
    #[derive(Default)]
    struct Keeping {
        kept: Vec<Vec<u8>>,
        left: Vec<usize>,
    }

    impl Runner for Keeping {
        fn run(&mut self, _: &[u8], _: &mut [u8]) -> Result<RunStats, EngineError> {
            unreachable!("every batch was kept")
        }

        fn keep(&mut self, batches: &mut dyn Iterator<Item = &[u8]>) -> Result<(), EngineError> {
            self.kept.extend(batches.map(<[u8]>::to_vec));
            Ok(())
        }

        fn run_kept(&mut self, batch: usize, _: &[u8], _: &mut [u8]) -> Result<RunStats, EngineError> {
            self.left.push(batch);
            Ok(RunStats::default())
        }

        fn collect(&mut self, batch: usize, outputs: &mut [u8]) -> Result<(), EngineError> {
            assert!(self.left.contains(&batch));
            outputs.copy_from_slice(&self.kept[batch]);
            Ok(())
        }
    }

    #[test]
    fn what_a_runner_keeps_beforehand_and_hands_out_afterwards_is_forwarded() {
        let mut delayed = DelayedRunner {
            runner: Box::new(Keeping::default()),
            owed: OwedDelay::new(after_each_call(0.5)),
        };
        let batches = [[1, 2], [3, 4]];
        delayed.keep(&mut batches.iter().map(|batch| &batch[..])).unwrap();
        let mut outputs = [0; 2];
        delayed.run_kept(1, &batches[1], &mut outputs).unwrap();
        delayed.collect(1, &mut outputs).unwrap();
        assert_eq!(outputs, batches[1]);
    }
}
