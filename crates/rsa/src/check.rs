//! Faults of a key that is well formed which take work to find: a modulus that is no product of two different primes.

use rand_core::TryCryptoRng;
use rsalab_arith::candidate::has_small_factor;

use crate::{
    CpuBackend, Error, PrivateKey, PublicKey, Result,
    backend::Backend,
    keys::{SQUARE, is_square_vartime},
    primality::are_probable_primes_on,
};

impl PublicKey {
    /// Refuses a modulus that can be seen to be none: one that a small prime divides, a square, or a prime.
    ///
    /// One round of the Miller–Rabin test finds a prime, which passes with every base. The base is 2: it takes no
    /// randomness, and a product of two primes that passes it is one that somebody made for that.
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
        if has_small_factor(self.n()) {
            return invalid("a small prime divides its modulus");
        }
        if is_square_vartime(self.n()) {
            return invalid(SQUARE);
        }
        let mut base = vec![0; self.n().len()];
        base[self.n().len() - 1] = 2;
        let mut passed = [false];
        backend
            .tester(8 * self.n().len())?
            .round(self.n(), &base, &mut passed)?;
        match passed {
            [true] => invalid("its modulus is a prime, and no product of two"),
            [false] => Ok(()),
        }
    }
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
