//! Keys whose algorithm says what they are for: RSASSA-PSS with a least salt, RSAES-OAEP with its parameters.

use std::{fs, path::Path, process::Output};

use rsalab_rsa::{
    PublicKey,
    format::{Encoding, PublicFormat, Usage, encode_public_for, load_public},
    hash::Hash,
    scheme::{Oaep, Pss, SaltLen},
};
use serde_json::{Value, json};

use crate::support::{assert_done, assert_failure, folder, rsalab, run, stdout, study_key};

fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

/// `public.pem` again, for this use.
fn restrict(here: &Path, name: &str, usage: Usage) {
    let text = fs::read(here.join("public.pem")).expect("it was made");
    let key: PublicKey = load_public(&text, None).expect("it is ours").key;
    let written = encode_public_for(&key, &usage, PublicFormat::Spki, Encoding::Pem);
    fs::write(here.join(name), written.expect("it can say it")).expect("it can be written");
}

/// RFC 4055, section 3.3: no signature whose salt is shorter than the key says, whatever the verifier asks for.
#[test]
fn a_salt_that_the_key_forbids_is_refused_by_every_way_to_ask() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let own = Pss {
        salt_len: SaltLen::Bytes(32),
        ..Pss::new(Hash::Sha256)
    };
    restrict(here, "restricted.pem", Usage::Pss(Some(own)));
    fs::write(here.join("message"), "m").expect("it can be written");
    let key = fs::read_to_string(here.join("restricted.pem")).expect("it was written");
    for (salt, is_allowed) in [(0, false), (20, false), (31, false), (32, true), (40, true)] {
        assert_done(&typed(
            here,
            &format!("sign --key key.pem --salt-len {salt} message --sig sig"),
        ));
        assert_done(&typed(here, "verify --key public.pem --salt-len any --sig sig message"));
        let verified = typed(here, "verify --key restricted.pem --salt-len any --sig sig message");
        let explicit = typed(
            here,
            &format!("verify --key restricted.pem --salt-len {salt} --sig sig message"),
        );
        match is_allowed {
            true => {
                assert_done(&verified);
                assert_done(&explicit);
            }
            false => {
                assert_failure(&verified, 4, "wrong");
                assert_failure(&explicit, 2, "32 bytes at least");
            }
        }
        let signature = hex::encode(fs::read(here.join("sig")).expect("it was made"));
        for salt_len in [json!("any"), json!(salt)] {
            for options in [&[][..], &["--batch", "4"]] {
                let request = json!({"op": "verify", "scheme": "pss", "salt_len": salt_len, "key": key, "msg": hex::encode("m"), "sig": signature});
                let output = rsalab(here)
                    .args(["vectors", "-"])
                    .args(options)
                    .write_stdin(format!("{request}\n"))
                    .output()
                    .expect("the program starts");
                let answer: Value = serde_json::from_str(stdout(&output)).expect("an answer");
                let expected = if is_allowed { "accept" } else { "reject" };
                assert_eq!(answer["result"], expected, "{salt}, {salt_len}: {answer}");
            }
        }
        fs::remove_file(here.join("sig")).expect("it is there");
    }
    let unsigned = typed(here, "sign --key key.pem --salt-len any message --sig sig");
    assert_failure(&unsigned, 2, "only verification");
}

#[test]
fn a_key_for_oaep_is_used_with_its_own_parameters() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let own = Oaep {
        label: b"TCPA".to_vec(),
        ..Oaep::new(Hash::Sha1)
    };
    restrict(here, "oaep.pem", Usage::Oaep(Some(own)));
    let known = typed(here, "key check oaep.pem");
    assert!(
        stdout(&known).contains("oaep sha1, mask sha1, label of 4 bytes"),
        "{}",
        stdout(&known)
    );
    assert_done(&typed(here, "encrypt --raw-oaep --key oaep.pem --text hello --out own"));
    let decrypted = typed(here, "decrypt --key key.pem --hash sha1 --label TCPA own --out -");
    assert_eq!(stdout(&decrypted), "hello");
    for (line, code, words) in [
        ("encrypt --key oaep.pem --text x --out no", 3, "--raw-oaep"),
        ("encrypt --key oaep.pem --hash sha256 --text x --out no", 3, "--any-use"),
        ("encrypt --key oaep.pem --label other --text x --out no", 3, "--any-use"),
        (
            "encrypt --key oaep.pem --scheme pkcs1v15 --text x --out no",
            3,
            "OAEP encryption only",
        ),
        ("raw-public --key oaep.pem --in own --out no", 3, "OAEP encryption only"),
        ("verify --key oaep.pem --sig own own", 3, "OAEP encryption only"),
        ("key public oaep.pem --format jwk", 2, "cannot say"),
    ] {
        assert_failure(&typed(here, line), code, words);
    }
    assert_done(&typed(
        here,
        "encrypt --any-use --key oaep.pem --hash sha256 --label other --text hello --out other",
    ));
    let decrypted = typed(here, "decrypt --key key.pem --label other other --out -");
    assert_eq!(stdout(&decrypted), "hello");
}

/// Each failure has the same words: whoever makes ciphertexts learns nothing of them, and whoever has the wrong options
/// learns their names.
#[test]
fn a_failure_of_oaep_names_the_options_and_nothing_else() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    assert_done(&typed(
        here,
        "encrypt --key public.pem --mgf-hash sha1 --text hello --out secret",
    ));
    let mut other = fs::read(here.join("secret")).expect("it was made");
    let decrypted = typed(here, "decrypt --key key.pem --mgf-hash sha1 secret --out -");
    assert_eq!(stdout(&decrypted), "hello");
    let wrong = typed(here, "decrypt --key key.pem secret --out -");
    assert_failure(&wrong, 4, "--mgf-hash");
    let last = other.len() - 1;
    other[last] ^= 1;
    fs::write(here.join("secret"), other).expect("it can be written");
    let damaged = typed(here, "decrypt --key key.pem secret --out -");
    assert_eq!(damaged.stderr, wrong.stderr);
    assert_eq!(
        typed(here, "decrypt --key key.pem --label x secret --out -").stderr,
        wrong.stderr
    );
}
