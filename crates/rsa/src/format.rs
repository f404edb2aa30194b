//! Keys as files: PKCS#1 (RFC 8017), PKCS#8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280), in PEM (RFC 7468) and DER.
//!
//! Reading finds out by itself which of them it is given, and says in a sentence what else it was given. Writing is byte
//! for byte what OpenSSL writes. Written only, so far: encrypted PKCS#8, [JSON Web Keys](jwk), and [OpenSSH's](openssh).

mod content;
pub mod jwk;
pub mod openssh;

use std::io::Read;

use pkcs1::{RsaPrivateKey, RsaPublicKey, UintRef};
use pkcs8::PrivateKeyInfoRef;
use rand_core::TryCryptoRng;
use sha2::{Digest, Sha256};
use spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use crate::{Error, PrivateKey, PrivateParts, PublicKey};
use content::{Content, refused};
use der::{
    Decode, Encode,
    asn1::{BitStringRef, OctetStringRef},
    pem::LineEnding,
};

/// The most bytes that are taken for a key. The longest RSA key takes about 18 KB.
pub const MAX_FILE_LEN: usize = 1 << 20;

/// The structure a private key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PrivateFormat {
    /// `RSAPrivateKey`; PEM label `RSA PRIVATE KEY`.
    Pkcs1,
    /// `PrivateKeyInfo`; PEM label `PRIVATE KEY`.
    Pkcs8,
}

/// The structure a public key is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublicFormat {
    /// `RSAPublicKey`; PEM label `RSA PUBLIC KEY`.
    Pkcs1,
    /// `SubjectPublicKeyInfo`; PEM label `PUBLIC KEY`.
    Spki,
}

/// How the structure becomes bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// Text between `BEGIN` and `END` lines.
    Pem,
    /// Binary.
    Der,
}

/// Reads what may be a key from a file or a pipe, and no more of it than tells that it is too large to be one.
pub fn read(source: impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
    // The capacity is taken at once: growing would leave copies of the key behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_LEN + 1));
    source
        .take(MAX_FILE_LEN as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a private key in any of the formats.
///
/// # Errors
///
/// [`Error::Format`] says what the bytes are instead, or where they are damaged; [`Error::InvalidKey`] and
/// [`Error::KeySize`] say what is wrong with the key in them.
pub fn decode_private(bytes: &[u8]) -> Result<PrivateKey, Error> {
    let (content, der) = content::open(bytes)?;
    match content {
        Content::Pkcs1Private => pkcs1_private(&der),
        Content::Pkcs8 => pkcs8_private(&der),
        Content::Pkcs1Public | Content::Spki => {
            // A public key of another algorithm is worth its own sentence.
            if content == Content::Spki {
                spki_public(&der)?;
            }
            Err(refused("this is a public key, but a private key is needed"))
        }
    }
}

/// Reads a public key in any of the formats. Of a private key the public half is taken.
///
/// # Errors
///
/// As for [`decode_private`].
pub fn decode_public(bytes: &[u8]) -> Result<PublicKey, Error> {
    let (content, der) = content::open(bytes)?;
    match content {
        Content::Pkcs1Public => pkcs1_public(&der),
        Content::Spki => spki_public(&der),
        Content::Pkcs1Private => Ok(pkcs1_private(&der)?.public().clone()),
        Content::Pkcs8 => Ok(pkcs8_private(&der)?.public().clone()),
    }
}

/// Writes a private key, unencrypted.
pub fn encode_private(
    key: &PrivateKey,
    format: PrivateFormat,
    encoding: Encoding,
) -> Zeroizing<Vec<u8>> {
    let pkcs1 = Zeroizing::new(pkcs1_private_der(key));
    let (label, der) = match format {
        PrivateFormat::Pkcs1 => ("RSA PRIVATE KEY", pkcs1),
        PrivateFormat::Pkcs8 => {
            let der = pkcs8_info(&pkcs1).to_der().expect(FITS);
            ("PRIVATE KEY", Zeroizing::new(der))
        }
    };
    match encoding {
        Encoding::Der => der,
        Encoding::Pem => Zeroizing::new(pem(label, &der)),
    }
}

/// Writes a private key as PKCS#8 that takes a password to read: PBES2 with AES-256-CBC, and with scrypt at N = 2^14, r = 8,
/// p = 1, which takes 16 MiB and some tens of milliseconds a key on purpose, and no more because OpenSSL reads no more unless told to.
///
/// # Errors
///
/// [`Error::Randomness`] if there is none for the salt.
pub fn encode_encrypted<R: TryCryptoRng>(
    key: &PrivateKey,
    password: &[u8],
    encoding: Encoding,
    rng: &mut R,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    let pkcs1 = Zeroizing::new(pkcs1_private_der(key));
    let encrypted = pkcs8_info(&pkcs1)
        .encrypt_with_rng(rng, password)
        .map_err(|error| Error::Randomness {
            reason: error.to_string(),
        })?;
    let der = Zeroizing::new(encrypted.as_bytes().to_vec());
    Ok(match encoding {
        Encoding::Der => der,
        Encoding::Pem => Zeroizing::new(pem("ENCRYPTED PRIVATE KEY", &der)),
    })
}

/// Writes a public key.
pub fn encode_public(key: &PublicKey, format: PublicFormat, encoding: Encoding) -> Vec<u8> {
    let pkcs1 = pkcs1_public_der(key);
    let (label, der) = match format {
        PublicFormat::Pkcs1 => ("RSA PUBLIC KEY", pkcs1),
        PublicFormat::Spki => {
            let info = SubjectPublicKeyInfoRef {
                algorithm: pkcs1::ALGORITHM_ID,
                subject_public_key: BitStringRef::from_bytes(&pkcs1).expect(FITS),
            };
            ("PUBLIC KEY", info.to_der().expect(FITS))
        }
    };
    match encoding {
        Encoding::Der => der,
        Encoding::Pem => pem(label, &der),
    }
}

/// The name of a key: SHA-256 of its SubjectPublicKeyInfo in DER, as `openssl pkey -pubin -outform der | sha256sum`.
pub fn fingerprint(key: &PublicKey) -> [u8; 32] {
    Sha256::digest(encode_public(key, PublicFormat::Spki, Encoding::Der)).into()
}

/// Why encoding cannot fail: DER lengths reach 256 MiB.
const FITS: &str = "a key of at most 16384 bits fits in DER";

fn pem(label: &'static str, der: &[u8]) -> Vec<u8> {
    der::pem::encode_string(label, LineEnding::LF, der)
        .expect(FITS)
        .into_bytes()
}

fn pkcs8_info(pkcs1: &[u8]) -> PrivateKeyInfoRef<'_> {
    let inner = OctetStringRef::new(pkcs1).expect(FITS);
    PrivateKeyInfoRef::new(pkcs1::ALGORITHM_ID, inner)
}

fn pkcs1_private_der(key: &PrivateKey) -> Vec<u8> {
    let uint = |bytes| UintRef::new(bytes).expect(FITS);
    let parts = key.parts();
    RsaPrivateKey {
        modulus: uint(parts.n),
        public_exponent: uint(parts.e),
        private_exponent: uint(parts.d),
        prime1: uint(parts.p),
        prime2: uint(parts.q),
        exponent1: uint(parts.dp),
        exponent2: uint(parts.dq),
        coefficient: uint(parts.qinv),
        other_prime_infos: None,
    }
    .to_der()
    .expect(FITS)
}

fn pkcs1_public_der(key: &PublicKey) -> Vec<u8> {
    let uint = |bytes| UintRef::new(bytes).expect(FITS);
    RsaPublicKey {
        modulus: uint(key.n()),
        public_exponent: uint(key.e()),
    }
    .to_der()
    .expect(FITS)
}

fn pkcs1_private(der: &[u8]) -> Result<PrivateKey, Error> {
    let key = RsaPrivateKey::<UintRef<'_>>::from_der(der)
        .map_err(|error| damaged("PKCS#1 private key", error))?;
    if key.other_prime_infos.is_some() {
        return Err(refused(
            "this RSA key has more than two primes; rsalab works with keys of two",
        ));
    }
    PrivateKey::from_parts(&PrivateParts {
        n: key.modulus.as_bytes(),
        e: key.public_exponent.as_bytes(),
        d: key.private_exponent.as_bytes(),
        p: key.prime1.as_bytes(),
        q: key.prime2.as_bytes(),
        dp: key.exponent1.as_bytes(),
        dq: key.exponent2.as_bytes(),
        qinv: key.coefficient.as_bytes(),
    })
}

fn pkcs8_private(der: &[u8]) -> Result<PrivateKey, Error> {
    let info =
        PrivateKeyInfoRef::from_der(der).map_err(|error| damaged("PKCS#8 private key", error))?;
    content::check_algorithm(&info.algorithm)?;
    pkcs1_private(info.private_key.as_bytes())
}

fn pkcs1_public(der: &[u8]) -> Result<PublicKey, Error> {
    let key = RsaPublicKey::<UintRef<'_>>::from_der(der)
        .map_err(|error| damaged("PKCS#1 public key", error))?;
    PublicKey::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())
}

fn spki_public(der: &[u8]) -> Result<PublicKey, Error> {
    let info =
        SubjectPublicKeyInfoRef::from_der(der).map_err(|error| damaged("public key", error))?;
    content::check_algorithm(&info.algorithm)?;
    let inner = info
        .subject_public_key
        .as_bytes()
        .ok_or_else(|| refused("this public key is damaged: its bits do not fill whole bytes"))?;
    pkcs1_public(inner)
}

fn damaged(what: &str, error: der::Error) -> Error {
    refused(format!("this {what} is damaged: {error}"))
}
