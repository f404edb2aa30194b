//! Keys in the forms of other programs, read: under passwords, for RSASSA-PSS, in certificates, JSON and OpenSSH's way.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use crate::fixed_keys;
use num_bigint::BigUint;
use rsalab_rsa::{
    CpuBackend, Error, PrivateKey, PrivateParts,
    format::{
        Annotations, Content, Encoding, PrivateFormat, PublicFormat, Restrictions, Usage, decode_private,
        decode_public, encode_encrypted, encode_private, encode_private_for, encode_public_for, jwk, load_private,
        load_public, openssh,
    },
    generate::{DEFAULT_EXPONENT, generate_strict},
    hash::Hash,
    keys::Weakness,
    primality::ROUNDS,
    random::InsecureStudySeed,
    scheme::{Pss, SaltLen},
};
use tempfile::TempDir;

mod certificates;
mod encrypted;
mod faulty;
mod restricted;
mod secrets;
mod several;
mod texts;

/// A bound between the milliseconds of a refusal and the minutes of what it refuses; in between lies the load of the
/// machine.
const HANGS: Duration = Duration::from_secs(30);

fn key(bits: usize) -> PrivateKey {
    fixed_keys::key(4, bits as u64, bits)
}

fn pkcs8(key: &PrivateKey) -> Vec<u8> {
    encode_private(key, PrivateFormat::Pkcs8, Encoding::Der).to_vec()
}

fn reason(result: Result<impl Sized, Error>) -> String {
    match result {
        Ok(_) => panic!("was taken for a key"),
        Err(error) => error.to_string(),
    }
}

/// A folder where another program works; none, said aloud, if this machine has no such program.
struct Other(TempDir);

impl Other {
    fn find(program: &str) -> Option<Other> {
        match Command::new(program).arg("-?").output() {
            Ok(_) => Some(Other(TempDir::new().expect("a folder"))),
            Err(error) => {
                eprintln!("SKIPPED: {program} cannot be asked: {error}");
                None
            }
        }
    }

    fn run(&self, line: &str) {
        let words = shlex_words(line);
        let output = Command::new(&words[0])
            .args(&words[1..])
            .current_dir(self.0.path())
            .output()
            .expect("it runs");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).expect(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).expect("it can be written");
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, private).expect("it is ours");
    }
}

/// Words that single spaces separate; `''` is an empty one.
fn shlex_words(line: &str) -> Vec<String> {
    line.split(' ')
        .map(|word| if word == "''" { String::new() } else { word.to_owned() })
        .collect()
}

#[test]
fn keys_under_passwords_of_openssl_are_read() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    let key = key(1024);
    openssl.write("plain.der", &pkcs8(&key));
    let ways = [
        "-v2 aes-256-cbc",
        "-v2 aes-128-cbc -v2prf hmacWithSHA1",
        "-v2 aes-192-cbc -v2prf hmacWithSHA512",
        "-v2 des3",
        "-v2 aes-256-cbc -iter 100000",
        "-scrypt",
    ];
    for way in ways {
        for form in ["pem", "der"] {
            openssl.run(&format!(
                "openssl pkcs8 -topk8 -inform der -in plain.der -outform {form} -out locked -passout pass:sesame {way}"
            ));
            let locked = openssl.file("locked");
            let loaded = load_private(&locked, Some(b"sesame")).unwrap_or_else(|error| panic!("{way}: {error}"));
            assert_eq!(pkcs8(&loaded.key), pkcs8(&key), "{way}");
            assert_eq!((loaded.content, loaded.usage), (Content::EncryptedPkcs8, Usage::Any));
            let public = load_public(&locked, Some(b"sesame")).expect("its public half");
            assert_eq!(&public.key, key.public());
            assert!(matches!(load_private(&locked, None), Err(Error::PasswordMissing)));
            for wrong in [&b"sesam"[..], b"sesame\n", b""] {
                assert!(matches!(load_private(&locked, Some(wrong)), Err(Error::PasswordWrong)));
            }
        }
    }
}

#[test]
fn passwords_that_would_take_minutes_or_gigabytes_are_refused_at_once() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    openssl.write("plain.der", &pkcs8(&key(512)));
    openssl.run("openssl pkcs8 -topk8 -inform der -in plain.der -outform der -out locked -passout pass:x -v2 aes-256-cbc -iter 1234567");
    let mut locked = openssl.file("locked");
    let place = locked
        .windows(3)
        .position(|window| window == [0x12, 0xd6, 0x87])
        .expect("the number of iterations");
    locked[place] = 0x7f;
    let started = Instant::now();
    assert!(reason(load_private(&locked, Some(b"x"))).contains("iterations of PBKDF2"));
    assert!(started.elapsed() < HANGS);
}

#[test]
fn ours_under_a_password_are_read_again() {
    let key = key(1024);
    let mut rng = InsecureStudySeed::new([6; 32]).stream(0);
    let pss = Usage::Pss(Some(Pss::new(Hash::Sha384)));
    for usage in [Usage::Any, Usage::Pss(None), pss] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            let locked = encode_encrypted(&key, &usage, b"p", encoding, &mut rng).expect("randomness");
            let loaded = load_private(&locked, Some(b"p")).expect("it is ours");
            assert_eq!(pkcs8(&loaded.key), pkcs8(&key));
            match (usage.clone(), loaded.usage) {
                (Usage::Pss(Some(ours)), Usage::Pss(Some(theirs))) => {
                    assert_eq!((ours.hash, ours.mgf_hash), (theirs.hash, theirs.mgf_hash));
                    assert_eq!(theirs.salt_len, SaltLen::Bytes(48));
                }
                (ours, theirs) => assert_eq!(ours, theirs),
            }
        }
    }
}

#[test]
fn keys_for_pss_alone_keep_their_parameters() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    let bytes = SaltLen::Bytes;
    let pss = |hash, mgf_hash, salt_len| {
        Some(Pss {
            hash,
            mgf_hash,
            salt_len,
        })
    };
    let cases = [
        ("", None),
        (
            " -pkeyopt rsa_pss_keygen_md:sha256 -pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:32",
            pss(Hash::Sha256, Hash::Sha256, bytes(32)),
        ),
        (
            " -pkeyopt rsa_pss_keygen_md:sha512-256 -pkeyopt rsa_pss_keygen_mgf1_md:sha224 -pkeyopt rsa_pss_keygen_saltlen:0",
            pss(Hash::Sha512_256, Hash::Sha224, bytes(0)),
        ),
        // The defaults of the standard, which DER leaves out.
        (
            " -pkeyopt rsa_pss_keygen_md:sha1 -pkeyopt rsa_pss_keygen_mgf1_md:sha1 -pkeyopt rsa_pss_keygen_saltlen:20",
            pss(Hash::Sha1, Hash::Sha1, bytes(20)),
        ),
    ];
    for (options, expected) in cases {
        openssl.run(&format!(
            "openssl genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024{options} -outform der -out pss.der"
        ));
        openssl.run("openssl pkey -inform der -in pss.der -pubout -outform der -out public.der");
        let (private, public) = (openssl.file("pss.der"), openssl.file("public.der"));
        let loaded = load_private(&private, None).unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(loaded.usage, Usage::Pss(expected), "{options}");
        let written =
            encode_private_for(&loaded.key, &loaded.usage, PrivateFormat::Pkcs8, Encoding::Der).expect("it can say it");
        assert!(*written == private, "{options}");
        let half = load_public(&public, None).expect("its public half");
        assert_eq!((&half.key, &half.usage), (loaded.key.public(), &loaded.usage));
        let written =
            encode_public_for(&half.key, &half.usage, PublicFormat::Spki, Encoding::Der).expect("it can say it");
        assert!(written == public, "{options}");
        assert!(reason(decode_private(&private)).contains("RSASSA-PSS only"));
        assert!(reason(decode_public(&public)).contains("RSASSA-PSS only"));
        assert!(
            reason(encode_private_for(
                &loaded.key,
                &loaded.usage,
                PrivateFormat::Pkcs1,
                Encoding::Der
            ))
            .contains("cannot say")
        );
        assert!(
            reason(encode_public_for(
                &half.key,
                &half.usage,
                PublicFormat::Pkcs1,
                Encoding::Der
            ))
            .contains("cannot say")
        );
    }
}

#[test]
fn a_certificate_gives_its_public_key() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    let key = key(1024);
    openssl.write("key.der", &pkcs8(&key));
    for form in ["pem", "der"] {
        openssl.run(&format!(
            "openssl req -x509 -new -key key.der -keyform der -subj /CN=x/O=somebody -days 3 -outform {form} -out certificate"
        ));
        let loaded = load_public(&openssl.file("certificate"), None).expect("a certificate");
        assert_eq!(&loaded.key, key.public());
        assert_eq!(loaded.content, Content::Certificate);
        assert!(
            reason(load_private(&openssl.file("certificate"), None))
                .contains("a certificate, which holds a public key")
        );
    }
    let mut cut = openssl.file("certificate");
    cut.truncate(cut.len() - 1);
    assert!(reason(load_public(&cut, None)).contains("cut"));
    openssl.run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ec.pem -subj /CN=x -out ec-certificate.pem");
    assert!(reason(load_public(&openssl.file("ec-certificate.pem"), None)).contains("EC key"));
}

#[test]
fn json_web_keys_are_read_to_the_letter() {
    let key = key(1024);
    let private = jwk::private(&key, &Restrictions::default(), &Annotations::default());
    let loaded = load_private(private.as_bytes(), None).expect("it is ours");
    assert_eq!(pkcs8(&loaded.key), pkcs8(&key));
    assert_eq!(loaded.content, Content::Jwk);
    let public = jwk::public(key.public(), &Restrictions::default(), &Annotations::default());
    assert_eq!(
        &load_public(public.as_bytes(), None).expect("it is ours").key,
        key.public()
    );
    let set = format!(" {{\"keys\": [{}]}}\n", *private);
    assert_eq!(
        pkcs8(&load_private(set.as_bytes(), None).expect("a set of one").key),
        pkcs8(&key)
    );
    // RFC 7518, section 6.3.2: a key may name d alone.
    let member = |name: &str| {
        let start = private.find(&format!(",\"{name}\":")).expect(name);
        let end = private[start + 1..]
            .find(",\"")
            .map_or(private.len() - 1, |end| start + 1 + end);
        private[start..end].to_owned()
    };
    let mut alone = private.to_string();
    for name in ["p", "q", "dp", "dq", "qi"] {
        alone = alone.replace(&member(name), "");
    }
    let recovered = load_private(alone.as_bytes(), None).expect("the primes are found").key;
    assert_eq!(recovered.public(), key.public());
    assert_eq!(recovered.d(), key.d());
    let mut primes = [recovered.p(), recovered.q()];
    let mut expected = [key.p(), key.q()];
    primes.sort();
    expected.sort();
    assert_eq!(primes, expected);

    let without = |name: &str| private.replace(&member(name), "");
    let members = |count: usize| -> String { (0..count).map(|number| format!(",\"m{number}\":0")).collect() };
    let two = format!("{{\"keys\":[{public},{public}]}}");
    for (json, sentence) in [
        (without("dq"), "no member \"dq\""),
        (without("d"), "no member \"d\""),
        (without("n"), "no member \"n\""),
        (without("e"), "no member \"e\""),
        (public.replace("\"RSA\"", "\"EC\""), "of the type \"EC\""),
        (public.replace("\"kty\":\"RSA\",", ""), "no member \"kty\""),
        (public.replace("\"e\":\"", "\"e\":\"="), "base64url"),
        (
            public.replace("\"e\":\"", "\"oth\":[],\"e\":\""),
            "\"oth\" of this JSON Web Key is empty",
        ),
        (format!("{public}{public}"), "holds 2 keys"),
        (public.replace('}', ",\"n\":\"AQAB\"}"), "member \"n\" is there twice"),
        ("{".repeat(50_000), "damaged"),
        (format!("{{\"x\":{}", "[".repeat(500_000)), "damaged"),
        ("{\"keys\":[]}".to_owned(), "is empty"),
        (two, "holds 2 keys"),
        ("{}".to_owned(), "no member"),
        ("{\"keys\":7}".to_owned(), "is not a list"),
        (
            format!("{{\"kty\":\"RSA\"{}}}", ",\"m\":0".repeat(3)),
            "(of another name)\" is there twice",
        ),
        (
            format!("{{\"kty\":\"RSA\"{}}}", members(1000)),
            "more than 1000 members",
        ),
        (format!("{{\"kty\":\"RSA\"{}}}", members(999)), "no member \"n\""),
        (format!("[{}{{}}]", "{},".repeat(500_000)), "more than 500000 keys"),
        (
            format!("{{\"keys\":[{}1]}}", "1,".repeat(500_000)),
            "more than 500000 keys",
        ),
    ] {
        let message = reason(load_private(json.as_bytes(), None));
        assert!(message.contains(sentence), "{sentence}: {message}");
    }
}

#[test]
fn keys_of_openssh_are_read() {
    let key = key(1024);
    let private = openssh::private(&key, "a comment").unwrap();
    let loaded = load_private(private.as_bytes(), None).expect("it is ours");
    assert_eq!(pkcs8(&loaded.key), pkcs8(&key));
    assert_eq!(loaded.content, Content::OpensshPrivate);
    let line = openssh::public(key.public(), "a comment") + "\n";
    assert_eq!(
        &load_public(line.as_bytes(), None).expect("it is ours").key,
        key.public()
    );
    assert!(reason(load_private(line.as_bytes(), None)).contains("this is a public key"));

    let Some(ssh) = Other::find("ssh-keygen") else {
        return;
    };
    ssh.run("ssh-keygen -q -t rsa -b 1024 -N '' -C me@here -f theirs");
    let theirs = load_private(&ssh.file("theirs"), None).expect("a key of OpenSSH").key;
    assert_eq!(
        &load_public(&ssh.file("theirs.pub"), None).expect("its public half").key,
        theirs.public()
    );
    ssh.write("ours", openssh::private(&theirs, "me@here").unwrap().as_bytes());
    ssh.run("ssh-keygen -p -m PEM -P '' -N '' -f ours");
    assert_eq!(
        pkcs8(&load_private(&ssh.file("ours"), None).expect("PKCS#1").key),
        pkcs8(&theirs)
    );
    ssh.run("ssh-keygen -p -P '' -N sesame -f theirs");
    let opened = load_private(&ssh.file("theirs"), Some(b"sesame")).expect("the same key");
    assert_eq!(pkcs8(&opened.key), pkcs8(&theirs));
    ssh.run("ssh-keygen -q -t ed25519 -N '' -f other");
    assert!(reason(load_private(&ssh.file("other"), None)).contains("rsalab works with RSA keys only"));
    assert!(reason(load_public(&ssh.file("other.pub"), None)).contains("Ed25519"));
}
