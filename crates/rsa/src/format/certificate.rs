//! The public key of an X.509 certificate, with its key usage (RFC 5280, sections 4.1 and 4.2.1.3). Nothing else of it
//! is believed or looked at: only the elements on the way to these two are walked over, whatever is in them. So a
//! serial number may be negative, or long, and a time may be written in any way.
//!
//! ```text
//! Certificate    ::= SEQUENCE { tbsCertificate, signatureAlgorithm, signature }
//! TBSCertificate ::= SEQUENCE { [0] version OPTIONAL, serialNumber, signature, issuer, validity, subject,
//!                               subjectPublicKeyInfo, [1] and [2] OPTIONAL, [3] extensions OPTIONAL }
//! ```

use der::{Decode, Encode, Reader, SliceReader, Tag, Tagged, asn1::AnyRef};

use super::{
    input::Limits,
    key_usage::{self, KeyUsage},
    pkcs::{spki, spki_half},
    refusal::{damaged, refused},
    usage::Usage,
};
use crate::{PublicKey, Result};

pub(super) fn decode(der: &[u8], limits: Limits) -> Result<(PublicKey, Usage, Option<KeyUsage>)> {
    let damaged = |error| damaged("certificate", error);
    let (info, extensions) = walk(der).map_err(damaged)?;
    let info = info.to_der().map_err(damaged)?;
    let (key, usage) = spki(&info, limits)?;
    let key_usage = match extensions {
        Some(extensions) => key_usage(extensions).map_err(damaged)?,
        None => Vec::new(),
    };
    match key_usage.as_slice() {
        [] => Ok((key, usage, None)),
        [one] => Ok((key, usage, Some(*one))),
        // One may not be there twice (RFC 5280, section 4.2), and nobody knows which of them counts.
        _ => Err(refused(
            "this certificate says twice what its key is for; it cannot be told which of them counts",
        )),
    }
}

/// The public key of a request for a certificate (RFC 2986): the third element of what it signs. The signature is not
/// looked at.
pub(super) fn decode_request(der: &[u8], limits: Limits) -> Result<(PublicKey, Usage)> {
    let damaged = |error| damaged("certificate request", error);
    spki(&walk_request(der).map_err(damaged)?, limits)
}

/// The key alone, whatever the certificate says of its use.
pub(super) fn half(der: &[u8], limits: Limits) -> Option<PublicKey> {
    let (info, _) = walk(der).ok()?;
    spki_half(&info.to_der().ok()?, limits)
}

/// The same of a request.
pub(super) fn request_half(der: &[u8], limits: Limits) -> Option<PublicKey> {
    spki_half(&walk_request(der).ok()?, limits)
}

/// The element of a request's public key.
fn walk_request(der: &[u8]) -> der::Result<Vec<u8>> {
    let request = AnyRef::from_der(der).and_then(children)?;
    let info = request.first().copied().map(children).transpose()?.unwrap_or_default();
    let key = info.get(2).filter(|key| key.tag() == Tag::Sequence);
    let key = key.ok_or_else(|| Tag::Sequence.value_error())?;
    key.to_der()
}

/// The element of the public key, and that of the extensions.
fn walk(der: &[u8]) -> der::Result<(AnyRef<'_>, Option<AnyRef<'_>>)> {
    let certificate = AnyRef::from_der(der)?;
    let certificate = children(certificate)?;
    let [to_be_signed, ..] = certificate.as_slice() else {
        return Err(Tag::Sequence.value_error().into());
    };
    let fields = children(*to_be_signed)?;
    let has_version = fields.first().is_some_and(|first| is_tagged(first, 0));
    let info = *fields
        .get(5 + usize::from(has_version))
        .filter(|info| info.tag() == Tag::Sequence)
        .ok_or_else(|| Tag::Sequence.value_error())?;
    let extensions = fields.into_iter().skip(6).find(|field| is_tagged(field, 3));
    Ok((info, extensions))
}

/// The values of all extensions that say what the key is for.
fn key_usage(explicit: AnyRef<'_>) -> der::Result<Vec<KeyUsage>> {
    let outer = children(explicit)?;
    let [list] = outer.as_slice() else {
        return Err(Tag::Sequence.value_error().into());
    };
    let mut found = Vec::new();
    for extension in children(*list)? {
        // Between the identifier and the value may stand whether the extension is critical.
        let parts = children(extension)?;
        let (Some(id), Some(value)) = (parts.first(), parts.last()) else {
            return Err(Tag::Sequence.value_error().into());
        };
        if id.tag() != Tag::ObjectIdentifier || id.value() != key_usage::OID {
            continue;
        }
        if value.tag() != Tag::OctetString {
            return Err(Tag::OctetString.value_error().into());
        }
        found.push(KeyUsage::read(AnyRef::from_der(value.value())?)?);
    }
    Ok(found)
}

fn is_tagged(element: &AnyRef<'_>, number: u32) -> bool {
    matches!(element.tag(), Tag::ContextSpecific { constructed: true, number: found } if found.0 == number)
}

fn children(element: AnyRef<'_>) -> der::Result<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(element.value())?;
    let mut children = Vec::new();
    while !reader.is_finished() {
        children.push(reader.decode()?);
    }
    Ok(children)
}
