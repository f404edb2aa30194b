//! Which jobs are done, under which conditions, and the doing.

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Job, Layout, Ledger, OPTIMISED, Op, Prepared, Reason,
    RunStats, Runner, StudyKey,
    candidates::first_two_primes,
    check_blocks, check_items,
    ledger::{ClockOwner, ThreadOwner},
    op::DIGEST_BYTES,
    pair::fit_pair,
};

use crate::shim::{self, Operation, Worker};

/// Forms of the private operation, the default first.
const PRIVATE_FORMS: [(&str, Operation); 3] = [
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
            version: format!(
                "Crypto++ {}.{}.{}",
                version / 100,
                version / 10 % 10,
                version % 10
            ),
            origin: "the system's libcrypto++".to_owned(),
            cpu_path: None,
            variants: PRIVATE_FORMS
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("this engine is bare in its forms 'crt' and 'plain'".into());
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
            setup: "generator seeded, once per thread".to_owned(),
            lanes: 1,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Harness,
        };
        let padding = Some("PKCS#1 v1.5 with SHA-256, of a digest".to_owned());
        Ok(match task(job)? {
            // `rsa.cpp` and `nbtheory.cpp` of Crypto++ 8.7, here and below.
            Task::Blocks(Operation::Public) => Ledger {
                exponent: Some(job.exponent),
                setup: "key read, once per thread; Montgomery constants in every call".to_owned(),
                ..plain
            },
            Task::Blocks(operation) => Ledger {
                crt: Some(operation != Operation::Power),
                blinding: Some(operation == Operation::Inverse),
                result_check: Some(operation == Operation::Inverse),
                constant_time: Some(false),
                setup: match operation {
                    Operation::Inverse => {
                        "key read, once per thread; Montgomery constants and a blinding pair in every call"
                    }
                    _ => "key read, once per thread; Montgomery constants in every call",
                }
                .to_owned(),
                ..plain
            },
            Task::Signing => Ledger {
                crt: Some(true),
                blinding: Some(true),
                result_check: Some(true),
                constant_time: Some(false),
                padding,
                setup: "key read, once per thread; Montgomery constants and a blinding pair in every call".to_owned(),
                ..plain
            },
            Task::Verifying => Ledger {
                exponent: Some(job.exponent),
                padding,
                setup: "key read, once per thread; Montgomery constants in every call".to_owned(),
                ..plain
            },
            Task::Candidates => Ledger {
                rounds: Some(
                    "2 of Miller-Rabin with bases 3 and 2, and a strong Lucas test".to_owned(),
                ),
                sieve: Some("trial division by the primes below 2^15".to_owned()),
                ..plain
            },
            Task::Generation => Ledger {
                rounds: Some(
                    "2 of Miller-Rabin with bases 2 and 3, and a strong Lucas test".to_owned(),
                ),
                sieve: Some(
                    "the primes below 2^15; candidates upward from a random start".to_owned(),
                ),
                exponent: Some(job.exponent),
                ..plain
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job).map_err(EngineError::Unsupported)?;
        let key = || {
            keys.first()
                .cloned()
                .ok_or_else(|| EngineError::Key(format!("'{}' needs one and got none", job.op)))
        };
        Ok(match task(job).map_err(EngineError::Unsupported)? {
            Task::Blocks(operation) => Box::new(PreparedBlocks {
                operation,
                key: key()?,
            }),
            Task::Signing => Box::new(PreparedItems {
                kernel: "SignMessage",
                key: Some(key()?),
                layout: job.layout(),
                apply: |worker, digest, signature| worker.sign(digest, signature),
            }),
            Task::Verifying => Box::new(PreparedItems {
                kernel: "VerifyMessage",
                key: Some(key()?),
                layout: job.layout(),
                apply: |worker, signed, verdict| {
                    let (digest, signature) = signed.split_at(DIGEST_BYTES);
                    verdict[0] = u8::from(worker.verify(digest, signature)?);
                    Ok(())
                },
            }),
            Task::Candidates => Box::new(PreparedItems {
                kernel: "IsPrime",
                key: None,
                layout: job.layout(),
                apply: |worker, candidates, primes| {
                    first_two_primes(candidates, primes, |candidate| worker.is_prime(candidate))
                },
            }),
            Task::Generation => Box::new(PreparedGeneration {
                op: job.op,
                bits: job.bits,
                exponent: job.fixed_exponent(),
                layout: job.layout(),
            }),
        })
    }
}

/// What a job asks for.
enum Task {
    Blocks(Operation),
    Signing,
    Verifying,
    Candidates,
    Generation,
}

fn task(job: &Job) -> Result<Task, Reason> {
    match (job.op, job.variant.as_deref()) {
        (Op::Private, None) => Ok(Task::Blocks(PRIVATE_FORMS[0].1)),
        (Op::Private, Some(wanted)) => PRIVATE_FORMS
            .iter()
            .find(|(name, _)| *name == wanted)
            .map(|(_, operation)| Task::Blocks(*operation))
            .ok_or_else(|| {
                Reason(format!(
                    "'private' has no form '{wanted}'; it has inverse, crt, plain"
                ))
            }),
        (Op::Public, Some(PLAIN)) => Ok(Task::Blocks(Operation::Public)),
        (
            Op::Public
            | Op::Sign
            | Op::Verify
            | Op::Keygen
            | Op::PrimePair
            | Op::PrimeSearch,
            Some(wanted),
        ) => Err(Reason(format!(
            "'{}' has no form '{wanted}'; it has one only",
            job.op
        ))),
        // RFC 8017, section 9.2, step 3: 11 bytes of padding, 19 that name the hash, and 32.
        (Op::Sign | Op::Verify, None) if job.bits < 489 => Err(
            "a digest with its padding takes a modulus of 489 bits or more".into(),
        ),
        (Op::Sign, None) => Ok(Task::Signing),
        (Op::Verify, None) => Ok(Task::Verifying),
        (Op::PrimeSearch, None) if job.bits.is_multiple_of(2) => Ok(Task::Candidates),
        (Op::Public, None) => Ok(Task::Blocks(Operation::Public)),
        (Op::Keygen | Op::PrimePair, None) if job.bits.is_multiple_of(2) => Ok(Task::Generation),
        (Op::Keygen | Op::PrimePair | Op::PrimeSearch, None) => Err(
            "this engine makes two primes of one size, and so moduli of an even number of bits only"
                .into(),
        ),
        (other, _) => Err(Reason(format!("cryptopp does not do '{other}'"))),
    }
}

/// A key, which each thread reads for itself: the library's numbers are not meant to be shared.
struct PreparedBlocks {
    operation: Operation,
    key: StudyKey,
}

impl Prepared for PreparedBlocks {
    fn kernel(&self) -> String {
        self.operation.call().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(BlockRunner {
            worker: Worker::with_key(&self.key)?,
            operation: self.operation,
            modulus: &self.key.n,
        }))
    }
}

struct BlockRunner<'a> {
    worker: Worker,
    operation: Operation,
    modulus: &'a [u8],
}

impl Runner for BlockRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_blocks(inputs, outputs, self.modulus)?;
        let length = self.modulus.len();
        for (input, output) in inputs
            .chunks_exact(length)
            .zip(outputs.chunks_exact_mut(length))
        {
            self.worker.apply(self.operation, input, output)?;
        }
        Ok(RunStats::default())
    }
}

/// An operation that goes item by item.
struct PreparedItems {
    kernel: &'static str,
    key: Option<StudyKey>,
    layout: Layout,
    apply: Apply,
}

/// What is done to the input and the output of one item.
type Apply = fn(&mut Worker, &[u8], &mut [u8]) -> Result<(), EngineError>;

impl Prepared for PreparedItems {
    fn kernel(&self) -> String {
        self.kernel.to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(ItemRunner {
            worker: match &self.key {
                Some(key) => Worker::with_key(key)?,
                None => Worker::new()?,
            },
            prepared: self,
        }))
    }
}

struct ItemRunner<'a> {
    worker: Worker,
    prepared: &'a PreparedItems,
}

impl Runner for ItemRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = self.prepared.layout;
        check_items(layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output));
        for (input, output) in items {
            (self.prepared.apply)(&mut self.worker, input, output)?;
        }
        Ok(RunStats::default())
    }
}

/// Whole keys, or their primes only.
struct PreparedGeneration {
    op: Op,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl Prepared for PreparedGeneration {
    fn kernel(&self) -> String {
        match self.op {
            Op::Keygen => "InvertibleRSAFunction::GenerateRandom",
            _ => "Integer::GenerateRandom",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(GenerationRunner {
            worker: Worker::new()?,
            prepared: self,
        }))
    }
}

struct GenerationRunner<'a> {
    worker: Worker,
    prepared: &'a PreparedGeneration,
}

impl Runner for GenerationRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedGeneration {
            op,
            bits,
            exponent,
            layout,
        } = *self.prepared;
        check_items(layout, inputs, outputs)?;
        let prime_length = bits.div_ceil(2).div_ceil(8);
        for output in outputs.chunks_exact_mut(layout.output) {
            let (p, rest) = output.split_at_mut(prime_length);
            let (q, d) = rest.split_at_mut(prime_length);
            if op == Op::Keygen {
                self.worker.generate(bits, exponent, p, q, d)?;
            } else {
                fit_pair(bits / 2, exponent, p, q, |prime| {
                    self.worker.prime(bits, prime)
                })?;
            }
        }
        // The library does not say how many candidates it tested.
        Ok(RunStats::default())
    }
}
