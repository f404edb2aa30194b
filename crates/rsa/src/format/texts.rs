//! Texts that hold a key, and are no PEM: other alphabets, other wrappings, other programs' files.

#[cfg(feature = "jwk")]
use serde::Deserialize;
#[cfg(feature = "jwk")]
use serde_json::value::RawValue;
use zeroize::Zeroizing;

use super::{
    armour::find,
    base64::from_base64,
    content::Content,
    refusal::{HEXADECIMAL, NOT_A_KEY, refused, unsupported},
    structure::{SEQUENCE, structure},
};
use crate::Result;

/// A text of UTF-16, or of UTF-8 with a byte order mark, as UTF-8 without one; none if it is neither.
pub(super) fn in_utf8(bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    if let Some(text) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return Some(Zeroizing::new(text.to_vec()));
    }
    let (text, order): (_, fn([u8; 2]) -> u16) = match bytes {
        [0xff, 0xfe, text @ ..] => (text, u16::from_le_bytes),
        [0xfe, 0xff, text @ ..] => (text, u16::from_be_bytes),
        // Without a mark: text begins with a character of ASCII.
        [1..=0x7f, 0, ..] => (bytes, u16::from_le_bytes),
        [0, 1..=0x7f, ..] => (bytes, u16::from_be_bytes),
        _ => return None,
    };
    let units = text.chunks(2).map(|unit| unit.try_into().map_or(0, order));
    // The room is taken at once: growing would leave copies of the key behind.
    let mut utf8 = Zeroizing::new(Vec::with_capacity(2 * text.len()));
    for character in char::decode_utf16(units) {
        let mut room = [0; 4];
        utf8.extend_from_slice(character.ok()?.encode_utf8(&mut room).as_bytes());
    }
    Some(utf8)
}

/// The file of a service account (Google's, and others of its kind), whose key is a PEM among other members.
#[cfg(feature = "jwk")]
#[derive(Deserialize)]
struct Account<'a> {
    /// As it is written: a parser would unescape it into memory that it does not wipe.
    #[serde(borrow)]
    private_key: Option<&'a RawValue>,
    kty: Option<serde::de::IgnoredAny>,
    keys: Option<serde::de::IgnoredAny>,
}

/// The PEM in an object of JSON that is no JSON Web Key.
#[cfg(feature = "jwk")]
pub(super) fn in_account(json: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    find(json, b"\"private_key\"")?;
    let account: Account = serde_json::from_slice(json).ok()?;
    let is_account = account.kty.is_none() && account.keys.is_none();
    let pem = unescaped(account.private_key?.get())?;
    (is_account && find(&pem, super::armour::BEGIN).is_some()).then_some(pem)
}

/// A string of JSON without its quotation marks and escapes (RFC 8259, section 7); none if it is no string, or has
/// characters beyond 16 bits as escapes, which a PEM has not.
#[cfg(feature = "jwk")]
fn unescaped(json: &str) -> Option<Zeroizing<Vec<u8>>> {
    let mut rest = json.strip_prefix('"')?.strip_suffix('"')?;
    // An escape is longer than what it stands for, so that this does not grow.
    let mut text = Zeroizing::new(Vec::with_capacity(rest.len()));
    while let Some((before, after)) = rest.split_once('\\') {
        text.extend_from_slice(before.as_bytes());
        let kind = after.chars().next()?;
        rest = &after[kind.len_utf8()..];
        text.push(match kind {
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'b' => 8,
            'f' => 12,
            '"' | '\\' | '/' => kind as u8,
            'u' => {
                let digits = rest
                    .get(..4)
                    .filter(|it| it.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
                let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                rest = &rest[4..];
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return None,
        });
    }
    text.extend_from_slice(rest.as_bytes());
    Some(text)
}

/// Opens base64 without BEGIN and END, and names what else a text may be.
pub(super) fn open(text: &[u8]) -> Result<(Content, Zeroizing<Vec<u8>>)> {
    let text = text.trim_ascii();
    if find(text, b"---- BEGIN SSH2 ").is_some() {
        return Err(unsupported(
            "this is a key in the form of RFC 4716 (SSH2); convert it with `ssh-keygen -i -f FILE`",
        ));
    }
    if text.starts_with(b"PuTTY-User-Key-File-") {
        return Err(unsupported(
            "this is a key of PuTTY (.ppk); convert it with `puttygen FILE -O private-openssh -o NEW`",
        ));
    }
    if text.starts_with(b"<RSAKeyValue>") {
        return Err(unsupported("this is a key in XML, which rsalab does not read"));
    }
    if text.len() > 2 && text.iter().all(|&byte| is_hex(byte) || byte.is_ascii_whitespace()) {
        return Err(refused(format!(
            "{HEXADECIMAL}; if it is a key, make the bytes of it with `xxd -r -p FILE`"
        )));
    }
    let is_text = |&byte: &u8| is_base64(byte) || byte.is_ascii_whitespace();
    match from_base64(text) {
        Some(der) if der.first() == Some(&SEQUENCE) => Ok((structure(&der)?, der)),
        None if text.starts_with(b"MI") && text.iter().all(is_text) => Err(refused(
            "this is base64 without lines of BEGIN and END, and it is cut or damaged",
        )),
        _ => Err(refused(NOT_A_KEY)),
    }
}

/// Returns whether a text has the marks of a key, public or private, in any form that keys are written in: such a text
/// belongs into no message.
pub fn is_key_text(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 10] = [
        b"-----BEGIN ",
        b"-----END ",
        b"---- BEGIN SSH2 ",
        b"PRIVATE KEY",
        b"PuTTY-User-Key-File",
        b"<RSAKeyValue",
        b"\"kty\"",
        b"\\\"kty\\\"",
        b"ssh-rsa AAAA",
        b"b3BlbnNzaC1rZXktdjE",
    ];
    let has = |mark: &&[u8]| find(text, mark).is_some();
    MARKS.iter().any(has) || is_long(text, b"MI", is_base64) || is_long(text, b"30", is_hex)
}

/// Returns whether a text begins with the characters of a DER structure, and goes on as such text for longer than a
/// name does.
fn is_long(text: &[u8], start: &[u8], is_digit: fn(u8) -> bool) -> bool {
    const LEAST: usize = 100;
    let is_around = |byte: &u8| byte.is_ascii_whitespace() || b"\"'".contains(byte);
    let digits = text.iter().filter(|byte| !is_around(byte));
    let digits = digits.copied().take_while(|&byte| is_digit(byte)).take(LEAST);
    let digits: Vec<u8> = digits.collect();
    digits.len() == LEAST && digits.starts_with(start)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/-_=".contains(&byte)
}

fn is_hex(byte: u8) -> bool {
    byte.is_ascii_hexdigit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_keys_are_known_and_names_are_none() {
        let base64 = format!(
            "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDI{}",
            "yTfTl+/".repeat(12)
        );
        for key in [
            "-----BEGIN RSA PRIVATE KEY----- MIIE",
            "KEY=\"-----BEGIN PUBLIC KEY-----\\nMIIB",
            "{\"kty\":\"RSA\",\"n\":\"\"}",
            "\"{\\\"kty\\\":\\\"RSA\\\"}\"",
            "ssh-rsa AAAAB3NzaC1yc2E",
            &base64,
            &format!("'{base64}'"),
            &base64.replace('T', " \n"),
            &"3082".repeat(25),
        ] {
            assert!(is_key_text(key.as_bytes()), "{key}");
        }
        for name in [
            "key.pem",
            "/home/somebody/keys/MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDI.pem",
            "keys/ssh-rsa",
            "308201",
            &"x".repeat(4000),
            &"30".repeat(32),
        ] {
            assert!(!is_key_text(name.as_bytes()), "{name}");
        }
    }
    #[cfg(feature = "jwk")]
    #[test]
    fn strings_of_json_are_unescaped_as_a_parser_does() {
        for json in [
            r#""""#,
            r#""plain""#,
            r#""-----BEGIN\nMII\u003d\/+\t\r\b\f\"\\end""#,
            r#""\u00e9 \u20AC é €""#,
        ] {
            let expected: String = serde_json::from_str(json).unwrap();
            assert_eq!(&unescaped(json).unwrap()[..], expected.as_bytes(), "{json}");
        }
        for json in [
            "5",
            r#""\""#,
            r#""\x""#,
            r#""\u12""#,
            r#""\ud83d\ude00""#,
            r#""\u+123""#,
        ] {
            assert!(unescaped(json).is_none(), "{json}");
        }
    }
}
