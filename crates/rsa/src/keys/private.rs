//! The private half of a key, with its CRT parameters.

use std::fmt;

use rsalab_arith::{Kernel, PrivateParts, integer};
use zeroize::Zeroizing;

use super::{
    MAX_BITS, PublicKey, check::SQUARE, prime_len, weakness::is_square_vartime, with_length,
    without_leading_zeros,
};
use crate::Error;

/// Like what `integer::check` says of the parts of a key.
const SAME_PRIMES: &str = "p and q are the same";

/// A private key of two primes of half its length each. Wiped from memory when it is dropped.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    d: Zeroizing<Vec<u8>>,
    p: Zeroizing<Vec<u8>>,
    q: Zeroizing<Vec<u8>>,
    dp: Zeroizing<Vec<u8>>,
    dq: Zeroizing<Vec<u8>>,
    qinv: Zeroizing<Vec<u8>>,
}

impl PrivateKey {
    /// A key of all its integers, as RFC 8017 section 3.2 names them; leading zeros are allowed.
    ///
    /// Every relation between them is checked. That `p` and `q` are prime is not: it would cost more than most keys are
    /// used for, and a key whose factors are not prime fails the check of its first results.
    ///
    /// # Errors
    ///
    /// [`Error::KeySize`] or [`Error::InvalidKey`] with the first thing that is wrong, among them primes that do not
    /// have half the length of the modulus each.
    pub fn from_parts(parts: &PrivateParts<'_>) -> Result<Self, Error> {
        let key = PrivateKey::sized(parts)?;
        if !integer::is_less(&key.d, key.public.n()) {
            return Err(Error::InvalidKey {
                reason: "its private exponent is not smaller than its modulus".to_owned(),
            });
        }
        integer::check(&key.parts()).map_err(invalid)?;
        Ok(key)
    }

    /// A key of integers whose lengths are checked and brought to what they are for its size, and nothing else.
    fn sized(parts: &PrivateParts<'_>) -> Result<Self, Error> {
        let public = PublicKey::new(parts.n, parts.e)?;
        let (k, h) = (public.modulus_len(), prime_len(public.bits()));
        check_lengths(&public, parts)?;
        let fixed = |name: &str, bytes: &[u8], len: usize| {
            with_length(bytes, len).ok_or_else(|| Error::InvalidKey {
                reason: format!(
                    "its {name} takes more than the {len} bytes that a key of this size has for it"
                ),
            })
        };
        Ok(PrivateKey {
            d: fixed("private exponent d", parts.d, k)?,
            p: fixed("prime p", parts.p, h)?,
            q: fixed("prime q", parts.q, h)?,
            dp: fixed("CRT exponent d mod (p-1)", parts.dp, h)?,
            dq: fixed("CRT exponent d mod (q-1)", parts.dq, h)?,
            qinv: fixed("CRT coefficient q^-1 mod p", parts.qinv, h)?,
            public,
        })
    }

    /// The key of two primes and a public exponent, with `d = e⁻¹ mod lcm(p−1, q−1)` (FIPS 186-5, A.1.1).
    ///
    /// # Errors
    ///
    /// As for [`from_parts`](Self::from_parts), and if `e` has no inverse. That the primes are prime is not tested.
    pub fn from_primes(p: &[u8], q: &[u8], e: &[u8]) -> Result<Self, Error> {
        for (name, part) in [("p", p), ("q", q), ("e", e)] {
            if integer::bits_vartime(part) > MAX_BITS {
                return Err(Error::InvalidKey {
                    reason: format!("its {name} has more than {MAX_BITS} bits"),
                });
            }
        }
        // Compared in constant time; that they are the same is told.
        if !integer::is_less(p, q) && !integer::is_less(q, p) {
            return Err(Error::InvalidKey {
                reason: SAME_PRIMES.to_owned(),
            });
        }
        let derived = integer::derive(p, q, e).map_err(|error| match error {
            rsalab_arith::Error::NotInvertible => Error::InvalidKey {
                reason: "its public exponent shares a factor with p-1 or q-1, or p with q"
                    .to_owned(),
            },
            other => invalid(other),
        })?;
        // What was derived needs no check against what it was derived from.
        PrivateKey::sized(&PrivateParts {
            n: &derived.n,
            e,
            d: &derived.d,
            p,
            q,
            dp: &derived.dp,
            dq: &derived.dq,
            qinv: &derived.qinv,
        })
    }

    /// The key of a modulus and its exponents, which name no primes: they are computed, once (NIST SP 800-56B rev. 2,
    /// appendix C.2).
    ///
    /// # Errors
    ///
    /// As for [`from_parts`](Self::from_parts), and [`Error::Randomness`] if there is none.
    pub fn from_exponents(n: &[u8], e: &[u8], d: &[u8]) -> Result<Self, Error> {
        // What is no public key needs no more work.
        let public = PublicKey::new(n, e)?;
        if is_square_vartime(public.n()) {
            return Err(Error::InvalidKey {
                reason: SQUARE.to_owned(),
            });
        }
        let (p, q) = rsalab_arith::recover_primes(public.n(), public.e(), d, Kernel::auto())
            .map_err(invalid)?;
        PrivateKey::from_primes_and_exponent(public.n(), public.e(), d, &p, &q, None)
    }

    /// The key of primes and exponents, without the CRT exponents, and with or without the coefficient: they are computed,
    /// and what is given is checked.
    pub(crate) fn from_primes_and_exponent(
        n: &[u8],
        e: &[u8],
        d: &[u8],
        p: &[u8],
        q: &[u8],
        qinv: Option<&[u8]>,
    ) -> Result<Self, Error> {
        // Lengths first: deriving takes time that grows with them.
        PublicKey::new(n, e)?;
        let derived = PrivateKey::from_primes(p, q, e)?;
        PrivateKey::from_parts(&PrivateParts {
            n,
            e,
            d,
            p,
            q,
            dp: &derived.dp,
            dq: &derived.dq,
            qinv: qinv.unwrap_or(&derived.qinv),
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

    /// Bytes of each prime and of each CRT parameter.
    pub fn prime_len(&self) -> usize {
        prime_len(self.bits())
    }

    /// The private exponent, [`modulus_len`](Self::modulus_len) bytes.
    pub fn d(&self) -> &[u8] {
        &self.d
    }

    /// The first prime, [`prime_len`](Self::prime_len) bytes.
    pub fn p(&self) -> &[u8] {
        &self.p
    }

    /// The second prime, [`prime_len`](Self::prime_len) bytes.
    pub fn q(&self) -> &[u8] {
        &self.q
    }

    /// `d mod (p−1)`, [`prime_len`](Self::prime_len) bytes.
    pub fn dp(&self) -> &[u8] {
        &self.dp
    }

    /// `d mod (q−1)`, [`prime_len`](Self::prime_len) bytes.
    pub fn dq(&self) -> &[u8] {
        &self.dq
    }

    /// `q⁻¹ mod p`, [`prime_len`](Self::prime_len) bytes.
    pub fn qinv(&self) -> &[u8] {
        &self.qinv
    }

    /// All the integers of the key at their fixed lengths, for a backend.
    pub fn parts(&self) -> PrivateParts<'_> {
        PrivateParts {
            n: self.public.n(),
            e: self.public.e(),
            d: &self.d,
            p: &self.p,
            q: &self.q,
            dp: &self.dp,
            dq: &self.dq,
            qinv: &self.qinv,
        }
    }
}

/// Refuses primes that do not have half the length of the modulus each: as a key of another form where they make the modulus
/// all the same, as a wrong one where they do not.
fn check_lengths(public: &PublicKey, parts: &PrivateParts<'_>) -> Result<(), Error> {
    let half = public.bits().div_ceil(2);
    let primes = [parts.p, parts.q].map(without_leading_zeros);
    // The length of a prime is no secret: it is that of every key of this size.
    let [p_bits, q_bits] = primes.map(integer::bits_vartime);
    let (name, bits) = match p_bits > q_bits {
        true => ("p", p_bits),
        false => ("q", q_bits),
    };
    if bits <= half {
        return Ok(());
    }
    // Lengths first: multiplying takes time that grows with them.
    let is_key = bits < public.bits()
        && p_bits.min(q_bits) > 1
        && without_leading_zeros(&integer::multiply(primes[0], primes[1])) == public.n();
    match is_key {
        true => Err(Error::Unsupported {
            reason: format!(
                "the prime {name} of this key has {bits} bits, more than half of the {} of its modulus; rsalab works with \
                 keys of two primes of the same length",
                public.bits()
            ),
        }),
        false => Err(Error::InvalidKey {
            reason: format!(
                "its prime {name} has {bits} bits, and the product of its primes is not its modulus"
            ),
        }),
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("bits", &self.bits())
            .finish_non_exhaustive()
    }
}

fn invalid(error: rsalab_arith::Error) -> Error {
    let reason = match error {
        rsalab_arith::Error::Randomness(reason) => return Error::Randomness { reason },
        rsalab_arith::Error::InconsistentKey(relation) => relation.to_owned(),
        other => other.to_string(),
    };
    Error::InvalidKey { reason }
}
