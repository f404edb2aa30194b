//! A signing key for [rustls](https://docs.rs/rustls) over a [`Batcher`]: handshakes that run side by side have their
//! signatures made together.
//!
//! The interface of rustls is synchronous: the thread that does a handshake waits for the signature, or computes it,
//! with those of others. So passes are shared where as many threads do handshakes as a pass has requests, on any CPU: a
//! thread for each connection, or a pool that is larger than the number of CPUs. A thread that does handshakes alone
//! waits for nobody, and is as fast as without.
//!
//! ```
//! use std::sync::Arc;
//!
//! use rsalab_batch::Batcher;
//! use rsalab_rsa::PrivateKey;
//! use rsalab_rustls::SigningKey;
//! use rustls::{ServerConfig, sign::{CertifiedKey, SingleCertAndKey}};
//!
//! # fn certificates_of(_: &PrivateKey) -> Vec<rustls::pki_types::CertificateDer<'static>> { vec![] }
//! # let provider = Arc::new(rustls::crypto::ring::default_provider());
//! // From a file: rsalab_rsa::format::decode_private.
//! let key = PrivateKey::generate(2048)?;
//! let batcher = Batcher::builder().key(&key).build()?;
//! let certified = CertifiedKey::new(
//!     certificates_of(&key),
//!     Arc::new(SigningKey::new(&key, &batcher)?),
//! );
//! let config = ServerConfig::builder_with_provider(provider)
//!     .with_safe_default_protocol_versions()?
//!     .with_no_client_auth()
//!     .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
//! // Later: how many requests each pass had.
//! println!("{:?}", batcher.statistics().passes());
//! # drop(config);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A server that reloads its certificate adds the new key ([`Batcher::add`]), makes a [`SigningKey`] of it for the new
//! configuration, and removes the old one ([`Batcher::remove`]). Handshakes that began with the old configuration end
//! with it; the old key is wiped with the last of them.
#![forbid(unsafe_code)]

use std::fmt;

use rsalab_batch::Batcher;
use rsalab_rsa::{
    Error, PrivateKey, Result,
    format::{Encoding, PublicFormat, encode_public},
    hash::Hash,
    scheme::{Pss, SignatureScheme as Scheme},
    signing::SigningKey as Signing,
};
use rustls::{
    SignatureAlgorithm, SignatureScheme,
    pki_types::SubjectPublicKeyInfoDer,
    sign::{self, Signer},
};

// The README's example is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The schemes that are offered, the best liked first: RSASSA-PSS (`rsa_pss_rsae_*`), and RSASSA-PKCS1-v1_5, which TLS
/// 1.2 alone takes.
const SCHEMES: [(SignatureScheme, Padding, Hash); 6] = [
    (SignatureScheme::RSA_PSS_SHA256, Padding::Pss, Hash::Sha256),
    (SignatureScheme::RSA_PSS_SHA384, Padding::Pss, Hash::Sha384),
    (SignatureScheme::RSA_PSS_SHA512, Padding::Pss, Hash::Sha512),
    (SignatureScheme::RSA_PKCS1_SHA256, Padding::Pkcs1v15, Hash::Sha256),
    (SignatureScheme::RSA_PKCS1_SHA384, Padding::Pkcs1v15, Hash::Sha384),
    (SignatureScheme::RSA_PKCS1_SHA512, Padding::Pkcs1v15, Hash::Sha512),
];

#[derive(Clone, Copy)]
enum Padding {
    Pss,
    Pkcs1v15,
}

/// A private key in the place of rustls's own, for servers and for clients with a certificate. Cheap to clone, and
/// shared by threads.
#[derive(Clone)]
pub struct SigningKey {
    /// The [`SCHEMES`] that the key is long enough for.
    schemes: Vec<(SignatureScheme, Signing)>,
    spki: Vec<u8>,
}

impl SigningKey {
    /// Of a key that is among the batcher's.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] if the batcher has no such key; [`Error::Scheme`] if the key is too short for every
    /// scheme.
    pub fn new(key: &PrivateKey, batcher: &Batcher) -> Result<Self> {
        let mut schemes = Vec::new();
        let mut refused = None;
        for (name, padding, hash) in SCHEMES {
            let scheme = match padding {
                Padding::Pss => Scheme::Pss(Pss::new(hash)),
                Padding::Pkcs1v15 => Scheme::Pkcs1v15(hash),
            };
            match Signing::with_backend(key, scheme, batcher) {
                Ok(signing) => schemes.push((name, signing)),
                Err(error @ Error::Scheme { .. }) => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        match refused {
            Some(error) if schemes.is_empty() => Err(error),
            _ => Ok(SigningKey {
                schemes,
                spki: encode_public(key.public(), PublicFormat::Spki, Encoding::Der),
            }),
        }
    }
}

impl sign::SigningKey for SigningKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let mut schemes = self.schemes.iter();
        let (scheme, signing) = schemes.find(|(scheme, _)| offered.contains(scheme))?;
        Some(Box::new(Chosen {
            scheme: *scheme,
            signing: signing.clone(),
        }))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(self.spki.as_slice()))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::RSA
    }
}

/// Names the schemes, and nothing of the key.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.schemes.iter().map(|(scheme, _)| scheme);
        f.debug_list().entries(names).finish()
    }
}

/// The key with the scheme of one handshake.
struct Chosen {
    scheme: SignatureScheme,
    signing: Signing,
}

impl Signer for Chosen {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        match self.signing.sign(message) {
            Ok(signature) => Ok(signature.as_bytes().to_vec()),
            Err(error) => Err(rustls::Error::General(error.to_string())),
        }
    }

    fn scheme(&self) -> SignatureScheme {
        self.scheme
    }
}

impl fmt::Debug for Chosen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.scheme.fmt(f)
    }
}
