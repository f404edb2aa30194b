//! OpenSSL's commands with the provider, and without it: what one signs the other verifies.

mod answers;
mod check;
mod lifetimes;
mod refused;

use std::{collections::HashSet, fs};

use crate::support::Here;

const KEYS: [(&str, &str); 3] = [
    ("1024.pem", "rsa_keygen_bits:1024"),
    ("2048.pem", "rsa_keygen_bits:2048"),
    ("3072.pem", "rsa_keygen_bits:3072"),
];

fn keys(here: &Here, with_ours: bool) {
    for (file, option) in KEYS {
        here.run(
            with_ours,
            &format!("genpkey -algorithm RSA -pkeyopt {option} -out {file}"),
        );
        here.run(!with_ours, &format!("pkey -in {file} -pubout -out {file}.pub"));
    }
}

#[test]
fn it_is_loaded_and_says_what_it_offers() {
    let Some(here) = Here::new() else { return };
    let said = here.run(true, "list -providers -verbose");
    assert!(said.contains("rsalab") && said.contains("status: active"), "{said}");
    for (operation, name) in [
        ("-signature-algorithms", "rsaEncryption"),
        ("-key-managers", "rsaEncryption"),
    ] {
        let said = here.run(true, &format!("list {operation}"));
        assert!(said.contains("@ rsalab") && said.contains(name), "{said}");
    }
}

#[test]
fn what_one_signs_the_other_verifies() {
    let Some(here) = Here::new() else { return };
    keys(&here, true);
    fs::write(here.path("message"), [7; 1000]).unwrap();
    let paddings = [
        "-sigopt rsa_padding_mode:pkcs1",
        "-sigopt rsa_padding_mode:pss",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:max",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:0",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:20",
        "-sigopt rsa_padding_mode:pss -sigopt rsa_mgf1_md:sha1",
    ];
    for digest in [
        "sha1",
        "sha224",
        "sha256",
        "sha384",
        "sha512",
        "sha512-256",
        "sha3-256",
        "sha3-512",
    ] {
        for padding in paddings {
            for signs_with_ours in [true, false] {
                let key = if digest.contains("512") { "2048.pem" } else { "1024.pem" };
                here.run(
                    signs_with_ours,
                    &format!("dgst -{digest} -sign {key} {padding} -out signature message"),
                );
                for verifies_with_ours in [true, false] {
                    let said = here.run(
                        verifies_with_ours,
                        &format!("dgst -{digest} -verify {key}.pub {padding} -signature signature message"),
                    );
                    assert!(said.contains("Verified OK"), "{digest} {padding}: {said}");
                }
                // One bit changed.
                let mut wrong = fs::read(here.path("signature")).unwrap();
                wrong[40] ^= 1;
                fs::write(here.path("wrong"), wrong).unwrap();
                let line = format!("dgst -{digest} -verify {key}.pub {padding} -signature wrong message");
                assert!(!here.output(true, &line).status.success(), "{digest} {padding}");
            }
        }
    }
}

#[test]
fn raw_digests_recovery_and_refusals() {
    let Some(here) = Here::new() else { return };
    keys(&here, false);
    fs::write(here.path("digest"), [3; 32]).unwrap();
    let sign = "pkeyutl -sign -in digest -inkey 2048.pem";
    let plain = "-pkeyopt rsa_padding_mode:pkcs1";
    let hashed = "-pkeyopt rsa_padding_mode:pkcs1 -pkeyopt digest:sha256";
    for options in [plain, hashed] {
        for ours in [true, false] {
            here.run(ours, &format!("{sign} {options} -out signature"));
            let recover = format!("pkeyutl -verifyrecover -in signature -inkey 2048.pem {options} -out digest2");
            for ours in [true, false] {
                here.run(ours, &recover);
                assert_eq!(fs::read(here.path("digest2")).unwrap(), [3; 32], "{options}");
            }
        }
        // PKCS#1 v1.5 has one signature.
        here.run(true, &format!("{sign} {options} -out ours"));
        here.run(false, &format!("{sign} {options} -out theirs"));
        assert_eq!(
            fs::read(here.path("ours")).unwrap(),
            fs::read(here.path("theirs")).unwrap()
        );
    }
    fs::write(here.path("block"), [vec![0], vec![9; 255]].concat()).unwrap();
    let raw = "rsautl -sign -raw -in block -inkey 2048.pem -out";
    here.run(true, &format!("{raw} ours"));
    here.run(false, &format!("{raw} theirs"));
    assert_eq!(
        fs::read(here.path("ours")).unwrap(),
        fs::read(here.path("theirs")).unwrap()
    );
    for line in [
        // Not below the modulus, of another length, a public key, a digest of another length.
        "rsautl -sign -raw -in large -inkey 2048.pem -out x",
        "pkeyutl -sign -in digest -inkey 2048.pem -pkeyopt rsa_padding_mode:none -out x",
        "pkeyutl -sign -in digest -pubin -inkey 2048.pem.pub -out x",
        "pkeyutl -sign -in digest -inkey 2048.pem -pkeyopt digest:sha384 -out x",
    ] {
        fs::write(here.path("large"), [0xff; 256]).unwrap();
        assert!(!here.output(true, line).status.success(), "{line}");
    }
}

/// A failure that OpenSSL's own providers have too is raised with their number, and says what ours has to say.
#[test]
fn failures_have_the_numbers_that_programs_look_for() {
    let Some(here) = Here::new() else { return };
    let small = "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:100 -out small.pem";
    let output = here.output(true, small);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    // Library 57, reason 171.
    assert!(said.contains("error:1C8000AB:"), "{said}");
    assert!(said.contains(":rsalab:0:at least 512 bits"), "{said}");
}

/// Errors of a key are printed without eight characters in a row of it, in hexadecimal or base64.
#[test]
fn errors_repeat_no_key() {
    let Some(here) = Here::new() else { return };
    let new = "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -out key.pem";
    here.run(false, new);
    here.run(false, "pkey -in key.pem -outform der -out key.der");
    let der = fs::read(here.path("key.der")).unwrap();
    let pem = fs::read_to_string(here.path("key.pem")).unwrap();
    let body: String = pem.lines().filter(|line| !line.contains("-----")).collect();
    let hex: String = der.iter().map(|byte| format!("{byte:02x}")).collect();
    let texts = [body, hex.to_uppercase(), hex];
    let windows: HashSet<&[u8]> = texts.iter().flat_map(|text| text.as_bytes().windows(8)).collect();
    let mut refused = 0;
    for place in (30..der.len()).step_by(der.len() / 23) {
        let mut altered = der.clone();
        altered[place] ^= 0x55;
        fs::write(here.path("altered.der"), altered).unwrap();
        for line in [
            "pkey -inform der -in altered.der -check -noout",
            "dgst -sha256 -keyform der -sign altered.der -out signature key.pem",
        ] {
            let output = here.output(true, line);
            refused += usize::from(!output.status.success());
            for said in [&output.stdout, &output.stderr] {
                let repeated = said.windows(8).find(|window| windows.contains(window));
                assert!(
                    repeated.is_none(),
                    "{line}, byte {place}: {}",
                    String::from_utf8_lossy(said)
                );
            }
        }
    }
    assert!(refused > 20, "{refused} keys were refused");
}

/// MD5 and RIPEMD-160, with PKCS#1 v1.5: signatures, certificates, recovery.
#[test]
fn old_digests() {
    let Some(here) = Here::new() else { return };
    keys(&here, true);
    let cnf = here.path("openssl.cnf");
    fs::write(here.path("message"), [7; 1000]).unwrap();
    for (digest, len) in [("md5", 16), ("ripemd160", 20)] {
        for (ours, file) in [(true, "ours"), (false, "theirs")] {
            here.run(ours, &format!("dgst -{digest} -sign 1024.pem -out {file} message"));
            let said = here.run(
                !ours,
                &format!("dgst -{digest} -verify 1024.pem.pub -signature {file} message"),
            );
            assert!(said.contains("Verified OK"), "{digest}: {said}");
            let request = format!(
                "req -config {} -x509 -new -key 2048.pem -subj /CN=x -days 2 -{digest} -out c.pem",
                cnf.display()
            );
            here.run(ours, &request);
            // OpenSSL's verification of certificates asks for more secure digests.
            let line = "verify -auth_level 0 -check_ss_sig -CAfile c.pem c.pem";
            let said = here.run(!ours, line);
            assert!(said.contains("c.pem: OK"), "{said}");
            fs::write(here.path("digest"), vec![3; len]).unwrap();
            let options = format!("-inkey 2048.pem -pkeyopt rsa_padding_mode:pkcs1 -pkeyopt digest:{digest}");
            here.run(ours, &format!("pkeyutl -sign -in digest {options} -out signature"));
            here.run(
                !ours,
                &format!("pkeyutl -verifyrecover -in signature {options} -out digest2"),
            );
            assert_eq!(fs::read(here.path("digest2")).unwrap(), vec![3; len]);
        }
        assert_eq!(
            fs::read(here.path("ours")).unwrap(),
            fs::read(here.path("theirs")).unwrap()
        );
        let wrong = format!("dgst -{digest} -verify 2048.pem.pub -signature ours message");
        assert!(!here.output(true, &wrong).status.success());
    }
}

#[test]
fn x931_signatures_agree_with_openssls_own() {
    let Some(here) = Here::new() else { return };
    keys(&here, true);
    let padding = "rsa_padding_mode:x931";
    for (digest, key, len) in [
        ("sha1", "1024.pem", 20),
        ("sha256", "1024.pem", 32),
        ("sha384", "2048.pem", 48),
        ("sha512", "3072.pem", 64),
    ] {
        // Of a signature and its difference from the modulus now the one is smaller, now the other.
        for message in 0..6u8 {
            fs::write(here.path("message"), [message; 100]).unwrap();
            for (ours, file) in [(true, "ours"), (false, "theirs")] {
                let sign = format!("dgst -{digest} -sigopt {padding} -sign {key} -out {file} message");
                here.run(ours, &sign);
            }
            let signature = fs::read(here.path("ours")).unwrap();
            assert_eq!(signature, fs::read(here.path("theirs")).unwrap());
            let verify = format!("dgst -{digest} -sigopt {padding} -verify {key}.pub -signature");
            assert!(
                here.run(true, &format!("{verify} ours message"))
                    .contains("Verified OK")
            );
            let mut wrong = signature;
            wrong[40] ^= 1;
            fs::write(here.path("wrong"), wrong).unwrap();
            let wrong = here.output(true, &format!("{verify} wrong message"));
            assert!(!wrong.status.success());
        }
        fs::write(here.path("digest"), vec![3; len]).unwrap();
        let options = format!("-inkey {key} -pkeyopt digest:{digest} -pkeyopt {padding}");
        here.run(true, &format!("pkeyutl -sign -in digest {options} -out signature"));
        for ours in [true, false] {
            let recover = format!("pkeyutl -verifyrecover -in signature {options} -out digest2");
            here.run(ours, &recover);
            assert_eq!(fs::read(here.path("digest2")).unwrap(), vec![3; len]);
        }
        // Another digest has another number, or another length.
        let other = match digest {
            "sha256" => "sha1",
            _ => "sha256",
        };
        let options = format!("-inkey {key} -pkeyopt digest:{other} -pkeyopt {padding}");
        let recover = format!("pkeyutl -verifyrecover -in signature {options} -out digest3");
        assert!(!here.output(true, &recover).status.success());
    }
    let refused = format!("dgst -sha224 -sigopt {padding} -sign 2048.pem -out refused message");
    let output = here.output(true, &refused);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("invalid x931 digest"),
        "{said}"
    );
}

#[test]
fn keys_of_ours_are_keys_for_others() {
    let Some(here) = Here::new() else { return };
    for (bits, primes) in [(1024, 2), (2048, 3), (4096, 4)] {
        let options = format!("-pkeyopt rsa_keygen_bits:{bits} -pkeyopt rsa_keygen_primes:{primes}");
        for ours in [true, false] {
            let line = format!("genpkey -algorithm RSA {options} -out key.pem");
            if primes > 3 && !here.is_3_0() {
                // Later versions of OpenSSL would write it wrongly.
                assert!(!here.output(true, &line).status.success());
                here.run(false, &line);
                let again = here.output(true, "pkey -in key.pem");
                let key = fs::read(here.path("key.pem")).unwrap();
                assert!(!again.status.success() || again.stdout == key);
                continue;
            }
            here.run(ours, &line);
            for ours in [true, false] {
                let said = here.run(ours, "pkey -in key.pem -check -noout");
                assert!(said.contains("Key is valid"), "{said}");
                let text = here.run(ours, "pkey -in key.pem -text -noout");
                assert!(text.contains(&format!("({bits} bit, {primes} primes)")), "{text}");
                here.run(ours, "pkey -in key.pem -out again.pem");
                assert_eq!(
                    fs::read(here.path("key.pem")).unwrap(),
                    fs::read(here.path("again.pem")).unwrap()
                );
            }
        }
    }
    let odd = "genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:1024 -pkeyopt rsa_keygen_pubexp:3 -out key.pem";
    here.run(true, odd);
    assert!(
        here.run(false, "pkey -in key.pem -text -noout")
            .contains("publicExponent: 3 (0x3)")
    );
    let even = "genpkey -algorithm RSA -pkeyopt rsa_keygen_pubexp:4 -out key.pem";
    assert!(!here.output(true, even).status.success());
}

#[test]
fn certificates_requests_and_messages() {
    let Some(here) = Here::new() else { return };
    keys(&here, true);
    fs::write(here.path("message"), "signed").unwrap();
    for options in [
        "-sha256",
        "-sha384 -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:-1",
    ] {
        for ours in [true, false] {
            let cnf = here.path("openssl.cnf");
            let request = format!(
                "req -config {} -x509 -new -key 2048.pem -subj /CN=x -days 2 {options} -out c.pem",
                cnf.display()
            );
            here.run(ours, &request);
            for ours in [true, false] {
                let said = here.run(ours, "verify -check_ss_sig -CAfile c.pem c.pem");
                assert!(said.contains("c.pem: OK"), "{said}");
            }
            here.run(
                ours,
                "cms -sign -nodetach -in message -signer c.pem -inkey 2048.pem -md sha256 -outform DER -out m.cms",
            );
            here.run(
                !ours,
                "cms -verify -inform DER -in m.cms -CAfile c.pem -purpose any -out out",
            );
        }
    }
}

/// The output of `openssl pkeyutl`, with ours preferred or without it.
fn pkeyutl(here: &Here, with_ours: bool, line: &str) -> Option<Vec<u8>> {
    let output = here.output(with_ours, &format!("pkeyutl {line}"));
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success().then_some(output.stdout)
}

#[test]
fn encryption_agrees_with_openssls_own() {
    let Some(here) = Here::new() else { return };
    here.run(true, "genrsa -out key.pem 2048");
    here.run(true, "rsa -in key.pem -pubout -out public.pem");
    let paddings: [(&str, usize); 6] = [
        ("-pkeyopt rsa_padding_mode:pkcs1", 245),
        ("-pkeyopt rsa_padding_mode:oaep", 214),
        ("-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256", 190),
        (
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha512 -pkeyopt rsa_mgf1_md:sha1",
            126,
        ),
        (
            "-pkeyopt rsa_padding_mode:oaep -pkeyopt rsa_oaep_md:sha256 -pkeyopt rsa_oaep_label:6c6162656c",
            190,
        ),
        ("-pkeyopt rsa_padding_mode:none", 256),
    ];
    for (options, most) in paddings {
        let lens = match most {
            256 => vec![256],
            _ => vec![1, 32, most],
        };
        for len in lens {
            // Below every modulus.
            let message: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            std::fs::write(here.path("message"), &message).unwrap();
            for (ours, theirs) in [(true, false), (false, true), (true, true)] {
                let encrypt = format!("-encrypt -pubin -inkey public.pem -in message {options}");
                let ciphertext = pkeyutl(&here, ours, &encrypt).expect("it is encrypted");
                std::fs::write(here.path("ciphertext"), &ciphertext).unwrap();
                let decrypt = format!("-decrypt -inkey key.pem -in ciphertext {options}");
                let found = pkeyutl(&here, theirs, &decrypt).expect("it is decrypted");
                assert_eq!(found, message, "{ours} {theirs}, {options}, {len} bytes");
            }
            // With another ciphertext: OAEP refuses, and PKCS#1 v1.5 gives one and the same other message each time.
            let mut ciphertext = std::fs::read(here.path("ciphertext")).unwrap();
            ciphertext[255] ^= 1;
            std::fs::write(here.path("ciphertext"), &ciphertext).unwrap();
            let decrypt = format!("-decrypt -inkey key.pem -in ciphertext {options}");
            let found = pkeyutl(&here, true, &decrypt);
            assert_ne!(found.as_deref(), Some(&message[..]));
            assert_eq!(found.is_none(), options.contains(":oaep"), "{options}");
            assert_eq!(found, pkeyutl(&here, true, &decrypt));
        }
        // A byte more than fits.
        std::fs::write(here.path("message"), vec![0; most + 1]).unwrap();
        let encrypt = format!("-encrypt -pubin -inkey public.pem -in message {options}");
        assert_eq!(pkeyutl(&here, true, &encrypt), None, "{options}");
    }
}
