//! Generation of keys by FIPS 186-5, appendix A.1.3: random primes that are probably prime. Steps are numbered as there.
//!
//! Where this departs from the standard: moduli from 512 bits and public exponents from 3 are generated too, because
//! both are measured here (the standard wants 2048 bits and more, and `2^16 < e < 2^256`); and candidates are divided by
//! small primes before their `gcd` and their Miller–Rabin rounds, which rejects earlier what would be rejected anyway.

use rand_core::TryCryptoRng;
use rsalab_arith::{candidate::has_small_factor, integer};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Backend, CandidateTester, Error, PrivateKey, Status,
    keys::{MAX_BITS, MIN_BITS, modulus_len, prime_len},
};

/// The public exponent that nearly every key has.
pub const DEFAULT_EXPONENT: u64 = 65537;

/// A key with the work that it took.
#[derive(Debug)]
pub struct Generated {
    /// The key, with `p > q`.
    pub key: PrivateKey,
    /// The work.
    pub counts: Counts,
}

/// Two primes fit for a key, big-endian, of half its length each, with the work that they took.
pub struct PrimePair {
    /// The larger prime; of a given sequence, the first.
    pub p: Zeroizing<Vec<u8>>,
    /// The smaller prime; of a given sequence, the second.
    pub q: Zeroizing<Vec<u8>>,
    /// The work.
    pub counts: Counts,
}

/// The work of a search for primes. Luck dominates its time, and these numbers allow to correct for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Candidates counted by steps 4.6 and 5.7, and those that turned out prime: odd numbers of the right size.
    pub candidates: u64,
    /// Candidates that went through at least one Miller–Rabin round.
    pub tests: u64,
    /// Miller–Rabin rounds in all.
    pub rounds: u64,
}

/// Generates a key of `bits` bits with the public exponent `e`.
///
/// # Errors
///
/// [`Error::KeySize`] unless `bits` is even and from [`MIN_BITS`] to [`MAX_BITS`]; [`Error::Generation`] for an exponent
/// that is even or below 3, if a search runs into its limit (fewer than one in 10^12), or if the new key fails its
/// consistency check; [`Error::Randomness`] and [`Error::Backend`] from below.
pub fn generate<R: TryCryptoRng + ?Sized>(
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<Generated, Error> {
    let mut counts = Counts::default();
    loop {
        let pair = prime_pair(bits, e, rng, backend)?;
        counts.add(pair.counts);
        let key = PrivateKey::from_primes(&pair.p, &pair.q, &e.to_be_bytes())?;
        // A.1.1, criterion 3: in the extremely rare event that d <= 2^(nlen/2), new primes are taken.
        if integer::bits_vartime(key.d()) > bits / 2 {
            check_consistency(&key, rng, backend)?;
            return Ok(Generated { key, counts });
        }
    }
}

/// Finds two primes for a modulus of `bits` bits and the public exponent `e`.
///
/// The larger is called `p`, as some implementations of CRT expect. The result depends on what `rng` gives alone, not on
/// the backend or its lanes.
///
/// # Errors
///
/// As for [`generate`].
pub fn prime_pair<R: TryCryptoRng + ?Sized>(
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<PrimePair, Error> {
    // Steps 1 and 2, with the wider ranges of this laboratory.
    if !(MIN_BITS..=MAX_BITS).contains(&bits) || !bits.is_multiple_of(2) {
        return Err(Error::KeySize {
            bits,
            reason: format!(
                "keys are generated with an even number of bits from {MIN_BITS} to {MAX_BITS}"
            ),
        });
    }
    if e < 3 || e.is_multiple_of(2) {
        return Err(Error::Generation {
            reason: format!("the public exponent must be odd and at least 3, not {e}"),
        });
    }
    let mut search = Search::new(bits, e, rng, backend)?;
    // Steps 4 and 5.
    let p = search.prime(5 * bits, None)?;
    let q = search.prime(10 * bits, Some(&p))?;
    let (p, q) = if integer::is_less(&q, &p) {
        (p, q)
    } else {
        (q, p)
    };
    Ok(PrimePair {
        p,
        q,
        counts: search.counts,
    })
}

/// Finds the first two primes of a sequence of candidates, in its order, with the tests of [`prime_pair`] and without its
/// luck: for measurements, where every implementation is given the same.
///
/// `candidates` holds odd numbers of `bits / 2` bits, their top two bits set, big-endian. A prime that does not suit `e`
/// is passed over.
///
/// # Errors
///
/// As for [`generate`]; [`Error::Generation`] too if there are fewer than two primes.
pub fn first_primes_of<R: TryCryptoRng + ?Sized>(
    candidates: &[u8],
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<PrimePair, Error> {
    let mut search = Search::new(bits, e, rng, backend)?;
    let mut rest = candidates.chunks_exact(prime_len(bits));
    let mut prime = || {
        // What a batch took ahead is given back where the prime was found before it.
        let from = rest.clone();
        let found = search.first_prime(|_| {
            Ok(rest
                .next()
                .map(|candidate| Zeroizing::new(candidate.to_vec())))
        })?;
        let found = found.ok_or_else(|| Error::Generation {
            reason: "there are fewer than two primes among the candidates".to_owned(),
        })?;
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

/// Miller–Rabin rounds with random bases after which a random number of `prime_bits` bits is composite with a
/// probability below `2^-128`.
///
/// FIPS 186-5 table B.1 has 4 rounds for primes of 1536 bits (its row for `2^-128`) and of 2048 bits (its row for
/// `2^-144`). The other sizes, for which the table has no such row, come from the formula behind the table in appendix
/// C.1 (Damgård, Landrock and Pomerance 1993): at 1024 bits the table's 5 rounds are for `2^-112`, and `2^-128` takes 6.
/// The formula is for numbers with the top bit set; that candidates here are those above `√2·2^(k−1)`, no fewer than
/// half of them, at most doubles the probability, which the figures bear.
pub const fn miller_rabin_rounds(prime_bits: usize) -> usize {
    match prime_bits {
        0..384 => 27,
        384..512 => 16,
        512..768 => 12,
        768..1024 => 8,
        1024..1536 => 6,
        _ => 4,
    }
}

/// Candidates drawn ahead. The number does not depend on the lanes, so that the same seed gives the same key on every
/// kernel; a kernel with fewer lanes leaves the last ones untested.
const AHEAD: usize = 8;

/// Draws after which a generator that never gives anything acceptable is taken for broken. The standard would draw on for
/// ever; of good draws three in ten are accepted, so this many fail in a row with a probability of `2^-500`.
const MAX_DRAWS: usize = 1000;

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
    counts: Counts,
}

impl<'a, R: TryCryptoRng + ?Sized> Search<'a, R> {
    fn new(bits: usize, e: u64, rng: &'a mut R, backend: &'a dyn Backend) -> Result<Self, Error> {
        Ok(Search {
            bits,
            e: e.to_be_bytes(),
            rng,
            tester: backend.tester(prime_len(bits))?,
            lanes: backend.lanes().clamp(1, AHEAD),
            counts: Counts::default(),
        })
    }

    /// Step 4, or step 5 if `other` is the first prime.
    fn prime(&mut self, limit: usize, other: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, Error> {
        // Steps 4.1, 5.1.
        let mut drawn = 0;
        let found = self.first_prime(|search| {
            // Steps 4.7, 5.8.
            if drawn == limit {
                return Ok(None);
            }
            // Steps 4.6, 5.7.
            drawn += 1;
            search.candidate(other).map(Some)
        })?;
        found
            .map(|found| found.prime)
            .ok_or_else(|| Error::Generation {
                reason: format!("{limit} candidates in a row were not prime"),
            })
    }

    /// The first prime among the candidates that `next` gives, with its place; none if they end before.
    fn first_prime(
        &mut self,
        mut next: impl FnMut(&mut Self) -> Result<Option<Zeroizing<Vec<u8>>>, Error>,
    ) -> Result<Option<Found>, Error> {
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
                let Some(candidate) = next(self)? else {
                    is_last = true;
                    break;
                };
                taken += 1;
                self.counts.candidates += 1;
                // Steps 4.5, 5.6, after the small primes.
                if !has_small_factor(&candidate)
                    && integer::is_coprime_to_predecessor(&candidate, &self.e)
                {
                    bases.extend_from_slice(&self.base(&candidate)?);
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

    /// Steps 4.2 to 4.4, or 5.2 to 5.5: a random odd number of half the modulus's bits, not too small, and not too close
    /// to the other prime.
    fn candidate(&mut self, other: Option<&[u8]>) -> Result<Zeroizing<Vec<u8>>, Error> {
        for _ in 0..MAX_DRAWS {
            // Steps 4.2 and 4.3, 5.2 and 5.3.
            let mut candidate = self.random_half()?;
            let last = candidate.len() - 1;
            candidate[last] |= 1;
            // Steps 4.4, 5.4 and 5.5; the distance from the other prime is the cheaper question.
            if other.is_some_and(|other| !integer::differ_enough(other, &candidate, self.bits)) {
                continue;
            }
            if is_large_enough(&candidate, self.bits / 2) {
                return Ok(candidate);
            }
        }
        Err(stuck())
    }

    /// FIPS 186-5, B.3.1, steps 4.1 and 4.2: a random base `b` with `1 < b < w − 1`.
    fn base(&mut self, w: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
        // The candidate is odd.
        let mut predecessor = Zeroizing::new(w.to_vec());
        let last = predecessor.len() - 1;
        predecessor[last] &= !1;
        for _ in 0..MAX_DRAWS {
            let base = self.random_half()?;
            if integer::is_less(&[1], &base) && integer::is_less(&base, &predecessor) {
                return Ok(base);
            }
        }
        Err(stuck())
    }

    /// The rounds after the first, all at once: hardly any composite comes this far.
    fn passes_the_other_rounds(&mut self, candidate: &[u8]) -> Result<bool, Error> {
        let rounds = miller_rabin_rounds(self.bits / 2) - 1;
        let mut bases = Zeroizing::new(Vec::with_capacity(rounds * candidate.len()));
        for _ in 0..rounds {
            bases.extend_from_slice(&self.base(candidate)?);
        }
        let mut passed = vec![false; rounds];
        self.tester.round(
            &Zeroizing::new(candidate.repeat(rounds)),
            &bases,
            &mut passed,
        )?;
        self.counts.rounds += rounds as u64;
        Ok(passed.iter().all(|&passed| passed))
    }

    /// A string of `bits / 2` random bits.
    fn random_half(&mut self) -> Result<Zeroizing<Vec<u8>>, Error> {
        random_bits(self.rng, self.bits / 2, prime_len(self.bits))
    }
}

impl Counts {
    fn add(&mut self, more: Counts) {
        self.candidates += more.candidates;
        self.tests += more.tests;
        self.rounds += more.rounds;
    }
}

/// Whether `candidate ≥ √2·2^(bits−1)`, exactly: whether its square has `2·bits` bits.
fn is_large_enough(candidate: &[u8], bits: usize) -> bool {
    integer::bits_vartime(&integer::multiply(candidate, candidate)) == 2 * bits
}

/// Encrypts and decrypts a random number (the pairwise consistency test of FIPS 140-3, for keys of encryption).
fn check_consistency<R: TryCryptoRng + ?Sized>(
    key: &PrivateKey,
    rng: &mut R,
    backend: &dyn Backend,
) -> Result<(), Error> {
    let len = modulus_len(key.bits());
    // One bit less than the modulus is below it.
    let message = random_bits(rng, key.bits() - 1, len)?;
    let (mut cipher, mut back) = (vec![0; len], Zeroizing::new(vec![0; len]));
    let mut status = [Status::Done];
    backend
        .prepare_public(key.public())?
        .runner()?
        .run(&message, &mut cipher, &mut status)?;
    let encrypted = status == [Status::Done] && cipher != *message;
    backend
        .prepare_private(key)?
        .runner()?
        .run(&cipher, &mut back, &mut status)?;
    if encrypted && status == [Status::Done] && bool::from(back.ct_eq(&message)) {
        return Ok(());
    }
    Err(Error::Generation {
        reason:
            "a new key did not decrypt what it had encrypted; this points to a fault of the machine"
                .to_owned(),
    })
}

fn stuck() -> Error {
    Error::Randomness {
        reason: format!(
            "none of {MAX_DRAWS} numbers in a row was of use; they do not seem to be random"
        ),
    }
}

/// A number of `bits` random bits in `len` bytes.
fn random_bits<R: TryCryptoRng + ?Sized>(
    rng: &mut R,
    bits: usize,
    len: usize,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut number = Zeroizing::new(vec![0; len]);
    let random = &mut number[len - bits.div_ceil(8)..];
    rng.try_fill_bytes(random)
        .map_err(|error| Error::Randomness {
            reason: error.to_string(),
        })?;
    random[0] &= 0xff >> (random.len() * 8 - bits);
    Ok(number)
}
