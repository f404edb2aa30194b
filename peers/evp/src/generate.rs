//! Keys, pairs of primes, and the primes of given candidates.

use rsalab_engines::{
    EngineError, Job, Layout, Prepared, RunStats, Runner, candidates::first_two_primes, check_items,
};

use crate::{
    context::Context,
    count::{self, Search},
    library::Libcrypto,
    number::{Callback, Number, Scratch},
    table::Word,
};

/// Whole keys, by `EVP_PKEY_keygen`.
pub(crate) struct PreparedKeygen<'a> {
    library: &'a Libcrypto,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl<'a> PreparedKeygen<'a> {
    pub(crate) fn new(library: &'a Libcrypto, job: &Job) -> Self {
        Self {
            library,
            bits: job.bits,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedKeygen<'_> {
    fn kernel(&self) -> String {
        "EVP_PKEY_keygen".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(KeygenRunner {
            context: Context::for_keygen(self.library, self.bits, self.exponent)?,
            prepared: self,
        }))
    }
}

struct KeygenRunner<'a> {
    context: Context<'a>,
    prepared: &'a PreparedKeygen<'a>,
}

impl Runner for KeygenRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedKeygen {
            library,
            bits,
            exponent,
            layout,
        } = *self.prepared;
        check_items(layout, inputs, outputs)?;
        let prime_length = bits.div_ceil(2).div_ceil(8);
        let search = library.key_search(bits, exponent);
        let mut tests = 0;
        for output in outputs.chunks_exact_mut(layout.output) {
            let (key, tests_of_key) =
                count::tests_of(search, library.table.EVP_PKEY_CTX_get_keygen_info, || {
                    self.context.generate()
                });
            tests += tests_of_key;
            let (p, rest) = output.split_at_mut(prime_length);
            let (q, d) = rest.split_at_mut(prime_length);
            key?.write(p, q, d)?;
        }
        Ok(RunStats {
            tests: (search != Search::Independent).then_some(tests),
        })
    }
}

/// Pairs of primes, by `BN_generate_prime_ex`.
pub(crate) struct PreparedPrimes<'a> {
    library: &'a Libcrypto,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl<'a> PreparedPrimes<'a> {
    pub(crate) fn new(library: &'a Libcrypto, job: &Job) -> Self {
        Self {
            library,
            bits: job.bits,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedPrimes<'_> {
    fn kernel(&self) -> String {
        "BN_generate_prime_ex".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(PrimesRunner {
            p: Number::secret(self.library)?,
            q: Number::secret(self.library)?,
            distance: Number::secret(self.library)?,
            callback: Callback::new(self.library)?,
            prepared: self,
        }))
    }
}

struct PrimesRunner<'a> {
    p: Number<'a>,
    q: Number<'a>,
    distance: Number<'a>,
    callback: Callback<'a>,
    prepared: &'a PreparedPrimes<'a>,
}

impl PrimesRunner<'_> {
    /// Two primes fit for a key: of full length, coprime to the exponent after one is taken away, and far enough apart
    /// (FIPS 186-5 A.1.3, steps 4.4 and 5.5).
    fn search(&mut self) -> Result<(), EngineError> {
        let PreparedPrimes { bits, exponent, .. } = *self.prepared;
        let prime_bits = bits / 2;
        search_prime(&mut self.p, prime_bits, exponent, &mut self.callback)?;
        loop {
            search_prime(&mut self.q, prime_bits, exponent, &mut self.callback)?;
            self.distance.set_difference(&self.p, &self.q)?;
            if self.distance.bits() > prime_bits.saturating_sub(100) {
                return Ok(());
            }
        }
    }
}

impl Runner for PrimesRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let PreparedPrimes {
            library, layout, ..
        } = *self.prepared;
        check_items(layout, inputs, outputs)?;
        let mut tests = 0;
        for output in outputs.chunks_exact_mut(layout.output) {
            let (found, tests_of_pair) = count::tests_of(
                library.prime_search(),
                library.table.EVP_PKEY_CTX_get_keygen_info,
                || self.search(),
            );
            found?;
            tests += tests_of_pair;
            let (p, q) = output.split_at_mut(layout.output / 2);
            assert!(
                self.p.write(p) && self.q.write(q),
                "a prime has the bits asked for"
            );
        }
        Ok(RunStats { tests: Some(tests) })
    }
}

/// The primes among given candidates, by `BN_is_prime_fasttest_ex`.
pub(crate) struct PreparedCandidates<'a> {
    library: &'a Libcrypto,
    layout: Layout,
}

impl<'a> PreparedCandidates<'a> {
    pub(crate) fn new(library: &'a Libcrypto, job: &Job) -> Self {
        Self {
            library,
            layout: job.layout(),
        }
    }
}

impl Prepared for PreparedCandidates<'_> {
    fn kernel(&self) -> String {
        "BN_is_prime_fasttest_ex".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(CandidatesRunner {
            candidate: Number::secret(self.library)?,
            scratch: Scratch::new(self.library)?,
            layout: self.layout,
        }))
    }
}

struct CandidatesRunner<'a> {
    candidate: Number<'a>,
    scratch: Scratch<'a>,
    layout: Layout,
}

impl Runner for CandidatesRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        check_items(self.layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(self.layout.input)
            .zip(outputs.chunks_exact_mut(self.layout.output));
        for (candidates, output) in items {
            first_two_primes(candidates, output, |candidate| {
                self.candidate.read(candidate)?;
                self.candidate.is_prime(&mut self.scratch)
            })?;
        }
        Ok(RunStats::default())
    }
}

fn search_prime(
    prime: &mut Number<'_>,
    bits: usize,
    exponent: u64,
    callback: &mut Callback<'_>,
) -> Result<(), EngineError> {
    loop {
        prime.set_prime(bits, callback)?;
        // gcd(p − 1, e) from p mod e: an exponent of 65537 refuses one prime in 65536.
        let remainder = prime.modulo_word(Word::from(exponent));
        if gcd((remainder + exponent - 1) % exponent, exponent) == 1 {
            return Ok(());
        }
    }
}

/// Euclid's algorithm, on the public exponent and a residue.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
