//! The engine `own`: this project's arithmetic, through the functions that its tools use.
//!
//! Blocks, signatures, keys and primes are `backed` by the CPU; the steps of key set-up, totient and private exponent,
//! are in `setup`.
//!
//! The one thing here that no tool can do is the private operation without blinding and without the check of its result
//! ([`Job::bare`]), to be compared with peers that do neither. Where there is nothing to blind or to check, a bare job
//! is the same as any other.

mod import;
mod setup;

use rsalab_rsa::{
    Backend, CpuBackend, Kernel, Operation, generate::miller_rabin_rounds, kernels, primality::ROUNDS_BEFORE_USE,
};

use crate::{
    backed::{Bulk, Keyed, Screened, private_by_turns, private_key, public_key, refused, strict},
    engine::{Engine, EngineError, EngineInfo, Prepared},
    ensure,
    job::{Job, StudyKey},
    kit,
    ledger::{Ledger, Reason},
    op::Op,
};

const PLAIN: &str = Own::PLAIN;
const STRICT: &str = Own::STRICT;
const TESTED: &str = Own::TESTED;

/// Our own engine. Its variants are the kernels of this machine; `plain`, without the CRT; `strict`, whose candidates
/// for primes are all drawn anew; and `tested`, which tests the primes of a key that it imports.
pub struct Own {
    kernel: Kernel,
    /// `true` if a batch may run on another kernel that is faster for as many items.
    chooses: bool,
}

impl Own {
    /// The variant without the CRT, on the kernel that the engine prefers or was given.
    pub const PLAIN: &str = "plain";

    /// The variant that draws every candidate for a prime anew, as the standard says.
    pub const STRICT: &str = "strict";

    /// The variant that tests the primes of a key that it imports.
    pub const TESTED: &str = "tested";

    /// With the fastest kernel that this CPU can run, for each number of items.
    pub fn auto() -> Self {
        Own {
            kernel: Kernel::auto(),
            chooses: true,
        }
    }

    /// With the kernel of this name for every job that does not name one itself.
    ///
    /// # Errors
    /// If there is no such kernel, or this machine cannot run it; the reason names those it can.
    pub fn with_kernel(name: &str) -> Result<Self, Reason> {
        let chooses = false;
        kernel_named(name).map(|kernel| Own { kernel, chooses })
    }

    fn kernel_of(&self, job: &Job) -> Result<Kernel, Reason> {
        match job.variant.as_deref() {
            None if self.chooses => Ok(match job.op {
                Op::Private | Op::Sign | Op::SignMessage if job.keys == 1 => {
                    Kernel::for_batch(Operation::Private, job.bits, job.batch)
                }
                Op::Public | Op::Verify => Kernel::for_batch(Operation::Public, job.bits, job.batch),
                _ => self.kernel,
            }),
            None | Some(PLAIN | STRICT | TESTED) => Ok(self.kernel),
            Some(name) => kernel_named(name),
        }
    }

    /// The backend that a job runs on: where it may be, the one that chooses for each call.
    fn backend_of(&self, job: &Job) -> Result<CpuBackend, Reason> {
        Ok(match job.variant {
            None if self.chooses => CpuBackend::auto(),
            _ => CpuBackend::new(self.kernel_of(job)?),
        })
    }
}

impl Engine for Own {
    fn info(&self) -> EngineInfo {
        let preferred = self.kernel.name();
        let others = available().filter(|name| *name != preferred);
        EngineInfo {
            name: "own".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            origin: "this program".to_owned(),
            cpu_path: Some(preferred.to_owned()),
            variants: [preferred]
                .into_iter()
                .chain(others)
                .chain([PLAIN, STRICT, TESTED])
                .map(str::to_owned)
                .collect(),
            optimised: crate::OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        let kernel = self.kernel_of(job)?;
        let Job { op, .. } = job;
        let has_crt = has_crt(job);
        ensure!(
            has_crt || matches!(op, Op::Private | Op::Public),
            "'{PLAIN}' is raising a block to the whole exponent, which '{op}' is not"
        );
        let is_search = matches!(job.op, Op::Keygen | Op::PrimePair | Op::PrimeSearch);
        ensure!(
            job.variant.as_deref() != Some(STRICT) || is_search,
            "'{STRICT}' is a way to search for primes, which '{op}' is not"
        );
        ensure!(
            job.variant.as_deref() != Some(TESTED) || job.op == Op::ImportPrivate,
            "'{TESTED}' tests the primes of a private key that is imported, which '{op}' is not"
        );
        let ledger = Ledger {
            constant_time: Some(true),
            ..Ledger::native("none").padded_for(job.op)
        };
        match job.op {
            Op::Private | Op::Sign | Op::SignMessage => Ok(Ledger {
                keys: is_multi_key(job).then_some(job.keys),
                crt: Some(has_crt),
                blinding: Some(!job.bare),
                result_check: Some(!job.bare),
                setup: [
                    "key checked, Montgomery constants, ",
                    if has_crt {
                        "CRT parameters, recoded exponents"
                    } else {
                        "recoded exponent"
                    },
                    if job.bare {
                        ""
                    } else {
                        "; the first blinding pair of each thread"
                    },
                ]
                .concat(),
                lanes: kernel.lanes(),
                ..ledger.of_all_primes(job.primes)
            }),
            Op::Public | Op::Verify => Ok(Ledger {
                constant_time: None,
                exponent: Some(job.exponent),
                setup: "Montgomery constants".to_owned(),
                lanes: kernel.lanes(),
                ..ledger
            }),
            Op::Screen => Ok(Ledger {
                constant_time: None,
                exponent: Some(job.exponent),
                setup: "Montgomery constants of the power; those of the products are in the time".to_owned(),
                lanes: kernel.lanes(),
                ..ledger
            }),
            Op::Keygen | Op::PrimePair | Op::PrimeSearch => kit::even_bits(job).map(|()| Ledger {
                rounds: Some(format!(
                    "{} Miller–Rabin, random bases",
                    miller_rabin_rounds(job.bits / 2)
                )),
                sieve: Some(
                    match is_strict(job) {
                        true => "trial division, each candidate drawn anew",
                        false => "random starts, sieved in constant time, and a test to base 2",
                    }
                    .to_owned(),
                ),
                exponent: Some(job.exponent),
                lanes: kernel.lanes(),
                ..ledger
            }),
            Op::Totient => Ok(ledger),
            Op::PrivateExponent => Ok(Ledger {
                exponent: Some(job.exponent),
                ..ledger
            }),
            Op::ImportPrivate => Ok(Ledger {
                rounds: Some(match job.variant.as_deref() {
                    Some(TESTED) => format!("every relation, {ROUNDS_BEFORE_USE} Miller–Rabin, random bases"),
                    _ => "every relation, no test of primes".to_owned(),
                }),
                lanes: kernel.lanes(),
                setup: String::new(),
                ..ledger
            }),
            Op::ImportVerify => Ok(Ledger {
                constant_time: None,
                exponent: Some(job.exponent),
                setup: String::new(),
                ..ledger
            }),
            Op::Handshake | Op::HandshakeServer | Op::HandshakeResumed => {
                Err("TLS handshakes under its signatures are measured as 'rustls:own'".into())
            }
            Op::TextEncrypt | Op::TextDecrypt => Err("texts are cut into blocks by the harness".into()),
        }
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let backend = self.backend_of(job)?;
        Ok(match job.op {
            Op::Private | Op::Sign if is_multi_key(job) => {
                Box::new(Keyed::new(private_by_turns(&backend, job, keys)?, job)?)
            }
            Op::Private | Op::Sign | Op::SignMessage => {
                let prepared = private(&backend, self.kernel_of(job)?, keys, job)?;
                Box::new(Keyed::new(prepared, job)?)
            }
            Op::Public | Op::Verify => {
                let key = backend.prepare_public(&public_key(job, keys)?);
                Box::new(Keyed::new(key.map_err(refused)?, job)?)
            }
            Op::Screen => Box::new(Screened::new(&public_key(job, keys)?, &backend, job)?),
            Op::Totient => setup::totients(job),
            Op::PrivateExponent => setup::private_exponents(job),
            Op::ImportPrivate => {
                let is_tested = job.variant.as_deref() == Some(TESTED);
                import::private_keys(job, is_tested.then_some(backend))
            }
            Op::ImportVerify => import::verifications(job, backend),
            _ if is_strict(job) => strict(backend, job),
            _ => Box::new(Bulk::new(Box::new(backend), job)?),
        })
    }
}

/// Returns whether primes are to be searched for by the letter of the standard, or among given candidates.
fn is_strict(job: &Job) -> bool {
    job.op == Op::PrimeSearch || job.variant.as_deref() == Some(STRICT)
}

/// Returns whether the private operation is to take the CRT.
fn has_crt(job: &Job) -> bool {
    job.variant.as_deref() != Some(PLAIN)
}

/// Returns whether the items of a batch, each under a key of its own, are done together.
fn is_multi_key(job: &Job) -> bool {
    job.keys > 1 && has_crt(job) && !job.bare
}

/// The key for its private operation, in the job's variant.
fn private(
    backend: &CpuBackend,
    kernel: Kernel,
    keys: &[StudyKey],
    job: &Job,
) -> Result<Box<dyn rsalab_rsa::Prepared>, EngineError> {
    let key = private_key(job, keys)?;
    match (has_crt(job), job.bare) {
        (true, false) => backend.prepare_private(&key),
        (true, true) => CpuBackend::new(kernel).prepare_bare_private(&key),
        (false, false) => backend.prepare_private_without_crt(&key),
        (false, true) => backend.prepare_bare_private_without_crt(&key),
    }
    .map_err(refused)
}

fn kernel_named(name: &str) -> Result<Kernel, Reason> {
    Kernel::named(name).map_err(|error| {
        let available: Vec<&str> = available().collect();
        Reason(format!("{error}; this machine has {}", available.join(", ")))
    })
}

/// The kernels that this machine can run, the preferred one first.
fn available() -> impl Iterator<Item = &'static str> {
    kernels()
        .into_iter()
        .filter(|kernel| kernel.available.is_ok())
        .map(|kernel| kernel.name)
}
