//! Many keys: random starts, a sieve over the interval after each, and many searches interleaved, so that no lane of a
//! kernel idles.
//!
//! ```text
//! start      a random odd number of a prime's length, not too small                steps 4.2 to 4.4
//! interval   the odd numbers from there on, less those with a small factor        (a sieve in constant time)
//! candidate  one of the survivors after the other, in random order                steps 4.5, 5.6
//! pre-test   to base two: rejects nearly every composite, for squarings alone
//! rounds     Miller–Rabin with random bases, as many as ever                      steps 4.5.1, 5.6.1
//! prime      the first that passes; its search begins again with a new start
//! primes     the next two, or as many as asked for, if far enough apart           step 5.4
//! key        d, the CRT parameters, and a private operation that is checked       A.1.1; pairwise consistency
//! ```
//!
//! **How this relates to A.1.3.** There, every candidate is drawn anew, and each prime is as likely as every other.
//! Here a start is drawn so, and each prime of its interval is as likely as the others of that interval: the fewer
//! primes there are near it, the likelier a prime is found. An interval of 1,024 odd numbers near `2^1024` has 2.9
//! primes on average, so that the likeliest primes are found a few times as often as the mean, which takes less than
//! two of the thousand bits of entropy away. (Candidates in order, as in Brandt and Damgård, "On generation of probable
//! primes by incremental search", 1993, favour primes after long gaps more.) Starts at the very end of the length,
//! which have no room for an interval, are drawn again. Whoever needs the letter of the standard takes
//! [`strict`](super::strict).
//!
//! The pre-test counts as no round: its base is not random.

use std::{cmp::Ordering, collections::VecDeque, process, sync::atomic::AtomicBool};

use rand_core::TryCryptoRng;
use rsalab_arith::integer;
use zeroize::Zeroizing;

use super::{
    consistency::check_consistency,
    generation::Generation,
    parameters::{
        Counts, DEFAULT_EXPONENT, Generated, PrimePair, PublicExponent, check_stop, key_of, miller_rabin_rounds,
    },
};
use crate::{
    CpuBackend, Error, PrivateKey, Result,
    backend::{Backend, CandidateTester, Interval},
    draw,
    keys::modulus_len,
    random::SystemRng,
};

impl PrivateKey {
    /// A new key of `bits` bits with the public exponent 65537, of the system's randomness. For many keys, and other
    /// exponents, see [`Generation`].
    ///
    /// # Errors
    ///
    /// As for [`generate`].
    pub fn generate(bits: usize) -> Result<Self> {
        Ok(generate(bits, DEFAULT_EXPONENT, &mut SystemRng)?.key)
    }
}

/// Generates a key of `bits` bits with the public exponent `e`, on this CPU.
///
/// # Errors
///
/// As for [`Generation::new`] and [`Generator::keys`].
pub fn generate<R: TryCryptoRng + ?Sized>(bits: usize, e: u64, rng: &mut R) -> Result<Generated> {
    generate_on(bits, e, rng, CpuBackend::auto())
}

/// As [`generate`], on a backend.
///
/// # Errors
///
/// As for [`generate`].
pub fn generate_on<R: TryCryptoRng + ?Sized>(
    bits: usize,
    e: u64,
    rng: &mut R,
    backend: impl Backend + 'static,
) -> Result<Generated> {
    let e = PublicExponent::Fixed(e);
    let generation = Generation::with_backend(bits, e, Box::new(backend))?;
    Ok(generation.generator(rng)?.keys(1)?.remove(0))
}

/// One thread's generator of keys.
///
/// It belongs to the process that made it: in a child of a fork it gives nothing but an error, for what both processes
/// went on from would be the same, and so would the primes be.
pub struct Generator<'g, R> {
    generation: &'g Generation,
    /// The process that made it.
    process: u32,
    rng: R,
    tester: Box<dyn CandidateTester + 'g>,
    searches: Vec<Search>,
    /// Primes that have passed the pre-test and wait for their rounds.
    probable: Vec<Prime>,
    primes: VecDeque<Prime>,
    looks_ahead: bool,
    /// Tests that the backend is asked for at once, between two looks at `stop`.
    at_once: usize,
    stop: Option<&'g AtomicBool>,
    counts: Counts,
}

/// A search for one prime.
#[derive(Default)]
struct Search {
    interval: Option<Interval>,
    counts: Counts,
}

/// A number with the work that its search took.
struct Prime {
    value: Zeroizing<Vec<u8>>,
    counts: Counts,
}

/// Probable primes whose rounds are done together: with as many bases each, they fill any lanes.
const PROBABLE_PRIMES: usize = 8;
/// Searches of which one in thirty finds a probable prime at a time.
const SEARCHES_FOR_A_PROBABLE_PRIME: usize = 64;
/// Bits of primes whose tests are so slow on some kernels that a stop must not wait for all of a step: at 8192 bits
/// sixteen pre-tests take 2.5 s on one lane.
const LONG_PRIME: usize = 2048;
/// Groups of lanes that are tested at once there: the fastest kernels interleave two.
const LANE_GROUPS: usize = 2;
/// Keys that are checked together.
const CHECKED: usize = 8;
/// Intervals without a prime after which randomness is taken for broken: with good randomness one in a dozen has none.
const MAX_EXHAUSTED: usize = 200;
/// Primes in a row that are too close to the one that waits, after which randomness is taken for broken.
const MAX_TOO_CLOSE: usize = 10;
/// Exponents for one key after which randomness is taken for broken: of odd numbers, two in five suit, or fewer where p
/// − 1 and q − 1 have many small factors.
const MAX_EXPONENTS: usize = 10_000;

impl Generation {
    /// A generator for one thread, with randomness of its own.
    ///
    /// # Errors
    ///
    /// [`Error::Backend`].
    pub fn generator<R: TryCryptoRng>(&self, rng: R) -> Result<Generator<'_, R>> {
        Ok(Generator {
            generation: self,
            process: process::id(),
            rng,
            tester: self.backend.tester(self.size.prime())?,
            searches: std::iter::repeat_with(Search::default).take(self.searches).collect(),
            probable: Vec::with_capacity(PROBABLE_PRIMES),
            primes: VecDeque::new(),
            looks_ahead: false,
            at_once: match self.size.prime() < LONG_PRIME {
                true => usize::MAX,
                false => LANE_GROUPS * self.backend.lanes().max(1),
            },
            stop: None,
            counts: Counts::default(),
        })
    }
}

impl<'g, R: TryCryptoRng> Generator<'g, R> {
    /// Goes on as if more keys were always wanted: primes that a call does not need are kept for the next one.
    /// Otherwise each call ends with fewer searches than it began with, and leaves no start and no prime over.
    pub fn looking_ahead(self) -> Self {
        Generator {
            looks_ahead: true,
            ..self
        }
    }

    /// Ends a call with [`Error::Stopped`] soon after the flag is raised: within the time of one step, or, of primes
    /// from 2048 bits on, of the tests of two candidates in each lane. The flag changes nothing about the keys that the
    /// same randomness gives.
    pub fn stopped_by(self, stop: &'g AtomicBool) -> Self {
        Generator {
            stop: Some(stop),
            ..self
        }
    }

    /// The work of all calls so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The next `count` pairs of primes.
    ///
    /// # Errors
    ///
    /// [`Error::Generation`] in a child of a fork; [`Error::Stopped`]; [`Error::Randomness`] and [`Error::Backend`]
    /// from below.
    ///
    /// # Panics
    ///
    /// If keys of more than two primes were asked for.
    pub fn pairs(&mut self, count: usize) -> Result<Vec<PrimePair>> {
        self.check_process()?;
        assert_eq!(self.generation.size.primes, 2, "pairs are of two primes");
        (0..count)
            .map(|made| {
                let (primes, counts) = self.next_primes(count - made)?;
                let mut primes = primes.into_iter();
                let (one, other) = (primes.next(), primes.next());
                let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
                Ok(PrimePair::ordered(one, other, counts))
            })
            .collect()
    }

    /// The next `count` keys. Each has done a private operation whose result was checked.
    ///
    /// # Errors
    ///
    /// [`Error::Generation`] if a new key fails its check, and in a child of a fork; [`Error::Stopped`];
    /// [`Error::Randomness`] and [`Error::Backend`] from below.
    pub fn keys(&mut self, count: usize) -> Result<Vec<Generated>> {
        self.check_process()?;
        let mut made = Vec::with_capacity(count);
        while made.len() < count {
            let missing = count - made.len();
            let few = missing.min(CHECKED);
            let mut keys = Vec::with_capacity(few);
            let mut counts = Vec::with_capacity(few);
            while keys.len() < few {
                let (mut primes, work) = self.next_primes(missing - keys.len())?;
                // Some implementations of CRT expect that p is larger than q. The order says nothing that the primes do
                // not.
                primes.sort_by(|one, other| match integer::is_less(one, other) {
                    true => Ordering::Greater,
                    false => Ordering::Less,
                });
                let primes: Vec<&[u8]> = primes.iter().map(|prime| &prime[..]).collect();
                let key = match self.generation.e {
                    PublicExponent::Fixed(e) => key_of(&primes, self.generation.size.modulus, e)?,
                    PublicExponent::Random => Some(self.key_with_any_exponent(&primes)?),
                };
                if let Some(key) = key {
                    keys.push(key);
                    counts.push(work);
                }
            }
            check_stop(self.stop)?;
            check_consistency(
                &keys,
                self.generation.size.modulus,
                &mut self.rng,
                &*self.generation.backend,
            )?;
            let generated = keys.into_iter().zip(counts);
            made.extend(generated.map(|(key, counts)| Generated { key, counts }));
        }
        Ok(made)
    }

    /// After a fork, two processes must not go on from the same randomness, starts and primes.
    fn check_process(&self) -> Result<()> {
        match process::id() == self.process {
            true => Ok(()),
            false => Err(Error::generation(
                "this generator belongs to the process that made it: after a fork, make another",
            )),
        }
    }

    /// The key of primes with an exponent drawn for it. Its d is as good as random, and not asked for its length.
    fn key_with_any_exponent(&mut self, primes: &[&[u8]]) -> Result<PrivateKey> {
        let bits = self.generation.size.modulus;
        let len = modulus_len(bits);
        let n = primes
            .iter()
            .fold(Zeroizing::new(vec![1]), |n, prime| integer::multiply(&n, prime));
        for _ in 0..MAX_EXPONENTS {
            let mut e = draw::bits(&mut self.rng, bits, len)?;
            e[len - 1] |= 1;
            let suits = |prime: &&[u8]| integer::is_coprime_to_predecessor(prime, &e);
            if integer::is_less(&e, &n) && primes.iter().all(suits) {
                return PrivateKey::multi_prime(primes, &e);
            }
        }
        Err(draw::stuck())
    }

    /// The primes of the next key, with their work, where `wanted` keys are missing.
    fn next_primes(&mut self, wanted: usize) -> Result<(Vec<Zeroizing<Vec<u8>>>, Counts)> {
        let size = self.generation.size;
        for _ in 0..MAX_TOO_CLOSE {
            while self.primes.len() < size.primes {
                self.step(size.primes * wanted)?;
            }
            // Step 5.4. One in 2^100 is too close; it is given up, and the others wait for another.
            let too_close = (1..size.primes).find(|&place| {
                let mut before = self.primes.range(..place);
                before.any(|one| !size.differ_enough(&one.value, &self.primes[place].value))
            });
            if let Some(place) = too_close {
                self.primes.remove(place);
                continue;
            }
            let mut counts = Counts::default();
            let primes = self.primes.drain(..size.primes).map(|prime| {
                counts.add(prime.counts);
                prime.value
            });
            return Ok((primes.collect(), counts));
        }
        Err(draw::stuck())
    }

    /// Tests one candidate in each slot, of as many searches as the wanted primes are worth.
    fn step(&mut self, wanted: usize) -> Result<()> {
        check_stop(self.stop)?;
        let slots = self.searches.len();
        let on_the_way = self.primes.len() + self.probable.len();
        let missing = match self.looks_ahead {
            true => slots,
            false => wanted.saturating_sub(on_the_way),
        };
        let enough = PROBABLE_PRIMES.max(slots / SEARCHES_FOR_A_PROBABLE_PRIME);
        if missing == 0 || self.probable.len() >= enough {
            return self.confirm();
        }
        let active = missing.min(slots);
        if !self.looks_ahead {
            // This call has no more use for them, and the next one begins with starts of its own.
            for search in &mut self.searches[active..] {
                search.interval = None;
            }
        }
        let len = self.generation.size.prime_len();
        let mut candidates = Zeroizing::new(vec![0; slots * len]);
        for (slot, candidate) in candidates.chunks_exact_mut(len).enumerate() {
            self.next_candidate(slot % active, candidate)?;
        }
        let mut passed = vec![false; slots];
        let at_once = self.at_once.min(slots);
        for (candidates, passed) in candidates.chunks(at_once * len).zip(passed.chunks_mut(at_once)) {
            check_stop(self.stop)?;
            self.tester.pre_test(candidates, passed)?;
        }
        self.counts.tests += slots as u64;
        for slot in 0..slots {
            self.searches[slot % active].counts.tests += 1;
        }
        let mut has_found = vec![false; slots];
        for (slot, candidate) in candidates.chunks_exact(len).enumerate() {
            let search = slot % active;
            if passed[slot] && !has_found[search] && self.suits(candidate) {
                has_found[search] = true;
                let Search { counts, .. } = std::mem::take(&mut self.searches[search]);
                self.probable.push(Prime {
                    value: Zeroizing::new(candidate.to_vec()),
                    counts,
                });
            }
        }
        Ok(())
    }

    /// The next candidate of a search, from a new start where the last one has no more.
    fn next_candidate(&mut self, search: usize, candidate: &mut [u8]) -> Result<()> {
        let Generation {
            size,
            sieve,
            asks_early,
            ..
        } = self.generation;
        let mut exhausted = 0;
        loop {
            let found = match &mut self.searches[search].interval {
                Some(interval) => interval
                    .pick(draw::word(&mut self.rng)?, candidate)
                    .map_err(Error::generation)?,
                None => false,
            };
            if !found {
                if exhausted == MAX_EXHAUSTED {
                    return Err(draw::stuck());
                }
                exhausted += 1;
                let start = draw::candidate(&mut self.rng, *size, None)?;
                // The few starts at the very end of the length have no room for an interval.
                self.searches[search].interval = sieve.interval(&start).ok();
                continue;
            }
            self.searches[search].counts.candidates += 1;
            self.counts.candidates += 1;
            if !asks_early || self.suits(candidate) {
                return Ok(());
            }
        }
    }

    /// Steps 4.5, 5.6: whether `gcd(p − 1, e) = 1`.
    fn suits(&self, candidate: &[u8]) -> bool {
        match self.generation.e {
            PublicExponent::Fixed(e) => integer::is_coprime_to_predecessor(candidate, &e.to_be_bytes()),
            // It is drawn to suit the primes.
            PublicExponent::Random => true,
        }
    }

    /// Does the rounds of all probable primes.
    fn confirm(&mut self) -> Result<()> {
        let bits = self.generation.size.prime();
        let rounds = miller_rabin_rounds(bits);
        // The room is taken at once: growing would leave copies of primes behind.
        let room = self.probable.len() * rounds * self.generation.size.prime_len();
        let mut candidates = Zeroizing::new(Vec::with_capacity(room));
        let mut bases = Zeroizing::new(Vec::with_capacity(room));
        for prime in &self.probable {
            for _ in 0..rounds {
                candidates.extend_from_slice(&prime.value);
                bases.extend_from_slice(&draw::base(&mut self.rng, &prime.value, bits)?);
            }
        }
        let mut passed = vec![false; self.probable.len() * rounds];
        let at_once = self.at_once.clamp(1, passed.len().max(1));
        let bytes = at_once * self.generation.size.prime_len();
        for ((candidates, bases), passed) in candidates
            .chunks(bytes)
            .zip(bases.chunks(bytes))
            .zip(passed.chunks_mut(at_once))
        {
            check_stop(self.stop)?;
            self.tester.round(candidates, bases, passed)?;
        }
        self.counts.rounds += passed.len() as u64;
        for (mut prime, passed) in self.probable.drain(..).zip(passed.chunks_exact(rounds)) {
            prime.counts.rounds += rounds as u64;
            if passed.iter().all(|&passed| passed) {
                self.primes.push_back(prime);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::InsecureStudySeed;

    fn generation() -> Generation {
        Generation::new(512, PublicExponent::Fixed(DEFAULT_EXPONENT)).unwrap()
    }

    #[test]
    fn a_child_of_a_fork_gets_neither_keys_nor_primes() {
        let generation = generation();
        let mut generator = generation.generator(SystemRng).unwrap().looking_ahead();
        assert_eq!(generator.keys(1).unwrap().len(), 1);
        // As the child sees what its parent left.
        generator.process ^= 1;
        let refused = [generator.keys(1).err(), generator.pairs(1).err()];
        for error in refused {
            let error = error.expect("refused");
            assert!(matches!(error, Error::Generation { .. }), "{error}");
            assert!(error.to_string().ends_with("after a fork, make another"), "{error}");
        }
        generator.process ^= 1;
        assert_eq!(generator.keys(1).unwrap().len(), 1);
    }

    #[test]
    fn a_call_that_does_not_look_ahead_leaves_nothing_over() {
        let generation = generation();
        for (stream, count) in [(0, 1), (1, 2), (2, 9), (3, 20)] {
            let rng = InsecureStudySeed::new([10; 32]).stream(stream);
            let mut generator = generation.generator(rng).unwrap();
            assert_eq!(generator.keys(count).unwrap().len(), count);
            assert!(generator.primes.is_empty() && generator.probable.is_empty());
            assert!(generator.searches.iter().all(|search| search.interval.is_none()));
        }
    }
}
