//! The padding of PKCS#1 v1.5 around a SHA-256 digest.
//!
//! For inputs and their verification, and for libraries that pad nothing themselves. Users' signatures are made by
//! [`rsalab_rsa`]; that the two agree is tested.

use crate::op::DIGEST_BYTES;

/// The DER of a `DigestInfo` with SHA-256, up to the digest (RFC 8017, section 9.2, note 1).
pub const SHA256_DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20,
];

/// `EMSA-PKCS1-v1_5` (RFC 8017, section 9.2) of a SHA-256 digest, in `length` bytes.
///
/// # Panics
/// The digest has not 32 bytes, or the padding does not fit: `length` is below 62, which no modulus of a job is.
pub fn emsa_pkcs1_v1_5(digest: &[u8], length: usize) -> Vec<u8> {
    assert_eq!(digest.len(), DIGEST_BYTES);
    let fill = length - 3 - SHA256_DIGEST_INFO.len() - DIGEST_BYTES;
    assert!(fill >= 8, "the padding has eight bytes of ones at least");
    [&[0, 1], &vec![0xFF; fill][..], &[0], &SHA256_DIGEST_INFO, digest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_encoding_has_the_length_of_the_modulus() {
        for length in [62, 64, 128] {
            let encoded = emsa_pkcs1_v1_5(&[0xAB; 32], length);
            assert_eq!(encoded.len(), length);
            assert_eq!(encoded[..10], [0, 1, 255, 255, 255, 255, 255, 255, 255, 255]);
            assert_eq!(encoded[length - 52], 0);
            assert!(encoded[10..length - 52].iter().all(|&byte| byte == 0xFF));
            assert_eq!(encoded[length - 51..length - 32], SHA256_DIGEST_INFO);
            assert_eq!(encoded[length - 32..], [0xAB; 32]);
        }
    }
}
