//! The ciphers of encrypted private keys: of blocks, chained (CBC) and padded (RFC 8018, section 6.1.1, step 4), but
//! for RC4 and for AES with an authentication tag (GCM).
//!
//! DES, RC2 and RC4 look up tables at places that depend on the key that a password made. They are old, their files are
//! few, and nobody times a file's being read; new files are written with AES.

use aes_gcm::{
    AesGcm,
    aead::{
        AeadInOut,
        consts::{U12, U16},
    },
};
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, InnerIvInit, KeyInit, StreamCipher, block_padding::Pkcs7};
use zeroize::Zeroizing;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cipher {
    Aes128,
    Aes192,
    Aes256,
    Aes128Gcm,
    Aes256Gcm,
    Des,
    /// Two keys, the first of which is the third too.
    Des2,
    Des3,
    /// With so many bits that count, of a key of so many bytes.
    Rc2 {
        bits: usize,
        bytes: usize,
    },
    Rc4 {
        bytes: usize,
    },
}

impl Cipher {
    /// As OpenSSL names it.
    pub(super) fn name(self) -> String {
        match self {
            Cipher::Aes128 => "aes-128-cbc",
            Cipher::Aes192 => "aes-192-cbc",
            Cipher::Aes256 => "aes-256-cbc",
            Cipher::Aes128Gcm => "aes-128-gcm",
            Cipher::Aes256Gcm => "aes-256-gcm",
            Cipher::Des => "des-cbc",
            Cipher::Des2 => "des-ede-cbc",
            Cipher::Des3 => "des-ede3-cbc",
            Cipher::Rc2 { bits, .. } => return format!("rc2-cbc of {bits} bits"),
            Cipher::Rc4 { bytes } => return format!("rc4 of {} bits", 8 * bytes),
        }
        .to_owned()
    }

    pub(super) fn key_len(self) -> usize {
        match self {
            Cipher::Aes128 | Cipher::Aes128Gcm | Cipher::Des2 => 16,
            Cipher::Aes192 | Cipher::Des3 => 24,
            Cipher::Aes256 | Cipher::Aes256Gcm => 32,
            Cipher::Des => 8,
            Cipher::Rc2 { bytes, .. } | Cipher::Rc4 { bytes } => bytes,
        }
    }

    /// Bytes of the initialisation vector, or of the nonce.
    pub(super) fn iv_len(self) -> usize {
        match self {
            Cipher::Aes128 | Cipher::Aes192 | Cipher::Aes256 => 16,
            Cipher::Aes128Gcm | Cipher::Aes256Gcm => 12,
            Cipher::Des | Cipher::Des2 | Cipher::Des3 | Cipher::Rc2 { .. } => 8,
            Cipher::Rc4 { .. } => 0,
        }
    }

    pub(super) fn weakness(self) -> Option<&'static str> {
        match self {
            Cipher::Des => Some("DES has keys of 56 bits, all of which can be tried"),
            Cipher::Rc2 { bits, .. } if bits <= 64 => Some("RC2 is used with a key so short that all can be tried"),
            Cipher::Rc4 { bytes } if bytes <= 8 => Some("RC4 is used with a key so short that all can be tried"),
            Cipher::Rc2 { .. } | Cipher::Rc4 { .. } => Some("its cipher is broken or obsolete"),
            _ => None,
        }
    }

    /// The plaintext; none if its padding or tag is wrong, as after a wrong password. `key` and `iv` have the lengths
    /// that are asked for.
    pub(super) fn decrypt(self, key: &[u8], iv: &[u8], data: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let data = Zeroizing::new(data.to_vec());
        match self {
            Cipher::Aes128 => chained::<aes::Aes128Dec>(key, iv, data),
            Cipher::Aes192 => chained::<aes::Aes192Dec>(key, iv, data),
            Cipher::Aes256 => chained::<aes::Aes256Dec>(key, iv, data),
            Cipher::Aes128Gcm => tagged::<AesGcm<aes::Aes128, U12>>(key, iv, data),
            Cipher::Aes256Gcm => tagged::<AesGcm<aes::Aes256, U12>>(key, iv, data),
            Cipher::Des => chained::<des::Des>(key, iv, data),
            Cipher::Des2 => chained::<des::TdesEde2>(key, iv, data),
            Cipher::Des3 => chained::<des::TdesEde3>(key, iv, data),
            Cipher::Rc2 { bits, .. } => unchained(rc2::Rc2::new_with_eff_key_len(key, bits), iv, data),
            Cipher::Rc4 { .. } => {
                let mut data = data;
                rc4::Rc4::new_from_slice(key).ok()?.apply_keystream(&mut data);
                Some(data)
            }
        }
    }
}

fn chained<C: BlockCipherDecrypt + KeyInit>(
    key: &[u8],
    iv: &[u8],
    data: Zeroizing<Vec<u8>>,
) -> Option<Zeroizing<Vec<u8>>> {
    unchained(C::new_from_slice(key).ok()?, iv, data)
}

fn unchained<C: BlockCipherDecrypt>(cipher: C, iv: &[u8], mut data: Zeroizing<Vec<u8>>) -> Option<Zeroizing<Vec<u8>>> {
    let chain = cbc::Decryptor::inner_iv_slice_init(cipher, iv).ok()?;
    let len = chain.decrypt_padded::<Pkcs7>(&mut data).ok()?.len();
    data.truncate(len);
    Some(data)
}

fn tagged<C: AeadInOut<NonceSize = U12, TagSize = U16> + KeyInit>(
    key: &[u8],
    nonce: &[u8],
    mut data: Zeroizing<Vec<u8>>,
) -> Option<Zeroizing<Vec<u8>>> {
    let len = data.len().checked_sub(16)?;
    let (text, tag) = data.split_at_mut(len);
    let (nonce, tag) = (nonce.try_into().ok()?, (&*tag).try_into().ok()?);
    C::new_from_slice(key)
        .ok()?
        .decrypt_inout_detached(nonce, &[], text.into(), tag)
        .ok()?;
    data.truncate(len);
    Some(data)
}
