//! Prime pairs, and whole keys made of them, from the system's randomness as `rsalab keygen` makes them; and the primes
//! of given candidates, by the same tests.

use rsalab_rsa::{
    Backend, CpuBackend,
    generate::{first_primes_of, generate, prime_pair},
    random::SystemRng,
};

use super::library;
use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_items},
    job::Job,
    op::{Layout, Op},
};

/// A search made ready; there is nothing to prepare.
pub(super) struct Search {
    backend: CpuBackend,
    op: Op,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl Search {
    pub(super) fn new(backend: CpuBackend, job: &Job) -> Self {
        Search {
            backend,
            op: job.op,
            bits: job.bits,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }

    /// Writes one item, and returns how many candidates went through a Miller–Rabin test.
    fn find(&self, input: &[u8], output: &mut [u8]) -> Result<u64, rsalab_rsa::Error> {
        let mut rng = SystemRng;
        let mut rest = output;
        let mut write = |part: &[u8]| {
            let (place, after) = std::mem::take(&mut rest).split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = after;
        };
        let counts = match self.op {
            Op::Keygen => {
                let made = generate(self.bits, self.exponent, &mut rng, &self.backend)?;
                write(made.key.p());
                write(made.key.q());
                write(made.key.d());
                made.counts
            }
            op => {
                let made = match op {
                    Op::PrimeSearch => {
                        first_primes_of(input, self.bits, self.exponent, &mut rng, &self.backend)?
                    }
                    _ => prime_pair(self.bits, self.exponent, &mut rng, &self.backend)?,
                };
                write(&made.p);
                write(&made.q);
                made.counts
            }
        };
        Ok(counts.tests)
    }
}

impl Prepared for Search {
    fn kernel(&self) -> String {
        self.backend.kernel().to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(self))
    }
}

impl Runner for &Search {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let mut tests = 0;
        for (item, output) in outputs.chunks_exact_mut(self.layout.output).enumerate() {
            let input = &inputs[item * self.layout.input..][..self.layout.input];
            tests += self
                .find(input, output)
                .map_err(library("the search for primes"))?;
        }
        Ok(RunStats { tests: Some(tests) })
    }
}
