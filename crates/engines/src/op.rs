//! The operations of RSA that are measured, and the shape of their data.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// One operation of RSA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Op {
    /// `c^d mod n` on raw blocks.
    Private,
    /// `m^e mod n` on raw blocks.
    Public,
    /// A whole private key.
    Keygen,
    /// Two primes fit for a key, and nothing more.
    PrimePair,
    /// `n = p·q` and `φ(n) = (p−1)(q−1)` from the primes.
    Totient,
    /// `d = e⁻¹ mod φ(n)`.
    PrivateExponent,
    /// A text cut into blocks, the public operation on each, over threads.
    TextEncrypt,
    /// The blocks of a text, the private operation on each, over threads.
    TextDecrypt,
    /// A PKCS#1 v1.5 signature of a SHA-256 digest.
    Sign,
    /// Tells whether a PKCS#1 v1.5 signature of a SHA-256 digest is right.
    Verify,
    /// The two primes of a given sequence of candidates: what finding primes costs, without the chance.
    PrimeSearch,
    /// A private key read from its encoding, PKCS#8.
    ImportPrivate,
    /// A public key read from its encoding, PKCS#1, and one signature verified with it.
    ImportVerify,
    /// A PKCS#1 v1.5 signature of a message, which is hashed with SHA-256 on the way.
    SignMessage,
    /// A full TLS handshake in memory, client and server, in which the server signs with its key.
    Handshake,
    /// The server's answer to a client's first message, with its signature, of such a handshake; the rest of it is done
    /// and checked outside the time.
    HandshakeServer,
    /// A TLS handshake in memory, client and server, that resumes an earlier session, without a signature.
    HandshakeResumed,
    /// Accepts or refuses PKCS#1 v1.5 signatures of SHA-256 digests, a batch by the product of all: less than
    /// [`Verify`](Op::Verify) shows.
    Screen,
}

/// Bytes that a client of a handshake sends to its server, encrypted.
pub const NONCE_BYTES: usize = 32;

/// The last byte of a handshake's output, where client and server say that it was a full one.
pub const HANDSHAKE_FULL: u8 = 1;

/// The last byte of a handshake's output, where client and server say that it resumed a session.
pub const HANDSHAKE_RESUMED: u8 = 2;

/// Bytes of the digest that is signed: SHA-256's.
pub const DIGEST_BYTES: usize = 32;

/// Bytes that one item of a batch takes in and gives out; every integer is big-endian and of fixed length.
///
/// With `k` the bytes of the modulus and `h` the bytes of a prime:
///
/// | operation | input | output |
/// |---|---|---|
/// | private, public | block, `k` | block, `k` |
/// | keygen | none | `p ‖ q ‖ d`, `h + h + k` |
/// | prime pair | none | `p ‖ q`, `h + h` |
/// | totient | `p ‖ q`, `h + h` | `n ‖ φ(n)`, `k + k` |
/// | private exponent | `φ(n)`, `k` | `d`, `k` |
/// | text encrypt | text block, the job's block symbols | block, `k` |
/// | text decrypt | block, `k` | text block, the job's block symbols |
/// | sign | digest, 32 | signature, `k` |
/// | verify | digest ‖ signature, 32 + `k` | 1 if the signature is right, else 0: one byte |
/// | screen | as verify | 1 if the signature is accepted, else 0: one byte |
/// | import private | [`private_key_bytes`] | `n` of the key that was read, `k` |
/// | import verify | [`public_key_bytes`], then as verify | as verify |
/// | sign message | message, the job's message bytes | signature, `k` |
/// | handshake, of the server, resumed | nonce, 32 | the nonce as the server got it ‖ 1 if it was full, 2 if resumed: 33 |
/// | prime search | [`candidates`] of `h` each | `p ‖ q`, the first two that are prime, `h + h` |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of one input.
    pub input: usize,
    /// Bytes of one output.
    pub output: usize,
}

impl Op {
    /// Every operation, in the order in which tables show them.
    ///
    /// The inputs of a study derive from an operation's place in this list: new ones go to its end.
    pub const ALL: [Op; 18] = [
        Op::Private,
        Op::Public,
        Op::Keygen,
        Op::PrimePair,
        Op::Totient,
        Op::PrivateExponent,
        Op::TextEncrypt,
        Op::TextDecrypt,
        Op::Sign,
        Op::Verify,
        Op::PrimeSearch,
        Op::ImportPrivate,
        Op::ImportVerify,
        Op::SignMessage,
        Op::Handshake,
        Op::HandshakeServer,
        Op::HandshakeResumed,
        Op::Screen,
    ];

    /// The name used on the command line, in the protocol and in every file.
    pub fn name(self) -> &'static str {
        match self {
            Op::Private => "private",
            Op::Public => "public",
            Op::Keygen => "keygen",
            Op::PrimePair => "prime_pair",
            Op::Totient => "totient",
            Op::PrivateExponent => "private_exponent",
            Op::TextEncrypt => "text_encrypt",
            Op::TextDecrypt => "text_decrypt",
            Op::Sign => "sign",
            Op::Verify => "verify",
            Op::PrimeSearch => "prime_search",
            Op::ImportPrivate => "import_private",
            Op::ImportVerify => "import_verify",
            Op::SignMessage => "sign_message",
            Op::Handshake => "handshake",
            Op::HandshakeServer => "handshake_server",
            Op::HandshakeResumed => "handshake_resumed",
            Op::Screen => "screen",
        }
    }

    /// The shape of one item at a modulus of `bits` bits, for text blocks or messages of so many bytes.
    pub fn layout(self, bits: usize, bytes: usize) -> Layout {
        let k = bits.div_ceil(8);
        let h = bits.div_ceil(2).div_ceil(8);
        let (input, output) = match self {
            Op::Private | Op::Public => (k, k),
            Op::Keygen => (0, h + h + k),
            Op::PrimePair => (0, h + h),
            Op::Totient => (h + h, k + k),
            Op::PrivateExponent => (k, k),
            Op::TextEncrypt => (bytes, k),
            Op::TextDecrypt => (k, bytes),
            Op::Sign => (DIGEST_BYTES, k),
            Op::Verify | Op::Screen => (DIGEST_BYTES + k, 1),
            Op::PrimeSearch => (candidates(bits) * h, h + h),
            Op::ImportPrivate => (private_key_bytes(bits), k),
            Op::ImportVerify => (public_key_bytes(bits) + DIGEST_BYTES + k, 1),
            Op::SignMessage => (bytes, k),
            Op::Handshake | Op::HandshakeServer | Op::HandshakeResumed => (NONCE_BYTES, NONCE_BYTES + 1),
        };
        Layout { input, output }
    }

    /// Returns whether the same input must always give the same output.
    pub fn is_deterministic(self) -> bool {
        !matches!(self, Op::Keygen | Op::PrimePair)
    }

    /// Returns whether the operation works with a given key, whose exponent may be any.
    pub fn takes_random_exponent(self) -> bool {
        !matches!(
            self,
            Op::Keygen
                | Op::PrimePair
                | Op::PrimeSearch
                | Op::Totient
                | Op::PrivateExponent
                | Op::ImportPrivate
                | Op::ImportVerify
                | Op::Handshake
                | Op::HandshakeServer
                | Op::HandshakeResumed
        )
    }

    /// Returns whether the operation uses the primes of a given key, of which there may be more than two.
    pub fn uses_primes(self) -> bool {
        matches!(self, Op::Private | Op::Sign | Op::SignMessage | Op::TextDecrypt)
    }

    /// Returns whether the operation is a TLS handshake.
    pub fn is_handshake(self) -> bool {
        matches!(self, Op::Handshake | Op::HandshakeServer | Op::HandshakeResumed)
    }

    /// Returns whether a batch of the operation may be under several keys.
    pub fn takes_several_keys(self) -> bool {
        matches!(self, Op::Private | Op::Sign)
    }

    /// Returns whether the operation works on a text split over threads.
    pub fn is_text(self) -> bool {
        matches!(self, Op::TextEncrypt | Op::TextDecrypt)
    }
}

/// Bytes of a private key as an input: its length in four bytes, PKCS#8 in DER, and zeros. DER takes up to 96 bytes for
/// what is not the numbers themselves: of two the modulus's length, and of five a prime's.
pub fn private_key_bytes(bits: usize) -> usize {
    4 + 2 * bits.div_ceil(8) + 5 * bits.div_ceil(2).div_ceil(8) + 96
}

/// Bytes of a public key as an input: its length in four bytes, PKCS#1 in DER, and zeros.
pub fn public_key_bytes(bits: usize) -> usize {
    4 + bits.div_ceil(8) + 32
}

/// Candidates in one item of a prime search at a modulus of `bits` bits: as many as random odd numbers of a prime's
/// length that are tested, in the mean, until two primes are found. The last one of each half is prime, and no other.
///
/// A random odd number of `b` bits is prime with probability `2 / (b·ln 2)`.
pub fn candidates(bits: usize) -> usize {
    let of_one_prime = (bits as f64 / 2.0 * std::f64::consts::LN_2 / 2.0).round() as usize;
    2 * of_one_prime.max(1)
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Op {
    type Err = UnknownOp;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Op::ALL
            .into_iter()
            .find(|op| op.name() == name)
            .ok_or_else(|| UnknownOp(name.to_owned()))
    }
}

/// A name that no operation has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no operation '{0}'; the operations are private, public, keygen, prime_pair, totient, private_exponent, text_encrypt, text_decrypt, sign, verify, prime_search, import_private, import_verify, sign_message, handshake, handshake_server, handshake_resumed and screen"
)]
pub struct UnknownOp(pub String);
