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
    Encode, Tag, Tagged,
    asn1::{AnyRef, ObjectIdentifier},
};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierRef};

use super::{
    input::FITS,
    oaep, pss,
    refusal::{other_algorithm, refused},
    usage::Usage,
};
use crate::{
    Result,
    hash::Hash,
    scheme::{Pss, SaltLen, SignatureScheme},
};

const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
/// The algorithms whose identifier alone says everything: hash, mask and salt.
const PSS_SHAKE: &[(ObjectIdentifier, Hash)] = &[
    #[cfg(feature = "sha3")]
    (ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.30"), Hash::Shake128),
    #[cfg(feature = "sha3")]
    (ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.6.31"), Hash::Shake256),
];
const OAEP: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.7");
const X500_RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.8.1.1");

/// The uses of a key of this algorithm; other algorithms are named.
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
            Some(other) if !other.is_null() && other.tag() != Tag::Integer => {
                Err(refused("this RSA key has parameters that its algorithm does not take"))
            }
            _ => Ok(Usage::Any),
        },
        _ => check_algorithm(algorithm).map(|()| Usage::Any),
    }
}

/// Passes `rsaEncryption` and names anything else.
fn check_algorithm(algorithm: &AlgorithmIdentifierRef<'_>) -> Result<()> {
    if algorithm.oid == pkcs1::ALGORITHM_OID {
        // RFC 8017 appendix A.1 wants NULL; some writers leave it out.
        return match algorithm.parameters {
            None => Ok(()),
            Some(parameters) if parameters.is_null() => Ok(()),
            Some(_) => Err(refused("this RSA key has parameters that its algorithm does not take")),
        };
    }
    Err(other_algorithm(algorithm.oid))
}

/// RSASSA-PSS as RFC 8702 defines it with one of its functions.
fn with_shake(hash: Hash) -> Pss {
    Pss {
        salt_len: SaltLen::Bytes(hash.digest_len()),
        ..Pss::new(hash)
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
            Usage::Any => (pkcs1::ALGORITHM_OID, Some(AnyRef::NULL.to_der().expect(FITS))),
            Usage::Pss(None) => (PSS, None),
            Usage::Pss(Some(pss)) if pss.hash.is_xof() || pss.mgf_hash.is_xof() => {
                SignatureScheme::Pss(*pss).check_functions()?;
                let (oid, _) = PSS_SHAKE
                    .iter()
                    .copied()
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
