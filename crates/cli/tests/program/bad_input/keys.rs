//! Files that are not the key they should be, and pipes that bring more than a key.

use std::{
    fs::{self, File},
    io::Write,
    process::{Command, Stdio},
    thread,
};

use super::{Row, judge, refuse, split, write};
use crate::support::{assert_done, assert_failure, folder, program, rsalab, run, study_key};

#[test]
fn keys() {
    let here = folder();
    let key = fs::read(study_key(here.path(), 1024)).expect("it was made");
    let made = run(
        here.path(),
        split(b"keygen --bits 1024 --insecure-size --format pkcs1-der --out key.der"),
    );
    assert_done(&made);
    let der = fs::read(here.path().join("key.der")).expect("it was made");
    let middle = der.len() / 2;
    let mut flipped = der.clone();
    flipped[middle] ^= 1;
    write(here.path(), "empty", "");
    write(here.path(), "flipped", flipped);
    write(here.path(), "text", "this is a letter, not a key\n");
    write(here.path(), "ec", EC_KEY);
    write(here.path(), "ec-public", EC_PUBLIC_KEY);
    write(here.path(), "ec-sec1", EC_KEY.replace("PRIVATE", "EC PRIVATE"));
    write(here.path(), "two", [&key[..], &key[..]].concat());
    let label = "X".repeat(900_000);
    write(here.path(), "label", format!("-----BEGIN {label}-----\n"));
    let noise = File::create(here.path().join("noise")).expect("the folder can be written to");
    (&noise)
        .write_all(&noise_of(2 << 20))
        .and_then(|()| noise.set_len(100_000_000))
        .expect("the folder can be written to");
    const MAKE: &str = "'rsalab keygen --out FILE' makes one";
    #[rustfmt::skip]
    let both: &[(&str, i32, &[&str])] = &[
        ("empty", 3, &["empty", "keygen"]),
        ("flipped", 3, &["flipped", "not a valid RSA key", "keygen"]),
        ("noise", 3, &["noise", "larger than 1 MiB", "keygen"]),
        ("text", 3, &["text", "not a key", "keygen"]),
        ("ec", 3, &["ec", "an EC key", "RSA keys only", "keygen"]),
        ("ec-public", 3, &["ec-public", "an EC key", "RSA keys only", "keygen"]),
        ("ec-sec1", 3, &["ec-sec1", "an EC key", "RSA keys only", "keygen"]),
        ("two", 3, &["two", "more than one", "one key alone"]),
        ("label", 3, &["label", "keygen"]),
        ("nowhere", 5, &["nowhere", "No such file", "check the name"]),
        (".", 5, &["cannot read the key .", "directory", "name a file"]),
        ("''", 2, &["--key"]),
    ];
    for (file, code, words) in both {
        let rows = [
            (format!("text-decrypt --key {file} input"), *code, *words),
            (format!("text-encrypt --key {file} --text a"), *code, *words),
            (format!("text-encrypt --key {file} --text a --out new"), *code, *words),
        ];
        refuse(here.path(), &rows);
    }
    let rows: &[Row<'_>] = &[(
        "text-decrypt --key public.pem input",
        3,
        &["public.pem", "this is a public key", "a private key is needed", MAKE],
    )];
    refuse(here.path(), rows);

    // Cut anywhere.
    for (name, whole) in [("PEM", &key), ("DER", &der)] {
        for cut in (1..whole.len() - 1).step_by(whole.len() / 23) {
            write(here.path(), "cut", &whole[..cut]);
            let words: &[&str] = match name {
                "DER" if cut > 4 => &["cut", "bytes of at least", MAKE],
                _ => &["cut", MAKE],
            };
            refuse(here.path(), &[("text-decrypt --key cut input", 3, words)]);
        }
    }
}

/// Bytes that are no structure: a linear congruential generator, after Knuth.
fn noise_of(length: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn no_more_is_read_than_tells_that_it_is_too_much() {
    /// Bytes that a pipe and a reader's buffer may hold beyond what is read.
    const SLACK: usize = 1 << 21;
    let here = folder();
    for typed in [
        "text-decrypt --key /dev/stdin input",
        "text-encrypt --key /dev/stdin --text a",
        "study /dev/stdin",
    ] {
        let mut child = Command::new(program())
            .current_dir(here.path())
            .args(split(typed.as_bytes()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut pipe = child.stdin.take().expect("it is piped");
        let writer = thread::spawn(move || {
            let noise = noise_of(1 << 16);
            let mut taken = 0;
            while taken < 100_000_000 && pipe.write_all(&noise).is_ok() {
                taken += noise.len();
            }
            taken
        });
        let output = child.wait_with_output().expect("it ends");
        let code = if typed.starts_with("study") { 2 } else { 3 };
        judge(&output, code, &["/dev/stdin", "1 MiB"]).unwrap_or_else(|what| panic!("{typed}: {what}"));
        let taken = writer.join().expect("it ends with the pipe");
        assert!(taken <= (1 << 20) + SLACK, "{typed}: {taken} bytes were read");
    }
}

#[test]
fn a_plan_or_a_key_may_come_through_a_pipe() {
    let here = folder();
    let key = fs::read(study_key(here.path(), 512)).expect("it was made");
    let encrypted = rsalab(here.path())
        .args(split(b"text-encrypt --quiet --key /dev/stdin --text a --out new"))
        .write_stdin(key)
        .output()
        .expect("the program starts");
    assert_done(&encrypted);
    let refused = rsalab(here.path())
        .args(["study", "/dev/stdin"])
        .write_stdin("title = 3\n")
        .output()
        .expect("the program starts");
    assert_failure(&refused, 2, "line 1, key 'title'");
}

/// prime256v1, made by `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
const EC_KEY: &str = "\
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2
OF/2NxApJCzGCEDdfSp6VQO30hyhRANCAAQRWz+jn65BtOMvdyHKcvjBeBSDZH2r
1RTwjmYSi9R/zpBnuQ4EiMnCqfMPWiZqB4QdbAd0E7oH50VpuZ1P087G
-----END PRIVATE KEY-----
";

/// Its public half.
const EC_PUBLIC_KEY: &str = "\
-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEVs/o5+uQbTjL3chynL4wXgUg2R9
q9UU8I5mEovUf86QZ7kOBIjJwqnzD1omageEHWwHdBO6B+dFabmdT9POxg==
-----END PUBLIC KEY-----
";
