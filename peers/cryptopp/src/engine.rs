//! Which jobs are done, under which conditions, and the doing.

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, kit, op::DIGEST_BYTES,
};

use crate::shim::{self, Operation, Worker};

/// Variants of the private operation, the default first.
const PRIVATE: [(&str, Operation); 3] = [
    ("inverse", Operation::Inverse),
    ("crt", Operation::Root),
    (PLAIN, Operation::Power),
];

/// Without CRT, which is all that the public operation can be.
const PLAIN: &str = "plain";

/// Crypto++ as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct CryptoppEngine;

impl Engine for CryptoppEngine {
    fn info(&self) -> EngineInfo {
        let version = shim::version();
        EngineInfo {
            name: "cryptopp".to_owned(),
            version: format!("Crypto++ {}.{}.{}", version / 100, version / 10 % 10, version % 10),
            origin: option_env!("RSALAB_CRYPTOPP_ORIGIN")
                .unwrap_or("the system's libcrypto++")
                .to_owned(),
            cpu_path: None,
            variants: kit::names(&PRIVATE),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("this engine is bare in its variants 'crt' and 'plain'".into());
        }
        let with_key = |setup| Ledger::native(setup).padded_for(job.op);
        let seeded = Ledger::native("generator seeded, once per thread");
        // `rsa.cpp` and `nbtheory.cpp` of Crypto++ 8.7, here and below.
        Ok(match task(job)? {
            Task::Blocks(Operation::Public) | Task::Verifying => Ledger {
                exponent: Some(job.exponent),
                ..with_key("key read, once per thread; Montgomery constants in every call")
            },
            Task::Blocks(operation @ (Operation::Root | Operation::Power)) => Ledger {
                crt: Some(operation == Operation::Root),
                blinding: Some(false),
                result_check: Some(false),
                constant_time: Some(false),
                ..with_key("key read, once per thread; Montgomery constants in every call")
            },
            Task::Blocks(Operation::Inverse) | Task::Signing => Ledger {
                crt: Some(true),
                blinding: Some(true),
                result_check: Some(true),
                constant_time: Some(false),
                ..with_key("key read, once per thread; Montgomery constants and a blinding pair in every call")
            },
            Task::Candidates => Ledger {
                rounds: Some("2 of Miller-Rabin with bases 3 and 2, and a strong Lucas test".to_owned()),
                sieve: Some("trial division by the primes below 2^15".to_owned()),
                ..seeded
            },
            Task::Keys | Task::PrimePairs => Ledger {
                rounds: Some("2 of Miller-Rabin with bases 2 and 3, and a strong Lucas test".to_owned()),
                sieve: Some("the primes below 2^15; candidates upward from a random start".to_owned()),
                exponent: Some(job.exponent),
                ..seeded
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        // Each thread reads the key for itself: the library's numbers are not meant to be shared.
        let key = || kit::key(job, keys).cloned();
        let (bits, exponent) = (job.bits, job.exponent.fixed());
        let exponent = exponent.unwrap_or_default();
        Ok(match task(job)? {
            Task::Blocks(operation) => {
                let key = key()?;
                kit::blocks(operation.call(), &key.clone(), move || {
                    let mut worker = Worker::with_key(&key)?;
                    Ok(move |input: &[u8], output: &mut [u8]| worker.apply(operation, input, output))
                })
            }
            Task::Signing => {
                let key = key()?;
                kit::items("SignMessage", job, move || {
                    let mut worker = Worker::with_key(&key)?;
                    Ok(move |digest: &[u8], signature: &mut [u8]| worker.sign(digest, signature))
                })
            }
            Task::Verifying => {
                let key = key()?;
                kit::items("VerifyMessage", job, move || {
                    let mut worker = Worker::with_key(&key)?;
                    Ok(move |signed: &[u8], verdict: &mut [u8]| {
                        let (digest, signature) = signed.split_at(DIGEST_BYTES);
                        verdict[0] = u8::from(worker.verify(digest, signature)?);
                        Ok(())
                    })
                })
            }
            Task::Candidates => kit::items("IsPrime", job, || {
                let mut worker = Worker::new()?;
                Ok(move |candidates: &[u8], primes: &mut [u8]| {
                    kit::first_two_primes(candidates, primes, |number| worker.is_prime(number))
                })
            }),
            // The library does not say how many candidates it tested.
            Task::Keys => kit::items("InvertibleRSAFunction::GenerateRandom", job, move || {
                let mut worker = Worker::new()?;
                Ok(move |_: &[u8], output: &mut [u8]| {
                    let [p, q, d] = kit::split_key(bits, output);
                    worker.generate(bits, exponent, p, q, d)
                })
            }),
            Task::PrimePairs => kit::items("Integer::GenerateRandom", job, move || {
                let mut worker = Worker::new()?;
                Ok(move |_: &[u8], output: &mut [u8]| {
                    let [p, q, _] = kit::split_key(bits, output);
                    kit::fit_pair(bits / 2, exponent, p, q, |prime| worker.prime(bits, prime))
                })
            }),
        })
    }
}

/// A job's task.
enum Task {
    Blocks(Operation),
    Signing,
    Verifying,
    Candidates,
    Keys,
    PrimePairs,
}

fn task(job: &Job) -> Result<Task, Reason> {
    match (job.op, job.variant.as_deref()) {
        (Op::Private, _) => return kit::variant(job, &PRIVATE).map(Task::Blocks),
        (Op::Public, Some(PLAIN)) => return Ok(Task::Blocks(Operation::Public)),
        _ => kit::only_variant(job)?,
    }
    match job.op {
        Op::Public => Ok(Task::Blocks(Operation::Public)),
        Op::Sign => kit::digest_fits(job).map(|()| Task::Signing),
        Op::Verify => kit::digest_fits(job).map(|()| Task::Verifying),
        Op::PrimeSearch => kit::even_bits(job).map(|()| Task::Candidates),
        Op::Keygen => kit::even_bits(job).map(|()| Task::Keys),
        Op::PrimePair => kit::even_bits(job).map(|()| Task::PrimePairs),
        other => Err(kit::not_done("cryptopp", other)),
    }
}
