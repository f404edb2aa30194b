//! PBES2 (RFC 8018, sections 6.2 and A.4): a function that makes the key of a password, PBKDF2 or scrypt, and a cipher,
//! each with its parameters.

use der::{
    Reader,
    asn1::{AnyRef, ObjectIdentifier, OctetStringRef},
};
use digest::{Digest, block_api::BlockSizeUser};
use hmac::SimpleHmac;
use md5::Md5;
use pbkdf2::pbkdf2_hmac;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::{
    cipher::Cipher,
    opener::{Opener, not_read},
    parameters::{number, parameters},
};
use crate::{
    Result,
    format::refusal::{damaged, in_brackets, refused, unsupported},
};

const PBES2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.13");
const PBKDF2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.12");
const SCRYPT: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.11591.4.11");
const RC2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.3.2");

/// The most iterations of PBKDF2, which take less than a second of one CPU: with SHA-3, with the hashes of 64-bit
/// words, and with the others. Guides ask for 210,000 with SHA-512, and 1,300,000 with SHA-1 (OWASP, 2023).
const MOST_ITERATIONS_SHA3: u32 = 400_000;
const MOST_ITERATIONS_64: u32 = 1_000_000;
const MOST_ITERATIONS: u32 = 3_000_000;
/// RFC 8018, section 4.2, asks for as many at least.
const FEW_ITERATIONS: u32 = 1000;
/// The most memory of scrypt, 128 r (N + p) bytes: a quarter more than OpenSSL reads unless told to, which is twice
/// what it writes; and below the 50 MB that any file may take (`fuzz`).
const MOST_SCRYPT_BYTES: u64 = 40 << 20;
/// The most of scrypt's N r p, which takes less than a second of one CPU: 32 times what OpenSSL writes.
const MOST_SCRYPT_WORK: u64 = 1 << 22;
/// The longest key of RC2 (RFC 2268, section 2).
const MOST_RC2_BYTES: u64 = 128;

type Pbkdf2 = fn(&[u8], &[u8], u32, &mut [u8]);

/// The function that makes the key.
enum Derivation<'a> {
    Pbkdf2 {
        run: Pbkdf2,
        hash: &'static str,
        salt: &'a [u8],
        iterations: u32,
    },
    Scrypt {
        parameters: scrypt::Params,
        salt: &'a [u8],
    },
}

/// Both halves of PBES2.
pub(super) struct Scheme<'a> {
    derivation: Derivation<'a>,
    cipher: Cipher,
    iv: &'a [u8],
}

impl<'a> Scheme<'a> {
    /// The scheme that the identifier and its parameters name. Nothing is computed before their cost was looked at: the
    /// numbers come from the file.
    pub(super) fn of(algorithm: &AlgorithmIdentifierRef<'a>) -> Result<Self> {
        if algorithm.oid != PBES2 {
            return Err(not_read(
                &format!("another algorithm{}", in_brackets(algorithm.oid)),
                true,
            ));
        }
        let (derivation, cipher): (AlgorithmIdentifierRef<'_>, AlgorithmIdentifierRef<'_>) = parameters(algorithm)
            .and_then(|both| both.sequence(|reader| Ok((reader.decode()?, reader.decode()?))))
            .map_err(broken)?;
        let (derivation, key_len) = match derivation.oid {
            PBKDF2 => pbkdf2(&derivation)?,
            SCRYPT => scrypt(&derivation)?,
            other => {
                return Err(not_read(
                    &format!("a key from another function{}", in_brackets(other)),
                    false,
                ));
            }
        };
        let (cipher, iv) = cipher_of(&cipher, key_len)?;
        if key_len.is_some_and(|len| len != cipher.key_len() as u64) {
            return Err(refused(
                "this encrypted private key contradicts itself: its cipher takes keys of another length than it names",
            ));
        }
        if iv.len() != cipher.iv_len() {
            return Err(refused(
                "this encrypted private key is damaged: its initialisation vector has another length than its cipher takes",
            ));
        }
        Ok(Scheme { derivation, cipher, iv })
    }

    pub(super) fn opener(&self, password: &[u8]) -> Result<Opener> {
        let mut key = Zeroizing::new(vec![0; self.cipher.key_len()]);
        let (function, weakness) = match &self.derivation {
            Derivation::Pbkdf2 {
                run,
                hash,
                salt,
                iterations,
            } => {
                run(password, salt, *iterations, &mut key);
                (format!("PBKDF2 with {hash}"), few_iterations(*iterations))
            }
            Derivation::Scrypt { parameters, salt } => {
                scrypt::scrypt(password, salt, parameters, &mut key)
                    .map_err(|_| refused("this private key asks for a key that scrypt does not make"))?;
                ("scrypt".to_owned(), None)
            }
        };
        Ok(Opener {
            cipher: self.cipher,
            key,
            iv: self.iv.to_vec(),
            method: format!("PBES2, {function}"),
            weaknesses: weakness.into_iter().collect(),
        })
    }
}

/// Refuses no iterations, and what would take minutes.
pub(super) fn check_iterations(count: u64, most: u32, function: &str) -> Result<u32> {
    match u32::try_from(count) {
        // RFC 8018, appendix A.2: INTEGER (1..MAX).
        Ok(0) => Err(refused(format!(
            "this private key asks for 0 iterations of {function}; 1 is the least"
        ))),
        Ok(count) if count <= most => Ok(count),
        _ => Err(unsupported(format!(
            "this private key asks for {count} iterations of {function}; rsalab does {most} at most with its hash"
        ))),
    }
}

pub(super) fn few_iterations(count: u32) -> Option<String> {
    let is_few = count < FEW_ITERATIONS;
    is_few.then(|| format!("a password is tried with {count} iterations of a hash, where {FEW_ITERATIONS} are the least that a standard allows"))
}

/// PBKDF2-params ::= SEQUENCE { salt CHOICE { OCTET STRING, … }, iterationCount, keyLength OPTIONAL, prf DEFAULT
/// hmacWithSHA1 }.
fn pbkdf2<'a>(algorithm: &AlgorithmIdentifierRef<'a>) -> Result<(Derivation<'a>, Option<u64>)> {
    type Found<'a> = (AnyRef<'a>, u64, Option<u64>, Option<AlgorithmIdentifierRef<'a>>);
    let found: Found<'a> = parameters(algorithm)
        .and_then(|parameters| {
            parameters.sequence(|reader| {
                let salt = reader.decode()?;
                let count = number(reader)?;
                let has_length = !reader.is_finished() && reader.peek_byte() == Some(INTEGER);
                let length = has_length.then(|| number(reader)).transpose()?;
                let prf = match reader.is_finished() {
                    true => None,
                    false => Some(reader.decode()?),
                };
                Ok((salt, count, length, prf))
            })
        })
        .map_err(broken)?;
    let (salt, count, length, prf) = found;
    let salt: &OctetStringRef = salt
        .decode_as()
        .map_err(|_| not_read("PBKDF2 and a salt that does not stand in the file", false))?;
    let (run, hash, most): (Pbkdf2, _, _) = match prf {
        None => (pbkdf2_hmac::<Sha1>, "SHA-1", MOST_ITERATIONS),
        Some(prf) => keyed_hash(prf.oid)
            .ok_or_else(|| not_read(&format!("PBKDF2 and another keyed hash{}", in_brackets(prf.oid)), false))?,
    };
    let derivation = Derivation::Pbkdf2 {
        run,
        hash,
        salt: salt.as_bytes(),
        iterations: check_iterations(count, most, "PBKDF2")?,
    };
    Ok((derivation, length))
}

/// The first byte of a DER integer.
const INTEGER: u8 = 2;

/// PBKDF2 with a keyed hash, the hash's name, and the most iterations of it.
fn keyed_hash(oid: ObjectIdentifier) -> Option<(Pbkdf2, &'static str, u32)> {
    fn sha3<D>(password: &[u8], salt: &[u8], count: u32, key: &mut [u8])
    where
        D: Digest + BlockSizeUser + Clone + Sync,
    {
        pbkdf2::pbkdf2::<SimpleHmac<D>>(password, salt, count, key)
            .expect("a keyed hash takes passwords of any length");
    }
    Some(match &*oid.to_string() {
        "1.2.840.113549.2.6" => (pbkdf2_hmac::<Md5>, "MD5", MOST_ITERATIONS),
        "1.2.840.113549.2.7" => (pbkdf2_hmac::<Sha1>, "SHA-1", MOST_ITERATIONS),
        "1.2.840.113549.2.8" => (pbkdf2_hmac::<Sha224>, "SHA-224", MOST_ITERATIONS),
        "1.2.840.113549.2.9" => (pbkdf2_hmac::<Sha256>, "SHA-256", MOST_ITERATIONS),
        "1.2.840.113549.2.10" => (pbkdf2_hmac::<Sha384>, "SHA-384", MOST_ITERATIONS_64),
        "1.2.840.113549.2.11" => (pbkdf2_hmac::<Sha512>, "SHA-512", MOST_ITERATIONS_64),
        "1.2.840.113549.2.12" => (pbkdf2_hmac::<Sha512_224>, "SHA-512/224", MOST_ITERATIONS_64),
        "1.2.840.113549.2.13" => (pbkdf2_hmac::<Sha512_256>, "SHA-512/256", MOST_ITERATIONS_64),
        "2.16.840.1.101.3.4.2.13" => (sha3::<Sha3_224>, "SHA3-224", MOST_ITERATIONS_SHA3),
        "2.16.840.1.101.3.4.2.14" => (sha3::<Sha3_256>, "SHA3-256", MOST_ITERATIONS_SHA3),
        "2.16.840.1.101.3.4.2.15" => (sha3::<Sha3_384>, "SHA3-384", MOST_ITERATIONS_SHA3),
        "2.16.840.1.101.3.4.2.16" => (sha3::<Sha3_512>, "SHA3-512", MOST_ITERATIONS_SHA3),
        _ => return None,
    })
}

/// scrypt-params ::= SEQUENCE { salt, costParameter, blockSize, parallelizationParameter, keyLength OPTIONAL } (RFC
/// 7914, section 7.1).
fn scrypt<'a>(algorithm: &AlgorithmIdentifierRef<'a>) -> Result<(Derivation<'a>, Option<u64>)> {
    let found = parameters(algorithm).and_then(|parameters| {
        parameters.sequence(|reader| {
            let salt: &OctetStringRef = reader.decode()?;
            let [n, r, p] = [number(reader)?, number(reader)?, number(reader)?];
            let length = (!reader.is_finished()).then(|| number(reader)).transpose()?;
            Ok((salt.as_bytes(), [n, r, p], length))
        })
    });
    let (salt, [n, r, p], length) = found.map_err(broken)?;
    // RFC 7914, section 2.
    if n < 2 || !n.is_power_of_two() || r == 0 || p == 0 {
        return Err(refused(format!(
            "this private key asks for scrypt with N = {n}, r = {r}, p = {p}; N is a power of two above 1, and r and p are at least 1"
        )));
    }
    // Sections 5 and 6: V takes 128 r N bytes, and B 128 r p.
    let bytes = n.saturating_add(p).saturating_mul(r).saturating_mul(128);
    let work = n.saturating_mul(r).saturating_mul(p);
    if bytes > MOST_SCRYPT_BYTES || work > MOST_SCRYPT_WORK {
        return Err(unsupported(format!(
            "this private key asks for scrypt with N = {n}, r = {r}, p = {p}, which is more memory or time than rsalab gives"
        )));
    }
    // What is below these bounds fits.
    let parameters = scrypt::Params::new(n.ilog2() as u8, r as u32, p as u32)
        .map_err(|_| refused("this private key asks for scrypt with parameters that it does not have"))?;
    Ok((Derivation::Scrypt { parameters, salt }, length))
}

/// The cipher, and its initialisation vector.
fn cipher_of<'a>(algorithm: &AlgorithmIdentifierRef<'a>, key_len: Option<u64>) -> Result<(Cipher, &'a [u8])> {
    const CIPHERS: [(&str, Cipher); 7] = [
        ("2.16.840.1.101.3.4.1.2", Cipher::Aes128),
        ("2.16.840.1.101.3.4.1.22", Cipher::Aes192),
        ("2.16.840.1.101.3.4.1.42", Cipher::Aes256),
        ("2.16.840.1.101.3.4.1.6", Cipher::Aes128Gcm),
        ("2.16.840.1.101.3.4.1.46", Cipher::Aes256Gcm),
        ("1.3.14.3.2.7", Cipher::Des),
        ("1.2.840.113549.3.7", Cipher::Des3),
    ];
    let known = CIPHERS
        .into_iter()
        .find(|(oid, _)| ObjectIdentifier::new_unwrap(oid) == algorithm.oid);
    let parameters = parameters(algorithm).map_err(broken)?;
    if algorithm.oid == RC2 {
        return rc2(parameters, key_len);
    }
    let Some((_, cipher)) = known else {
        let (name, is_legacy) = other_cipher(algorithm.oid);
        return Err(not_read(&name, is_legacy));
    };
    let iv: &OctetStringRef = match cipher {
        // GCMParameters ::= SEQUENCE { nonce, tag's bytes DEFAULT 12 } (RFC 5084, section 3.2); some writers leave the
        // sequence out.
        Cipher::Aes128Gcm | Cipher::Aes256Gcm if parameters.decode_as::<&OctetStringRef>().is_err() => {
            let (nonce, tag_len): (&OctetStringRef, u64) = parameters
                .sequence(|reader| Ok((reader.decode()?, number(reader)?)))
                .map_err(broken)?;
            if tag_len != 16 {
                return Err(unsupported(format!(
                    "this private key is encrypted with a tag of {tag_len} bytes; rsalab reads tags of 16"
                )));
            }
            nonce
        }
        _ => parameters.decode_as().map_err(broken)?,
    };
    Ok((cipher, iv.as_bytes()))
}

/// RC2-CBC-Parameter ::= SEQUENCE { rc2ParameterVersion OPTIONAL, iv }: the version says how many bits of the key count
/// (RFC 8018, B.2.3).
fn rc2(parameters: AnyRef<'_>, key_len: Option<u64>) -> Result<(Cipher, &[u8])> {
    let (version, iv): (Option<u64>, &OctetStringRef) = parameters
        .sequence(|reader| {
            let has_version = reader.peek_byte() == Some(INTEGER);
            let version = has_version.then(|| number(reader)).transpose()?;
            Ok((version, reader.decode()?))
        })
        .map_err(broken)?;
    let bits = match version {
        None => 32,
        Some(160) => 40,
        Some(120) => 64,
        Some(58) => 128,
        Some(bits @ 256..=1024) => bits as usize,
        Some(_) => return Err(not_read("RC2 of a version that is not known", true)),
    };
    let bytes = match key_len {
        None => 16,
        Some(bytes @ 1..=MOST_RC2_BYTES) => bytes as usize,
        Some(_) => {
            return Err(refused(
                "this encrypted private key asks for a key of RC2 that is longer than any",
            ));
        }
    };
    Ok((Cipher::Rc2 { bits, bytes }, iv.as_bytes()))
}

/// Other ciphers that OpenSSL writes, and whether it calls them legacy.
fn other_cipher(oid: ObjectIdentifier) -> (String, bool) {
    const NAMES: [(&str, &str, bool); 13] = [
        ("1.2.392.200011.61.1.1.1.2", "camellia-128-cbc", false),
        ("1.2.392.200011.61.1.1.1.3", "camellia-192-cbc", false),
        ("1.2.392.200011.61.1.1.1.4", "camellia-256-cbc", false),
        ("1.2.410.200046.1.1.2", "aria-128-cbc", false),
        ("1.2.410.200046.1.1.7", "aria-192-cbc", false),
        ("1.2.410.200046.1.1.12", "aria-256-cbc", false),
        ("1.2.156.10197.1.104.2", "sm4-cbc", false),
        ("1.2.410.200004.1.4", "seed-cbc", true),
        ("1.3.6.1.4.1.3029.1.2", "bf-cbc", true),
        ("1.2.840.113533.7.66.10", "cast5-cbc", true),
        ("1.3.6.1.4.1.188.7.1.1.2", "idea-cbc", true),
        ("2.16.840.1.101.3.4.1.44", "aes-256-cfb", false),
        ("2.16.840.1.101.3.4.1.43", "aes-256-ofb", false),
    ];
    NAMES
        .into_iter()
        .find(|(number, ..)| ObjectIdentifier::new_unwrap(number) == oid)
        .map_or_else(
            || (format!("another cipher{}", in_brackets(oid)), true),
            |(_, name, is_legacy)| (name.to_owned(), is_legacy),
        )
}

fn broken(error: der::Error) -> crate::Error {
    damaged("encrypted private key", error)
}
