//! A key that a measured engine made, checked and completed: engines give primes and a private exponent, and know no files.

use std::sync::Arc;

use rsalab_engines::{Exponent, Job, Limits, Op, Session, SessionError, StudyKey, Worker, verify};
use rsalab_rsa::{PrivateKey, keys::Weakness, random::WorkerRng};
use zeroize::Zeroizing;

use crate::{
    commands::selection::{installed, known, registry},
    exit::{Class, Failure, Result},
    signals::Stop,
};

/// Has an engine make a key, which is verified as in a study before it is used. With it comes the kernel that made it.
pub(super) fn make(
    engine: &str,
    bits: usize,
    exponent: Exponent,
    stop: &Stop,
) -> Result<(PrivateKey, String)> {
    if exponent == Exponent::Random {
        let what = "engines make keys with a public exponent that is a number";
        return Err(
            Failure::new(Class::Usage, what).advice("leave out --engine, or name the exponent")
        );
    }
    let registry = registry()?;
    let selectors = known(&registry, &[engine.to_owned()])?;
    let selector = selectors.first().expect("one was asked for");
    let location = installed(&registry, selector)?;
    let job = Job {
        variant: selector.variant.clone(),
        exponent,
        ..Job::new(Op::Keygen, bits)
    };
    // The engine asks the system itself, without our test of what the system gives.
    WorkerRng::from_system().map_err(|error| Failure::step("no key was made", error))?;
    let failed = |error: SessionError| match stop.class() {
        Some(class) => Failure::new(class, "stopped; no key was made"),
        None => Failure::new(Class::Unavailable, format!("{engine} made no key")).because(error),
    };
    let mut worker = Worker::spawn_until(&location, Limits::default(), Arc::clone(stop.flag()))
        .map_err(failed)?;
    if let Err(reason) = worker.supports(&job).map_err(failed)? {
        let what = format!("{engine} does not make such a key: {reason}");
        return Err(Failure::new(Class::Unavailable, what)
            .advice("'rsalab engines' lists the engines and their variants"));
    }
    let kernel = worker.prepare(&job, &[], &[]).map_err(failed)?.kernel;
    let made = Zeroizing::new(worker.outputs().map_err(failed)?);
    let key = checked(&job, &made).map_err(|wrong| {
        let what = format!("{engine} made a key that is invalid, and it was not kept");
        Failure::new(Class::Verification, what).because(wrong)
    })?;
    Ok((key, kernel))
}

/// The key of an engine's `p ‖ q ‖ d`: primes and exponent are verified without any engine, and the rest is derived anew.
fn checked(job: &Job, made: &[u8]) -> Result<PrivateKey, Box<dyn std::error::Error + Send + Sync>> {
    let layout = job.layout();
    if made.len() != layout.output {
        return Err(format!("{} bytes instead of {}", made.len(), layout.output).into());
    }
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
            Weakness::ShortModulus { .. }
                | Weakness::SmallExponent
                | Weakness::LargeExponent { .. }
        )
    };
    match key.weaknesses().into_iter().find(is_ours) {
        Some(weakness) => Err(weakness.to_string().into()),
        None => Ok(key),
    }
}
