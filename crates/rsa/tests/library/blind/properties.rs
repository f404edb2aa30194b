//! Every variant on every kernel, lengths and numbers at their edges, and what must not be accepted.

use num_bigint::BigUint;
use proptest::prelude::*;
use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, Kernel, Prepared, PreparedMultiKey, PrivateKey,
    PublicKey,
    blind::{BlindError, BlindingKey, InputMessage, Issuer, PREFIX_LEN, Pending, Variant},
    random::{InsecureStudySeed, SystemRng},
    signing::VerifyingKey,
};

use super::key;
use crate::kernels::kernels_here;

fn prepared(variant: Variant, message: &[u8]) -> InputMessage {
    InputMessage::prepare(variant, message).expect("there is randomness")
}

/// As long as the modulus.
fn fixed(number: &BigUint, key: &PublicKey) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; key.modulus_len() - bytes.len()], bytes].concat()
}

#[test]
fn every_variant_on_every_kernel_and_in_every_batch() {
    let key = key(1024);
    for kernel in kernels_here() {
        let backend = CpuBackend::new(Kernel::named(kernel.name).expect("it is available"));
        for variant in Variant::ALL {
            let place = format!("{variant} on {}", kernel.name);
            let issuer = Issuer::with_backend(&key, variant, &backend).expect("long enough");
            let client = BlindingKey::with_backend(key.public(), variant, &backend).expect("long enough");
            let mut signer = issuer.signer().expect("there is randomness");
            for count in [0, 1, 2, 3, 8, 9, 17] {
                let inputs: Vec<_> = (0..count).map(|i| prepared(variant, &vec![i as u8; i])).collect();
                let all: Vec<&InputMessage> = inputs.iter().collect();
                let requests = client.blind_batch(&all).expect("blinded");
                let blinded: Vec<&[u8]> = requests.iter().map(|(b, _)| &b[..]).collect();
                let answers: Vec<Vec<u8>> = signer
                    .sign_batch(&blinded)
                    .expect("a batch")
                    .into_iter()
                    .map(|answer| answer.expect("signed"))
                    .collect();
                let triples: Vec<_> = inputs
                    .iter()
                    .zip(&requests)
                    .zip(&answers)
                    .map(|((input, (_, pending)), answer)| (input, pending, &answer[..]))
                    .collect();
                let signatures: Vec<Vec<u8>> = client
                    .finalize_batch(&triples)
                    .expect("a batch")
                    .into_iter()
                    .map(|signature| signature.expect("the request's").as_bytes().to_vec())
                    .collect();
                let pairs: Vec<_> = inputs
                    .iter()
                    .zip(&signatures)
                    .map(|(input, signature)| (input, &signature[..]))
                    .collect();
                assert_eq!(client.verify_batch(&pairs), vec![true; count], "{place}");
                // What the issuer saw is no part of what it is shown later.
                for (answer, signature) in answers.iter().zip(&signatures) {
                    assert_ne!(answer, signature, "{place}");
                }
            }
        }
    }
}

/// A backend whose public operation, in variable time, is never run.
#[derive(Clone)]
struct WithoutVartime(CpuBackend);

impl Backend for WithoutVartime {
    fn name(&self) -> &str {
        "without vartime"
    }

    fn kernel(&self) -> &str {
        self.0.kernel()
    }

    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        self.0.prepare_private(key)
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        self.0.prepare_multi_key(keys)
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        Ok(Box::new(Refusing(key.modulus_len())))
    }

    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.0.prepare_public_for_secrets(key)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        self.0.tester(bits)
    }
}

/// A key of so many bytes that nothing can be done with.
struct Refusing(usize);

impl Prepared for Refusing {
    fn modulus_len(&self) -> usize {
        self.0
    }

    fn kernel(&self) -> &str {
        "none"
    }

    fn lanes(&self) -> usize {
        1
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>, Error> {
        Err(Error::Unsupported {
            reason: "this operation takes variable time".to_owned(),
        })
    }
}

#[test]
fn factors_and_inverses_are_raised_by_an_operation_for_secrets() {
    let key = key(1024);
    let variant = Variant::PssRandomized;
    let client = BlindingKey::with_backend(key.public(), variant, &WithoutVartime(CpuBackend::auto()));
    let client = client.expect("long enough");
    let input = prepared(variant, b"message");
    let (blinded, pending) = client.blind(&input).expect("blinded");
    assert!(client.is_request(&input, &pending, &blinded).expect("no backend fails"));
    // Only a signature, which is public, is verified by the other.
    let answer = Issuer::new(&key, variant)
        .expect("long enough")
        .sign(&blinded)
        .expect("signed");
    assert!(client.finalize(&input, &pending, &answer).is_err());
    let other = BlindingKey::new(key.public(), variant).expect("long enough");
    assert!(other.finalize(&input, &pending, &answer).is_ok());
}

/// One message, blinded twice, is two requests; a variant without salt and prefix has one signature for both.
#[test]
fn requests_differ_and_signatures_are_as_random_as_the_variant_says() {
    let key = key(1024);
    for variant in Variant::ALL {
        let issuer = Issuer::new(&key, variant).expect("long enough");
        let client = BlindingKey::new(key.public(), variant).expect("long enough");
        let sign = || {
            let input = prepared(variant, b"once more");
            let (blinded, pending) = client.blind(&input).expect("blinded");
            let answer = issuer.sign(&blinded).expect("signed");
            let signature = client.finalize(&input, &pending, &answer).expect("right");
            (blinded, signature)
        };
        let [(one, first), (other, second)] = [sign(), sign()];
        assert_ne!(one, other, "{variant}");
        let is_one = variant == Variant::PsszeroDeterministic;
        assert_eq!(first == second, is_one, "{variant}");
    }
}

#[test]
fn an_issuer_refuses_what_is_no_blinded_message_and_signs_the_others() {
    let key = key(1024);
    let (k, n) = (key.modulus_len(), BigUint::from_bytes_be(key.public().n()));
    let issuer = Issuer::new(&key, Variant::PssRandomized).expect("long enough");
    let number = |number: &BigUint| fixed(number, key.public());
    let inputs = [
        number(&BigUint::ZERO),
        vec![],
        number(&BigUint::from(1u8)),
        number(&n),
        number(&(&n - 1u8)),
        vec![0; k - 1],
        number(&(&n + 1u8)),
        vec![0xff; k],
        vec![0; k + 1],
        number(&BigUint::from(2u8)),
    ];
    let all: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let results = issuer.sign_batch(&all).expect("a batch");
    let e = BigUint::from_bytes_be(key.public().e());
    for (place, (input, result)) in inputs.iter().zip(results).enumerate() {
        let alone = issuer.sign(input);
        match (input.len() == k, place) {
            (false, _) => {
                let expected = |result: &Result<_, BlindError>| {
                    matches!(result, Err(BlindError::UnexpectedInputSize { got, expected, .. })
                        if (*got, *expected) == (input.len(), k))
                };
                assert!(expected(&result) && expected(&alone), "{place}: {result:?}");
            }
            (true, 3 | 6 | 7) => {
                assert!(matches!(result, Err(BlindError::OutOfRange)), "{place}");
                assert!(matches!(alone, Err(BlindError::OutOfRange)), "{place}");
            }
            _ => {
                let signed = result.expect("below the modulus");
                let power = BigUint::from_bytes_be(&signed).modpow(&e, &n);
                assert_eq!(power, BigUint::from_bytes_be(input), "{place}");
                assert_eq!(alone.expect("below the modulus"), signed);
            }
        }
    }
}

#[test]
fn factors_at_their_edges() {
    let key = key(1024);
    let n = BigUint::from_bytes_be(key.public().n());
    let p = BigUint::from_bytes_be(key.p());
    let variant = Variant::PssDeterministic;
    let issuer = Issuer::new(&key, variant).expect("long enough");
    let client = BlindingKey::new(key.public(), variant).expect("long enough");
    let input = prepared(variant, b"message");
    let blind = |factor: &[u8]| client.blind_with_factor(&mut SystemRng, &input, factor);
    for wrong in [BigUint::ZERO, p.clone(), &n - &p, &p * 2u8, n.clone(), &n + 1u8] {
        let refused = blind(&fixed(&wrong, key.public()));
        assert!(matches!(refused, Err(BlindError::Blinding)), "{wrong}");
    }
    for len in [0, 1, 127, 129] {
        let refused = blind(&vec![1; len]);
        assert!(matches!(refused, Err(BlindError::UnexpectedInputSize { got, .. }) if got == len));
    }
    for right in [BigUint::from(1u8), BigUint::from(2u8), &n - 1u8, &n - 2u8] {
        let (blinded, pending) = blind(&fixed(&right, key.public())).expect("it has an inverse");
        let answer = issuer.sign(&blinded).expect("signed");
        let signature = client.finalize(&input, &pending, &answer).expect("right");
        assert!(client.verify(&input, signature.as_bytes()), "{right}");
    }
}

/// The product of the first primes has a factor in common with nearly every number.
#[test]
fn a_key_of_small_factors_blinds_nothing() {
    let mut n = BigUint::from(1u8);
    for factor in (3u32..).step_by(2) {
        n *= factor;
        if n.bits() >= 1024 {
            break;
        }
    }
    let key = PublicKey::new(&n.to_bytes_be(), &[3]).expect("odd, and of a size that is supported");
    let client = BlindingKey::new(&key, Variant::PssRandomized).expect("long enough");
    let inputs: Vec<_> = (0..9).map(|i| prepared(Variant::PssRandomized, &[i])).collect();
    let refused = client.blind_batch(&inputs.iter().collect::<Vec<_>>());
    assert!(matches!(refused, Err(BlindError::InvalidInput)));
}

#[test]
fn what_is_not_the_answer_of_a_request_gives_no_signature() {
    let (key, other) = (key(1024), super::key_of_stream(1024, 1));
    let n = BigUint::from_bytes_be(key.public().n());
    for variant in Variant::ALL {
        let issuer = Issuer::new(&key, variant).expect("long enough");
        let client = BlindingKey::new(key.public(), variant).expect("long enough");
        let input = prepared(variant, b"message");
        let (blinded, pending) = client.blind(&input).expect("blinded");
        let (blinded_again, pending_again) = client.blind(&input).expect("blinded");
        let answer = issuer.sign(&blinded).expect("signed");
        let invalid = |pending: &Pending, answer: &[u8]| {
            let result = client.finalize(&input, pending, answer);
            assert!(
                matches!(result, Err(BlindError::InvalidSignature)),
                "{variant}: {result:?}"
            );
        };
        invalid(&pending_again, &answer);
        invalid(&pending, &issuer.sign(&blinded_again).expect("signed"));
        invalid(&pending, &blinded);
        invalid(&pending, &vec![0; answer.len()]);
        invalid(&pending, &vec![0xff; answer.len()]);
        let number = BigUint::from_bytes_be(&answer);
        invalid(&pending, &fixed(&(&n - &number), key.public()));
        if (&number + &n).bits() <= 1024 {
            invalid(&pending, &fixed(&(&number + &n), key.public()));
        }
        for bit in [0, 1, 511, 1022, 1023] {
            let mut wrong = answer.clone();
            wrong[bit / 8] ^= 0x80 >> (bit % 8);
            invalid(&pending, &wrong);
        }
        for wrong in [&answer[1..], &[&[0], &answer[..]].concat(), &[]] {
            let result = client.finalize(&input, &pending, wrong);
            assert!(matches!(result, Err(BlindError::UnexpectedInputSize { .. })));
        }
        // Another message, another prefix, another key, another variant.
        let another = InputMessage::with_prefix(variant, input.prefix(), b"massage").expect("fits");
        let result = client.finalize(&another, &pending, &answer);
        assert!(matches!(result, Err(BlindError::InvalidSignature)));
        if variant.is_randomized() {
            let result = client.finalize(&prepared(variant, b"message"), &pending, &answer);
            assert!(matches!(result, Err(BlindError::State { .. })));
        }
        let of_other = BlindingKey::new(other.public(), variant).expect("long enough");
        let result = of_other.finalize(&input, &pending, &answer);
        assert!(matches!(result, Err(BlindError::State { .. })));
        for wrong in Variant::ALL.into_iter().filter(|other| *other != variant) {
            let client = BlindingKey::new(key.public(), wrong).expect("long enough");
            assert!(matches!(client.blind(&input), Err(BlindError::State { .. })));
            let result = client.finalize(&input, &pending, &answer);
            assert!(matches!(result, Err(BlindError::State { .. })));
        }
        // In a batch the others are not harmed.
        let results = client
            .finalize_batch(&[
                (&input, &pending, &answer[1..]),
                (&input, &pending, &answer),
                (&input, &pending_again, &answer),
            ])
            .expect("a batch");
        assert!(results[0].is_err() && results[1].is_ok() && results[2].is_err());
        let signature = results.into_iter().nth(1).and_then(Result::ok).expect("right");
        let wrong = Variant::ALL
            .into_iter()
            .find(|other| *other != variant && other.is_randomized() == variant.is_randomized())
            .expect("one with the other salt");
        let of_wrong = InputMessage::with_prefix(wrong, input.prefix(), b"message").expect("fits");
        assert!(client.verify(&input, signature.as_bytes()));
        assert!(!client.verify(&of_wrong, signature.as_bytes()));
        assert!(!client.verify(&another, signature.as_bytes()));
        let plain = VerifyingKey::new(key.public(), wrong.scheme()).expect("long enough");
        let message = [input.prefix(), b"message"].concat();
        assert!(!plain.verify(&message, signature.as_bytes()), "the other salt");
    }
}

#[test]
fn keys_are_long_enough_or_refused() {
    for (bits, variant, fits) in [
        (776, Variant::PssRandomized, false),
        (784, Variant::PssRandomized, true),
        (392, Variant::PsszeroRandomized, false),
        (400, Variant::PsszeroRandomized, true),
    ] {
        let key = key(bits);
        let issuer = Issuer::new(&key, variant);
        let client = BlindingKey::new(key.public(), variant);
        assert_eq!(issuer.is_ok(), fits, "{bits}");
        match client {
            Ok(_) => assert!(fits, "{bits}"),
            Err(BlindError::Rsa(Error::Scheme { .. })) => assert!(!fits, "{bits}"),
            Err(error) => panic!("{bits}: {error}"),
        }
    }
}

#[test]
fn prefixes_have_their_length() {
    for variant in Variant::ALL {
        let right = if variant.is_randomized() { PREFIX_LEN } else { 0 };
        for len in [0, 1, 31, 32, 33] {
            let message = InputMessage::with_prefix(variant, &vec![1; len], b"message");
            assert_eq!(message.is_ok(), len == right, "{variant} {len}");
            let read = InputMessage::read(variant, &vec![1; len], &b"message"[..]);
            assert_eq!(read.is_ok(), len == right, "{variant} {len}");
            if let (Ok(message), Ok(read)) = (message, read) {
                let read = read.expect("it is memory");
                assert_eq!(message.digest(), read.digest());
                assert_eq!(message.prefix(), read.prefix());
            }
        }
    }
}

fn pending(variant: Variant, seed: u8) -> (PublicKey, Pending) {
    let key = super::key_of_stream(1024, u64::from(seed));
    let client = BlindingKey::new(key.public(), variant).expect("long enough");
    let (_, pending) = client.blind(&prepared(variant, b"")).expect("blinded");
    (key.public().clone(), pending)
}

#[test]
fn states_are_read_again_whole_or_not_at_all() {
    for variant in Variant::ALL {
        let (key, pending) = pending(variant, 0);
        let bytes = pending.encode();
        assert!(bytes.len() <= Pending::max_encoded_len(key.modulus_len()));
        let read = Pending::decode(&bytes, &key).expect("it is whole");
        assert_eq!(read.encode(), bytes);
        assert_eq!((read.variant(), read.prefix()), (variant, pending.prefix()));
        for len in 0..bytes.len() {
            assert!(Pending::decode(&bytes[..len], &key).is_err(), "{len}");
        }
        assert!(Pending::decode(&[&bytes[..], &[0]].concat(), &key).is_err());
        let mut above = bytes.clone();
        let at = above.len() - key.modulus_len();
        above[at..].copy_from_slice(key.n());
        assert!(Pending::decode(&above, &key).is_err());
        let other = super::key_of_stream(1024, 1);
        let refused = Pending::decode(&bytes, other.public()).expect_err("of another key");
        assert!(refused.to_string().contains("another key"), "{refused}");
        assert!(!format!("{pending:?}").contains("inverse"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any message, any factor, any variant: the parts fit together, and the model says the same.
    #[test]
    fn the_model_agrees(
        message in prop::collection::vec(any::<u8>(), 0..200),
        prefix in any::<[u8; PREFIX_LEN]>(),
        factor in prop::collection::vec(any::<u8>(), 128),
        variant in prop::sample::select(Variant::ALL.to_vec()),
        salt in any::<[u8; 32]>(),
    ) {
        let key = key(1024);
        let n = BigUint::from_bytes_be(key.public().n());
        let e = BigUint::from_bytes_be(key.public().e());
        let factor = BigUint::from_bytes_be(&factor) % &n;
        prop_assume!(factor != BigUint::ZERO);
        let prefix: &[u8] = if variant.is_randomized() { &prefix } else { &[] };
        let input = InputMessage::with_prefix(variant, prefix, &message).expect("fits");
        let client = BlindingKey::new(key.public(), variant).expect("long enough");
        let salts = || InsecureStudySeed::new(salt).stream(0);
        let (blinded, pending) = client
            .blind_with_factor(&mut salts(), &input, &fixed(&factor, key.public()))
            .expect("blinded");
        let encoded = variant.scheme().encode(1024, input.digest(), &mut salts()).expect("encoded");
        let expected = BigUint::from_bytes_be(&encoded) * factor.modpow(&e, &n) % &n;
        prop_assert_eq!(BigUint::from_bytes_be(&blinded), expected);
        let answer = Issuer::new(&key, variant).expect("long enough").sign(&blinded).expect("signed");
        let signature = client.finalize(&input, &pending, &answer).expect("right");
        let power = BigUint::from_bytes_be(signature.as_bytes()).modpow(&e, &n);
        prop_assert_eq!(power, BigUint::from_bytes_be(&encoded));
    }

    /// Whatever a file holds, it is read or refused; what is read is what was written.
    #[test]
    fn damaged_states_are_read_or_refused(place in any::<prop::sample::Index>(), bit in 0u8..8, seed in 0u8..2) {
        let (key, pending) = pending(Variant::PssRandomized, seed);
        let mut bytes = pending.encode();
        let place = place.index(bytes.len());
        bytes[place] ^= 1u8 << bit;
        if let Ok(read) = Pending::decode(&bytes, &key) {
            prop_assert_eq!(read.encode(), bytes);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (key, _) = pending(Variant::PssRandomized, 0);
        prop_assert!(Pending::decode(&bytes, &key).is_err());
    }
}
