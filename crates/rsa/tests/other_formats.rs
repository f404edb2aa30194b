//! Keys in the forms of other programs, read: under passwords, for RSASSA-PSS, in certificates, JSON and OpenSSH's way; keys
//! that lack something; and keys that were made to do harm.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use num_bigint::BigUint;
use rsalab_rsa::{
    CpuBackend, Error, PrivateKey, PrivateParts,
    format::{
        Content, Encoding, PrivateFormat, PublicFormat, Restrictions, Usage, decode_private,
        decode_public, encode_encrypted, encode_private, encode_private_for, encode_public_for,
        jwk, load_private, load_public, openssh,
    },
    generate::{DEFAULT_EXPONENT, generate_strict},
    hash::Hash,
    keys::Weakness,
    primality::ROUNDS,
    random::InsecureStudySeed,
    scheme::{Pss, SaltLen},
};
use tempfile::TempDir;

/// What is refused takes milliseconds, and what it asks for minutes; in between lies the load of the machine.
const HANGS: Duration = Duration::from_secs(30);

fn key(bits: usize) -> PrivateKey {
    let mut rng = InsecureStudySeed::new([4; 32]).stream(bits as u64);
    generate_strict(bits, DEFAULT_EXPONENT, &mut rng)
        .expect("a key")
        .key
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
        .map(|word| {
            if word == "''" {
                String::new()
            } else {
                word.to_owned()
            }
        })
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
            let loaded = load_private(&locked, Some(b"sesame"))
                .unwrap_or_else(|error| panic!("{way}: {error}"));
            assert_eq!(pkcs8(&loaded.key), pkcs8(&key), "{way}");
            assert_eq!(
                (loaded.content, loaded.usage),
                (Content::EncryptedPkcs8, Usage::Any)
            );
            let public = load_public(&locked, Some(b"sesame")).expect("its public half");
            assert_eq!(&public.key, key.public());
            assert!(matches!(
                load_private(&locked, None),
                Err(Error::PasswordMissing)
            ));
            for wrong in [&b"sesam"[..], b"sesame\n", b""] {
                assert!(matches!(
                    load_private(&locked, Some(wrong)),
                    Err(Error::PasswordWrong)
                ));
            }
        }
    }
    openssl.run("openssl pkcs8 -topk8 -inform der -in plain.der -out locked -passout pass:sesame -v1 PBE-SHA1-3DES");
    assert!(
        reason(load_private(&openssl.file("locked"), Some(b"sesame"))).contains("encrypt it anew")
    );
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
            let locked =
                encode_encrypted(&key, usage, b"p", encoding, &mut rng).expect("randomness");
            let loaded = load_private(&locked, Some(b"p")).expect("it is ours");
            assert_eq!(pkcs8(&loaded.key), pkcs8(&key));
            match (usage, loaded.usage) {
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
        let loaded =
            load_private(&private, None).unwrap_or_else(|error| panic!("{options}: {error}"));
        assert_eq!(loaded.usage, Usage::Pss(expected), "{options}");
        let written = encode_private_for(
            &loaded.key,
            loaded.usage,
            PrivateFormat::Pkcs8,
            Encoding::Der,
        )
        .expect("it can say it");
        assert!(*written == private, "{options}");
        let half = load_public(&public, None).expect("its public half");
        assert_eq!((&half.key, half.usage), (loaded.key.public(), loaded.usage));
        let written = encode_public_for(&half.key, half.usage, PublicFormat::Spki, Encoding::Der)
            .expect("it can say it");
        assert!(written == public, "{options}");
        assert!(reason(decode_private(&private)).contains("RSASSA-PSS only"));
        assert!(reason(decode_public(&public)).contains("RSASSA-PSS only"));
        assert!(
            reason(encode_private_for(
                &loaded.key,
                loaded.usage,
                PrivateFormat::Pkcs1,
                Encoding::Der
            ))
            .contains("cannot say")
        );
        assert!(
            reason(encode_public_for(
                &half.key,
                half.usage,
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
    let private = jwk::private(&key, &Restrictions::default(), None);
    let loaded = load_private(private.as_bytes(), None).expect("it is ours");
    assert_eq!(pkcs8(&loaded.key), pkcs8(&key));
    assert_eq!(loaded.content, Content::Jwk);
    let public = jwk::public(key.public(), &Restrictions::default());
    assert_eq!(
        &load_public(public.as_bytes(), None)
            .expect("it is ours")
            .key,
        key.public()
    );
    let set = format!(" {{\"keys\": [{}]}}\n", *private);
    assert_eq!(
        pkcs8(
            &load_private(set.as_bytes(), None)
                .expect("a set of one")
                .key
        ),
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
    let recovered = load_private(alone.as_bytes(), None)
        .expect("the primes are found")
        .key;
    assert_eq!(recovered.public(), key.public());
    assert_eq!(recovered.d(), key.d());
    let mut primes = [recovered.p(), recovered.q()];
    let mut expected = [key.p(), key.q()];
    primes.sort();
    expected.sort();
    assert_eq!(primes, expected);

    let without = |name: &str| private.replace(&member(name), "");
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
            "more than two primes",
        ),
        (format!("{public}{public}"), "damaged"),
        (public.replace('}', ",\"n\":\"AQAB\"}"), "duplicate field"),
        ("{".repeat(50_000), "damaged"),
        (format!("{{\"x\":{}", "[".repeat(500_000)), "damaged"),
        ("{\"keys\":[]}".to_owned(), "is empty"),
        (two, "holds 2 JSON Web Keys"),
        ("{}".to_owned(), "no member"),
        ("{\"keys\":7}".to_owned(), "damaged"),
    ] {
        let message = reason(load_private(json.as_bytes(), None));
        assert!(message.contains(sentence), "{sentence}: {message}");
    }
}

#[test]
fn keys_of_openssh_are_read() {
    let key = key(1024);
    let private = openssh::private(&key, "a comment");
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
    let theirs = load_private(&ssh.file("theirs"), None)
        .expect("a key of OpenSSH")
        .key;
    assert_eq!(
        &load_public(&ssh.file("theirs.pub"), None)
            .expect("its public half")
            .key,
        theirs.public()
    );
    ssh.write("ours", openssh::private(&theirs, "me@here").as_bytes());
    ssh.run("ssh-keygen -p -m PEM -P '' -N '' -f ours");
    assert_eq!(
        pkcs8(&load_private(&ssh.file("ours"), None).expect("PKCS#1").key),
        pkcs8(&theirs)
    );
    ssh.run("ssh-keygen -p -P '' -N sesame -f theirs");
    assert!(
        reason(load_private(&ssh.file("theirs"), Some(b"sesame"))).contains("ssh-keygen -p -N ''")
    );
    ssh.run("ssh-keygen -q -t ed25519 -N '' -f other");
    assert!(
        reason(load_private(&ssh.file("other"), None)).contains("rsalab works with RSA keys only")
    );
    assert!(reason(load_public(&ssh.file("other.pub"), None)).contains("Ed25519"));
}

#[test]
fn a_key_without_its_primes_gets_them() {
    for bits in [512, 1024, 2048] {
        let key = key(bits);
        let zero = [0_u8];
        let without = PrivateParts {
            p: &zero,
            q: &zero,
            dp: &zero,
            dq: &zero,
            qinv: &zero,
            ..key.parts()
        };
        let der = pkcs1_der(&without, None);
        let found = decode_private(&der).expect("the primes are found");
        assert_eq!((found.public(), found.d()), (key.public(), key.d()));
        // Another exponent is no key.
        let mut d = key.d().to_vec();
        *d.last_mut().expect("bytes") ^= 2;
        let wrong = PrivateParts { d: &d, ..without };
        assert!(reason(decode_private(&pkcs1_der(&wrong, None))).contains("e d is not 1"));
    }
}

/// A key in PKCS#1, whatever its numbers are.
fn pkcs1_der(parts: &PrivateParts<'_>, version: Option<u8>) -> Vec<u8> {
    let mut body = der(2, &[version.unwrap_or(0)]);
    for number in [
        parts.n, parts.e, parts.d, parts.p, parts.q, parts.dp, parts.dq, parts.qinv,
    ] {
        let mut minimal = BigUint::from_bytes_be(number).to_bytes_be();
        if minimal[0] & 0x80 != 0 {
            minimal.insert(0, 0);
        }
        body.extend(der(2, &minimal));
    }
    der(0x30, &body)
}

fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
    let len = contents.len();
    let mut bytes = vec![tag];
    match len {
        0..128 => bytes.push(len as u8),
        _ => {
            let significant: Vec<u8> = len
                .to_be_bytes()
                .into_iter()
                .skip_while(|&byte| byte == 0)
                .collect();
            bytes.push(0x80 | significant.len() as u8);
            bytes.extend(significant);
        }
    }
    bytes.extend_from_slice(contents);
    bytes
}

#[test]
fn keys_that_contradict_themselves_are_refused_with_the_fault() {
    let key = key(512);
    let other = self::key(520);
    let p = key.parts();
    let [n, e] = [p.n, p.e].map(BigUint::from_bytes_be);
    let even_n = (&n - 1_u32).to_bytes_be();
    let large_e = (&n + 2_u32).to_bytes_be();
    let even_e = (&e + 1_u32).to_bytes_be();
    let d_plus_one = (BigUint::from_bytes_be(p.d) + 1_u32).to_bytes_be();
    let cases = [
        (
            PrivateParts {
                dp: p.dq,
                dq: p.dp,
                ..p
            },
            "dp is not d modulo p - 1",
        ),
        (PrivateParts { dq: p.dp, ..p }, "dq is not d modulo q - 1"),
        (
            PrivateParts {
                p: p.q,
                q: p.p,
                ..p
            },
            "dp is not d modulo p - 1",
        ),
        (PrivateParts { qinv: p.dp, ..p }, "qinv"),
        (PrivateParts { q: p.p, ..p }, "p and q are the same"),
        (
            PrivateParts {
                d: &d_plus_one,
                ..p
            },
            "e d is not 1 modulo p - 1",
        ),
        (PrivateParts { n: &even_n, ..p }, "its modulus is even"),
        (PrivateParts { e: &[1], ..p }, "its public exponent is 1"),
        (PrivateParts { e: &[0], ..p }, "its public exponent is 0"),
        (
            PrivateParts { e: &even_e, ..p },
            "its public exponent is even",
        ),
        (
            PrivateParts { e: &large_e, ..p },
            "its public exponent is not smaller than its modulus",
        ),
        (
            PrivateParts {
                n: other.public().n(),
                ..p
            },
            "n is not p q",
        ),
        (PrivateParts { n: &[1; 31], ..p }, "bits is not supported"),
    ];
    for (parts, fault) in cases {
        let message = reason(decode_private(&pkcs1_der(&parts, None)));
        assert!(message.contains(fault), "{fault}: {message}");
    }
    assert!(decode_private(&pkcs1_der(&p, None)).is_ok());
    assert!(reason(decode_private(&pkcs1_der(&p, Some(7)))).contains("damaged"));
}

#[test]
fn composite_primes_and_moduli_are_found() {
    let backend = CpuBackend::auto();
    let mut rng = InsecureStudySeed::new([8; 32]).stream(0);
    // p is a product of two primes, and everything else fits it.
    let [a, b] = [256, 257].map(|stream| {
        let mut rng = InsecureStudySeed::new([4; 32]).stream(stream);
        BigUint::from_bytes_be(
            generate_strict(512, DEFAULT_EXPONENT, &mut rng)
                .expect("a key")
                .key
                .p(),
        )
    });
    let q = self::key(1024);
    let composite = PrivateKey::from_primes(&(a * b).to_bytes_be(), q.q(), &[1, 0, 1]);
    let composite = composite.expect("its numbers fit each other");
    assert!(
        reason(composite.check_primes_on(ROUNDS, &mut rng, &backend)).contains("p is not a prime")
    );
    q.check_primes_on(ROUNDS, &mut rng, &backend)
        .expect("a key");
    q.public().check_modulus_on(&backend).expect("a key");
    let times_3 = BigUint::from_bytes_be(q.public().n()) * 3_u32;
    let public =
        rsalab_rsa::PublicKey::new(&times_3.to_bytes_be(), &[1, 0, 1]).expect("well formed");
    assert!(
        reason(public.check_modulus_on(&backend)).contains("a small prime divides its modulus")
    );
    let prime = rsalab_rsa::PublicKey::new(q.p(), &[1, 0, 1]).expect("well formed");
    assert!(reason(prime.check_modulus_on(&backend)).contains("its modulus is a prime"));
}

#[test]
fn weak_keys_are_named() {
    let names = |key: &PrivateKey| -> Vec<&str> {
        key.weaknesses().into_iter().map(Weakness::name).collect()
    };
    assert_eq!(names(&self::key(2048)), [""; 0]);
    assert_eq!(names(&self::key(1024)), ["short-modulus"]);
    let mut rng = InsecureStudySeed::new([4; 32]).stream(0);
    let three = generate_strict(2048, 3, &mut rng).expect("a key").key;
    assert_eq!(names(&three), ["small-exponent"]);
    // Two primes a few numbers apart.
    let p = BigUint::from_bytes_be(self::key(1024).p());
    let backend = CpuBackend::auto();
    let mut next = &p + 2_u32;
    while !rsalab_rsa::primality::is_probable_prime_on(&next.to_bytes_be(), 8, &mut rng, &backend)
        .expect("randomness")
        || (&next - 1_u32) % 65537_u32 == BigUint::ZERO
    {
        next += 2_u32;
    }
    let close =
        PrivateKey::from_primes(&next.to_bytes_be(), &p.to_bytes_be(), &[1, 0, 1]).expect("a key");
    assert_eq!(
        names(&close),
        ["short-modulus", "fermat-factorable", "close-primes"]
    );
    // A private exponent of 100 bits.
    let key = self::key(1024);
    let phi = (BigUint::from_bytes_be(key.p()) - 1_u32) * (BigUint::from_bytes_be(key.q()) - 1_u32);
    let mut d: BigUint = (BigUint::from(1_u32) << 99) + 1_u32;
    let e = loop {
        match d.modinv(&phi) {
            Some(e) => break e,
            None => d += 2_u32,
        }
    };
    let short = PrivateKey::from_exponents(key.public().n(), &e.to_bytes_be(), &d.to_bytes_be())
        .expect("a key");
    assert_eq!(
        names(&short),
        ["short-modulus", "large-exponent", "short-private-exponent"]
    );
}

#[test]
fn keys_made_to_do_harm_are_refused_at_once() {
    let mut nested = vec![0x30, 0x80];
    nested = nested.repeat(50_000);
    let deep: Vec<u8> = (0..50_000_u32)
        .rev()
        .flat_map(|inside| [&[0x30, 0x84][..], &(6 * inside).to_be_bytes()].concat())
        .collect();
    let four_gib = [&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff][..], &[2; 100]].concat();
    let five_bytes = [&[0x30, 0x85, 1, 0, 0, 0, 0][..], &[2; 100]].concat();
    let mbit = {
        let n = [&[0][..], &vec![0xff; 131_072]].concat();
        der(0x30, &[der(2, &n), der(2, &[1, 0, 1])].concat())
    };
    let mbit_private = {
        let n = vec![0x7f; 131_072];
        let parts = PrivateParts {
            n: &n,
            e: &[1, 0, 1],
            d: &n,
            p: &n,
            q: &n,
            dp: &n,
            dq: &n,
            qinv: &n,
        };
        pkcs1_der(&parts, None)
    };
    let large_primes = {
        let key = key(512);
        let n = vec![0x7f; 100_000];
        pkcs1_der(
            &PrivateParts {
                p: &n,
                q: &n,
                ..key.parts()
            },
            None,
        )
    };
    // BER that DER forbids: a length in more bytes than it needs.
    let ber = {
        let whole = pkcs8(&key(512));
        let mut ber = vec![0x30, 0x83, 0, whole[2], whole[3]];
        assert_eq!(whole[1], 0x82);
        ber.extend_from_slice(&whole[4..]);
        ber
    };
    for (name, bytes) in [
        ("nested without lengths", nested),
        ("nested", deep),
        ("4 GiB", four_gib),
        ("a length of five bytes", five_bytes),
        ("1 Mbit", mbit),
        ("1 Mbit, private", mbit_private),
        ("large primes", large_primes),
        ("BER", ber),
        ("zeros", vec![0; 1 << 20]),
        (
            "a PEM of noise",
            [
                b"-----BEGIN PRIVATE KEY-----\n",
                &b"A".repeat(900_000)[..],
                b"\n-----END PRIVATE KEY-----\n",
            ]
            .concat(),
        ),
        (
            "an SSH line of noise",
            [b"ssh-rsa ", &b"A".repeat(900_000)[..]].concat(),
        ),
    ] {
        let started = Instant::now();
        let message = reason(load_private(&bytes, None));
        assert!(started.elapsed() < HANGS, "{name}: {:?}", started.elapsed());
        assert!(
            message.starts_with("this ") || message.contains("bits"),
            "{name}: {message}"
        );
        assert!(load_public(&bytes, None).is_err(), "{name}");
    }
}
