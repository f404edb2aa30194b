//! Keys that were checked, once: having one is the proof, and contexts are prepared from nothing else.

use crate::Error;
use crate::integer::{self, Bytes, OtherPrime, PrivateParts};
use crate::limbs::{Modulus, Nat, limbs_for_bits, words};
use std::ops::RangeInclusive;
use zeroize::Zeroizing;

/// Supported lengths of a modulus, in bits.
pub(crate) const MODULUS_BITS: RangeInclusive<usize> = 256..=16384;

/// A modulus n and a public exponent e that suit each other: n is odd, of 256 to 16384 bits; e is odd, and 3 <= e < n.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct CheckedPublicKey {
    bits: usize,
    n: Vec<u8>,
    e: Vec<u8>,
}

impl CheckedPublicKey {
    /// Checks n and e, both big-endian; leading zeros are allowed.
    ///
    /// # Errors
    /// [`Error::ModulusSize`], [`Error::EvenModulus`], [`Error::Exponent`], in this order.
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self, Error> {
        let bits = integer::bits_vartime(n);
        if !MODULUS_BITS.contains(&bits) {
            return Err(Error::ModulusSize { bits });
        }
        if !integer::is_odd(n) {
            return Err(Error::EvenModulus);
        }
        let e_bits = integer::bits_vartime(e);
        if e_bits < 2 || !integer::is_odd(e) || integer::compare_vartime(e, n).is_ge() {
            return Err(Error::Exponent);
        }
        Ok(Self {
            bits,
            n: n[n.len() - bits.div_ceil(8)..].to_vec(),
            e: e[e.len() - e_bits.div_ceil(8)..].to_vec(),
        })
    }

    /// Length of n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.bits
    }

    /// Length of n, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// The modulus, [`modulus_len`](Self::modulus_len) bytes.
    pub fn n(&self) -> &[u8] {
        &self.n
    }

    /// The public exponent, without leading zeros.
    pub fn e(&self) -> &[u8] {
        &self.e
    }

    /// The modulus with its Montgomery constants.
    pub(crate) fn modulus(&self) -> Modulus {
        let limbs = limbs_for_bits(self.bits);
        Modulus::new(&Nat::from_be(&self.n), self.bits, limbs)
    }

    /// The public exponent, in as many limbs as the modulus.
    pub(crate) fn exponent(&self) -> Vec<u64> {
        let mut exponent = vec![0; limbs_for_bits(self.bits)];
        words::read_be(&mut exponent, &self.e);
        exponent
    }
}

/// A private key whose parts agree with each other. That its primes are prime is not known. Wiped on drop.
#[derive(Clone)]
pub struct CheckedPrivateKey {
    public: CheckedPublicKey,
    d: Bytes,
    p: Bytes,
    q: Bytes,
    dp: Bytes,
    dq: Bytes,
    qinv: Bytes,
    others: Vec<OtherPrime>,
}

impl CheckedPrivateKey {
    /// The most primes that a key may have.
    pub const MAX_PRIMES: usize = 5;

    /// Checks every relation between the parts of a key; leading zeros are allowed.
    ///
    /// # Errors
    /// [`CheckedPublicKey::new`]'s; [`Error::InconsistentKey`], also for more than
    /// [`MAX_PRIMES`](Self::MAX_PRIMES) primes.
    pub fn new(parts: &PrivateParts<'_>) -> Result<Self, Error> {
        let public = CheckedPublicKey::new(parts.n, parts.e)?;
        check_count(2 + parts.others.len())?;
        integer::check(parts)?;
        Ok(Self::sized(public, parts))
    }

    /// The key of two primes and a public exponent, with d = e^-1 mod lcm(p - 1, q - 1) (FIPS 186-5, A.1.1). What is
    /// derived needs no check against what it was derived from.
    ///
    /// # Errors
    /// [`integer::derive`]'s, and [`CheckedPublicKey::new`]'s.
    pub fn from_primes(p: &[u8], q: &[u8], e: &[u8]) -> Result<Self, Error> {
        Self::multi_prime(&[p, q], e)
    }

    /// The key of two to [`MAX_PRIMES`](Self::MAX_PRIMES) primes, as [`from_primes`](Self::from_primes).
    ///
    /// # Errors
    /// [`from_primes`](Self::from_primes)'s; [`Error::InconsistentKey`] for more primes.
    pub fn multi_prime(primes: &[&[u8]], e: &[u8]) -> Result<Self, Error> {
        check_count(primes.len())?;
        let derived = integer::derive(primes, e)?;
        let public = CheckedPublicKey::new(&derived.n, e)?;
        let parts = PrivateParts {
            n: &derived.n,
            e,
            d: &derived.d,
            p: primes[0],
            q: primes[1],
            dp: &derived.dp,
            dq: &derived.dq,
            qinv: &derived.qinv,
            others: &derived.others,
        };
        Ok(Self::sized(public, &parts))
    }

    /// Brings the parts to the lengths that a key of this size has: d as long as n, everything modulo a prime as long
    /// as the longest prime. Lengths of primes are public.
    fn sized(public: CheckedPublicKey, parts: &PrivateParts<'_>) -> Self {
        let others = parts.others.iter().map(|other| &other.r[..]);
        let primes = [parts.p, parts.q].into_iter().chain(others);
        let prime_bits = primes.map(integer::bits_vartime).max().unwrap_or(0);
        let (k, len) = (public.modulus_len(), prime_bits.div_ceil(8));
        let fixed = |part: &[u8]| integer::with_length(part, len).expect("it is below a prime");
        let others = parts.others.iter().map(|OtherPrime { r, d, t }| OtherPrime {
            r: fixed(r),
            d: fixed(d),
            t: fixed(t),
        });
        Self {
            // A d above n is right too.
            d: integer::with_length(parts.d, k).unwrap_or_else(|| Zeroizing::new(parts.d.to_vec())),
            p: fixed(parts.p),
            q: fixed(parts.q),
            dp: fixed(parts.dp),
            dq: fixed(parts.dq),
            qinv: fixed(parts.qinv),
            others: others.collect(),
            public,
        }
    }

    /// The public half.
    pub fn public(&self) -> &CheckedPublicKey {
        &self.public
    }

    /// The number of its primes, 2 to [`MAX_PRIMES`](Self::MAX_PRIMES).
    pub fn primes(&self) -> usize {
        2 + self.others.len()
    }

    /// All the parts: n and d of [`modulus_len`](CheckedPublicKey::modulus_len) bytes (more if d is not below n), the
    /// rest as long as the longest prime, and e as short as it can be.
    pub fn parts(&self) -> PrivateParts<'_> {
        PrivateParts {
            n: &self.public.n,
            e: &self.public.e,
            d: &self.d,
            p: &self.p,
            q: &self.q,
            dp: &self.dp,
            dq: &self.dq,
            qinv: &self.qinv,
            others: &self.others,
        }
    }
}

fn check_count(primes: usize) -> Result<(), Error> {
    match primes <= CheckedPrivateKey::MAX_PRIMES {
        true => Ok(()),
        false => Err(Error::InconsistentKey("a key has five primes at most")),
    }
}
