//! Lines: keys as OpenSSH has them, DNS records, JSON Web Keys, base64, and moduli.

use std::{borrow::Cow, iter};

use rsalab_rsa::{
    Error, PublicKey, Result,
    format::{Found, INSECURE, Key, Limits, Reading, load_all},
};

use super::{
    digits::{self, Base},
    dns,
};

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Line {
    /// Nothing, or a comment.
    Blank,
    /// Keys in a form that the library reads.
    Keys(Vec<Found>),
    /// A key that has a form of its own, with its name.
    One(&'static str, Result<PublicKey>),
    /// A key of another algorithm.
    Foreign,
    /// Something else, which may well belong there.
    Other,
    /// Something that is no key, and was to be one for all that is known.
    Unknown,
}

/// Digits of the shortest modulus, of 256 bits, in hexadecimal.
const LEAST_DIGITS: usize = 64;

pub(crate) const DKIM: &str = "a DKIM record";
pub(crate) const DNSKEY: &str = "a DNSKEY record";
pub(crate) const MODULUS: &str = "a modulus";
const CERTIFICATE: &str = "a certificate of OpenSSH's";

/// The beginning of a PEM block.
pub(super) const BEGIN: &[u8] = b"-----BEGIN ";

/// Reads several lines that may be one: a PEM block, or a DNS record in brackets. None if they are lines of their own.
pub(crate) fn several(text: &[u8], reading: &Reading<'_>) -> Option<Line> {
    let text = text.trim_ascii();
    if text.starts_with(BEGIN) || text.starts_with(INSECURE.as_bytes()) {
        return Some(whole(text, reading));
    }
    record(text, reading)
}

/// Returns whether a line is a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    [&b"#"[..], b";", b"//"].iter().any(|start| line.starts_with(start))
}

/// Reads a line.
pub(crate) fn line(text: &[u8], reading: &Reading<'_>) -> Line {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text).trim_ascii();
    if text.is_empty() || is_comment(text) {
        return Line::Blank;
    }
    // First, since lists of them are long: what has nothing but digits after its name is none of the others.
    if let Some(key) = modulus(text, reading.limits) {
        return Line::One(MODULUS, key);
    }
    if let Some(found) = ssh(text, reading) {
        return found;
    }
    if let Some(found) = record(text, reading) {
        return found;
    }
    // Base64 of DER has no blanks, as words that begin so have.
    let is_base64 =
        || text.starts_with(b"MI") && text.len() >= dns::LEAST_BASE64 && !text.iter().any(u8::is_ascii_whitespace);
    if text.starts_with(b"{") || text.starts_with(BEGIN) || is_base64() {
        return whole(text, reading);
    }
    match is_record(text) {
        true => Line::Other,
        false => Line::Unknown,
    }
}

/// What the library for keys reads in a text.
fn whole(text: &[u8], reading: &Reading<'_>) -> Line {
    match load_all(text, reading) {
        Ok(found) => Line::Keys(found),
        Err(error) => Line::One("a key", Err(error)),
    }
}

/// The key of a DNS record; none if a text is none.
fn record(text: &[u8], reading: &Reading<'_>) -> Option<Line> {
    if let Some(found) = dns::dnskey(text, reading.limits) {
        return Some(found.map_or(Line::Foreign, |key| Line::One(DNSKEY, key)));
    }
    let found = dns::dkim(text, reading)?;
    Some(found.map_or(Line::Foreign, |key| Line::One(DKIM, key)))
}

/// A line of `authorized_keys`, `known_hosts`, or of a public key's file.
fn ssh(text: &[u8], reading: &Reading<'_>) -> Option<Line> {
    let mut words = words(text);
    let is_algorithm = |word: &&[u8]| {
        let others = [&b"ecdsa-sha2-"[..], b"sk-ssh-", b"sk-ecdsa-"];
        word.starts_with(b"ssh-") || others.iter().any(|start| word.starts_with(start))
    };
    // Options, names of hosts and markers stand before it.
    let algorithm = words.by_ref().take(4).find(is_algorithm)?;
    let key = words.next()?;
    if !key.starts_with(b"AAAA") {
        return None;
    }
    if algorithm == CERTIFIED {
        return Some(Line::One(CERTIFICATE, certified(key, reading.limits)));
    }
    if algorithm != b"ssh-rsa" {
        return Some(Line::Foreign);
    }
    // A marker of known_hosts would be taken for options, and the name of the host for a key.
    let marked = text.strip_prefix(b"@").and_then(|text| {
        let end = text.iter().position(u8::is_ascii_whitespace)?;
        Some(text[end..].trim_ascii_start())
    });
    Some(match load_all(marked.unwrap_or(text), reading) {
        Ok(found) => Line::Keys(found),
        Err(error) => Line::One("a line of OpenSSH's", Err(error)),
    })
}

/// The words of a line. What stands between quotation marks is of one word, as in the options of `authorized_keys`.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    iter::from_fn(move || {
        rest = rest.trim_ascii_start();
        let (mut is_quoted, mut is_escaped) = (false, false);
        let end = rest.iter().position(|&byte| {
            let is_mark = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_quoted ^= is_mark;
            !is_quoted && byte.is_ascii_whitespace()
        });
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// The name of certificates of OpenSSH's on RSA keys.
const CERTIFIED: &[u8] = b"ssh-rsa-cert-v01@openssh.com";

/// The key of such a certificate (OpenSSH's PROTOCOL.certkeys): its name, a nonce, the exponent and the modulus. Who
/// has signed it is not looked at.
fn certified(base64: &[u8], limits: Limits) -> Result<PublicKey> {
    let damaged = || Error::Format {
        reason: "this certificate of OpenSSH's is damaged: its key is no base64, or is cut".to_owned(),
    };
    let bytes = dns::decode(base64).ok_or_else(damaged)?;
    let [name, _nonce, e, n] = strings(&bytes).ok_or_else(damaged)?;
    if name != CERTIFIED {
        return Err(damaged());
    }
    dns::check_size(n, limits)?;
    PublicKey::new(n, e)
}

/// The first strings of what SSH sends, each behind its length (RFC 4251, section 5).
fn strings<const COUNT: usize>(mut bytes: &[u8]) -> Option<[&[u8]; COUNT]> {
    let mut found = [&bytes[..0]; COUNT];
    for string in &mut found {
        let (len, after) = bytes.split_first_chunk::<4>()?;
        (*string, bytes) = after.split_at_checked(u32::from_be_bytes(*len) as usize)?;
    }
    Some(found)
}

/// A modulus in hexadecimal or decimal digits; none if the text is none.
pub(crate) fn modulus(text: &[u8], limits: Limits) -> Option<Result<PublicKey>> {
    let mut digits = text;
    for start in [&b"Modulus="[..], b"modulus=", b"n=", b"N="] {
        digits = digits.strip_prefix(start).unwrap_or(digits);
    }
    digits = digits.trim_ascii();
    let is_hexadecimal = digits.starts_with(b"0x") || digits.starts_with(b"0X");
    let digits = &digits[if is_hexadecimal { 2 } else { 0 }..];
    // OpenSSL prints a colon after each byte.
    if !digits.first()?.is_ascii_hexdigit() && digits[0] != b':' {
        return None;
    }
    let digits: Cow<'_, [u8]> = match digits.contains(&b':') {
        true => digits.iter().copied().filter(|&byte| byte != b':').collect(),
        false => digits.into(),
    };
    if digits.len() < LEAST_DIGITS {
        return None;
    }
    let base = digits::base(&digits)?;
    // What is longer than any modulus need not be computed.
    const MOST_DIGITS: usize = 5_000;
    if digits.len() > MOST_DIGITS {
        return Some(Err(Error::Format {
            reason: format!("these {} digits are more than any modulus has", digits.len()),
        }));
    }
    // No modulus in hexadecimal has decimal digits alone.
    let number = match base {
        Base::Decimal if !is_hexadecimal => digits::of_decimal(&digits),
        _ => digits::of_hexadecimal(&digits),
    };
    Some(dns::check_size(&number, limits).and_then(|()| {
        // The exponent is not known, and this one is no fault.
        PublicKey::new(&number, &[1, 0, 1])
    }))
}

/// Returns whether a line is a record of a zone file.
fn is_record(text: &[u8]) -> bool {
    let mut words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    text.starts_with(b"$") || words.any(|word| [&b"IN"[..], b"CH", b"HS"].contains(&word))
}

/// The key of a public half.
pub(crate) fn public(key: PublicKey) -> Key {
    Key::Public(key)
}
