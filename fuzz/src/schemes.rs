//! Encodings that a private or a public operation may yield, whatever a stranger sent.

use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Error, Status,
    encryption::{Decryptor, Encryptor},
    hash::Hash,
    random::InsecureStudySeed,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
    signing::{Signer, Verifier, VerifyingKey},
};

use crate::input::Input;
use crate::seeds::{KEY_LEN, key};

/// An operation whose result is given: padding alone is tested, without the power.
struct Given<'a>(&'a [u8]);

impl BlockRunner for Given<'_> {
    fn run(&mut self, _: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        outputs.copy_from_slice(self.0);
        status.fill(Status::Done);
        Ok(())
    }
}

/// As many bytes as the key's modulus: the first of these, then zeros.
fn block(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0; KEY_LEN];
    let len = bytes.len().min(KEY_LEN);
    block[..len].copy_from_slice(&bytes[..len]);
    block
}

/// The encoding that a ciphertext decrypts to, for each scheme.
pub(crate) fn unpad(bytes: &[u8]) {
    let encoding = block(bytes);
    for scheme in [
        EncryptionScheme::Pkcs1v15,
        EncryptionScheme::Oaep(Oaep::new(Hash::Sha1)),
        EncryptionScheme::Oaep(Oaep::new(Hash::Sha256)),
    ] {
        let mut decryptor = Decryptor::new(Given(&encoding), key(), &scheme).expect("it has room");
        let (mut message, mut part) = (vec![0; KEY_LEN], [None]);
        decryptor
            .decrypt(&[7; KEY_LEN], &mut message, &mut part)
            .expect("lengths fit");
        // PKCS#1 v1.5 rejects by giving out something else.
        assert!(part[0].is_some() || scheme != EncryptionScheme::Pkcs1v15);
        assert!(part[0].clone().is_none_or(|part| part.end <= KEY_LEN));
    }
}

/// The encoding that a signature verifies to, for each scheme; and signatures of the wrong length.
pub(crate) fn verify(bytes: &[u8]) {
    let encoding = block(bytes);
    let digest = [0x5a; 32];
    for scheme in [
        SignatureScheme::Pkcs1v15(Hash::Sha256),
        SignatureScheme::Pss(Pss::new(Hash::Sha256)),
    ] {
        let bits = 8 * KEY_LEN;
        let mut verifier = Verifier::new(Given(&encoding), bits, scheme).expect("it has room");
        let mut is_valid = [false];
        verifier
            .verify(&digest, &[7; KEY_LEN], &mut is_valid)
            .expect("lengths fit");
        // Nobody finds an encoding of this digest but who made it a seed, and no seed is one.
        assert!(!is_valid[0]);
        let whole = VerifyingKey::new(key().public(), scheme).expect("it has room");
        assert!(!whole.verify(b"a message", bytes));
    }
}

/// The reason why a signature is refused, whatever it opens to: the bytes are the encoding that it has.
pub(crate) fn explain(bytes: &[u8]) {
    let mut encoding = block(bytes);
    encoding[0] = 0;
    let prepared = CpuBackend::auto().prepare_private(key()).expect("any key will do");
    let (mut signature, mut status) = (vec![0; KEY_LEN], [Status::Fault]);
    let mut runner = prepared.runner().expect("randomness");
    runner.run(&encoding, &mut signature, &mut status).expect("lengths fit");
    assert_eq!(status[0], Status::Done);
    for hash in [Hash::Sha256, Hash::Sha1, Hash::Sha3_256] {
        let digest = vec![0x5a; hash.digest_len()];
        for scheme in [
            SignatureScheme::Pkcs1v15(hash),
            SignatureScheme::Pss(Pss::new(hash)),
            SignatureScheme::Pss(Pss {
                salt_len: SaltLen::Any,
                ..Pss::new(hash)
            }),
        ] {
            let key = VerifyingKey::new(key().public(), scheme).expect("it has room");
            let is_valid = key.verify_digests(&[(&digest, &signature)])[0];
            let failure = key.failure_of_digest(&digest, &signature).expect("there is memory");
            assert_eq!(failure.is_none(), is_valid);
            assert!(failure.is_none_or(|failure| !failure.to_string().is_empty()));
        }
    }
}

/// An operation that changes nothing: what is encoded is decoded.
struct Unchanged;

impl BlockRunner for Unchanged {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        outputs.copy_from_slice(inputs);
        status.fill(Status::Done);
        Ok(())
    }
}

/// Each decoder of messages against its encoder: the bytes are a scheme, a label and a message, or a digest.
pub(crate) fn encode(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let (which, hash) = (input.choice(4), Hash::ALL[input.choice(Hash::ALL.len())]);
    let (mask, number) = (Hash::ALL[input.choice(Hash::ALL.len())], usize::from(input.byte()));
    let mut rng = InsecureStudySeed::new([0x66; 32]).stream(u64::from(input.byte()));
    let bits = 8 * KEY_LEN;
    if which < 2 {
        let scheme = match which {
            0 => EncryptionScheme::Pkcs1v15,
            _ => EncryptionScheme::Oaep(Oaep {
                hash,
                mgf_hash: mask,
                label: input.block().to_vec(),
            }),
        };
        let Ok(mut encryptor) = Encryptor::new(Unchanged, bits, scheme.clone()) else {
            return;
        };
        let (message, mut encoding) = (input.rest(), vec![0; KEY_LEN]);
        let is_taken = encryptor.encrypt(&[message], &mut encoding, &mut rng).is_ok();
        assert_eq!(is_taken, message.len() <= scheme.max_len(bits).expect("there is one"));
        if is_taken {
            let mut decryptor = Decryptor::new(Unchanged, key(), &scheme).expect("as the encoder");
            let (mut room, mut place) = (vec![0; KEY_LEN], [None]);
            decryptor
                .decrypt(&encoding, &mut room, &mut place)
                .expect("lengths fit");
            let place = place[0].clone().expect("what was encoded is decoded");
            assert_eq!(&room[place], message);
        }
        return;
    }
    let salt_len = match number {
        0 => SaltLen::Digest,
        1 => SaltLen::Max,
        bytes => SaltLen::Bytes(bytes - 2),
    };
    let pss = Pss {
        hash,
        mgf_hash: mask,
        salt_len,
    };
    let scheme = match which {
        2 => SignatureScheme::Pkcs1v15(hash),
        _ => SignatureScheme::Pss(pss),
    };
    let mut digest = input.rest().to_vec();
    digest.resize(hash.digest_len(), 0x5a);
    let Ok(mut signer) = Signer::new(Unchanged, bits, scheme) else {
        return;
    };
    let (mut encoding, mut status) = (vec![0; KEY_LEN], [Status::Fault]);
    signer
        .sign(&digest, &mut encoding, &mut status, &mut rng)
        .expect("lengths fit");
    let any = SignatureScheme::Pss(Pss {
        salt_len: SaltLen::Any,
        ..pss
    });
    // A salt of SHAKE has one length (RFC 8702).
    let has_any = which == 3 && !hash.is_xof() && !mask.is_xof();
    for scheme in [scheme, if has_any { any } else { scheme }] {
        let mut verifier = Verifier::new(Unchanged, bits, scheme).expect("as the encoder");
        let mut is_valid = [false];
        verifier.verify(&digest, &encoding, &mut is_valid).expect("lengths fit");
        assert!(is_valid[0], "what was encoded verifies");
        let mut other = digest.clone();
        other[number % hash.digest_len()] ^= 1;
        verifier.verify(&other, &encoding, &mut is_valid).expect("lengths fit");
        assert!(!is_valid[0], "another digest does not");
    }
}
