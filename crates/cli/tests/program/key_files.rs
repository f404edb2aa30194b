//! `key check`, `key public` and `key convert`: every format into every other, and what is said of keys that are wrong
//! or weak.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use crate::support::{assert_done, assert_failure, folder, run, stdout, study_key};

fn typed(here: &Path, line: &str) -> std::process::Output {
    run(here, line.split(' '))
}

const FORMATS: [&str; 7] = [
    "pkcs8-pem",
    "pkcs8-der",
    "pkcs1-pem",
    "pkcs1-der",
    "pkcs8-encrypted",
    "jwk",
    "openssh",
];

#[test]
fn every_format_becomes_every_other_and_back() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    fs::write(here.join("secret"), "sesame\n").expect("the folder can be written to");
    for format in FORMATS {
        let new = match format {
            "pkcs8-encrypted" => " --new-password-file secret",
            _ => "",
        };
        assert_done(&typed(
            here,
            &format!("key convert key.pem --format {format} --out {format}{new}"),
        ));
        let mode = fs::metadata(here.join(format))
            .expect("it was made")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{format}");
        let old = match format {
            "pkcs8-encrypted" => " --password-file secret",
            _ => "",
        };
        for (target, expected) in [("pkcs8-pem", "key.pem"), ("pkcs1-der", "")] {
            let back = typed(here, &format!("key convert {format} --format {target} --out -{old}"));
            assert_done(&back);
            if !expected.is_empty() {
                assert_eq!(
                    back.stdout,
                    fs::read(here.join(expected)).expect("it is there"),
                    "{format}"
                );
            }
        }
        let public = typed(here, &format!("key public {format}{old}"));
        assert_eq!(
            public.stdout,
            fs::read(here.join("public.pem")).expect("it is there"),
            "{format}"
        );
        let half = format!("{format}.pub");
        assert_done(&typed(
            here,
            &format!("key public {format}{old} --format {format} --out {half}"),
        ));
        let public = typed(here, &format!("key public {half}"));
        assert_eq!(
            public.stdout,
            fs::read(here.join("public.pem")).expect("it is there"),
            "{half}"
        );
        let checked = typed(here, &format!("key check {format} {half}{old} --json"));
        assert_done(&checked);
        let verdicts: serde_json::Value = serde_json::from_slice(&checked.stdout).expect("it is JSON");
        for (verdict, is_private) in [(&verdicts[0], true), (&verdicts[1], false)] {
            assert_eq!(verdict["verdict"], "weak", "{format}");
            assert_eq!(verdict["private"], is_private);
            assert_eq!(verdict["bits"], 1024);
            assert_eq!(verdict["e"], "010001");
            assert_eq!(verdict["weaknesses"][0]["name"], "short-modulus");
            assert_eq!(verdict["fingerprint"], verdicts[0]["fingerprint"]);
        }
    }
}

#[test]
fn a_password_that_does_not_fit_is_said_to() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    fs::write(here.join("secret"), "sesame\n").expect("the folder can be written to");
    fs::write(here.join("other"), "Sesame\n").expect("the folder can be written to");
    assert_done(&typed(
        here,
        "key convert key.pem --format pkcs8-encrypted --new-password-file secret --out locked",
    ));
    for (line, code, words) in [
        ("key check locked --password-file other", 3, "the password does not fit"),
        ("key check locked", 2, "the password cannot be typed"),
        (
            "sign --key locked --password-file other key.pem --sig s",
            3,
            "the password does not fit",
        ),
        (
            "sign --key locked --password-file nowhere key.pem --sig s",
            5,
            "nowhere",
        ),
        (
            "key convert key.pem --new-password-file secret --out s",
            2,
            "have no password",
        ),
        ("key convert key.pem --format jwk-set --out s", 2, "for many keys"),
        ("key convert key.pem --out locked", 5, "exists already"),
        ("key convert public.pem --out s", 3, "a private key is needed"),
    ] {
        assert_failure(&typed(here, line), code, words);
        assert!(!here.join("s").exists());
    }
    assert_done(&typed(here, "sign --key locked --password-file secret key.pem --sig s"));
}

#[test]
fn wrong_keys_end_with_code_3_and_the_fault_at_once() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let der = typed(here, "key convert key.pem --format pkcs1-der --out -").stdout;
    let write = |name: &str, bytes: Vec<u8>| fs::write(here.join(name), bytes).expect("the folder can be written to");
    // The parts of an RSAPrivateKey of 1024 bits lie where their lengths put them.
    let parts = integers(&der);
    let swapped = |one: usize, other: usize| {
        let mut parts = parts.clone();
        parts.swap(one, other);
        sequence(&parts)
    };
    let with = |place: usize, value: &[u8]| {
        let mut parts = parts.clone();
        parts[place] = value.to_vec();
        sequence(&parts)
    };
    let mut even = parts[1].clone();
    *even.last_mut().expect("bytes") ^= 1;
    let mut above_n = parts[1].clone();
    above_n[1] = 0xff;
    above_n[2] = 0xff;
    *above_n.last_mut().expect("bytes") |= 1;
    write("whole", sequence(&parts));
    write("swapped-crt", swapped(6, 7));
    write("swapped-primes", swapped(4, 5));
    write("e-1", with(2, &[1]));
    write("e-even", with(2, &[1, 0, 2]));
    write("e-above-n", with(2, &above_n));
    write("n-even", with(1, &even));
    write(
        "other-half",
        with(1, &{
            let mut other = parts[1].clone();
            other[20] ^= 4;
            other
        }),
    );
    write("cut", der[..der.len() / 2].to_vec());
    write("trailing", [&der[..], &[0]].concat());
    write("ber", [&[0x30, 0x83, 0, der[2], der[3]], &der[4..]].concat());
    write("nested", [0x30, 0x80].repeat(50_000));
    write("4gib", [&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff][..], &[2; 100]].concat());
    let mbit = [&[0x7f][..], &[0xff; 131_071]].concat();
    write("1mbit", sequence(&[mbit, vec![1, 0, 1]]));
    let huge = fs::File::create(here.join("huge")).expect("the folder can be written to");
    huge.set_len(100_000_000).expect("a file may have holes");
    assert_done(&typed(here, "key check whole"));
    for (file, fault) in [
        ("swapped-crt", "dp is not d modulo p - 1"),
        ("swapped-primes", "dp is not d modulo p - 1"),
        ("e-1", "its public exponent is 1"),
        ("e-even", "its public exponent is even"),
        ("e-above-n", "its public exponent is not smaller than its modulus"),
        ("n-even", "its modulus is even"),
        ("other-half", "n is not p q"),
        ("cut", "is cut"),
        ("trailing", "goes on after the end of its key"),
        ("ber", "only BER allows"),
        ("nested", "only BER allows"),
        ("4gib", "a length that no key has"),
        ("1mbit", "a modulus of 1048575 bits is not supported"),
        ("huge", "larger than 1 MiB"),
    ] {
        for line in [format!("key check {file}"), format!("sign --key {file} whole --sig s")] {
            let started = Instant::now();
            let output = typed(here, &line);
            assert!(started.elapsed() < HANGS, "{line}");
            assert_failure(&output, 3, fault);
            assert!(!here.join("s").exists());
        }
    }
    costs(here, &["swapped-crt", "e-1", "nested", "4gib", "1mbit", "huge"]);
}

/// A bound between the milliseconds of a refusal and the eternity of what it refuses; in between lies the load of the
/// machine.
const HANGS: Duration = Duration::from_secs(60);

/// No wrong key takes a second of a CPU, or 50 MB, where GNU time can be asked: other clocks tell the machine's load
/// too.
fn costs(here: &Path, files: &[&str]) {
    for file in files {
        let output = Command::new("/usr/bin/time")
            .args(["-f", "%U %S %M"])
            .arg(crate::support::program())
            .args(["key", "check", file])
            .current_dir(here)
            .output();
        let Ok(output) = output else {
            eprintln!("SKIPPED: there is no GNU time to ask what a command took");
            return;
        };
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let line = printed.lines().last().expect("a line of figures");
        let figures: Vec<f64> = line
            .split(' ')
            .map(|figure| figure.parse().expect("a figure"))
            .collect();
        let [user_s, system_s, kilobytes] = figures[..] else {
            panic!("{printed}");
        };
        assert!(user_s + system_s < 1.0, "{file}: {printed}");
        assert!(kilobytes < 50_000.0, "{file}: {printed}");
    }
}

/// The contents of the integers in a DER sequence of nothing else.
fn integers(der: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut at = 4;
    while at < der.len() {
        assert_eq!(der[at], 2);
        let (length, start) = match der[at + 1] {
            0x81 => (usize::from(der[at + 2]), at + 3),
            0x82 => (usize::from(der[at + 2]) << 8 | usize::from(der[at + 3]), at + 4),
            short => (usize::from(short), at + 2),
        };
        found.push(der[start..start + length].to_vec());
        at = start + length;
    }
    found
}

fn sequence(integers: &[Vec<u8>]) -> Vec<u8> {
    let element = |tag: u8, contents: &[u8]| {
        let length = contents.len();
        let header = match length {
            0..128 => vec![tag, length as u8],
            128..256 => vec![tag, 0x81, length as u8],
            256..65536 => vec![tag, 0x82, (length >> 8) as u8, length as u8],
            _ => vec![tag, 0x83, (length >> 16) as u8, (length >> 8) as u8, length as u8],
        };
        [header, contents.to_vec()].concat()
    };
    let body: Vec<u8> = integers.iter().flat_map(|integer| element(2, integer)).collect();
    element(0x30, &body)
}

#[test]
fn weak_keys_pass_unless_they_are_asked_not_to() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    assert_done(&typed(here, "keygen --out strong.pem"));
    let checked = typed(here, "key check key.pem strong.pem");
    assert_done(&checked);
    let printed = stdout(&checked);
    assert!(printed.contains("key.pem: its modulus has 1024 bits"), "{printed}");
    assert!(!printed.contains("strong.pem: "), "{printed}");
    assert_failure(
        &typed(here, "key check strong.pem key.pem --strict"),
        3,
        "1 of 2 keys refused, the first: the key key.pem is weak",
    );
    assert_done(&typed(here, "key check strong.pem --strict"));
    // A certificate is a public key.
    let made = Command::new("openssl")
        .args("req -x509 -new -key strong.pem -subj /CN=x -out certificate.pem".split(' '))
        .current_dir(here)
        .output();
    let Ok(made) = made else {
        eprintln!("SKIPPED: there is no openssl command to make a certificate");
        return;
    };
    assert!(made.status.success());
    let checked = typed(here, "key check certificate.pem");
    assert!(stdout(&checked).contains("a certificate"), "{}", stdout(&checked));
    let [ours, theirs] =
        ["strong.pem", "certificate.pem"].map(|file| typed(here, &format!("key public {file}")).stdout);
    assert_eq!(ours, theirs);
}
