//! Certificates that are odd where nothing is looked at, and those that are wrong where something is.

use base64ct::{Base64, Encoding as _};
use rsalab_rsa::{
    format::{Content, Key, Place, Purpose, Reading, encode_public, load_all},
    scheme::SignatureScheme,
};

use super::*;

fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = contents.len() as u16;
    let head = match len {
        0..128 => vec![tag, len as u8],
        128..256 => vec![tag, 0x81, len as u8],
        _ => [&[tag, 0x82][..], &len.to_be_bytes()].concat(),
    };
    [head, contents.to_vec()].concat()
}

fn sequence(elements: &[&[u8]]) -> Vec<u8> {
    der(0x30, &elements.concat())
}

/// The parts of a certificate that may be odd.
struct Odd<'a> {
    version: &'a [u8],
    serial: &'a [u8],
    time: &'a [u8],
    extensions: Vec<u8>,
}

impl Default for Odd<'_> {
    fn default() -> Self {
        Odd {
            version: b"\xa0\x03\x02\x01\x02",
            serial: b"\x02\x01\x05",
            time: b"\x17\x0d260101000000Z",
            extensions: Vec::new(),
        }
    }
}

impl Odd<'_> {
    fn written(&self, key: &PrivateKey) -> Vec<u8> {
        let algorithm = sequence(&[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00"]);
        let key = encode_public(key.public(), PublicFormat::Spki, Encoding::Der);
        let times = sequence(&[self.time, self.time]);
        let signed = sequence(&[
            self.version,
            self.serial,
            &algorithm,
            b"\x30\x00",
            &times,
            b"\x30\x00",
            &key,
            &self.extensions,
        ]);
        sequence(&[&signed, &algorithm, b"\x03\x02\x00\x01"])
    }
}

fn extensions(all: &[Vec<u8>]) -> Vec<u8> {
    der(0xa3, &der(0x30, &all.concat()))
}

/// An extension of the key usage, with this in its octets.
fn key_usage(value: &[u8]) -> Vec<u8> {
    sequence(&[b"\x06\x03\x55\x1d\x0f", b"\x01\x01\xff", &der(4, value)])
}

#[test]
fn what_is_not_looked_at_may_be_odd() {
    let key = key(1024);
    let long = der(2, &[0x55; 200]);
    let odd = [
        Odd::default(),
        Odd {
            serial: &long,
            ..Odd::default()
        },
        Odd {
            serial: b"\x02\x01\xff",
            ..Odd::default()
        },
        Odd {
            serial: b"\x02\x03\x00\x00\x01",
            ..Odd::default()
        },
        Odd {
            serial: b"\x02\x00",
            ..Odd::default()
        },
        Odd {
            time: b"\x17\x0b2601010000Z",
            ..Odd::default()
        },
        Odd {
            time: b"\x17\x11260101000000+0100",
            ..Odd::default()
        },
        Odd {
            time: b"\x18\x0fxxxxxxxxxxxxxxx",
            ..Odd::default()
        },
        Odd {
            version: b"",
            ..Odd::default()
        },
        Odd {
            version: b"\xa0\x03\x02\x01\x63",
            ..Odd::default()
        },
        Odd {
            extensions: extensions(&[sequence(&[b"\x06\x03\x55\x1d\x11", b"\x04\x01\x77"])]),
            ..Odd::default()
        },
    ];
    for (place, odd) in odd.iter().enumerate() {
        let loaded = load_public(&odd.written(&key), None).unwrap_or_else(|error| panic!("{place}: {error}"));
        assert_eq!(&loaded.key, key.public());
        assert_eq!(loaded.content, Content::Certificate);
        assert_eq!(loaded.restrictions.certificate, None);
    }
}

/// Key usage is looked at. A value that is odd and clear is honoured; one that is neither is no reason to use the key
/// for anything.
#[test]
fn the_key_usage_is_honoured_or_the_certificate_is_refused() {
    let key = key(1024);
    let written = |all: &[Vec<u8>]| {
        Odd {
            extensions: extensions(all),
            ..Odd::default()
        }
        .written(&key)
    };
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    for (value, verifies) in [
        // digitalSignature; the same with zeros that DER leaves out; keyEncipherment; decipherOnly, the ninth; none.
        (&b"\x03\x02\x07\x80"[..], true),
        (b"\x03\x03\x00\x80\x00", true),
        (b"\x03\x02\x05\x20", false),
        (b"\x03\x03\x07\x00\x80", false),
        (b"\x03\x01\x00", false),
    ] {
        let loaded = load_public(&written(&[key_usage(value)]), None).expect("it is clear");
        assert!(loaded.restrictions.certificate.is_some());
        assert_eq!(loaded.check(Purpose::Verify(&scheme)).is_ok(), verifies, "{value:?}");
    }
    for value in [
        &b""[..],
        b"\x03\x00",
        b"\x03\x02\x09\x80",
        b"\x04\x01\x80",
        b"\x03\x05\x80",
    ] {
        assert!(load_public(&written(&[key_usage(value)]), None).is_err(), "{value:?}");
    }
    let twice = [key_usage(b"\x03\x02\x07\x80"), key_usage(b"\x03\x02\x05\x20")];
    assert!(reason(load_public(&written(&twice), None)).contains("says twice"));
}

fn pem(label: &str, der: &[u8]) -> String {
    let base64 = Base64::encode_string(der);
    let lines: Vec<&str> = base64
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).expect("text"))
        .collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// A request for a certificate, signed by nobody.
fn request(key: &PrivateKey) -> Vec<u8> {
    let key = encode_public(key.public(), PublicFormat::Spki, Encoding::Der);
    let info = sequence(&[b"\x02\x01\x00", b"\x30\x00", &key, b"\xa0\x00"]);
    let algorithm = sequence(&[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b\x05\x00"]);
    sequence(&[&info, &algorithm, b"\x03\x02\x00\x01"])
}

#[test]
fn every_key_of_a_bundle_is_read() {
    let (one, other) = (key(1024), key(1152));
    let ec = sequence(&[b"\x02\x01\x01", b"\x04\x01\x01"]);
    let parts = [
        format!("a chain\n{}", pem("CERTIFICATE", &Odd::default().written(&one))),
        pem("CERTIFICATE", &Odd::default().written(&other)),
        pem("EC PRIVATE KEY", &ec),
        "-----BEGIN CERTIFICATE-----\nMIIB\n".to_owned(),
        pem("CERTIFICATE REQUEST", &request(&other)),
        pem("CERTIFICATE REQUEST", &Odd::default().written(&other)),
        String::from_utf8_lossy(&encode_private(&one, PrivateFormat::Pkcs8, Encoding::Pem)).into_owned(),
        pem("MYSTERY", &ec),
    ];
    let found = load_all(parts.concat().as_bytes(), &Reading::default()).expect("blocks");
    let places: Vec<Place> = found.iter().map(|found| found.place).collect();
    assert_eq!(places, (1..=8).map(Place::Block).collect::<Vec<_>>());
    let contents: Vec<Option<(Content, usize)>> = found
        .iter()
        .map(|found| {
            found
                .key
                .as_ref()
                .ok()
                .map(|loaded| (loaded.content, loaded.key.public().bits()))
        })
        .collect();
    assert_eq!(
        contents,
        [
            Some((Content::Certificate, 1024)),
            Some((Content::Certificate, 1152)),
            None,
            None,
            Some((Content::Request, 1152)),
            None,
            Some((Content::Pkcs8, 1024)),
            None,
        ]
    );
    let foreign: Vec<bool> = found.iter().map(|found| found.is_foreign).collect();
    assert_eq!(foreign, [false, false, true, false, false, false, false, false]);
    assert!(matches!(&found[6].key, Ok(loaded) if matches!(loaded.key, Key::Private(_))));

    // One alone has no number, and a request needs no PEM.
    for bytes in [
        request(&one),
        pem("NEW CERTIFICATE REQUEST", &request(&one)).into_bytes(),
    ] {
        let found = load_all(&bytes, &Reading::default()).expect("a request");
        assert!(matches!(&found[..], [only] if only.place == Place::Whole && only.key.is_ok()));
        assert!(
            load_public(&bytes, None).is_err(),
            "who uses a key does not take a request for one"
        );
    }
    let found = load_all(&ec, &Reading::default()).expect("another key");
    assert!(found[0].is_foreign && found[0].key.is_err());
    assert!(load_all(b"nothing", &Reading::default()).is_err());
}
