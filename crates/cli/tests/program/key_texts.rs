//! Keys in forms that are no files of keys: nothing of them is in what the program prints, whatever command they are
//! given to.

use std::{collections::HashSet, fs, path::Path, process::Output};

use crate::support::{assert_failure, folder, rsalab, run, study_key};

/// A key, and what no output may hold: eight characters in a row of its body.
struct Secret {
    pem: String,
    jwk: String,
    windows: HashSet<Vec<u8>>,
}

impl Secret {
    fn new(folder: &Path) -> Secret {
        study_key(folder, 1024);
        let convert = ["key", "convert", "key.pem", "--format", "jwk", "--out", "key.jwk"];
        assert!(run(folder, convert).status.success());
        let read = |name| fs::read_to_string(folder.join(name)).expect("it was made");
        let (pem, jwk) = (read("key.pem"), read("key.jwk"));
        let lines = pem.lines().filter(|line| !line.contains("-----"));
        let body: String = lines.collect();
        let value = |name: &str| {
            let (_, rest) = jwk.split_once(&format!("\"{name}\":\"")).expect("a member");
            rest.split('"').next().expect("a value").to_owned()
        };
        let numbers = ["d", "p", "q", "dp", "dq", "qi"].map(value);
        let windows = std::iter::once(&body)
            .chain(&numbers)
            .flat_map(|text| text.as_bytes().windows(8).map(<[u8]>::to_vec).collect::<Vec<_>>());
        Secret {
            windows: windows.collect(),
            pem,
            jwk,
        }
    }

    #[track_caller]
    fn check(&self, output: &Output, typed: &str) {
        for said in [&output.stdout, &output.stderr] {
            let repeated = said.windows(8).find(|window| self.windows.contains(*window));
            assert!(
                repeated.is_none(),
                "{typed}: «{}» of the key is in: {}",
                String::from_utf8_lossy(repeated.unwrap_or_default()),
                String::from_utf8_lossy(said)
            );
        }
    }

    /// Forms that no command takes for a key.
    fn forms(&self) -> Vec<(&'static str, String)> {
        let (pem, jwk) = (self.pem.trim_end(), self.jwk.trim_end());
        let body: String = pem.lines().filter(|line| !line.contains("-----")).collect();
        let d = jwk
            .split("\"d\":\"")
            .nth(1)
            .and_then(|rest| rest.split('"').next())
            .expect("d");
        vec![
            ("one-line", pem.replace('\n', "")),
            ("blanks", pem.replace('\n', " ")),
            ("escaped", pem.replace('\n', "\\n")),
            ("setting", format!("PRIVATE_KEY=\"{}\"\n", pem.replace('\n', "\\n"))),
            (
                "label",
                format!("-----BEGIN {body}-----\n{body}\n-----END {body}-----\n"),
            ),
            ("other-label", pem.replace("PRIVATE KEY", &body[..60])),
            ("cut", pem[..pem.len() / 2].replace("-----\n", "----- ")),
            ("ssh", format!("ssh-rsa {body} {body}\n")),
            ("kty", jwk.replace("\"RSA\"", &format!("\"{d}\""))),
            ("keys", format!("{{\"keys\":\"{d}\",\"kty\":\"RSA\"}}")),
            ("oth", jwk.replace("\"kty\"", &format!("\"oth\":[\"{d}\"],\"kty\""))),
            (
                "alg",
                jwk.replace("\"kty\"", &format!("\"alg\":\"{d}\",\"use\":\"{d}\",\"kty\"")),
            ),
            ("plan", format!("title = \"{body}\"\n{body} = 1\n-----BEGIN X-----\n")),
        ]
    }
}

/// Commands that take a key from a file, which stands for F.
const COMMANDS: [&str; 24] = [
    "key public F",
    "key public F --format jwk",
    "key check F",
    "key check F --json",
    "key check F --strict",
    "key convert F --out new",
    "sign --key F message",
    "verify --key F message --sig message",
    "encrypt --key F message",
    "decrypt --key F message",
    "text-encrypt --key F --text a",
    "text-decrypt --key F message",
    "raw-private --key F message",
    "raw-public --key F message",
    "blind request --key F message",
    "blind sign --key F message",
    "blind finalize --key F message",
    "blind verify --key F message --sig message",
    "blind key F",
    "study F",
    "report F",
    "text-decrypt --key key.pem F",
    "key check key.pem --blocklist F",
    "sign --key key.pem --files-from F",
];

#[test]
fn no_command_repeats_a_key_that_it_cannot_read() {
    let here = folder();
    let secret = Secret::new(here.path());
    fs::write(here.path().join("message"), "a message").expect("it can be written");
    for (name, form) in secret.forms() {
        fs::write(here.path().join(name), form).expect("it can be written");
        for command in COMMANDS {
            let typed = command.replace('F', name);
            let output = run(here.path(), typed.split(' '));
            secret.check(&output, &typed);
        }
    }
}

#[test]
fn a_list_that_is_a_key_in_other_bytes_is_no_list() {
    let here = folder();
    let secret = Secret::new(here.path());
    let utf16: Vec<u8> = secret.pem.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(here.path().join("utf16"), &utf16).expect("it can be written");
    fs::write(here.path().join("utf16-mark"), [&[0xff, 0xfe][..], &utf16].concat()).expect("it can be written");
    fs::write(
        here.path().join("xml"),
        "<RSAKeyValue><D>AbCdEfGhIjKlMnOp</D></RSAKeyValue>",
    )
    .expect("it can be written");
    let made = run(
        here.path(),
        ["key", "convert", "key.pem", "--format", "pkcs8-der", "--out", "der"],
    );
    assert!(made.status.success(), "{made:?}");
    for list in ["der", "utf16", "utf16-mark", "xml"] {
        for line in [
            "sign --key key.pem --files-from",
            "verify --json --key public.pem --files-from",
        ] {
            let output = run(here.path(), format!("{line} {list}").split(' '));
            assert_failure(&output, 3, &format!("{list} holds a key, not names of files"));
            assert!(output.stdout.is_empty(), "{output:?}");
        }
        let output = run(
            here.path(),
            format!("keygen --bits 512 --insecure-size --names {list} --out keys").split(' '),
        );
        assert_failure(&output, 3, &format!("{list} holds a key, not names"));
    }
}

#[test]
fn no_command_repeats_a_key_in_the_place_of_a_name() {
    let here = folder();
    let secret = Secret::new(here.path());
    let mut forms = secret.forms();
    forms.push(("whole", secret.pem.clone()));
    forms.push(("jwk", secret.jwk.clone()));
    let body = secret.pem.lines().filter(|line| !line.contains("-----"));
    let body: Vec<&str> = body.collect();
    forms.push(("body", body.join("\n")));
    forms.push(("end of the body", body[3..].join("\n")));
    for (name, form) in forms {
        for arguments in [
            &["key", "public", &form][..],
            &["sign", "--key", &form, "message"],
            &["sign", &format!("--key={form}"), "message"],
            &["key", "check", "--json", &form],
            &["key", "check", "--kernel", &form],
            &["sign", "--key", "key.pem", "--password-file", &form, "message"],
            &["text-encrypt", "--key", "public.pem", "--wrong", "--text", &form],
            &["study", "--print-plan", "--engines", "own", "--text", &form],
            &[
                "slurm",
                "study",
                "--parts",
                "2",
                "--out",
                "x",
                "--",
                "smoke",
                &format!("--text={form}"),
            ],
            &[&form],
        ] {
            let output = run(here.path(), arguments);
            assert!(!output.status.success(), "{name}: {arguments:?}");
            secret.check(&output, name);
        }
    }
    // A message may be the text of a key.
    let text = format!("--text={}", secret.pem);
    let encrypted = run(here.path(), ["text-encrypt", "--key", "public.pem", &text]);
    assert!(encrypted.status.success());
    secret.check(&encrypted, "--text");
}

#[test]
fn answers_to_requests_repeat_no_key() {
    let here = folder();
    let secret = Secret::new(here.path());
    let text = |text: &str| {
        let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("\"{escaped}\"")
    };
    let mut lines = String::new();
    let mut forms = secret.forms();
    forms.push(("whole", secret.pem.clone()));
    for (_, form) in forms {
        let form = text(&form);
        for line in [
            format!("{{\"op\":\"sign\",\"scheme\":\"pss\",\"msg\":\"00\",\"key\":{form}}}"),
            format!("{{\"op\":\"loadkey\",\"key\":{form}}}"),
            format!("{{\"op\":{form},\"key\":\"sign\"}}"),
            format!("{{\"op\":\"sign\",\"scheme\":{form},\"msg\":\"00\",\"key\":\"\"}}"),
            format!("{{\"op\":\"sign\",\"scheme\":\"pss\",\"hash\":{form},\"msg\":\"00\"}}"),
            format!("{{\"op\":\"sign\",\"scheme\":\"pss\",\"salt_len\":{form},\"msg\":\"00\"}}"),
            format!("{{\"op\":\"sign\",\"scheme\":\"pss\",\"msg\":{form}}}"),
            format!("{{\"op\":\"primality\",\"value\":{form}}}"),
            format!("{{\"op\":[{form}]}}"),
            format!("{{{form}:{form}}}"),
            format!("[{form}]"),
            form.clone(),
            form.replace('"', ""),
            format!("{{\"op\":\"sign\",\"key\":{form}"),
        ] {
            lines += &line;
            lines.push('\n');
        }
    }
    let output = rsalab(here.path())
        .args(["vectors", "-"])
        .write_stdin(lines.clone())
        .output()
        .expect("the program starts");
    secret.check(&output, "vectors -");
    let answers = output.stdout.split(|&byte| byte == b'\n').count() - 1;
    assert!(answers >= lines.lines().count(), "{answers} answers");
}
