//! Files of several keys: which one is meant, and what is kept beside a key.

use rsalab_rsa::{
    format::{Found, Key, Limits, Place, Purpose, Reading, load_all, load_each, load_private_with, load_public_with},
    hash::Hash,
    scheme::SignatureScheme,
};
use serde_json::{Value, json};

use super::*;

const EC: &str =
    r#"{"kty":"EC","crv":"P-256","kid":"ec","x":"-IciJkG-UmwlwNLLaUvUjV-t8n-RryB4vVLk5c6uAyQ","n":7,"y":"0A"}"#;

fn json(key: &PrivateKey) -> Value {
    let none = (&Restrictions::default(), &Annotations::default());
    serde_json::from_str(&jwk::private(key, none.0, none.1)).expect("it is JSON")
}

fn public_json(key: &PrivateKey) -> String {
    jwk::public(key.public(), &Restrictions::default(), &Annotations::default())
}

fn named(name: &str) -> Reading<'_> {
    Reading {
        name: Some(name),
        ..Reading::default()
    }
}

fn places(found: &[Found]) -> Vec<(Place, bool, bool)> {
    let each = |found: &Found| (found.place, found.is_foreign, found.key.is_ok());
    found.iter().map(each).collect()
}

#[test]
fn sets_lists_and_streams_hold_keys_that_are_chosen_by_name() {
    let (one, two) = (key(512), key(640));
    let [first, second] = [&one, &two].map(public_json);
    let second = second.replacen("\"kid\":\"", "\"kid\":\"2026-", 1);
    let set = format!("{{\"keys\":[{first},{EC},{second}],\"note\":7}}");
    let list = format!(" [{first},\n{EC},{second}]");
    let lines = format!("{first}\n\n{EC}\r\n{second}\n");
    let pretty: Value = serde_json::from_str(&first).expect("it is JSON");
    let stream = format!("{pretty:#}\n{EC}{second}");
    let numbered = [Place::Key(1), Place::Key(2), Place::Key(3)];
    let by_line = [Place::Line(1), Place::Line(3), Place::Line(4)];
    for (text, expected) in [
        (&set, numbered),
        (&list, numbered),
        (&lines, by_line),
        (&stream, numbered),
    ] {
        let found = load_each(text.as_bytes(), &Reading::default()).expect("keys");
        let [a, b, c] = expected;
        assert_eq!(places(&found), [(a, false, true), (b, true, false), (c, false, true)]);
        let error = load_public(text.as_bytes(), None).expect_err("which one?");
        assert!(matches!(error, Error::Several { keys: 2 }), "{error}");
        let thumbprint = jwk::thumbprint(two.public());
        let kid = format!("2026-{thumbprint}");
        let digest: String = rsalab_rsa::format::fingerprint(two.public())
            .iter()
            .map(|byte| format!("{byte:02X}"))
            .collect();
        for name in [&kid, &thumbprint, &openssh::fingerprint(two.public()), &digest] {
            let loaded = load_public_with(text.as_bytes(), &named(name)).expect("it is there");
            assert_eq!(&loaded.key, two.public());
            let found = load_each(text.as_bytes(), &named(name)).expect("it is there");
            assert_eq!(places(&found), [(c, false, true)]);
        }
        for name in ["", "ec", "RSA"] {
            let refused = reason(load_public_with(text.as_bytes(), &named(name)));
            assert!(refused.contains("has the name that was given"), "{refused}");
        }
    }
    // The one RSA key needs no name, a name must fit nevertheless, and a key alone has no place.
    let set = format!("{{\"keys\":[{EC},{first}]}}");
    assert_eq!(&load_public(set.as_bytes(), None).expect("one").key, one.public());
    let other = jwk::thumbprint(two.public());
    assert!(load_public_with(&pkcs8(&one), &named(&other)).is_err());
    assert!(load_public_with(&pkcs8(&two), &named(&other)).is_ok());
    let found = load_each(first.as_bytes(), &Reading::default()).expect("one");
    assert_eq!(places(&found), [(Place::Whole, false, true)]);
    for (text, words) in [
        ("{\"keys\":[]}", "is empty"),
        ("[]", "is empty"),
        (&format!("[{EC},{EC}]"), "none of the 2 keys"),
        (EC, "of the type \"EC\""),
        ("{\"keys\":7}", "\"keys\" of this JSON Web Key is not a list"),
    ] {
        let refused = reason(load_public(text.as_bytes(), None));
        assert!(refused.contains(words), "{text}: {refused}");
    }
    // Two of a name, and one that cannot be read among others.
    let twice = format!("[{second},{second}]");
    let error = load_public_with(twice.as_bytes(), &named(&other)).expect_err("which one?");
    assert!(matches!(error, Error::Several { keys: 2 }), "{error}");
    let broken = format!("[{first},7,{{\"kty\":\"RSA\"}}]");
    let found = load_each(broken.as_bytes(), &Reading::default()).expect("one can be read");
    let readable: Vec<bool> = found.iter().map(|found| found.key.is_ok()).collect();
    assert_eq!(readable, [true, false, false]);
    let limits = Limits { most_bits: 600 };
    let small = Reading {
        limits,
        ..Reading::default()
    };
    let found = load_each(list.as_bytes(), &small).expect("one can be read");
    assert!(matches!(found[2].key, Err(Error::KeySize { .. })));
}

#[test]
fn what_a_json_web_key_has_beside_is_kept_and_nothing_private_in_the_public_half() {
    let key = key(512);
    let mut private = json(&key);
    private["kid"] = json!("2026 \"a\"");
    private["exp"] = json!(1_800_000_000);
    private["x5t"] = json!("AAAA");
    private["x5c"] = json!(["MIIB"]);
    private["secret"] = json!({"deep": ["words"]});
    private["ext"] = json!(true);
    private["comment"] = json!("mine");
    let text = private.to_string();
    let loaded = load_private(text.as_bytes(), None).expect("a key");
    assert_eq!(loaded.annotations.kid.as_deref(), Some("2026 \"a\""));
    let written = jwk::private(&loaded.key, &loaded.restrictions, &loaded.annotations);
    let written: Value = serde_json::from_str(&written).expect("it is JSON");
    assert_eq!(written, private);
    let public = jwk::public(loaded.key.public(), &loaded.restrictions, &loaded.annotations);
    let public: Value = serde_json::from_str(&public).expect("it is JSON");
    let names: Vec<&String> = public.as_object().expect("a key").keys().collect();
    assert_eq!(names, ["e", "exp", "kid", "kty", "n", "x5c", "x5t"]);
    for name in ["kid", "exp", "x5c", "x5t", "n", "e"] {
        assert_eq!(public[name], private[name]);
    }
    // A member twice has no one value.
    let twice = text.replacen("\"kid\"", "\"kid\":\"b\",\"kid\"", 1);
    assert!(load_private(twice.as_bytes(), None).is_err());
}

/// RFC 7517, section 4.3: an operation is not there twice, in whatever order a private key names both halves of some.
#[test]
fn a_public_key_names_each_operation_once() {
    let key = key(512);
    for (operations, expected) in [
        (json!(["sign", "verify"]), json!(["verify"])),
        (
            json!(["sign", "decrypt", "verify", "encrypt"]),
            json!(["verify", "encrypt"]),
        ),
        (
            json!(["wrapKey", "sign", "unwrapKey", "verify"]),
            json!(["wrapKey", "verify"]),
        ),
        (json!([]), json!([])),
    ] {
        let mut private = json(&key);
        private["key_ops"] = operations;
        let loaded = load_private(private.to_string().as_bytes(), None).expect("a key");
        let written = jwk::private(&loaded.key, &loaded.restrictions, &loaded.annotations);
        let written: Value = serde_json::from_str(&written).expect("it is JSON");
        assert_eq!(written, private);
        let public = jwk::public(loaded.key.public(), &loaded.restrictions, &loaded.annotations);
        let public: Value = serde_json::from_str(&public).expect("it is JSON");
        assert_eq!(public["key_ops"], expected);
    }
}

#[test]
fn the_mark_of_a_key_of_a_seed_is_read_wherever_it_is_written() {
    let key = key(512);
    let marked = Annotations::insecure(true);
    let mark = rsalab_rsa::format::INSECURE;
    let pem = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
    let pem = String::from_utf8(pem.to_vec()).expect("text");
    let texts = [
        format!("{mark}\n{pem}"),
        format!("{mark}\r\n{pem}"),
        jwk::private(&key, &Restrictions::default(), &marked).to_string(),
        jwk::public(key.public(), &Restrictions::default(), &marked),
        openssh::private(&key, mark).expect("two primes").to_string(),
        openssh::public(key.public(), mark),
    ];
    for text in &texts {
        let loaded = load_public(text.as_bytes(), None).expect("a key");
        assert!(loaded.annotations.is_insecure, "{text}");
    }
    let loaded = load_public(pem.as_bytes(), None).expect("a key");
    assert!(!loaded.annotations.is_insecure);
    // Of several blocks it is that of the block behind it.
    let public = encode_public_for(key.public(), &Usage::Any, PublicFormat::Spki, Encoding::Pem);
    let public = String::from_utf8(public.expect("for any use")).expect("text");
    for (text, expected) in [
        (format!("{public}{mark}\n{pem}"), [false, true]),
        (format!("{mark}\n{public}{pem}"), [true, false]),
        (format!("{mark}\nfrom -----BEGIN here\n{public}{pem}"), [true, false]),
    ] {
        let found = load_all(text.as_bytes(), &Reading::default()).expect("blocks");
        let marks: Vec<bool> = found
            .iter()
            .filter_map(|found| found.key.as_ref().ok())
            .map(|loaded| loaded.annotations.is_insecure)
            .collect();
        assert_eq!(marks, expected, "{text}");
        let used = load_private(text.as_bytes(), None).expect("the private one");
        assert_eq!(used.annotations.is_insecure, expected[1], "{text}");
    }
}

#[test]
fn lines_of_authorized_keys_each_have_a_key() {
    let (one, two) = (key(512), key(640));
    let [first, second] = [&one, &two].map(|key| openssh::public(key.public(), "me@laptop"));
    let tabs = second.replace(' ', "\t");
    for (text, key) in [
        (format!("# my laptop\n\n{first}\n"), &one),
        (format!("\r\n{first} of mine\r\n"), &one),
        (format!("\t{tabs}\n"), &two),
        (format!("ssh-ed25519 AAAA x\n{first}"), &one),
    ] {
        let loaded = load_public(text.as_bytes(), None).expect("one RSA key");
        assert_eq!(&loaded.key, key.public());
        assert!(loaded.restrictions.is_none());
        assert!(
            loaded
                .annotations
                .comment
                .is_some_and(|own| own.starts_with("me@laptop"))
        );
    }
    let both = format!("# two\n{first}\ngarbage garbage\n{tabs}\nssh-dss AAAA\n");
    let found = load_each(both.as_bytes(), &Reading::default()).expect("lines");
    assert_eq!(
        places(&found),
        [
            (Place::Line(2), false, true),
            (Place::Line(3), false, false),
            (Place::Line(4), false, true),
            (Place::Line(5), true, false),
        ]
    );
    let error = load_public(both.as_bytes(), None).expect_err("which one?");
    assert!(matches!(error, Error::Several { keys: 3 }), "{error}");
    let name = openssh::fingerprint(two.public());
    let loaded = load_public_with(both.as_bytes(), &named(&name)).expect("it is there");
    assert_eq!(&loaded.key, two.public());

    // Options restrict logins: no use is one, and none is dropped without a word.
    let options = format!("from=\"10.0.0.?,*.example.com\",command=\"rsync \\\"a b\\\"\",no-pty {first}");
    let loaded = load_public(options.as_bytes(), None).expect("a key");
    assert_eq!(&loaded.key, one.public());
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let refused = reason(loaded.check(Purpose::Verify(&scheme)));
    assert!(refused.contains("command, from, no-pty"), "{refused}");
    assert!(matches!(
        decode_public(options.as_bytes()),
        Err(Error::Restricted { .. })
    ));
    for (line, words) in [
        ("ssh-rsa", "damaged"),
        ("ssh-rsa AAA", "base64"),
        ("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAA", "damaged"),
        ("ssh-ed25519 AAAA", "an Ed25519 public key"),
        ("ssh-rsa-cert-v01@openssh.com AAAA", "a certified public key"),
    ] {
        let refused = reason(load_public(line.as_bytes(), None));
        assert!(refused.contains(words), "{line}: {refused}");
    }
    if Other::find("ssh-keygen").is_some() {
        let folder = TempDir::new().expect("a folder");
        std::fs::write(folder.path().join("k"), &options).expect("written");
        let shown = Command::new("ssh-keygen")
            .args(["-lf", "k"])
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        let shown = String::from_utf8_lossy(&shown.stdout);
        // It refuses keys of fewer than 1024 bits, unlike the fingerprint's definition.
        match shown.contains("SHA256:") {
            true => assert!(shown.contains(&openssh::fingerprint(one.public())), "{shown}"),
            false => eprintln!("SKIPPED: ssh-keygen shows no key of 512 bits"),
        }
    }
}

#[test]
fn attributes_of_pkcs8_are_kept_in_pkcs8() {
    // keyUsage keyEncipherment, and friendlyName "x", in the wrong order.
    let usage = hex("300b0603551d0f310403020520");
    let name = hex("301106092a864886f70d010914310 41e020078".replace(' ', "").as_str());
    let key = key(512);
    let plain = pkcs8(&key);
    let body = &plain[4..];
    let set = [&[0xa0, (usage.len() + name.len()) as u8], &name[..], &usage[..]].concat();
    let len = (body.len() + set.len()) as u16;
    let with = [&[0x30, 0x82], &len.to_be_bytes()[..], body, &set].concat();
    let loaded = load_private(&with, None).expect("a key");
    assert_eq!(loaded.annotations.key_usage().as_deref(), Some("keyEncipherment"));
    assert!(loaded.restrictions.is_none());
    let write = |encoding| {
        rsalab_rsa::format::encode_private_annotated(
            &loaded.key,
            &loaded.usage,
            &loaded.annotations,
            PrivateFormat::Pkcs8,
            encoding,
        )
        .expect("there is room")
    };
    let sorted = [&[0xa0, (usage.len() + name.len()) as u8], &usage[..], &name[..]].concat();
    assert_eq!(*write(Encoding::Der), [&with[..4], body, &sorted].concat());
    let again = load_private(&write(Encoding::Pem), None).expect("a key");
    assert_eq!(again.annotations, loaded.annotations);
    let locked = rsalab_rsa::format::encode_encrypted_annotated(
        &loaded.key,
        &loaded.usage,
        &loaded.annotations,
        b"open",
        Encoding::Der,
        &mut InsecureStudySeed::new([4; 32]).stream(0),
    )
    .expect("there is room");
    let again = load_private(&locked, Some(b"open")).expect("a key");
    assert_eq!(again.annotations, loaded.annotations);
    assert!(
        load_private(&plain, None)
            .expect("a key")
            .annotations
            .key_usage()
            .is_none()
    );
}

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16);
    digits.map(|pair| byte(pair).expect("digits")).collect()
}

#[test]
fn a_json_web_key_of_more_primes_needs_its_exponents_alone() {
    let mut rng = InsecureStudySeed::new([9; 32]).stream(1);
    let generation = rsalab_rsa::generate::Generation::with_backend(
        1024,
        rsalab_rsa::generate::PublicExponent::Fixed(DEFAULT_EXPONENT),
        Box::new(CpuBackend::auto()),
    );
    let _ = &mut rng;
    let generation = generation.and_then(|keys| keys.with_primes(3)).expect("sound");
    let mut generator = generation
        .generator(InsecureStudySeed::new([9; 32]).stream(2))
        .expect("randomness");
    let key = generator.keys(1).expect("a key").remove(0).key;
    assert_eq!(key.primes(), 3);
    let whole = json(&key);
    let mut short = json!({"kty": "RSA"});
    for name in ["n", "e", "d"] {
        short[name] = whole[name].clone();
    }
    let loaded = load_private_with(short.to_string().as_bytes(), &Reading::default()).expect("a key");
    assert_eq!(loaded.key.primes(), 3);
    assert_eq!(loaded.key.d(), key.d());
    let found = load_each(short.to_string().as_bytes(), &Reading::default()).expect("a key");
    assert!(matches!(
        found[0].key.as_ref().map(|loaded| &loaded.key),
        Ok(Key::Private(_))
    ));
    short["d"] = json!("AQAB");
    assert!(reason(load_private(short.to_string().as_bytes(), None)).contains("not a valid RSA key"));
}
