//! Hash functions, and the masks that MGF1 makes with them, as the parameters of an algorithm name them (RFC 4055,
//! sections 2.1 and 2.2).

use der::{
    Any,
    asn1::{AnyRef, ObjectIdentifier},
};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned};

use super::refusal::{in_brackets, unsupported};
use crate::{Result, hash::Hash};

const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");

/// The hash function of a mask that parameters name, which MGF1 makes.
pub(super) fn mask_hash(mask: &AlgorithmIdentifier<AlgorithmIdentifierOwned>) -> Result<Hash> {
    match &mask.parameters {
        Some(inner) if mask.oid == MGF1 => hash(inner),
        _ => Err(unsupported(format!(
            "this key asks for a mask of another algorithm{}; rsalab knows MGF1",
            in_brackets(mask.oid)
        ))),
    }
}

/// A hash function that parameters name.
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
