//! Which jobs are done, and under which conditions.

use std::ffi::CStr;

use gmp_mpfr_sys::gmp;
use rsalab_engines::{Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, kit};

use crate::{
    arithmetic,
    block::{self, PrivateVariant, PublicVariant},
    generate::{self, Search},
    path,
};

/// Variants of the private operation, the default first.
const PRIVATE: [(&str, PrivateVariant); 4] = [
    ("powm_sec", PrivateVariant::CrtSecret),
    ("powm", PrivateVariant::CrtVartime),
    ("plain_powm_sec", PrivateVariant::PlainSecret),
    ("plain_powm", PrivateVariant::PlainVartime),
];

/// Variants of the public operation, the default first. `plain_powm_sec` is `powm_sec` here, where there is no CRT to
/// leave out: one name asks for article (b)'s encryption and for its decryption.
const PUBLIC: [(&str, PublicVariant); 3] = [
    ("powm", PublicVariant::Vartime),
    ("powm_sec", PublicVariant::Secret),
    ("plain_powm_sec", PublicVariant::Secret),
];

/// Variants of the search for primes, the default first.
const SEARCHES: [(&str, Search); 2] = [("random", Search::Random), ("nextprime", Search::NextPrime)];

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
            origin: format!("gmp-mpfr-sys, linked statically, compiled with {}", compiler_flags()),
            cpu_path: Some(path::describe()),
            variants: [kit::names(&PRIVATE), kit::names(&SEARCHES)].concat(),
            optimised: OPTIMISED
                && compiler_flags()
                    .split_whitespace()
                    .any(|flag| flag.starts_with("-O") && flag != "-O0"),
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err(
                "this engine neither blinds nor checks in any variant; leave out the wish for a bare one".into(),
            );
        }
        let numbers = Ledger::native("numbers, once per thread");
        Ok(match job.op {
            Op::Private => {
                use PrivateVariant::{CrtSecret, CrtVartime, PlainSecret};
                let variant = kit::variant(job, &PRIVATE)?;
                Ledger {
                    crt: Some(matches!(variant, CrtSecret | CrtVartime)),
                    blinding: Some(false),
                    result_check: Some(false),
                    constant_time: Some(matches!(variant, CrtSecret | PlainSecret)),
                    ..Ledger::native("key read, once per thread; nothing precomputed from the moduli")
                }
            }
            Op::Public => Ledger {
                // Public data needs no such claim; `mpz_powm_sec` makes it all the same, and its price is in the time.
                constant_time: (kit::variant(job, &PUBLIC)? == PublicVariant::Secret).then_some(true),
                exponent: Some(job.exponent),
                ..Ledger::native("key read, once per thread; nothing precomputed from the modulus")
            },
            Op::Keygen | Op::PrimePair | Op::PrimeSearch => {
                let (rounds, sieve) = conditions(search(job)?, job.bits / 2);
                kit::even_bits(job)?;
                Ledger {
                    rounds: Some(rounds),
                    sieve: Some(sieve),
                    exponent: (job.op != Op::PrimeSearch).then_some(job.exponent),
                    ..numbers
                }
            }
            Op::Sign | Op::Verify => {
                return Err("GMP has numbers and no padding; 'private' and 'public' are what it does of it".into());
            }
            Op::Totient | Op::PrivateExponent => {
                kit::only_variant(job)?;
                Ledger {
                    constant_time: Some(false),
                    exponent: (job.op == Op::PrivateExponent).then_some(job.exponent),
                    ..numbers
                }
            }
            other => return Err(kit::not_done("gmp", other)),
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        Ok(match job.op {
            Op::Private => block::private(kit::variant(job, &PRIVATE)?, kit::key(job, keys)?)?,
            Op::Public => block::public(kit::variant(job, &PUBLIC)?, kit::key(job, keys)?),
            Op::Keygen | Op::PrimePair => generate::generation(search(job)?, job),
            Op::PrimeSearch => generate::candidates(job),
            Op::Totient => arithmetic::totient(job),
            Op::PrivateExponent => arithmetic::private_exponent(job),
            other => return Err(kit::not_done("gmp", other).into()),
        })
    }
}

/// How a job searches for primes. Among given candidates there is one way only.
fn search(job: &Job) -> Result<Search, Reason> {
    match job.op {
        Op::PrimeSearch => kit::variant(job, &SEARCHES[..1]),
        _ => kit::variant(job, &SEARCHES),
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

fn compiler_flags() -> String {
    // SAFETY: a static string that nothing writes to.
    unsafe { CStr::from_ptr(gmp::CFLAGS) }.to_string_lossy().into_owned()
}
