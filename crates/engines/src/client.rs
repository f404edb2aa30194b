//! The coordinator's end of a worker: started, talked to within time limits, and never left behind.
//!
//! Three threads serve each worker: one writes requests, so that a worker that does not read cannot block the
//! coordinator; one reads answers, so that a worker that does not answer can be given up; one keeps the end of what the
//! worker said on standard error, for the error message should it die.

mod connection;
mod error;

mod plausibility;

use std::{
    io::{self, BufReader},
    process::Child,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use rsalab_measure::{
    BlockPlan, Interruption, Losses,
    losses::{Counts, was_stopped},
    system_files::SystemFiles,
};

use crate::{
    engine::{Engine, EngineInfo},
    job::{Job, StudyKey},
    ledger::{ClockOwner, Ledger, Reason, ThreadOwner},
    protocol::{Answer, BlockReport, Readiness, Request, VERSION},
    registry::{Location, is_user_name},
    worker,
};
use connection::{Connection, ReceiveError, SHORT_ANSWER_BYTES};
use error::excerpt;
use plausibility::Plausibility;

pub use error::SessionError;

/// A conversation with one engine. [`Worker`] is the real one; a study is tested with others.
pub trait Session: Send {
    /// The engine, as it describes itself.
    fn info(&self) -> &EngineInfo;

    /// The conditions under which the engine would do this job, or why it cannot.
    fn supports(&mut self, job: &Job) -> Result<Result<Ledger, Reason>, SessionError>;

    /// Makes a job ready: key, contexts, threads. A job prepared before is released.
    ///
    /// `inputs` is laid out as [`Op::layout`](crate::Op::layout) says; every thread works on the same inputs.
    fn prepare(&mut self, job: &Job, keys: &[StudyKey], inputs: &[u8]) -> Result<Readiness, SessionError>;

    /// One output for each input of the prepared job; for operations without input, one batch of outputs.
    fn outputs(&mut self) -> Result<Vec<u8>, SessionError>;

    /// One measured block of the prepared job.
    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, SessionError>;

    /// Forgets the prepared job.
    fn release(&mut self) -> Result<(), SessionError>;

    /// The interruption that kept the engine from running during the last request, as far as it could be seen from
    /// here: its CPU time is in the report of a block.
    fn interruption(&self) -> Option<Interruption> {
        None
    }

    /// The time that was taken from the engine's process during the last block, where the system counts it.
    fn losses(&self) -> Option<Losses> {
        None
    }

    /// The engine's process, if it has one of its own.
    fn pid(&self) -> Option<u32> {
        None
    }
}

/// How long a worker may take before it is given up and killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a greeting, a question, a release.
    pub reply: Duration,
    /// For preparing, for a run over all inputs, and for a block beyond the time that its plan asks for: by its length,
    /// or by a count of calls, whose time is known from the run before.
    pub work: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            reply: Duration::from_secs(10),
            work: Duration::from_secs(300),
        }
    }
}

/// A worker process, or an engine served inside this process. Killed when dropped.
pub struct Worker {
    info: EngineInfo,
    connection: Connection,
    limits: Limits,
    /// Whose clock the worker reads, as it last said of a job.
    clock: ClockOwner,
    /// The limits of the prepared job's reports.
    plausibility: Option<Plausibility>,
    /// The losses of the last block.
    losses: Option<Losses>,
    /// Why the worker is gone, once it is.
    gone: Option<SessionError>,
}

impl Worker {
    /// Starts a worker and exchanges greetings.
    ///
    /// # Errors
    /// [`SessionError::Start`] if there is no such program; [`SessionError::Protocol`] if it is another engine than
    /// `location` says or speaks another version; the errors of every conversation.
    pub fn spawn(location: &Location, limits: Limits) -> Result<Self, SessionError> {
        let connection = Connection::spawn(location)?;
        Worker::greet(&location.engine, connection, limits)
    }

    /// Starts a worker that is killed, whatever it is doing, soon after `stop` is set; [`SessionError::Stopped`] then.
    pub fn spawn_until(location: &Location, limits: Limits, stop: Arc<AtomicBool>) -> Result<Self, SessionError> {
        let mut connection = Connection::spawn(location)?;
        connection.stop = Some(stop);
        Worker::greet(&location.engine, connection, limits)
    }

    /// Serves an engine on a thread of this process, over the same protocol. For tests and untimed work: an engine that
    /// hangs cannot be killed, one that panics takes its thread only.
    pub fn in_process(engine: Arc<dyn Engine>, limits: Limits) -> Result<Self, SessionError> {
        let name = engine.info().name;
        let start = |error: io::Error| SessionError::Start {
            program: format!("'{name}' in this process"),
            reason: error.to_string(),
        };
        let (request_reader, request_writer) = io::pipe().map_err(start)?;
        let (answer_reader, answer_writer) = io::pipe().map_err(start)?;
        thread::Builder::new()
            .name(format!("worker {name}"))
            .spawn(move || {
                // An error here is a closed pipe: the coordinator is gone.
                let _ = worker::serve(engine.as_ref(), &mut BufReader::new(request_reader), &mut {
                    answer_writer
                });
            })
            .map_err(start)?;
        let connection = Connection::new(None, request_writer, answer_reader, io::empty()).map_err(start)?;
        Worker::greet(&name, connection, limits)
    }

    fn greet(engine: &str, connection: Connection, limits: Limits) -> Result<Self, SessionError> {
        let info = EngineInfo {
            name: engine.to_owned(),
            version: String::new(),
            origin: String::new(),
            cpu_path: None,
            variants: Vec::new(),
            optimised: false,
        };
        let mut worker = Worker {
            info,
            connection,
            limits,
            clock: ClockOwner::Harness,
            plausibility: None,
            losses: None,
            gone: None,
        };
        let hello = Request::Hello { protocol: VERSION };
        match worker.ask(&hello, limits.reply)? {
            Answer::Hello { protocol, .. } if protocol != VERSION => Err(worker.give_up(
                &hello,
                format!("it speaks version {protocol}, and version {VERSION} is needed: build it again"),
            )),
            Answer::Hello { engine: info, .. } if info.name != engine => {
                Err(worker.give_up(&hello, format!("it is the engine '{}'", info.name)))
            }
            Answer::Hello { engine: info, .. } => {
                worker.info = info;
                if worker.is_foreign() {
                    worker.clock = ClockOwner::Engine;
                }
                Ok(worker)
            }
            other => Err(worker.unexpected(&hello, &other)),
        }
    }

    /// Returns whether the program is none of this project's, so that nobody knows which loop it is timed by.
    fn is_foreign(&self) -> bool {
        self.connection.child.is_some() && is_user_name(&self.info.name)
    }

    /// The most bytes that the answer to a request may have: a worker that writes without end must not fill the memory.
    fn longest_answer(&self, request: &Request) -> u64 {
        match (request, &self.plausibility) {
            (Request::Outputs, Some(plausibility)) => plausibility.longest_outputs(),
            (Request::Block { plan }, Some(plausibility)) => plausibility.longest_report(plan),
            _ => SHORT_ANSWER_BYTES,
        }
    }

    /// One request, one answer; the worker's own failures become [`SessionError::Fault`].
    fn ask(&mut self, request: &Request, limit: Duration) -> Result<Answer, SessionError> {
        if let Some(gone) = &self.gone {
            return Err(gone.clone());
        }
        let engine = self.info.name.clone();
        let request_name = request.name();
        let longest = self.longest_answer(request);
        let heard = match self.connection.exchange(request, longest, limit) {
            Ok(line) => line,
            Err(ReceiveError::TimedOut) => {
                self.connection.kill();
                return Err(self.lost(SessionError::Hung {
                    engine,
                    request: request_name,
                    after: limit,
                }));
            }
            Err(ReceiveError::Stopped) => {
                self.connection.kill();
                return Err(self.lost(SessionError::Stopped {
                    engine,
                    request: request_name,
                }));
            }
            Err(ReceiveError::Ended) => {
                let (status, stderr) = self.connection.post_mortem();
                return Err(self.lost(SessionError::Died {
                    engine,
                    request: request_name,
                    status,
                    stderr,
                }));
            }
            Err(ReceiveError::TooLong(longest)) => {
                return Err(self.give_up(request, format!("a line is longer than {longest} bytes")));
            }
        };
        match serde_json::from_slice::<Answer>(&heard) {
            Ok(Answer::Error(fault)) => Err(SessionError::Fault(fault)),
            Ok(answer) => Ok(answer),
            Err(error) => {
                let what = match request {
                    // Where, but not what: outputs are keys that were made, and messages that were decrypted.
                    Request::Outputs => format!(
                        "its line of {} bytes is no answer (column {})",
                        heard.len(),
                        error.column()
                    ),
                    _ => format!("{error}, in the line '{}'", excerpt(&heard)),
                };
                Err(self.give_up(request, what))
            }
        }
    }

    /// Does something, and counts what was taken from the worker meanwhile.
    fn counted<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> (T, Option<Losses>) {
        let files = SystemFiles::of_this_machine();
        let pid = self.pid();
        // What it went through before is not of this time.
        pid.map(was_stopped);
        let counts = || Counts::of(&files, pid?);
        let before = counts();
        let done = act(self);
        let losses = before.zip(counts()).map(|(before, mut after)| {
            if let Some(seen) = &self.connection.seen {
                after.seen(seen);
            }
            Losses {
                was_stopped: pid.is_some_and(was_stopped),
                ..before.until(&after)
            }
        });
        (done, losses)
    }

    fn unexpected(&mut self, request: &Request, answer: &Answer) -> SessionError {
        self.give_up(request, format!("the answer was '{}'", answer.name()))
    }

    /// Kills a worker that cannot be trusted any more.
    fn give_up(&mut self, request: &Request, what: String) -> SessionError {
        self.connection.kill();
        let engine = self.info.name.clone();
        self.lost(SessionError::Protocol {
            engine,
            request: request.name(),
            what,
        })
    }

    fn lost(&mut self, error: SessionError) -> SessionError {
        self.gone = Some(error.clone());
        error
    }
}

impl Session for Worker {
    fn info(&self) -> &EngineInfo {
        &self.info
    }

    fn supports(&mut self, job: &Job) -> Result<Result<Ledger, Reason>, SessionError> {
        let request = Request::Supports { job: job.clone() };
        match self.ask(&request, self.limits.reply)? {
            Answer::Supported { mut ledger } => {
                // Whatever it says: the harness's loop is not in it.
                if self.is_foreign() {
                    ledger.clock = ClockOwner::Engine;
                    ledger.threads = ThreadOwner::Engine;
                }
                self.clock = ledger.clock;
                Ok(ledger.checked_for(job.primes, job.keys))
            }
            Answer::Unsupported { reason } => Ok(Err(reason)),
            other => Err(self.unexpected(&request, &other)),
        }
    }

    fn prepare(&mut self, job: &Job, keys: &[StudyKey], inputs: &[u8]) -> Result<Readiness, SessionError> {
        let request = Request::Prepare {
            job: job.clone(),
            keys: keys.to_vec(),
            inputs: inputs.to_vec(),
        };
        self.plausibility = None;
        match self.ask(&request, self.limits.work)? {
            Answer::Prepared(readiness) => {
                self.plausibility = Some(Plausibility::new(job, self.clock, inputs.len()));
                Ok(readiness)
            }
            other => Err(self.unexpected(&request, &other)),
        }
    }

    fn outputs(&mut self) -> Result<Vec<u8>, SessionError> {
        match self.ask(&Request::Outputs, self.limits.work)? {
            Answer::Outputs { outputs } => {
                if let Some(plausibility) = &mut self.plausibility {
                    plausibility.ran(self.connection.waited);
                }
                Ok(outputs)
            }
            other => Err(self.unexpected(&Request::Outputs, &other)),
        }
    }

    fn block(&mut self, plan: &BlockPlan) -> Result<BlockReport, SessionError> {
        let request = Request::Block { plan: *plan };
        let planned = Duration::from_nanos(plan.min_ns.saturating_add(plan.discard_ns));
        let known = self.plausibility.as_ref();
        let counted = known.map_or(Duration::ZERO, |known| known.counted_calls(plan));
        let limit = self.limits.work.saturating_add(planned).saturating_add(counted);
        let (answer, losses) = self.counted(|worker| worker.ask(&request, limit));
        let answer = answer?;
        self.losses = losses;
        let waited_ns = u64::try_from(self.connection.waited.as_nanos()).unwrap_or(u64::MAX);
        let Answer::Block(report) = answer else {
            return Err(self.unexpected(&request, &answer));
        };
        let is_interrupted = self.connection.interruption.is_some();
        let plausibility = self.plausibility.as_mut();
        match plausibility.map(|known| known.check(&report, plan, waited_ns, is_interrupted)) {
            Some(Err(what)) => Err(self.give_up(&request, what)),
            Some(Ok(doubt)) => {
                self.connection.interruption = self.connection.interruption.or(doubt);
                Ok(report)
            }
            None => Ok(report),
        }
    }

    fn release(&mut self) -> Result<(), SessionError> {
        self.plausibility = None;
        match self.ask(&Request::Release, self.limits.reply)? {
            Answer::Released => Ok(()),
            other => Err(self.unexpected(&Request::Release, &other)),
        }
    }

    fn interruption(&self) -> Option<Interruption> {
        self.connection.interruption
    }

    fn losses(&self) -> Option<Losses> {
        self.losses
    }

    fn pid(&self) -> Option<u32> {
        self.connection.child.as_ref().map(Child::id)
    }
}
