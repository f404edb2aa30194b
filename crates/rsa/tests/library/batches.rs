//! Verification of batches, whose hashes are computed together: each verdict is that of the signature alone, and what
//! PSS must say by a model of RFC 8017, section 9.1.2.

use num_bigint::BigUint;
use rsalab_rsa::{
    PrivateKey,
    hash::Hash,
    scheme::{Pss, SaltLen, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};

/// EMSA-PSS-VERIFY with any salt, step by step.
fn is_pss(hash: Hash, mgf_hash: Hash, bits: usize, digest: &[u8], block: &[u8]) -> bool {
    let len = (bits - 1).div_ceil(8);
    let (ahead, encoded) = block.split_at(block.len() - len);
    let h = hash.digest_len();
    let (masked, rest) = encoded.split_at(len - h - 1);
    let unused = 8 * len - (bits - 1);
    if ahead.iter().any(|&byte| byte != 0) || rest[h] != 0xbc || u32::from(masked[0]) >> (8 - unused) != 0 {
        return false;
    }
    let mut data = masked.to_vec();
    for (counter, chunk) in (0_u32..).zip(data.chunks_mut(mgf_hash.digest_len())) {
        let mask = mgf_hash.digest(&[&rest[..h], &counter.to_be_bytes()].concat());
        chunk.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
    }
    data[0] &= (0xff_u32 >> unused) as u8;
    match data.iter().position(|&byte| byte != 0) {
        Some(one) if data[one] == 1 => *hash.digest(&[&[0; 8], digest, &data[one + 1..]].concat()) == rest[..h],
        _ => false,
    }
}

#[test]
fn verdicts_of_a_batch_are_those_of_each() {
    // Encodings with one unused bit, with three and with seven.
    for bits in [1024, 1026, 1030] {
        let key = PrivateKey::generate(bits).unwrap();
        let (n, e) = (BigUint::from_bytes_be(key.public().n()), BigUint::from(65537_u32));
        for (hash, mgf_hash) in [
            (Hash::Sha256, Hash::Sha256),
            (Hash::Sha224, Hash::Sha224),
            (Hash::Sha384, Hash::Sha256),
            (Hash::Sha256, Hash::Sha512),
        ] {
            let schemes = [SaltLen::Digest, SaltLen::Bytes(0), SaltLen::Bytes(21), SaltLen::Max].map(|salt_len| Pss {
                salt_len,
                mgf_hash,
                ..Pss::new(hash)
            });
            let any = SignatureScheme::Pss(Pss {
                salt_len: SaltLen::Any,
                ..schemes[0]
            });
            let signers = schemes.map(|pss| SigningKey::new(&key, SignatureScheme::Pss(pss)).unwrap());
            let verifying = VerifyingKey::new(key.public(), any).unwrap();
            let digests_only = VerifyingKey::new(key.public(), SignatureScheme::Pss(schemes[0])).unwrap();
            for count in [1, 2, 5, 15, 16, 17, 33, 50] {
                let messages: Vec<Vec<u8>> = (0..count).map(|place| vec![place as u8; place * 7 % 150]).collect();
                let mut signatures: Vec<Vec<u8>> = messages
                    .iter()
                    .enumerate()
                    .map(|(place, message)| signers[place % 4].sign(message).unwrap().as_bytes().to_vec())
                    .collect();
                // Every fifth is damaged, and one has another length.
                for place in (3..count).step_by(5) {
                    signatures[place][90 + place % 30] ^= 1;
                }
                if count > 16 {
                    signatures[16].pop();
                }
                let pairs: Vec<(&[u8], &[u8])> = messages
                    .iter()
                    .map(|message| &message[..])
                    .zip(signatures.iter().map(|signature| &signature[..]))
                    .collect();
                let model: Vec<bool> = pairs
                    .iter()
                    .map(|(message, signature)| {
                        let power = BigUint::from_bytes_be(signature).modpow(&e, &n).to_bytes_be();
                        let k = bits.div_ceil(8);
                        let block = [vec![0; k - power.len()], power].concat();
                        signature.len() == k && is_pss(hash, mgf_hash, bits, &hash.digest(message), &block)
                    })
                    .collect();
                assert!(count < 5 || (model.contains(&true) && model.contains(&false)));
                assert_eq!(
                    verifying.verify_batch(&pairs),
                    model,
                    "{bits} bits, {hash}, {mgf_hash}, {count}"
                );
                for ((message, signature), &expected) in pairs.iter().zip(&model) {
                    assert_eq!(
                        verifying.verify(message, signature),
                        expected,
                        "alone: {bits} bits, {hash}"
                    );
                }
                // With one length of salt the others are wrong.
                let expected: Vec<bool> = model
                    .iter()
                    .enumerate()
                    .map(|(place, valid)| *valid && place % 4 == 0)
                    .collect();
                if hash.digest_len() != (bits - 1).div_ceil(8) - hash.digest_len() - 2 {
                    assert_eq!(
                        digests_only.verify_batch(&pairs),
                        expected,
                        "{bits} bits, {hash}, {count}"
                    );
                }
            }
        }
    }
}
