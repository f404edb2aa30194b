//! An engine made slower by a known share, so that a measurement can be tried on an effect that is there.

use std::{hint, time::Instant};

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
pub struct Planted {
    engine: Box<dyn Engine>,
    delay: f64,
}

impl Planted {
    /// Slows an engine by a share of its time: 0.02 is two per cent.
    pub fn new(engine: Box<dyn Engine>, delay: f64) -> Self {
        Planted { engine, delay }
    }

    /// The name of an engine that is slowed.
    pub fn name_of(engine: &str) -> String {
        format!("{engine} with a planted delay")
    }

    fn words(&self) -> String {
        format!("a planted delay of {} %", self.delay * 100.0)
    }
}

impl Engine for Planted {
    fn info(&self) -> EngineInfo {
        let info = self.engine.info();
        EngineInfo {
            name: Planted::name_of(&info.name),
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
        Ok(Box::new(Slowed {
            prepared: self.engine.prepare(job, keys)?,
            delay: self.delay,
        }))
    }
}

struct Slowed<'e> {
    prepared: Box<dyn Prepared + 'e>,
    delay: f64,
}

impl Prepared for Slowed<'_> {
    fn kernel(&self) -> String {
        self.prepared.kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(SlowedRunner {
            runner: self.prepared.runner()?,
            debt: Debt::new(self.delay),
        }))
    }
}

struct SlowedRunner<'p> {
    runner: Box<dyn Runner + 'p>,
    debt: Debt,
}

impl Runner for SlowedRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let begin = Instant::now();
        let stats = self.runner.run(inputs, outputs)?;
        self.debt.pay(|| begin.elapsed().as_nanos() as f64);
        Ok(stats)
    }
}

/// Delay that is still to be served.
struct Debt {
    share: f64,
    /// Negative where a call was delayed for too long, by as much as the clock's readings are apart.
    owed_ns: f64,
}

impl Debt {
    fn new(share: f64) -> Self {
        Debt {
            share,
            owed_ns: 0.0,
        }
    }

    /// Waits after a call; `since_begin` is the time since it began.
    fn pay(&mut self, mut since_begin: impl FnMut() -> f64) {
        let worked = since_begin();
        self.owed_ns += worked * self.share;
        let mut now = worked;
        while now - worked < self.owed_ns {
            hint::spin_loop();
            now = since_begin();
        }
        // Of a wait that somebody else's work made longer nothing is given back: the calls after it would do without
        // their delay, and a median would see them alone.
        self.owed_ns = (self.owed_ns - (now - worked)).max(-LARGEST_READING_NS);
    }
}

/// Readings of a clock are not further apart than that.
const LARGEST_READING_NS: f64 = 1e3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Textbook, exponent::Exponent, op::Op};

    #[test]
    fn calls_take_longer_by_the_share_however_coarse_the_clock() {
        // Readings of the clock are 40 ns apart, and 7 % of a call is not a multiple of that.
        const READING: f64 = 40.0;
        for (share, call) in [(0.02, 300_000.0), (0.07, 1_234.0), (0.5, 3.0), (0.0, 100.0)] {
            let mut debt = Debt::new(share);
            let (mut worked, mut taken) = (0.0, 0.0);
            for round in 0..1000 {
                let call = call + f64::from(round % 7);
                let mut now = call - READING;
                debt.pay(|| {
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
    fn a_wait_that_was_interrupted_spares_no_other_call() {
        let mut debt = Debt::new(10.0);
        for call in 0..20 {
            // Every fourth wait takes a hundred times as long, because the machine had something else to do.
            let (mut now, mut readings) = (0.0, 0);
            debt.pay(|| {
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
    fn a_planted_engine_says_what_it_is_and_answers_as_ever() {
        let planted = Planted::new(Box::new(Textbook), 0.02);
        let info = planted.info();
        assert_eq!(info.name, "textbook with a planted delay");
        assert!(info.version.ends_with("with a planted delay of 2 %"));
        let job = Job {
            op: Op::Totient,
            bits: 512,
            threads: 1,
            batch: 1,
            mode: crate::job::Mode::Latency,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            message_bits: None,
            symbols: 0,
            block_symbols: 0,
        };
        let of = |engine: &dyn Engine| engine.supports(&job);
        match (of(&planted), of(&Textbook)) {
            (Ok(slow), Ok(plain)) => {
                assert!(slow.setup.contains("a planted delay of 2 %"));
                assert!(slow.differences(&plain).is_empty());
            }
            (slow, plain) => assert_eq!(slow, plain),
        }
    }
}
