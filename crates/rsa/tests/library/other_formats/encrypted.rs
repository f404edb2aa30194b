//! Private keys under passwords, in every way that is read, and in ways that are not; and that what is advised works.

use rsalab_rsa::format::Loaded;

use super::*;

const PASSWORD: &[u8] = b"sesame";

/// The blocks of `encrypted.txt`, by name.
fn blocks() -> Vec<(&'static str, &'static str)> {
    include_str!("encrypted.txt")
        .split("# ")
        .filter(|part| part.contains("-----BEGIN "))
        .map(|part| part.split_once('\n').expect("a name and a block"))
        .collect()
}

fn block(name: &str) -> &'static str {
    let found = blocks().into_iter().find(|(own, _)| *own == name);
    found.expect("it is there").1
}

/// Ciphers that OpenSSL and OpenSSH write and rsalab does not read.
const NOT_READ: [&str; 5] = ["aria", "bf", "camellia", "cast5", "seed"];
const NOT_READ_EITHER: [&str; 3] = ["sm4", "aes-256-cfb", "aes-256-ofb"];

fn is_read(name: &str) -> bool {
    let lower = name.to_lowercase();
    let is_among = |all: &[&str]| all.iter().any(|other| lower.contains(other));
    !is_among(&NOT_READ) && !is_among(&NOT_READ_EITHER)
}

/// The key that a block holds.
fn expected(name: &str) -> PrivateKey {
    let plain = if name.starts_with("ssh-") { "big" } else { "plain" };
    decode_private(block(plain).as_bytes()).expect("it is not encrypted")
}

fn load(name: &str, password: &[u8]) -> Result<Loaded<PrivateKey>, Error> {
    load_private(block(name).as_bytes(), Some(password))
}

#[test]
fn every_encryption_that_is_known_is_read() {
    let mut read = 0;
    for (name, text) in blocks() {
        if !is_read(name) || matches!(name, "plain" | "big") {
            continue;
        }
        read += 1;
        let loaded = load(name, PASSWORD).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(pkcs8(&loaded.key), pkcs8(&expected(name)), "{name}");
        let encryption = loaded.encryption.expect("it is encrypted");
        // What protects little is said, and nothing else is.
        let is_weak =
            name.starts_with("old-") || name.starts_with("pbes1-") || name.contains("rc2") || name == "pbes2-des";
        assert_eq!(encryption.weakness.is_some(), is_weak, "{name}: {encryption:?}");
        let content = match name.split('-').next() {
            Some("old") => Content::EncryptedPkcs1,
            Some("ssh") => Content::OpensshPrivate,
            _ => Content::EncryptedPkcs8,
        };
        assert_eq!(loaded.content, content, "{name}");
        // Of a public key the same is asked for, and known.
        let public = load_public(text.as_bytes(), Some(PASSWORD)).expect("its public half");
        assert_eq!(&public.key, loaded.key.public());
        assert!(public.encryption.is_some());
        assert!(matches!(
            load_private(text.as_bytes(), None),
            Err(Error::PasswordMissing)
        ));
    }
    assert!(read >= 35, "{read}");
    let plain = load("plain", PASSWORD).expect("it takes no password");
    assert_eq!(plain.encryption, None);
}

/// Of 256 wrong passwords one gives the right padding by chance. All of them are one error.
#[test]
fn a_wrong_password_is_one_error_whatever_comes_of_it() {
    for name in [
        "old-AES-128-CBC",
        "old-DES-EDE3-CBC",
        "pbes1-PBE-SHA1-3DES",
        "pbes1-PBE-SHA1-RC4-40",
        "pbes1-PBE-MD5-DES",
        "pbes2-des3",
    ] {
        for number in 0..600 {
            let wrong = format!("wrong {number}");
            let outcome = load(name, wrong.as_bytes());
            assert!(matches!(outcome, Err(Error::PasswordWrong)), "{name}: {wrong}");
        }
    }
    for name in ["ssh-aes256-ctr", "ssh-aes256-gcm@openssh.com", "ssh-3des-cbc"] {
        for wrong in [&b""[..], b"sesam", b"sesame "] {
            assert!(matches!(load(name, wrong), Err(Error::PasswordWrong)), "{name}");
        }
    }
}

/// A white space more or less is none of the format's business.
#[test]
fn headers_are_read_as_openssl_reads_them() {
    let text = block("old-AES-256-CBC");
    let variants = [
        text.replace("Proc-Type: 4,ENCRYPTED", "Proc-Type:4,ENCRYPTED"),
        text.replace('\n', "\r\n"),
        text.replace("DEK-Info: AES-256-CBC,", "DEK-Info:aes-256-cbc, "),
        format!("a remark\n{text}"),
    ];
    for variant in variants {
        let loaded = load_private(variant.as_bytes(), Some(PASSWORD));
        assert_eq!(
            pkcs8(&loaded.unwrap_or_else(|error| panic!("{variant}: {error}")).key),
            pkcs8(&expected("old-AES-256-CBC"))
        );
    }
    let start = text.find("DEK-Info").expect("a header");
    let end = start + text[start..].find('\n').expect("a line");
    let line = &text[start..end];
    for (other, sentence) in [
        ("X-Info: 1".to_owned(), "does not say how"),
        ("DEK-Info: AES-256-CBC".to_owned(), "initialisation vector"),
        ("DEK-Info: AES-256-CBC,12".to_owned(), "initialisation vector"),
        (line.replace(',', ",xy"), "initialisation vector"),
        ("DEK-Info: ROT13,12".to_owned(), "a cipher that it does not know"),
    ] {
        let message = reason(load_private(text.replace(line, &other).as_bytes(), Some(PASSWORD)));
        assert!(message.contains(sentence), "{other}: {message}");
    }
}

/// The numbers come from the file.
#[test]
fn costs_of_old_encryptions_are_bounded() {
    let with = |name: &str, from: &[u8], to: &[u8]| {
        let text = block(name);
        let mut der = pem(text);
        let place = der.windows(from.len()).position(|window| window == from);
        let place = place.expect("the number");
        der[place..][..to.len()].copy_from_slice(to);
        load_private(&der, Some(PASSWORD))
    };
    // INTEGER 2048.
    let count = [2, 2, 8, 0];
    for name in ["pbes1-PBE-MD5-DES", "pbes1-PBE-SHA1-3DES", "pbes2-aes-128-cbc"] {
        assert!(with(name, &count, &[2, 2, 8, 1]).is_err_and(|error| matches!(error, Error::PasswordWrong)));
        assert!(reason(with(name, &count, &[2, 2, 0, 0])).contains("damaged"));
    }
    // Rounds of bcrypt, after a salt of 16 bytes.
    let started = Instant::now();
    let text = block("ssh-aes256-ctr").replace("AAAAAQAAAAEAAA", "AP///wAAAAEAAA");
    assert_ne!(text, block("ssh-aes256-ctr"), "the rounds are there");
    let message = reason(load_private(text.as_bytes(), Some(PASSWORD)));
    assert!(message.contains("rounds of bcrypt"), "{message}");
    assert!(started.elapsed() < HANGS);
}

fn pem(text: &str) -> Vec<u8> {
    let body: String = text.lines().filter(|line| !line.starts_with('-')).collect();
    base64(&body)
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text
        .bytes()
        .filter_map(|byte| DIGITS.iter().position(|&digit| digit == byte))
        .map(|digit| digit as u32)
        .collect();
    let group = |group: &[u32]| {
        let number = group.iter().fold(0, |number, digit| number << 6 | digit) << (6 * (4 - group.len()));
        number.to_be_bytes()[1..group.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

/// OpenSSL's commands: the system's, and the one that the tests with other versions name.
fn commands() -> Vec<String> {
    let named = std::env::var("RSALAB_OPENSSL").ok();
    if named.is_none() {
        eprintln!("SKIPPED: RSALAB_OPENSSL names no other version of OpenSSL to try advice with");
    }
    ["openssl".to_owned()].into_iter().chain(named).collect()
}

/// Encryptions that are not read are called unsupported, and never damaged; and the command in the message makes a file
/// that is read.
#[test]
fn advice_about_encryptions_that_are_not_read_works() {
    let Some(folder) = Other::find("openssl") else {
        return;
    };
    let mut tried = 0;
    for (name, text) in blocks().into_iter().filter(|(name, _)| !is_read(name)) {
        let error = load(name, PASSWORD).expect_err("it is not read");
        assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error}");
        let message = error.to_string();
        assert!(!message.contains("damaged"), "{name}: {message}");
        let advice = message.split('`').nth(1).expect("a command");
        for command in commands() {
            let is_legacy = advice.contains("-provider legacy");
            let has_legacy = Command::new(&command)
                .args(["list", "-providers", "-provider", "legacy"])
                .output()
                .is_ok_and(|output| output.status.success());
            if is_legacy && !has_legacy {
                eprintln!("SKIPPED: {command} has no provider of the name legacy, which {name} takes");
                continue;
            }
            folder.write("file", text.as_bytes());
            let line = advice
                .replacen("openssl", &command, 1)
                .replace("FILE", "file")
                .replace("NEW", "new");
            folder.run(&format!("{line} -passin pass:sesame -passout pass:other"));
            let loaded = load_private(&folder.file("new"), Some(b"other")).expect("it is read now");
            assert_eq!(pkcs8(&loaded.key), pkcs8(&expected(name)), "{name}");
            assert_eq!(loaded.encryption.expect("it is encrypted").weakness, None);
            tried += 1;
        }
    }
    assert!(tried > 0);
}

#[test]
fn advice_about_too_many_rounds_of_bcrypt_works() {
    let Some(ssh) = Other::find("ssh-keygen") else {
        return;
    };
    ssh.write("file", block("big").as_bytes());
    ssh.run("ssh-keygen -q -p -P '' -N sesame -a 201 -f file");
    let error = load_private(&ssh.file("file"), Some(PASSWORD)).expect_err("it costs too much");
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
    let message = error.to_string();
    let advice = message.split('`').nth(1).expect("a command");
    let line = advice.replace("COPY", "file");
    ssh.run(&format!("{line} -q -P sesame -N sesame"));
    let loaded = load_private(&ssh.file("file"), Some(PASSWORD)).expect("it is read now");
    assert_eq!(pkcs8(&loaded.key), pkcs8(&expected("ssh-")));
}

#[test]
fn passwords_may_be_empty() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    openssl.write("plain.pem", block("plain").as_bytes());
    for way in [
        "-v2 aes-256-cbc -iter 1000",
        "-v1 PBE-SHA1-3DES",
        "-v1 PBE-MD5-DES -provider legacy -provider default",
    ] {
        openssl.run(&format!(
            "openssl pkcs8 -topk8 -in plain.pem -out locked -passout pass: {way}"
        ));
        let loaded = load_private(&openssl.file("locked"), Some(b"")).expect("the password is empty");
        assert_eq!(pkcs8(&loaded.key), pkcs8(&expected("plain")));
        assert!(matches!(
            load_private(&openssl.file("locked"), Some(b"x")),
            Err(Error::PasswordWrong)
        ));
    }
}
