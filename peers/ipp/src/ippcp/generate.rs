//! Keys, pairs of primes, and the primes of given candidates.

use std::{ffi::c_int, ptr};

use rsalab_engines::{
    EngineError, Job, Layout, Op, Prepared, RunStats, Runner, candidates::first_two_primes,
    check_items, pair::fit_pair,
};

use super::{
    block::empty_private_crt,
    ffi::{Functions, INSUFFICIENT_ENTROPY, IS_PRIME, Prime, PrivateKey, Status},
    number::{Number, State, int, size},
    supplier::Supplier,
};

/// Calls in a row that may be answered with "insufficient entropy". Each of them tries hundreds of candidates and fails with a
/// probability of a half at most.
const ATTEMPTS: usize = 1000;

/// How many rounds of Miller–Rabin the library is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trials {
    /// Those of FIPS 186-5 table B.1, as OpenSSL takes them. Left to itself, the library takes 2 to 6, for an error below 2^-80.
    OfTheStandard,
    /// 1, as article (c) called it (`nTrials`).
    One,
}

impl Trials {
    /// For a modulus of `bits`.
    pub(crate) fn rounds(self, bits: usize) -> usize {
        match self {
            Self::OfTheStandard if bits >= 3072 => 4,
            Self::OfTheStandard => 5,
            Self::One => 1,
        }
    }
}

/// Whole keys, or their primes only.
pub(crate) struct PreparedGeneration<'a> {
    functions: &'a Functions,
    op: Op,
    trials: Trials,
    bits: usize,
    exponent: u64,
    layout: Layout,
}

impl<'a> PreparedGeneration<'a> {
    pub(crate) fn new(functions: &'a Functions, trials: Trials, job: &Job) -> Self {
        Self {
            functions,
            op: job.op,
            trials,
            bits: job.bits,
            exponent: job.fixed_exponent(),
            layout: job.layout(),
        }
    }

    fn prime_bits(&self) -> usize {
        self.bits / 2
    }

    fn rounds(&self) -> c_int {
        int(self.trials.rounds(self.bits))
    }

    /// The state of a prime generator.
    fn generator(&self) -> Result<State<Prime>, EngineError> {
        let functions = self.functions;
        let bits = int(self.prime_bits());
        let bytes = size(functions, "ippsPrimeGetSize", |size| {
            // SAFETY: the size is written to a place that lives.
            unsafe { (functions.ippsPrimeGetSize)(bits, size) }
        })?;
        let mut state = State::of_bytes(bytes);
        // SAFETY: the state has the size asked for.
        functions.done("ippsPrimeInit", unsafe {
            (functions.ippsPrimeInit)(bits, state.as_mut_ptr())
        })?;
        Ok(state)
    }
}

impl Prepared for PreparedGeneration<'_> {
    fn kernel(&self) -> String {
        match self.op {
            Op::Keygen => "ippsRSA_GenerateKeys",
            _ => "ippsPrimeGen_BN",
        }
        .to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let functions = self.functions;
        if self.op == Op::PrimePair {
            return Ok(Box::new(PairRunner {
                prepared: self,
                generator: self.generator()?,
                supplier: Supplier::new(true)?,
                prime: Number::with_room(functions, self.prime_bits())?,
            }));
        }
        let bits = int(self.prime_bits());
        let key = empty_private_crt(functions, bits, bits)?;
        let buffer = size(functions, "ippsRSA_GetBufferSizePrivateKey", |size| {
            // SAFETY: the key is initialised; the size is written to a place that lives.
            unsafe { (functions.ippsRSA_GetBufferSizePrivateKey)(size, key.as_ptr()) }
        })?;
        Ok(Box::new(KeyRunner {
            prepared: self,
            generator: self.generator()?,
            supplier: Supplier::new(false)?,
            exponent: Number::from_bytes(functions, &self.exponent.to_be_bytes())?,
            exponent_copy: Number::with_room(functions, 64)?,
            modulus: Number::with_room(functions, self.bits)?,
            d: Number::with_room(functions, self.bits)?,
            key,
            buffer: State::of_bytes(buffer),
            p: Number::with_room(functions, self.prime_bits())?,
            q: Number::with_room(functions, self.prime_bits())?,
        }))
    }
}

struct KeyRunner<'a> {
    prepared: &'a PreparedGeneration<'a>,
    generator: State<Prime>,
    supplier: Supplier,
    exponent: Number<'a>,
    exponent_copy: Number<'a>,
    modulus: Number<'a>,
    d: Number<'a>,
    key: State<PrivateKey>,
    buffer: State<u8>,
    p: Number<'a>,
    q: Number<'a>,
}

impl Runner for KeyRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = self.prepared.layout;
        check_items(layout, inputs, outputs)?;
        let prime_length = self.prepared.prime_bits().div_ceil(8);
        for output in outputs.chunks_exact_mut(layout.output) {
            self.generate()?;
            let (p, rest) = output.split_at_mut(prime_length);
            let (q, d) = rest.split_at_mut(prime_length);
            self.p.write(p)?;
            self.q.write(q)?;
            self.d.write(d)?;
        }
        Ok(RunStats::default())
    }
}

impl KeyRunner<'_> {
    /// Leaves a key's primes and private exponent in `p`, `q` and `d`.
    fn generate(&mut self) -> Result<(), EngineError> {
        let functions = self.prepared.functions;
        let rounds = self.prepared.rounds();
        retried(functions, "ippsRSA_GenerateKeys", || {
            // SAFETY: everything is initialised, this thread's own, and of the sizes that the library asked for; the parameter is
            // what the callback expects.
            unsafe {
                (functions.ippsRSA_GenerateKeys)(
                    self.exponent.as_ptr(),
                    self.modulus.as_mut_ptr(),
                    self.exponent_copy.as_mut_ptr(),
                    self.d.as_mut_ptr(),
                    self.key.as_mut_ptr(),
                    self.buffer.as_mut_ptr(),
                    rounds,
                    self.generator.as_mut_ptr(),
                    Supplier::CALLBACK,
                    self.supplier.parameter(),
                )
            }
        })?;
        // SAFETY: the key was set just now; null says that a part is not asked for.
        functions.done("ippsRSA_GetPrivateKeyType2", unsafe {
            (functions.ippsRSA_GetPrivateKeyType2)(
                self.p.as_mut_ptr(),
                self.q.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
                ptr::null_mut(),
                self.key.as_ptr(),
            )
        })
    }
}

struct PairRunner<'a> {
    prepared: &'a PreparedGeneration<'a>,
    generator: State<Prime>,
    supplier: Supplier,
    prime: Number<'a>,
}

impl Runner for PairRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = self.prepared.layout;
        check_items(layout, inputs, outputs)?;
        for output in outputs.chunks_exact_mut(layout.output) {
            let (p, q) = output.split_at_mut(layout.output / 2);
            let PreparedGeneration { exponent, .. } = *self.prepared;
            let prime_bits = self.prepared.prime_bits();
            fit_pair(prime_bits, exponent, p, q, |prime| self.search_prime(prime))?;
        }
        Ok(RunStats::default())
    }
}

impl PairRunner<'_> {
    /// A prime of full length, its two highest bits set.
    fn search_prime(&mut self, out: &mut [u8]) -> Result<(), EngineError> {
        let functions = self.prepared.functions;
        let (prime_bits, rounds) = (int(self.prepared.prime_bits()), self.prepared.rounds());
        retried(functions, "ippsPrimeGen_BN", || {
            // SAFETY: everything is initialised, this thread's own, and of the sizes that the library asked for; the parameter is
            // what the callback expects.
            unsafe {
                (functions.ippsPrimeGen_BN)(
                    self.prime.as_mut_ptr(),
                    prime_bits,
                    rounds,
                    self.generator.as_mut_ptr(),
                    Supplier::CALLBACK,
                    self.supplier.parameter(),
                )
            }
        })?;
        self.prime.write(out)
    }
}

/// The primes among given candidates, by the test of the library's own search.
pub(crate) struct PreparedCandidates<'a>(pub(crate) PreparedGeneration<'a>);

impl Prepared for PreparedCandidates<'_> {
    fn kernel(&self) -> String {
        "ippsPrimeTest_BN".to_owned()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        Ok(Box::new(CandidatesRunner {
            prepared: &self.0,
            generator: self.0.generator()?,
            supplier: Supplier::new(true)?,
            candidate: Number::with_room(self.0.functions, self.0.prime_bits())?,
        }))
    }
}

struct CandidatesRunner<'a> {
    prepared: &'a PreparedGeneration<'a>,
    generator: State<Prime>,
    supplier: Supplier,
    candidate: Number<'a>,
}

impl Runner for CandidatesRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = self.prepared.layout;
        check_items(layout, inputs, outputs)?;
        let items = inputs
            .chunks_exact(layout.input)
            .zip(outputs.chunks_exact_mut(layout.output));
        for (candidates, output) in items {
            first_two_primes(candidates, output, |candidate| self.is_prime(candidate))?;
        }
        Ok(RunStats::default())
    }
}

impl CandidatesRunner<'_> {
    fn is_prime(&mut self, candidate: &[u8]) -> Result<bool, EngineError> {
        let functions = self.prepared.functions;
        self.candidate.read(candidate)?;
        let mut result = 0;
        // SAFETY: everything is initialised, this thread's own, and of the sizes that the library asked for; the parameter is what the
        // callback expects, and the result is written to a place that lives.
        functions.done("ippsPrimeTest_BN", unsafe {
            (functions.ippsPrimeTest_BN)(
                self.candidate.as_ptr(),
                self.prepared.rounds(),
                &mut result,
                self.generator.as_mut_ptr(),
                Supplier::CALLBACK,
                self.supplier.parameter(),
            )
        })?;
        Ok(result == IS_PRIME)
    }
}

/// Calls again for as long as the answer is "insufficient entropy".
fn retried(
    functions: &Functions,
    call: &'static str,
    mut attempt: impl FnMut() -> Status,
) -> Result<(), EngineError> {
    let mut status = INSUFFICIENT_ENTROPY;
    for _ in 0..ATTEMPTS {
        status = attempt();
        if status != INSUFFICIENT_ENTROPY {
            break;
        }
    }
    functions.done(call, status)
}
