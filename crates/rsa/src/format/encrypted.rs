//! Private keys under a password.
//!
//! | form | of | file |
//! |---|---|---|
//! | PKCS#8, PBES2: what is written today | RFC 8018, section 6.2 | `pbes2` |
//! | PKCS#8, PBES1, and the schemes of PKCS#12 | RFC 8018, section 6.1; RFC 7292, appendix C | `pbes1` |
//! | PKCS#1 with the headers Proc-Type and DEK-Info, as OpenSSL wrote it before PKCS#8 | RFC 1421, section 4.6 | `headers` |
//! | the ciphers of all of them | | `cipher` |
//! | the functions that make a key of a password | | `derive` |
//! | what of them opens a key | | `opener` |
//! | their parameters in DER | | `parameters` |
//!
//! Old forms are read and never written. A wrong password and a wrong padding are one error.

mod cipher;
mod derive;
mod headers;
mod opener;
mod parameters;
mod pbes1;
mod pbes2;

use der::{
    Decode, Encode,
    asn1::{AnyRef, OctetStringRef},
};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, pkcs5::pbes2::Parameters};
use rand_core::TryCryptoRng;
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::{
    annotations::Annotations,
    encryption::Encryption,
    input::{Encoding, FITS, Limits},
    pkcs,
    refusal::damaged,
    usage::Usage,
};
use crate::{Error, PrivateKey, Result};

pub(super) use headers::{decode as decode_with_headers, plain as plain_with_headers};

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
    let data = scheme.encrypt(password, &plain).map_err(Error::randomness)?;
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
    let (plain, encryption) = plain(der, password)?;
    let (key, usage) = pkcs::pkcs8(&plain, limits)?;
    let annotations = Annotations {
        attributes: pkcs::attributes(&plain),
        ..Annotations::default()
    };
    Ok((key, usage, annotations, encryption))
}

/// The PKCS#8 key in it.
pub(super) fn plain(der: &[u8], password: Option<&[u8]>) -> Result<(Zeroizing<Vec<u8>>, Encryption)> {
    let (algorithm, data) = parts(der).map_err(|error| damaged("encrypted private key", error))?;
    let opener = match pbes1::Scheme::of(&algorithm)? {
        Some(scheme) => scheme.opener(password.ok_or(Error::PasswordMissing)?),
        None => pbes2::Scheme::of(&algorithm)?.opener(password.ok_or(Error::PasswordMissing)?)?,
    };
    let (plain, encryption) = opener.open(data)?;
    if PrivateKeyInfoRef::from_der(&plain).is_err() {
        return Err(Error::PasswordWrong);
    }
    Ok((plain, encryption))
}

/// The algorithm, and what it made of the key.
fn parts(der: &[u8]) -> der::Result<(AlgorithmIdentifierRef<'_>, &[u8])> {
    AnyRef::from_der(der)?.sequence(|reader| {
        let algorithm = der::Reader::decode(reader)?;
        let data: &OctetStringRef = der::Reader::decode(reader)?;
        Ok::<_, der::Error>((algorithm, data.as_bytes()))
    })
}
