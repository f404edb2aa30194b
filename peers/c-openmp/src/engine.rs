//! Which jobs are done, under which conditions, and the doing.

use rsalab_engines::{Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, kit};

use crate::shim::{self, Operation, Worker};

/// Variants of the private operation, the default first. `powm_sec` is another name of `plain`: one name asks for the
/// article's way in both directions.
const PRIVATE: [(&str, Operation); 3] = [
    ("plain", Operation::PrivatePlain),
    ("crt", Operation::PrivateCrt),
    ("powm_sec", Operation::PrivatePlain),
];

/// The operations of signing.
const SIGN: [(&str, Operation); 3] = [
    ("plain", Operation::SignPlain),
    ("crt", Operation::SignCrt),
    ("powm_sec", Operation::SignPlain),
];

/// Variants of the public operation, the default first.
const PUBLIC: [(&str, Operation); 2] = [("powm", Operation::Public), ("powm_sec", Operation::PublicSecret)];

/// Where GMP is from.
const GMP: &str = match option_env!("RSALAB_GMP_ORIGIN") {
    Some(origin) => origin,
    None => "the system's libgmp",
};

/// Article (b)'s C code as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArticleEngine;

impl Engine for ArticleEngine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "c-openmp".to_owned(),
            version: format!("GMP {}", shim::version()),
            origin: format!("{GMP}, one C file compiled with -O3"),
            cpu_path: None,
            variants: ["plain", "crt", "powm", "powm_sec"].map(str::to_owned).to_vec(),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err(
                "this engine neither blinds nor checks in any variant; leave out the wish for a bare one".into(),
            );
        }
        let operation = operation(job)?;
        let with_key =
            Ledger::native("key read, once per thread; nothing precomputed from the moduli").padded_for(job.op);
        let without_key = Ledger::native("numbers, once per thread");
        Ok(match operation {
            Operation::PrivatePlain | Operation::PrivateCrt | Operation::SignPlain | Operation::SignCrt => {
                let crt = matches!(operation, Operation::PrivateCrt | Operation::SignCrt);
                Ledger {
                    crt: Some(crt),
                    blinding: Some(false),
                    result_check: Some(false),
                    // `mpz_powm_sec` is GMP's constant-time one; with the CRT, `mpz_mod` and `mpz_mul` around it are
                    // not.
                    constant_time: Some(!crt),
                    ..with_key
                }
            }
            Operation::Public | Operation::PublicSecret | Operation::Verify => Ledger {
                constant_time: (operation == Operation::PublicSecret).then_some(true),
                exponent: Some(job.exponent),
                ..with_key
            },
            Operation::Keygen | Operation::PrimePair => Ledger {
                exponent: Some(job.exponent),
                ..search(job.bits / 2, without_key)
            },
            Operation::PrimeSearch => search(job.bits / 2, without_key),
            Operation::Totient => Ledger {
                constant_time: Some(false),
                ..without_key
            },
            Operation::PrivateExponent => Ledger {
                constant_time: Some(false),
                exponent: Some(job.exponent),
                ..without_key
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let operation = operation(job)?;
        let key = match job.op {
            Op::Private | Op::Public | Op::Sign | Op::Verify => Some(kit::key(job, keys)?.clone()),
            _ => None,
        };
        let counts = matches!(job.op, Op::Keygen | Op::PrimePair);
        let its_job = job.clone();
        let its_key = key.clone();
        let thread = move || {
            let mut worker = Worker::new(operation, &its_job, its_key.as_ref())?;
            Ok(move |input: &[u8], output: &mut [u8]| {
                let tests = worker.run(input, output)?;
                Ok(counts.then_some(tests))
            })
        };
        Ok(match (job.op, &key) {
            (Op::Private | Op::Public, Some(key)) => kit::blocks(kernel(operation), key, thread),
            _ => kit::items(kernel(operation), job, thread),
        })
    }
}

/// Returns the operation of the C code, or why there is none.
fn operation(job: &Job) -> Result<Operation, Reason> {
    match job.op {
        Op::Private => return kit::variant(job, &PRIVATE),
        Op::Public => return kit::variant(job, &PUBLIC),
        Op::Sign => return kit::digest_fits(job).and_then(|()| kit::variant(job, &SIGN)),
        _ => kit::only_variant(job)?,
    }
    match job.op {
        Op::Verify => kit::digest_fits(job).map(|()| Operation::Verify),
        Op::Totient => Ok(Operation::Totient),
        Op::PrivateExponent => Ok(Operation::PrivateExponent),
        Op::Keygen => kit::even_bits(job).map(|()| Operation::Keygen),
        Op::PrimePair => kit::even_bits(job).map(|()| Operation::PrimePair),
        Op::PrimeSearch => kit::even_bits(job).map(|()| Operation::PrimeSearch),
        other => Err(kit::not_done("c-openmp", other)),
    }
}

/// GMP's function.
fn kernel(operation: Operation) -> &'static str {
    match operation {
        Operation::PrivateCrt | Operation::SignCrt => "mpz_powm_sec, CRT",
        Operation::PrivatePlain | Operation::SignPlain | Operation::PublicSecret => "mpz_powm_sec",
        Operation::Public | Operation::Verify => "mpz_powm",
        Operation::Keygen | Operation::PrimePair | Operation::PrimeSearch => "mpz_probab_prime_p",
        Operation::Totient => "mpz_mul",
        Operation::PrivateExponent => "mpz_invert",
    }
}

/// With tests and sieve, from GMP's `mpz/pprime_p.c`: trial division by the primes below the candidate's bits. Since
/// 6.2 it takes 24 off the repetitions for its Baillie-PSW test, so that 5 of them add nothing to it.
fn search(prime_bits: usize, ledger: Ledger) -> Ledger {
    let version = shim::version();
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    let has_psw = (parts.next(), parts.next()) >= (Some(6), Some(2));
    let rounds = match has_psw {
        true => "Baillie-PSW and none of Miller-Rabin (mpz_probab_prime_p, 5 reps less 24)",
        false => "5 of Miller-Rabin (mpz_probab_prime_p)",
    };
    Ledger {
        rounds: Some(rounds.to_owned()),
        sieve: Some(format!(
            "trial division by the primes below {prime_bits}; independent candidates"
        )),
        ..ledger
    }
}
