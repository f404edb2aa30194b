//! Calibration on engines whose truth is known: noise, drift and delays are planted, and no time passes.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use rsalab_engines::{BlockReport, EngineInfo, Job, Ledger, Op, Readiness, Reason, Session, SessionError, StudyKey};
use rsalab_measure::{BlockPlan, Clock, MockClock};
use rsalab_study::{
    calibrate::{self, Calibration, Request},
    plan::Seed,
    run::{Environment, LaunchError, Launcher},
};

use crate::support::{self, host, mock::answers};

/// Starts engines that are noisy, on a machine that drifts.
struct Noise {
    clock: Arc<MockClock>,
    /// How many times as long as the engine's everything takes.
    factor: f64,
    /// The most that a call takes more, as a share.
    noise: f64,
    /// The most that a launch is faster or slower than the mean of launches, as a share.
    launch: f64,
    launched: AtomicU64,
    is_absent: bool,
}

impl Noise {
    fn new(clock: &Arc<MockClock>, factor: f64) -> Self {
        Noise {
            clock: Arc::clone(clock),
            factor,
            noise: 0.05,
            launch: 0.0,
            launched: AtomicU64::new(0),
            is_absent: false,
        }
    }
}

impl Launcher for Noise {
    fn launch(&self, selector: &str, _: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        if self.is_absent {
            return Err(LaunchError::Absent("not installed".to_owned()));
        }
        let seed = self.launched.fetch_add(1, Ordering::Relaxed) + (self.factor * 1e6) as u64;
        let mut random = ChaCha12Rng::seed_from_u64(seed);
        Ok(Box::new(Noisy {
            info: support::info(selector),
            clock: Arc::clone(&self.clock),
            factor: self.factor * (1.0 + self.launch * random.random_range(-1.0..=1.0)),
            noise: self.noise,
            random,
            prepared: None,
        }))
    }
}

struct Noisy {
    info: EngineInfo,
    clock: Arc<MockClock>,
    factor: f64,
    noise: f64,
    random: ChaCha12Rng,
    prepared: Option<(Job, StudyKey, Vec<u8>)>,
}

impl Noisy {
    /// The machine's drift, which everybody has: by a tenth, with a period of half a minute.
    fn drift(&self) -> f64 {
        1.0 + 0.1 * (self.clock.now_ns() as f64 / 30e9 * std::f64::consts::TAU).sin()
    }

    /// One call: a millisecond, and now and then more.
    fn call_ns(&mut self) -> u64 {
        let noise = 1.0 + self.noise * self.random.random::<f64>().powi(3);
        (1e6 * noise * self.factor * self.drift()) as u64
    }
}

impl Session for Noisy {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn supports(&mut self, _: &Job) -> Result<Result<Ledger, Reason>, SessionError> {
        Ok(Ok(support::ledger()))
    }

    fn prepare(&mut self, job: &Job, keys: &[StudyKey], inputs: &[u8]) -> Result<Readiness, SessionError> {
        self.prepared = Some((job.clone(), keys[0].clone(), inputs.to_vec()));
        Ok(support::readiness())
    }

    fn outputs(&mut self) -> Result<Vec<u8>, SessionError> {
        let (job, key, inputs) = self.prepared.as_ref().expect("a job is prepared");
        Ok(answers(job, key, inputs))
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, SessionError> {
        let started_ns = self.clock.now_ns();
        self.clock.advance(plan.discard_ns);
        let mut times = Vec::new();
        while times.iter().sum::<u64>() < plan.min_ns {
            let ns = self.call_ns();
            self.clock.advance(ns);
            times.push(ns);
        }
        let mut report = support::block(times);
        report.block.started_ns = started_ns;
        report.block.elapsed_ns += plan.discard_ns;
        Ok(report)
    }

    fn release(&mut self) -> Result<(), SessionError> {
        self.prepared = None;
        Ok(())
    }
}

fn request(runs: usize) -> Request {
    Request {
        engine: "own".to_owned(),
        op: Op::Private,
        bits: 512,
        seconds: 2.0,
        launches: 1,
        runs,
        plant: Some(0.02),
        pause_ms: 0.0,
        seed: Some(Seed([7; 32])),
    }
}

/// Calibrates with a delay of `factor − 1`, and stops after a run if a number is given.
fn calibrate(request: &Request, factor: f64, stop_after: Option<usize>) -> Calibration {
    let clock = Arc::new(MockClock::new());
    let plain = Noise::new(&clock, 1.0);
    let planted = Noise::new(&clock, factor);
    of(request, &plain, &planted, stop_after)
}

fn of(request: &Request, plain: &Noise, planted: &Noise, stop_after: Option<usize>) -> Calibration {
    let around = Environment {
        launcher: plain,
        machine: support::MACHINE.clone(),
        warnings: Vec::new(),
        allow_unoptimised: false,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let told = Cell::new(0);
    let found = calibrate::run(
        request,
        &host(&[], 4),
        &around,
        planted,
        &mut |number, _| {
            assert_eq!(number, told.get() + 1);
            told.set(number);
            if Some(number) == stop_after {
                stop.store(true, Ordering::Relaxed);
            }
        },
        &stop,
    )
    .unwrap();
    assert_eq!(told.get(), found.runs.len());
    found
}

#[test]
fn intervals_hold_the_truth_as_often_as_they_say_and_a_delay_is_found() {
    const RUNS: usize = 60;
    let found = calibrate(&request(RUNS), 1.02, None);
    assert!(found.is_complete);
    let verdict = found.verdict.unwrap();
    assert_eq!(verdict.runs, RUNS);
    // Three are expected; more than eight come once in 300 times.
    assert!(verdict.false_alarms <= 8, "{verdict:?}");
    assert!(verdict.truths_missed.unwrap() <= 8, "{verdict:?}");
    assert_eq!(verdict.misses, Some(0), "{verdict:?}");
    assert_eq!(verdict.within_three_percent, RUNS);
    assert_eq!(verdict.within_three_percent_raw, None);
    let budget_s = 2.0 * (verdict.half_width / 0.01).powi(2);
    assert_eq!(verdict.budget_s, budget_s);
}

/// Where launches differ by more than blocks do, the interval of one launch is about another question.
#[test]
fn what_a_launch_changes_is_in_the_interval_over_launches_only() {
    const RUNS: usize = 30;
    let over = |launches| {
        let clock = Arc::new(MockClock::new());
        let moved = |factor| Noise {
            launch: 0.004,
            ..Noise::new(&clock, factor)
        };
        let request = Request {
            launches,
            seconds: 1.0,
            ..request(RUNS)
        };
        of(&request, &moved(1.0), &moved(1.02), None).verdict.unwrap()
    };
    let (one, several) = (over(1), over(6));
    assert!(
        one.false_alarms > RUNS / 4 && one.truths_missed.unwrap() > RUNS / 4,
        "{one:?}"
    );
    // Six launches reach 96.9 %: one of 30 is expected, and more than five come once in 3000 times.
    assert!((several.confidence - 0.96875).abs() < 1e-9, "{several:?}");
    assert!(several.false_alarms <= 5, "{several:?}");
    assert!(several.truths_missed.unwrap() <= 5, "{several:?}");
    assert_eq!(several.misses, Some(0), "{several:?}");
}

#[test]
fn a_delay_that_is_not_there_is_missed() {
    const RUNS: usize = 40;
    let found = calibrate(&request(RUNS), 1.0, None);
    let verdict = found.verdict.unwrap();
    assert!(verdict.misses.unwrap() >= RUNS - 7, "{verdict:?}");
}

#[test]
fn a_budget_within_reach_is_tried() {
    let clock = Arc::new(MockClock::new());
    let noisy = || Noise {
        noise: 0.2,
        ..Noise::new(&clock, 1.0)
    };
    let found = of(&request(6), &noisy(), &noisy(), None);
    let budget_s = found.verdict.unwrap().budget_s;
    assert!(budget_s < 1.6, "the noise is so little that less will do: {budget_s}");
    let check = found.check.unwrap();
    assert_eq!(check.seconds, budget_s);
    assert!(check.equals.to_first.covers(1.0));
}

#[test]
fn a_stop_keeps_what_was_found() {
    let found = calibrate(&request(5), 1.02, Some(2));
    assert!(!found.is_complete && found.failure.is_none() && found.check.is_none());
    assert_eq!(found.verdict.unwrap().runs, 2);
}

#[test]
fn an_engine_that_cannot_be_delayed_says_so() {
    let clock = Arc::new(MockClock::new());
    let planted = Noise {
        is_absent: true,
        ..Noise::new(&clock, 1.02)
    };
    let found = of(&request(3), &Noise::new(&clock, 1.0), &planted, None);
    assert_eq!(found.failure.as_deref(), Some("own, delayed: not installed"));
    assert!(!found.is_complete && found.runs.is_empty() && found.verdict.is_none());
}
