//! RSA keys, prime search, key formats, and work split over threads.
//!
//! | question | file |
//! |---|---|
//! | what is a key | [`keys`] |
//! | how is a key read and written | [`mod@format`] |
//! | how is a key generated, and from which randomness | [`generate`], [`random`] |
//! | what does the arithmetic | [`backend`], [`CpuBackend`] |
//! | how is a message signed, and a signature verified | [`signing`] |
//! | how is a message encrypted and decrypted | [`encryption`] |
//! | how does an issuer sign what it cannot see | [`blind`] |
//! | how do keys fit other crates | `traits` |
//! | is this number prime, and is a key what it seems | [`primality`], `check` |
//! | which settings suit this machine, as a study measured them | [`profile`] |
//! | which schemes and hash functions are there | [`scheme`], [`hash`] |
//! | what can go wrong | [`error`] |
//!
//! Steps with their sources, and what is and is not promised, are in the crate's `NOTES.md`.
//!
//! To sign and verify, take a key and a scheme:
//!
//! ```
//! use rsalab_rsa::{PrivateKey, hash::Hash};
//! use rsalab_rsa::{scheme::{Pss, SignatureScheme}, signing::SigningKey};
//!
//! let key = PrivateKey::generate(2048)?;
//! let signing = SigningKey::new(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)))?;
//! let signature = signing.sign(b"a message")?;
//! assert!(signing.verifying_key().verify(b"a message", signature.as_bytes()));
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```
//!
//! A key from a file, whatever its format, and a message for its owner:
//!
//! ```
//! use rsalab_rsa::{format, hash::Hash};
//! use rsalab_rsa::{encryption::{DecryptionKey, EncryptionKey}, scheme::{EncryptionScheme, Oaep}};
//! # let new = rsalab_rsa::PrivateKey::generate(2048)?;
//! # let bytes = format::encode_private(&new, format::PrivateFormat::Pkcs8, format::Encoding::Pem);
//!
//! let key = format::decode_private(&bytes)?;
//! let scheme = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
//! let ciphertext = EncryptionKey::new(key.public(), scheme.clone())?.encrypt(b"a secret")?;
//! let message = DecryptionKey::new(&key, &scheme)?.decrypt(&ciphertext)?;
//! assert_eq!(message.expect("it is whole").as_slice(), b"a secret");
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```
//!
//! Schemes stand on [`backend`]: whoever pads elsewhere prepares a key there and gives it blocks. Such an operation is
//! blinded, and its result checked, like every other; what is missing is the padding, without which RSA signs products
//! of signatures and encrypts to what anybody can compare.
//!
//! # Features
//!
//! All but the last are on unless turned off; a program that reads its keys by other means needs none of them.
//!
//! | feature | what a build without it lacks | crates that it brings |
//! |---|---|---|
//! | `certificates` | the public key of an X.509 certificate | |
//! | `encrypted-keys` | PKCS#8 and PKCS#1 under a password | ciphers, pbkdf2, scrypt, md-5; those of `sha3` |
//! | `jwk` | JSON Web Keys, and service accounts' files in JSON | serde, serde_json |
//! | `openssh` | OpenSSH's private keys, lines of `authorized_keys` | ssh-key |
//! | `profile` | a machine's profile | serde, serde_json |
//! | `sha3` | SHA-3 and SHAKE, as hash functions of every scheme | sha3, shake |
//! | `hazmat` | see below | |
//!
//! A file in a format that was left out is recognised, and refused with [`Error::Unsupported`].
//!
//! The feature `hazmat` adds what gives a key away in use, and is there for measurements and tests alone:
//!
//! - bare mode, `CpuBackend::prepare_bare_private` and `prepare_bare_private_without_crt`: the private operation
//!   without blinding, so that its time may tell of the key, and without a check, so that one wrong result of a CRT
//!   reveals the primes;
//! - `blind::BlindingKey::blind_with_factor`: a blinding factor of the caller's. Whoever knows the factor links the
//!   signature to its request.
#![forbid(unsafe_code)]

pub mod backend;
pub mod blind;
mod check;
mod draw;
pub mod encryption;
pub mod error;
pub mod format;
pub mod generate;
pub mod hash;
pub mod keys;
pub mod primality;
#[cfg(feature = "profile")]
pub mod profile;
pub mod random;
mod room;
pub mod scheme;
pub mod signing;
mod traits;

pub use backend::{
    Backend, BlockRunner, CandidateTester, CpuBackend, MultiKeyRunner, Pooled, Prepared, PreparedMultiKey, Status,
};
pub use check::ModulusFault;
pub use error::{Error, Result};
pub use keys::{OtherPrime, PrivateKey, PrivateParts, PublicKey};
pub use rsalab_arith::{Kernel, KernelInfo, KernelRange, Operation, disable, kernel_ranges, kernels};

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
