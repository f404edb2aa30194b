//! Keys in DNS: DKIM (RFC 6376, section 3.6.1) and DNSKEY (RFC 4034, section 2; RFC 3110, section 2).

use std::borrow::Cow;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use rsalab_rsa::{
    Error, PublicKey, Result,
    format::{Limits, Reading, load_public_with},
};

/// Base64 with or without padding, as people write it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The key of a record; none if it is of another algorithm, or was revoked.
pub(crate) type Found = Option<Result<PublicKey>>;

/// The key of a DKIM record, in a zone file or as a resolver prints it; none if the text is none.
pub(crate) fn dkim(text: &[u8], reading: &Reading<'_>) -> Option<Found> {
    if !text.contains(&b'=') {
        return None;
    }
    let record = text;
    let text = strings(data(text));
    let tags = || {
        text.split(|&byte| byte == b';').filter_map(|tag| {
            let equals = tag.iter().position(|&byte| byte == b'=')?;
            Some((tag[..equals].trim_ascii(), tag[equals + 1..].trim_ascii()))
        })
    };
    let tag = |name: &[u8]| tags().find(|(own, _)| *own == name).map(|(_, value)| value);
    let key = tag(b"p")?;
    // Both of these tags may be left out.
    let is_dkim = tag(b"v").is_some_and(|version| version == b"DKIM1") || tag(b"k").is_some();
    let is_dkim = is_dkim || is_base64_of_der(key) || has_owner(record);
    if !is_dkim {
        return None;
    }
    if key.is_empty() || tag(b"k").is_some_and(|kind| kind != b"rsa") {
        return Some(None);
    }
    let damaged = || Error::Format {
        reason: "this DKIM record is damaged: its key is no base64, or is cut".to_owned(),
    };
    Some(Some(match decode(key) {
        Some(der) => load_public_with(&der, reading).map(|loaded| loaded.key),
        None => Err(damaged()),
    }))
}

/// What stands behind the type of a record; all of it where none is named.
fn data(record: &[u8]) -> &[u8] {
    let equals = record.iter().position(|&byte| byte == b'=').unwrap_or(0);
    let is_blank = |byte: u8| byte.is_ascii_whitespace();
    let is_type = |word: &[u8]| word[1..4].eq_ignore_ascii_case(b"TXT") && is_blank(word[0]) && is_blank(word[4]);
    match record[..equals].windows(5).position(is_type) {
        Some(place) => record[place + 5..].trim_ascii(),
        None => record,
    }
}

/// Returns whether a value is as long as a key is, and may be one.
fn is_base64_of_der(value: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte) || byte.is_ascii_whitespace();
    value.starts_with(b"MI") && value.len() >= LEAST_BASE64 && value.iter().all(is_digit)
}

/// Returns whether the owner of a record is one of DKIM's names.
fn has_owner(record: &[u8]) -> bool {
    const DOMAIN: &[u8] = b"._domainkey";
    let owner = record.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    owner
        .windows(DOMAIN.len())
        .any(|part| part.eq_ignore_ascii_case(DOMAIN))
}

/// The text of a record: its strings put together, if it has quotation marks, else what there is.
fn strings(text: &[u8]) -> Cow<'_, [u8]> {
    // Quotation marks behind a tag belong to its value.
    let first = text.iter().position(|&byte| byte == b'"');
    let Some(first) = first.filter(|&first| !text[..first].contains(&b'=')) else {
        return text.into();
    };
    let (mut joined, mut is_inside, mut bytes) = (Vec::new(), false, text[first..].iter());
    while let Some(&byte) = bytes.next() {
        match byte {
            b'"' => is_inside = !is_inside,
            // A semicolon or a quotation mark may have a backslash before it.
            b'\\' if is_inside => joined.extend(bytes.next()),
            byte if is_inside => joined.push(byte),
            _ => {}
        }
    }
    joined.into()
}

pub(super) fn decode(base64: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = base64
        .iter()
        .copied()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    BASE64.decode(digits).ok()
}

/// Characters of the shortest RSA key, of 256 bits.
pub(super) const LEAST_BASE64: usize = 44;

/// The key of a DNSKEY, CDNSKEY or KEY record; none if the text is none.
pub(crate) fn dnskey(text: &[u8], limits: Limits) -> Option<Found> {
    let lines = text.split(|&byte| byte == b'\n').map(without_comment);
    let mut words = lines
        .flat_map(|line| line.split(|byte| byte.is_ascii_whitespace() || b"()".contains(byte)))
        .filter(|word| !word.is_empty());
    let is_kind = |word: &&[u8]| {
        [&b"DNSKEY"[..], b"CDNSKEY", b"KEY"]
            .iter()
            .any(|kind| word.eq_ignore_ascii_case(kind))
    };
    // The data of a record alone begins with its flags.
    let is_bare = words
        .clone()
        .take(3)
        .all(|word| word.len() <= 5 && word.iter().all(u8::is_ascii_digit));
    if !is_bare {
        words.find(is_kind)?;
    }
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<u16>().ok();
    let (_flags, 3, algorithm) = (number()?, number()?, number()?) else {
        return None;
    };
    // RSAMD5, RSASHA1, RSASHA1-NSEC3-SHA1, RSASHA256, RSASHA512.
    if ![1, 5, 7, 8, 10].contains(&algorithm) {
        return Some(None);
    }
    let base64: Vec<u8> = words.flatten().copied().collect();
    if is_bare && base64.len() < LEAST_BASE64 {
        return None;
    }
    let damaged = || Error::Format {
        reason: "this DNSKEY record is damaged: its key is no base64, or is cut".to_owned(),
    };
    let key = decode(&base64).ok_or_else(damaged).and_then(|bytes| {
        let (e, n) = exponent_and_modulus(&bytes).ok_or_else(damaged)?;
        check_size(n, limits)?;
        PublicKey::new(n, e)
    });
    Some(Some(key))
}

fn without_comment(line: &[u8]) -> &[u8] {
    line.split(|&byte| byte == b';').next().unwrap_or_default()
}

/// RFC 3110: the length of the exponent in one byte, or in two after a zero; the exponent; the modulus.
fn exponent_and_modulus(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (len, rest) = match bytes {
        [0, high, low, rest @ ..] => (usize::from(u16::from_be_bytes([*high, *low])), rest),
        [len, rest @ ..] => (usize::from(*len), rest),
        [] => return None,
    };
    rest.split_at_checked(len)
        .filter(|(e, n)| !e.is_empty() && !n.is_empty())
}

/// Refuses a modulus that is too long, before anything is computed with it.
pub(crate) fn check_size(n: &[u8], limits: Limits) -> Result<()> {
    let n = &n[n.iter().take_while(|&&byte| byte == 0).count()..];
    let bits = n
        .first()
        .map_or(0, |first| 8 * n.len() - first.leading_zeros() as usize);
    match bits > limits.most_bits {
        true => Err(Error::KeySize {
            bits,
            reason: format!("at most {} are taken here", limits.most_bits),
        }),
        false => Ok(()),
    }
}
