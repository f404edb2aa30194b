//! Keys as the bytes that are imported: DER behind its length, filled up to a fixed one.
//!
//! ```text
//! private   length, 4 bytes ‖ PKCS#8 ‖ zeros
//! public    length, 4 bytes ‖ RSAPublicKey of PKCS#1 ‖ zeros
//! ```
//!
//! Both encodings are read by every library. The length of a number's encoding depends on its value, and items of a
//! measurement have one length.

use rsalab_rsa::format::{Encoding, PrivateFormat, PublicFormat, encode_private, encode_public};

use crate::{
    backed::{private_of, public_of},
    engine::EngineError,
    job::StudyKey,
    op::{private_key_bytes, public_key_bytes},
};

/// A private key as the input of [`Op::ImportPrivate`](crate::Op::ImportPrivate).
pub(crate) fn private_item(key: &StudyKey) -> Vec<u8> {
    let private = private_of(key).expect("a study's key is a key");
    let der = encode_private(&private, PrivateFormat::Pkcs8, Encoding::Der);
    item(&der, private_key_bytes(key.bits))
}

/// A public key as the beginning of the input of [`Op::ImportVerify`](crate::Op::ImportVerify).
pub(crate) fn public_item(key: &StudyKey) -> Vec<u8> {
    let public = public_of(key).expect("a study's key is a key");
    let der = encode_public(&public, PublicFormat::Pkcs1, Encoding::Der);
    item(&der, public_key_bytes(key.bits))
}

fn item(der: &[u8], length: usize) -> Vec<u8> {
    let mut item = u32::try_from(der.len()).expect("a key is short").to_be_bytes().to_vec();
    item.extend_from_slice(der);
    assert!(item.len() <= length, "{} bytes where {length} are left", item.len());
    item.resize(length, 0);
    item
}

/// The DER in an item.
///
/// # Errors
/// [`EngineError::Length`] if it is longer than the item.
pub fn der(item: &[u8]) -> Result<&[u8], EngineError> {
    let (length, rest) = item.split_first_chunk().unwrap_or((&[0; 4], &[]));
    let expected = u32::from_be_bytes(*length) as usize;
    rest.get(..expected).ok_or(EngineError::Length {
        what: "the key",
        expected,
        got: rest.len(),
    })
}
