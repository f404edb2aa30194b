//! The private half of a key, with its CRT parameters.

use std::fmt;

use rsalab_arith::{CheckedPrivateKey, Kernel, OtherPrime, PrivateParts, integer};
use zeroize::Zeroizing;

use super::{
    MAX_BITS, MAX_PRIMES, PublicKey,
    public::refusal,
    square::{SQUARE, is_square_vartime},
};
use crate::{Error, Result};

/// Like what `integer::check` says of the parts of a key.
const SAME_PRIMES: &str = "p and q are the same";

/// A private key of two primes of half its length each, or of three to five primes, none longer than half. Wiped from
/// memory when it is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    checked: CheckedPrivateKey,
}

impl PrivateKey {
    /// A key of all its integers, as RFC 8017 section 3.2 names them; leading zeros are allowed.
    ///
    /// Every relation between them is checked. That `p` and `q` are prime is not: it would cost more than most keys are
    /// used for, and a key whose factors are not prime fails the check of its first results.
    ///
    /// # Errors
    ///
    /// [`Error::KeySize`] or [`Error::InvalidKey`] with the first thing that is wrong; [`Error::Unsupported`] for two
    /// primes that do not have half the length of the modulus each, for a prime of a multi-prime key that is longer
    /// than half, and for more than [`MAX_PRIMES`] primes.
    pub fn from_parts(parts: &PrivateParts<'_>) -> Result<Self> {
        let public = PublicKey::new(parts.n, parts.e)?;
        // Lengths first: checking takes time that grows with them.
        let longest = check_lengths(&public, parts)?;
        let (k, h) = (public.modulus_len(), longest.div_ceil(8));
        let fixed = |name: &str, bytes: &[u8], len: usize| {
            integer::with_length(bytes, len).ok_or_else(|| {
                Error::invalid_key(format!(
                    "its {name} takes more than the {len} bytes that a key of this size has for it"
                ))
            })
        };
        let others = parts.others.iter().map(|OtherPrime { r, d, t }| {
            Ok(OtherPrime {
                r: fixed("prime after q", r, h)?,
                d: fixed("CRT exponent of a prime after q", d, h)?,
                t: fixed("CRT coefficient of a prime after q", t, h)?,
            })
        });
        let others: Vec<OtherPrime> = others.collect::<Result<_>>()?;
        let checked = CheckedPrivateKey::new(&PrivateParts {
            n: public.n(),
            e: public.e(),
            d: &fixed("private exponent d", parts.d, k)?,
            p: &fixed("prime p", parts.p, h)?,
            q: &fixed("prime q", parts.q, h)?,
            dp: &fixed("CRT exponent d mod (p-1)", parts.dp, h)?,
            dq: &fixed("CRT exponent d mod (q-1)", parts.dq, h)?,
            qinv: &fixed("CRT coefficient q^-1 mod p", parts.qinv, h)?,
            others: &others,
        })
        .map_err(|error| refusal(&error, parts.e))?;
        if !integer::is_less(checked.parts().d, public.n()) {
            return Err(Error::invalid_key(
                "its private exponent is not smaller than its modulus",
            ));
        }
        Ok(PrivateKey { public, checked })
    }

    /// The key of two primes and a public exponent, with `d = e⁻¹ mod lcm(p−1, q−1)` (FIPS 186-5, A.1.1).
    ///
    /// # Errors
    ///
    /// As for [`from_parts`](Self::from_parts), and if `e` has no inverse. That the primes are prime is not tested.
    pub fn from_primes(p: &[u8], q: &[u8], e: &[u8]) -> Result<Self> {
        PrivateKey::multi_prime(&[p, q], e)
    }

    /// The key of two to [`MAX_PRIMES`] primes and a public exponent, with `d = e⁻¹ mod lcm(p−1, q−1, …)`; the first
    /// two are called p and q (RFC 8017, section 3.2).
    ///
    /// # Errors
    ///
    /// As for [`from_primes`](Self::from_primes).
    pub fn multi_prime(primes: &[&[u8]], e: &[u8]) -> Result<Self> {
        if !(2..=MAX_PRIMES).contains(&primes.len()) {
            return Err(too_many_primes(primes.len()));
        }
        let named = primes.iter().copied().enumerate();
        let named = named.map(|(i, prime)| (prime_name(i), prime));
        for (name, part) in named.chain([("e".to_owned(), e)]) {
            if integer::bits_vartime(part) > MAX_BITS {
                return Err(Error::invalid_key(format!("its {name} has more than {MAX_BITS} bits")));
            }
        }
        for (i, one) in primes.iter().enumerate() {
            for other in &primes[..i] {
                // Compared in constant time; that they are the same is public.
                if !integer::is_less(one, other) && !integer::is_less(other, one) {
                    return Err(Error::invalid_key(match primes.len() {
                        2 => SAME_PRIMES,
                        _ => "two of its primes are the same",
                    }));
                }
            }
        }
        let checked = CheckedPrivateKey::multi_prime(primes, e).map_err(|error| match error {
            rsalab_arith::Error::NotInvertible => {
                Error::invalid_key("its public exponent shares a factor with p-1 or q-1, or p with q")
            }
            other => refusal(&other, e),
        })?;
        let public = PublicKey::from(checked.public());
        check_lengths(&public, &checked.parts())?;
        Ok(PrivateKey { public, checked })
    }

    /// The key of a modulus and its exponents, which name no primes: two to [`MAX_PRIMES`] are computed, once (NIST SP
    /// 800-56B rev. 2, appendix C.2).
    ///
    /// # Errors
    ///
    /// As for [`from_parts`](Self::from_parts), and [`Error::Randomness`] if there is none.
    pub fn from_exponents(n: &[u8], e: &[u8], d: &[u8]) -> Result<Self> {
        // What is no public key needs no more work.
        let public = PublicKey::new(n, e)?;
        if is_square_vartime(public.n()) {
            return Err(Error::invalid_key(SQUARE));
        }
        let primes = rsalab_arith::recover_primes(public.checked(), d, MAX_PRIMES, Kernel::auto()).map_err(
            |error| match error {
                rsalab_arith::Error::Randomness(reason) => Error::Randomness { reason },
                other => refusal(&other, e),
            },
        )?;
        if primes.len() > MAX_PRIMES {
            return Err(too_many_primes("too many"));
        }
        let primes: Vec<&[u8]> = primes.iter().map(|prime| &prime[..]).collect();
        let derived = PrivateKey::multi_prime(&primes, public.e())?;
        PrivateKey::from_parts(&PrivateParts { d, ..derived.parts() })
    }

    /// The key of primes and exponents, without the CRT exponents, and with or without the coefficient: they are
    /// computed, and what is given is checked.
    #[cfg(feature = "openssh")]
    pub(crate) fn from_primes_and_exponent(
        n: &[u8],
        e: &[u8],
        d: &[u8],
        p: &[u8],
        q: &[u8],
        qinv: Option<&[u8]>,
    ) -> Result<Self> {
        // Lengths first: deriving takes time that grows with them.
        PublicKey::new(n, e)?;
        let derived = PrivateKey::from_primes(p, q, e)?;
        PrivateKey::from_parts(&PrivateParts {
            n,
            e,
            d,
            p,
            q,
            dp: derived.dp(),
            dq: derived.dq(),
            qinv: qinv.unwrap_or(derived.qinv()),
            others: &[],
        })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Bits of the modulus.
    pub fn bits(&self) -> usize {
        self.public.bits()
    }

    /// Bytes of the modulus, of the private exponent, and of each block.
    pub fn modulus_len(&self) -> usize {
        self.public.modulus_len()
    }

    /// Bytes of each prime and of each CRT parameter: as many as the longest prime needs, and half the modulus for two.
    pub fn prime_len(&self) -> usize {
        self.p().len()
    }

    /// How many primes it has, 2 to [`MAX_PRIMES`].
    pub fn primes(&self) -> usize {
        self.checked.primes()
    }

    /// The private exponent, [`modulus_len`](Self::modulus_len) bytes.
    pub fn d(&self) -> &[u8] {
        self.checked.parts().d
    }

    /// The first prime, [`prime_len`](Self::prime_len) bytes.
    pub fn p(&self) -> &[u8] {
        self.checked.parts().p
    }

    /// The second prime, [`prime_len`](Self::prime_len) bytes.
    pub fn q(&self) -> &[u8] {
        self.checked.parts().q
    }

    /// `d mod (p−1)`, [`prime_len`](Self::prime_len) bytes.
    pub fn dp(&self) -> &[u8] {
        self.checked.parts().dp
    }

    /// `d mod (q−1)`, [`prime_len`](Self::prime_len) bytes.
    pub fn dq(&self) -> &[u8] {
        self.checked.parts().dq
    }

    /// `q⁻¹ mod p`, [`prime_len`](Self::prime_len) bytes.
    pub fn qinv(&self) -> &[u8] {
        self.checked.parts().qinv
    }

    /// The third prime and those after it, [`prime_len`](Self::prime_len) bytes each, as their CRT parameters.
    pub fn others(&self) -> &[OtherPrime] {
        self.checked.parts().others
    }

    /// All the integers of the key at their fixed lengths, for a backend.
    pub fn parts(&self) -> PrivateParts<'_> {
        self.checked.parts()
    }

    /// The key as the arithmetic takes it.
    pub(crate) fn checked(&self) -> &CheckedPrivateKey {
        &self.checked
    }
}

/// Refuses primes that are longer than half of the modulus, and more primes than are supported: as an unsupported key
/// where the primes make the modulus all the same, as a wrong one where they do not. Returns the bits of the longest
/// prime, or those that a prime of a key of this size has.
fn check_lengths(public: &PublicKey, parts: &PrivateParts<'_>) -> Result<usize> {
    let half = public.bits().div_ceil(2);
    let count = 2 + parts.others.len();
    if count > MAX_PRIMES {
        return Err(too_many_primes(count));
    }
    let others = parts.others.iter().map(|other| &other.r[..]);
    let primes: Vec<&[u8]> = [parts.p, parts.q].into_iter().chain(others).collect();
    // The length of a prime is no secret.
    let lengths: Vec<usize> = primes.iter().map(|prime| integer::bits_vartime(prime)).collect();
    let (mut longest, mut bits) = (0, 0);
    for (i, &length) in lengths.iter().enumerate() {
        if length > bits {
            (longest, bits) = (i, length);
        }
    }
    if bits <= half {
        return Ok(match count {
            2 => half,
            _ => bits,
        });
    }
    // Lengths first: multiplying takes time that grows with them.
    let is_key = bits < public.bits() && lengths.iter().all(|&length| length > 1 && length < public.bits()) && {
        let mut product = Zeroizing::new(vec![1]);
        for (prime, length) in primes.iter().zip(&lengths) {
            product = integer::multiply(&product, &prime[prime.len() - length.div_ceil(8)..]);
        }
        integer::compare_vartime(&product, public.n()).is_eq()
    };
    let name = prime_name(longest);
    match is_key {
        true => Err(Error::Unsupported {
            reason: format!(
                "the prime {name} of this key has {bits} bits, more than half of the {} of its modulus; rsalab works with \
                 keys of two primes of the same length, and of more primes that are shorter",
                public.bits()
            ),
        }),
        false => Err(Error::invalid_key(format!(
            "its prime {name} has {bits} bits, and the product of its primes is not its modulus"
        ))),
    }
}

/// The name of a prime in RFC 8017, by its place.
fn prime_name(place: usize) -> String {
    match place {
        0 => "p".to_owned(),
        1 => "q".to_owned(),
        _ => format!("r{}", place + 1),
    }
}

fn too_many_primes(count: impl std::fmt::Display) -> Error {
    Error::Unsupported {
        reason: format!("this key has {count} primes; rsalab works with keys of 2 to {MAX_PRIMES}"),
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("bits", &self.bits())
            .finish_non_exhaustive()
    }
}
