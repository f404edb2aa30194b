//! Keys, pairs of primes, and the primes of given candidates.

use std::{ffi::c_int, ptr};

use rsalab_engines::{EngineError, Job, Prepared, kit};

use super::{
    block::empty_private_crt,
    ffi::{Functions, INSUFFICIENT_ENTROPY, IS_PRIME, Prime, Status},
    number::{Number, State, int, size},
    supplier::Supplier,
};

/// Calls in a row that may be answered with "insufficient entropy". Each of them tries hundreds of candidates and fails
/// with a probability of a half at most.
const ATTEMPTS: usize = 1000;

/// How many rounds of Miller–Rabin the library is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trials {
    /// The rounds of FIPS 186-5 table B.1, as OpenSSL takes them. Left to itself, the library takes 2 to 6, for an
    /// error below 2^-80.
    OfTheStandard,
    /// So many, as article (c) gives 1 (`nTrials`).
    Fixed(usize),
}

impl Trials {
    /// For a modulus of `bits`.
    pub(crate) fn rounds(self, bits: usize) -> usize {
        match self {
            Self::OfTheStandard if bits >= 3072 => 4,
            Self::OfTheStandard => 5,
            Self::Fixed(count) => count,
        }
    }
}

/// Whole keys, by `ippsRSA_GenerateKeys`.
pub(crate) fn keys<'a>(functions: &'a Functions, trials: Trials, job: &Job) -> Box<dyn Prepared + 'a> {
    const CALL: &str = "ippsRSA_GenerateKeys";
    let (bits, e) = (job.bits, job.fixed_exponent());
    kit::items(CALL, job, move || {
        let prime_bits = int(bits / 2);
        let number = |bits: usize| Number::with_capacity(functions, bits);
        let mut key = empty_private_crt(functions, prime_bits, prime_bits)?;
        let buffer = size(functions, "ippsRSA_GetBufferSizePrivateKey", |size| {
            // SAFETY: the key is initialised; the size is written to a place that lives.
            unsafe { (functions.ippsRSA_GetBufferSizePrivateKey)(size, key.as_ptr()) }
        })?;
        let mut buffer: State<u8> = State::of_bytes(buffer);
        let mut search = Search::new(functions, trials, bits, false)?;
        let exponent = Number::from_bytes(functions, &e.to_be_bytes())?;
        let (mut exponent_copy, mut modulus, mut d) = (number(64)?, number(bits)?, number(bits)?);
        let (mut p, mut q) = (number(bits / 2)?, number(bits / 2)?);
        Ok(move |_: &[u8], output: &mut [u8]| {
            retried(functions, CALL, || {
                // SAFETY: everything is initialised, this thread's own, and of the sizes that the library asked for;
                // the parameter is what the callback expects.
                unsafe {
                    (functions.ippsRSA_GenerateKeys)(
                        exponent.as_ptr(),
                        modulus.as_mut_ptr(),
                        exponent_copy.as_mut_ptr(),
                        d.as_mut_ptr(),
                        key.as_mut_ptr(),
                        buffer.as_mut_ptr(),
                        search.rounds,
                        search.generator.as_mut_ptr(),
                        Supplier::CALLBACK,
                        search.supplier.parameter(),
                    )
                }
            })?;
            // SAFETY: the key was set just now; null says that a part is not asked for.
            functions.done("ippsRSA_GetPrivateKeyType2", unsafe {
                (functions.ippsRSA_GetPrivateKeyType2)(
                    p.as_mut_ptr(),
                    q.as_mut_ptr(),
                    ptr::null_mut(),
                    ptr::null_mut(),
                    ptr::null_mut(),
                    key.as_ptr(),
                )
            })?;
            let [p_place, q_place, d_place] = kit::split_key(bits, output);
            p.write(p_place)?;
            q.write(q_place)?;
            d.write(d_place)
        })
    })
}

/// Pairs of primes, by `ippsPrimeGen_BN`.
pub(crate) fn prime_pairs<'a>(functions: &'a Functions, trials: Trials, job: &Job) -> Box<dyn Prepared + 'a> {
    const CALL: &str = "ippsPrimeGen_BN";
    let (bits, exponent) = (job.bits, job.fixed_exponent());
    kit::items(CALL, job, move || {
        let mut search = Search::new(functions, trials, bits, true)?;
        let mut prime = Number::with_capacity(functions, bits / 2)?;
        Ok(move |_: &[u8], output: &mut [u8]| {
            let [p, q, _] = kit::split_key(bits, output);
            kit::fit_pair(bits / 2, exponent, p, q, |out| {
                retried(functions, CALL, || {
                    // SAFETY: everything is initialised, this thread's own, and of the sizes that the library asked
                    // for; the parameter is what the callback expects.
                    unsafe {
                        (functions.ippsPrimeGen_BN)(
                            prime.as_mut_ptr(),
                            int(bits / 2),
                            search.rounds,
                            search.generator.as_mut_ptr(),
                            Supplier::CALLBACK,
                            search.supplier.parameter(),
                        )
                    }
                })?;
                prime.write(out)
            })
        })
    })
}

/// The primes among given candidates, by the test of the library's own search.
pub(crate) fn candidates<'a>(functions: &'a Functions, trials: Trials, job: &Job) -> Box<dyn Prepared + 'a> {
    const CALL: &str = "ippsPrimeTest_BN";
    let bits = job.bits;
    kit::items(CALL, job, move || {
        let mut search = Search::new(functions, trials, bits, true)?;
        let mut number = Number::with_capacity(functions, bits / 2)?;
        Ok(move |candidates: &[u8], output: &mut [u8]| {
            kit::first_two_primes(candidates, output, |candidate| {
                number.read(candidate)?;
                let mut result = 0;
                // SAFETY: everything is initialised, this thread's own, and of the sizes that the library asked for;
                // the parameter is what the callback expects, and the result is written to a place that lives.
                functions.done(CALL, unsafe {
                    (functions.ippsPrimeTest_BN)(
                        number.as_ptr(),
                        search.rounds,
                        &mut result,
                        search.generator.as_mut_ptr(),
                        Supplier::CALLBACK,
                        search.supplier.parameter(),
                    )
                })?;
                Ok(result == IS_PRIME)
            })
        })
    })
}

/// State of every search of one thread.
struct Search {
    rounds: c_int,
    /// The state of a prime generator.
    generator: State<Prime>,
    supplier: Supplier,
}

impl Search {
    /// For primes of half a modulus of `bits`.
    fn new(functions: &Functions, trials: Trials, bits: usize, two_highest: bool) -> Result<Self, EngineError> {
        let prime_bits = int(bits / 2);
        let bytes = size(functions, "ippsPrimeGetSize", |size| {
            // SAFETY: the size is written to a place that lives.
            unsafe { (functions.ippsPrimeGetSize)(prime_bits, size) }
        })?;
        let mut generator = State::of_bytes(bytes);
        // SAFETY: the state has the size asked for.
        functions.done("ippsPrimeInit", unsafe {
            (functions.ippsPrimeInit)(prime_bits, generator.as_mut_ptr())
        })?;
        Ok(Self {
            rounds: int(trials.rounds(bits)),
            generator,
            supplier: Supplier::new(two_highest)?,
        })
    }
}

/// Calls again for as long as the answer is "insufficient entropy".
fn retried(functions: &Functions, call: &'static str, mut attempt: impl FnMut() -> Status) -> Result<(), EngineError> {
    let mut status = INSUFFICIENT_ENTROPY;
    for _ in 0..ATTEMPTS {
        status = attempt();
        if status != INSUFFICIENT_ENTROPY {
            break;
        }
    }
    functions.done(call, status)
}
