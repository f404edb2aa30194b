//! Certificates that are odd where nothing is looked at, and those that are wrong where something is.

use rsalab_rsa::{
    format::{Purpose, encode_public},
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
