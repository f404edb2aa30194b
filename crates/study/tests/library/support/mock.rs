//! Engines that answer rightly and take no time, except where a test wants otherwise.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use num_bigint::BigUint;
use rsalab_engines::{BlockReport, EngineInfo, Job, Ledger, Op, Readiness, Reason, Session, SessionError, StudyKey};
use rsalab_measure::{BlockPlan, Clock, CpuTime, Interruption, Losses, MockClock};
use rsalab_study::run::{LaunchError, Launcher};

/// A fault of an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Trouble {
    /// It is not installed.
    Absent,
    /// It does not start.
    DoesNotStart,
    /// It does not do the operation.
    Refuses(Op),
    /// Its worker dies at this request of a session, counted from 1; after the greeting.
    DiesAt(usize),
    /// Its worker never answers this request.
    HangsAt(usize),
    /// All its answers are wrong from this request on.
    WrongFrom(usize),
    /// It was built without optimisation.
    Unoptimised,
    /// It takes so many times as long as others.
    Slow(u64),
    /// It takes half as long as others, but only when started for this time, counted from 1.
    FastInLaunch(usize),
    /// It neither blinds nor checks.
    Unblinded,
    /// Its worker is stopped for three seconds in each of so many requests from this one on, and somebody sees it.
    Stopped(usize, usize),
    /// It is stopped likewise, and only its CPU time tells.
    Starved(usize, usize),
    /// In each of so many requests from this one on, a neighbour has its CPU for a half of the time.
    Neighbour(usize, usize),
    /// A quota holds it back for a half of the time, always.
    Throttled,
    /// It waits for a device in all its blocks: it has hardly any CPU time.
    Waits,
}

/// Starts engines that behave as told.
pub(crate) struct Mocks {
    pub(crate) clock: Arc<MockClock>,
    pub(crate) troubles: BTreeMap<String, Trouble>,
    /// Requests of all sessions so far.
    pub(crate) requests: Arc<AtomicUsize>,
    /// At this request of all, somebody wants to stop.
    pub(crate) stop_at: Option<usize>,
    /// At this request of all, the program is killed.
    pub(crate) killed_at: Option<usize>,
    pub(crate) launches: Mutex<Vec<String>>,
}

impl Mocks {
    pub(crate) fn new() -> Mocks {
        Mocks {
            clock: Arc::new(MockClock::new()),
            troubles: BTreeMap::new(),
            requests: Arc::new(AtomicUsize::new(0)),
            stop_at: None,
            killed_at: None,
            launches: Mutex::new(Vec::new()),
        }
    }

    pub(crate) fn with(engine: &str, trouble: Trouble) -> Mocks {
        Mocks {
            troubles: BTreeMap::from([(engine.to_owned(), trouble)]),
            ..Mocks::new()
        }
    }

    pub(crate) fn launched(&self, engine: &str) -> usize {
        self.launches
            .lock()
            .unwrap()
            .iter()
            .filter(|name| *name == engine)
            .count()
    }
}

impl Launcher for Mocks {
    fn launch(&self, selector: &str, stop: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        let trouble = self.troubles.get(selector).copied();
        match trouble {
            Some(Trouble::Absent) => {
                return Err(LaunchError::Absent("not installed; get it with: make it".to_owned()));
            }
            Some(Trouble::DoesNotStart) => {
                let error = SessionError::Start {
                    program: "mock".to_owned(),
                    reason: "permission denied".to_owned(),
                };
                return Err(error.into());
            }
            _ => {}
        }
        self.launches.lock().unwrap().push(selector.to_owned());
        let optimised = trouble != Some(Trouble::Unoptimised);
        Ok(Box::new(Mock {
            info: EngineInfo {
                optimised,
                ..super::info(selector)
            },
            trouble,
            clock: Arc::clone(&self.clock),
            all_requests: Arc::clone(&self.requests),
            stop_at: self.stop_at,
            killed_at: self.killed_at,
            stop: Arc::clone(stop),
            launch: self.launched(selector),
            requests: 0,
            prepared: None,
            seen: None,
            losses: None,
        }))
    }
}

struct Mock {
    info: EngineInfo,
    trouble: Option<Trouble>,
    clock: Arc<MockClock>,
    all_requests: Arc<AtomicUsize>,
    stop_at: Option<usize>,
    killed_at: Option<usize>,
    stop: Arc<AtomicBool>,
    /// Which of its engine's launches it is, from 1.
    launch: usize,
    requests: usize,
    prepared: Option<(Job, Vec<StudyKey>, Vec<u8>)>,
    seen: Option<Interruption>,
    losses: Option<Losses>,
}

impl Mock {
    /// Counts a request, and lets happen what is to happen at it.
    fn hear(&mut self, request: &'static str) -> Result<(), SessionError> {
        self.requests += 1;
        self.seen = None;
        let engine = self.info.name.clone();
        let all = self.all_requests.fetch_add(1, Ordering::Relaxed) + 1;
        if Some(all) == self.killed_at {
            // Unwinds without a word: the message would only clutter the output of a test that wants it.
            std::panic::resume_unwind(Box::new("killed"));
        }
        if Some(all) == self.stop_at {
            self.stop.store(true, Ordering::Relaxed);
            // A real worker is killed in the middle of a block; every other request may just have been answered.
            if request == "block" {
                return Err(SessionError::Stopped { engine, request });
            }
        }
        match self.trouble {
            Some(Trouble::DiesAt(at)) if at == self.requests => Err(SessionError::Died {
                engine,
                request,
                status: "signal: 9 (SIGKILL)".to_owned(),
                stderr: String::new(),
            }),
            Some(Trouble::HangsAt(at)) if at == self.requests => Err(SessionError::Hung {
                engine,
                request,
                after: Duration::from_secs(300),
            }),
            _ => Ok(()),
        }
    }
}

impl Mock {
    fn is_among(&self, from: usize, count: usize) -> bool {
        (from..from.saturating_add(count)).contains(&self.requests)
    }

    /// Three seconds pass in the last sample, in which the process does nothing.
    fn pause(&self, report: &mut BlockReport) {
        const PAUSE_NS: u64 = 3_000_000_000;
        self.clock.advance(PAUSE_NS);
        report.cpu = Some(CpuTime {
            user_ns: 100_000_000,
            system_ns: 10_000_000,
        });
        report.block.elapsed_ns += PAUSE_NS;
        report.block.samples[1].elapsed_ns += PAUSE_NS;
    }
}

impl Session for Mock {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn supports(&mut self, job: &Job) -> Result<Result<Ledger, Reason>, SessionError> {
        self.hear("supports")?;
        match self.trouble {
            Some(Trouble::Refuses(op)) if op == job.op => Ok(Err("it has no such function".into())),
            Some(Trouble::Unblinded) => Ok(Ok(Ledger {
                blinding: Some(false),
                result_check: Some(false),
                ..super::ledger()
            })),
            _ => Ok(Ok(super::ledger())),
        }
    }

    fn prepare(&mut self, job: &Job, keys: &[StudyKey], inputs: &[u8]) -> Result<Readiness, SessionError> {
        self.hear("prepare")?;
        self.prepared = Some((job.clone(), keys.to_vec(), inputs.to_vec()));
        Ok(super::readiness())
    }

    fn outputs(&mut self) -> Result<Vec<u8>, SessionError> {
        self.hear("outputs")?;
        let (job, keys, inputs) = self.prepared.as_ref().expect("outputs are asked of a prepared job");
        let mut outputs = answers(job, &keys[0], inputs);
        if matches!(self.trouble, Some(Trouble::WrongFrom(from)) if self.requests >= from) {
            *outputs.last_mut().unwrap() ^= 1;
        }
        Ok(outputs)
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, SessionError> {
        self.hear("block")?;
        let started_ns = self.clock.now_ns();
        self.clock.advance(plan.discard_ns + plan.min_ns);
        // Two samples in the time that was asked for, of more operations the faster the engine is.
        let mut report = super::block([plan.min_ns / 2, plan.min_ns / 2]);
        for sample in &mut report.block.samples {
            sample.operations = match self.trouble {
                Some(Trouble::Slow(times)) => 12 / times,
                Some(Trouble::FastInLaunch(launch)) if launch == self.launch => 24,
                _ => 12,
            };
        }
        report.block.started_ns = started_ns;
        report.block.elapsed_ns = plan.discard_ns + plan.min_ns;
        let (waited, throttled_periods) = match self.trouble {
            Some(Trouble::Neighbour(from, count)) if self.is_among(from, count) => (plan.min_ns / 2, 0),
            Some(Trouble::Throttled) => (plan.min_ns / 2, 1),
            _ => (0, 0),
        };
        // What was taken is not done: the second sample lasts as long and has fewer operations.
        if waited > 0 {
            report.block.samples[1].operations /= 4;
        }
        self.losses = Some(Losses {
            wall_ns: report.block.elapsed_ns,
            cpu_ns: plan.min_ns - waited,
            waited_ns: waited,
            throttled_periods,
            cpus: 2,
            ..Losses::default()
        });
        match self.trouble {
            Some(Trouble::Stopped(from, count)) if self.is_among(from, count) => {
                self.pause(&mut report);
                self.seen = Some(Interruption::Stopped);
            }
            Some(Trouble::Starved(from, count)) if self.is_among(from, count) => {
                self.pause(&mut report);
            }
            Some(Trouble::Waits) => self.pause(&mut report),
            _ => {}
        }
        Ok(report)
    }

    fn release(&mut self) -> Result<(), SessionError> {
        self.hear("release")?;
        self.prepared = None;
        Ok(())
    }

    fn interruption(&self) -> Option<Interruption> {
        self.seen
    }

    fn losses(&self) -> Option<Losses> {
        self.losses
    }

    fn pid(&self) -> Option<u32> {
        Some(4242)
    }
}

/// The right answers of private and public operations, by a library's exponentiation.
pub(crate) fn answers(job: &Job, key: &StudyKey, inputs: &[u8]) -> Vec<u8> {
    let exponent = match job.op {
        Op::Private => &key.d,
        Op::Public => &key.e,
        other => panic!("the mock does no {other}"),
    };
    let number = BigUint::from_bytes_be;
    let answer = |block: &[u8]| {
        let power = number(block).modpow(&number(exponent), &number(&key.n)).to_bytes_be();
        let mut padded = vec![0; block.len() - power.len()];
        padded.extend(power);
        padded
    };
    inputs.chunks(key.n.len()).flat_map(answer).collect()
}
