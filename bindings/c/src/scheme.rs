//! Schemes and hash functions as C names them. What comes from C is a number, and is looked up: an enum of Rust must
//! not hold another.

use rsalab_reserve::Reserve;
use rsalab_rsa::{
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
};

use crate::{
    pointer::{array, reference},
    status::{Failure, Status, more_memory},
};

/// The encoding around a digest or a message (RFC 8017).
#[repr(C)]
pub enum Padding {
    /// RSASSA-PKCS1-v1_5 and RSAES-PKCS1-v1_5. Bad padding decrypts to a pseudorandom message (implicit rejection).
    Pkcs1 = 1,
    /// RSASSA-PSS, for signatures.
    Pss = 2,
    /// RSAES-OAEP, for encryption.
    Oaep = 3,
}

/// Hash functions (FIPS 180-4, FIPS 202), with the length of their digests in bytes.
#[repr(C)]
#[allow(dead_code, reason = "names numbers in the header; here they are looked up")]
pub enum HashFunction {
    /// SHA-1, 20 bytes: to verify old signatures, and in OAEP. It signs nothing any more.
    Sha1 = 1,
    /// SHA-224, 28 bytes.
    Sha224 = 2,
    /// SHA-256, 32 bytes.
    Sha256 = 3,
    /// SHA-384, 48 bytes.
    Sha384 = 4,
    /// SHA-512, 64 bytes.
    Sha512 = 5,
    /// SHA-512/224, 28 bytes.
    Sha512_224 = 6,
    /// SHA-512/256, 32 bytes.
    Sha512_256 = 7,
    /// SHA3-224, 28 bytes.
    Sha3_224 = 8,
    /// SHA3-256, 32 bytes.
    Sha3_256 = 9,
    /// SHA3-384, 48 bytes.
    Sha3_384 = 10,
    /// SHA3-512, 64 bytes.
    Sha3_512 = 11,
    /// SHAKE128 with 32 bytes, in PSS alone (RFC 8702).
    Shake128 = 12,
    /// SHAKE256 with 64 bytes, in PSS alone (RFC 8702).
    Shake256 = 13,
}

/// A salt as long as the digest, for rsalab_signature_scheme.salt_len.
pub const RSALAB_SALT_DIGEST: i32 = -1;
/// A salt as long as the key allows.
pub const RSALAB_SALT_MAX: i32 = -2;
/// A salt of any length: to verify only. With a key of RSASSA-PSS that names the least length, of that or more.
pub const RSALAB_SALT_ANY: i32 = -3;

/// How signatures are made. For PKCS#1 v1.5 with SHA-256: {RSALAB_PADDING_PKCS1, RSALAB_HASH_SHA256, 0, 0}; for PSS:
/// {RSALAB_PADDING_PSS, RSALAB_HASH_SHA256, 0, RSALAB_SALT_DIGEST}.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct SignatureParameters {
    /// RSALAB_PADDING_PKCS1 or RSALAB_PADDING_PSS.
    pub padding: u32,
    /// The hash of the message: an rsalab_hash.
    pub hash: u32,
    /// The hash of the mask of PSS: an rsalab_hash, or 0 for the same as `hash`. 0 with PKCS#1 v1.5.
    pub mgf_hash: u32,
    /// Bytes of the salt of PSS, from 0; or RSALAB_SALT_DIGEST, RSALAB_SALT_MAX, RSALAB_SALT_ANY. 0 with PKCS#1 v1.5.
    pub salt_len: i32,
}

/// How messages are encrypted. For OAEP with SHA-256: {RSALAB_PADDING_OAEP, RSALAB_HASH_SHA256, 0, {NULL, 0}}.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EncryptionParameters {
    /// RSALAB_PADDING_OAEP or RSALAB_PADDING_PKCS1.
    pub padding: u32,
    /// The hash of OAEP's label: an rsalab_hash. 0 with PKCS#1 v1.5.
    pub hash: u32,
    /// The hash of OAEP's mask: an rsalab_hash, or 0 for the same as `hash`. 0 with PKCS#1 v1.5.
    pub mgf_hash: u32,
    /// OAEP's label, empty in most uses.
    pub label: crate::pointer::Bytes,
}

/// Of a number of C.
fn hash(number: u32, what: &str) -> Result<Hash, Failure> {
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let hash = index.and_then(|index| Hash::ALL.get(index));
    hash.copied().ok_or_else(|| {
        let text = format!("{number} is no hash function, but stands as {what}");
        Failure::new(Status::Argument, text)
    })
}

fn mgf_hash(number: u32, default: Hash) -> Result<Hash, Failure> {
    match number {
        0 => Ok(default),
        number => hash(number, "mgf_hash"),
    }
}

fn no_padding(padding: u32, of: &str) -> Failure {
    Failure::new(Status::Argument, format!("{padding} is no padding of {of}"))
}

/// # Safety
///
/// As for [`reference`].
pub(crate) unsafe fn of_signature(scheme: *const SignatureParameters) -> Result<SignatureScheme, Failure> {
    // SAFETY: the caller's promise.
    let scheme = *unsafe { reference(scheme, "scheme") }?;
    let own = hash(scheme.hash, "hash")?;
    const PKCS1: u32 = Padding::Pkcs1 as u32;
    const PSS: u32 = Padding::Pss as u32;
    match scheme.padding {
        PKCS1 if (scheme.mgf_hash, scheme.salt_len) != (0, 0) => Err(Failure::new(
            Status::Argument,
            "mgf_hash and salt_len are 0 with PKCS#1 v1.5",
        )),
        PKCS1 => Ok(SignatureScheme::Pkcs1v15(own)),
        PSS => Ok(SignatureScheme::Pss(Pss {
            hash: own,
            mgf_hash: mgf_hash(scheme.mgf_hash, own)?,
            salt_len: match scheme.salt_len {
                RSALAB_SALT_DIGEST => SaltLen::Digest,
                RSALAB_SALT_MAX => SaltLen::Max,
                RSALAB_SALT_ANY => SaltLen::Any,
                bytes => SaltLen::Bytes(
                    usize::try_from(bytes)
                        .map_err(|_| Failure::new(Status::Argument, format!("{bytes} is no length of a salt")))?,
                ),
            },
        })),
        padding => Err(no_padding(padding, "signatures")),
    }
}

/// Memory for copies of a label, where a call's own may not be enough.
///
/// # Safety
///
/// As for [`of_encryption`].
pub(crate) unsafe fn label_memory(scheme: *const EncryptionParameters) -> Result<Option<Reserve>, Failure> {
    // SAFETY: the caller's promise.
    let len = unsafe { reference(scheme, "scheme") }?.label.len;
    match len {
        0..=4096 => Ok(None),
        len => Ok(Some(more_memory(len.saturating_mul(4))?)),
    }
}

/// # Safety
///
/// As for [`reference`], and as for [`array`] of the label.
pub(crate) unsafe fn of_encryption(scheme: *const EncryptionParameters) -> Result<EncryptionScheme, Failure> {
    // SAFETY: the caller's promise.
    let scheme = *unsafe { reference(scheme, "scheme") }?;
    // SAFETY: the caller's promise.
    let label = unsafe { array(scheme.label.data, scheme.label.len, "label") }?;

    const PKCS1: u32 = Padding::Pkcs1 as u32;
    const OAEP: u32 = Padding::Oaep as u32;
    match scheme.padding {
        PKCS1 if (scheme.hash, scheme.mgf_hash, label.len()) != (0, 0, 0) => Err(Failure::new(
            Status::Argument,
            "hash, mgf_hash and label are 0 with PKCS#1 v1.5",
        )),
        PKCS1 => Ok(EncryptionScheme::Pkcs1v15),
        OAEP => {
            let own = hash(scheme.hash, "hash")?;
            Ok(EncryptionScheme::Oaep(Oaep {
                hash: own,
                mgf_hash: mgf_hash(scheme.mgf_hash, own)?,
                label: label.to_vec(),
            }))
        }
        padding => Err(no_padding(padding, "encryption")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_functions_have_the_numbers_that_the_header_says() {
        use HashFunction as F;
        let numbers = [
            F::Sha1 as u32,
            F::Sha224 as u32,
            F::Sha256 as u32,
            F::Sha384 as u32,
            F::Sha512 as u32,
            F::Sha512_224 as u32,
            F::Sha512_256 as u32,
            F::Sha3_224 as u32,
            F::Sha3_256 as u32,
            F::Sha3_384 as u32,
            F::Sha3_512 as u32,
            F::Shake128 as u32,
            F::Shake256 as u32,
        ];
        for (number, own) in numbers.into_iter().zip(Hash::ALL) {
            assert_eq!(hash(number, "hash").unwrap(), *own);
        }
        assert!(hash(0, "hash").is_err() && hash(14, "hash").is_err());
    }
}
