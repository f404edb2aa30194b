//! Keys in every format, as files of strangers.

use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{
        Encoding, Found, Key, Limits, Loaded, PrivateFormat, PublicFormat, Purpose, Reading, decode_private,
        decode_public, encode_private, encode_private_annotated, encode_public, encode_public_for, fingerprint,
        is_key_text, jwk, load_all, load_each, load_private_with, load_public_with, openssh,
    },
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SignatureScheme},
};

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
        is_asked(&loaded);
        is_written_and_read(&loaded.key);
        annotated_is_read(&loaded);
    }
}

/// The bytes as a public key, and a public key that is read from what is written of it.
pub(crate) fn public(bytes: &[u8]) {
    if let Ok(loaded) = load_public_with(bytes, &reading(None)) {
        is_asked(&loaded);
        is_read_again(&loaded.key);
        for encoding in [Encoding::Pem, Encoding::Der] {
            if let Ok(written) = encode_public_for(&loaded.key, &loaded.usage, PublicFormat::Spki, encoding) {
                read_public(&written, &loaded.key);
            }
        }
        let text = jwk::public(&loaded.key, &loaded.restrictions, &loaded.annotations);
        read_public(text.as_bytes(), &loaded.key);
    }
}

/// The bytes as many keys, and by the names that a key has.
pub(crate) fn set(bytes: &[u8]) {
    let all = load_all(bytes, &reading(None));
    let each = load_each(bytes, &reading(None));
    if let (Ok(all), Ok(each)) = (&all, &each) {
        // Both read the same file: what one finds, the other does not count differently.
        let places = |found: &[Found]| found.iter().map(|found| found.place).collect::<Vec<_>>();
        assert!(places(all).iter().all(|place| places(each).contains(place)) || each.len() == 1);
    }
    let first = all.iter().flatten().find_map(|found| found.key.as_ref().ok());
    let Some(key) = first.map(|loaded| loaded.key.public()) else {
        return;
    };
    let digits = fingerprint(key).iter().map(|byte| format!("{byte:02x}")).collect();
    for name in [digits, jwk::thumbprint(key), openssh::fingerprint(key)] {
        let name = Some(&*name);
        if let Ok(named) = load_public_with(bytes, &Reading { name, ..reading(None) }) {
            assert_eq!(fingerprint(&named.key), fingerprint(key));
        }
    }
    // A name that somebody chose, such as a `kid`.
    let name = Some("a name");
    let _ = load_public_with(bytes, &Reading { name, ..reading(None) });
    let _ = load_each(bytes, &Reading { name, ..reading(None) });
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

/// Whatever a file says of its key: it allows a use, or refuses it in words.
fn is_asked<K>(loaded: &Loaded<K>) {
    let pss = SignatureScheme::Pss(Pss::new(Hash::Sha256));
    let oaep = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
    for purpose in [
        Purpose::Sign(&pss),
        Purpose::Verify(&SignatureScheme::Pkcs1v15(Hash::Sha256)),
        Purpose::Encrypt(Some(&oaep)),
        Purpose::Decrypt(Some(&EncryptionScheme::Pkcs1v15)),
        Purpose::RawPrivate,
        Purpose::RawPublic,
    ] {
        if let Err(error) = loaded.check(purpose) {
            assert!(!error.to_string().is_empty());
        }
    }
    assert!(loaded.restrictions.is_none() || !loaded.restrictions.to_string().is_empty());
}

fn read_public(bytes: &[u8], key: &PublicKey) {
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
}

fn is_read_again(key: &PublicKey) {
    for format in [PublicFormat::Pkcs1, PublicFormat::Spki] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            read_public(&encode_public(key, format, encoding), key);
        }
    }
    read_public(
        jwk::public(key, &Default::default(), &Default::default()).as_bytes(),
        key,
    );
    read_public(openssh::public(key, "somebody@somewhere").as_bytes(), key);
}

fn read_private(bytes: &[u8], key: &PrivateKey) {
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
}

/// A key is read from what is written of it with all that its file said.
fn annotated_is_read(loaded: &Loaded<PrivateKey>) {
    let (key, usage, annotations) = (&loaded.key, &loaded.usage, &loaded.annotations);
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        if let Ok(written) = encode_private_annotated(key, usage, annotations, format, Encoding::Pem) {
            read_private(&written, key);
        }
    }
    read_private(jwk::private(key, &loaded.restrictions, annotations).as_bytes(), key);
}

fn is_written_and_read(key: &PrivateKey) {
    is_read_again(key.public());
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            read_private(&encode_private(key, format, encoding), key);
        }
    }
    read_private(
        jwk::private(key, &Default::default(), &Default::default()).as_bytes(),
        key,
    );
    // OpenSSH has no form for three primes.
    if let Ok(text) = openssh::private(key, "somebody@somewhere") {
        read_private(text.as_bytes(), key);
    }
    let _ = Key::Private(Box::new(key.clone())).public();
}
