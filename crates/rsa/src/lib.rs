//! RSA keys, prime search, key formats, and work split over threads.
//!
//! | question | file |
//! |---|---|
//! | what is a key | [`keys`] |
//! | how is a key read and written | [`mod@format`] |
//! | how is a key generated, and from which randomness | [`generate`], [`random`] |
//! | what does the arithmetic | [`backend`] |
//! | how is a message signed, and a signature verified | [`signing`] |
//! | how is a message encrypted and decrypted | [`encryption`] |
//! | how do keys fit other crates | `traits` |
//! | is this number prime | [`primality`] |
//! | which schemes and hash functions are there | [`scheme`], [`hash`] |
//! | what is measured against bare peers | [`bare`] |
//! | what can go wrong | [`error`] |
//!
//! Steps with their sources, and what is and is not promised, are in the crate's `NOTES.md`.
//!
//! To sign and verify, take a key, a scheme and a backend:
//!
//! ```
//! use rsalab_rsa::{CpuBackend, generate, hash::Hash, random::SystemRng};
//! use rsalab_rsa::{scheme::{Pss, SignatureScheme}, signing::SigningKey};
//!
//! let backend = CpuBackend::auto();
//! let key = generate::generate(2048, generate::DEFAULT_EXPONENT, &mut SystemRng, &backend)?.key;
//! let signing = SigningKey::new(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)), &backend)?;
//! let signature = signing.sign(b"a message")?;
//! assert!(signing.verifying_key().verify(b"a message", signature.as_bytes()));
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```
//!
//! A key from a file, whatever it was written in, and a message for its owner:
//!
//! ```
//! use rsalab_rsa::{CpuBackend, format, hash::Hash};
//! use rsalab_rsa::{encryption::{DecryptionKey, EncryptionKey}, scheme::{EncryptionScheme, Oaep}};
//! # use rsalab_rsa::{generate, random::SystemRng};
//! # let new = generate::generate(2048, generate::DEFAULT_EXPONENT, &mut SystemRng, &CpuBackend::auto())?.key;
//! # let bytes = format::encode_private(&new, format::PrivateFormat::Pkcs8, format::Encoding::Pem);
//!
//! let backend = CpuBackend::auto();
//! let key = format::decode_private(&bytes)?;
//! let scheme = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
//! let ciphertext = EncryptionKey::new(key.public(), scheme.clone(), &backend)?.encrypt(b"a secret")?;
//! let message = DecryptionKey::new(&key, &scheme, &backend)?.decrypt(&ciphertext)?;
//! assert_eq!(message.expect("it is whole").as_slice(), b"a secret");
//! # Ok::<(), rsalab_rsa::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod backend;
pub mod bare;
pub mod encryption;
pub mod error;
pub mod format;
pub mod generate;
pub mod hash;
pub mod keys;
pub mod primality;
pub mod random;
pub mod scheme;
pub mod signing;
mod traits;

pub use backend::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Prepared, PreparedRing, RingRunner, Status,
};
pub use error::Error;
pub use keys::{PrivateKey, PrivateParts, PublicKey};
pub use rsalab_arith::{Kernel, KernelInfo, kernels};
