//! Which jobs are done, and under which conditions.

use std::ffi::CStr;

use gmp_mpfr_sys::gmp;
use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey,
    ledger::{ClockOwner, ThreadOwner},
};

use crate::{
    arithmetic::{PreparedExponent, PreparedTotient},
    block::{BlockOperation, PreparedBlocks, PrivateForm, PublicForm},
    generate::{PreparedCandidates, PreparedGeneration, Search},
    path,
};

/// Forms of the private operation, the default first.
const PRIVATE_FORMS: [(&str, PrivateForm); 4] = [
    ("powm_sec", PrivateForm::CrtSecret),
    ("powm", PrivateForm::CrtVartime),
    ("plain_powm_sec", PrivateForm::PlainSecret),
    ("plain_powm", PrivateForm::PlainVartime),
];

/// Forms of the public operation, the default first. `plain_powm_sec` is `powm_sec` here, where there is no CRT to leave out: one name asks for
/// article (b)'s encryption and for its decryption.
const PUBLIC_FORMS: [(&str, PublicForm); 3] = [
    ("powm", PublicForm::Vartime),
    ("powm_sec", PublicForm::Secret),
    ("plain_powm_sec", PublicForm::Secret),
];

/// Forms of the search for primes, the default first.
const SEARCHES: [(&str, Search); 2] =
    [("random", Search::Random), ("nextprime", Search::NextPrime)];

/// GMP as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct GmpEngine;

impl Engine for GmpEngine {
    fn info(&self) -> EngineInfo {
        // SAFETY: `gmp_version` is a static string that nothing writes to.
        let version = unsafe { CStr::from_ptr(gmp::version) };
        EngineInfo {
            name: "gmp".to_owned(),
            version: format!("GMP {}", version.to_string_lossy()),
            origin: format!(
                "gmp-mpfr-sys, linked statically, compiled with {}",
                compiler_flags()
            ),
            cpu_path: Some(path::describe()),
            variants: PRIVATE_FORMS
                .iter()
                .map(|(name, _)| name)
                .chain(SEARCHES.iter().map(|(name, _)| name))
                .map(|name| (*name).to_owned())
                .collect(),
            optimised: OPTIMISED
                && compiler_flags()
                    .split_whitespace()
                    .any(|flag| flag.starts_with("-O") && flag != "-O0"),
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("this engine neither blinds nor checks in any form; leave out the wish for a bare one".into());
        }
        let plain = Ledger {
            crt: None,
            blinding: None,
            result_check: None,
            constant_time: None,
            rounds: None,
            sieve: None,
            exponent: None,
            padding: None,
            setup: "numbers, once per thread".to_owned(),
            lanes: 1,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Harness,
        };
        Ok(match job.op {
            Op::Private => {
                let form = form(job, &PRIVATE_FORMS)?;
                Ledger {
                    crt: Some(matches!(
                        form,
                        PrivateForm::CrtSecret | PrivateForm::CrtVartime
                    )),
                    blinding: Some(false),
                    result_check: Some(false),
                    constant_time: Some(matches!(
                        form,
                        PrivateForm::CrtSecret | PrivateForm::PlainSecret
                    )),
                    setup: "key read, once per thread; nothing precomputed from the moduli"
                        .to_owned(),
                    ..plain
                }
            }
            Op::Public => {
                let form = form(job, &PUBLIC_FORMS)?;
                Ledger {
                    // Public data needs no such claim; `mpz_powm_sec` makes it all the same, and its price is in the time.
                    constant_time: (form == PublicForm::Secret).then_some(true),
                    exponent: Some(job.exponent),
                    setup: "key read, once per thread; nothing precomputed from the modulus"
                        .to_owned(),
                    ..plain
                }
            }
            Op::Keygen | Op::PrimePair => {
                let search = form(job, &SEARCHES)?;
                if job.bits % 2 == 1 {
                    return Err("this engine makes two primes of one size, and so moduli of an even number of bits only".into());
                }
                let (rounds, sieve) = conditions(search, job.bits / 2);
                Ledger {
                    rounds: Some(rounds),
                    sieve: Some(sieve),
                    exponent: Some(job.exponent),
                    ..plain
                }
            }
            Op::PrimeSearch => {
                let search = form(job, &SEARCHES[..1])?;
                if job.bits % 2 == 1 {
                    return Err(
                        "two primes of one size make moduli of an even number of bits only".into(),
                    );
                }
                let (rounds, sieve) = conditions(search, job.bits / 2);
                Ledger {
                    rounds: Some(rounds),
                    sieve: Some(sieve),
                    ..plain
                }
            }
            Op::Sign | Op::Verify => {
                return Err(
                    "GMP has numbers and no padding; 'private' and 'public' are what it does of it"
                        .into(),
                );
            }
            Op::Totient => {
                one_form(job)?;
                Ledger {
                    constant_time: Some(false),
                    ..plain
                }
            }
            Op::PrivateExponent => {
                one_form(job)?;
                Ledger {
                    constant_time: Some(false),
                    exponent: Some(job.exponent),
                    ..plain
                }
            }
            other => return Err(not_done(other)),
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job).map_err(EngineError::Unsupported)?;
        let key = || {
            keys.first()
                .ok_or_else(|| EngineError::Key(format!("'{}' needs one and got none", job.op)))
        };
        Ok(match job.op {
            Op::Private => {
                let form = form(job, &PRIVATE_FORMS).map_err(EngineError::Unsupported)?;
                Box::new(PreparedBlocks::new(BlockOperation::Private(form), key()?)?)
            }
            Op::Public => {
                let form = form(job, &PUBLIC_FORMS).map_err(EngineError::Unsupported)?;
                Box::new(PreparedBlocks::new(BlockOperation::Public(form), key()?)?)
            }
            Op::Keygen | Op::PrimePair => {
                let search = form(job, &SEARCHES).map_err(EngineError::Unsupported)?;
                Box::new(PreparedGeneration::new(search, job))
            }
            Op::PrimeSearch => Box::new(PreparedCandidates::new(job)),
            Op::Totient => Box::new(PreparedTotient::new(job)),
            Op::PrivateExponent => Box::new(PreparedExponent::new(job)),
            other => return Err(EngineError::Unsupported(not_done(other))),
        })
    }
}

/// The form that a job names, or the first.
fn form<T: Copy>(job: &Job, forms: &[(&str, T)]) -> Result<T, Reason> {
    let Some(wanted) = &job.variant else {
        return Ok(forms[0].1);
    };
    let named = forms.iter().find(|(name, _)| name == wanted);
    named.map(|(_, form)| *form).ok_or_else(|| {
        let names: Vec<_> = forms.iter().map(|(name, _)| *name).collect();
        Reason(format!(
            "'{}' has no form '{wanted}'; it has {}",
            job.op,
            names.join(", ")
        ))
    })
}

/// Refuses a job that names a form of an operation that has no more than one.
fn one_form(job: &Job) -> Result<(), Reason> {
    match &job.variant {
        None => Ok(()),
        Some(wanted) => Err(Reason(format!(
            "'{}' has no form '{wanted}'; it has one only",
            job.op
        ))),
    }
}

/// Tests and sieve of a search, from GMP 6.3's `mpz/pprime_p.c`, `mpz/millerrabin.c` and `mpz/nextprime.c`.
fn conditions(search: Search, prime_bits: usize) -> (String, String) {
    match search {
        Search::Random => (
            "Baillie-PSW and none of Miller-Rabin (mpz_probab_prime_p, 5 reps less 24)".to_owned(),
            format!("trial division by the primes below {prime_bits}; independent candidates"),
        ),
        Search::NextPrime => {
            // `calculate_sievelimit`: bits^(5/2) / 124.
            let limit = ((prime_bits as f64).powf(2.5) / 124.0) as u64;
            (
                "Baillie-PSW and 1 of Miller-Rabin (mpz_nextprime)".to_owned(),
                format!("sieve by the primes below {limit}; candidates upward from a random start"),
            )
        }
    }
}

fn not_done(op: Op) -> Reason {
    Reason(format!("gmp does not do '{op}'"))
}

fn compiler_flags() -> String {
    // SAFETY: a static string that nothing writes to.
    unsafe { CStr::from_ptr(gmp::CFLAGS) }
        .to_string_lossy()
        .into_owned()
}
