//! Private keys under a password.
//!
//! | form | of | file |
//! |---|---|---|
//! | PKCS#8, PBES2: what is written today | RFC 8018, section 6.2 | `pbes2` |
//! | PKCS#8, PBES1, and the schemes of PKCS#12 | RFC 8018, section 6.1; RFC 7292, appendix C | `pbes1` |
//! | PKCS#1 with the headers Proc-Type and DEK-Info, as OpenSSL wrote it before PKCS#8 | RFC 1421, section 4.6 | `headers` |
//! | the ciphers of all of them | | `cipher` |
//! | the functions that make a key of a password | | `derive` |
//!
//! Old forms are read and never written. A wrong password and a wrong padding are one error.

mod cipher;
mod derive;
mod headers;
mod pbes1;
mod pbes2;

use std::fmt;

use der::{
    Decode, Encode,
    asn1::{AnyRef, OctetStringRef, UintRef},
};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, pkcs5::pbes2::Parameters};
use rand_core::TryCryptoRng;
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use self::cipher::Cipher;
use super::{
    algorithm::FITS,
    annotations::Annotations,
    content::{damaged, unsupported},
    input::{Encoding, Limits},
    pkcs,
    usage::Usage,
};
use crate::{Error, PrivateKey, Result};

pub(super) use headers::{decode as decode_with_headers, is_encrypted as has_headers};

/// How a file keeps its private key from whoever does not know the password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encryption {
    /// The algorithms, such as `PBES2, scrypt, aes-256-cbc`.
    pub method: String,
    /// Why it protects little, if it does.
    pub weakness: Option<String>,
}

impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.method)
    }
}

/// What opens a private key: a cipher with its key and initialisation vector, and what is to be said of them.
struct Opener {
    cipher: Cipher,
    key: Zeroizing<Vec<u8>>,
    iv: Vec<u8>,
    method: String,
    weaknesses: Vec<String>,
}

impl Opener {
    /// The private key's structure. A password in 256 gives the right padding by chance, so that whoever calls looks
    /// further.
    fn open(self, data: &[u8]) -> Result<(Zeroizing<Vec<u8>>, Encryption)> {
        let plain = self
            .cipher
            .decrypt(&self.key, &self.iv, data)
            .ok_or(Error::PasswordWrong)?;
        let cipher = self.cipher.weakness().map(str::to_owned);
        let weaknesses: Vec<String> = self.weaknesses.into_iter().chain(cipher).collect();
        let encryption = Encryption {
            method: format!("{}, {}", self.method, self.cipher.name()),
            weakness: (!weaknesses.is_empty()).then(|| weaknesses.join("; ")),
        };
        Ok((plain, encryption))
    }
}

/// Writes a private key as PKCS#8 that takes a password to read: PBES2 with AES-256-CBC, and with scrypt at N = 2^14, r
/// = 8, p = 1, which takes 16 MiB and some tens of milliseconds a key on purpose, and no more because OpenSSL reads no
/// more unless told to.
///
/// # Errors
///
/// [`Error::Randomness`] if there is none for the salt.
pub fn encode<R: TryCryptoRng>(
    key: &PrivateKey,
    usage: &Usage,
    password: &[u8],
    encoding: Encoding,
    rng: &mut R,
) -> Result<Zeroizing<Vec<u8>>> {
    encode_annotated(key, usage, &Annotations::default(), password, encoding, rng)
}

/// As [`encode`], with the attributes that the key was read with.
///
/// # Errors
///
/// As for [`encode`].
pub fn encode_annotated<R: TryCryptoRng>(
    key: &PrivateKey,
    usage: &Usage,
    annotations: &Annotations,
    password: &[u8],
    encoding: Encoding,
    rng: &mut R,
) -> Result<Zeroizing<Vec<u8>>> {
    // Encrypted here and not by the structure's own method, which drops the attributes.
    let plain = pkcs::pkcs8_der(key, usage, &annotations.attributes)?;
    let scheme = Parameters::generate_recommended(rng).map_err(Error::randomness)?;
    let data = scheme
        .encrypt(password, &plain)
        .map_err(Error::randomness)?;
    let der = EncryptedPrivateKeyInfoRef {
        encryption_algorithm: scheme.into(),
        encrypted_data: OctetStringRef::new(&data).expect(FITS),
    }
    .to_der()
    .map(Zeroizing::new)
    .expect(FITS);
    Ok(match encoding {
        Encoding::Der => der,
        Encoding::Pem => Zeroizing::new(pkcs::pem("ENCRYPTED PRIVATE KEY", &der)),
    })
}

/// Reads PKCS#8 with its password, and its attributes.
pub(super) fn decode(
    der: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<(PrivateKey, Usage, Annotations, Encryption)> {
    let (algorithm, data) = parts(der).map_err(|error| damaged("encrypted private key", error))?;
    let opener = match pbes1::Scheme::of(&algorithm)? {
        Some(scheme) => scheme.opener(password.ok_or(Error::PasswordMissing)?),
        None => pbes2::Scheme::of(&algorithm)?.opener(password.ok_or(Error::PasswordMissing)?)?,
    };
    let (plain, encryption) = opener.open(data)?;
    if PrivateKeyInfoRef::from_der(&plain).is_err() {
        return Err(Error::PasswordWrong);
    }
    let (key, usage) = pkcs::pkcs8(&plain, limits)?;
    let annotations = Annotations {
        attributes: pkcs::attributes(&plain),
        ..Annotations::default()
    };
    Ok((key, usage, annotations, encryption))
}

/// The algorithm, and what it made of the key.
fn parts(der: &[u8]) -> der::Result<(AlgorithmIdentifierRef<'_>, &[u8])> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let algorithm = der::Reader::decode(reader)?;
        let data: &OctetStringRef = der::Reader::decode(reader)?;
        Ok::<_, der::Error>((algorithm, data.as_bytes()))
    })
}

/// The parameters of an algorithm, which all of these have.
fn parameters<'a>(algorithm: &AlgorithmIdentifierRef<'a>) -> der::Result<AnyRef<'a>> {
    algorithm
        .parameters
        .ok_or_else(|| der::Tag::Sequence.value_error().into())
}

/// A number that is not negative; one that is longer than 64 bits is the largest, which no limit allows.
fn number<'a>(reader: &mut impl der::Reader<'a>) -> der::Result<u64> {
    let bytes = reader.decode::<UintRef<'_>>()?.as_bytes();
    let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    Ok(match bytes.len() {
        0..=8 => bytes.iter().fold(0, fold),
        _ => u64::MAX,
    })
}

/// A private key that may be good, in an encryption that is not read here. The command makes a file that is, if
/// `openssl` knows the algorithms; those that OpenSSL 3 calls legacy take its provider of that name.
fn not_read(what: &str, is_legacy: bool) -> Error {
    let providers = if is_legacy {
        " -provider legacy -provider default"
    } else {
        ""
    };
    unsupported(format!(
        "this private key is encrypted with {what}, which rsalab does not read; encrypt it anew with \
         `openssl pkcs8 -topk8{providers} -in FILE -out NEW`"
    ))
}
