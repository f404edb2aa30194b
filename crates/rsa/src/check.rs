//! Faults of a key that is well formed which take work to find: a modulus that is no product of two different primes.

use rand_core::TryCryptoRng;
use rsalab_arith::candidate::has_small_factor;

use crate::{
    CpuBackend, Error, PrivateKey, PublicKey, Result,
    backend::Backend,
    keys::{SQUARE, is_square_vartime},
    primality::is_probable_prime_on,
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
        let others = self.others().iter();
        let others = others.map(|other| ("one of its primes after q is not a prime", &other.r[..]));
        for (reason, prime) in [("its p is not a prime", self.p()), ("its q is not a prime", self.q())]
            .into_iter()
            .chain(others)
        {
            if !is_probable_prime_on(prime, rounds, rng, backend)? {
                return invalid(reason);
            }
        }
        Ok(())
    }
}

fn invalid(reason: &str) -> Result<()> {
    Err(Error::invalid_key(reason))
}
