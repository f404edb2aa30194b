//! PBES1 (RFC 8018, section 6.1) and the schemes of PKCS#12 (RFC 7292, appendix C): one identifier names hash, cipher
//! and the function that makes the key. Its parameters are a salt and a number of iterations.

use der::asn1::{ObjectIdentifier, OctetStringRef};
use md5::Md5;
use sha1::Sha1;
use spki::AlgorithmIdentifierRef;

use super::{
    cipher::Cipher,
    derive::{Part, pbkdf1, pkcs12},
    opener::Opener,
    parameters::{number, parameters},
    pbes2::{check_iterations, few_iterations},
};
use crate::{
    Result,
    format::refusal::{damaged, unsupported},
};

/// The most iterations: PKCS#12 does each up to four times.
const MOST_ITERATIONS: u32 = 1_000_000;

/// How the key is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Derivation {
    Md2,
    Md5,
    Sha1,
    Pkcs12,
}

/// The name of a scheme, how it makes the key, and its cipher; by the identifiers of PKCS#5 and PKCS#12, below
/// 1.2.840.113549.1.
fn named(oid: ObjectIdentifier) -> Option<(&'static str, Derivation, Cipher)> {
    use Derivation::{Md2, Md5, Pkcs12, Sha1};
    let rc2 = |bits| Cipher::Rc2 { bits, bytes: bits / 8 };
    let rc4 = |bytes| Cipher::Rc4 { bytes };
    Some(match oid.to_string().strip_prefix("1.2.840.113549.1.")? {
        "5.1" => ("pbeWithMD2AndDES-CBC", Md2, Cipher::Des),
        "5.3" => ("pbeWithMD5AndDES-CBC", Md5, Cipher::Des),
        "5.4" => ("pbeWithMD2AndRC2-CBC", Md2, rc2(64)),
        "5.6" => ("pbeWithMD5AndRC2-CBC", Md5, rc2(64)),
        "5.10" => ("pbeWithSHA1AndDES-CBC", Sha1, Cipher::Des),
        "5.11" => ("pbeWithSHA1AndRC2-CBC", Sha1, rc2(64)),
        "12.1.1" => ("pbeWithSHA1And128BitRC4", Pkcs12, rc4(16)),
        "12.1.2" => ("pbeWithSHA1And40BitRC4", Pkcs12, rc4(5)),
        "12.1.3" => ("pbeWithSHA1And3-KeyTripleDES-CBC", Pkcs12, Cipher::Des3),
        "12.1.4" => ("pbeWithSHA1And2-KeyTripleDES-CBC", Pkcs12, Cipher::Des2),
        "12.1.5" => ("pbeWithSHA1And128BitRC2-CBC", Pkcs12, rc2(128)),
        "12.1.6" => ("pbeWithSHA1And40BitRC2-CBC", Pkcs12, rc2(40)),
        _ => return None,
    })
}

/// A scheme with its parameters.
pub(super) struct Scheme<'a> {
    name: &'static str,
    derivation: Derivation,
    cipher: Cipher,
    salt: &'a [u8],
    iterations: u32,
}

impl<'a> Scheme<'a> {
    /// The scheme that the identifier names; nothing if it is none of these.
    pub(super) fn of(algorithm: &AlgorithmIdentifierRef<'a>) -> Result<Option<Self>> {
        let Some((name, derivation, cipher)) = named(algorithm.oid) else {
            return Ok(None);
        };
        if derivation == Derivation::Md2 {
            return Err(unsupported(format!(
                "this private key is encrypted with {name}; rsalab, and today's OpenSSL, have no MD2: open it with the program that made it"
            )));
        }
        let (salt, iterations) = salt_and_count(algorithm).map_err(|error| damaged("encrypted private key", error))?;
        let iterations = check_iterations(iterations, MOST_ITERATIONS, name)?;
        Ok(Some(Scheme {
            name,
            derivation,
            cipher,
            salt,
            iterations,
        }))
    }

    pub(super) fn opener(&self, password: &[u8]) -> Opener {
        let (salt, iterations) = (self.salt, self.iterations);
        let of_pkcs12 = |part, len| pkcs12(password, salt, iterations, part, len);
        let (key, iv) = match self.derivation {
            Derivation::Pkcs12 => (
                of_pkcs12(Part::Key, self.cipher.key_len()),
                of_pkcs12(Part::Iv, self.cipher.iv_len()).to_vec(),
            ),
            of_pkcs5 => {
                let both = match of_pkcs5 {
                    Derivation::Sha1 => pbkdf1::<Sha1>(password, salt, iterations, 16),
                    _ => pbkdf1::<Md5>(password, salt, iterations, 16),
                };
                (both[..8].to_vec().into(), both[8..].to_vec())
            }
        };
        let old = "it is an old way (PBES1) that new files should not use".to_owned();
        Opener {
            cipher: self.cipher,
            key,
            iv,
            method: self.name.to_owned(),
            weaknesses: [Some(old), few_iterations(iterations)].into_iter().flatten().collect(),
        }
    }
}

fn salt_and_count<'a>(algorithm: &AlgorithmIdentifierRef<'a>) -> der::Result<(&'a [u8], u64)> {
    parameters(algorithm)?.sequence(|reader| {
        let salt: &OctetStringRef = der::Reader::decode(reader)?;
        Ok::<_, der::Error>((salt.as_bytes(), number(reader)?))
    })
}
