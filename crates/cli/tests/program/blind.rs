//! `rsalab blind`: every step as files and pipes, many files at once, and what is refused.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Output};

use crate::support::{assert_done, assert_failure, folder, rsalab, run, stdout, study_key};

/// Words that single spaces separate.
fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

fn piped(here: &Path, line: &str, input: impl Into<Vec<u8>>) -> Output {
    rsalab(here)
        .args(line.split(' '))
        .write_stdin(input)
        .output()
        .expect("the program starts")
}

fn write(here: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(here.join(name), bytes).expect("the folder can be written to");
}

fn read(here: &Path, name: &str) -> Vec<u8> {
    fs::read(here.join(name)).expect(name)
}

fn names(here: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(here)
        .expect("a folder")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn every_variant_goes_from_request_to_verification() {
    let here = folder();
    let here = here.path();
    study_key(here, 1032);
    for (variant, salt, is_randomized) in [
        ("pss-randomized", 48, true),
        ("psszero-randomized", 0, true),
        ("pss-deterministic", 48, false),
        ("psszero-deterministic", 0, false),
    ] {
        let name = variant;
        write(here, name, format!("the message of {variant}"));
        let line = format!("blind request --variant {variant} --key public.pem {name}");
        assert_done(&typed(here, &line));
        let state = here.join(format!("{name}.state"));
        let mode = fs::metadata(&state).expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(read(here, &format!("{name}.blinded")).len(), 129);
        // Nothing is asked for twice.
        assert_failure(&typed(here, &line), 5, "exists already");

        let line = format!("blind sign --variant {variant} --key key.pem {name}.blinded");
        assert_done(&typed(here, &line));
        assert_failure(&typed(here, &line), 5, "exists already");
        let line = format!("blind finalize --key public.pem {name}");
        assert_done(&typed(here, &line));
        assert_failure(&typed(here, &line), 5, "exists already");
        assert_eq!(here.join(format!("{name}.prefix")).exists(), is_randomized);

        let verify = format!("blind verify --variant {variant} --key public.pem {name}");
        let verified = typed(here, &verify);
        assert_done(&verified);
        assert_eq!(stdout(&verified), format!("{name}: OK\n"));
        // It is a plain signature of prefix and message.
        let prefix = if is_randomized {
            read(here, &format!("{name}.prefix"))
        } else {
            vec![]
        };
        let line = format!("verify --hash sha384 --salt-len {salt} --key public.pem --sig {name}.sig -");
        assert_done(&piped(here, &line, [prefix, read(here, name)].concat()));
        write(here, name, "another message");
        let verified = typed(here, &verify);
        assert_failure(&verified, 4, "is wrong");
        assert_eq!(stdout(&verified), format!("{name}: FAILED\n"));
    }
}

#[test]
fn many_files_and_one_that_is_damaged() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let all: Vec<String> = (0..20).map(|i| format!("m{i}")).collect();
    for name in &all {
        write(here, name, name);
    }
    let list = all.join(" ");
    let request = format!("blind request --key public.pem {list}");
    assert_done(&typed(here, &request));
    let before = read(here, "m3.blinded");
    let again = typed(here, &request);
    assert_done(&again);
    assert!(String::from_utf8_lossy(&again.stderr).contains("0 requests made, 20 there already"));
    assert_eq!(read(here, "m3.blinded"), before);

    let sign = format!(
        "blind sign --threads 2 --key key.pem {}",
        all.iter()
            .map(|name| format!("{name}.blinded"))
            .collect::<Vec<_>>()
            .join(" ")
    );
    write(here, "m7.blinded", [0xff; 128]);
    write(here, "m8.blinded", [1; 127]);
    let signed = typed(here, &sign);
    assert_eq!(signed.status.code(), Some(3));
    let said = String::from_utf8_lossy(&signed.stderr).into_owned();
    assert!(
        said.contains("m7.blinded: the blinded message is not below the modulus"),
        "{said}"
    );
    assert!(
        said.contains("m8.blinded: m8.blinded has 127 bytes, which is no blinded message"),
        "{said}"
    );
    assert!(said.contains("18 blind signatures made"), "{said}");

    // One answer is another's.
    fs::copy(here.join("m1.blinded.sig"), here.join("m7.blinded.sig")).expect("copied");
    let finalize = format!("blind finalize --key public.pem {list}");
    let finalized = typed(here, &finalize);
    assert_eq!(finalized.status.code(), Some(4));
    let said = String::from_utf8_lossy(&finalized.stderr).into_owned();
    assert!(said.contains("m7: what the issuer sent is no signature"), "{said}");
    assert!(said.contains("m8: cannot read m8.blinded.sig"), "{said}");
    assert!(said.contains("18 signatures made"), "{said}");
    assert!(!here.join("m7.sig").exists() && !here.join("m7.prefix").exists());
    let again = typed(here, &finalize);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("0 signatures made, 18 there already"), "{said}");

    let verified = typed(here, &format!("blind verify --json --key public.pem {list}"));
    assert_failure(&verified, 5, "2 of 20 signatures not verified");
    let verdicts: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("JSON");
    let verdicts = verdicts.as_array().expect("a list");
    assert_eq!(verdicts.len(), 20);
    assert_eq!(
        verdicts[0],
        serde_json::json!({"file": "m0", "signature": "m0.sig", "verdict": "OK"})
    );
    assert_eq!(verdicts[7]["verdict"], "unread");

    // A result that is another's is not taken for one's own.
    fs::copy(here.join("m0.sig"), here.join("m1.sig")).expect("copied");
    let finalized = typed(here, "blind finalize --key public.pem m0 m1");
    assert_eq!(finalized.status.code(), Some(5));
    fs::remove_file(here.join("m0.blinded")).expect("it was made");
    assert_eq!(
        typed(here, "blind request --key public.pem m0 m2").status.code(),
        Some(5)
    );
}

#[test]
fn pipes_and_names() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let requests: Vec<Output> = (0..3)
        .map(|i| {
            let line = format!("blind request --key public.pem --out - --state s{i}");
            piped(here, &line, format!("message {i}"))
        })
        .collect();
    let all: Vec<u8> = requests
        .iter()
        .flat_map(|request| {
            assert_done(request);
            request.stdout.clone()
        })
        .collect();
    // Several in one stream, of which one may be refused.
    let answers = piped(here, "blind sign --key key.pem", all.clone());
    assert_done(&answers);
    assert_eq!(answers.stdout.len(), all.len());
    let mut bad = all.clone();
    bad[128..256].fill(0xff);
    let refused = piped(here, "blind sign --key key.pem", bad);
    assert_failure(&refused, 3, "blinded message 1 is not below the modulus");
    assert!(refused.stdout.is_empty());
    assert_failure(
        &piped(here, "blind sign --key key.pem", &all[1..]),
        3,
        "no blinded message",
    );
    assert_failure(&piped(here, "blind sign --key key.pem", ""), 3, "no blinded message");

    for (i, answer) in answers.stdout.chunks(128).enumerate() {
        write(here, "answer", answer);
        let line = format!("blind finalize --key public.pem --state s{i} --blind-sig answer --sig - --prefix p{i} -");
        let signature = piped(here, &line, format!("message {i}"));
        assert_done(&signature);
        write(here, "sig", &signature.stdout);
        let line = format!("blind verify --key public.pem --sig sig --prefix p{i} -");
        assert_done(&piped(here, &line, format!("message {i}")));
        assert_failure(&piped(here, &line, "message"), 4, "is wrong");
    }
    // What has no name is asked for; nothing is printed that is secret.
    for (line, words) in [
        ("blind request --key public.pem", "--state"),
        ("blind request --key public.pem --state s9", "--out"),
        (
            "blind request --key public.pem --out - --state -",
            "the state is secret",
        ),
        ("blind finalize --key public.pem", "--state"),
        ("blind finalize --key public.pem --state s0", "--blind-sig"),
        (
            "blind finalize --key public.pem --state s0 --blind-sig -",
            "standard input",
        ),
        ("blind verify --key public.pem", "--sig"),
        ("blind verify --key public.pem --sig sig", "--prefix"),
        ("blind verify --key public.pem --sig - --prefix p0", "standard input"),
        (
            "blind verify --key public.pem --variant pss-deterministic --sig sig --prefix p0",
            "leave it out",
        ),
        ("blind request --key public.pem --state s a b", "several messages"),
        ("blind sign --key key.pem --out s a b", "leave it out"),
        ("blind finalize --key public.pem --sig s a b", "several messages"),
        ("blind verify --key public.pem --sig s a b", "several messages"),
        ("blind", "Usage"),
        ("blind request --variant pss --key public.pem a", "pss-randomized"),
    ] {
        let refused = piped(here, line, "message");
        assert_eq!(refused.status.code(), Some(2), "{line}");
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains(words),
            "{line}: {refused:?}"
        );
    }
}

#[test]
fn states_and_answers_of_others_are_refused_and_nothing_is_left() {
    let (here, there) = (folder(), folder());
    let (here, there) = (here.path(), there.path());
    study_key(here, 1024);
    study_key(there, 1024);
    fs::copy(there.join("public.pem"), here.join("other.pem")).expect("copied");
    write(here, "m", "message");
    assert_done(&typed(here, "blind request --key public.pem m"));
    assert_done(&typed(here, "blind sign --key key.pem m.blinded"));
    let before = names(here);
    let refused = typed(here, "blind finalize --key other.pem m");
    assert_failure(&refused, 3, "of another key");
    let answer = read(here, "m.blinded.sig");
    for (bytes, code, words) in [
        (&answer[1..], 3, "no blind signature, which has 128 bytes"),
        (&[&answer[..], &[0]].concat(), 3, "no blind signature"),
        (&[0xff; 128], 4, "no signature of this message"),
        (&read(here, "m.blinded"), 4, "no signature of this message"),
    ] {
        write(here, "m.blinded.sig", bytes);
        let refused = typed(here, "blind finalize --key public.pem m");
        assert_failure(&refused, code, words);
    }
    write(here, "m.blinded.sig", &answer);
    write(here, "m", "massage");
    let refused = typed(here, "blind finalize --key public.pem m");
    assert_failure(&refused, 4, "no signature of this message");
    let state = read(here, "m.state");
    write(here, "m.state", &state[..state.len() - 1]);
    let refused = typed(here, "blind finalize --key public.pem m");
    assert_failure(&refused, 3, "is damaged");
    write(here, "m.state", "what?");
    let refused = typed(here, "blind finalize --key public.pem m");
    assert_failure(&refused, 3, "no state of a blind signature");
    assert_eq!(names(here), before);
    // Half of a request is not made.
    write(here, "n", "");
    write(here, "n.blinded", "");
    assert_failure(&typed(here, "blind request --key public.pem n"), 5, "exists already");
    assert!(!here.join("n.state").exists());
    // A public key does not sign.
    assert_failure(
        &typed(here, "blind sign --key public.pem m.blinded --out o"),
        3,
        "private key",
    );
    assert_failure(
        &typed(here, "blind request --key public.pem none"),
        5,
        "cannot read none",
    );
}

#[test]
fn what_a_key_is_for_is_respected() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    assert_done(&typed(here, "key convert key.pem --format jwk --out plain.jwk"));
    let plain: serde_json::Value = serde_json::from_slice(&read(here, "plain.jwk")).expect("JSON");
    write(here, "m", "message");
    for (name, value, variant, allowed) in [
        ("use", "enc", "pss-randomized", false),
        ("use", "sig", "pss-randomized", true),
        ("alg", "PS384", "pss-deterministic", true),
        ("alg", "PS384", "psszero-randomized", false),
        ("alg", "PS256", "pss-randomized", false),
        ("alg", "RSA-OAEP", "pss-randomized", false),
    ] {
        let mut key = plain.clone();
        key[name] = value.into();
        write(here, "key.jwk", key.to_string());
        for command in ["request", "sign"] {
            let output = format!("{command}-{name}-{value}-{variant}");
            let input = if command == "request" { "m" } else { "block" };
            write(here, "block", [1; 128]);
            let mut line = format!("blind {command} --variant {variant} --key key.jwk {input} --out {output}");
            if command == "request" {
                line += &format!(" --state {output}.state");
            }
            match allowed {
                true => assert_done(&typed(here, &line)),
                false => {
                    assert_failure(&typed(here, &line), 3, "this key is not to");
                    assert!(!here.join(&output).exists());
                    assert_done(&typed(here, &format!("{line} --any-use")));
                }
            }
        }
    }
    // Too short for the salt.
    let short = folder();
    study_key(short.path(), 768);
    write(short.path(), "m", "message");
    let refused = typed(short.path(), "blind request --key public.pem m");
    assert_failure(&refused, 2, "too short");
    let line = "blind request --variant psszero-randomized --key public.pem m";
    assert_done(&typed(short.path(), line));
}

#[test]
fn a_token_key_is_for_blind_signatures_with_its_salt() {
    let here = folder();
    let here = here.path();
    study_key(here, 2048);
    assert_done(&typed(here, "blind key --key key.pem --out token.der"));
    let der = read(here, "token.der");
    assert_eq!(typed(here, "blind key --key public.pem").stdout, der);
    assert_failure(
        &typed(here, "blind key --key key.pem --out token.der"),
        5,
        "exists already",
    );
    write(here, "m", "message");
    let refused = typed(here, "blind request --variant psszero-deterministic --key token.der m");
    assert_failure(&refused, 3, "salt of 48 bytes");
    assert_done(&typed(
        here,
        "blind request --variant pss-deterministic --key token.der m",
    ));
    assert_done(&typed(
        here,
        "blind sign --variant pss-deterministic --key key.pem m.blinded",
    ));
    assert_done(&typed(here, "blind finalize --key token.der m"));
    // Its file says everything to the plain command too.
    assert_done(&typed(here, "verify --key token.der m"));
    let small = folder();
    study_key(small.path(), 1024);
    let refused = typed(small.path(), "blind key --key key.pem --out token.der");
    assert_failure(&refused, 3, "1024 bits");
}
