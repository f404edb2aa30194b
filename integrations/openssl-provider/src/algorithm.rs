//! AlgorithmIdentifiers of signatures, in DER: what certificates and CMS name them by.

use rsalab_rsa::{hash::Hash, scheme::Pss};

use crate::digests::{Digest, Legacy};

/// 1.2.840.113549.1.1, the contents of its encoding.
const PKCS1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// 2.16.840.1.101.3.4.3.
const NIST: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x03];

/// Of PKCS#1 v1.5 signatures with this digest (RFC 8017, appendix A.2.4).
pub(crate) fn pkcs1v15(digest: Digest) -> Option<Vec<u8>> {
    let (arc, last) = match digest {
        Digest::Legacy(Legacy::Md5) => (PKCS1, 4),
        Digest::Legacy(Legacy::Ripemd160) => (&[0x2b, 0x24, 0x03, 0x03, 0x01][..], 2),
        Digest::Hash(Hash::Sha1) => (PKCS1, 5),
        Digest::Hash(Hash::Sha256) => (PKCS1, 11),
        Digest::Hash(Hash::Sha384) => (PKCS1, 12),
        Digest::Hash(Hash::Sha512) => (PKCS1, 13),
        Digest::Hash(Hash::Sha224) => (PKCS1, 14),
        Digest::Hash(Hash::Sha512_224) => (PKCS1, 15),
        Digest::Hash(Hash::Sha512_256) => (PKCS1, 16),
        Digest::Hash(Hash::Sha3_224) => (NIST, 13),
        Digest::Hash(Hash::Sha3_256) => (NIST, 14),
        Digest::Hash(Hash::Sha3_384) => (NIST, 15),
        Digest::Hash(Hash::Sha3_512) => (NIST, 16),
        Digest::Hash(_) | Digest::Md5Sha1 => return None,
    };
    let oid = tlv(0x06, &[arc, &[last]].concat());
    Some(tlv(0x30, &[oid, tlv(0x05, &[])].concat()))
}

/// Of PSS, with so many bytes of salt (RFC 8017, appendix A.2.3).
pub(crate) fn pss(pss: Pss, salt: usize) -> Vec<u8> {
    let function = |hash: Hash| tlv(0x30, &[tlv(0x06, hash.oid().as_bytes()), tlv(0x05, &[])].concat());
    let mgf1 = tlv(0x06, &[PKCS1, &[8]].concat());
    let mask = tlv(0x30, &[mgf1, function(pss.mgf_hash)].concat());
    let mut number = (salt as u32).to_be_bytes().to_vec();
    while number.len() > 1 && number[0] == 0 && number[1] < 128 {
        number.remove(0);
    }
    // DER leaves out what is the default.
    let mut params = Vec::new();
    if pss.hash != Hash::Sha1 {
        params.extend(tlv(0xa0, &function(pss.hash)));
    }
    if pss.mgf_hash != Hash::Sha1 {
        params.extend(tlv(0xa1, &mask));
    }
    if salt != 20 {
        params.extend(tlv(0xa2, &tlv(0x02, &number)));
    }
    let oid = tlv(0x06, &[PKCS1, &[10]].concat());
    tlv(0x30, &[oid, tlv(0x30, &params)].concat())
}

/// An element of DER whose content is shorter than 128 bytes.
fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    assert!(content.len() < 128);
    [&[tag, content.len() as u8], content].concat()
}
