//! Keys of the type RSA-PSS, with the provider and without it: whatever one does or refuses, the other does or refuses.

use std::fs;

use crate::support::Here;

/// Restrictions, and the bytes of the digest that signatures have.
const RESTRICTIONS: [(&str, usize); 5] = [
    ("", 0),
    (
        " -pkeyopt rsa_pss_keygen_md:sha256 -pkeyopt rsa_pss_keygen_mgf1_md:sha256 -pkeyopt rsa_pss_keygen_saltlen:32",
        32,
    ),
    (" -pkeyopt rsa_pss_keygen_md:sha256", 32),
    (" -pkeyopt rsa_pss_keygen_mgf1_md:sha256", 20),
    (" -pkeyopt rsa_pss_keygen_saltlen:20", 20),
];

#[test]
fn keys_of_ours_are_keys_for_others() {
    let Some(here) = Here::new() else { return };
    let listed = here.run(true, "list -key-managers");
    assert!(
        listed
            .lines()
            .any(|line| line.contains("RSA-PSS") && line.ends_with("@ rsalab")),
        "{listed}"
    );
    for (restrictions, _) in RESTRICTIONS {
        for ours in [true, false] {
            let line = format!("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024{restrictions} -out key.pem");
            here.run(ours, &line);
            for ours in [true, false] {
                let said = here.run(ours, "pkey -in key.pem -check -noout");
                assert!(said.contains("Key is valid"), "{said}");
            }
            for line in [
                "pkey -in key.pem -text -noout",
                "pkey -in key.pem",
                "pkey -in key.pem -pubout",
                "pkey -in key.pem -pubout -text",
            ] {
                let said = here.run(true, line);
                assert_eq!(said, here.run(false, line), "{restrictions}: {line}");
                assert!(!line.contains("-text -noout") || said.contains("PSS"));
            }
        }
    }
    let refused = "genpkey -algorithm RSA-PSS -pkeyopt rsa_pss_keygen_md:nothing";
    assert!(!here.output(true, refused).status.success());
}

/// Every choice of parameters, as `-pkeyopt`s, with the bytes of the digest if there is one.
fn options() -> Vec<(String, usize)> {
    let mut options = vec![
        (" -pkeyopt rsa_padding_mode:pkcs1".to_owned(), 0),
        (" -pkeyopt rsa_padding_mode:none".to_owned(), 0),
        (" -pkeyopt rsa_padding_mode:pss".to_owned(), 0),
    ];
    for (digest, len) in [("", 0), ("sha1", 20), ("sha256", 32)] {
        for mask in ["", "sha1", "sha256"] {
            for salt in ["", "20", "31", "32", "digest", "max", "auto"] {
                let mut option = String::new();
                for (name, value) in [("digest", digest), ("rsa_mgf1_md", mask), ("rsa_pss_saltlen", salt)] {
                    if !value.is_empty() {
                        option += &format!(" -pkeyopt {name}:{value}");
                    }
                }
                options.push((option, len));
            }
        }
    }
    options
}

/// Each choice of parameters under one of the keys at least, and each key with choices of every kind.
#[test]
fn restrictions_are_those_of_openssl() {
    restrictions_agree(RESTRICTIONS.len() - 1);
}

#[test]
#[ignore = "long: every choice of parameters under every key"]
fn all_restrictions_are_those_of_openssl() {
    restrictions_agree(1);
}

/// Takes one of `step` choices under each key, others under the next.
fn restrictions_agree(step: usize) {
    let Some(here) = Here::new() else { return };
    let does = |ours, line: &str| here.output(ours, line).status.success();
    let (mut done, mut refused) = (0, 0);
    for (number, (restrictions, digest)) in RESTRICTIONS.into_iter().enumerate() {
        let line = format!("genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024{restrictions} -out key.pem");
        here.run(true, &line);
        let mut before = None;
        for (options, len) in options().into_iter().skip(number % step).step_by(step) {
            let len = if len > 0 { len } else { digest };
            fs::write(here.path("digest"), vec![3; len]).unwrap();
            let sign = format!("pkeyutl -sign -inkey key.pem -in digest{options} -out");
            let signs = [true, false].map(|ours| {
                let file = if ours { "ours" } else { "theirs" };
                does(ours, &format!("{sign} {file}"))
            });
            assert_eq!(signs[0], signs[1], "{restrictions}: {sign}");
            let made = signs[0].then_some(["ours", "theirs"]);
            // What was made with these parameters, and with those of before.
            for file in made.into_iter().flatten().chain(before) {
                let verify = format!("pkeyutl -verify -inkey key.pem -in digest{options} -sigfile {file}");
                let verifies = [true, false].map(|ours| does(ours, &verify));
                assert_eq!(verifies[0], verifies[1], "{restrictions}: {verify}");
                done += usize::from(verifies[0]);
                refused += usize::from(!verifies[0]);
            }
            if made.is_some() {
                fs::copy(here.path("theirs"), here.path("before")).unwrap();
                before = Some("before");
            }
        }
        // No other operation.
        fs::write(here.path("block"), [vec![0], vec![9; 127]].concat()).unwrap();
        for line in [
            "pkeyutl -encrypt -inkey key.pem -in digest -out x",
            "pkeyutl -decrypt -inkey key.pem -in block -out x",
            "pkeyutl -verifyrecover -inkey key.pem -in block -out x",
        ] {
            for ours in [true, false] {
                assert!(!does(ours, line), "{line}");
            }
        }
    }
    let enough = 100 / step;
    assert!(done > enough && refused > enough, "{done} accepted, {refused} refused");
}

/// The length of salt that nobody asked for, under keys of both types.
#[test]
fn salts_have_openssls_length() {
    let Some(here) = Here::new() else { return };
    let cnf = here.path("openssl.cnf");
    for (key, option) in [("RSA", " -sigopt rsa_padding_mode:pss"), ("RSA-PSS", "")] {
        here.run(true, &format!("genpkey -algorithm {key} -out key.pem"));
        let lines = [true, false].map(|ours| {
            let line = format!(
                "req -config {} -x509 -new -key key.pem -subj /CN=x -days 2 -sha256{option} -out c.pem",
                cnf.display()
            );
            here.run(ours, &line);
            let text = here.run(ours, "x509 -in c.pem -noout -text");
            let salt = text.lines().find(|line| line.contains("Salt Length"));
            salt.unwrap_or_else(|| panic!("{text}")).to_owned()
        });
        assert_eq!(lines[0], lines[1], "{key}");
    }
}

#[test]
fn certificates_requests_and_messages() {
    let Some(here) = Here::new() else { return };
    let cnf = here.path("openssl.cnf");
    fs::write(here.path("message"), "signed").unwrap();
    for (restrictions, digest, options) in [
        ("", "sha384", ""),
        ("", "sha256", " -sigopt rsa_pss_saltlen:digest"),
        (RESTRICTIONS[1].0, "sha256", ""),
        (RESTRICTIONS[1].0, "sha256", " -sigopt rsa_pss_saltlen:40"),
        (RESTRICTIONS[3].0, "sha1", ""),
    ] {
        here.run(true, &format!("genpkey -algorithm RSA-PSS{restrictions} -out key.pem"));
        for ours in [true, false] {
            let request = format!(
                "req -config {} -x509 -new -key key.pem -subj /CN=x -days 2 -{digest}{options} -out c.pem",
                cnf.display()
            );
            here.run(ours, &request);
            let text = here.run(ours, "x509 -in c.pem -noout -text");
            assert!(text.contains("Signature Algorithm: rsassaPss"), "{text}");
            for ours in [true, false] {
                let said = here.run(ours, "verify -auth_level 0 -check_ss_sig -CAfile c.pem c.pem");
                assert!(said.contains("c.pem: OK"), "{said}");
            }
            let line = format!(
                "cms -sign -nodetach -in message -signer c.pem -inkey key.pem -keyopt rsa_padding_mode:pss -md {digest} -outform DER -out m.cms"
            );
            here.run(ours, &line);
            here.run(
                !ours,
                "cms -verify -inform DER -in m.cms -CAfile c.pem -purpose any -auth_level 0 -out out",
            );
        }
        // A digest that the key is restricted from.
        if !restrictions.is_empty() {
            let request = format!(
                "req -config {} -x509 -new -key key.pem -subj /CN=x -sha512 -out x.pem",
                cnf.display()
            );
            for ours in [true, false] {
                assert!(!here.output(ours, &request).status.success());
            }
        }
    }
}
