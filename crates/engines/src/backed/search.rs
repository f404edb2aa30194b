//! Prime pairs, and whole keys made of them, from the system's randomness as `rsalab keygen` makes them: in bulk, or to
//! the letter of the standard; and the primes of given candidates, by the tests of the latter.

use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey,
    generate::{self, Generation, Generator, PrimePair, PublicExponent, first_primes_of},
    random::{SystemRng, WorkerRng},
};

use super::keys::library;
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    kit,
    op::{Layout, Op},
};

/// Keys or prime pairs in bulk, made ready: the sieve's primes are known.
pub(crate) struct Bulk {
    generation: Generation,
    kernel: String,
    op: Op,
    batch: usize,
    layout: Layout,
}

impl Bulk {
    /// With as many searches side by side as the backend is best at.
    pub(crate) fn new(backend: Box<dyn Backend>, job: &Job) -> Result<Self, EngineError> {
        let exponent = PublicExponent::Fixed(job.fixed_exponent());
        let searches = backend.searches();
        Ok(Bulk {
            kernel: backend.kernel().to_owned(),
            generation: Generation::with_backend(job.bits, exponent, backend)
                .map_err(library("preparing a search"))?
                .with_searches(searches),
            op: job.op,
            batch: job.batch,
            layout: job.layout(),
        })
    }
}

/// Keys of a batch from which on the primes that one call leaves to the next are a small part.
const LOOKING_AHEAD: usize = 16;

impl Prepared for Bulk {
    fn kernel(&self) -> String {
        self.kernel.clone()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let generator = WorkerRng::from_system()
            .and_then(|rng| self.generation.generator(rng))
            .map_err(library("preparing a thread"))?;
        Ok(Box::new(BulkRunner {
            // A few keys are to take as long as they take; of many, primes that are on the way may serve the next call.
            generator: match self.batch < LOOKING_AHEAD {
                true => generator,
                false => generator.looking_ahead(),
            },
            op: self.op,
            layout: self.layout,
        }))
    }
}

struct BulkRunner<'g> {
    generator: Generator<'g, WorkerRng>,
    op: Op,
    layout: Layout,
}

impl Runner for BulkRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let items = check_items(self.layout, inputs, outputs)?;
        let before = self.generator.counts().tests;
        let outputs = outputs.chunks_exact_mut(self.layout.output);
        let failed = library("the search for primes");
        match self.op {
            Op::Keygen => {
                let made = self.generator.keys(items).map_err(failed)?;
                made.iter()
                    .zip(outputs)
                    .for_each(|(made, output)| write_key(&made.key, output));
            }
            _ => {
                let pairs = self.generator.pairs(items).map_err(failed)?;
                pairs
                    .iter()
                    .zip(outputs)
                    .for_each(|(pair, output)| write_pair(pair, output));
            }
        }
        Ok(RunStats {
            tests: Some(self.generator.counts().tests - before),
        })
    }
}

/// A search by the letter of the standard, or among given candidates.
pub(crate) fn strict(backend: CpuBackend, job: &Job) -> Box<dyn Prepared> {
    let (op, bits, e) = (job.op, job.bits, job.fixed_exponent());
    kit::items(backend.kernel(), job, move || {
        Ok(move |input: &[u8], output: &mut [u8]| {
            find(op, bits, e, &backend, input, output).map_err(library("the search for primes"))
        })
    })
}

/// Writes one item, and returns how many candidates were tested.
fn find(
    op: Op,
    bits: usize,
    e: u64,
    backend: &CpuBackend,
    input: &[u8],
    output: &mut [u8],
) -> Result<u64, rsalab_rsa::Error> {
    let mut rng = SystemRng;
    let pair = match op {
        Op::Keygen => {
            let made = generate::generate_strict_on(bits, e, &mut rng, backend, None)?;
            write_key(&made.key, output);
            return Ok(made.counts.tests);
        }
        Op::PrimeSearch => first_primes_of(input, bits, e, &mut rng, backend)?,
        _ => generate::prime_pair_strict(bits, e, &mut rng, backend)?,
    };
    write_pair(&pair, output);
    Ok(pair.counts.tests)
}

fn write_key(key: &PrivateKey, output: &mut [u8]) {
    write(&[key.p(), key.q(), key.d()], output);
}

fn write_pair(pair: &PrimePair, output: &mut [u8]) {
    write(&[&pair.p, &pair.q], output);
}

fn write(parts: &[&[u8]], mut output: &mut [u8]) {
    for part in parts {
        let (place, rest) = output.split_at_mut(part.len());
        place.copy_from_slice(part);
        output = rest;
    }
}
