//! Numbers for operations, and encodings as they come out of them.

use rsalab_rsa::{
    hash::Hash,
    random::InsecureStudySeed,
    scheme::{Pss, SaltLen, SignatureScheme},
};

use super::{KEY_LEN, short};
use crate::input::block;

/// A length, a modulus, and blocks; or a length, an exponent and a modulus.
pub fn numbers() -> Vec<Vec<u8>> {
    let n = short().public().n();
    let block = [&[0][..], &vec![0x5a; n.len() - 1]].concat();
    vec![
        [&[n.len() as u8][..], n, &block, &block].concat(),
        [&[n.len() as u8][..], n, &block.repeat(9)].concat(),
        [&[64][..], &[0xff; 64], &[0xff; 63], &[0xfe]].concat(),
        [&[3, 1, 0, 1][..], n].concat(),
        [&[0x7f; KEY_LEN][..], &[0; KEY_LEN], &[1; KEY_LEN]].concat(),
    ]
}

/// Encodings as they come out of a power.
pub fn encodings() -> Vec<Vec<u8>> {
    let pkcs1 = [&[0, 2][..], &[0x5a; 20], &[0], b"a message"].concat();
    let signed = [&[0, 1][..], &[0xff; KEY_LEN - 54], &[0, 0x30, 0x31]].concat();
    vec![
        pkcs1,
        signed,
        vec![0; KEY_LEN],
        vec![0xff; KEY_LEN],
        vec![0x5a; KEY_LEN],
    ]
}

/// Encodings of signatures, right ones of other digests among them.
pub fn signed_encodings() -> Vec<Vec<u8>> {
    let mut all = encodings();
    let mut rng = InsecureStudySeed::new([0x66; 32]).stream(7);
    let salted = |hash, salt_len| {
        SignatureScheme::Pss(Pss {
            salt_len,
            ..Pss::new(hash)
        })
    };
    for hash in [Hash::Sha256, Hash::Sha384, Hash::Sha3_256] {
        for scheme in [
            SignatureScheme::Pkcs1v15(hash),
            salted(hash, SaltLen::Digest),
            salted(hash, SaltLen::Bytes(0)),
            salted(hash, SaltLen::Max),
        ] {
            for content in [0x5a, 7] {
                let digest = vec![content; hash.digest_len()];
                all.extend(
                    scheme
                        .encode(8 * KEY_LEN, &digest, &mut rng)
                        .ok()
                        .map(|encoding| encoding.to_vec()),
                );
            }
        }
    }
    let changed: Vec<Vec<u8>> = all
        .iter()
        .flat_map(|encoding| [1, 2, 40, KEY_LEN - 1].map(|at| (encoding.clone(), at)))
        .filter(|(encoding, at)| *at < encoding.len())
        .map(|(mut encoding, at)| {
            encoding[at] ^= 0x11;
            encoding
        })
        .collect();
    [all, changed].concat()
}

/// Schemes and messages: which kind, hash, mask's hash, a number, and where the randomness begins.
pub fn messages() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for hash in 0..Hash::ALL.len() as u8 {
        all.push([&[2, hash, 0, 0, 0][..], &[7; 64]].concat());
        all.push([&[3, hash, hash, hash % 5, 0][..], &[7; 64]].concat());
        all.push([&[1, hash, hash, 0, 0][..], &block(b"a label"), b"a message"].concat());
    }
    all.push([&[0, 0, 0, 0, 0][..], b"a message"].concat());
    all.push([&[0, 0, 0, 0, 0][..], &[7; KEY_LEN - 11]].concat());
    all.push([&[0, 0, 0, 0, 0][..], &[7; KEY_LEN - 10]].concat());
    all
}
