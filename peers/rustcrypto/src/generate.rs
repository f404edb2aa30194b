//! Keys and pairs of primes.

use std::cell::Cell;

use crypto_bigint::BoxedUint;
use crypto_primes::{
    Flavor,
    hazmat::{SetBits, SmallFactorsSieveFactory},
    is_prime, sieve_and_find,
};
use rsa::{PrivateKey, traits::PrivateKeyParts};
use rsalab_engines::{EngineError, Job, Prepared, kit};

use crate::convert::{random, write};

/// Whole keys. The crate does not say how many candidates it tested.
pub(crate) fn keys(job: &Job) -> Box<dyn Prepared> {
    const CALL: &str = "PrivateKey::new_with_exp_unchecked";
    let (bits, exponent) = (job.bits, job.fixed_exponent());
    kit::items(CALL, job, move || {
        let mut random = random()?;
        Ok(move |_: &[u8], output: &mut [u8]| {
            // "Unchecked" is the size alone: the crate refuses moduli below 1024 bits otherwise.
            let key = PrivateKey::new_with_exp_unchecked(&mut random, bits, exponent.into());
            let key = key.map_err(|error| EngineError::library(CALL, error))?;
            let [first, second] = key.primes() else {
                unreachable!("two primes were asked for")
            };
            let [p, q, d] = kit::split_key(bits, output);
            write(first, p);
            write(second, q);
            write(key.d(), d);
            Ok(())
        })
    })
}

/// Pairs of primes, found as the crate's key generation finds its own: the same kind of start, sieve and test. Its own
/// function is private.
pub(crate) fn prime_pairs(job: &Job) -> Box<dyn Prepared> {
    const CALL: &str = "sieve_and_find";
    let (bits, exponent) = (job.bits, job.fixed_exponent());
    kit::items(CALL, job, move || {
        let mut random = random()?;
        Ok(move |_: &[u8], output: &mut [u8]| {
            let tests = Cell::new(0_u64);
            let [p, q, _] = kit::split_key(bits, output);
            kit::fit_pair(bits / 2, exponent, p, q, |prime| {
                let prime_bits = u32::try_from(bits / 2).expect("a job has at most 16384 bits");
                let candidates = SmallFactorsSieveFactory::new(Flavor::Any, prime_bits, SetBits::TwoMsb)
                    .map_err(|error| EngineError::library(CALL, error))?;
                let found = sieve_and_find(&mut random, candidates, |_, candidate: &BoxedUint| {
                    tests.set(tests.get() + 1);
                    is_prime(Flavor::Any, candidate)
                });
                let found = found.map_err(|error| EngineError::library(CALL, error))?;
                let found = found.ok_or_else(|| EngineError::library(CALL, "there are no candidates"))?;
                write(&found, prime);
                Ok(())
            })?;
            Ok(tests.get())
        })
    })
}
