//! RFC 9474, appendix A: a vector for each variant. `rfc9474.txt` has the numbers and says where they come from.

use std::{collections::BTreeMap, convert::Infallible};

use rand_core::{TryCryptoRng, TryRng};
use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, PrivateKey, Status,
    blind::{BlindingKey, InputMessage, Issuer, Variant},
    signing::VerifyingKey,
};

/// The fields of a vector, those of the key among them.
type Vector<'a> = BTreeMap<&'a str, Vec<u8>>;

/// The vectors by their names.
fn vectors(text: &str) -> BTreeMap<&str, Vector<'_>> {
    let mut key = Vector::new();
    let mut vectors = BTreeMap::new();
    let mut name = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        if let Some(of) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name = Some(of);
            vectors.insert(of, key.clone());
        } else if let Some((field, value)) = line.split_once('=') {
            let bytes = hex::decode(value.trim()).expect("hexadecimal digits");
            let vector = name.map_or(&mut key, |name| vectors.get_mut(name).expect("inserted"));
            assert_eq!(vector.insert(field.trim(), bytes), None, "{field} comes once");
        } else {
            assert_eq!(line, "", "a line is a comment, a name or a field");
        }
    }
    vectors
}

/// A generator that gives bytes once, and in one piece.
struct Given(Option<Vec<u8>>);

impl TryRng for Given {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        unreachable!("a salt is bytes")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        unreachable!("a salt is bytes")
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        bytes.copy_from_slice(&self.0.take().expect("one salt is asked for"));
        Ok(())
    }
}

impl TryCryptoRng for Given {}

#[test]
fn the_vectors_of_the_rfc() {
    let vectors = vectors(include_str!("rfc9474.txt"));
    assert_eq!(vectors.len(), Variant::ALL.len());
    for variant in Variant::ALL {
        check(&vectors[variant.name()], variant);
    }
}

fn check(vector: &Vector<'_>, variant: Variant) {
    let of = |name: &str| vector[name].clone();
    let key = PrivateKey::from_primes(&of("p"), &of("q"), &of("e")).expect("a key of two primes");
    assert_eq!(key.public().n(), of("n"), "{variant}");
    let (message, prefix, salt) = (of("msg"), of("msg_prefix"), of("salt"));
    assert_eq!(!prefix.is_empty(), variant.is_randomized());

    let client = BlindingKey::new(key.public(), variant).expect("the key is long enough");
    let input = InputMessage::with_prefix(variant, &prefix, &message).expect("the prefix fits");
    let inverse = of("inv");
    let factor = inverse_of(&inverse, key.public().n());
    let mut rng = Given(Some(salt));
    let (blinded, pending) = client.blind_with_factor(&mut rng, &input, &factor).expect("blinded");
    assert_eq!(blinded, of("blinded_msg"), "{variant}");
    assert!(pending.encode().ends_with(&inverse), "{variant}");
    assert_eq!(pending.prefix(), prefix);

    let issuer = Issuer::new(&key, variant).expect("the key is long enough");
    let blind_signature = issuer.sign(&blinded).expect("signed");
    assert_eq!(blind_signature, of("blind_sig"), "{variant}");

    let signature = client
        .finalize(&input, &pending, &blind_signature)
        .expect("it is the request's");
    assert_eq!(signature.as_bytes(), of("sig"), "{variant}");
    assert!(client.verify(&input, signature.as_bytes()));
    let plain = VerifyingKey::new(key.public(), variant.scheme()).expect("the key is long enough");
    assert!(plain.verify(&[prefix, message].concat(), signature.as_bytes()));

    // Where the RFC gives the encoding, it is what the signature comes to.
    let Some(expected) = vector.get("encoded_msg") else {
        return;
    };
    let public = CpuBackend::auto().prepare_public(key.public()).expect("prepares");
    let (mut encoding, mut status) = (vec![0; expected.len()], [Status::Fault]);
    let mut runner = public.runner().expect("scratch");
    runner
        .run(signature.as_bytes(), &mut encoding, &mut status)
        .expect("lengths fit");
    assert_eq!(encoding, *expected, "{variant}");
}

/// r of r^-1, by the model.
fn inverse_of(a: &[u8], n: &[u8]) -> Vec<u8> {
    use num_bigint::BigUint;
    let n = BigUint::from_bytes_be(n);
    let inverse = BigUint::from_bytes_be(a)
        .modinv(&n)
        .expect("it is coprime to the modulus");
    let bytes = inverse.to_bytes_be();
    let len = n.to_bytes_be().len();
    [vec![0; len - bytes.len()], bytes].concat()
}
