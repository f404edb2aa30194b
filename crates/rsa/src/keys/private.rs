//! The private half of a key, with its CRT parameters.

use std::fmt;

use rsalab_arith::{CheckedPrivateKey, Kernel, PrivateParts, integer};

use super::{
    MAX_BITS, PublicKey, prime_len,
    public::refusal,
    weakness::{SQUARE, is_square_vartime},
};
use crate::{Error, Result};

/// Like what `integer::check` says of the parts of a key.
const SAME_PRIMES: &str = "p and q are the same";

/// A private key of two primes of half its length each. Wiped from memory when it is dropped.
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
    /// [`Error::KeySize`] or [`Error::InvalidKey`] with the first thing that is wrong, among them primes that do not
    /// have half the length of the modulus each.
    pub fn from_parts(parts: &PrivateParts<'_>) -> Result<Self> {
        let public = PublicKey::new(parts.n, parts.e)?;
        check_lengths(&public, parts)?;
        // Lengths first: checking takes time that grows with them.
        let (k, h) = (public.modulus_len(), prime_len(public.bits()));
        let fixed =
            |name: &str, bytes: &[u8], len: usize| {
                integer::with_length(bytes, len).ok_or_else(|| Error::invalid_key(format!(
                    "its {name} takes more than the {len} bytes that a key of this size has for it"
                )))
            };
        let checked = CheckedPrivateKey::new(&PrivateParts {
            n: public.n(),
            e: public.e(),
            d: &fixed("private exponent d", parts.d, k)?,
            p: &fixed("prime p", parts.p, h)?,
            q: &fixed("prime q", parts.q, h)?,
            dp: &fixed("CRT exponent d mod (p-1)", parts.dp, h)?,
            dq: &fixed("CRT exponent d mod (q-1)", parts.dq, h)?,
            qinv: &fixed("CRT coefficient q^-1 mod p", parts.qinv, h)?,
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
        for (name, part) in [("p", p), ("q", q), ("e", e)] {
            if integer::bits_vartime(part) > MAX_BITS {
                return Err(Error::invalid_key(format!(
                    "its {name} has more than {MAX_BITS} bits"
                )));
            }
        }
        // Compared in constant time; that they are the same is public.
        if !integer::is_less(p, q) && !integer::is_less(q, p) {
            return Err(Error::invalid_key(SAME_PRIMES));
        }
        let checked = CheckedPrivateKey::from_primes(p, q, e).map_err(|error| match error {
            rsalab_arith::Error::NotInvertible => Error::invalid_key(
                "its public exponent shares a factor with p-1 or q-1, or p with q",
            ),
            other => refusal(&other, e),
        })?;
        let public = PublicKey::from(checked.public());
        check_lengths(&public, &checked.parts())?;
        Ok(PrivateKey { public, checked })
    }

    /// The key of a modulus and its exponents, which name no primes: they are computed, once (NIST SP 800-56B rev. 2,
    /// appendix C.2).
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
        let (p, q) =
            rsalab_arith::recover_primes(public.checked(), d, Kernel::auto()).map_err(|error| {
                match error {
                    rsalab_arith::Error::Randomness(reason) => Error::Randomness { reason },
                    other => refusal(&other, e),
                }
            })?;
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

    /// All the integers of the key at their fixed lengths, for a backend.
    pub fn parts(&self) -> PrivateParts<'_> {
        self.checked.parts()
    }

    /// The key as the arithmetic takes it.
    pub(crate) fn checked(&self) -> &CheckedPrivateKey {
        &self.checked
    }
}

/// Refuses primes that do not have half the length of the modulus each: as an unsupported key where they make the modulus
/// all the same, as a wrong one where they do not.
fn check_lengths(public: &PublicKey, parts: &PrivateParts<'_>) -> Result<()> {
    let half = public.bits().div_ceil(2);
    // The length of a prime is no secret: it is that of every key of this size.
    let [p_bits, q_bits] = [parts.p, parts.q].map(integer::bits_vartime);
    let (name, bits) = match p_bits > q_bits {
        true => ("p", p_bits),
        false => ("q", q_bits),
    };
    if bits <= half {
        return Ok(());
    }
    // Lengths first: multiplying takes time that grows with them.
    let p = &parts.p[parts.p.len() - p_bits.div_ceil(8)..];
    let q = &parts.q[parts.q.len() - q_bits.div_ceil(8)..];
    let is_key = bits < public.bits()
        && p_bits.min(q_bits) > 1
        && integer::compare_vartime(&integer::multiply(p, q), public.n()).is_eq();
    match is_key {
        true => Err(Error::Unsupported {
            reason: format!(
                "the prime {name} of this key has {bits} bits, more than half of the {} of its modulus; rsalab works with \
                 keys of two primes of the same length",
                public.bits()
            ),
        }),
        false => Err(Error::invalid_key(format!(
            "its prime {name} has {bits} bits, and the product of its primes is not its modulus"
        ))),
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrivateKey")
            .field("bits", &self.bits())
            .finish_non_exhaustive()
    }
}
