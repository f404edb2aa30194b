//! Keys that somebody else supplied: whose passwords cost gigabytes, that are too long, that are for something else,
//! and that are no keys for reasons that take work to find.

use std::{fs, path::Path};

use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{self, Annotations, Encoding, PublicFormat, Restrictions, jwk},
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};

use super::{refuse, refuse_with_verdict, write};
use crate::support::{assert_done, assert_failure, folder, run, study_key};

/// A key of its own for each stream, always the same.
fn key(bits: usize, stream: u64) -> PrivateKey {
    let mut rng = InsecureStudySeed::new([7; 32]).stream(stream);
    let made = generate_strict(bits, DEFAULT_EXPONENT, &mut rng);
    made.expect("the size is supported").key
}

fn typed(here: &Path, line: &str) -> std::process::Output {
    run(here, line.split(' '))
}

/// DER: a tag, a length and what it is of.
fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len();
    let mut bytes = vec![tag];
    match len {
        0..128 => bytes.push(len as u8),
        128..256 => bytes.extend([0x81, len as u8]),
        _ => bytes.extend([0x82, (len >> 8) as u8, len as u8]),
    }
    bytes.extend_from_slice(content);
    bytes
}

fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    der(0x30, &parts.concat())
}

fn integer(value: u64) -> Vec<u8> {
    let bytes = value.to_be_bytes();
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count().min(7);
    match bytes[zeros] & 0x80 {
        0 => der(2, &bytes[zeros..]),
        _ => der(2, &[&[0], &bytes[zeros..]].concat()),
    }
}

/// An encrypted private key that asks for this derivation of its key.
fn encrypted(derivation: &[Vec<u8>]) -> Vec<u8> {
    const PBES2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d";
    const AES_256_CBC: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x01\x2a";
    let cipher = sequence(&[der(6, AES_256_CBC), der(4, &[1; 16])]);
    let algorithm = sequence(&[der(6, PBES2), sequence(&[sequence(derivation), cipher])]);
    sequence(&[algorithm, der(4, &[2; 64])])
}

fn scrypt(n: u64, r: u64, p: u64) -> Vec<u8> {
    const SCRYPT: &[u8] = b"\x2b\x06\x01\x04\x01\xda\x47\x04\x0b";
    let parameters = sequence(&[der(4, b"salt"), integer(n), integer(r), integer(p)]);
    encrypted(&[der(6, SCRYPT), parameters])
}

fn pbkdf2(iterations: u64) -> Vec<u8> {
    const PBKDF2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c";
    const SHA256: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x02\x09";
    let prf = sequence(&[der(6, SHA256), der(5, &[])]);
    let parameters = sequence(&[der(4, b"salt"), integer(iterations), prf]);
    encrypted(&[der(6, PBKDF2), parameters])
}

#[test]
fn passwords_that_cost_too_much_or_nothing() {
    let here = folder();
    let here = here.path();
    write(here, "password", "secret\n");
    write(here, "input", "text");
    let cases = [
        (scrypt(0, 8, 1), "N = 0, r = 8, p = 1"),
        (scrypt(1, 8, 1), "a power of two above 1"),
        (scrypt(3, 8, 1), "a power of two above 1"),
        (scrypt(16384, 0, 1), "r and p are at least 1"),
        (scrypt(16384, 8, 0), "r and p are at least 1"),
        (scrypt(2, 65535, 100), "more memory or time"),
        (scrypt(1 << 20, 8, 1), "more memory or time"),
        (scrypt(1 << 15, 15, 1), "more memory or time"),
        (scrypt(1 << 14, 8, 60000), "more memory or time"),
        (scrypt(1 << 62, 65535, 65535), "more memory or time"),
        (pbkdf2(0), "0 iterations of PBKDF2; 1 is the least"),
        (pbkdf2(3_000_001), "3000000 at most"),
        (pbkdf2(u64::from(u32::MAX)), "3000000 at most"),
    ];
    for (key, words) in &cases {
        write(here, "key.der", key);
        let words: &[&str] = &["key.der", words];
        for command in ["sign", "decrypt --scheme oaep"] {
            let line = format!("{command} --key key.der --password-file password input");
            refuse(here, &[(line, 3, words)]);
        }
        let line = "key check --password-file password key.der";
        refuse_with_verdict(here, &[(line, 3, words)]);
    }
    // What is within the bounds is tried.
    for key in [scrypt(2, 8, 1), pbkdf2(1)] {
        write(here, "key.der", key);
        let output = typed(here, "key check --password-file password key.der");
        assert_failure(&output, 3, "does not fit this private key");
    }
}

#[test]
fn keys_that_are_too_long_to_be_quick() {
    let here = folder();
    let here = here.path();
    write(here, "input", "text");
    write(here, "input.sig", [1; 2048]);
    // Odd, with no small factor at once to be seen: nothing may be computed with it.
    let number = |bytes: usize, first: u8| {
        let mut number = vec![0x5b; bytes];
        (number[0], number[bytes - 1]) = (first, 0xb7);
        number
    };
    let (n, d) = (number(2048, 0xc3), number(2048, 0x21));
    let encode = |bytes: &[u8]| base64(bytes);
    let public = PublicKey::new(&n, &[1, 0, 1]).expect("it is one for all that is seen");
    write(
        here,
        "public.pem",
        format::encode_public(&public, PublicFormat::Spki, Encoding::Pem),
    );
    write(
        here,
        "private.jwk",
        format!(
            r#"{{"kty":"RSA","n":"{}","e":"AQAB","d":"{}"}}"#,
            encode(&n),
            encode(&d)
        ),
    );
    write(
        here,
        "exponent.jwk",
        format!(r#"{{"kty":"RSA","n":"{}","e":"{}"}}"#, encode(&n), encode(&d)),
    );
    let words: &[&str] = &["a modulus of 16384 bits", "at most 8192", "--large-keys"];
    let rows = [
        "verify --key public.pem input",
        "verify --key exponent.jwk input",
        "text-encrypt --key public.pem input",
        "encrypt --key exponent.jwk --scheme oaep input",
        "raw-public --key public.pem --in input.sig",
        "key public public.pem",
        "key public exponent.jwk",
        "sign --key private.jwk input",
        "text-decrypt --key private.jwk input",
        "decrypt --key private.jwk --scheme oaep input",
        "raw-private --key private.jwk --in input.sig",
        "key convert private.jwk --out new",
    ]
    .map(|line| (line, 3, words));
    refuse(here, &rows);
    for file in ["public.pem", "private.jwk", "exponent.jwk"] {
        refuse_with_verdict(here, &[(format!("key check {file}"), 3, words)]);
    }
    // Allowed, it is found to be no key.
    let output = typed(here, "key check --large-keys private.jwk");
    assert_failure(&output, 3, "wrong");
    #[rustfmt::skip]
    let rows: &[(&str, i32, &[&str])] = &[
        ("key check --rounds 0 public.pem", 2, &["--rounds", "1 to 1000"]),
        ("key check --rounds 1001 public.pem", 2, &["--rounds", "1 to 1000"]),
        ("key check --rounds many public.pem", 2, &["--rounds", "1 to 1000"]),
    ];
    refuse(here, rows);
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=chunk.len()].copy_from_slice(chunk);
        let word = u32::from_be_bytes(word);
        for digit in 0..=chunk.len() {
            text.push(DIGITS[(word >> (18 - 6 * digit)) as usize & 63] as char);
        }
    }
    text
}

#[test]
fn moduli_that_are_none() {
    let here = folder();
    let here = here.path();
    let key = key(1024, 1);
    let with_modulus = |n: &[u8]| {
        let key = PublicKey::new(n, &[1, 0, 1]).expect("its form is right");
        format::encode_public(&key, PublicFormat::Spki, Encoding::Pem)
    };
    let prime = key.p();
    let square = multiplied(prime, prime);
    let mut factor = key.public().n().to_vec();
    // A multiple of 3: the digits of a number in base 256 add up as those in base 10 do for 3.
    let last = factor.len() - 1;
    while factor.iter().map(|&byte| u32::from(byte)).sum::<u32>() % 3 != 0 {
        factor[last - 1] = factor[last - 1].wrapping_add(1);
    }
    write(here, "prime.pem", with_modulus(prime));
    write(here, "square.pem", with_modulus(&square));
    write(here, "factor.pem", with_modulus(&factor));
    write(here, "input", "text");
    write(here, "input.sig", [1; 64]);
    for (file, words) in [
        ("prime.pem", "its modulus is a prime"),
        ("square.pem", "square"),
        ("factor.pem", "a small prime divides its modulus"),
    ] {
        let words: &[&str] = &[file, "not a valid RSA key", words];
        let rows = [
            format!("text-encrypt --key {file} --text a"),
            format!("encrypt --key {file} --scheme pkcs1v15 --text a"),
            format!("verify --key {file} input"),
            format!("raw-public --key {file} --in input.sig"),
        ]
        .map(|line| (line, 3, words));
        refuse(here, &rows);
        let words: &[&str] = &[words[1], words[2], "do not use it"];
        refuse_with_verdict(here, &[(format!("key check {file}"), 3, words)]);
    }
}

/// The product of two numbers, big-endian.
fn multiplied(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut product = vec![0_u8; a.len() + b.len()];
    for (i, &x) in a.iter().rev().enumerate() {
        let mut carry = 0_u32;
        for (j, y) in b.iter().rev().map(Some).chain([None]).enumerate() {
            let place = product.len() - 1 - i - j;
            let sum = u32::from(product[place]) + carry + u32::from(x) * y.map_or(0, |&y| u32::from(y));
            product[place] = sum as u8;
            carry = sum >> 8;
        }
    }
    product
}

#[test]
fn numbers_that_are_negative_and_keys_that_are_not_ours() {
    let here = folder();
    let here = here.path();
    write(here, "input", "text");
    let key = key(512, 2);
    let parts = key.parts();
    let number = |bytes: &[u8]| der(2, &[&[0], bytes].concat());
    let negative = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[0] |= 0x80;
        der(2, &bytes)
    };
    let public = |n: Vec<u8>, e: Vec<u8>| sequence(&[n, e]);
    write(here, "n.der", public(negative(parts.n), integer(65537)));
    write(here, "e.der", public(number(parts.n), der(2, &[0x81, 0, 1])));
    let numbers = [parts.n, parts.d, parts.p, parts.q, parts.dp, parts.dq, parts.qinv];
    let private = |wrong: usize| {
        let mut fields = vec![integer(0)];
        for (place, bytes) in numbers.iter().enumerate() {
            let trimmed = &bytes[bytes.iter().take_while(|&&byte| byte == 0).count()..];
            let plain = match trimmed[0] & 0x80 {
                0 => der(2, trimmed),
                _ => number(trimmed),
            };
            fields.push(if place == wrong { negative(trimmed) } else { plain });
            if place == 0 {
                fields.push(integer(65537));
            }
        }
        sequence(&fields)
    };
    write(here, "private-n.der", private(0));
    write(here, "private-d.der", private(1));
    write(here, "private-q.der", private(3));
    for (file, words) in [
        ("n.der", "the modulus of this key is negative"),
        ("e.der", "the public exponent of this key is negative"),
        ("private-n.der", "the modulus of this key is negative"),
        ("private-d.der", "the private exponent d of this key is negative"),
        ("private-q.der", "the prime q of this key is negative"),
    ] {
        let words: &[&str] = &[file, words];
        refuse(here, &[(format!("text-encrypt --key {file} --text a"), 3, words)]);
        refuse_with_verdict(here, &[(format!("key check {file}"), 3, words)]);
    }
    // A valid key of another form is not called an invalid one.
    let (long, short) = (self::key(1024, 3), self::key(512, 4));
    let unequal = PrivateKey::from_primes(long.p(), short.p(), &[1, 0, 1]);
    let error = unequal.expect_err("its primes differ in length").to_string();
    assert!(!error.contains("not a valid"), "{error}");
    assert!(error.contains("two primes of the same length"), "{error}");
}

#[test]
fn keys_that_are_for_something_else() {
    let here = folder();
    let here = here.path();
    let key = key(1024, 5);
    write(here, "input", "text");
    write(here, "input.sig", [1; 128]);
    write(here, "input.enc", [1; 128]);
    let said = |jwk_use: Option<&str>, operations: &[&str], algorithm: Option<&str>| Restrictions {
        jwk_use: jwk_use.map(str::to_owned),
        jwk_operations: (!operations.is_empty()).then(|| operations.iter().map(|&word| word.to_owned()).collect()),
        jwk_algorithm: algorithm.map(str::to_owned),
        ..Restrictions::default()
    };
    let files = [
        ("enc.jwk", said(Some("enc"), &[], None)),
        ("sig.jwk", said(Some("sig"), &[], None)),
        ("tls.jwk", said(Some("tls"), &[], None)),
        ("wrap.jwk", said(None, &["wrapKey", "unwrapKey"], None)),
        ("verify.jwk", said(None, &["verify"], None)),
        ("rs256.jwk", said(None, &[], Some("RS256"))),
        ("ps384.jwk", said(Some("sig"), &[], Some("PS384"))),
        ("oaep.jwk", said(None, &[], Some("RSA-OAEP-256"))),
        ("es256.jwk", said(None, &[], Some("ES256"))),
    ];
    for (name, restrictions) in &files {
        write(
            here,
            name,
            jwk::private(&key, restrictions, &Annotations::default()).as_bytes(),
        );
    }
    #[rustfmt::skip]
    let rows: Vec<(&str, i32, &[&str])> = vec![
        ("sign --key enc.jwk input", 3, &["not to sign", "\"use\" is \"enc\"", "--any-use"]),
        ("verify --key enc.jwk input", 3, &["not to verify", "\"use\" is \"enc\"", "--any-use"]),
        ("text-encrypt --key sig.jwk --text a", 3, &["not to encrypt", "\"use\" is \"sig\""]),
        ("encrypt --key sig.jwk --scheme oaep --text a", 3, &["not to encrypt", "\"use\" is \"sig\""]),
        ("decrypt --key sig.jwk --scheme oaep input.enc", 3, &["not to decrypt", "\"use\" is \"sig\""]),
        ("text-decrypt --key sig.jwk input.enc", 3, &["not to decrypt", "\"use\" is \"sig\""]),
        ("sign --key tls.jwk input", 3, &["\"use\" is a word that is not registered"]),
        ("text-encrypt --key tls.jwk --text a", 3, &["\"use\" is a word that is not registered"]),
        ("raw-private --key tls.jwk --in input.sig", 3, &["raw private", "\"use\" is a word that is not registered"]),
        ("raw-public --key tls.jwk --in input.sig", 3, &["raw public", "\"use\" is a word that is not registered"]),
        ("sign --key wrap.jwk input", 3, &["\"key_ops\" are", "wrapKey"]),
        ("verify --key wrap.jwk input", 3, &["\"key_ops\" are", "wrapKey"]),
        ("sign --key verify.jwk input", 3, &["\"key_ops\" are", "verify"]),
        ("decrypt --key verify.jwk --scheme oaep input.enc", 3, &["\"key_ops\" are", "verify"]),
        ("sign --key rs256.jwk --scheme pss input", 3, &["\"alg\" is \"RS256\"", "another scheme"]),
        ("sign --key rs256.jwk --hash sha512 input", 3, &["\"alg\" is \"RS256\""]),
        ("decrypt --key rs256.jwk --scheme pkcs1v15 input.enc", 3, &["\"alg\" is \"RS256\""]),
        ("sign --key ps384.jwk --scheme pkcs1v15 input", 3, &["\"alg\" is \"PS384\""]),
        ("sign --key ps384.jwk --salt-len 20 input", 3, &["\"alg\" is \"PS384\""]),
        ("sign --key ps384.jwk --hash sha256 input", 3, &["\"alg\" is \"PS384\""]),
        ("text-encrypt --key oaep.jwk --text a", 3, &["\"alg\" is \"RSA-OAEP-256\""]),
        ("encrypt --key oaep.jwk --scheme pkcs1v15 --text a", 3, &["\"alg\" is \"RSA-OAEP-256\""]),
        ("encrypt --key oaep.jwk --scheme oaep --hash sha1 --text a", 3, &["\"alg\" is \"RSA-OAEP-256\""]),
        ("encrypt --key oaep.jwk --scheme oaep --label x --text a", 3, &["\"alg\" is \"RSA-OAEP-256\""]),
        ("sign --key oaep.jwk input", 3, &["\"alg\" is \"RSA-OAEP-256\""]),
        ("sign --key es256.jwk input", 3, &["\"alg\" is \"ES256\""]),
        ("encrypt --key es256.jwk --scheme oaep --text a", 3, &["\"alg\" is \"ES256\""]),
    ];
    refuse(here, &rows);
    // What the file says is what is done where nothing else is asked for, and whoever knows better may.
    for line in [
        "sign --key rs256.jwk input --sig rs256",
        "verify --scheme pkcs1v15 --key sig.jwk --sig rs256 input",
        "sign --key ps384.jwk input --sig ps384",
        "verify --hash sha384 --key sig.jwk --sig ps384 input",
        "encrypt --key oaep.jwk --scheme oaep --in input --out oaep",
        "decrypt --key wrap.jwk --scheme oaep oaep",
        "sign --any-use --key enc.jwk input --sig forced",
        "encrypt --any-use --key sig.jwk --scheme oaep --text a",
        "raw-private --key sig.jwk --in input.sig",
    ] {
        assert_done(&typed(here, line));
    }
    // A format that can express it keeps it; for another, a note says that it is lost.
    assert_done(&typed(here, "key public ps384.jwk --format jwk --out public.jwk"));
    let public = fs::read_to_string(here.join("public.jwk")).expect("it was made");
    assert!(public.contains(r#""use":"sig","alg":"PS384""#), "{public}");
    assert_done(&typed(here, "key public wrap.jwk --format jwk --out wrap.pub"));
    let public = fs::read_to_string(here.join("wrap.pub")).expect("it was made");
    assert!(public.contains(r#""key_ops":["wrapKey"]"#), "{public}");
    let lost = typed(here, "key convert ps384.jwk --out key.pem");
    assert_done(&lost);
    let said = String::from_utf8_lossy(&lost.stderr);
    assert!(
        said.contains("cannot say what this key is for: use sig, alg PS384"),
        "{said}"
    );
}

#[test]
fn certificates_are_for_what_they_say() {
    let here = folder();
    let here = here.path();
    study_key(here, 2048);
    write(here, "input", "text");
    assert_done(&typed(here, "sign --key key.pem input"));
    let usages = [
        ("sign", "digitalSignature"),
        ("seal", "keyEncipherment,dataEncipherment"),
        ("ca", "keyCertSign,cRLSign"),
        ("any", ""),
    ];
    for (name, usage) in usages {
        let mut command = std::process::Command::new("openssl");
        command.current_dir(here).args([
            "req", "-x509", "-key", "key.pem", "-subj", "/CN=x", "-days", "1", "-out", name,
        ]);
        if !usage.is_empty() {
            command.args(["-addext", &format!("keyUsage=critical,{usage}")]);
        }
        match command.output() {
            Ok(output) => assert!(output.status.success(), "{name}"),
            Err(error) => {
                eprintln!("SKIPPED: the openssl command cannot be asked for certificates: {error}");
                return;
            }
        }
    }
    let rows: &[(&str, i32, &[&str])] = &[
        (
            "verify --key seal input",
            3,
            &["its certificate is for keyEncipherment, dataEncipherment", "--any-use"],
        ),
        (
            "verify --key ca input",
            3,
            &["its certificate is for keyCertSign, cRLSign"],
        ),
        (
            "encrypt --key sign --scheme oaep --text a",
            3,
            &["its certificate is for digitalSignature"],
        ),
        (
            "text-encrypt --key ca --text a",
            3,
            &["its certificate is for keyCertSign, cRLSign"],
        ),
        (
            "raw-public --key ca --in input",
            3,
            &["its certificate is for keyCertSign, cRLSign"],
        ),
    ];
    refuse(here, rows);
    for line in [
        "verify --key sign input",
        "verify --key any input",
        "verify --any-use --key ca input",
        "encrypt --key seal --scheme oaep --text a",
        "key public ca --out public",
    ] {
        assert_done(&typed(here, line));
    }
}
