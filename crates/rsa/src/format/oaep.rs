//! The parameters of a key for RSAES-OAEP alone (RFC 4055, section 4.1). Those of a TPM's endorsement key name a label.

use der::{
    Any, Encode, Tag,
    asn1::{AnyRef, ObjectIdentifier, OctetStringRef},
};
use pkcs1::RsaOaepParamsOwned;
use spki::AlgorithmIdentifier;

use super::{
    hashes::{hash, hash_identifier, mask_hash, mask_identifier},
    refusal::{in_brackets, refused, unsupported},
};
use crate::{Result, scheme::Oaep};

/// A label that stands in the parameters.
const SPECIFIED: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.9");

pub(super) fn read(parameters: AnyRef<'_>) -> Result<Oaep> {
    let damaged = |error: der::Error| refused(format!("the RSAES-OAEP parameters of this key are damaged: {error}"));
    let found: RsaOaepParamsOwned = parameters.decode_as().map_err(damaged)?;
    let source = &found.p_source;
    if source.oid != SPECIFIED {
        return Err(unsupported(format!(
            "the label of this key for RSAES-OAEP has a source that rsalab does not know{}",
            in_brackets(source.oid)
        )));
    }
    let label = match &source.parameters {
        None => Vec::new(),
        Some(label) => {
            let label: &OctetStringRef = label.decode_as().map_err(damaged)?;
            label.as_bytes().to_vec()
        }
    };
    Ok(Oaep {
        hash: hash(&found.hash)?,
        mgf_hash: mask_hash(&found.mask_gen)?,
        label,
    })
}

pub(super) fn written(oaep: &Oaep) -> Result<Vec<u8>> {
    if oaep.hash.is_xof() || oaep.mgf_hash.is_xof() {
        return Err(refused("RSAES-OAEP has no parameters for SHAKE"));
    }
    let encoded = || {
        RsaOaepParamsOwned {
            hash: hash_identifier(oaep.hash),
            mask_gen: mask_identifier(oaep.mgf_hash),
            p_source: AlgorithmIdentifier {
                oid: SPECIFIED,
                parameters: Some(Any::new(Tag::OctetString, oaep.label.clone())?),
            },
        }
        .to_der()
    };
    encoded().map_err(|_| refused("a label of RSAES-OAEP that is as long as this fits in no key"))
}
