//! The algorithm of a key, and what it says about the key's use.
//!
//! | algorithm | use | parameters |
//! |---|---|---|
//! | `rsaEncryption` (RFC 8017, appendix A.1) | any | NULL, or none |
//! | `rsa` of X.500 (ITU-T X.509, `id-ea-rsa`) | any | the length of the modulus, NULL, or none |
//! | `id-RSASSA-PSS` (RFC 4055, sections 1.2 and 3.1) | signatures | `pss`, or none |
//! | `id-RSASSA-PSS-SHAKE128`, `id-RSASSA-PSS-SHAKE256` (RFC 8702, sections 2 and 3.3) | signatures | none |
//! | `id-RSAES-OAEP` (RFC 4055, sections 1.2 and 4.1) | encryption | `oaep`, or none |

use der::{
    Any, Encode, Tag, Tagged,
    asn1::{AnyRef, ObjectIdentifier},
};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned, AlgorithmIdentifierRef};

use super::{
    content::{self, refused, unsupported},
    oaep, pss,
    refusal::in_brackets,
    usage::Usage,
};
use crate::{
    Result,
    hash::Hash,
    scheme::{Pss, SaltLen, SignatureScheme},
};

/// Why encoding cannot fail: DER lengths reach 256 MiB.
pub(super) const FITS: &str = "a key of at most 16384 bits fits in DER";

const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// The algorithms whose identifier alone says everything: hash, mask and salt.
const PSS_SHAKE: [(ObjectIdentifier, Hash); 2] = [
    (
        ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.30"),
        Hash::Shake128,
    ),
    (
        ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.31"),
        Hash::Shake256,
    ),
];
const OAEP: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.7");
const X500_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.8.1.1");
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// What a key of this algorithm may be used for; other algorithms are named.
pub(super) fn usage(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<Usage> {
    if let Some((_, hash)) = PSS_SHAKE.iter().find(|(oid, _)| *oid == algorithm.oid) {
        return match algorithm.parameters {
            None => Ok(Usage::Pss(Some(with_shake(*hash)))),
            Some(_) => Err(refused(
                "this key for RSASSA-PSS with SHAKE has parameters, which its algorithm does not take",
            )),
        };
    }
    match (algorithm.oid, algorithm.parameters) {
        (PSS, None) => Ok(Usage::Pss(None)),
        (PSS, Some(parameters)) => pss::read(parameters).map(|pss| Usage::Pss(Some(pss))),
        (OAEP, None) => Ok(Usage::Oaep(None)),
        (OAEP, Some(parameters)) => oaep::read(parameters).map(|oaep| Usage::Oaep(Some(oaep))),
        (X500_RSA, parameters) => match parameters {
            Some(other) if !other.is_null() && other.tag() != Tag::Integer => Err(refused(
                "this RSA key has parameters that its algorithm does not take",
            )),
            _ => Ok(Usage::Any),
        },
        _ => content::check_algorithm(algorithm).map(|()| Usage::Any),
    }
}

/// RSASSA-PSS as RFC 8702 defines it with one of its functions.
fn with_shake(hash: Hash) -> Pss {
    Pss {
        salt_len: SaltLen::Bytes(hash.digest_len()),
        ..Pss::new(hash)
    }
}

/// The hash of a mask, which MGF1 makes.
pub(super) fn mask_hash(mask: &AlgorithmIdentifier<AlgorithmIdentifierOwned>) -> Result<Hash> {
    match &mask.parameters {
        Some(inner) if mask.oid == MGF1 => hash(inner),
        _ => Err(unsupported(format!(
            "this key asks for a mask of another algorithm{}; rsalab knows MGF1",
            in_brackets(mask.oid)
        ))),
    }
}

pub(super) fn hash(algorithm: &AlgorithmIdentifierOwned) -> Result<Hash> {
    let is_plain = algorithm
        .parameters
        .as_ref()
        .is_none_or(|parameters| AnyRef::from(parameters).is_null());
    Hash::of_oid(algorithm.oid)
        // Those have algorithms of their own, and stand in no parameters (RFC 8702, section 3.2.1).
        .filter(|hash| is_plain && !hash.is_xof())
        .ok_or_else(|| {
            unsupported(format!(
                "this key asks for a hash function that rsalab does not know{}",
                in_brackets(algorithm.oid)
            ))
        })
}

/// A hash function as parameters name it.
pub(super) fn hash_identifier(hash: Hash) -> AlgorithmIdentifierOwned {
    AlgorithmIdentifier {
        oid: hash.oid(),
        parameters: Some(Any::null()),
    }
}

/// MGF1 with a hash function as parameters name it.
pub(super) fn mask_identifier(hash: Hash) -> AlgorithmIdentifier<AlgorithmIdentifierOwned> {
    AlgorithmIdentifier {
        oid: MGF1,
        parameters: Some(hash_identifier(hash)),
    }
}

/// An algorithm of a key, with the DER of its parameters.
pub(super) struct Algorithm {
    oid: ObjectIdentifier,
    parameters: Option<Vec<u8>>,
}

impl Algorithm {
    /// As a key of this use has it.
    pub(super) fn of(usage: &Usage) -> Result<Algorithm> {
        let (oid, parameters) = match usage {
            Usage::Any => (
                pkcs1::ALGORITHM_OID,
                Some(AnyRef::NULL.to_der().expect(FITS)),
            ),
            Usage::Pss(None) => (PSS, None),
            Usage::Pss(Some(pss)) if pss.hash.is_xof() || pss.mgf_hash.is_xof() => {
                SignatureScheme::Pss(*pss).check_functions()?;
                let (oid, _) = PSS_SHAKE
                    .into_iter()
                    .find(|(_, hash)| *hash == pss.hash)
                    .expect("there are two such functions");
                (oid, None)
            }
            Usage::Pss(Some(pss)) => (PSS, Some(pss::written(pss)?)),
            Usage::Oaep(None) => (OAEP, None),
            Usage::Oaep(Some(oaep)) => (OAEP, Some(oaep::written(oaep)?)),
        };
        Ok(Algorithm { oid, parameters })
    }

    pub(super) fn identifier(&self) -> AlgorithmIdentifierRef<'_> {
        AlgorithmIdentifier {
            oid: self.oid,
            parameters: self
                .parameters
                .as_deref()
                .map(|der| AnyRef::try_from(der).expect("it was encoded here")),
        }
    }
}
