//! Keys and pairs of primes.

use std::cell::Cell;

use crypto_bigint::BoxedUint;
use crypto_primes::{
    Flavor,
    hazmat::{SetBits, SmallFactorsSieveFactory},
    is_prime, sieve_and_find,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use rsa::{RsaPrivateKey, traits::PrivateKeyParts};
use rsalab_engines::{
    EngineError, Job, Layout, Op, Prepared, RunStats, Runner, check_items, pair::fit_pair,
};

use crate::block::write;

/// A generator with a seed of the system's.
pub(crate) fn random() -> Result<ChaCha20Rng, EngineError> {
    let mut seed = [0; 32];
    getrandom::fill(&mut seed).map_err(|error| EngineError::Library {
        call: "getrandom",
        message: error.to_string(),
    })?;
    Ok(ChaCha20Rng::from_seed(seed))
}

/// Whole keys, or their primes only.
pub(crate) struct PreparedGeneration {
    op: Op,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl PreparedGeneration {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            op: job.op,
            bits: job.bits,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedGeneration {
    fn kernel(&self) -> String {
        match self.op {
            Op::Keygen => "RsaPrivateKey::new_with_exp_unchecked",
            _ => "sieve_and_find",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(GenerationRunner {
            prepared: self,
            random: random()?,
        }))
    }
}

struct GenerationRunner<'a> {
    prepared: &'a PreparedGeneration,
    random: ChaCha20Rng,
}

impl Runner for GenerationRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedGeneration {
            op, bits, layout, ..
        } = *self.prepared;
        check_items(layout, inputs, outputs)?;
        let prime_length = bits.div_ceil(2).div_ceil(8);
        let mut tests = 0;
        for output in outputs.chunks_exact_mut(layout.output) {
            let (p, rest) = output.split_at_mut(prime_length);
            let (q, d) = rest.split_at_mut(prime_length);
            if op == Op::Keygen {
                self.key(p, q, d)?;
            } else {
                tests += self.pair(p, q)?;
            }
        }
        // The crate's key generation does not say how many candidates it tested.
        Ok(RunStats {
            tests: (op == Op::PrimePair).then_some(tests),
        })
    }
}

impl GenerationRunner<'_> {
    fn key(&mut self, p: &mut [u8], q: &mut [u8], d: &mut [u8]) -> Result<(), EngineError> {
        const CALL: &str = "RsaPrivateKey::new_with_exp_unchecked";
        let PreparedGeneration { bits, exponent, .. } = *self.prepared;
        // "Unchecked" is the size alone: the crate refuses moduli below 1024 bits otherwise.
        let key = RsaPrivateKey::new_with_exp_unchecked(&mut self.random, bits, exponent.into())
            .map_err(|error| EngineError::Library {
                call: CALL,
                message: error.to_string(),
            })?;
        let [first, second] = key.primes() else {
            unreachable!("two primes were asked for")
        };
        write(first, p);
        write(second, q);
        write(key.d(), d);
        Ok(())
    }

    /// Two primes by the calls with which the crate's key generation finds its own; the tests that were done.
    fn pair(&mut self, p: &mut [u8], q: &mut [u8]) -> Result<u64, EngineError> {
        let PreparedGeneration { bits, exponent, .. } = *self.prepared;
        let tests = Cell::new(0);
        fit_pair(bits / 2, exponent, p, q, |prime| {
            let failed = |message: String| EngineError::Library {
                call: "sieve_and_find",
                message,
            };
            let prime_bits = u32::try_from(bits / 2).expect("a job has at most 16384 bits");
            let candidates =
                SmallFactorsSieveFactory::new(Flavor::Any, prime_bits, SetBits::TwoMsb)
                    .map_err(|error| failed(error.to_string()))?;
            let found = sieve_and_find(&mut self.random, candidates, |_, candidate: &BoxedUint| {
                tests.set(tests.get() + 1);
                is_prime(Flavor::Any, candidate)
            })
            .map_err(|error| failed(error.to_string()))?;
            let found = found.ok_or_else(|| failed("there are no candidates".to_owned()))?;
            write(&found, prime);
            Ok(())
        })?;
        Ok(tests.get())
    }
}
