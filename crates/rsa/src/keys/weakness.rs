//! Keys that are well formed and protect less than their length promises.
//!
//! | weakness | seen in | file |
//! |---|---|---|
//! | a short modulus, a small or a huge public exponent | the public key | here |
//! | primes so close that Fermat's method factors the modulus | the public key | `close` |
//! | primes closer than FIPS 186-5 allows | the private key | here |
//! | the form of CVE-2017-15361 | the public key | `roca` |
//! | a private exponent that Wiener's attack finds | the public key | `wiener` |
//! | a private exponent that is short, or has few bits set | the private key | here |
//! | primes whose bits repeat | the public key, if both do; the private key | `pattern` |
//! | a modulus a part of which repeats | the public key | `pattern` |
//! | limbs that were filled in part | the same | `sleeve` |
//! | far more zeros than ones, or ones than zeros | the public key | `bias` |
//! | a modulus that a backdoor of xz listens to | the public key | `keys/xz.rs` |

mod bias;
mod close;
mod pattern;
mod roca;
mod sleeve;
mod wiener;

use rsalab_arith::integer;

use self::pattern::Pattern;
use super::{PrivateKey, PublicKey, most_primes, xz};

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
    /// A private exponent that Wiener's attack finds. `weakness/wiener.rs` says how.
    #[error("its private exponent is so short that it follows from the public key (Wiener 1990)")]
    Wiener,
    /// A private exponent with far fewer bits set than a random one has. Seen in a private key alone.
    #[error(
        "hardly any bit of its private exponent is set: it was chosen to be quick, and can be searched for, or seen in the time and \
         power that an operation takes"
    )]
    SparsePrivateExponent,
    /// A modulus whose primes are a short pattern of bits, repeated. `weakness/pattern.rs` says what shows of it.
    #[error(
        "its modulus is made of a pattern of {period} bits that repeats: its primes follow from the public key (Bernstein and others \
         2013)"
    )]
    PatternedModulus {
        /// Bits of the pattern, or a multiple of them.
        period: usize,
    },
    /// A modulus a part of which is a short pattern, repeated: somebody chose that part, or the key is damaged.
    #[error("a part of its modulus repeats itself after {period} bits: it was not drawn at random, or is damaged")]
    RepeatingModulus {
        /// Bits of the pattern, or a multiple of them; 1 for equal bits in a row.
        period: usize,
    },
    /// A prime whose bits are a short pattern, repeated. Seen in a private key alone.
    #[error(
        "the bits of one of its primes are a pattern that repeats, which can be guessed (Bernstein and others 2013)"
    )]
    PatternedPrime,
    /// A modulus with places in each limb that are never set. `weakness/sleeve.rs` has the form.
    #[error(
        "{unused} places of each {width} bits of its modulus are never set (\"short-sleeve\"): it is factored as a polynomial, from the \
         public key alone (Ryan and Böck 2026)"
    )]
    ShortSleeve {
        /// Bits of a limb.
        width: usize,
        /// Bits of each that are never set.
        unused: usize,
    },
    /// A prime with places in each limb that are never set. Seen in a private key alone.
    #[error(
        "the limbs of one of its primes were filled in part (\"short-sleeve\"), so that far fewer bits of it are random than it has"
    )]
    ShortSleevePrime,
    /// A modulus with far more zeros than ones, or the other way around. `weakness/bias.rs` says how many are chance.
    #[error("{percent} % of the bits of its modulus are set, where chance leaves half: it was not drawn at random")]
    BiasedModulus {
        /// Hundredths of its bits that are set.
        percent: usize,
    },
    /// A prime with far more zeros than ones, or the other way around. Seen in a private key alone.
    #[error("one of its primes has far more zeros than ones, or ones than zeros: it was not drawn at random")]
    BiasedPrime,
    /// A modulus that begins as the messages to the backdoor of xz 5.6 do (CVE-2024-3094).
    #[error("{}", xz::SENTENCE)]
    XzBackdoor,
}

impl Weakness {
    /// Returns whether the public key shows it, so that anybody sees it.
    pub fn is_public(self) -> bool {
        !matches!(
            self,
            Weakness::ShortPrivateExponent { .. }
                | Weakness::ClosePrimes
                | Weakness::ShortPrimes { .. }
                | Weakness::SparsePrivateExponent
                | Weakness::PatternedPrime
                | Weakness::ShortSleevePrime
                | Weakness::BiasedPrime
        )
    }

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
            Weakness::Wiener => "wiener",
            Weakness::SparsePrivateExponent => "sparse-private-exponent",
            Weakness::PatternedModulus { .. } => "patterned-modulus",
            Weakness::RepeatingModulus { .. } => "repeating-modulus",
            Weakness::PatternedPrime => "patterned-prime",
            Weakness::ShortSleeve { .. } => "short-sleeve",
            Weakness::ShortSleevePrime => "short-sleeve-prime",
            Weakness::BiasedModulus { .. } => "biased-modulus",
            Weakness::BiasedPrime => "biased-prime",
            Weakness::XzBackdoor => "xz-backdoor",
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
        if wiener::finds_vartime(self.n(), self.e()) {
            found.push(Weakness::Wiener);
        }
        match pattern::pattern_vartime(self.n()) {
            Some(Pattern::Primes(period)) => found.push(Weakness::PatternedModulus { period }),
            Some(Pattern::Modulus(period)) => found.push(Weakness::RepeatingModulus { period }),
            None => {}
        }
        match (sleeve::unused_places(self.n()), bias::percent_set(self.n())) {
            (Some((width, unused)), _) => found.push(Weakness::ShortSleeve { width, unused }),
            (None, Some(percent)) => found.push(Weakness::BiasedModulus { percent }),
            (None, None) => {}
        }
        if xz::is_message(self.n()) {
            found.push(Weakness::XzBackdoor);
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
        } else if bias::percent_set(self.d()).is_some_and(|percent| percent < 50) {
            found.push(Weakness::SparsePrivateExponent);
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
        for (is_so, weakness) in [
            (pattern::repeats as fn(&[u8]) -> bool, Weakness::PatternedPrime),
            (
                |prime| sleeve::unused_places(prime).is_some(),
                Weakness::ShortSleevePrime,
            ),
            (|prime| bias::percent_set(prime).is_some(), Weakness::BiasedPrime),
        ] {
            // Each is looked at, whatever the others are.
            let of_each: Vec<bool> = primes.iter().map(|prime| is_so(prime)).collect();
            let is_told = matches!(weakness, Weakness::BiasedPrime)
                && found
                    .iter()
                    .any(|found| matches!(found, Weakness::PatternedPrime | Weakness::ShortSleevePrime));
            if of_each.contains(&true) && !is_told {
                found.push(weakness);
            }
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
