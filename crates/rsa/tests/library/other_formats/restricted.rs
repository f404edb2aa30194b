//! Keys that are for one scheme: salts that are long enough, parameters of OAEP, and the identifiers that say so.

use rsalab_rsa::{
    format::{Purpose, encode_public},
    scheme::{Oaep, SignatureScheme},
    signing::{SigningKey, VerifyingKey},
};

use super::*;

fn scheme(salt_len: SaltLen) -> SignatureScheme {
    SignatureScheme::Pss(Pss {
        salt_len,
        ..Pss::new(Hash::Sha256)
    })
}

fn restricted(key: &PrivateKey, salt: usize) -> Vec<u8> {
    let SignatureScheme::Pss(pss) = scheme(SaltLen::Bytes(salt)) else {
        unreachable!("it is PSS")
    };
    let usage = Usage::Pss(Some(pss));
    encode_public_for(key.public(), &usage, PublicFormat::Spki, Encoding::Der).expect("written")
}

/// RFC 4055, section 3.3: the salt is not shorter than the key says, whatever the verifier knows of it.
#[test]
fn salts_of_any_length_are_as_long_as_the_key_asks_for() {
    let key = key(1024);
    let loaded = load_public(&restricted(&key, 32), None).expect("it is ours");
    assert_eq!(loaded.usage.least_salt(), 32);
    let any = scheme(SaltLen::Any);
    assert!(loaded.check(Purpose::Verify(&any)).is_err());
    let narrowed = loaded.usage.narrowed(any);
    loaded.check(Purpose::Verify(&narrowed)).expect("it is narrow");
    let verifying = VerifyingKey::new(&loaded.key, narrowed).expect("it has room");
    for (salt, is_valid) in [(0, false), (20, false), (31, false), (32, true), (33, true), (94, true)] {
        let signing = SigningKey::new(&key, scheme(SaltLen::Bytes(salt))).expect("it has room");
        let signature = signing.sign(b"message").expect("signed");
        assert_eq!(verifying.verify(b"message", signature.as_bytes()), is_valid, "{salt}");
        assert!(!verifying.verify(b"massage", signature.as_bytes()));
    }
    assert!(SigningKey::new(&key, scheme(SaltLen::AtLeast(32))).is_err());
}

/// A key of 1024 bits has room for 94 bytes of salt with SHA-256.
#[test]
fn salts_that_have_room_are_used_however_long_they_are() {
    let small = key(1024);
    for (salt, has_room) in [(94, true), (95, false)] {
        let loaded = load_public(&restricted(&small, salt), None).expect("it is ours");
        let own = scheme(SaltLen::Bytes(loaded.usage.least_salt()));
        assert_eq!(SigningKey::new(&small, own).is_ok(), has_room);
    }

    let large = key(4096);
    for salt in [255, 256, 300, 478] {
        let written = restricted(&large, salt);
        let loaded = load_public(&written, None).expect("it has room");
        assert_eq!(loaded.usage.least_salt(), salt);
        let again = encode_public_for(&loaded.key, &loaded.usage, PublicFormat::Spki, Encoding::Der);
        assert!(again.expect("written") == written);
        let Usage::Pss(Some(pss)) = loaded.usage else {
            panic!("it is for PSS")
        };
        let own = SignatureScheme::Pss(pss);
        let signature = SigningKey::new(&large, own)
            .expect("it has room")
            .sign(b"m")
            .expect("signed");
        assert!(
            VerifyingKey::new(&loaded.key, own)
                .expect("it has room")
                .verify(b"m", signature.as_bytes())
        );
    }

    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    openssl.write("ours.der", &restricted(&large, 300));
    openssl.run("openssl pkey -pubin -inform der -in ours.der -pubout -outform der -out theirs.der");
    assert!(openssl.file("theirs.der") == restricted(&large, 300));
}

#[test]
fn keys_for_oaep_keep_their_parameters() {
    let key = key(1024);
    let labelled = Oaep {
        label: b"TCPA".to_vec(),
        ..Oaep::new(Hash::Sha1)
    };
    let other = Oaep {
        mgf_hash: Hash::Sha1,
        ..Oaep::new(Hash::Sha384)
    };
    for usage in [None, Some(labelled), Some(other), Some(Oaep::new(Hash::Sha1))].map(Usage::Oaep) {
        let public = encode_public_for(key.public(), &usage, PublicFormat::Spki, Encoding::Pem);
        let loaded = load_public(&public.expect("written"), None).expect("it is ours");
        assert_eq!((&loaded.key, &loaded.usage), (key.public(), &usage));
        let private = encode_private_for(&key, &usage, PrivateFormat::Pkcs8, Encoding::Der);
        let loaded = load_private(&private.expect("written"), None).expect("it is ours");
        assert_eq!(loaded.usage, usage);
        let pkcs1 = encode_private_for(&key, &usage, PrivateFormat::Pkcs1, Encoding::Der);
        assert!(reason(pkcs1).contains("for RSAES-OAEP only"));
        let der = encode_public_for(key.public(), &usage, PublicFormat::Spki, Encoding::Der);
        assert!(reason(decode_public(&der.expect("written"))).contains("RSAES-OAEP only"));
    }
}

/// `rsa` of X.500, 2.5.8.1.1, with the length of the modulus, with NULL, and with nothing.
#[test]
fn the_identifier_of_x500_is_rsa() {
    let key = key(1024);
    let usual = encode_public(key.public(), PublicFormat::Spki, Encoding::Der);
    let identifier = |contents: &[u8]| [&[0x30, contents.len() as u8], contents].concat();
    let usual_identifier = identifier(b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00");
    let start = usual
        .windows(usual_identifier.len())
        .position(|window| window == usual_identifier)
        .expect("it is there");
    for parameters in [&b""[..], b"\x05\x00", b"\x02\x02\x04\x00"] {
        let other = identifier(&[b"\x06\x04\x55\x08\x01\x01", parameters].concat());
        let rest = &usual[start + usual_identifier.len()..];
        let contents = [&other[..], rest].concat();
        let len = [0x30, 0x81, contents.len() as u8];
        let loaded = load_public(&[&len[..], &contents].concat(), None).expect("it is RSA");
        assert_eq!((&loaded.key, loaded.usage), (key.public(), Usage::Any));
    }
}
