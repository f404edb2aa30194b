//! Schemes: every hash and every kernel, lengths at their edges, and what must not be accepted.

use crate::{fixed_keys, kernels::backends};
use num_bigint::BigUint;
use proptest::prelude::*;
use rsalab_rsa::{
    Backend, CpuBackend, Error, PrivateKey, PublicKey, Status,
    encryption::{DecryptionKey, EncryptionKey},
    hash::Hash,
    random::InsecureStudySeed,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
    signing::{Signer, SigningKey, Verifier, VerifyingKey},
};
use signature::{Keypair, RandomizedSigner, SignatureEncoding, Signer as _};

fn key(bits: usize) -> PrivateKey {
    fixed_keys::key(9, bits as u64, bits)
}

fn signature_schemes(hash: Hash) -> [SignatureScheme; 5] {
    let pss = |mgf_hash, salt_len| {
        SignatureScheme::Pss(Pss {
            hash,
            mgf_hash,
            salt_len,
        })
    };
    [
        SignatureScheme::Pkcs1v15(hash),
        pss(hash, SaltLen::Digest),
        pss(Hash::Sha3_256, SaltLen::Max),
        pss(hash, SaltLen::Bytes(0)),
        pss(Hash::Sha224, SaltLen::Bytes(11)),
    ]
}

#[test]
fn what_is_signed_is_verified_with_every_hash_on_every_kernel() {
    let key = key(1032);
    for backend in backends() {
        // SHAKE, which takes no other parameters than its own, is in shake.rs.
        let signs = |hash: &Hash| !hash.is_broken() && !hash.is_xof();
        for hash in Hash::ALL.iter().copied().filter(signs) {
            for scheme in signature_schemes(hash) {
                let place = format!("{scheme:?} on {}", backend.kernel());
                // A digest of 64 bytes and a salt of as many take more than a modulus of 129.
                let is_salted = matches!(
                    scheme,
                    SignatureScheme::Pss(Pss {
                        salt_len: SaltLen::Digest,
                        ..
                    })
                );
                let is_too_long = is_salted && hash.digest_len() == 64;
                let signing = match SigningKey::with_backend(&key, scheme, &backend) {
                    Ok(signing) if !is_too_long => signing,
                    Err(Error::Scheme { .. }) if is_too_long => continue,
                    other => panic!("{place}: {:?}", other.err()),
                };
                let verifying = signing.verifying_key();
                let messages: Vec<Vec<u8>> = (0..9).map(|len| vec![len as u8; len]).collect();
                let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                let signatures = signing.sign_batch(&messages).expect("signed");
                let pairs: Vec<_> = messages
                    .iter()
                    .zip(&signatures)
                    .map(|(message, signature)| (*message, signature.as_bytes()))
                    .collect();
                assert_eq!(verifying.verify_batch(&pairs), [true; 9], "{place}");
                // Of another message, one bit off, cut, longer, with n added, nothing at all.
                let (message, right) = pairs[3];
                assert!(!verifying.verify(pairs[4].0, right), "{place}");
                for bit in [0, 5, 511, 8 * right.len() - 1] {
                    let mut wrong = right.to_vec();
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    assert!(!verifying.verify(message, &wrong), "{place}: bit {bit}");
                }
                let and_zero = [right, &[0]].concat();
                let zero_and = [&[0], right].concat();
                let plus_n = BigUint::from_bytes_be(right) + BigUint::from_bytes_be(key.public().n());
                for wrong in [
                    &right[1..],
                    &right[..right.len() - 1],
                    &and_zero,
                    &zero_and,
                    &plus_n.to_bytes_be(),
                    &[],
                ] {
                    assert!(!verifying.verify(message, wrong), "{place}: {} bytes", wrong.len());
                }
            }
        }
    }
}

#[test]
fn verification_takes_the_salt_that_it_is_told_to() {
    let (key, backend) = (key(1024), CpuBackend::auto());
    let scheme = |salt_len| {
        SignatureScheme::Pss(Pss {
            salt_len,
            ..Pss::new(Hash::Sha256)
        })
    };
    let most = 128 - 32 - 2;
    let signed = |salt_len| {
        SigningKey::with_backend(&key, scheme(salt_len), &backend)
            .and_then(|key| key.sign(b"salt"))
            .expect("signed")
    };
    for (ours, bytes) in [
        (SaltLen::Bytes(0), 0),
        (SaltLen::Digest, 32),
        (SaltLen::Bytes(33), 33),
        (SaltLen::Max, most),
    ] {
        let signature = signed(ours);
        for (theirs, takes) in [
            (SaltLen::Any, true),
            (SaltLen::Digest, bytes == 32),
            (SaltLen::Max, bytes == most),
            (SaltLen::Bytes(bytes), true),
            (SaltLen::Bytes(bytes + 1), false),
        ] {
            if theirs == SaltLen::Bytes(most + 1) {
                assert!(VerifyingKey::with_backend(key.public(), scheme(theirs), &backend).is_err());
                continue;
            }
            let verifying = VerifyingKey::with_backend(key.public(), scheme(theirs), &backend).expect("it fits");
            assert_eq!(
                verifying.verify(b"salt", signature.as_bytes()),
                takes,
                "{ours:?}, {theirs:?}"
            );
        }
    }
    let refused = |salt_len| SigningKey::with_backend(&key, scheme(salt_len), &backend).is_err();
    assert!(refused(SaltLen::Any) && refused(SaltLen::Bytes(most + 1)) && refused(SaltLen::Bytes(usize::MAX)));
}

#[test]
fn an_encoding_of_pss_has_its_bits_where_the_modulus_leaves_them() {
    // 1 bit to 8 bits above whole bytes: the encoding is a byte shorter, or has one to seven bits of zeros in front.
    for bits in [1018, 1020, 1022, 1024, 1026, 1030] {
        let (key, backend) = (key(bits), CpuBackend::auto());
        let signing =
            SigningKey::with_backend(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)), &backend).expect("it fits");
        for message in 0..20_u8 {
            let signature = signing.sign(&[message]).expect("signed");
            assert!(
                signing.verifying_key().verify(&[message], signature.as_bytes()),
                "{bits}"
            );
            let [n, e] = [key.public().n(), key.public().e()].map(BigUint::from_bytes_be);
            let power = BigUint::from_bytes_be(signature.as_bytes()).modpow(&e, &n);
            assert!(power.bits() < bits as u64, "{bits}");
            assert_eq!(&power % 256_u32, BigUint::from(0xbc_u32));
        }
    }
}

#[test]
fn sha1_signs_nothing_but_is_verified() {
    let (key, backend) = (key(1024), CpuBackend::auto());
    let sha1 = |scheme| {
        SigningKey::with_backend(&key, scheme, &backend)
            .err()
            .expect("it is refused")
            .to_string()
    };
    let mgf1_only = Pss {
        mgf_hash: Hash::Sha1,
        ..Pss::new(Hash::Sha256)
    };
    for scheme in [
        SignatureScheme::Pkcs1v15(Hash::Sha1),
        SignatureScheme::Pss(Pss::new(Hash::Sha1)),
        SignatureScheme::Pss(mgf1_only),
    ] {
        assert!(sha1(scheme).contains("SHA-1"));
        assert!(VerifyingKey::with_backend(key.public(), scheme, &backend).is_ok());
    }
}

#[test]
fn signatures_of_pkcs1v15_are_those_of_the_standard_in_batches_of_every_size() {
    let key = key(768);
    let k = key.modulus_len();
    let [n, d] = [key.public().n(), key.d()].map(BigUint::from_bytes_be);
    for backend in backends() {
        let private = backend.prepare_private(&key).expect("prepares");
        let public = backend.prepare_public(key.public()).expect("prepares");
        let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let mut rng = InsecureStudySeed::new([1; 32]).stream(0);
        let mut signer = Signer::new(private.runner().expect("scratch"), 768, scheme).expect("it fits");
        let mut verifier = Verifier::new(public.runner().expect("scratch"), 768, scheme).expect("it fits");
        for count in [0_usize, 1, 7, 8, 9, 33] {
            let digests: Vec<u8> = (0..count)
                .flat_map(|item| Hash::Sha256.digest(&[item as u8]).to_vec())
                .collect();
            let mut signatures = vec![0; count * k];
            let mut status = vec![Status::OutOfRange; count];
            signer
                .sign(&digests, &mut signatures, &mut status, &mut rng)
                .expect("lengths fit");
            assert!(status.iter().all(|status| *status == Status::Done));
            // By hand, from RFC 8017: 00 01 FF … 00, the DigestInfo of SHA-256, the digest.
            for (digest, signature) in digests.chunks(32).zip(signatures.chunks(k)) {
                let info = hex::decode("3031300d060960864801650304020105000420").expect("hex");
                let ones = vec![0xff; k - 3 - info.len() - digest.len()];
                let encoded = [&[0, 1], &ones[..], &[0], &info, digest].concat();
                let expected = BigUint::from_bytes_be(&encoded).modpow(&d, &n);
                assert_eq!(BigUint::from_bytes_be(signature), expected);
            }
            let mut expected = vec![true; count];
            for place in (2..count).step_by(3) {
                match place % 2 {
                    0 => signatures[place * k + place] ^= 1,
                    // Not below the modulus.
                    _ => signatures[place * k..][..k].fill(0xff),
                }
                expected[place] = false;
            }
            let mut is_valid = vec![false; count];
            verifier
                .verify(&digests, &signatures, &mut is_valid)
                .expect("lengths fit");
            assert_eq!(is_valid, expected);
        }
        let mut status = [Status::Done];
        assert!(signer.sign(&[0; 31], &mut vec![0; k], &mut status, &mut rng).is_err());
        assert!(verifier.verify(&[0; 32], &vec![0; k - 1], &mut [false]).is_err());
        assert!(verifier.verify(&[0; 32], &vec![0; 2 * k], &mut [false; 2]).is_err());
    }
}

fn encryption_schemes() -> Vec<EncryptionScheme> {
    let mut schemes = vec![EncryptionScheme::Pkcs1v15];
    for hash in Hash::ALL.iter().copied().filter(|hash| !hash.is_xof()) {
        schemes.push(EncryptionScheme::Oaep(Oaep::new(hash)));
    }
    schemes.push(EncryptionScheme::Oaep(Oaep {
        hash: Hash::Sha256,
        mgf_hash: Hash::Sha1,
        label: b"a label".to_vec(),
    }));
    schemes
}

#[test]
fn what_is_encrypted_is_decrypted_up_to_the_longest_message() {
    let key = key(1064);
    for backend in backends() {
        for scheme in encryption_schemes() {
            let place = format!("{scheme:?} on {}", backend.kernel());
            let most = scheme.max_len(key.bits()).expect("it fits");
            let encryption = EncryptionKey::with_backend(key.public(), scheme.clone(), &backend).expect("prepares");
            let decryption = DecryptionKey::with_backend(&key, &scheme, &backend).expect("prepares");
            let messages: Vec<Vec<u8>> = [0, 1, most / 2, most - 1, most]
                .into_iter()
                .map(|len| vec![0; len])
                .collect();
            let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let ciphertexts = encryption.encrypt_batch(&messages).expect("encrypted");
            let ciphertexts: Vec<&[u8]> = ciphertexts.iter().map(Vec::as_slice).collect();
            let back = decryption.decrypt_batch(&ciphertexts).expect("decrypted");
            for (message, back) in messages.iter().zip(back) {
                assert_eq!(&**back.expect(&place), *message, "{place}");
            }
            assert!(matches!(
                encryption.encrypt(&vec![0; most + 1]),
                Err(Error::Scheme { .. })
            ));
            let whole = ciphertexts[1];
            for wrong in [
                &whole[1..],
                &[&[0], whole].concat(),
                &[],
                key.public().n(),
                &vec![0xff; whole.len()],
            ] {
                assert_eq!(decryption.decrypt(wrong).expect("randomness"), None, "{place}");
            }
        }
    }
}

#[test]
fn oaep_tells_nothing_but_that_a_ciphertext_is_wrong() {
    let (key, backend) = (key(1024), CpuBackend::auto());
    let oaep = Oaep::new(Hash::Sha256);
    let scheme = EncryptionScheme::Oaep(oaep.clone());
    let decryption = DecryptionKey::with_backend(&key, &scheme, &backend).expect("prepares");
    let public = backend.prepare_public(key.public()).expect("prepares");
    let encrypted = |encoding: &[u8]| {
        let mut ciphertext = vec![0; 128];
        let mut status = [Status::Done];
        let mut runner = public.runner().expect("scratch");
        runner.run(encoding, &mut ciphertext, &mut status).expect("lengths fit");
        ciphertext
    };
    // An encoding by hand (RFC 8017, section 7.1.1), for each thing that can be wrong with one.
    let encode = |first: u8, label: &[u8], padding: &[u8]| {
        let mask = |seed: &[u8], target: &mut [u8]| {
            for (counter, chunk) in target.chunks_mut(32).enumerate() {
                let mask = Hash::Sha256.digest_parts(&[seed, &(counter as u32).to_be_bytes()]);
                chunk.iter_mut().zip(mask.iter()).for_each(|(byte, mask)| *byte ^= mask);
            }
        };
        let mut seed = [7; 32];
        let mut block = [&Hash::Sha256.digest(label)[..], padding].concat();
        assert_eq!(block.len(), 95);
        mask(&seed, &mut block);
        mask(&block, &mut seed);
        let mut encoding = [&[first], &seed[..], &block].concat();
        encoding[0] = first;
        encoding
    };
    let padded = |start: &[u8], message: &[u8]| {
        let mut padding = start.to_vec();
        padding.resize(63 - message.len(), 0);
        [&padding, message].concat()
    };
    let opened = |encoding: &[u8]| {
        let ciphertext = encrypted(encoding);
        decryption
            .decrypt(&ciphertext)
            .expect("randomness")
            .map(|message| message.to_vec())
    };
    assert_eq!(opened(&encode(0, b"", &padded(&[], b"\x01yes"))), Some(b"yes".to_vec()));
    assert_eq!(
        opened(&encode(0, b"", &padded(&[1], b"yes"))).map(|message| message.len()),
        Some(62)
    );
    assert_eq!(opened(&encode(0, b"", &padded(&[], &[1]))), Some(vec![]));
    for wrong in [
        encode(1, b"", &padded(&[], b"\x01yes")),
        encode(0, b"other", &padded(&[], b"\x01yes")),
        encode(0, b"", &padded(&[2], b"\x01yes")),
        encode(0, b"", &padded(&[0, 0, 255], b"\x01yes")),
        encode(0, b"", &padded(&[], b"\x02yes")),
        encode(0, b"", &[0; 63]),
    ] {
        assert_eq!(opened(&wrong), None);
    }
}

#[test]
fn pkcs1v15_gives_noise_that_depends_on_key_and_ciphertext_alone() {
    let (key, backend) = (key(1024), CpuBackend::auto());
    let decryption = DecryptionKey::with_backend(&key, &EncryptionScheme::Pkcs1v15, &backend).expect("prepares");
    let public = backend.prepare_public(key.public()).expect("prepares");
    let opened = |encoding: &[u8]| {
        let mut ciphertext = vec![0; 128];
        public
            .runner()
            .expect("scratch")
            .run(encoding, &mut ciphertext, &mut [Status::Done])
            .expect("lengths fit");
        let [once, again] = [(); 2].map(|()| decryption.decrypt(&ciphertext).expect("randomness").expect("always"));
        assert_eq!(once, again);
        once.to_vec()
    };
    let encoding = |first: u8, second: u8, padding: usize, zero: u8| {
        let mut encoding = vec![0x55; 128];
        encoding[0] = first;
        encoding[1] = second;
        encoding[2 + padding] = zero;
        encoding
    };
    assert_eq!(opened(&encoding(0, 2, 8, 0)), [0x55; 117]);
    assert_eq!(opened(&encoding(0, 2, 125, 0)), [0; 0]);
    let mut lengths = Vec::new();
    for wrong in [
        encoding(1, 2, 8, 0),
        encoding(0, 1, 8, 0),
        encoding(0, 2, 7, 0),
        encoding(0, 2, 0, 0),
        encoding(0, 2, 8, 1),
    ] {
        let noise = opened(&wrong);
        assert!(noise.len() <= 117);
        assert!(noise.is_empty() || !wrong.ends_with(&noise));
        lengths.push(noise.len());
    }
    lengths.dedup();
    assert!(lengths.len() > 1, "{lengths:?}");
}

#[test]
fn keys_that_are_too_short_say_how_long_they_must_be() {
    let (key, backend) = (key(512), CpuBackend::auto());
    let reason = |error: Option<Error>| error.expect("it is too short").to_string();
    let sha512 = SigningKey::with_backend(&key, SignatureScheme::Pkcs1v15(Hash::Sha512), &backend);
    assert_eq!(
        reason(sha512.err()),
        "a key of 512 bits is too short for this scheme, which takes 745 bits at least"
    );
    let pss = SigningKey::with_backend(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)), &backend);
    assert_eq!(
        reason(pss.err()),
        "a key of 512 bits is too short for this scheme, which takes 522 bits at least"
    );
    let oaep = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
    assert_eq!(
        reason(EncryptionKey::with_backend(key.public(), oaep, &backend).err()),
        "a key of 512 bits is too short for this scheme, which takes 521 bits at least"
    );
}

#[test]
fn the_traits_of_the_ecosystem_sign_and_verify() {
    let (key, backend) = (key(1024), CpuBackend::auto());
    let signing =
        SigningKey::with_backend(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)), &backend).expect("it fits");
    let verifying: VerifyingKey = Keypair::verifying_key(&signing);
    let signature = signing.try_sign(b"trait").expect("signed");
    let bytes = signature.to_bytes();
    assert_eq!(bytes.len(), 128);
    let back = (&*bytes).try_into().expect("any bytes");
    assert!(verifying.verify(b"trait", signature.as_bytes()));
    signature::Verifier::verify(&verifying, b"trait", &back).expect("right");
    assert!(signature::Verifier::verify(&verifying, b"other", &back).is_err());
    let rng = || InsecureStudySeed::new([3; 32]).stream(7);
    let again = [(); 2].map(|()| signing.try_sign_with_rng(&mut rng(), b"trait").expect("signed"));
    assert_eq!(again[0], again[1], "the salt comes from the generator");
    let _ = PublicKey::clone(key.public());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_message_comes_back(message in proptest::collection::vec(any::<u8>(), 0..62), label in proptest::collection::vec(any::<u8>(), 0..40)) {
        let (key, backend) = (shared(), CpuBackend::auto());
        for scheme in [
            EncryptionScheme::Pkcs1v15,
            EncryptionScheme::Oaep(Oaep { hash: Hash::Sha256, mgf_hash: Hash::Sha512, label }),
        ] {
            let ciphertext = EncryptionKey::with_backend(key.public(), scheme.clone(), &backend)
                .and_then(|key| key.encrypt(&message))
                .expect("encrypted");
            let back = DecryptionKey::with_backend(key, &scheme, &backend)
                .and_then(|key| key.decrypt(&ciphertext))
                .expect("randomness");
            prop_assert_eq!(back.map(|message| message.to_vec()), Some(message.clone()));
        }
    }

    #[test]
    fn noise_opens_to_nothing(ciphertext in proptest::collection::vec(any::<u8>(), 128)) {
        let (key, backend) = (shared(), CpuBackend::auto());
        let scheme = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
        let opened = DecryptionKey::with_backend(key, &scheme, &backend).and_then(|key| key.decrypt(&ciphertext));
        prop_assert!(opened.expect("randomness").is_none());
    }
}

fn shared() -> &'static PrivateKey {
    static KEY: std::sync::LazyLock<PrivateKey> = std::sync::LazyLock::new(|| key(1024));
    &KEY
}
