//! What the algorithm of a key says about its use: `rsaEncryption`; `id-RSASSA-PSS`, with or without parameters (RFC 4055, sections 1.2
//! and 3.1); or `id-RSASSA-PSS-SHAKE128` and `id-RSASSA-PSS-SHAKE256`, which have none (RFC 8702, sections 2 and 3.3).

use der::{
    Encode,
    asn1::{AnyRef, ObjectIdentifier},
};
use pkcs1::{RsaPssParams, RsaPssParamsOwned, TrailerField};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned, AlgorithmIdentifierRef};

use super::{
    content::{self, refused},
    input::Usage,
    refusal::in_brackets,
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
    match algorithm.parameters {
        _ if algorithm.oid != PSS => content::check_algorithm(algorithm).map(|()| Usage::Any),
        None => Ok(Usage::Pss(None)),
        Some(parameters) => parameters_of(parameters).map(|pss| Usage::Pss(Some(pss))),
    }
}

/// RSASSA-PSS as RFC 8702 defines it with one of its functions.
fn with_shake(hash: Hash) -> Pss {
    Pss {
        salt_len: SaltLen::Bytes(hash.digest_len()),
        ..Pss::new(hash)
    }
}

fn parameters_of(parameters: AnyRef<'_>) -> Result<Pss> {
    let parameters: RsaPssParamsOwned = parameters.decode_as().map_err(|error| {
        refused(format!(
            "the RSASSA-PSS parameters of this key are damaged: {error}"
        ))
    })?;
    let mask = &parameters.mask_gen;
    let mgf_hash = match &mask.parameters {
        Some(inner) if mask.oid == MGF1 => hash(inner)?,
        _ => {
            return Err(refused(format!(
                "this key asks for a mask of another algorithm{}; rsalab knows MGF1",
                in_brackets(mask.oid)
            )));
        }
    };
    Ok(Pss {
        hash: hash(&parameters.hash)?,
        mgf_hash,
        salt_len: SaltLen::Bytes(parameters.salt_len.into()),
    })
}

fn hash(algorithm: &AlgorithmIdentifierOwned) -> Result<Hash> {
    let is_plain = algorithm
        .parameters
        .as_ref()
        .is_none_or(|parameters| AnyRef::from(parameters).is_null());
    Hash::of_oid(algorithm.oid)
        // Those have algorithms of their own, and stand in no parameters (RFC 8702, section 3.2.1).
        .filter(|hash| is_plain && !hash.is_xof())
        .ok_or_else(|| {
            refused(format!(
                "this key asks for a hash function that rsalab does not know{}",
                in_brackets(algorithm.oid)
            ))
        })
}

/// An algorithm of a key, with the DER of its parameters.
pub(super) struct Algorithm {
    oid: ObjectIdentifier,
    parameters: Option<Vec<u8>>,
}

impl Algorithm {
    /// As a key of this use has it.
    pub(super) fn of(usage: Usage) -> Result<Algorithm> {
        let (oid, parameters) = match usage {
            Usage::Any => (
                pkcs1::ALGORITHM_OID,
                Some(AnyRef::NULL.to_der().expect(FITS)),
            ),
            Usage::Pss(None) => (PSS, None),
            Usage::Pss(Some(pss)) if pss.hash.is_xof() || pss.mgf_hash.is_xof() => {
                SignatureScheme::Pss(pss).check_functions()?;
                let (oid, _) = PSS_SHAKE
                    .into_iter()
                    .find(|(_, hash)| *hash == pss.hash)
                    .expect("there are two such functions");
                (oid, None)
            }
            Usage::Pss(Some(pss)) => (PSS, Some(encoded(&pss)?)),
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

fn encoded(pss: &Pss) -> Result<Vec<u8>> {
    let with_null = |hash: Hash| AlgorithmIdentifierRef {
        oid: hash.oid(),
        parameters: Some(AnyRef::NULL),
    };
    let bytes = match pss.salt_len {
        SaltLen::Digest => pss.hash.digest_len(),
        SaltLen::Bytes(bytes) => bytes,
        SaltLen::Max | SaltLen::Any => {
            return Err(refused("a key for RSASSA-PSS names the bytes of its salt"));
        }
    };
    let salt_len = u8::try_from(bytes)
        .map_err(|_| refused("a key for RSASSA-PSS names a salt of at most 255 bytes"))?;
    let parameters = RsaPssParams {
        hash: with_null(pss.hash),
        mask_gen: AlgorithmIdentifier {
            oid: MGF1,
            parameters: Some(with_null(pss.mgf_hash)),
        },
        salt_len,
        trailer_field: TrailerField::BC,
    };
    Ok(parameters.to_der().expect(FITS))
}
