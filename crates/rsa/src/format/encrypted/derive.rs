//! Functions that make the key of a cipher of a password, all but PBKDF2 and scrypt, which crates have.

use digest::{Digest, Output};
use md5::Md5;
use sha1::Sha1;
use zeroize::{Zeroize, Zeroizing};

/// Which part of a key PKCS#12 makes (RFC 7292, appendix B.3).
#[derive(Clone, Copy)]
pub(super) enum Part {
    Key = 1,
    Iv = 2,
}

/// PBKDF1 (RFC 8018, section 5.1): a digest's first bytes, `len` at most as many as it has.
pub(super) fn pbkdf1<D: Digest>(password: &[u8], salt: &[u8], iterations: u32, len: usize) -> Zeroizing<Vec<u8>> {
    let mut digest = D::new_with_prefix(password).chain_update(salt).finalize();
    for _ in 1..iterations {
        digest = D::digest(&digest);
    }
    let made = Zeroizing::new(digest[..len].to_vec());
    digest.zeroize();
    made
}

/// OpenSSL's EVP_BytesToKey with MD5, one round, and eight bytes of salt: digests of the one before, the password and
/// the salt.
pub(super) fn bytes_to_key(password: &[u8], salt: &[u8], len: usize) -> Zeroizing<Vec<u8>> {
    let mut made = Zeroizing::new(Vec::with_capacity(len + 16));
    let mut last = Output::<Md5>::default();
    while made.len() < len {
        let before = if made.is_empty() { &[][..] } else { &last[..] };
        last = Md5::new_with_prefix(before)
            .chain_update(password)
            .chain_update(salt)
            .finalize();
        made.extend_from_slice(&last);
    }
    last.zeroize();
    made.truncate(len);
    made
}

/// The function of PKCS#12 with SHA-1 (RFC 7292, appendix B.2; its steps are numbered).
pub(super) fn pkcs12(password: &[u8], salt: &[u8], iterations: u32, part: Part, len: usize) -> Zeroizing<Vec<u8>> {
    const V: usize = 64;
    let repeated = |bytes: &[u8]| -> Zeroizing<Vec<u8>> {
        let len = bytes.len().div_ceil(V) * V;
        Zeroizing::new(bytes.iter().copied().cycle().take(len).collect())
    };
    // Steps 1 to 4.
    let diversifier = [part as u8; V];
    let mut i = Zeroizing::new([&repeated(salt)[..], &repeated(&with_wide_letters(password))].concat());
    let mut made = Zeroizing::new(Vec::with_capacity(len + 20));
    while made.len() < len {
        // Step 6.A.
        let mut a = Sha1::new_with_prefix(diversifier).chain_update(&*i).finalize();
        for _ in 1..iterations {
            a = Sha1::digest(a);
        }
        // Steps 6.B and 6.C: each block of I grows by B + 1, modulo 2^512.
        let b = repeated(&a);
        for block in i.chunks_mut(V) {
            let mut carry = 1;
            for (byte, add) in block.iter_mut().zip(&b[..V]).rev() {
                let sum = u16::from(*byte) + u16::from(*add) + carry;
                *byte = sum as u8;
                carry = sum >> 8;
            }
        }
        made.extend_from_slice(&a);
        a.zeroize();
    }
    made.truncate(len);
    made
}

/// A password as PKCS#12 has it (RFC 7292, appendix B.1): letters of two bytes, and two bytes of zeros at the end. What
/// is not UTF-8 is taken for Latin-1, as OpenSSL does.
fn with_wide_letters(password: &[u8]) -> Zeroizing<Vec<u8>> {
    // The capacity is taken at once: growing would leave copies behind.
    let mut wide = Zeroizing::new(Vec::with_capacity(2 * password.len() + 2));
    match std::str::from_utf8(password) {
        Ok(text) => text.encode_utf16().for_each(|unit| wide.extend(unit.to_be_bytes())),
        Err(_) => password.iter().for_each(|&byte| wide.extend([0, byte])),
    }
    wide.extend([0, 0]);
    wide
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vectors made with Python's `hashlib` by the steps of RFC 7292. What OpenSSL makes with the other two is read in
    /// `tests/library/other_formats`.
    #[test]
    fn derivations_are_those_of_the_standards() {
        let made = pkcs12(b"smeg", &hex::decode("0a58cf64530d823f").unwrap(), 1, Part::Key, 24);
        assert_eq!(hex::encode(&*made), "8aaae6297b6cb04642ab5b077851284eb7128f1a2a7fbca3");
        let made = pkcs12(b"smeg", &hex::decode("0a58cf64530d823f").unwrap(), 1, Part::Iv, 8);
        assert_eq!(hex::encode(&*made), "79993dfe048d3b76");
        assert_eq!(with_wide_letters("ä€".as_bytes())[..], [0, 0xe4, 0x20, 0xac, 0, 0]);
        assert_eq!(with_wide_letters(b"\xe4")[..], [0, 0xe4, 0, 0]);
        assert_eq!(with_wide_letters(b"")[..], [0, 0]);
    }
}
