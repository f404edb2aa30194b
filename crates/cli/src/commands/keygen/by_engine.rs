//! Keys that a measured engine makes, checked and completed: engines give primes and a private exponent, and know no
//! files.

use std::sync::Arc;

use rsalab_engines::{Exponent, Job, Limits, Mode, Op, Session, SessionError, StudyKey, Worker, verify};
use rsalab_rsa::{PrivateKey, keys::Weakness, random::WorkerRng};
use zeroize::Zeroizing;

use crate::{
    commands::selection::{installed, known, registry},
    exit::{Class, Failure, Result},
    signals::Stop,
};

/// Keys that each thread makes before they are handed over.
const BATCH: usize = 8;

/// An engine at work: a process that makes keys, on as many threads as it and the number of keys have use for.
pub(super) struct EngineKeys<'a> {
    engine: &'a str,
    job: Job,
    worker: Worker,
    stop: &'a Stop,
    /// The code path that it chose.
    pub(super) kernel: String,
}

impl<'a> EngineKeys<'a> {
    /// Starts the engine for `count` keys, of which there is at least one.
    ///
    /// # Errors
    /// It is not known, not installed, or makes no such keys.
    pub(super) fn start(
        engine: &'a str,
        bits: usize,
        exponent: Exponent,
        count: usize,
        threads: usize,
        stop: &'a Stop,
    ) -> Result<Self> {
        if exponent == Exponent::Random {
            let what = "engines make keys with a public exponent that is a number";
            return Err(Failure::new(Class::Usage, what).advice("leave out --engine, or name the exponent"));
        }
        let registry = registry()?;
        let selectors = known(&registry, &[engine.to_owned()])?;
        let selector = selectors.first().expect("one was asked for");
        let location = installed(&registry, selector)?;
        // The engine asks the system itself, without our test of what the system gives.
        WorkerRng::from_system().map_err(|error| Failure::step("no key was made", error))?;
        let failed = |error| failure(engine, stop, error);
        let mut worker = Worker::spawn_until(&location, Limits::default(), Arc::clone(stop.flag())).map_err(failed)?;
        let threads = threads.min(count);
        // Not every engine makes several at once, or on several threads.
        let mut refusal = None;
        for (threads, batch) in [(threads, count.div_ceil(threads).min(BATCH)), (threads, 1), (1, 1)] {
            let job = Job {
                variant: selector.variant.clone(),
                exponent,
                mode: Mode::Throughput,
                threads,
                batch,
                ..Job::new(Op::Keygen, bits)
            };
            match worker.supports(&job).map_err(failed)? {
                Ok(_) => {
                    let kernel = worker.prepare(&job, &[], &[]).map_err(failed)?.kernel;
                    return Ok(EngineKeys {
                        engine,
                        job,
                        worker,
                        stop,
                        kernel,
                    });
                }
                Err(reason) => refusal = Some(reason),
            }
        }
        let reason = refusal.expect("three forms were tried");
        let what = format!("{engine} does not make such a key: {reason}");
        Err(Failure::new(Class::Unavailable, what).advice("'rsalab engines' lists the engines and their variants"))
    }

    /// Threads that it makes keys on.
    pub(super) fn threads(&self) -> usize {
        self.job.threads
    }

    /// The next keys, each verified as in a study.
    pub(super) fn next(&mut self) -> Result<Vec<PrivateKey>> {
        let made = self
            .worker
            .outputs()
            .map_err(|error| failure(self.engine, self.stop, error))?;
        let made = Zeroizing::new(made);
        let item = self.job.layout().output;
        if made.is_empty() || !made.len().is_multiple_of(item) {
            return Err(self.invalid(format!("{} bytes instead of keys of {item}", made.len()).into()));
        }
        let keys = made.chunks(item).map(|made| checked(&self.job, made));
        keys.collect::<Result<_, _>>().map_err(|wrong| self.invalid(wrong))
    }

    fn invalid(&self, wrong: Wrong) -> Failure {
        let what = format!("{} made a key that is invalid, and it was not kept", self.engine);
        Failure::new(Class::Verification, what).because(wrong)
    }
}

type Wrong = Box<dyn std::error::Error + Send + Sync>;

fn failure(engine: &str, stop: &Stop, error: SessionError) -> Failure {
    match stop.class() {
        Some(class) => Failure::new(class, "stopped; no key was made"),
        None => Failure::new(Class::Unavailable, format!("{engine} made no key")).because(error),
    }
}

/// The key of an engine's `p ‖ q ‖ d`: primes and exponent are verified without any engine, and the rest is derived
/// anew.
fn checked(job: &Job, made: &[u8]) -> Result<PrivateKey, Wrong> {
    let prime = Op::PrimePair.layout(job.bits, 0).output / 2;
    let (p, q) = (&made[..prime], &made[prime..2 * prime]);
    // Big-endian strings of one length compare as the integers do.
    let (p, q) = if p > q { (p, q) } else { (q, p) };
    let key = PrivateKey::from_primes(p, q, &job.fixed_exponent().to_be_bytes())?;
    verify(job, &StudyKey::from(&key), &[], made)?;
    // Primes can protect nothing although they are prime. The size and the exponent are what was asked for.
    let is_ours = |weakness: &Weakness| {
        !matches!(
            weakness,
            Weakness::ShortModulus { .. } | Weakness::SmallExponent | Weakness::LargeExponent { .. }
        )
    };
    match key.weaknesses().into_iter().find(is_ours) {
        Some(weakness) => Err(weakness.to_string().into()),
        None => Ok(key),
    }
}
