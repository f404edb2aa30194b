//! Screening of many signatures: what it accepts, what it finds, and what it cannot know.

use num_bigint::BigUint;
use rsalab_rsa::{
    PrivateKey,
    hash::Hash,
    scheme::{Pss, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};

fn signed(key: &PrivateKey, count: usize) -> (VerifyingKey, Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let signing = SigningKey::new(key, SignatureScheme::Pkcs1v15(Hash::Sha256)).unwrap();
    let messages: Vec<Vec<u8>> = (0..count)
        .map(|number| format!("message {number}").into_bytes())
        .collect();
    let words: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let signatures = signing.sign_batch(&words).unwrap();
    let signatures = signatures
        .iter()
        .map(|signature| signature.as_bytes().to_vec())
        .collect();
    (signing.verifying_key().clone(), messages, signatures)
}

fn screen(key: &VerifyingKey, messages: &[Vec<u8>], signatures: &[Vec<u8>]) -> Vec<bool> {
    let pairs: Vec<(&[u8], &[u8])> = messages
        .iter()
        .map(|it| &it[..])
        .zip(signatures.iter().map(|it| &it[..]))
        .collect();
    key.screen_batch(&pairs).unwrap()
}

#[test]
fn valid_signatures_are_accepted_and_wrong_ones_found_wherever_they_are() {
    let key = PrivateKey::generate(1024).unwrap();
    for count in [0, 1, 2, 7, 8, 9, 255, 256, 257, 600] {
        let (verifying, messages, mut signatures) = signed(&key, count);
        assert_eq!(screen(&verifying, &messages, &signatures), vec![true; count]);
        let wrong: Vec<usize> = [0, 3, count / 2, count.saturating_sub(1)]
            .into_iter()
            .filter(|it| *it < count)
            .collect();
        for &place in &wrong {
            signatures[place][70] ^= 4;
        }
        let expected: Vec<bool> = (0..count).map(|place| !wrong.contains(&place) || count == 0).collect();
        // Of few, two changes may undo each other: the places are distinct but for the smallest counts.
        if wrong.iter().collect::<std::collections::HashSet<_>>().len() == wrong.len() {
            assert_eq!(screen(&verifying, &messages, &signatures), expected, "{count}");
        }
    }
}

#[test]
fn what_cannot_be_screened_is_verified_or_refused() {
    let key = PrivateKey::generate(1024).unwrap();
    let (verifying, mut messages, mut signatures) = signed(&key, 20);
    // A message that is there twice, once with a signature of another.
    messages.push(messages[4].clone());
    signatures.push(signatures[4].clone());
    messages.push(messages[5].clone());
    signatures.push(signatures[6].clone());
    // A signature that is too short, one that is not below n, and zero.
    signatures[7].pop();
    let n = BigUint::from_bytes_be(key.public().n());
    signatures[8] = vec![0xff; 128];
    signatures[9] = vec![0; 128];
    let accepted = screen(&verifying, &messages, &signatures);
    let refused: Vec<usize> = (0..22).filter(|&place| !accepted[place]).collect();
    assert_eq!(refused, [7, 8, 9, 21]);
    // One that is another number modulo n.
    let beyond = BigUint::from_bytes_be(&signatures[0]) + &n;
    if beyond.bits() <= 1024 {
        let bytes = beyond.to_bytes_be();
        signatures[0] = [vec![0; 128 - bytes.len()], bytes].concat();
        assert!(!screen(&verifying, &messages, &signatures)[0]);
    }

    let pss = VerifyingKey::new(key.public(), SignatureScheme::Pss(Pss::new(Hash::Sha256))).unwrap();
    let refused = pss.screen_batch(&[(b"message", &signatures[1])]).unwrap_err();
    assert!(refused.to_string().contains("cannot be screened"), "{refused}");
}

/// As the documentation says: that each signature is its message's is not what is proved.
#[test]
fn signatures_that_were_exchanged_are_screened_as_one_and_not_verified() {
    let key = PrivateKey::generate(1024).unwrap();
    let (verifying, messages, mut signatures) = signed(&key, 40);
    signatures.swap(11, 30);
    assert_eq!(screen(&verifying, &messages, &signatures), vec![true; 40]);
    let pairs: Vec<(&[u8], &[u8])> = messages
        .iter()
        .map(|it| &it[..])
        .zip(signatures.iter().map(|it| &it[..]))
        .collect();
    let valid = verifying.verify_batch(&pairs);
    assert_eq!((0..40).filter(|&place| !valid[place]).collect::<Vec<_>>(), [11, 30]);
}
