//! Keys that are well formed and protect less than their length promises.
//!
//! | weakness | seen in | file |
//! |---|---|---|
//! | a short modulus, a small or a huge public exponent | the public key | here |
//! | primes so close that Fermat's method factors the modulus | the public key | `close` |
//! | primes closer than FIPS 186-5 allows | the private key | here |
//! | the form of CVE-2017-15361 | the public key | `roca` |
//! | a short private exponent | the private key | here |

mod close;
mod roca;

use rsalab_arith::integer;

use super::{PrivateKey, PublicKey, most_primes};

/// Why a key that is well formed protects less than its length promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Weakness {
    /// Fewer than 2048 bits.
    #[error("its modulus has {bits} bits; fewer than {LEAST_BITS} protect nothing for long")]
    ShortModulus {
        /// Its bits.
        bits: usize,
    },
    /// A public exponent below 2^16.
    #[error("its public exponent is below 65537, so that mistakes in padding become forgeries and broken messages")]
    SmallExponent,
    /// A public exponent of more than 256 bits, the most that FIPS 186-5 allows.
    #[error("its public exponent has {bits} bits; more than 256 slow everybody down, and many programs refuse them")]
    LargeExponent {
        /// Its bits.
        bits: usize,
    },
    /// A private exponent of at most half the bits of the modulus.
    #[error("its private exponent has only {bits} bits, and may be computed from the public key (Wiener 1990)")]
    ShortPrivateExponent {
        /// Its bits.
        bits: usize,
    },
    /// A modulus that Fermat's method factors, as anybody can who has the public key: its primes are nearly the same.
    /// `weakness/close.rs` says how near they are. A private key with it has [`ClosePrimes`](Self::ClosePrimes) too.
    #[error("its primes are nearly the same: Fermat's method factors its modulus in {}, from the public key alone", in_words(*steps))]
    FermatFactorable {
        /// Steps that the method takes.
        steps: u32,
    },
    /// A modulus of the form that the library of CVE-2017-15361 gave its keys: the primes follow from the public key
    /// with far less work than their length promises (Nemec, Sys, Svenda, Klinec and Matyas 2017).
    #[error(
        "its modulus has the form of keys from a faulty library (ROCA, CVE-2017-15361), whose primes follow from the public key"
    )]
    Roca,
    /// Primes that are closer than FIPS 186-5 allows, A.1.3, step 5.4: their upper 100 bits are the same. Seen in a
    /// private key alone.
    #[error(
        "the upper 100 bits of its primes are the same, which no sound generator lets happen (FIPS 186-5, A.1.3); the closer they \
         are, the sooner Fermat's method factors the modulus"
    )]
    ClosePrimes,
    /// More primes than keys of this size are generated with ([`most_primes`]): the elliptic-curve method finds a prime
    /// by its own length. Seen in a private key alone.
    #[error(
        "it has {primes} primes, the shortest of {bits} bits: for its length the elliptic-curve method finds one sooner than the modulus is \
         factored"
    )]
    ShortPrimes {
        /// How many primes it has.
        primes: usize,
        /// Bits of the shortest.
        bits: usize,
    },
}

impl Weakness {
    /// A word for programs.
    pub fn name(self) -> &'static str {
        match self {
            Weakness::ShortModulus { .. } => "short-modulus",
            Weakness::SmallExponent => "small-exponent",
            Weakness::LargeExponent { .. } => "large-exponent",
            Weakness::ShortPrivateExponent { .. } => "short-private-exponent",
            Weakness::FermatFactorable { .. } => "fermat-factorable",
            Weakness::Roca => "roca",
            Weakness::ClosePrimes => "close-primes",
            Weakness::ShortPrimes { .. } => "short-primes",
        }
    }
}

fn in_words(steps: u32) -> String {
    match steps {
        1 => "one step".to_owned(),
        _ => format!("{steps} steps"),
    }
}

/// Bits by which the primes of a multi-prime key may differ in length.
const UNEVEN: usize = 32;
/// The fewest bits of a modulus that is not weak (NIST SP 800-131A).
const LEAST_BITS: usize = 2048;

impl PublicKey {
    /// Weaknesses of the key, as far as its public half shows them. Takes well below a millisecond at 2048 bits.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let e_bits = integer::bits_vartime(self.e());
        let mut found = Vec::new();
        if self.bits() < LEAST_BITS {
            found.push(Weakness::ShortModulus { bits: self.bits() });
        }
        if e_bits <= 16 {
            found.push(Weakness::SmallExponent);
        }
        if e_bits > 256 {
            found.push(Weakness::LargeExponent { bits: e_bits });
        }
        if let Some(steps) = close::fermat_steps_vartime(self.n()) {
            found.push(Weakness::FermatFactorable { steps });
        }
        if roca::has_form_vartime(self.n()) {
            found.push(Weakness::Roca);
        }
        found
    }
}

impl PrivateKey {
    /// Weaknesses of the key.
    pub fn weaknesses(&self) -> Vec<Weakness> {
        let mut found = self.public().weaknesses();
        let d_bits = integer::bits_vartime(self.d());
        if d_bits <= self.bits() / 2 {
            found.push(Weakness::ShortPrivateExponent { bits: d_bits });
        }
        let others = self.others().iter().map(|other| &other.r[..]);
        let primes: Vec<&[u8]> = [self.p(), self.q()].into_iter().chain(others).collect();
        let lengths = primes.iter().map(|prime| integer::bits_vartime(prime));
        let (shortest, longest) = (lengths.clone().min(), lengths.max());
        let (shortest, longest) = (shortest.unwrap_or(0), longest.unwrap_or(0));
        let close = |one: &[u8], other: &[u8]| !integer::differ_enough(one, other, 2 * longest);
        if (1..primes.len()).any(|i| primes[..i].iter().any(|one| close(one, primes[i]))) {
            found.push(Weakness::ClosePrimes);
        }
        // Programs differ by a few bits in the lengths that they give primes of one key.
        let least = self.bits() / most_primes(self.bits()) - UNEVEN;
        if shortest < least && primes.len() > 2 {
            found.push(Weakness::ShortPrimes {
                primes: primes.len(),
                bits: shortest,
            });
        }
        found
    }
}
