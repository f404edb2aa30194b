//! Steps: what `-v` and `-vv` print, and what they never do.

use std::{collections::HashSet, fs, path::Path, process::Output};

use crate::support::{assert_done, folder, run, stdout, study_key};

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines of a command with the options, which must be there in this order.
#[track_caller]
fn assert_steps(output: &Output, steps: &[&str]) {
    let said = stderr(output);
    let mut lines = said.lines();
    for step in steps {
        assert!(
            lines.any(|line| line.contains(step)),
            "no '{step}', or not in its place, in:\n{said}"
        );
    }
}

fn signed() -> tempfile::TempDir {
    let here = folder();
    study_key(here.path(), 1024);
    fs::write(here.path().join("message"), "a message").expect("it can be written");
    assert_done(&run(here.path(), ["sign", "--key", "key.pem", "message"]));
    here
}

#[test]
fn signing_names_key_scheme_kernel_and_files() {
    let here = signed();
    fs::remove_file(here.path().join("message.sig")).expect("it was made");
    let output = run(here.path(), ["sign", "-v", "--key", "key.pem", "message"]);
    assert_done(&output);
    assert_steps(
        &output,
        &[
            ": sign",
            "key.pem: read as a PKCS#8 private key of 1024 bits; for any use",
            "key.pem: its primes pass",
            "scheme: RSASSA-PSS, sha256, mask sha256, salt of 32 bytes",
            "key.pem: its file allows this use",
            "kernel: ",
            "message: read and hashed by sha256",
            "signing: 1 block on ",
            "message.sig: made",
            "sign: ended",
        ],
    );
    assert!(!stderr(&output).contains(" µs]") && !stderr(&output).contains(" ms]"));
    assert!(stdout(&output).is_empty());
    let forced = run(
        here.path(),
        [
            "verify",
            "-v",
            "--kernel",
            "mont64x1_portable",
            "--key",
            "public.pem",
            "message",
        ],
    );
    assert_done(&forced);
    assert_steps(
        &forced,
        &[
            "kernel: mont64x1_portable, as --kernel asks",
            "1 block on mont64x1_portable",
        ],
    );
}

#[test]
fn twice_adds_times_and_nothing_else_changes() {
    let here = signed();
    let verify = |options: &[&str]| {
        let typed = [&["verify", "--key", "public.pem", "message", "--json"], options].concat();
        run(here.path(), typed)
    };
    let [plain, once, twice] = [&[][..], &["-v"], &["-vv"]].map(verify);
    assert_eq!(plain.stdout, once.stdout);
    assert_eq!(plain.stdout, twice.stdout);
    let steps = |output: &Output| {
        stderr(output)
            .lines()
            .filter(|line| !line.starts_with("warning"))
            .count()
    };
    assert_eq!((steps(&plain), steps(&once)), (0, steps(&twice)));
    for line in stderr(&twice).lines().filter(|line| !line.starts_with("warning")) {
        let time = line.rsplit_once(" [").and_then(|(_, time)| time.strip_suffix("s]"));
        assert!(
            time.is_some_and(|time| time.starts_with(|digit: char| digit.is_ascii_digit())),
            "{line}"
        );
    }
    assert_eq!(
        run(here.path(), ["verify", "-v", "-q", "--key", "public.pem", "message"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn a_wrong_signature_fails_at_a_step() {
    let here = signed();
    fs::write(here.path().join("other"), "another message").expect("it can be written");
    let signature = fs::read(here.path().join("message.sig")).expect("it was made");
    fs::write(here.path().join("short.sig"), &signature[1..]).expect("it can be written");
    fs::write(here.path().join("large.sig"), [0xff; 128]).expect("it can be written");
    for (typed, step) in [
        ("other --sig message.sig", "other: the signature fails by its hash: "),
        (
            "message --sig short.sig",
            "fails by its length: the signature has 127 bytes, and the modulus 128",
        ),
        ("message --sig large.sig", "fails by its range: "),
        (
            "message --salt-len 20",
            "fails by its salt length: the salt has 32 bytes, and 20 are due",
        ),
        ("message --scheme pkcs1v15", "fails by its block type: "),
    ] {
        let typed = format!("verify --key public.pem {typed}");
        let plain = run(here.path(), typed.split(' '));
        let verbose = run(here.path(), format!("{typed} -v").split(' '));
        assert_eq!(
            (plain.status.code(), verbose.status.code()),
            (Some(4), Some(4)),
            "{typed}"
        );
        assert_eq!(plain.stdout, verbose.stdout, "{typed}");
        assert_steps(&verbose, &[step, "verify: failed, exit code 4"]);
        assert!(!stderr(&plain).contains(" fails by its "), "{}", stderr(&plain));
    }
    assert_done(&run(
        here.path(),
        [
            "blind",
            "request",
            "--key",
            "public.pem",
            "message",
            "--variant",
            "pss-deterministic",
        ],
    ));
    assert_done(&run(
        here.path(),
        [
            "blind",
            "sign",
            "--key",
            "key.pem",
            "message.blinded",
            "--variant",
            "pss-deterministic",
        ],
    ));
    let typed = "blind verify -v --key public.pem --variant pss-deterministic other --sig message.sig";
    assert_steps(
        &run(here.path(), typed.split(' ')),
        &["other: the signature fails by its "],
    );
}

/// Whatever is wrong with a ciphertext, the steps are those of a plain failure.
#[test]
fn a_failed_decryption_tells_no_more_than_without() {
    let here = signed();
    let encrypt = ["encrypt", "--key", "public.pem", "message", "--out", "message.enc"];
    assert_done(&run(here.path(), encrypt));
    let whole = fs::read(here.path().join("message.enc")).expect("it was made");
    let mut said = HashSet::new();
    for change in 0..16 {
        let mut ciphertext = whole.clone();
        ciphertext[127 - change] ^= 1;
        fs::write(here.path().join("changed.enc"), ciphertext).expect("it can be written");
        let output = run(here.path(), ["decrypt", "-v", "--key", "key.pem", "changed.enc"]);
        assert_eq!(output.status.code(), Some(4));
        said.insert(stderr(&output));
    }
    assert_eq!(said.len(), 1, "{said:?}");
    let said: String = said.into_iter().collect();
    for word in ["padding", "hash:", "label:", "length", "byte"] {
        assert!(!said.contains(word), "{word}: {said}");
    }
}

/// Secrets in files: no eight characters in a row of them are in any output.
struct Secrets(HashSet<Vec<u8>>);

impl Secrets {
    #[track_caller]
    fn check(&self, output: &Output, typed: &str) {
        for said in [&output.stdout, &output.stderr] {
            let repeated = said.windows(8).find(|window| self.0.contains(*window));
            assert!(
                repeated.is_none(),
                "{typed}: «{}» is in: {}",
                String::from_utf8_lossy(repeated.unwrap_or_default()),
                String::from_utf8_lossy(said)
            );
        }
    }
}

const PASSWORD: &str = "Xq7-unlikely-Zw9";
const MESSAGE: &str = "Kj3-nobody-says-Vb8";

fn planted(folder: &Path) -> Secrets {
    study_key(folder, 1024);
    fs::write(folder.join("password"), format!("{PASSWORD}\n")).expect("it can be written");
    fs::write(folder.join("wrong"), format!("{PASSWORD}?\n")).expect("it can be written");
    fs::write(folder.join("message"), MESSAGE).expect("it can be written");
    for (format, name) in [
        ("pkcs8-encrypted --new-password-file password", "encrypted.pem"),
        ("jwk", "key.jwk"),
        ("openssh", "key.openssh"),
        ("pkcs1-pem", "key.pkcs1"),
    ] {
        let typed = format!("key convert key.pem --format {format} --out {name}");
        assert_done(&run(folder, typed.split(' ')));
    }
    let read = |name: &&str| fs::read_to_string(folder.join(name)).expect("it was made");
    let texts = ["key.pem", "encrypted.pem", "key.openssh", "key.pkcs1"]
        .iter()
        .map(read);
    let bodies = texts.flat_map(|text| {
        let lines = text.lines().filter(|line| !line.contains("-----"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    });
    let jwk = read(&"key.jwk");
    // Its name and its modulus are public.
    let (_, private) = jwk.split_once("\"d\":").expect("it is private");
    let typed = [private.to_owned(), PASSWORD.to_owned(), MESSAGE.to_owned()];
    let windows = bodies.chain(typed).flat_map(|text| {
        let windows = text.as_bytes().windows(8);
        windows.map(<[u8]>::to_vec).collect::<Vec<_>>()
    });
    Secrets(windows.collect())
}

/// Every command that reads a secret, with what it makes kept out of standard output.
const COMMANDS: [&str; 38] = [
    "key check key.pem key.jwk key.openssh key.pkcs1",
    "key check encrypted.pem --password-file password",
    "key check encrypted.pem --password-file wrong",
    "key check message password",
    "key check password --json",
    "key public key.jwk --out made",
    "key public encrypted.pem --password-file password --format jwk --out made",
    "key public message --out made",
    "key convert key.openssh --format pkcs8-encrypted --new-password-file password --out made",
    "key convert encrypted.pem --password-file wrong --out made",
    "key convert encrypted.pem --password-file password --out made",
    "sign --key key.pem message --sig made",
    "sign --key encrypted.pem --password-file password message --sig made",
    "sign --key encrypted.pem --password-file encrypted.pem message --sig made",
    "sign --key message message --sig made",
    "sign --key key.pem --files-from key.pem",
    "sign --key key.pem --digest message --sig made",
    "sign --key key.pem --password-file key.pem --kid message message --sig made",
    "verify --key key.jwk message --sig key.pem",
    "verify --key key.pem key.jwk --sig message",
    "encrypt --key key.pem message --out made",
    "encrypt --key key.pem --label Kj3-nobody-says-Vb8 message --out made",
    "decrypt --key key.pem key.jwk --out made",
    "decrypt --key key.openssh message --encoding hex --out made",
    "text-encrypt --key key.pem message --out made",
    "text-encrypt --key key.pem --text Kj3-nobody-says-Vb8 --out made",
    "text-decrypt --key key.pem message --out made",
    "raw-private --key key.pem message --out made",
    "raw-public --key key.pem key.pkcs1 --out made",
    "blind request --key key.pem message --out made --state state",
    "blind sign --key key.pem message --out made",
    "blind finalize --key key.pem message --state key.pem --blind-sig message --sig made",
    "blind verify --key key.pem message --sig key.pem --prefix password",
    "keygen --bits 1024 --insecure-size --format pkcs8-encrypted --password-file password --out made",
    "keygen --bits 1024 --insecure-size --names key.pem --out made",
    "study key.pem --out made",
    "report message",
    "export password --samples --out made",
];

#[test]
fn no_level_of_any_command_repeats_a_secret() {
    let here = folder();
    let secrets = planted(here.path());
    for command in COMMANDS {
        for level in ["-q", "-v", "-vv"] {
            let typed = format!("{command} {level}");
            let output = run(here.path(), typed.split(' '));
            secrets.check(&output, &typed);
            let steps = stderr(&output).lines().any(|line| line.starts_with("rsalab 0."));
            assert_eq!(steps, level != "-q", "{typed}: {}", stderr(&output));
            for made in ["made", "state"] {
                let path = here.path().join(made);
                let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            }
        }
    }
}

/// A key in the place of a name is refused before the first step.
#[test]
fn a_key_in_the_place_of_a_name_is_in_no_step() {
    let here = folder();
    let secrets = planted(here.path());
    let pem = fs::read_to_string(here.path().join("key.pem")).expect("it was made");
    for typed in [
        &["-vv", "sign", "--key", &pem, "message"][..],
        &["-vv", "key", "check", &pem],
        &["key", "public", &pem, "-v"],
        &["sign", "-v", "--key", "key.pem", "--password-file", &pem, "message"],
        &[
            "verify",
            "-v",
            "--key",
            "public.pem",
            "--sig",
            &pem.replace('\n', ""),
            "message",
        ],
    ] {
        let output = run(here.path(), typed);
        assert_eq!(output.status.code(), Some(2));
        secrets.check(&output, typed[0]);
    }
}
