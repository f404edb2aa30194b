//! Faults of a key that is well formed which take work to find: a modulus that is no product of two different primes.

use rand_core::TryCryptoRng;
use rsalab_arith::candidate::has_small_factor;

use std::{collections::BTreeMap, fmt};

use crate::{
    CpuBackend, Error, PrivateKey, PublicKey, Result,
    backend::Backend,
    keys::{SQUARE, is_square_vartime},
    primality::are_probable_primes_on,
};

/// Why a modulus can be seen to be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModulusFault {
    /// A small prime divides it.
    SmallFactor,
    /// It is a square.
    Square,
    /// It is a prime.
    Prime,
}

impl fmt::Display for ModulusFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ModulusFault::SmallFactor => "a small prime divides its modulus",
            ModulusFault::Square => SQUARE,
            ModulusFault::Prime => "its modulus is a prime, and no product of two",
        })
    }
}

impl PublicKey {
    /// Refuses a modulus that can be seen to be none: one that a small prime divides, a square, or a prime.
    ///
    /// A prime passes Euler's criterion and a round of the Miller–Rabin test with every base. The base of both is 2: it
    /// takes no randomness, and a product of two primes that passes is one that somebody made for that. Only the few
    /// moduli that pass the criterion, which costs squarings alone, get the round.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`].
    pub fn check_modulus(&self) -> Result<()> {
        self.check_modulus_on(&CpuBackend::auto())
    }

    /// As [`check_modulus`](Self::check_modulus), on a backend.
    ///
    /// # Errors
    ///
    /// As for [`check_modulus`](Self::check_modulus), and those of the backend.
    pub fn check_modulus_on(&self, backend: &dyn Backend) -> Result<()> {
        match PublicKey::modulus_faults_on(&[self], backend)?.remove(0) {
            Some(fault) => invalid(&fault.to_string()),
            None => Ok(()),
        }
    }

    /// Does for each of many keys what [`check_modulus`](Self::check_modulus) does for one: what is wrong with it, if
    /// anything is. The moduli of a length share the lanes of the kernel.
    ///
    /// # Errors
    ///
    /// Errors of the arithmetic, which sound keys do not cause.
    pub fn modulus_faults(keys: &[&PublicKey]) -> Result<Vec<Option<ModulusFault>>> {
        PublicKey::modulus_faults_on(keys, &CpuBackend::auto())
    }

    /// As [`modulus_faults`](Self::modulus_faults), on a backend.
    ///
    /// # Errors
    ///
    /// Errors of the backend.
    pub fn modulus_faults_on(keys: &[&PublicKey], backend: &dyn Backend) -> Result<Vec<Option<ModulusFault>>> {
        let mut faults = Vec::with_capacity(keys.len());
        // A tester takes numbers of one length.
        let mut by_bits: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (place, key) in keys.iter().enumerate() {
            faults.push(match key.n() {
                n if has_small_factor(n) => Some(ModulusFault::SmallFactor),
                n if is_square_vartime(n) => Some(ModulusFault::Square),
                _ => {
                    by_bits.entry(key.bits()).or_default().push(place);
                    None
                }
            });
        }
        for (bits, places) in by_bits {
            let len = bits.div_ceil(8);
            let mut tester = backend.tester(bits)?;
            // Squarings alone, and no prime fails it.
            let mut passed = vec![false; places.len()];
            tester.pre_test(&moduli(keys, &places), &mut passed)?;
            let suspects: Vec<usize> = places
                .into_iter()
                .zip(passed)
                .filter_map(|(place, passed)| passed.then_some(place))
                .collect();
            if suspects.is_empty() {
                continue;
            }
            let mut two = vec![0; len];
            two[len - 1] = 2;
            let mut passed = vec![false; suspects.len()];
            tester.round(&moduli(keys, &suspects), &two.repeat(suspects.len()), &mut passed)?;
            for (place, passed) in suspects.into_iter().zip(passed) {
                faults[place] = passed.then_some(ModulusFault::Prime);
            }
        }
        Ok(faults)
    }
}

/// The moduli of these keys, one after the other.
fn moduli(keys: &[&PublicKey], places: &[usize]) -> Vec<u8> {
    places.iter().flat_map(|&place| keys[place].n()).copied().collect()
}

impl PrivateKey {
    /// Refuses a key whose primes are composite: each stands trial division and so many rounds with random bases, of
    /// which a composite passes one in four at most. [`ROUNDS`] are beyond doubt; [`ROUNDS_BEFORE_USE`] are quick, and
    /// for a key whose results will be checked.
    ///
    /// [`ROUNDS`]: crate::primality::ROUNDS
    /// [`ROUNDS_BEFORE_USE`]: crate::primality::ROUNDS_BEFORE_USE
    ///
    /// # Errors
    ///
    /// [`Error::InvalidKey`] names the one that is not prime; [`Error::Randomness`] if there is none.
    pub fn check_primes<R: TryCryptoRng + ?Sized>(&self, rounds: usize, rng: &mut R) -> Result<()> {
        self.check_primes_on(rounds, rng, &CpuBackend::auto())
    }

    /// As [`check_primes`](Self::check_primes), on a backend.
    ///
    /// # Errors
    ///
    /// As for [`check_primes`](Self::check_primes), and those of the backend.
    pub fn check_primes_on<R: TryCryptoRng + ?Sized>(
        &self,
        rounds: usize,
        rng: &mut R,
        backend: &dyn Backend,
    ) -> Result<()> {
        PrivateKey::check_many_on(&[self], rounds, rng, backend)?.remove(0)
    }

    /// Does for each of many keys what [`check_primes`](Self::check_primes) does for one. The primes of all keys are
    /// tested together: they fill the lanes of the kernel whatever the number of rounds, and what is prepared for a
    /// length is prepared once. Constant time as that one: which keys are refused shows, and the lengths of primes.
    ///
    /// ```
    /// use rsalab_rsa::{PrivateKey, primality::ROUNDS_BEFORE_USE, random::SystemRng};
    ///
    /// let keys = [PrivateKey::generate(2048)?, PrivateKey::generate(1024)?];
    /// let keys: Vec<&PrivateKey> = keys.iter().collect();
    /// let verdicts = PrivateKey::check_many(&keys, ROUNDS_BEFORE_USE, &mut SystemRng)?;
    /// assert!(verdicts.iter().all(Result::is_ok));
    /// # Ok::<(), rsalab_rsa::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Randomness`] if there is none; there are no verdicts then. A verdict is an error as for
    /// [`check_primes`](Self::check_primes).
    pub fn check_many<R: TryCryptoRng + ?Sized>(
        keys: &[&PrivateKey],
        rounds: usize,
        rng: &mut R,
    ) -> Result<Vec<Result<()>>> {
        PrivateKey::check_many_on(keys, rounds, rng, &CpuBackend::auto())
    }

    /// As [`check_many`](Self::check_many), on a backend.
    ///
    /// # Errors
    ///
    /// As for [`check_many`](Self::check_many), and those of the backend.
    pub fn check_many_on<R: TryCryptoRng + ?Sized>(
        keys: &[&PrivateKey],
        rounds: usize,
        rng: &mut R,
        backend: &dyn Backend,
    ) -> Result<Vec<Result<()>>> {
        let of_each: Vec<Vec<(&str, &[u8])>> = keys.iter().map(|key| key.named_primes()).collect();
        let primes: Vec<&[u8]> = of_each.iter().flatten().map(|&(_, prime)| prime).collect();
        let mut verdicts = are_probable_primes_on(&primes, rounds, rng, backend)?.into_iter();
        Ok(of_each
            .iter()
            .map(|primes| {
                let fault = primes
                    .iter()
                    .zip(verdicts.by_ref().take(primes.len()).collect::<Vec<bool>>())
                    .find(|(_, is_prime)| !is_prime);
                fault.map_or(Ok(()), |((reason, _), _)| invalid(reason))
            })
            .collect())
    }

    /// Each prime, with what is said of one that is none.
    fn named_primes(&self) -> Vec<(&'static str, &[u8])> {
        let others = self.others().iter();
        let others = others.map(|other| ("one of its primes after q is not a prime", &other.r[..]));
        [("its p is not a prime", self.p()), ("its q is not a prime", self.q())]
            .into_iter()
            .chain(others)
            .collect()
    }
}

fn invalid(reason: &str) -> Result<()> {
    Err(Error::invalid_key(reason))
}
