//! `sign`, `verify`, `encrypt --scheme`, `decrypt --scheme`, `raw-private` and `raw-public`: ways in and out, and other
//! programs.

use std::{fs, path::Path, process::Command};

use crate::support::{assert_done, assert_failure, folder, rsalab, run, stdout, study_key};

/// Words that single spaces separate.
fn typed(here: &Path, line: &str) -> std::process::Output {
    run(here, line.split(' '))
}

fn write(here: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(here.join(name), bytes).expect("the folder can be written to");
}

fn read(here: &Path, name: &str) -> Vec<u8> {
    fs::read(here.join(name)).expect(name)
}

/// The `openssl` command; none, with a visible note, where there is none.
fn openssl(here: &Path, line: &str) -> Option<std::process::Output> {
    match Command::new("openssl").args(line.split(' ')).current_dir(here).output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: the openssl command cannot be asked: {error}");
            None
        }
    }
}

#[test]
fn a_signature_is_written_and_verified() {
    let here = folder();
    let here = here.path();
    study_key(here, 1536);
    write(here, "message", "a message");
    for options in [
        "",
        " --scheme pss --hash sha384 --mgf-hash sha256 --salt-len 20",
        " --salt-len max",
        " --scheme pkcs1v15",
        " --scheme pkcs1v15 --hash sha3-512",
    ] {
        assert_done(&typed(here, &format!("sign --key key.pem message --sig sig{options}")));
        assert_eq!(read(here, "sig").len(), 192);
        for key in ["public.pem", "key.pem"] {
            let verified = typed(here, &format!("verify --key {key} --sig sig message{options}"));
            assert_done(&verified);
            assert_eq!(stdout(&verified), "message: OK\n");
        }
        let by_pipe = rsalab(here)
            .args(format!("verify --key public.pem --sig sig{options}").split(' '))
            .write_stdin("another message")
            .output()
            .expect("the program starts");
        assert_failure(&by_pipe, 4, "the signature of standard input is wrong");
        assert_eq!(stdout(&by_pipe), "standard input: FAILED\n");
        fs::remove_file(here.join("sig")).expect("it was made");
    }
    // Through pipes, and without a name for the signature next to its file.
    let signed = rsalab(here)
        .args(["sign", "--key", "key.pem"])
        .write_stdin("a message")
        .output()
        .expect("the program starts");
    assert_done(&signed);
    write(here, "message.sig", &signed.stdout);
    assert_done(&typed(here, "verify --key public.pem message"));
    let again = typed(here, "sign --key key.pem message --sig message.sig");
    assert_failure(&again, 5, "message.sig exists already");
    assert_eq!(read(here, "message.sig"), signed.stdout);
}

#[test]
fn many_files_are_signed_and_verified_in_batches() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let names: Vec<String> = (0..300).map(|number| format!("file {number}")).collect();
    for name in &names {
        write(here, name, format!("the text of {name}"));
    }
    write(here, "list", names.join("\n"));
    assert_done(&typed(here, "sign --key key.pem --files-from list"));
    assert_done(&typed(here, "verify --key public.pem --files-from list"));
    write(here, "file 7", "changed");
    write(here, "file 299.sig", "");
    let verified = typed(here, "verify --key public.pem --files-from list --json");
    assert_failure(
        &verified,
        4,
        "2 of 300 signatures not verified, the first: the signature of file 7 is wrong",
    );
    let verdicts: serde_json::Value = serde_json::from_slice(&verified.stdout).expect("it is JSON");
    let wrong: Vec<&str> = verdicts
        .as_array()
        .expect("a list")
        .iter()
        .filter(|verdict| verdict["verdict"] == "FAILED")
        .map(|verdict| verdict["file"].as_str().expect("a name"))
        .collect();
    assert_eq!(wrong, ["file 7", "file 299"]);
    // The same command again: what is there stays, what is missing is made, and what is no signature of its file is
    // named.
    fs::remove_file(here.join("file 0.sig")).expect("it was made");
    let first = read(here, "file 1.sig");
    let again = typed(here, "sign --key key.pem --files-from list");
    assert_failure(
        &again,
        5,
        "file 7: file 7.sig exists already, and is no signature of it",
    );
    assert_failure(&again, 5, "2 of 300 signatures not made");
    assert_eq!(read(here, "file 1.sig"), first);
    assert_eq!(read(here, "file 299.sig"), b"");
    assert_done(&run(here, ["verify", "--key", "public.pem", "file 0"]));
}

#[test]
fn many_signatures_are_screened() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    // More than a part that is screened by itself where all together do not pass.
    let names: Vec<String> = (0..300).map(|number| format!("file {number}")).collect();
    for name in &names {
        write(here, name, format!("the text of {name}"));
    }
    write(here, "list", names.join("\n"));
    let of = |line: &str| typed(here, &format!("{line} --scheme pkcs1v15 --files-from list"));
    assert_done(&of("sign --key key.pem"));
    let screened = of("verify --screen --key public.pem");
    assert_done(&screened);
    assert!(stdout(&screened).lines().all(|line| line.ends_with(": accepted")));
    assert_eq!(stdout(&screened).lines().count(), 300);
    // What the help says that it does not show: two signatures that were exchanged.
    let (first, second) = (read(here, "file 3.sig"), read(here, "file 4.sig"));
    write(here, "file 3.sig", &second);
    write(here, "file 4.sig", &first);
    assert_done(&of("verify --screen --key public.pem"));
    assert_failure(&of("verify --key public.pem"), 4, "2 of 300 signatures not verified");
    write(here, "file 3.sig", &first);
    write(here, "file 4.sig", &second);
    // What is bad, or is not there, is found.
    write(here, "file 7", "changed");
    write(here, "file 299.sig", "");
    fs::remove_file(here.join("file 250")).expect("it was made");
    let screened = of("verify --screen --key public.pem --json");
    assert_failure(&screened, 4, "3 of 300 signatures not verified");
    let verdicts: serde_json::Value = serde_json::from_slice(&screened.stdout).expect("it is JSON");
    let verdicts = verdicts.as_array().expect("a list").iter();
    let others: Vec<_> = verdicts
        .filter(|verdict| verdict["verdict"] != "accepted")
        .map(|verdict| (verdict["file"].as_str(), verdict["verdict"].as_str()))
        .collect();
    assert_eq!(
        others,
        [
            (Some("file 7"), Some("FAILED")),
            (Some("file 250"), Some("unread")),
            (Some("file 299"), Some("FAILED")),
        ]
    );
    for (line, part) in [
        (
            "verify --screen --key public.pem --files-from list",
            "--screen is for --scheme pkcs1v15",
        ),
        (
            "verify --screen --scheme pkcs1v15 --key public.pem --sig a b",
            "cannot be used with",
        ),
    ] {
        assert_failure(&typed(here, line), 2, part);
    }
}

#[test]
fn openssl_and_this_program_understand_each_other() {
    let here = folder();
    let here = here.path();
    study_key(here, 2048);
    write(here, "message", "between programs");
    let Some(_) = openssl(here, "version") else {
        return;
    };
    assert_done(&typed(here, "sign --scheme pkcs1v15 --key key.pem message --sig ours"));
    let verified = openssl(here, "dgst -sha256 -verify public.pem -signature ours message");
    assert!(verified.expect("it is there").status.success());
    let signed = openssl(
        here,
        "dgst -sha512 -sign key.pem -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:17 -out theirs message",
    );
    assert!(signed.expect("it is there").status.success());
    assert_done(&typed(
        here,
        "verify --hash sha512 --salt-len 17 --key public.pem --sig theirs message",
    ));
    assert_done(&typed(
        here,
        "verify --hash sha512 --salt-len any --key public.pem --sig theirs message",
    ));
    let wrong = typed(here, "verify --hash sha512 --key public.pem --sig theirs message");
    assert_failure(&wrong, 4, "--salt-len any");
    assert_done(&typed(
        here,
        "encrypt --scheme oaep --label x --key public.pem message --out ours.enc",
    ));
    let opened = openssl(
        here,
        "pkeyutl -decrypt -inkey key.pem -in ours.enc -pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_oaep_label:78",
    );
    assert_eq!(opened.expect("it is there").stdout, b"between programs");
    let closed = openssl(
        here,
        "pkeyutl -encrypt -pubin -inkey public.pem -in message -out theirs.enc -pkeyopt rsa_padding_mode:oaep",
    );
    assert!(closed.expect("it is there").status.success());
    let opened = typed(here, "decrypt --scheme oaep --hash sha1 --key key.pem theirs.enc");
    assert_eq!(stdout(&opened), "between programs");
    let raised = openssl(
        here,
        "pkeyutl -decrypt -inkey key.pem -in ours.enc -pkeyopt rsa_padding_mode:none -out theirs.raw",
    );
    assert!(raised.expect("it is there").status.success());
    assert_done(&typed(here, "raw-private --key key.pem --in ours.enc --out ours.raw"));
    assert_eq!(read(here, "ours.raw"), read(here, "theirs.raw"));
    assert_done(&typed(here, "raw-public --key public.pem --in ours.raw --out back"));
    assert_eq!(read(here, "back"), read(here, "ours.enc"));
}

#[test]
fn messages_that_fit_a_block_are_encrypted_and_decrypted() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    for (scheme, most) in [
        ("--scheme oaep", 62),
        ("--scheme oaep --hash sha512-224 --mgf-hash sha1 --label orders", 70),
        ("--scheme pkcs1v15", 117),
    ] {
        for length in [0, 1, most] {
            write(here, "message", vec![b'x'; length]);
            assert_done(&typed(
                here,
                &format!("encrypt {scheme} --key public.pem --in message --out message.enc"),
            ));
            assert_eq!(read(here, "message.enc").len(), 128);
            let opened = typed(here, &format!("decrypt {scheme} --key key.pem message.enc"));
            assert_eq!(stdout(&opened).len(), length);
            fs::remove_file(here.join("message.enc")).expect("it was made");
        }
        write(here, "message", vec![b'x'; most + 1]);
        let refused = typed(
            here,
            &format!("encrypt {scheme} --key public.pem message --out message.enc"),
        );
        assert_failure(&refused, 2, &format!("{most} bytes at most"));
    }
    // OAEP is what is done where nothing else is asked for.
    let secret = typed(here, "encrypt --raw-oaep --key public.pem --text typed");
    assert_done(&secret);
    write(here, "secret", &secret.stdout);
    assert_eq!(
        stdout(&typed(here, "decrypt --scheme oaep --key key.pem secret")),
        "typed"
    );
    // A text in raw blocks is distinguished from a damaged ciphertext.
    assert_done(&typed(
        here,
        "text-encrypt --key public.pem --text typed --out text.rsa",
    ));
    assert_failure(
        &typed(here, "decrypt --key key.pem text.rsa"),
        3,
        "'rsalab text-decrypt'",
    );
    assert_failure(
        &typed(here, "decrypt --key key.pem secret text.rsa"),
        3,
        "text.rsa is a text in raw blocks",
    );
    std::fs::remove_file(here.join("secret.dec")).expect("the other one was made");
    for wrong in [
        "decrypt --scheme oaep --hash sha1 --key key.pem secret",
        "decrypt --scheme oaep --label x --key key.pem secret",
        "decrypt --scheme oaep --key key.pem message",
    ] {
        assert_failure(&typed(here, wrong), 4, "cannot decrypt");
    }
    // Implicit rejection: no failure, and the same pseudorandom message each time.
    let rejected = [(); 2].map(|()| typed(here, "decrypt --scheme pkcs1v15 --key key.pem secret"));
    assert_done(&rejected[0]);
    assert_eq!(rejected[0].stdout, rejected[1].stdout);
    assert_ne!(rejected[0].stdout, b"typed");

    for name in ["a", "b", "c"] {
        write(here, name, name.repeat(10));
    }
    assert_done(&typed(here, "encrypt --scheme oaep --key public.pem a b c"));
    assert_done(&typed(here, "decrypt --scheme oaep --key key.pem a.enc b.enc c.enc"));
    for name in ["a", "b", "c"] {
        assert_eq!(read(here, &format!("{name}.enc.dec")), name.repeat(10).as_bytes());
    }
}

#[test]
fn of_many_ciphertexts_the_wrong_one_is_named() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    let names: Vec<String> = (0..300).map(|number| format!("m{number}")).collect();
    for name in &names {
        write(here, name, name);
    }
    write(here, "list", names.join("\n"));
    assert_done(&typed(here, "encrypt --scheme oaep --key public.pem --files-from list"));
    write(here, "m290.enc", "changed");
    let ciphertexts: Vec<String> = names.iter().map(|name| format!("{name}.enc")).collect();
    write(here, "list.enc", ciphertexts.join("\n"));
    let output = typed(here, "decrypt --scheme oaep --key key.pem --files-from list.enc");
    assert_failure(&output, 4, "m290.enc: cannot decrypt m290.enc");
    assert_failure(&output, 4, "1 of 300 messages not made");
    for name in names.iter().filter(|name| *name != "m290") {
        assert_eq!(read(here, &format!("{name}.enc.dec")), name.as_bytes());
    }
    assert!(!here.join("m290.enc.dec").exists());
    // Repaired, the same command makes what is missing, and leaves what is there.
    fs::remove_file(here.join("m290.enc")).expect("it is there");
    assert_done(&typed(
        here,
        "encrypt --scheme oaep --key public.pem --skip-existing --files-from list",
    ));
    write(here, "m1.enc.dec", "somebody's");
    let again = typed(here, "decrypt --scheme oaep --key key.pem --files-from list.enc");
    assert_failure(&again, 5, "m1.enc: m1.enc.dec exists already");
    assert_failure(&again, 5, "1 message made, 298 there already");
    assert_eq!(read(here, "m290.enc.dec"), b"m290");
    assert_eq!(read(here, "m1.enc.dec"), b"somebody's");
}

#[test]
fn keys_for_pss_sign_with_their_own_parameters_and_do_nothing_else() {
    let here = folder();
    let here = here.path();
    let Some(made) = openssl(
        here,
        "genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -pkeyopt rsa_pss_keygen_md:sha384 -pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:30 -out pss.pem",
    ) else {
        return;
    };
    assert!(made.status.success());
    write(here, "message", "m");
    assert_done(&typed(here, "sign --key pss.pem message --sig sig"));
    let verified = openssl(
        here,
        "dgst -sha384 -verify pss.pub -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:30 -sigopt rsa_mgf1_md:sha256 -signature sig message",
    );
    assert!(
        !verified.expect("it is there").status.success(),
        "there is no public key yet"
    );
    assert_done(&typed(here, "key public pss.pem --out pss.pub"));
    let verified = openssl(
        here,
        "dgst -sha384 -verify pss.pub -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:30 -sigopt rsa_mgf1_md:sha256 -signature sig message",
    );
    assert!(verified.expect("it is there").status.success());
    assert_done(&typed(here, "verify --key pss.pub --sig sig message"));
    for (line, code, words) in [
        ("sign --scheme pkcs1v15 --key pss.pem message", 2, "RSASSA-PSS only"),
        (
            "sign --hash sha256 --key pss.pem message",
            2,
            "this key asks for sha384",
        ),
        ("sign --salt-len 29 --key pss.pem message", 2, "30 bytes at least"),
        (
            "decrypt --scheme oaep --key pss.pem message",
            3,
            "RSASSA-PSS signatures only",
        ),
        ("text-encrypt --key pss.pub message", 3, "RSASSA-PSS signatures only"),
        (
            "raw-private --key pss.pem --in message",
            3,
            "RSASSA-PSS signatures only",
        ),
        ("key convert pss.pem --format jwk --out k", 2, "cannot say"),
        ("key public pss.pem --format openssh", 2, "cannot say"),
        ("key convert pss.pem --format pkcs1-pem --out k", 2, "cannot say"),
    ] {
        assert_failure(&typed(here, line), code, words);
    }
    assert_done(&typed(here, "key convert pss.pem --format pkcs8-der --out pss.der"));
    let checked = typed(here, "key check pss.der");
    assert!(
        stdout(&checked).contains("pss sha384, mask sha256, salt 30"),
        "{}",
        stdout(&checked)
    );
}

#[test]
fn what_is_weak_or_broken_is_reported_unless_quiet() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "message", "m");
    for line in ["sign --key key.pem message", "verify --key public.pem message"] {
        let output = typed(here, line);
        assert_done(&output);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("is weak: its modulus has 1024 bits"), "{said}");
    }
    let quiet = typed(here, "--quiet verify --key public.pem message");
    assert_done(&quiet);
    assert!(quiet.stderr.is_empty());
    let Some(signed) = openssl(here, "dgst -sha1 -sign key.pem -out old message") else {
        return;
    };
    assert!(signed.status.success());
    let verified = typed(
        here,
        "verify --scheme pkcs1v15 --hash sha1 --key public.pem --sig old message",
    );
    assert_done(&verified);
    assert!(String::from_utf8_lossy(&verified.stderr).contains("SHA-1"));
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_made() {
    let here = folder();
    let here = here.path();
    study_key(here, 512);
    write(here, "message", "m");
    write(here, "block", [0xff; 64]);
    for (line, code, words) in [
        (
            "sign --hash sha512 --scheme pkcs1v15 --key key.pem message --sig s",
            2,
            "takes 745 bits at least",
        ),
        (
            "sign --scheme pkcs1v15 --hash sha1 --key key.pem message --sig s",
            2,
            "SHA-1 signs nothing",
        ),
        ("sign --hash md5 --key key.pem message --sig s", 2, "sha256"),
        (
            "sign --scheme pkcs1v15 --salt-len 3 --key key.pem message --sig s",
            2,
            "for --scheme pss",
        ),
        (
            "sign --scheme pkcs1v15 --key public.pem message --sig s",
            3,
            "a private key is needed",
        ),
        (
            "sign --scheme pkcs1v15 --key key.pem nowhere --sig s",
            5,
            "cannot read nowhere",
        ),
        (
            "sign --scheme pkcs1v15 --key key.pem message block --sig s",
            2,
            "several signatures",
        ),
        ("sign --scheme pkcs1v15 --key key.pem --files-from block", 5, "cannot"),
        ("verify --scheme pkcs1v15 --key key.pem message", 5, "message.sig"),
        (
            "verify --scheme pkcs1v15 --key key.pem --sig - -",
            2,
            "cannot both be standard input",
        ),
        ("verify --scheme pkcs1v15 --key key.pem", 2, "name its file with --sig"),
        (
            "encrypt --scheme oaep --key key.pem message --out e",
            2,
            "too short for this scheme",
        ),
        (
            "encrypt --scheme pkcs1v15 --label x --key key.pem message --out e",
            2,
            "--label is for --scheme oaep",
        ),
        (
            "encrypt --scheme pkcs1v15 --threads 2 --key key.pem message --out e",
            2,
            "--threads",
        ),
        (
            "encrypt --scheme pkcs1v15 --key key.pem message block --out e",
            2,
            "several ciphertexts",
        ),
        (
            "text-encrypt --key key.pem message block",
            2,
            "unexpected argument 'block'",
        ),
        (
            "raw-private --key key.pem --in message --out r",
            3,
            "a block of this key has 64 bytes",
        ),
        (
            "raw-private --key key.pem --in block --out r",
            3,
            "block 0 of block is not below the modulus",
        ),
    ] {
        assert_failure(&typed(here, line), code, words);
        for made in ["s", "e", "r", "message.sig", "message.enc"] {
            assert!(!here.join(made).exists(), "{line} made {made}");
        }
    }
}
