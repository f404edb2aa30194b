//! Keys, pairs of primes, and the primes of given candidates.

use rand_chacha::{
    ChaCha20Rng,
    rand_core::{Rng, SeedableRng},
};
use rsalab_engines::{
    EngineError, Job, Layout, Op, Prepared, RunStats, Runner, candidates::first_two_primes,
    check_items,
};
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
pub(crate) struct PreparedGeneration {
    search: Search,
    op: Op,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl PreparedGeneration {
    pub(crate) fn new(search: Search, job: &Job) -> Self {
        Self {
            search,
            op: job.op,
            bits: job.bits,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedGeneration {
    fn kernel(&self) -> String {
        match self.search {
            Search::Random => "mpz_probab_prime_p",
            Search::NextPrime => "mpz_nextprime",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let mut seed = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *seed).map_err(|error| EngineError::Library {
            call: "getrandom",
            message: error.to_string(),
        })?;
        let number = || Number::with_room(self.bits + 64);
        Ok(Box::new(GenerationRunner {
            prepared: self,
            random: ChaCha20Rng::from_seed(*seed),
            candidate: Zeroizing::new(vec![0; (self.bits / 2).div_ceil(8)]),
            start: number(),
            p: number(),
            q: number(),
            p_less_one: number(),
            q_less_one: number(),
            lambda: number(),
            exponent: Number::from_bytes(&self.exponent.to_be_bytes()),
            d: number(),
            tests: 0,
        }))
    }
}

struct GenerationRunner<'a> {
    prepared: &'a PreparedGeneration,
    random: ChaCha20Rng,
    candidate: Zeroizing<Vec<u8>>,
    start: Number,
    p: Number,
    q: Number,
    p_less_one: Number,
    q_less_one: Number,
    lambda: Number,
    exponent: Number,
    d: Number,
    tests: u64,
}

impl Runner for GenerationRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedGeneration {
            search,
            op,
            bits,
            layout,
            ..
        } = *self.prepared;
        check_items(layout, inputs, outputs)?;
        self.tests = 0;
        let prime_length = bits.div_ceil(2).div_ceil(8);
        for output in outputs.chunks_exact_mut(layout.output) {
            self.search_pair();
            let (p, rest) = output.split_at_mut(prime_length);
            let (q, d) = rest.split_at_mut(prime_length);
            let mut written = self.p.write(p) && self.q.write(q);
            if op == Op::Keygen {
                self.derive_exponent();
                written &= self.d.write(d);
            }
            assert!(
                written,
                "the primes have the bits asked for, and the exponent no more than the modulus"
            );
        }
        // `mpz_nextprime` does not say how many candidates it tested.
        Ok(RunStats {
            tests: (search == Search::Random).then_some(self.tests),
        })
    }
}

impl GenerationRunner<'_> {
    /// Two primes far enough apart (FIPS 186-5 A.1.3, step 5.5).
    fn search_pair(&mut self) {
        let prime_bits = self.prepared.bits / 2;
        self.search_prime();
        std::mem::swap(&mut self.p, &mut self.q);
        loop {
            self.search_prime();
            self.start.set_difference(&self.p, &self.q);
            if self.start.bits() > prime_bits.saturating_sub(100) {
                return;
            }
        }
    }

    /// Leaves in `p` a prime of full length, whose predecessor is coprime to the exponent.
    fn search_prime(&mut self) {
        let PreparedGeneration {
            search,
            bits,
            exponent,
            ..
        } = *self.prepared;
        loop {
            self.draw(bits / 2);
            match search {
                Search::Random => {
                    self.p.read(&self.candidate);
                    self.tests += 1;
                    if !self.p.is_probably_prime(REPS) {
                        continue;
                    }
                }
                Search::NextPrime => {
                    self.start.read(&self.candidate);
                    self.p.set_next_prime(&self.start);
                    if self.p.bits() != bits / 2 {
                        continue;
                    }
                }
            }
            let remainder = self.p.modulo_word(exponent);
            if gcd((remainder + exponent - 1) % exponent, exponent) == 1 {
                return;
            }
        }
    }

    /// Draws an odd candidate of exactly `bits` bits whose two highest are set, so that a product of two has twice as many.
    fn draw(&mut self, bits: usize) {
        let bytes = self.candidate.as_mut_slice();
        self.random.fill_bytes(bytes);
        // A 1 in bit `bits − 1` and `bits − 2`, zeros above, counted from the lowest bit of the last byte.
        let spare = 8 * bytes.len() - bits;
        let highest =
            u16::from_be_bytes([bytes[0], bytes[1]]) & (u16::MAX >> spare) | (0xC000 >> spare);
        bytes[..2].copy_from_slice(&highest.to_be_bytes());
        *bytes.last_mut().expect("a candidate has bytes") |= 1;
    }

    /// `d = e⁻¹ mod lcm(p−1, q−1)` (FIPS 186-5 A.1.1).
    fn derive_exponent(&mut self) {
        self.p_less_one.set_less_word(&self.p, 1);
        self.q_less_one.set_less_word(&self.q, 1);
        self.lambda.set_lcm(&self.p_less_one, &self.q_less_one);
        assert!(
            self.d.set_inverse(&self.exponent, &self.lambda),
            "the exponent is coprime to p − 1 and q − 1"
        );
    }
}

/// Euclid's algorithm, on the public exponent and a residue.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The primes among given candidates, by `mpz_probab_prime_p`.
pub(crate) struct PreparedCandidates {
    bits: usize,
    layout: Layout,
}

impl PreparedCandidates {
    pub(crate) fn new(job: &Job) -> Self {
        Self {
            bits: job.bits,
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedCandidates {
    fn kernel(&self) -> String {
        "mpz_probab_prime_p".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(CandidatesRunner {
            candidate: Number::with_room(self.bits),
            layout: self.layout,
        }))
    }
}

struct CandidatesRunner {
    candidate: Number,
    layout: Layout,
}

impl Runner for CandidatesRunner {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(self.layout.input)
            .zip(outputs.chunks_exact_mut(self.layout.output));
        for (candidates, output) in items {
            first_two_primes(candidates, output, |candidate| {
                self.candidate.read(candidate);
                Ok(self.candidate.is_probably_prime(REPS))
            })?;
        }
        Ok(RunStats::default())
    }
}
