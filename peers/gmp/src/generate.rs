//! Keys, pairs of primes, and the primes of given candidates.

use rand_core::Rng;
use rsalab_engines::{EngineError, Job, Op, Prepared, kit};
use rsalab_rsa::random::WorkerRng;
use zeroize::Zeroizing;

use crate::number::Number;

/// `reps` of `mpz_probab_prime_p`: GMP 6.3 takes 24 off for its Baillie–PSW test, so that 5 add no round to it.
const REPS: i32 = 5;

/// How primes are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// Independent random candidates.
    Random,
    /// The first prime after a random start.
    NextPrime,
}

/// Whole keys, or their primes only.
pub(crate) fn generation(search: Search, job: &Job) -> Box<dyn Prepared> {
    let (op, bits, exponent) = (job.op, job.bits, job.fixed_exponent());
    let kernel = match search {
        Search::Random => "mpz_probab_prime_p",
        Search::NextPrime => "mpz_nextprime",
    };
    kit::items(kernel, job, move || {
        let mut primes = Primes::new(search, bits / 2)?;
        let mut derivation = Derivation::new(bits, exponent);
        Ok(move |_: &[u8], output: &mut [u8]| {
            primes.tests = 0;
            let [p, q, d] = kit::split_key(bits, output);
            kit::fit_pair(bits / 2, exponent, p, q, |prime| {
                primes.search(prime);
                Ok(())
            })?;
            if op == Op::Keygen {
                derivation.apply(p, q, d);
            }
            // `mpz_nextprime` does not say how many candidates it tested.
            Ok((search == Search::Random).then_some(primes.tests))
        })
    })
}

/// A search for single primes.
struct Primes {
    search: Search,
    bits: usize,
    random: WorkerRng,
    candidate: Zeroizing<Vec<u8>>,
    start: Number,
    prime: Number,
    tests: u64,
}

impl Primes {
    fn new(search: Search, bits: usize) -> Result<Self, EngineError> {
        let random = WorkerRng::from_system();
        Ok(Self {
            search,
            bits,
            random: random.map_err(|error| EngineError::library("the system's generator", error))?,
            candidate: Zeroizing::new(vec![0; bits.div_ceil(8)]),
            start: Number::with_capacity(bits + 64),
            prime: Number::with_capacity(bits + 64),
            tests: 0,
        })
    }

    /// Writes a prime of full length.
    fn search(&mut self, out: &mut [u8]) {
        loop {
            self.draw();
            let is_found = match self.search {
                Search::Random => {
                    self.prime.read(&self.candidate);
                    self.tests += 1;
                    self.prime.is_probably_prime(REPS)
                }
                Search::NextPrime => {
                    self.start.read(&self.candidate);
                    self.prime.set_next_prime(&self.start);
                    self.prime.bits() == self.bits
                }
            };
            if is_found {
                assert!(self.prime.write(out), "a prime has the bits asked for");
                return;
            }
        }
    }

    /// Draws an odd candidate of full length whose two highest bits are set, so that a product of two has twice as
    /// many.
    fn draw(&mut self) {
        let bytes = self.candidate.as_mut_slice();
        self.random.fill_bytes(bytes);
        // A 1 in bit `bits − 1` and `bits − 2`, zeros above, counted from the lowest bit of the last byte.
        let spare = 8 * bytes.len() - self.bits;
        let highest = u16::from_be_bytes([bytes[0], bytes[1]]) & (u16::MAX >> spare) | (0xC000 >> spare);
        bytes[..2].copy_from_slice(&highest.to_be_bytes());
        *bytes.last_mut().expect("a candidate has bytes") |= 1;
    }
}

/// `d = e⁻¹ mod lcm(p−1, q−1)` (FIPS 186-5 A.1.1).
struct Derivation {
    exponent: Number,
    p: Number,
    q: Number,
    p_less_one: Number,
    q_less_one: Number,
    lambda: Number,
    d: Number,
}

impl Derivation {
    fn new(bits: usize, exponent: u64) -> Self {
        let number = || Number::with_capacity(bits + 64);
        Self {
            exponent: Number::from_bytes(&exponent.to_be_bytes()),
            p: number(),
            q: number(),
            p_less_one: number(),
            q_less_one: number(),
            lambda: number(),
            d: number(),
        }
    }

    fn apply(&mut self, p: &[u8], q: &[u8], d: &mut [u8]) {
        self.p.read(p);
        self.q.read(q);
        self.p_less_one.set_less_word(&self.p, 1);
        self.q_less_one.set_less_word(&self.q, 1);
        self.lambda.set_lcm(&self.p_less_one, &self.q_less_one);
        assert!(
            self.d.set_inverse(&self.exponent, &self.lambda),
            "the exponent is coprime to p − 1 and q − 1"
        );
        assert!(self.d.write(d), "the exponent is no longer than the modulus");
    }
}

/// The primes among given candidates, by `mpz_probab_prime_p`.
pub(crate) fn candidates(job: &Job) -> Box<dyn Prepared> {
    let bits = job.bits;
    kit::items("mpz_probab_prime_p", job, move || {
        let mut number = Number::with_capacity(bits);
        Ok(move |candidates: &[u8], output: &mut [u8]| {
            kit::first_two_primes(candidates, output, |candidate| {
                number.read(candidate);
                Ok(number.is_probably_prime(REPS))
            })
        })
    })
}
