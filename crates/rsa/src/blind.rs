//! RSA blind signatures (RFC 9474): an issuer signs a message that it cannot see, and cannot recognise the signature
//! later.
//!
//! | step of the RFC | who | here |
//! |---|---|---|
//! | prepare (4.1) | client | [`InputMessage::prepare`] |
//! | blind (4.2) | client | [`BlindingKey::blind`] |
//! | blind sign (4.3) | issuer | [`Issuer::sign`] |
//! | finalize (4.4) | client | [`BlindingKey::finalize`] |
//! | verify (4.5) | anybody | [`BlindingKey::verify`]; or any program that verifies RSASSA-PSS |
//!
//! ```
//! use rsalab_rsa::{PrivateKey, blind::{BlindingKey, InputMessage, Issuer, Variant}};
//!
//! let key = PrivateKey::generate(2048)?;
//! let issuer = Issuer::new(&key, Variant::PssRandomized)?;
//! let client = BlindingKey::new(key.public(), Variant::PssRandomized)?;
//!
//! let message = InputMessage::prepare(Variant::PssRandomized, b"a message")?;
//! let (blinded, pending) = client.blind(&message)?;        // blinded goes to the issuer, pending stays
//! let blind_signature = issuer.sign(&blinded)?;            // comes back
//! let signature = client.finalize(&message, &pending, &blind_signature)?;
//! assert!(client.verify(&message, signature.as_bytes()));
//!
//! // Whoever verifies later gets the message, its prefix and the signature.
//! let again = InputMessage::with_prefix(Variant::PssRandomized, message.prefix(), b"a message")?;
//! assert!(client.verify(&again, signature.as_bytes()));
//! # Ok::<(), rsalab_rsa::blind::BlindError>(())
//! ```
//!
//! An issuer that many clients ask takes their messages together: [`Issuer::sign_batch`] answers each with its own
//! result, several times as fast. Tokens of the type 0x0002 of RFC 9578 are [`Variant::PssDeterministic`] with a key of
//! 2048 bits, published as [`token_key`].
//!
//! **A key that signs blindly must do nothing else** (RFC 9474, section 6.2): the issuer raises whatever it is given to
//! the private exponent, and that could be a ciphertext, or the encoding of any message.
//!
//! # What is secret
//!
//! The issuer's operation is the one that all private operations here are: constant time, blinded once more, and
//! checked before its result is released. The client's factor r and its inverse are secret: whoever has them connects
//! the signature with the request. They are drawn, inverted, raised to the public exponent and multiplied in constant
//! time (but for the rejection of draws above n, and of a draw that has no inverse), and wiped. The encoding of the
//! message is blinded in constant time and wiped too; [`BlindingKey::is_request`] compares it in variable time. The
//! modulus, the public exponent, lengths, and whether a step failed are public. Messages are hashed in time that
//! depends on their length.

mod client;
mod issuer;
mod message;
mod state;
mod token;

use std::{fmt, str::FromStr};

use crate::{
    Error,
    hash::Hash,
    scheme::{Pss, SaltLen, SignatureScheme},
};

pub use client::BlindingKey;
pub use issuer::{BlindSigner, Issuer};
pub use message::{InputMessage, PREFIX_LEN};
pub use state::Pending;
pub use token::token_key;

/// The four variants of RFC 9474, section 5: all with SHA-384, MGF1 of SHA-384 and RSASSA-PSS.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Variant {
    /// RSABSSA-SHA384-PSS-Randomized: a salt of 48 bytes, and a random prefix of 32 bytes before the message. The RFC's
    /// choice where nothing speaks for another.
    #[default]
    PssRandomized,
    /// RSABSSA-SHA384-PSSZERO-Randomized: no salt, a random prefix.
    PsszeroRandomized,
    /// RSABSSA-SHA384-PSS-Deterministic: a salt, no prefix. For messages that cannot be guessed: without a prefix, an
    /// issuer whose key is malicious may learn something about a message (RFC 9474, section 7, "Message Entropy").
    PssDeterministic,
    /// RSABSSA-SHA384-PSSZERO-Deterministic: neither; each message has one signature.
    PsszeroDeterministic,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Variant; 4] = [
        Variant::PssRandomized,
        Variant::PsszeroRandomized,
        Variant::PssDeterministic,
        Variant::PsszeroDeterministic,
    ];

    /// The name in the RFC.
    pub fn name(self) -> &'static str {
        match self {
            Variant::PssRandomized => "RSABSSA-SHA384-PSS-Randomized",
            Variant::PsszeroRandomized => "RSABSSA-SHA384-PSSZERO-Randomized",
            Variant::PssDeterministic => "RSABSSA-SHA384-PSS-Deterministic",
            Variant::PsszeroDeterministic => "RSABSSA-SHA384-PSSZERO-Deterministic",
        }
    }

    /// The signature scheme that its signatures are verified with, over prefix and message.
    pub fn scheme(self) -> SignatureScheme {
        SignatureScheme::Pss(Pss {
            salt_len: match self {
                Variant::PssRandomized | Variant::PssDeterministic => SaltLen::Digest,
                Variant::PsszeroRandomized | Variant::PsszeroDeterministic => SaltLen::Bytes(0),
            },
            ..Pss::new(HASH)
        })
    }

    /// Refuses a key that is too short for the variant.
    ///
    /// # Errors
    ///
    /// [`Error::Scheme`].
    pub fn check(self, bits: usize) -> Result<(), Error> {
        self.scheme().check_signing(bits)
    }

    /// Returns whether a message gets a random prefix.
    pub fn is_randomized(self) -> bool {
        matches!(self, Variant::PssRandomized | Variant::PsszeroRandomized)
    }
}

/// The hash function of every variant.
const HASH: Hash = Hash::Sha384;

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Variant {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Variant::ALL
            .into_iter()
            .find(|variant| variant.name() == name)
            .ok_or_else(|| Error::Scheme {
                reason: format!(
                    "there is no variant '{name}' of blind signatures; there are {}",
                    Variant::ALL.map(Variant::name).join(", ")
                ),
            })
    }
}

/// Why a step was refused or failed. The names in brackets are those of RFC 9474, section 4. Its "message too long"
/// does not occur: SHA-384 takes 2^125 bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlindError {
    /// An encoded message shares a factor with the modulus, which only a broken key has ("invalid input").
    #[error("the encoded message shares a factor with the modulus: this is no key of two large primes")]
    InvalidInput,
    /// A blinding factor is 0, or not below the modulus, or has no inverse ("blinding error").
    #[error("the blinding factor has no inverse modulo the key's modulus")]
    Blinding,
    /// A blinded message or a blind signature of another length than the modulus's ("unexpected input size").
    #[error("{what} must have {expected} bytes, but has {got}")]
    UnexpectedInputSize {
        /// Its name.
        what: &'static str,
        /// Bytes that it must have.
        expected: usize,
        /// Bytes that it has.
        got: usize,
    },
    /// A blinded message that is not below the modulus ("message representative out of range", RFC 8017, section
    /// 5.2.1).
    #[error("the blinded message is not below the modulus")]
    OutOfRange,
    /// The issuer's result failed its check and was withheld ("signing failure").
    #[error("the signature failed its check and was withheld: the machine computes wrongly, or the key is damaged")]
    SigningFailure,
    /// The issuer's answer is no blind signature of this request ("invalid signature").
    #[error("what the issuer sent is no signature of this message by this key")]
    InvalidSignature,
    /// A state that cannot be read, or is of another key or variant.
    #[error("{reason}")]
    State {
        /// The fault.
        reason: String,
    },
    /// The key, the backend, or the source of randomness.
    #[error(transparent)]
    Rsa(#[from] Error),
}

/// The result of a step of a blind signature.
type Result<T, E = BlindError> = std::result::Result<T, E>;

/// Refuses what does not have the modulus's length.
fn check_size(what: &'static str, got: usize, expected: usize) -> Result<()> {
    match got == expected {
        true => Ok(()),
        false => Err(BlindError::UnexpectedInputSize { what, expected, got }),
    }
}

/// An error of the arithmetic that the checks before it leave possible.
fn arithmetic(error: rsalab_arith::Error) -> BlindError {
    match error {
        rsalab_arith::Error::Randomness(reason) => Error::Randomness { reason }.into(),
        other => Error::invalid_key(other).into(),
    }
}
