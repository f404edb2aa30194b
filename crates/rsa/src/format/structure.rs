//! Structures of DER, told by their outermost elements.

use der::{Decode, ErrorKind, Reader, SliceReader, Tag, Tagged, asn1::AnyRef};

use super::{
    content::Content,
    refusal::{NOT_A_KEY, PKCS7, REVOKED, not_rsa, refused},
};
use crate::{Error, Result};

/// The first byte of a DER sequence.
pub(super) const SEQUENCE: u8 = 0x30;

/// The structure that DER must be.
pub(super) fn structure(der: &[u8]) -> Result<Content> {
    if der.first() != Some(&SEQUENCE) {
        return Err(refused(NOT_A_KEY));
    }
    let outer = AnyRef::from_der(der).map_err(fault)?;
    let elements = elements(outer.value()).ok_or_else(|| refused(NOT_A_KEY))?;
    let tags: Vec<Tag> = elements.iter().map(Tagged::tag).collect();
    match tags.as_slice() {
        [Tag::Integer, Tag::Integer] => Ok(Content::Pkcs1Public),
        [Tag::Integer, Tag::Sequence, Tag::OctetString, ..] => Ok(Content::Pkcs8),
        [Tag::Sequence, Tag::BitString] => Ok(Content::Spki),
        // Six integers are the old form of a DSA key.
        [
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
            Tag::Integer,
        ] => Err(not_rsa("DSA")),
        [Tag::Integer, Tag::Integer, Tag::Integer, ..] => Ok(Content::Pkcs1Private),
        [Tag::Integer, Tag::OctetString, ..] => Err(not_rsa("EC")),
        [Tag::Sequence, Tag::OctetString] => Ok(Content::EncryptedPkcs8),
        [Tag::Sequence, Tag::Sequence, Tag::BitString] => signed(elements[0].value()),
        [Tag::Integer, Tag::Sequence] | [Tag::Integer, Tag::Sequence, Tag::Sequence] => Err(refused(
            "this is a PKCS#12 file; take the key out of it with `openssl pkcs12 -in FILE -nocerts -noenc`",
        )),
        [Tag::ObjectIdentifier, Tag::ContextSpecific { .. }] => Err(refused(format!(
            "{PKCS7}; take its certificates out of it with `openssl pkcs7 -inform DER -in FILE -print_certs`"
        ))),
        _ => Err(refused(NOT_A_KEY)),
    }
}

pub(super) const REQUEST: &str = "this is a certificate request";

/// Returns whether DER is a request for a certificate.
pub(super) fn is_request(der: &[u8]) -> bool {
    let parts = AnyRef::from_der(der).ok().and_then(|outer| elements(outer.value()));
    match parts.as_deref() {
        Some([info, algorithm, signature])
            if [info.tag(), algorithm.tag(), signature.tag()] == [Tag::Sequence, Tag::Sequence, Tag::BitString] =>
        {
            is_request_info(&elements(info.value()).unwrap_or_default())
        }
        _ => false,
    }
}

/// Returns whether these are the elements of what a request signs.
fn is_request_info(elements: &[AnyRef<'_>]) -> bool {
    let tags: Vec<Tag> = elements.iter().map(Tagged::tag).collect();
    matches!(
        tags.as_slice(),
        [Tag::Integer, Tag::Sequence, Tag::Sequence]
            | [Tag::Integer, Tag::Sequence, Tag::Sequence, Tag::ContextSpecific { .. }]
    )
}

/// The structure of something that is signed, with the signature after it: a certificate, a request for one (RFC 2986),
/// or a list of revoked ones (RFC 5280).
fn signed(contents: &[u8]) -> Result<Content> {
    let elements = elements(contents).unwrap_or_default();
    let tags: Vec<Tag> = elements.iter().map(Tagged::tag).collect();
    let is_time = |tag: Option<&Tag>| matches!(tag, Some(Tag::UtcTime | Tag::GeneralizedTime));
    match tags.as_slice() {
        _ if is_request_info(&elements) => Err(refused(format!(
            "{REQUEST}; take the public key out of it with `openssl req -inform DER -in FILE -pubkey -noout`"
        ))),
        [Tag::Sequence, Tag::Sequence, ..] | [Tag::Integer, Tag::Sequence, Tag::Sequence, ..]
            if is_time(tags.get(2)) || is_time(tags.get(3)) =>
        {
            Err(refused(REVOKED))
        }
        _ => Ok(Content::Certificate),
    }
}

fn fault(error: der::Error) -> Error {
    match error.kind() {
        ErrorKind::Incomplete {
            expected_len,
            actual_len,
        } => refused(format!(
            "this key is cut: {actual_len} bytes of at least {expected_len} are there"
        )),
        ErrorKind::TrailingData { decoded, remaining } => refused(format!(
            "this file goes on after the end of its key: {remaining} bytes follow the first {decoded}"
        )),
        ErrorKind::Overflow | ErrorKind::Overlength => refused("this file names a length that no key has"),
        ErrorKind::IndefiniteLength | ErrorKind::Noncanonical { .. } | ErrorKind::Length { .. } => {
            refused("this file is not DER: it writes a length in a way that only BER allows")
        }
        _ => refused(NOT_A_KEY),
    }
}

fn elements(contents: &[u8]) -> Option<Vec<AnyRef<'_>>> {
    let mut reader = SliceReader::new(contents).ok()?;
    let mut elements = Vec::new();
    while !reader.is_finished() {
        elements.push(reader.decode().ok()?);
    }
    Some(elements)
}
