//! Screening of many signatures: what it accepts, what it finds, and what it cannot know.

use std::collections::BTreeSet;

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
    for count in [0, 1, 2, 3, 7, 8, 9, 255, 256, 257, 600] {
        let (verifying, messages, mut signatures) = signed(&key, count);
        assert_eq!(screen(&verifying, &messages, &signatures), vec![true; count]);
        let wrong: BTreeSet<usize> = [0, 3, count / 2, count.saturating_sub(1)]
            .into_iter()
            .filter(|it| *it < count)
            .collect();
        for &place in &wrong {
            signatures[place][70] ^= 4;
        }
        let expected: Vec<bool> = (0..count).map(|place| !wrong.contains(&place)).collect();
        assert_eq!(screen(&verifying, &messages, &signatures), expected, "{count}");
    }
}

#[test]
fn one_wrong_signature_among_few_is_found_wherever_it_is() {
    let key = PrivateKey::generate(1024).unwrap();
    for count in 1..=3 {
        let (verifying, messages, signatures) = signed(&key, count);
        for wrong in 0..count {
            let mut signatures = signatures.clone();
            signatures[wrong][70] ^= 4;
            let expected: Vec<bool> = (0..count).map(|place| place != wrong).collect();
            assert_eq!(
                screen(&verifying, &messages, &signatures),
                expected,
                "{wrong} of {count}"
            );
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
    signatures[8] = vec![0xff; 128];
    signatures[9] = vec![0; 128];
    let accepted = screen(&verifying, &messages, &signatures);
    let refused: Vec<usize> = (0..22).filter(|&place| !accepted[place]).collect();
    assert_eq!(refused, [7, 8, 9, 21]);
    let pss = VerifyingKey::new(key.public(), SignatureScheme::Pss(Pss::new(Hash::Sha256))).unwrap();
    let refused = pss.screen_batch(&[(b"message", &signatures[1])]).unwrap_err();
    assert!(refused.to_string().contains("cannot be screened"), "{refused}");
}

/// s + n, where that is not too long: another number of the same residue.
#[test]
fn a_signature_that_is_not_reduced_is_refused() {
    let key = PrivateKey::generate(1024).unwrap();
    let n = BigUint::from_bytes_be(key.public().n());
    let mut count = 32;
    let (verifying, messages, mut signatures, place, beyond) = loop {
        let (verifying, messages, signatures) = signed(&key, count);
        let beyond = |signature: &[u8]| Some(BigUint::from_bytes_be(signature) + &n).filter(|sum| sum.bits() <= 1024);
        let mut places = signatures.iter().enumerate();
        if let Some((place, sum)) = places.find_map(|(place, signature)| Some((place, beyond(signature)?))) {
            break (verifying, messages, signatures, place, sum.to_bytes_be());
        }
        // The closer n is to 2^1024, the fewer have room above them.
        count *= 2;
    };
    signatures[place] = beyond;
    let expected: Vec<bool> = (0..count).map(|other| other != place).collect();
    assert_eq!(screen(&verifying, &messages, &signatures), expected);
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

/// Numbers that differ from turn to turn, and not from run to run: SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }
}

/// A number below n that is not the signature, in one of five ways.
fn wrong(signature: &[u8], of_another: &[u8], n: &BigUint, numbers: &mut Numbers) -> Vec<u8> {
    let number = BigUint::from_bytes_be(signature);
    let wrong = match numbers.below(5) {
        0 => number ^ (BigUint::from(1_u8) << numbers.below(1000)),
        1 => number + 1_u8,
        2 => number * 2_u8,
        3 => BigUint::from_bytes_be(of_another),
        _ => {
            let bytes: Vec<u8> = (0..signature.len()).map(|_| numbers.below(256) as u8).collect();
            BigUint::from_bytes_be(&bytes)
        }
    };
    let bytes = (wrong % n).to_bytes_be();
    [vec![0; signature.len() - bytes.len()], bytes].concat()
}

/// Plants wrong signatures in so many places of `count`, as often as is said: those and no others must be refused, as
/// by verifying each. Returns how many there were.
fn plant_and_find(count: usize, rounds: &[(usize, usize)]) -> usize {
    let key = PrivateKey::generate(1024).unwrap();
    let n = BigUint::from_bytes_be(key.public().n());
    let (verifying, mut messages, mut signatures) = signed(&key, count + 1);
    let (_, of_another) = (messages.pop(), signatures.pop().unwrap());
    let mut numbers = Numbers(46);
    let mut planted = 0;
    for &(places, times) in rounds {
        for _ in 0..times {
            let mut changed = signatures.clone();
            let mut expected = BTreeSet::new();
            while expected.len() < places {
                expected.insert(numbers.below(count));
            }
            for &place in &expected {
                changed[place] = wrong(&signatures[place], &of_another, &n, &mut numbers);
            }
            planted += places;
            let refused = |verdicts: Vec<bool>| -> BTreeSet<usize> {
                let places = verdicts.into_iter().enumerate();
                places
                    .filter_map(|(place, is_accepted)| (!is_accepted).then_some(place))
                    .collect()
            };
            assert_eq!(refused(screen(&verifying, &messages, &changed)), expected);
            let pairs: Vec<(&[u8], &[u8])> = messages
                .iter()
                .map(|it| &it[..])
                .zip(changed.iter().map(|it| &it[..]))
                .collect();
            assert_eq!(refused(verifying.verify_batch(&pairs)), expected);
        }
    }
    planted
}

#[test]
fn every_wrong_signature_is_found_however_many_there_are() {
    let planted = plant_and_find(1500, &[(1, 5), (10, 3), (100, 2), (750, 1), (1500, 1)]);
    assert_eq!(planted, 2485);
}

#[test]
#[ignore = "long: make test-all"]
fn every_wrong_signature_of_a_hundred_thousand_is_found() {
    let rounds = [(1, 20), (10, 20), (100, 10), (1000, 10), (10_000, 7), (20_000, 1)];
    let planted = plant_and_find(20_000, &rounds);
    println!("{planted} wrong signatures were planted and found, and no other was refused");
    assert!(planted > 100_000);
}

/// Why messages must be distinct (Coron and Naccache, "On the security of RSA screening", PKC 1999): where one is there
/// e times, its own encoding is a number whose power is their product, and nobody has signed it.
#[test]
fn a_message_that_is_there_e_times_is_no_forgery() {
    let key = rsalab_rsa::generate::Generation::new(1024, rsalab_rsa::generate::PublicExponent::Fixed(3)).unwrap();
    let mut generator = key.generator(rsalab_rsa::random::SystemRng).unwrap();
    let key = generator.keys(1).unwrap().remove(0).key;
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let verifying = VerifyingKey::new(key.public(), scheme).unwrap();
    let message = b"never signed".to_vec();
    let digest = Hash::Sha256.digest(&message);
    let encoding = scheme
        .encode(1024, &digest, &mut rsalab_rsa::random::SystemRng)
        .unwrap();
    let one = [vec![0; 127], vec![1]].concat();
    // encoding^3 = encoding encoding encoding.
    let forged = [encoding, one.clone(), one];
    assert_eq!(screen(&verifying, &vec![message; 3], &forged), [false; 3]);
}
