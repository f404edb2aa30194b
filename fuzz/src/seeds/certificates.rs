//! Certificates (RFC 5280, section 4.1) and requests (RFC 2986), signed by nobody.

use rsalab_rsa::format::{Encoding, PublicFormat, encode_public};

use super::{der_of, sequence, short};

/// The algorithm of a signature, sha256WithRSAEncryption.
fn algorithm() -> Vec<u8> {
    sequence(&[&[0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11], &[5, 0]])
}

fn spki() -> Vec<u8> {
    encode_public(short().public(), PublicFormat::Spki, Encoding::Der)
}

fn signature() -> Vec<u8> {
    der_of(0x03, &[&[0][..], &[0x5a; 16]].concat())
}

/// An extension that says what the key is for.
fn key_usage(value: &[u8]) -> Vec<u8> {
    sequence(&[&[0x06, 3, 0x55, 0x1d, 0x0f], &der_of(4, value)])
}

/// A certificate with or without a version, and with these extensions.
pub(super) fn certificate(has_version: bool, extensions: &[Vec<u8>]) -> Vec<u8> {
    let time = der_of(0x17, b"260101000000Z");
    let validity = sequence(&[&time, &time]);
    let all = der_of(0xa3, &der_of(0x30, &extensions.concat()));
    let version: &[u8] = if has_version { &[0xa0, 3, 2, 1, 2] } else { &[] };
    let body = sequence(&[
        version,
        &[2, 1, 1],
        &algorithm(),
        &[0x30, 0],
        &validity,
        &[0x30, 0],
        &spki(),
        &all,
    ]);
    sequence(&[&body, &algorithm(), &signature()])
}

/// A request, with or without attributes.
pub(super) fn request(attributes: &[u8]) -> Vec<u8> {
    let body = sequence(&[&[2, 1, 0], &[0x30, 0], &spki(), attributes]);
    sequence(&[&body, &algorithm(), &signature()])
}

/// A list of revoked certificates.
pub(super) fn revoked() -> Vec<u8> {
    let time = der_of(0x17, b"260101000000Z");
    let body = sequence(&[&algorithm(), &[0x30, 0], &time, &time]);
    sequence(&[&body, &algorithm(), &signature()])
}

pub(super) fn certificates() -> Vec<Vec<u8>> {
    let other = sequence(&[&[0x06, 3, 0x55, 0x1d, 0x13], &der_of(4, &[0x30, 0])]);
    vec![
        certificate(true, &[key_usage(&[3, 2, 5, 0xa0])]),
        certificate(false, &[other.clone(), key_usage(&[3, 3, 7, 0x06, 0x80])]),
        certificate(true, &[key_usage(&[3, 2, 5, 0xa0]), key_usage(&[3, 2, 5, 0xa0])]),
        certificate(true, &[key_usage(&[3, 1, 0])]),
        certificate(true, &[key_usage(&[3, 1, 7])]),
        certificate(true, &[key_usage(&[3, 2, 9, 0xa0])]),
        certificate(true, &[key_usage(&[4, 2, 5, 0xa0])]),
        certificate(true, &[sequence(&[&[0x06, 3, 0x55, 0x1d, 0x0f], &[5, 0]])]),
        certificate(true, &[sequence(&[])]),
        certificate(true, &[other]),
        request(&[0xa0, 0]),
        request(&[]),
        revoked(),
        sequence(&[&sequence(&[]), &algorithm(), &signature()]),
        sequence(&[&sequence(&[&[2, 1, 1]]), &algorithm(), &signature()]),
        sequence(&[
            &sequence(&[&[2, 1, 0], &[0x30, 0], &[0x30, 0]]),
            &algorithm(),
            &signature(),
        ]),
    ]
}
