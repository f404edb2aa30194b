//! Every candidate a number of its own, drawn as A.1.3 says: step by step, and slow.

use std::{slice, sync::atomic::AtomicBool};

use rand_core::TryCryptoRng;
use rsalab_arith::{candidate::has_small_factor, integer};
use zeroize::Zeroizing;

use super::{
    consistency::check_consistency,
    parameters::{Counts, Generated, PrimePair, check_parameters, check_stop, key_of, miller_rabin_rounds},
};
use crate::{
    CpuBackend, Error, Result,
    backend::{Backend, CandidateTester},
    draw::{self, Size},
    keys::prime_len,
};

/// Generates a key of `bits` bits with the public exponent `e`, on this CPU.
///
/// # Errors
///
/// [`Error::KeySize`] unless `bits` is even and from [`MIN_BITS`](crate::keys::MIN_BITS) to
/// [`MAX_BITS`](crate::keys::MAX_BITS); [`Error::Generation`] for an exponent
/// that is even or below 3, if a search runs into its limit (fewer than one in 10^12), or if the new key fails its
/// consistency check; [`Error::Randomness`] and [`Error::Backend`] from below.
pub fn generate_strict<R: TryCryptoRng + ?Sized>(bits: usize, e: u64, rng: &mut R) -> Result<Generated> {
    generate_strict_on(bits, e, rng, &CpuBackend::auto(), None)
}

/// As [`generate_strict`], on a backend; and ended by a flag that another thread raises, if there is one: within the
/// time of one candidate's tests, or of one batch of Miller–Rabin rounds on a kernel that tests several at once.
/// Neither changes the key that the same randomness gives.
///
/// # Errors
///
/// [`Error::Stopped`] if the flag was raised; otherwise as for [`generate_strict`].
pub fn generate_strict_on<R: TryCryptoRng + ?Sized>(
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
    stop: Option<&AtomicBool>,
) -> Result<Generated> {
    let mut counts = Counts::default();
    loop {
        let pair = pair(bits, e, rng, backend, stop)?;
        counts.add(pair.counts);
        if let Some(key) = key_of(&[&pair.p, &pair.q], bits, e)? {
            check_consistency(slice::from_ref(&key), bits, rng, backend)?;
            return Ok(Generated { key, counts });
        }
    }
}

/// Finds two primes for a modulus of `bits` bits and the public exponent `e`.
///
/// The larger is called `p`, as some implementations of CRT expect. The result depends on what `rng` gives alone, not
/// on the backend or its lanes.
///
/// # Errors
///
/// As for [`generate_strict`].
pub fn prime_pair_strict<R: TryCryptoRng + ?Sized>(
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<PrimePair> {
    pair(bits, e, rng, backend, None)
}

fn two_primes(bits: usize) -> Size {
    Size {
        modulus: bits,
        primes: 2,
    }
}

fn pair<R: TryCryptoRng + ?Sized>(
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
    stop: Option<&AtomicBool>,
) -> Result<PrimePair> {
    check_parameters(two_primes(bits), e)?;
    let mut search = Search::new(bits, e, rng, backend)?;
    search.stop = stop;
    // Steps 4 and 5.
    let p = search.prime(5 * bits, None)?;
    let q = search.prime(10 * bits, Some(&p))?;
    Ok(PrimePair::ordered(p, q, search.counts))
}

/// Finds the first two primes of a sequence of candidates, in its order, with the tests of [`prime_pair_strict`] and
/// without its chance: for measurements, where every implementation is given the same.
///
/// `candidates` holds odd numbers of `bits / 2` bits, their top two bits set, big-endian. A prime that does not suit
/// `e` is passed over.
///
/// # Errors
///
/// As for [`generate_strict`]; [`Error::Generation`] too if there are fewer than two primes.
pub fn first_primes_of<R: TryCryptoRng + ?Sized>(
    candidates: &[u8],
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<PrimePair> {
    check_parameters(two_primes(bits), e)?;
    let mut search = Search::new(bits, e, rng, backend)?;
    let mut rest = candidates.chunks_exact(prime_len(bits));
    let mut prime = || {
        // What a batch took ahead is given back where the prime was found before it.
        let from = rest.clone();
        let found = search.first_prime(|_| Ok(rest.next().map(|candidate| Zeroizing::new(candidate.to_vec()))))?;
        let found = found.ok_or_else(|| Error::generation("there are fewer than two primes among the candidates"))?;
        rest = from;
        rest.nth(found.place);
        Ok::<_, Error>(found.prime)
    };
    let (p, q) = (prime()?, prime()?);
    Ok(PrimePair {
        p,
        q,
        counts: search.counts,
    })
}

/// Candidates drawn ahead. The number does not depend on the lanes, so that the same seed gives the same key on every
/// kernel; a kernel with fewer lanes leaves the last ones untested.
const AHEAD: usize = 8;

/// A prime among candidates.
struct Found {
    /// How many candidates came before it.
    place: usize,
    prime: Zeroizing<Vec<u8>>,
}

struct Search<'a, R: ?Sized> {
    bits: usize,
    e: [u8; 8],
    rng: &'a mut R,
    tester: Box<dyn CandidateTester + 'a>,
    lanes: usize,
    stop: Option<&'a AtomicBool>,
    counts: Counts,
}

impl<'a, R: TryCryptoRng + ?Sized> Search<'a, R> {
    fn new(bits: usize, e: u64, rng: &'a mut R, backend: &'a dyn Backend) -> Result<Self> {
        Ok(Search {
            bits,
            e: e.to_be_bytes(),
            rng,
            tester: backend.tester(bits / 2)?,
            lanes: backend.lanes().clamp(1, AHEAD),
            stop: None,
            counts: Counts::default(),
        })
    }

    /// Step 4, or step 5 if `other` is the first prime.
    fn prime(&mut self, limit: usize, other: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>> {
        // Steps 4.1, 5.1.
        let mut drawn = 0;
        let found = self.first_prime(|search| {
            // Steps 4.7, 5.8.
            if drawn == limit {
                return Ok(None);
            }
            // Steps 4.6, 5.7.
            drawn += 1;
            draw::candidate(search.rng, two_primes(search.bits), other).map(Some)
        })?;
        found
            .map(|found| found.prime)
            .ok_or_else(|| Error::generation(format!("{limit} candidates in a row were not prime")))
    }

    /// The first prime among the candidates that `next` gives, with its place; none if they end before.
    fn first_prime(
        &mut self,
        mut next: impl FnMut(&mut Self) -> Result<Option<Zeroizing<Vec<u8>>>>,
    ) -> Result<Option<Found>> {
        let len = prime_len(self.bits);
        let mut candidates = Zeroizing::new(Vec::with_capacity(AHEAD * len));
        let mut bases = Zeroizing::new(Vec::with_capacity(AHEAD * len));
        let mut places = Vec::with_capacity(AHEAD);
        let mut taken = 0;
        let mut is_last = false;
        while !is_last {
            candidates.clear();
            bases.clear();
            places.clear();
            while places.len() < AHEAD {
                check_stop(self.stop)?;
                let Some(candidate) = next(self)? else {
                    is_last = true;
                    break;
                };
                taken += 1;
                self.counts.candidates += 1;
                // Steps 4.5, 5.6, after the small primes.
                if !has_small_factor(&candidate) && integer::is_coprime_to_predecessor(&candidate, &self.e) {
                    bases.extend_from_slice(&draw::base(self.rng, &candidate, self.bits / 2)?);
                    candidates.extend_from_slice(&candidate);
                    places.push(taken - 1);
                }
            }
            // Steps 4.5.1, 5.6.1.
            for ((candidates, bases), places) in candidates
                .chunks(self.lanes * len)
                .zip(bases.chunks(self.lanes * len))
                .zip(places.chunks(self.lanes))
            {
                let mut passed = [false; AHEAD];
                let passed = &mut passed[..places.len()];
                check_stop(self.stop)?;
                self.tester.round(candidates, bases, passed)?;
                self.counts.tests += passed.len() as u64;
                self.counts.rounds += passed.len() as u64;
                for ((candidate, place), _) in candidates
                    .chunks(len)
                    .zip(places)
                    .zip(passed)
                    .filter(|(_, passed)| **passed)
                {
                    // Steps 4.5.2, 5.6.2.
                    if self.passes_the_other_rounds(candidate)? {
                        return Ok(Some(Found {
                            place: *place,
                            prime: Zeroizing::new(candidate.to_vec()),
                        }));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The rounds after the first, as many at once as the kernel has lanes: hardly any composite comes this far.
    fn passes_the_other_rounds(&mut self, candidate: &[u8]) -> Result<bool> {
        let rounds = miller_rabin_rounds(self.bits / 2) - 1;
        let mut bases = Zeroizing::new(Vec::with_capacity(rounds * candidate.len()));
        for _ in 0..rounds {
            bases.extend_from_slice(&draw::base(self.rng, candidate, self.bits / 2)?);
        }
        let candidates = Zeroizing::new(candidate.repeat(rounds));
        let mut passed = vec![false; rounds];
        let at_once = self.lanes * candidate.len();
        for ((candidates, bases), passed) in candidates
            .chunks(at_once)
            .zip(bases.chunks(at_once))
            .zip(passed.chunks_mut(self.lanes))
        {
            check_stop(self.stop)?;
            self.tester.round(candidates, bases, passed)?;
        }
        self.counts.rounds += rounds as u64;
        Ok(passed.iter().all(|&passed| passed))
    }
}
