//! Steps: what `-v` and `-vv` print, and what they never do.

use std::{collections::HashSet, fs, process::Output};

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
    let encrypt = "encrypt --raw-oaep --key public.pem message --out message.enc";
    assert_done(&run(here.path(), encrypt.split(' ')));
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
