//! Keys in every format, as files of strangers.

use rsalab_rsa::format::{
    Encoding, Found, Key, Limits, PrivateFormat, PublicFormat, Reading, decode_private, decode_public, encode_private,
    encode_public, fingerprint, is_key_text, jwk, load_all, load_each, load_private_with, load_public_with, openssh,
};
use rsalab_rsa::{PrivateKey, PublicKey};

use crate::seeds::PASSWORD;

/// Short keys: what a parser does wrong, it does at any length, and checks of long ones take the time of fuzzing.
const SHORT: Limits = Limits { most_bits: 1024 };

fn reading(password: Option<&[u8]>) -> Reading<'_> {
    Reading {
        password,
        limits: SHORT,
        name: None,
    }
}

/// The bytes as a private key; one that is read is read again from what is written of it.
pub(crate) fn private(bytes: &[u8]) {
    let _ = is_key_text(bytes);
    if let Ok(loaded) = load_private_with(bytes, &reading(None)) {
        is_written_and_read(&loaded.key);
    }
}

/// The bytes as a public key, and a public key that is read from what is written of it.
pub(crate) fn public(bytes: &[u8]) {
    if let Ok(loaded) = load_public_with(bytes, &reading(None)) {
        is_read_again(&loaded.key);
    }
}

/// The bytes as many keys.
pub(crate) fn set(bytes: &[u8]) {
    let all = load_all(bytes, &reading(None));
    let each = load_each(bytes, &reading(None));
    if let (Ok(all), Ok(each)) = (all, each) {
        // Both read the same file: what one finds, the other does not count differently.
        let places = |found: &[Found]| found.iter().map(|found| found.place).collect::<Vec<_>>();
        assert!(places(&all).iter().all(|place| places(&each).contains(place)) || each.len() == 1);
    }
}

/// The bytes as a key under the password of the seeds.
pub(crate) fn encrypted(bytes: &[u8]) {
    let _ = load_private_with(bytes, &reading(Some(PASSWORD)));
}

/// The bytes as DER, without a guess at what they are.
pub(crate) fn der(bytes: &[u8]) {
    // Nothing limits the length here.
    if bytes.len() > 1 << 10 {
        return;
    }
    if let Ok(key) = decode_public(bytes) {
        is_read_again(&key);
    }
    if let Ok(key) = decode_private(bytes) {
        is_written_and_read(&key);
    }
}

/// A public key of the bytes as its numbers: e first, then n.
pub(crate) fn round_trip(bytes: &[u8]) {
    let Some((&len, rest)) = bytes.split_first() else {
        return;
    };
    let Some((e, n)) = rest.split_at_checked(usize::from(len % 9)) else {
        return;
    };
    if n.len() <= 512
        && let Ok(key) = PublicKey::new(n, e)
    {
        is_read_again(&key);
    }
}

fn is_read_again(key: &PublicKey) {
    let read = |bytes: &[u8]| {
        let limits = Limits::NONE;
        let loaded = load_public_with(
            bytes,
            &Reading {
                limits,
                ..reading(None)
            },
        );
        let loaded = loaded.expect("what was written can be read");
        assert_eq!(fingerprint(&loaded.key), fingerprint(key));
    };
    for format in [PublicFormat::Pkcs1, PublicFormat::Spki] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            read(&encode_public(key, format, encoding));
        }
    }
    read(jwk::public(key, &Default::default(), &Default::default()).as_bytes());
    read(openssh::public(key, "somebody@somewhere").as_bytes());
}

fn is_written_and_read(key: &PrivateKey) {
    is_read_again(key.public());
    let read = |bytes: &[u8]| {
        let limits = Limits::NONE;
        let loaded = load_private_with(
            bytes,
            &Reading {
                limits,
                ..reading(None)
            },
        );
        let loaded = loaded.expect("what was written can be read");
        assert_eq!(fingerprint(loaded.key.public()), fingerprint(key.public()));
    };
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            read(&encode_private(key, format, encoding));
        }
    }
    read(jwk::private(key, &Default::default(), &Default::default()).as_bytes());
    // OpenSSH has no form for three primes.
    if let Ok(text) = openssh::private(key, "somebody@somewhere") {
        read(text.as_bytes());
    }
    let _ = Key::Private(Box::new(key.clone())).public();
}
