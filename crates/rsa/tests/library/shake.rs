//! RSASSA-PSS with SHAKE128 and SHAKE256 (RFC 8702): what is accepted, what is refused, and keys that are for it alone.
//! Its published vectors are in wycheproof.rs, the digests in hash.rs.

use crate::{fixed_keys, kernels::backends};
use der::{
    Encode,
    asn1::{AnyRef, BitStringRef, ObjectIdentifier},
};
use rsalab_rsa::{
    Backend, CpuBackend, Error, PrivateKey,
    encryption::{DecryptionKey, EncryptionKey},
    format::{
        Encoding, PrivateFormat, PublicFormat, Usage, encode_private_for, encode_public, encode_public_for,
        load_private, load_public,
    },
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};
use spki::{AlgorithmIdentifier, SubjectPublicKeyInfo};

const BOTH: [(Hash, &str, usize); 2] = [
    (Hash::Shake128, "1.3.6.1.5.5.7.6.30", 32),
    (Hash::Shake256, "1.3.6.1.5.5.7.6.31", 64),
];

fn key(bits: usize) -> PrivateKey {
    fixed_keys::key(12, bits as u64, bits)
}

fn refusal<T>(result: Result<T, Error>) -> String {
    match result {
        Err(Error::Scheme { reason }) => reason,
        Err(error) => panic!("another error: {error}"),
        Ok(_) => panic!("it was taken"),
    }
}

#[test]
fn what_is_signed_with_shake_is_verified_on_every_kernel() {
    // One bit above whole bytes, and whole bytes: the encoding is a byte shorter than the first modulus.
    for key in [key(1042), key(1064)] {
        for backend in backends() {
            for (hash, _, salt) in BOTH {
                let place = format!("{hash}, {} bits, {}", key.bits(), backend.kernel());
                let scheme = SignatureScheme::Pss(Pss::new(hash));
                let signing = match SigningKey::with_backend(&key, scheme, &backend) {
                    Ok(signing) => signing,
                    Err(error) => panic!("{place}: {error}"),
                };
                let messages: Vec<Vec<u8>> = (0..9).map(|len| vec![len as u8; 40 * len]).collect();
                let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
                let signatures = signing.sign_batch(&messages).expect("signed");
                let pairs: Vec<_> = messages
                    .iter()
                    .zip(&signatures)
                    .map(|(message, signature)| (*message, signature.as_bytes()))
                    .collect();
                let explicit = SignatureScheme::Pss(Pss {
                    salt_len: SaltLen::Bytes(salt),
                    ..Pss::new(hash)
                });
                for scheme in [scheme, explicit] {
                    let verifying = VerifyingKey::with_backend(key.public(), scheme, &backend).expect("fits");
                    assert_eq!(verifying.verify_batch(&pairs), [true; 9], "{place}");
                }
                let verifying = signing.verifying_key();
                let (message, right) = pairs[3];
                assert!(!verifying.verify(pairs[4].0, right), "{place}");
                for bit in [0, 7, 511, 8 * right.len() - 1] {
                    let mut wrong = right.to_vec();
                    wrong[bit / 8] ^= 1 << (bit % 8);
                    assert!(!verifying.verify(message, &wrong), "{place}: bit {bit}");
                }
                // The other function, and one of the same length of digest, take it for nobody's.
                let same_len = [Hash::Sha256, Hash::Sha512].map(|hash| hash.digest_len() == salt);
                let other = if same_len[0] { Hash::Sha256 } else { Hash::Sha512 };
                let other = SignatureScheme::Pss(Pss::new(other));
                let other = VerifyingKey::with_backend(key.public(), other, &backend).expect("it fits");
                assert!(!other.verify(message, right), "{place}");
            }
        }
    }
}

#[test]
fn shake_is_for_message_and_mask_together_with_its_own_salt() {
    let (key, backend) = (key(1064), CpuBackend::auto());
    let pss = |hash, mgf_hash, salt_len| {
        SignatureScheme::Pss(Pss {
            hash,
            mgf_hash,
            salt_len,
        })
    };
    use Hash::{Sha256, Shake128, Shake256};
    let together = "takes SHAKE for message and mask together (RFC 8702)";
    let its_salt = "has a salt of 32 bytes and no other (RFC 8702)";
    for (scheme, expected) in [
        (pss(Shake128, Sha256, SaltLen::Digest), together),
        (pss(Sha256, Shake128, SaltLen::Digest), together),
        (pss(Shake128, Shake256, SaltLen::Digest), together),
        (pss(Shake128, Shake128, SaltLen::Bytes(0)), its_salt),
        (pss(Shake128, Shake128, SaltLen::Bytes(33)), its_salt),
        (pss(Shake128, Shake128, SaltLen::Max), its_salt),
        (pss(Shake128, Shake128, SaltLen::Any), its_salt),
        (
            SignatureScheme::Pkcs1v15(Shake128),
            "PKCS#1 v1.5 signatures have no algorithm for shake128",
        ),
        (
            SignatureScheme::Pkcs1v15(Shake256),
            "PKCS#1 v1.5 signatures have no algorithm for shake256",
        ),
    ] {
        let verifying = refusal(VerifyingKey::with_backend(key.public(), scheme, &backend));
        assert!(verifying.contains(expected), "{verifying}");
        assert_eq!(refusal(SigningKey::with_backend(&key, scheme, &backend)), verifying);
        assert_eq!(refusal(scheme.check_functions()), verifying);
    }
    for (hash, mgf_hash) in [(Shake128, Shake128), (Shake256, Sha256), (Sha256, Shake256)] {
        let scheme = EncryptionScheme::Oaep(Oaep {
            hash,
            mgf_hash,
            label: Vec::new(),
        });
        let reason = refusal(EncryptionKey::with_backend(key.public(), scheme.clone(), &backend));
        assert!(reason.contains("OAEP has no algorithm for shake"), "{reason}");
        assert_eq!(refusal(DecryptionKey::with_backend(&key, &scheme, &backend)), reason);
        assert_eq!(refusal(scheme.max_len(2048)), reason);
        assert_eq!(refusal(scheme.check_functions()), reason);
    }
}

#[test]
fn keys_for_pss_with_shake_alone_are_read_and_written() {
    let key = key(1024);
    for (hash, oid, salt) in BOTH {
        let usage = Usage::Pss(Some(Pss {
            salt_len: SaltLen::Bytes(salt),
            ..Pss::new(hash)
        }));
        // SEQUENCE { OBJECT IDENTIFIER }: one component, and no parameters.
        let oid = ObjectIdentifier::new_unwrap(oid);
        let algorithm = [&[0x30, 0x0a, 0x06, 0x08], oid.as_bytes()].concat();
        let private = encode_private_for(&key, &usage, PrivateFormat::Pkcs8, Encoding::Der).expect("written");
        let public = encode_public_for(key.public(), &usage, PublicFormat::Spki, Encoding::Der).expect("written");
        for der in [&private[..], &public] {
            assert!(der.windows(algorithm.len()).any(|part| part == algorithm));
        }
        let loaded = load_private(&private, None).expect("read");
        assert_eq!((loaded.key.d(), loaded.usage), (key.d(), usage.clone()));
        let loaded = load_public(&public, None).expect("read");
        assert_eq!((&loaded.key, loaded.usage), (key.public(), usage.clone()));
        // "Digest" names the same salt.
        let same = encode_public_for(
            key.public(),
            &Usage::Pss(Some(Pss::new(hash))),
            PublicFormat::Spki,
            Encoding::Der,
        );
        assert_eq!(same.expect("written"), public);
        // Not even NULL stands after the identifier.
        let refused = load_public(&spki(&key, oid, Some(AnyRef::NULL)), None);
        let message = refused.expect_err("it has parameters").to_string();
        assert!(
            message.contains("parameters, which its algorithm does not take"),
            "{message}"
        );
        // What no identifier says cannot be written.
        let long = Usage::Pss(Some(Pss {
            salt_len: SaltLen::Bytes(salt + 1),
            ..Pss::new(hash)
        }));
        let refused = encode_public_for(key.public(), &long, PublicFormat::Spki, Encoding::Der);
        assert!(refusal(refused).contains("and no other"));
    }
}

/// SHAKE inside the parameters of id-RSASSA-PSS is no form of RFC 4055's or RFC 8702's.
#[test]
fn shake_in_the_parameters_of_pss_is_refused() {
    let key = key(1024);
    let pss = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
    let shake = AlgorithmIdentifier::<AnyRef<'_>> {
        oid: Hash::Shake128.oid(),
        parameters: None,
    };
    for context in [0xa0, 0xa1] {
        // [0] is the hash, [1] the mask.
        let inner = shake.to_der().expect("it fits");
        let tagged = [&[context, inner.len() as u8][..], &inner].concat();
        let parameters = [&[0x30, tagged.len() as u8][..], &tagged].concat();
        let parameters = AnyRef::try_from(&parameters[..]).expect("DER");
        let refused = load_public(&spki(&key, pss, Some(parameters)), None);
        let message = refused.expect_err("it is refused").to_string();
        assert!(
            message.contains("hash function that rsalab does not know")
                || message.contains("asks for a mask of another algorithm"),
            "{message}"
        );
    }
}

/// The public half under an algorithm of any kind.
fn spki(key: &PrivateKey, oid: ObjectIdentifier, parameters: Option<AnyRef<'_>>) -> Vec<u8> {
    let pkcs1 = encode_public(key.public(), PublicFormat::Pkcs1, Encoding::Der);
    SubjectPublicKeyInfo {
        algorithm: AlgorithmIdentifier { oid, parameters },
        subject_public_key: BitStringRef::from_bytes(&pkcs1).expect("it fits"),
    }
    .to_der()
    .expect("it fits")
}
