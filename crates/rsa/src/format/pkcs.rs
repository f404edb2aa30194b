//! PKCS#1, PKCS#8 and SubjectPublicKeyInfo.

use der::{
    Decode, Encode, Reader, SliceReader, Tag, TagNumber, Tagged,
    asn1::{AnyRef, BitStringRef, OctetStringRef},
    pem::LineEnding,
};
use pkcs1::{OtherPrimeInfo, RsaPrivateKey, RsaPublicKey, UintRef};
use pkcs8::PrivateKeyInfoRef;
use spki::SubjectPublicKeyInfoRef;
use zeroize::Zeroizing;

use super::{
    algorithm::{self, Algorithm},
    annotations::Annotations,
    input::{Encoding, FITS, Limits, PrivateFormat, PublicFormat},
    refusal::{damaged, refused},
    structure::SEQUENCE,
    usage::Usage,
};
use crate::{Error, OtherPrime, PrivateKey, PrivateParts, PublicKey, Result};

/// Writes a private key for any use, unencrypted.
pub fn encode_private(key: &PrivateKey, format: PrivateFormat, encoding: Encoding) -> Zeroizing<Vec<u8>> {
    encode_private_for(key, &Usage::Any, format, encoding).expect("every form says this")
}

/// Writes a private key with what it may be used for, unencrypted.
///
/// # Errors
///
/// [`Error::Format`] if the form cannot say it.
pub fn encode_private_for(
    key: &PrivateKey,
    usage: &Usage,
    format: PrivateFormat,
    encoding: Encoding,
) -> Result<Zeroizing<Vec<u8>>> {
    encode_private_annotated(key, usage, &Annotations::default(), format, encoding)
}

/// Writes a private key with what it may be used for, and in PKCS#8 with the attributes that it was read with,
/// unencrypted.
///
/// # Errors
///
/// As for [`encode_private_for`].
pub fn encode_private_annotated(
    key: &PrivateKey,
    usage: &Usage,
    annotations: &Annotations,
    format: PrivateFormat,
    encoding: Encoding,
) -> Result<Zeroizing<Vec<u8>>> {
    let (label, der) = match format {
        PrivateFormat::Pkcs1 => {
            says_any(usage, "PKCS#1")?;
            ("RSA PRIVATE KEY", Zeroizing::new(pkcs1_private_der(key)))
        }
        PrivateFormat::Pkcs8 => ("PRIVATE KEY", pkcs8_der(key, usage, &annotations.attributes)?),
    };
    Ok(match encoding {
        Encoding::Der => der,
        Encoding::Pem => Zeroizing::new(pem(label, &der)),
    })
}

/// Writes a public key for any use.
pub fn encode_public(key: &PublicKey, format: PublicFormat, encoding: Encoding) -> Vec<u8> {
    encode_public_for(key, &Usage::Any, format, encoding).expect("every form says this")
}

/// Writes a public key with what it may be used for.
///
/// # Errors
///
/// [`Error::Format`] if the form cannot say it.
pub fn encode_public_for(key: &PublicKey, usage: &Usage, format: PublicFormat, encoding: Encoding) -> Result<Vec<u8>> {
    let pkcs1 = pkcs1_public_der(key);
    let (label, der) = match format {
        PublicFormat::Pkcs1 => {
            says_any(usage, "PKCS#1")?;
            ("RSA PUBLIC KEY", pkcs1)
        }
        PublicFormat::Spki => {
            let algorithm = Algorithm::of(usage)?;
            let info = SubjectPublicKeyInfoRef {
                algorithm: algorithm.identifier(),
                subject_public_key: BitStringRef::from_bytes(&pkcs1).expect(FITS),
            };
            ("PUBLIC KEY", info.to_der().expect(FITS))
        }
    };
    Ok(match encoding {
        Encoding::Der => der,
        Encoding::Pem => pem(label, &der),
    })
}

pub(super) fn says_any(usage: &Usage, form: &str) -> Result<()> {
    match usage.only() {
        None => Ok(()),
        Some(scheme) => Err(refused(format!(
            "this key is for {scheme} only, which {form} cannot say; take PKCS#8 or SubjectPublicKeyInfo"
        ))),
    }
}

pub(super) fn pem(label: &'static str, der: &[u8]) -> Vec<u8> {
    der::pem::encode_string(label, LineEnding::LF, der)
        .expect(FITS)
        .into_bytes()
}

pub(super) fn pkcs8_der(
    key: &PrivateKey,
    usage: &Usage,
    attributes: &[Zeroizing<Vec<u8>>],
) -> Result<Zeroizing<Vec<u8>>> {
    let pkcs1 = Zeroizing::new(pkcs1_private_der(key));
    let algorithm = Algorithm::of(usage)?;
    let inner = OctetStringRef::new(&pkcs1).expect(FITS);
    let info = PrivateKeyInfoRef::new(algorithm.identifier(), inner);
    let der = Zeroizing::new(info.to_der().expect(FITS));
    match attributes {
        [] => Ok(der),
        attributes => {
            with_attributes(&der, attributes).map_err(|_| refused("the attributes of this key cannot be written"))
        }
    }
}

pub(super) fn pkcs1_private_der(key: &PrivateKey) -> Vec<u8> {
    let uint = |bytes| UintRef::new(bytes).expect(FITS);
    let parts = key.parts();
    let others = parts.others.iter().map(|other| OtherPrimeInfo {
        prime: uint(&other.r),
        exponent: uint(&other.d),
        coefficient: uint(&other.t),
    });
    // The version says whether there are any.
    let others = (!parts.others.is_empty()).then(|| others.collect());
    RsaPrivateKey {
        modulus: uint(parts.n),
        public_exponent: uint(parts.e),
        private_exponent: uint(parts.d),
        prime1: uint(parts.p),
        prime2: uint(parts.q),
        exponent1: uint(parts.dp),
        exponent2: uint(parts.dq),
        coefficient: uint(parts.qinv),
        other_prime_infos: others,
    }
    .to_der()
    .expect(FITS)
}

pub(super) fn pkcs1_public_der(key: &PublicKey) -> Vec<u8> {
    let uint = |bytes| UintRef::new(bytes).expect(FITS);
    RsaPublicKey {
        modulus: uint(key.n()),
        public_exponent: uint(key.e()),
    }
    .to_der()
    .expect(FITS)
}

/// The SubjectPublicKeyInfo of a key for any use, in DER: what [`encode_public`] writes, in a fifth of the time. Each
/// key of an audit is named by it.
pub(super) fn spki_der(key: &PublicKey) -> Vec<u8> {
    const RSA_ENCRYPTION: [u8; 15] = [0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];
    const INTEGER: u8 = 2;
    const BIT_STRING: u8 = 3;
    // A number is not negative: a zero stands in front of a first bit that is set.
    let zeros = |number: &[u8]| usize::from(number[0] >> 7);
    let numbers = [key.n(), key.e()];
    let integers: usize = numbers
        .iter()
        .map(|number| element_len(zeros(number) + number.len()))
        .sum();
    let bits = 1 + element_len(integers);
    let info = RSA_ENCRYPTION.len() + element_len(bits);
    let mut der = Vec::with_capacity(element_len(info));
    begin_element(&mut der, SEQUENCE, info);
    der.extend_from_slice(&RSA_ENCRYPTION);
    begin_element(&mut der, BIT_STRING, bits);
    // No bit of the last byte is left out.
    der.push(0);
    begin_element(&mut der, SEQUENCE, integers);
    for number in numbers {
        begin_element(&mut der, INTEGER, zeros(number) + number.len());
        der.extend(std::iter::repeat_n(0, zeros(number)));
        der.extend_from_slice(number);
    }
    der
}

/// Bytes that tell how many follow, where these are 128 or more.
fn length_len(len: usize) -> usize {
    match len {
        ..0x80 => 0,
        _ => (usize::BITS - len.leading_zeros()).div_ceil(8) as usize,
    }
}

/// Bytes of an element with so many in it.
fn element_len(len: usize) -> usize {
    2 + length_len(len) + len
}

fn begin_element(der: &mut Vec<u8>, tag: u8, len: usize) {
    let bytes = length_len(len);
    der.push(tag);
    match bytes {
        0 => der.push(len as u8),
        _ => {
            der.push(0x80 | bytes as u8);
            der.extend_from_slice(&len.to_be_bytes()[size_of::<usize>() - bytes..]);
        }
    }
}

pub(super) fn pkcs1_private(der: &[u8], limits: Limits) -> Result<PrivateKey> {
    let key = RsaPrivateKey::<UintRef<'_>>::from_der(der)
        .map_err(|error| negative(der, 1).unwrap_or_else(|| damaged("PKCS#1 private key", error)))?;
    limits.check(key.modulus.as_bytes())?;
    let number = |number: UintRef<'_>| Zeroizing::new(number.as_bytes().to_vec());
    let others = key.other_prime_infos.iter().flatten();
    let others: Vec<OtherPrime> = others
        .map(|info| OtherPrime {
            r: number(info.prime),
            d: number(info.exponent),
            t: number(info.coefficient),
        })
        .collect();
    let parts = PrivateParts {
        n: key.modulus.as_bytes(),
        e: key.public_exponent.as_bytes(),
        d: key.private_exponent.as_bytes(),
        p: key.prime1.as_bytes(),
        q: key.prime2.as_bytes(),
        dp: key.exponent1.as_bytes(),
        dq: key.exponent2.as_bytes(),
        qinv: key.coefficient.as_bytes(),
        others: &others,
    };
    // Programs that do not know the primes of a key write zeros in their places.
    let is_without_crt = [parts.p, parts.q, parts.dp, parts.dq, parts.qinv]
        .iter()
        .all(|number| number.iter().all(|&byte| byte == 0));
    match is_without_crt && others.is_empty() {
        true => PrivateKey::from_exponents(parts.n, parts.e, parts.d),
        false => PrivateKey::from_parts(&parts),
    }
}

/// The public half in a PKCS#1 private key, whatever its other numbers are.
pub(super) fn pkcs1_half(der: &[u8], limits: Limits) -> Option<PublicKey> {
    let outer = AnyRef::from_der(der).ok()?;
    let mut reader = SliceReader::new(outer.value()).ok()?;
    let mut integer = || {
        let number: AnyRef<'_> = reader.decode().ok()?;
        (number.tag() == Tag::Integer).then(|| number.value())
    };
    let (_version, n, e) = (integer()?, integer()?, integer()?);
    limits.check(n).ok()?;
    PublicKey::new(n, e).ok()
}

/// The same of a PKCS#8 private key, whatever its algorithm says.
pub(super) fn pkcs8_half(der: &[u8], limits: Limits) -> Option<PublicKey> {
    let info = PrivateKeyInfoRef::from_der(der).ok()?;
    pkcs1_half(info.private_key.as_bytes(), limits)
}

pub(super) fn pkcs1_public(der: &[u8], limits: Limits) -> Result<PublicKey> {
    let key = RsaPublicKey::<UintRef<'_>>::from_der(der)
        .map_err(|error| negative(der, 0).unwrap_or_else(|| damaged("PKCS#1 public key", error)))?;
    limits.check(key.modulus.as_bytes())?;
    PublicKey::new(key.modulus.as_bytes(), key.public_exponent.as_bytes())
}

/// The error of a structure whose numbers, after the first `skipped`, have a negative one among them: some writers
/// forget the zero in front of a number whose first bit is set.
fn negative(der: &[u8], skipped: usize) -> Option<Error> {
    const NAMES: [&str; 8] = [
        "modulus",
        "public exponent",
        "private exponent d",
        "prime p",
        "prime q",
        "CRT exponent d mod (p-1)",
        "CRT exponent d mod (q-1)",
        "CRT coefficient q^-1 mod p",
    ];
    let outer = AnyRef::from_der(der).ok()?;
    let mut reader = SliceReader::new(outer.value()).ok()?;
    for place in 0.. {
        let number: AnyRef<'_> = reader.decode().ok()?;
        let is_negative = number.value().first().is_some_and(|first| first & 0x80 != 0);
        if number.tag() == Tag::Integer && is_negative && place >= skipped {
            let name = NAMES.get(place - skipped)?;
            return Some(refused(format!(
                "the {name} of this key is negative: its first bit is set, and no zero stands in front of it"
            )));
        }
    }
    None
}

pub(super) fn pkcs8(der: &[u8], limits: Limits) -> Result<(PrivateKey, Usage)> {
    let info = PrivateKeyInfoRef::from_der(der).map_err(|error| damaged("PKCS#8 private key", error))?;
    let usage = algorithm::usage(&info.algorithm)?;
    Ok((pkcs1_private(info.private_key.as_bytes(), limits)?, usage))
}

/// The attributes of a PKCS#8 key, each in DER; none where there are none, or they cannot be read.
pub(super) fn attributes(der: &[u8]) -> Vec<Zeroizing<Vec<u8>>> {
    let read = || -> der::Result<Vec<Zeroizing<Vec<u8>>>> {
        let outer = AnyRef::from_der(der)?;
        let mut reader = SliceReader::new(outer.value())?;
        let mut attributes = Vec::new();
        while !reader.is_finished() {
            let element: AnyRef<'_> = reader.decode()?;
            if element.tag() != ATTRIBUTES {
                continue;
            }
            let mut inner = SliceReader::new(element.value())?;
            while !inner.is_finished() {
                attributes.push(Zeroizing::new(inner.decode::<AnyRef<'_>>()?.to_der()?));
            }
        }
        // DER sorts a set by its members' bytes (X.690, section 11.6); not every writer does.
        attributes.sort_unstable_by(|one, other| one[..].cmp(&other[..]));
        Ok(attributes)
    };
    read().unwrap_or_default()
}

/// The tag of the attributes of a PKCS#8 key (RFC 5958, section 2).
const ATTRIBUTES: Tag = Tag::ContextSpecific {
    constructed: true,
    number: TagNumber(0),
};

/// A PKCS#8 key with attributes, which it does not have yet.
fn with_attributes(pkcs8: &[u8], attributes: &[Zeroizing<Vec<u8>>]) -> der::Result<Zeroizing<Vec<u8>>> {
    let all: Vec<&[u8]> = attributes.iter().map(|attribute| &attribute[..]).collect();
    let set = Zeroizing::new(all.concat());
    let set = Zeroizing::new(AnyRef::new(ATTRIBUTES, &set)?.to_der()?);
    let key = AnyRef::from_der(pkcs8)?;
    let both = Zeroizing::new([key.value(), &set].concat());
    Ok(Zeroizing::new(AnyRef::new(Tag::Sequence, &both)?.to_der()?))
}

pub(super) fn spki(der: &[u8], limits: Limits) -> Result<(PublicKey, Usage)> {
    let info = SubjectPublicKeyInfoRef::from_der(der).map_err(|error| damaged("public key", error))?;
    let usage = algorithm::usage(&info.algorithm)?;
    let inner = info
        .subject_public_key
        .as_bytes()
        .ok_or_else(|| refused("this public key is damaged: its bits do not fill whole bytes"))?;
    Ok((pkcs1_public(inner, limits)?, usage))
}

/// The key of a SubjectPublicKeyInfo, whatever its algorithm says.
pub(super) fn spki_half(der: &[u8], limits: Limits) -> Option<PublicKey> {
    let info = SubjectPublicKeyInfoRef::from_der(der).ok()?;
    pkcs1_public(info.subject_public_key.as_bytes()?, limits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_info_that_names_a_key_is_that_which_is_written() {
        for len in [32, 33, 63, 64, 100, 126, 127, 128, 129, 255, 256, 257, 1024, 2048] {
            for first in [0x01, 0x7f, 0x80, 0xff] {
                let mut n = vec![0x5b; len];
                n[0] = first;
                for e in [&[3][..], &[0x81], &[1, 0, 1], &[0xff, 0xff, 0xff], &n[1..]] {
                    let Ok(key) = PublicKey::new(&n, e) else {
                        assert!(len == 32 && first < 0x80);
                        continue;
                    };
                    assert_eq!(spki_der(&key), encode_public(&key, PublicFormat::Spki, Encoding::Der));
                }
            }
        }
    }
}
