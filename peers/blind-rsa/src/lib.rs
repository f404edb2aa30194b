//! A key of ours in both implementations, and rounds between them: our client with their issuer, their client with our
//! issuer.
#![forbid(unsafe_code)]

use blind_rsa_signatures::{
    BlindSignature, DefaultRng, MessagePrepare, MessageRandomizer, PublicKey, SaltMode, SecretKey, Sha384, Signature,
    reexports::rsa::{
        RsaPrivateKey, RsaPublicKey,
        pkcs8::{DecodePrivateKey, DecodePublicKey},
    },
};
use rsalab_rsa::{
    PrivateKey,
    blind::{BlindingKey, InputMessage, Issuer, Variant},
    format::{Encoding, PrivateFormat, PublicFormat, encode_private, encode_public},
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};

/// A key that is the same each time, and insecure on purpose.
pub fn key(bits: usize, stream: u64) -> PrivateKey {
    let mut rng = InsecureStudySeed::new([22; 32]).stream(stream);
    generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
}

/// A key in both implementations, for one variant.
pub struct Both<S: SaltMode, M: MessagePrepare> {
    /// The variant.
    pub variant: Variant,
    /// Our issuer.
    pub issuer: Issuer,
    /// Our client.
    pub client: BlindingKey,
    /// Their issuer.
    pub their_issuer: SecretKey<Sha384, S, M>,
    /// Their client.
    pub their_client: PublicKey<Sha384, S, M>,
}

impl<S: SaltMode, M: MessagePrepare> Both<S, M> {
    /// A key of ours, handed over as PKCS#8 and SubjectPublicKeyInfo.
    pub fn new(key: &PrivateKey, variant: Variant) -> Self {
        let private = encode_private(key, PrivateFormat::Pkcs8, Encoding::Der);
        let public = encode_public(key.public(), PublicFormat::Spki, Encoding::Der);
        let mut their_private = RsaPrivateKey::from_pkcs8_der(&private).expect("a key");
        their_private.precompute().expect("a key of two primes");
        let their_public = RsaPublicKey::from_public_key_der(&public).expect("a key");
        Both {
            variant,
            issuer: Issuer::new(key, variant).expect("long enough"),
            client: BlindingKey::new(key.public(), variant).expect("long enough"),
            their_issuer: SecretKey::new(their_private),
            their_client: PublicKey::new(their_public),
        }
    }

    /// Our client, their issuer, their verification.
    pub fn forth(&self, messages: &[Vec<u8>]) {
        let inputs: Vec<InputMessage> = messages
            .iter()
            .map(|message| InputMessage::prepare(self.variant, message).expect("randomness"))
            .collect();
        let requests = self
            .client
            .blind_batch(&inputs.iter().collect::<Vec<_>>())
            .expect("blinded");
        let answers: Vec<BlindSignature> = requests
            .iter()
            .map(|(blinded, _)| self.their_issuer.blind_sign(blinded).expect("signed"))
            .collect();
        let all: Vec<_> = inputs
            .iter()
            .zip(requests.iter().zip(&answers))
            .map(|(input, ((_, pending), answer))| (input, pending, &answer.0[..]))
            .collect();
        let signatures = self.client.finalize_batch(&all).expect("a batch");
        for ((signature, input), message) in signatures.into_iter().zip(&inputs).zip(messages) {
            let signature = signature.expect("it is the request's");
            self.their_client
                .verify(
                    &Signature(signature.as_bytes().to_vec()),
                    input.prefix().try_into().ok().map(MessageRandomizer),
                    message,
                )
                .expect("they verify it");
        }
    }

    /// Their client, our issuer, our verification.
    pub fn back(&self, messages: &[Vec<u8>]) {
        let requests: Vec<_> = messages
            .iter()
            .map(|message| self.their_client.blind(&mut DefaultRng, message).expect("blinded"))
            .collect();
        let blinded: Vec<&[u8]> = requests.iter().map(|request| &request.blind_message.0[..]).collect();
        let answers = self.issuer.sign_batch(&blinded).expect("a batch");
        for ((answer, request), message) in answers.into_iter().zip(&requests).zip(messages) {
            let answer = BlindSignature(answer.expect("signed"));
            let signature = self
                .their_client
                .finalize(&answer, request, message)
                .expect("it is the request's");
            let prefix = request.msg_randomizer.map_or(vec![], |prefix| prefix.0.to_vec());
            let input = InputMessage::with_prefix(self.variant, &prefix, message).expect("fits");
            assert!(self.client.verify(&input, &signature.0), "{}", self.variant);
        }
    }

    /// So many rounds in each direction, in batches of every remainder.
    pub fn rounds(&self, count: usize, from: usize) {
        let messages: Vec<Vec<u8>> = (from..from + count)
            .map(|round| format!("{round}").repeat(round % 50).into_bytes())
            .collect();
        let mut rest = &messages[..];
        let mut size = 1;
        while !rest.is_empty() {
            let (batch, others) = rest.split_at(size.min(rest.len()));
            self.forth(batch);
            self.back(batch);
            (rest, size) = (others, size % 19 + 1);
        }
    }
}
