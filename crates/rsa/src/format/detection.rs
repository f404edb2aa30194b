//! Detection of what a file that was given as a key really holds.

use der::{Decode, asn1::AnyRef};
use zeroize::Zeroizing;

use super::{
    armour::{self, find},
    authorized_keys,
    content::{Content, Opened},
    input::{MAX_FILE_LEN, MAX_SET_LEN},
    refusal::{EMPTY, TOO_LARGE, refused},
    source::{is_json, may_be_several},
    structure::{SEQUENCE, structure},
    texts,
};
use crate::Result;

/// Finds the structure and its bytes: DER, out of PEM or base64 if need be; of JSON and OpenSSH's forms the text.
pub(super) fn open(bytes: &[u8]) -> Result<Opened> {
    let most = match may_be_several(bytes) {
        true => MAX_SET_LEN,
        false => MAX_FILE_LEN,
    };
    if bytes.len() > most {
        return Err(refused(format!(
            "{TOO_LARGE} {} MiB; no RSA key is, and no set of them that is read",
            most >> 20
        )));
    }
    if bytes.trim_ascii().is_empty() {
        return Err(refused(EMPTY));
    }
    if is_der(bytes) {
        return Ok(Opened::alone(structure(bytes)?, Zeroizing::new(bytes.to_vec())));
    }
    match texts::in_utf8(bytes) {
        Some(text) => open_text(&text),
        None => open_text(bytes),
    }
}

/// The text of a file with PEM blocks in it, in UTF-8; none if it is something else.
pub(super) fn pem_text(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    if bytes.len() > MAX_SET_LEN || is_der(bytes) {
        return None;
    }
    let text = texts::in_utf8(bytes).unwrap_or_else(|| Zeroizing::new(bytes.to_vec()));
    let is_pem = !is_json(&text) && !authorized_keys::is(&text) && find(&text, armour::BEGIN).is_some();
    is_pem.then_some(text)
}

/// Returns whether bytes are DER and no text that begins with the digit 0.
fn is_der(bytes: &[u8]) -> bool {
    let is_text = || bytes.iter().all(|byte| matches!(byte, b'\t'..=b'\r' | b' '..=b'~'));
    bytes.first() == Some(&SEQUENCE) && (AnyRef::from_der(bytes).is_ok() || !is_text())
}

fn open_text(text: &[u8]) -> Result<Opened> {
    if is_json(text) {
        #[cfg(feature = "jwk")]
        if let Some(pem) = texts::in_account(text) {
            return armour::open(&pem);
        }
        return Ok(Opened::alone(Content::Jwk, Zeroizing::new(text.to_vec())));
    }
    if authorized_keys::is(text) {
        return Ok(Opened::alone(Content::OpensshPublic, Zeroizing::new(text.to_vec())));
    }
    match find(text, armour::BEGIN) {
        Some(_) => armour::open(text),
        None => texts::open(text).map(|(content, body)| Opened::alone(content, body)),
    }
}
