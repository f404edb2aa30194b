//! PKCS#1 under a password as OpenSSL wrote it before PKCS#8, and still does with `-traditional`: two headers between
//! the BEGIN line and the base64, and a key that one round of MD5 makes of the password.
//!
//! ```text
//! -----BEGIN RSA PRIVATE KEY-----
//! Proc-Type: 4,ENCRYPTED
//! DEK-Info: AES-256-CBC,34B8F6C46F3F20DCAFAAE5A67470E6FE
//!
//! kCPR…
//! ```

use der::{Decode, asn1::AnyRef};
use zeroize::Zeroizing;

use super::{
    cipher::Cipher,
    derive::bytes_to_key,
    opener::{Opener, not_read},
};
use crate::{
    Error, PrivateKey, Result,
    format::{
        armour::{header, lines},
        base64::from_base64,
        encryption::Encryption,
        input::Limits,
        pkcs,
        refusal::refused,
        usage::Usage,
    },
};

/// The ciphers by the names of DEK-Info.
const CIPHERS: [(&str, Cipher); 9] = [
    ("AES-128-CBC", Cipher::Aes128),
    ("AES-192-CBC", Cipher::Aes192),
    ("AES-256-CBC", Cipher::Aes256),
    ("DES-CBC", Cipher::Des),
    ("DES-EDE-CBC", Cipher::Des2),
    ("DES-EDE3-CBC", Cipher::Des3),
    ("RC2-CBC", Cipher::Rc2 { bits: 128, bytes: 16 }),
    ("RC2-64-CBC", Cipher::Rc2 { bits: 64, bytes: 8 }),
    ("RC2-40-CBC", Cipher::Rc2 { bits: 40, bytes: 5 }),
];

/// Ciphers that OpenSSL writes so and that are not read here, and whether it calls them legacy.
const OTHERS: [(&str, bool); 12] = [
    ("CAMELLIA-128-CBC", false),
    ("CAMELLIA-192-CBC", false),
    ("CAMELLIA-256-CBC", false),
    ("ARIA-128-CBC", false),
    ("ARIA-192-CBC", false),
    ("ARIA-256-CBC", false),
    ("SM4-CBC", false),
    ("SEED-CBC", true),
    ("IDEA-CBC", true),
    ("BF-CBC", true),
    ("CAST5-CBC", true),
    ("CAST-CBC", true),
];

/// Reads such a body with its password.
pub(in crate::format) fn decode(
    body: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<(PrivateKey, Usage, Encryption)> {
    let (plain, encryption) = plain(body, password)?;
    Ok((pkcs::pkcs1_private(&plain, limits)?, Usage::Any, encryption))
}

/// The PKCS#1 key in it.
pub(in crate::format) fn plain(body: &[u8], password: Option<&[u8]>) -> Result<(Zeroizing<Vec<u8>>, Encryption)> {
    let found = lines(body).map_while(header).find(|(name, _)| *name == b"DEK-Info");
    let (_, info) = found.ok_or_else(|| {
        refused("this private key is encrypted, and does not say how: its header DEK-Info is missing")
    })?;
    let (cipher, iv) = cipher(info)?;
    let data = data(body)?;
    let password = password.ok_or(Error::PasswordMissing)?;
    let opener = Opener {
        cipher,
        key: bytes_to_key(password, &iv[..8], cipher.key_len()),
        iv,
        method: "OpenSSL's old way, MD5".to_owned(),
        weaknesses: vec![
            "one round of MD5 makes the key of the password, so that passwords are tried very fast".to_owned(),
        ],
    };
    let (plain, encryption) = opener.open(&data)?;
    // The padding of one wrong password in 256 is right by chance.
    if AnyRef::from_der(&plain).is_err() {
        return Err(Error::PasswordWrong);
    }
    Ok((plain, encryption))
}

/// The cipher and its initialisation vector, the first eight bytes of which are also the salt.
fn cipher(info: &[u8]) -> Result<(Cipher, Vec<u8>)> {
    let mut parts = info.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let name = parts.next().unwrap_or_default();
    let is_named = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
    let Some((_, cipher)) = CIPHERS.into_iter().find(|(known, _)| is_named(known)) else {
        return Err(match OTHERS.into_iter().find(|(known, _)| is_named(known)) {
            Some((known, is_legacy)) => not_read(known, is_legacy),
            None => not_read("a cipher that it does not know", true),
        });
    };
    let mut iv = vec![0; cipher.iv_len()];
    let is_read = parts
        .next()
        .is_some_and(|digits| digits.len() == 2 * iv.len() && unhex(digits, &mut iv));
    match is_read {
        true => Ok((cipher, iv)),
        false => Err(refused(
            "this encrypted private key is damaged: the initialisation vector in its header DEK-Info is cut or garbled",
        )),
    }
}

fn unhex(digits: &[u8], bytes: &mut [u8]) -> bool {
    let digit = |digit: u8| char::from(digit).to_digit(16);
    bytes
        .iter_mut()
        .zip(digits.chunks(2))
        .all(|(byte, pair)| match (digit(pair[0]), digit(pair[1])) {
            (Some(high), Some(low)) => {
                *byte = (high << 4 | low) as u8;
                true
            }
            _ => false,
        })
}

/// The bytes in the base64 after the headers.
fn data(body: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    // The room is taken at once: growing would leave copies behind.
    let mut text = Zeroizing::new(Vec::with_capacity(body.len()));
    lines(body)
        .skip_while(|line| header(line).is_some())
        .for_each(|line| text.extend_from_slice(line));
    from_base64(&text).ok_or_else(|| {
        refused("this encrypted private key is damaged: after its headers is something else than base64")
    })
}
