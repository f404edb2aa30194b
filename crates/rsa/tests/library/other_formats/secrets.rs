//! Errors repeat nothing of a file: no eight characters in a row of a key's text, however it was squeezed, cut or mixed
//! up.

use std::collections::HashSet;

use base64ct::{Base64, Base64UrlUnpadded, Encoding as _};
use rsalab_rsa::{
    PublicKey,
    format::{Loaded, Purpose, encode_public},
    scheme::{EncryptionScheme, Oaep, SignatureScheme},
};
use serde_json::{Value, json};

use super::*;

/// Eight characters in a row of a secret.
type Window = [u8; 8];

/// Text that no message may hold.
struct Secrets(HashSet<Window>);

impl Secrets {
    fn of(key: &PrivateKey) -> Secrets {
        let mut found = Secrets(HashSet::new());
        let parts = key.parts();
        let numbers = [parts.n, parts.d, parts.p, parts.q, parts.dp, parts.dq, parts.qinv];
        let files: Vec<Vec<u8>> = vec![
            pkcs8(key),
            encode_private(key, PrivateFormat::Pkcs1, Encoding::Der).to_vec(),
        ];
        for number in numbers {
            found.add(BigUint::from_bytes_be(number).to_string().as_bytes());
        }
        for bytes in files.iter().map(|file| &file[..]).chain(numbers) {
            found.add(bytes);
            found.add(hex::encode(bytes).as_bytes());
            found.add(hex::encode_upper(bytes).as_bytes());
            found.add(Base64::encode_string(bytes).as_bytes());
            found.add(Base64UrlUnpadded::encode_string(bytes).as_bytes());
        }
        for text in [
            openssh::private(key, "x").unwrap().to_string(),
            openssh::public(key.public(), "x"),
        ] {
            let lines = text.lines().filter(|line| !line.contains("-----"));
            let body: String = lines.map(|line| line.trim_start_matches("ssh-rsa ")).collect();
            found.add(body.as_bytes());
        }
        found
    }

    fn add(&mut self, text: &[u8]) {
        self.0
            .extend(text.windows(8).map(|window| Window::try_from(window).unwrap()));
    }

    /// Fails if a message repeats a secret.
    #[track_caller]
    fn check(&self, message: &str, name: &str) {
        if let Some(repeated) = message.as_bytes().windows(8).find(|window| self.0.contains(*window)) {
            let repeated = String::from_utf8_lossy(repeated);
            panic!("{name}: «{repeated}» of the key is in: {message}");
        }
    }

    /// Reads a file in every way, and looks at what is said. Returns how many errors there were.
    fn read(&self, file: &[u8], name: &str) -> usize {
        let mut errors = 0;
        let mut heard = |said: Option<Error>| {
            if let Some(error) = said {
                errors += 1;
                self.check(&error.to_string(), name);
                self.check(&format!("{error:?}"), name);
            }
        };
        match load_private(file, None) {
            Ok(loaded) => self.used(&loaded, loaded.key.public(), &mut heard, name),
            Err(error) => heard(Some(error)),
        }
        match load_public(file, None) {
            Ok(loaded) => self.used(&loaded, &loaded.key, &mut heard, name),
            Err(error) => heard(Some(error)),
        }
        heard(decode_private(file).err());
        heard(decode_public(file).err());
        errors
    }

    /// Checks what is said of a key that was read and is for something else.
    fn used<K>(&self, loaded: &Loaded<K>, key: &PublicKey, heard: &mut impl FnMut(Option<Error>), name: &str) {
        self.check(&loaded.restrictions.to_string(), name);
        // Whoever publishes the public key publishes what its file says that it is for.
        let restrictions = Restrictions {
            jwk_use: None,
            jwk_operations: None,
            jwk_algorithm: None,
            ..loaded.restrictions.clone()
        };
        let plain = jwk::public(key, &restrictions, &loaded.annotations).len();
        let words = jwk::public(key, &loaded.restrictions, &loaded.annotations).len() - plain;
        assert!(words < 300, "{name}: {words} bytes in a public key");
        let sign = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let encrypt = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
        for purpose in [
            Purpose::Sign(&sign),
            Purpose::Verify(&sign),
            Purpose::Encrypt(Some(&encrypt)),
            Purpose::Decrypt(Some(&encrypt)),
            Purpose::RawPrivate,
            Purpose::RawPublic,
        ] {
            heard(loaded.check(purpose).err());
        }
    }
}

/// A generator that gives the same each time (Knuth's).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

/// The forms in which people have a text with lines after it went through variables, settings, editors and other
/// programs.
fn squeezed(text: &str) -> Vec<(&'static str, Vec<u8>)> {
    let lines: Vec<&str> = text.lines().collect();
    let [first, .., last] = lines[..] else {
        let quoted = format!("\"{text}\"");
        return vec![("as it is", text.into()), ("in quotes", quoted.into())];
    };
    let body = &lines[1..lines.len() - 1];
    let with = |before: &str, after: &str| {
        let lines = body.iter().map(|line| format!("{before}{line}{after}\n"));
        format!("{first}\n{}{last}\n", lines.collect::<String>())
    };
    let one_line = text.trim_end().replace('\n', "\\n");
    let utf_16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        units.flat_map(order).collect()
    };
    let mut forms: Vec<(&str, Vec<u8>)> = [
        ("as it is", text.to_owned()),
        ("on one line", text.replace('\n', "")),
        ("on one line with blanks", text.replace('\n', " ")),
        ("line ends written out", one_line.clone()),
        ("carriage returns written out", text.replace('\n', "\\r\\n")),
        ("carriage returns", text.replace('\n', "\r")),
        ("two ends a line", text.replace('\n', "\r\n\r\n")),
        ("tabs for line ends", text.replace('\n', "\t")),
        ("a setting", format!("PRIVATE_KEY=\"{one_line}\"\n")),
        ("a setting of lines", format!("key: '{text}'\n")),
        ("quotes of lines", format!("\"{text}\"")),
        ("a JSON text", json!(text).to_string()),
        ("a JSON member", json!({ "private_key": text }).to_string()),
        (
            "a JSON member on one line",
            json!({"private_key": text.replace('\n', " ")}).to_string(),
        ),
        ("a JWK of text", json!({"kty": "RSA", "n": text, "e": text}).to_string()),
        (
            "an account",
            json!({"type": text, "private_key": 7, "client_id": text}).to_string(),
        ),
        ("indented", with(" ", "")),
        ("blanks at line ends", with("", "  \t")),
        ("quoted with >", with("> ", "")),
        ("numbers of lines", with("12 ", "")),
        ("commas", with("", ",")),
        ("body alone", body.concat()),
        ("body in lines", body.join("\n")),
        ("body with a blank", body.join(" ")),
        ("no END", format!("{first}\n{}\n", body.concat())),
        ("no BEGIN", format!("{}\n{last}\n", body.concat())),
        ("no dashes after BEGIN", text.replacen("-----\n", "\n", 1)),
        ("fewer dashes", text.replace("-----", "----")),
        ("long dashes", text.replace("-----", "—")),
        ("BEGIN twice", format!("{first}{first}{}\n{last}", body.concat())),
        ("body in the label", text.replacen("KEY-----\n", "", 1)),
        ("body as the label", format!("-----BEGIN {}-----\n", body.concat())),
        (
            "body as both labels",
            format!("-----BEGIN {0}-----\n{0}\n-----END {0}-----\n", body.concat()),
        ),
        ("another label", text.replace("PRIVATE KEY", "SECRET THING")),
        ("certificate", text.replace("PRIVATE KEY", "CERTIFICATE")),
        ("EC", text.replace("PRIVATE KEY", "EC PRIVATE KEY")),
        ("SSH2", text.replace("-----", "---- ")),
        ("ssh-rsa", format!("ssh-rsa {}", body.concat())),
        ("ssh-ed25519", format!("ssh-ed25519 {}", body.concat())),
        ("ssh-body", format!("ssh-{0} {0}", body.concat())),
        ("Proc-Type", with("Proc-Type: 4,ENCRYPTED ", "")),
        ("twice", format!("{text}{text}")),
        ("text before", format!("{}\n{text}", body[0])),
        ("text after", format!("{text}{}\n", body[0])),
        ("PuTTY", format!("PuTTY-User-Key-File-3: {}\n{text}", body.concat())),
        ("OpenPGP", text.replace("BEGIN ", "BEGIN PGP ")),
    ]
    .into_iter()
    .map(|(name, text)| (name, text.into_bytes()))
    .collect();
    forms.push(("BOM", format!("\u{feff}{text}").into_bytes()));
    forms.push(("UTF-16, little endian", utf_16(u16::to_le_bytes)));
    forms.push(("UTF-16, big endian", utf_16(u16::to_be_bytes)));
    forms
}

/// A file with one thing wrong somewhere.
fn altered(file: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut file = file.to_vec();
    let place = dice.below(file.len());
    let len = dice.below(40).min(file.len() - place);
    match dice.below(7) {
        0 => file.truncate(place),
        1 => drop(file.drain(place..place + len)),
        2 => file[place] ^= 1 << dice.below(8),
        3 => file.insert(place, b" \n\"\\,:{}=-\0"[dice.below(11)]),
        4 => {
            let part = file[place..place + len].to_vec();
            let to = dice.below(file.len());
            file.splice(to..to, part);
        }
        5 => drop(file.drain(..place)),
        _ => file[place] = dice.below(256) as u8,
    }
    file
}

#[test]
fn errors_of_mutated_keys_repeat_nothing() {
    let key = key(512);
    let secrets = Secrets::of(&key);
    let spki = encode_public(key.public(), PublicFormat::Spki, Encoding::Pem);
    let mislabelled = {
        let pem = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
        String::from_utf8(pem.to_vec())
            .unwrap()
            .replace("PRIVATE", "ENCRYPTED PRIVATE")
    };
    let pem = |format| {
        let pem = encode_private(&key, format, Encoding::Pem);
        String::from_utf8(pem.to_vec()).unwrap()
    };
    let texts = [
        pem(PrivateFormat::Pkcs8),
        pem(PrivateFormat::Pkcs1),
        mislabelled,
        openssh::private(&key, "a comment").unwrap().to_string(),
        String::from_utf8(spki).unwrap(),
        openssh::public(key.public(), "a comment"),
        jwk::private(&key, &Restrictions::default(), &Annotations::default()).to_string(),
    ];
    let mut dice = Dice(39);
    let mut errors = 0;
    for text in &texts {
        for (name, form) in squeezed(text) {
            errors += secrets.read(&form, name);
            for _ in 0..12 {
                let form = altered(&form, &mut dice);
                errors += secrets.read(&form, &format!("{name}, altered"));
            }
        }
    }
    for der in [
        pkcs8(&key),
        encode_private(&key, PrivateFormat::Pkcs1, Encoding::Der).to_vec(),
    ] {
        for text in [
            hex::encode(&der),
            Base64::encode_string(&der),
            Base64UrlUnpadded::encode_string(&der),
        ] {
            errors += secrets.read(text.as_bytes(), "DER as text");
        }
        for _ in 0..300 {
            let der = altered(&der, &mut dice);
            errors += secrets.read(&der, "altered DER");
        }
    }
    assert!(errors > 5000, "{errors} errors were looked at");
}

#[test]
fn errors_of_mixed_up_json_repeat_nothing() {
    let key = key(512);
    let secrets = Secrets::of(&key);
    let whole: Value =
        serde_json::from_str(&jwk::private(&key, &Restrictions::default(), &Annotations::default())).unwrap();
    let with = |name: &str, value: Value| {
        let mut changed = whole.clone();
        changed[name] = value;
        changed
    };
    let d = whole["d"].as_str().unwrap();
    let digits = BigUint::from_bytes_be(key.d()).to_string();
    let mut files = Vec::new();
    let names = [
        "kty", "use", "key_ops", "alg", "kid", "n", "e", "d", "p", "q", "dp", "dq", "qi", "oth", "keys", "x5c",
    ];
    for name in names {
        for value in [
            json!(d),
            json!([d]),
            json!({ d: d }),
            json!([{"r": d, "d": d, "t": 7}]),
            json!([{ d: d }]),
            json!({"d": d}),
            json!(null),
            json!(true),
            json!(7.25),
            json!(format!("{d}=")),
            json!(format!(" {d}")),
            json!(format!("{digits}")),
            json!(hex::encode(key.d())),
        ] {
            files.push(with(name, value).to_string());
        }
        for other in names {
            files.push(with(name, whole[other].clone()).to_string());
        }
        // A number of so many digits is a JSON number, and no member takes one.
        let number = with(name, json!("@")).to_string();
        files.push(number.replace("\"@\"", &digits));
        files.push(number.replace("\"@\"", d));
        files.push(number.replace("\"@\"", &format!("\"{d}\",\"{name}\":\"{d}\"")));
    }
    files.push(json!({ "keys": [whole, d] }).to_string());
    files.push(json!({ "keys": { d: whole } }).to_string());
    files.push(json!([whole, d, [d]]).to_string());
    files.push(json!({ d: whole }).to_string());
    files.push(json!({"kty": "RSA", "d": {"d": {"d": d}}}).to_string());
    files.push(json!({"private_key": d, "type": d}).to_string());
    let errors: usize = files.iter().map(|file| secrets.read(file.as_bytes(), "JSON")).sum();
    assert!(errors > 1000, "{errors} errors were looked at");
}

#[test]
fn names_that_a_key_stands_for_are_not_repeated() {
    let key = key(512);
    let secrets = Secrets::of(&key);
    let d = Base64::encode_string(key.d());
    let text = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    // OpenSSH's names: an algorithm, a cipher, a way to make a key of a password.
    let line = Base64::encode_string(&[text(&d[..40]), text(&d), text(&d)].concat());
    for name in ["ssh-rsa", "ssh-ed25519", &d[..40]] {
        let line = format!("{name} {line} {d}");
        assert!(secrets.read(line.as_bytes(), "a line of OpenSSH") > 0);
    }
    for (cipher, kdf) in [("none", &d[..30]), (&d[..30], "none"), (&d[..30], "bcrypt")] {
        let blob = [
            &b"openssh-key-v1\0"[..],
            &text(cipher),
            &text(kdf),
            &text(""),
            &1_u32.to_be_bytes(),
            &text(&line),
            &text(&line),
        ]
        .concat();
        let pem = format!(
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{}\n-----END OPENSSH PRIVATE KEY-----\n",
            Base64::encode_string(&blob)
        );
        assert!(secrets.read(pem.as_bytes(), "a file of OpenSSH") > 0);
    }
    // An identifier whose numbers are a key's bytes.
    let bytes: Vec<u8> = key.d()[..30].iter().map(|byte| byte & 0x7f).collect();
    let number = |tag: u8, bytes: &[u8]| [&[tag, bytes.len() as u8], bytes].concat();
    let algorithm = number(0x30, &number(6, &bytes));
    let spki = number(0x30, &[algorithm, number(3, &[0, 1])].concat());
    let message = reason(load_public(&spki, None));
    let arcs: Vec<String> = bytes[4..8].iter().map(u8::to_string).collect();
    assert!(!message.contains(&arcs.join(".")), "{message}");
}
