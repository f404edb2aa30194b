//! Keys derived from a file's key: HKDF with SHA-256 (RFC 5869), for as many bytes as one block has.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

/// A file's key.
pub(crate) type FileKey = Zeroizing<[u8; 16]>;

/// The key of the header's MAC.
pub(crate) fn header_key(file_key: &FileKey) -> Zeroizing<[u8; 32]> {
    hkdf(&[], &file_key[..], b"header")
}

/// The key of the payload that follows the nonce.
pub(crate) fn payload_key(file_key: &FileKey, nonce: &[u8; 16]) -> Zeroizing<[u8; 32]> {
    hkdf(nonce, &file_key[..], b"payload")
}

/// A MAC that has taken these bytes.
pub(crate) fn mac(key: &[u8], bytes: &[&[u8]]) -> Hmac<Sha256> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
    bytes.iter().for_each(|bytes| mac.update(bytes));
    mac
}

/// The first block of HKDF's output. An absent salt is a key of zeros for HMAC, which an empty one is, too.
fn hkdf(salt: &[u8], key: &[u8], info: &[u8]) -> Zeroizing<[u8; 32]> {
    let extracted = Zeroizing::new(<[u8; 32]>::from(mac(salt, &[key]).finalize().into_bytes()));
    Zeroizing::new(mac(&extracted[..], &[info, &[1]]).finalize().into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 5869, appendix A, the first 32 bytes of cases 1 and 3: with a salt and without.
    #[test]
    fn it_is_hkdf() {
        let salt: Vec<u8> = (0..13).collect();
        let info: Vec<u8> = (0xf0..0xfa).collect();
        let derived = |salt, info| hex::encode(&hkdf(salt, &[0x0b; 22], info)[..]);
        assert_eq!(
            derived(&salt, &info),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
        );
        assert_eq!(
            derived(&[], &[]),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
        );
    }
}
