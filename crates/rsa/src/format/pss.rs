//! The parameters of a key for RSASSA-PSS alone (RFC 4055, section 3.1).
//!
//! ```text
//! RSASSA-PSS-params ::= SEQUENCE {
//!     hashAlgorithm      [0] HashAlgorithm     DEFAULT sha1Identifier,
//!     maskGenAlgorithm   [1] MaskGenAlgorithm  DEFAULT mgf1SHA1Identifier,
//!     saltLength         [2] INTEGER           DEFAULT 20,
//!     trailerField       [3] INTEGER           DEFAULT 1 }
//! ```
//!
//! The crate `pkcs1` has this structure with salts of 255 bytes at most; a key of 4096 bits has room for 478.

use der::{
    Encode, Reader, TagMode, TagNumber, Tagged,
    asn1::{AnyRef, ContextSpecificRef},
};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierOwned};

use super::{
    hashes::{self, hash_identifier, mask_hash, mask_identifier},
    input::FITS,
    refusal::{refused, unsupported},
};
use crate::{
    Result,
    hash::Hash,
    scheme::{Pss, SaltLen},
};

const DEFAULT_SALT: u32 = 20;
const TRAILER_BC: u32 = 1;

/// Fields of the file; one that is missing has its default.
#[derive(Default)]
struct Parameters {
    hash: Option<AlgorithmIdentifierOwned>,
    mask: Option<AlgorithmIdentifier<AlgorithmIdentifierOwned>>,
    salt_len: Option<u32>,
    trailer: Option<u32>,
}

/// Reads parameters. Defaults that are written out are taken, which DER forbids and some writers do.
pub(super) fn read(parameters: AnyRef<'_>) -> Result<Pss> {
    let damaged = |error: der::Error| refused(format!("the RSASSA-PSS parameters of this key are damaged: {error}"));
    parameters.tag().assert_eq(der::Tag::Sequence).map_err(damaged)?;
    let found = fields(parameters.value()).map_err(damaged)?;
    if found.trailer.is_some_and(|trailer| trailer != TRAILER_BC) {
        return Err(unsupported(
            "this key asks for another trailer of RSASSA-PSS than 0xbc, which is the only one that there is",
        ));
    }
    Ok(Pss {
        hash: found.hash.as_ref().map_or(Ok(Hash::Sha1), hashes::hash)?,
        mgf_hash: found.mask.as_ref().map_or(Ok(Hash::Sha1), mask_hash)?,
        salt_len: SaltLen::Bytes(found.salt_len.unwrap_or(DEFAULT_SALT) as usize),
    })
}

fn fields(contents: &[u8]) -> der::Result<Parameters> {
    let mut reader = der::SliceReader::new(contents)?;
    let mode = TagMode::Explicit;
    let found = Parameters {
        hash: reader.context_specific(TagNumber(0), mode)?,
        mask: reader.context_specific(TagNumber(1), mode)?,
        salt_len: reader.context_specific(TagNumber(2), mode)?,
        trailer: reader.context_specific(TagNumber(3), mode)?,
    };
    reader.finish()?;
    Ok(found)
}

/// The DER of parameters; defaults are left out.
pub(super) fn written(pss: &Pss) -> Result<Vec<u8>> {
    let bytes = match pss.salt_len {
        SaltLen::Digest => pss.hash.digest_len(),
        SaltLen::Bytes(bytes) => bytes,
        SaltLen::Max | SaltLen::Any | SaltLen::AtLeast(_) => {
            return Err(refused("a key for RSASSA-PSS names the bytes of its salt"));
        }
    };
    let salt_len =
        u32::try_from(bytes).map_err(|_| refused("no key for RSASSA-PSS has room for a salt as long as this"))?;
    let mut contents = Vec::new();
    if pss.hash != Hash::Sha1 {
        add(&mut contents, 0, &hash_identifier(pss.hash));
    }
    if pss.mgf_hash != Hash::Sha1 {
        add(&mut contents, 1, &mask_identifier(pss.mgf_hash));
    }
    if salt_len != DEFAULT_SALT {
        add(&mut contents, 2, &salt_len);
    }
    let sequence = AnyRef::new(der::Tag::Sequence, &contents).expect(FITS);
    Ok(sequence.to_der().expect(FITS))
}

fn add<T: der::EncodeValue + Tagged>(contents: &mut Vec<u8>, number: u32, value: &T) {
    let field = ContextSpecificRef {
        tag_number: TagNumber(number),
        tag_mode: TagMode::Explicit,
        value,
    };
    contents.extend(field.to_der().expect(FITS));
}
