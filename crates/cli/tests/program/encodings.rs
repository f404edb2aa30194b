//! Signatures and ciphertexts as text, digests in place of messages, and keys on standard input.

use std::{fs, path::Path, process::Output};

use crate::support::{assert_done, assert_failure, folder, rsalab, run, stdout, study_key};

fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

fn piped(here: &Path, line: &str, input: &[u8]) -> Output {
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

const SIGN: &str = "sign --scheme pkcs1v15 --key key.pem";
const VERIFY: &str = "verify --scheme pkcs1v15 --key public.pem";

#[test]
fn signatures_and_ciphertexts_are_written_and_read_as_text() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "m", "a message!");
    for encoding in ["raw", "base64", "hex"] {
        assert_done(&typed(
            here,
            &format!("{SIGN} m --sig m.{encoding} --encoding {encoding}"),
        ));
        assert_done(&typed(
            here,
            &format!("{VERIFY} m --sig m.{encoding} --encoding {encoding}"),
        ));
        let encrypted = format!("encrypt --key public.pem --in m --out c.{encoding} --encoding {encoding}");
        assert_done(&typed(here, &encrypted));
        let opened = typed(
            here,
            &format!("decrypt --key key.pem c.{encoding} --encoding {encoding}"),
        );
        assert_eq!(stdout(&opened), "a message!");
        // Several files: the same command again finds what it made.
        let several = format!("{SIGN} --encoding {encoding} m c.raw");
        assert_done(&typed(here, &several));
        let again = typed(here, &several);
        assert!(String::from_utf8_lossy(&again.stderr).contains("2 there already"));
        assert_done(&typed(here, &format!("{VERIFY} --encoding {encoding} m c.raw")));
        let other = if encoding == "hex" { "raw" } else { "hex" };
        let refused = typed(here, &format!("{SIGN} --encoding {other} m c.raw"));
        assert_failure(&refused, 5, "no signature of it by this key, scheme and encoding");
        for name in ["m.sig", "c.raw.sig"] {
            fs::remove_file(here.join(name)).expect("it was made");
        }
    }
    assert_eq!(read(here, "m.hex").len(), 257);
    assert_eq!(read(here, "m.base64").len(), 173);
    // What another form is read as says what it is.
    let with_line_end = [read(here, "m.raw"), b"\n".to_vec()].concat();
    write(here, "m.nl", with_line_end);
    write(
        here,
        "c.lines",
        read(here, "c.base64").chunks(50).collect::<Vec<_>>().join(&b'\n'),
    );
    for (line, words) in [
        (
            format!("{VERIFY} m --sig m.hex"),
            "it is 128 bytes in hex: add --encoding hex",
        ),
        (format!("{VERIFY} m --sig m.base64"), "add --encoding base64"),
        (
            format!("{VERIFY} m --sig m.base64 --encoding hex"),
            "add --encoding base64",
        ),
        (format!("{VERIFY} m --sig m.raw --encoding hex"), "leave out --encoding"),
        (format!("{VERIFY} m --sig m.nl"), "a line end follows its 128 bytes"),
        (format!("{VERIFY} m --sig m"), "it has 10 bytes, and not 128"),
        (format!("{VERIFY} m --sig m --encoding base64"), "it is no base64"),
        ("decrypt --key key.pem c.lines".to_owned(), "add --encoding base64"),
        ("decrypt --key key.pem c.hex".to_owned(), "add --encoding hex"),
        (
            "decrypt --key key.pem c.raw --encoding hex".to_owned(),
            "leave out --encoding",
        ),
    ] {
        let output = typed(here, &line);
        assert_failure(&output, 4, words);
    }
    let opened = typed(here, "decrypt --key key.pem c.lines --encoding base64");
    assert_eq!(stdout(&opened), "a message!");
}

#[test]
fn a_digest_is_signed_and_verified_like_its_message() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "m", "abc");
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let bytes: Vec<u8> = (0..32)
        .map(|place| u8::from_str_radix(&digest[2 * place..2 * place + 2], 16).expect("digits"))
        .collect();
    write(here, "d", bytes);
    write(here, "d.hex", format!("{digest}\n"));
    assert_done(&typed(here, &format!("{SIGN} m")));
    for name in ["d", "d.hex"] {
        assert_done(&typed(here, &format!("{SIGN} --digest {name}")));
        assert_eq!(read(here, &format!("{name}.sig")), read(here, "m.sig"));
        assert_done(&typed(here, &format!("{VERIFY} --digest --sig m.sig {name}")));
    }
    // PSS too; and the digest of another message.
    assert_done(&typed(here, "sign --key key.pem --digest d --sig pss"));
    assert_done(&typed(here, "verify --key public.pem --sig pss m"));
    write(here, "d", [7; 32]);
    let wrong = typed(here, &format!("{VERIFY} --digest --sig m.sig d"));
    assert_failure(&wrong, 4, "the signature of d is wrong");
    write(here, "digits", &digest[..48]);
    for line in [
        "sign --key key.pem --digest m --sig s",
        "sign --key key.pem --digest --hash sha384 d.hex --sig s",
        // As many digits as the digest has bytes: they are no digest of this function.
        "sign --key key.pem --digest --hash sha384 --scheme pkcs1v15 digits --sig s",
        "verify --key public.pem --digest m --sig pss",
    ] {
        assert_failure(&typed(here, line), 3, "is no digest by");
    }
}

#[test]
fn a_key_comes_on_standard_input_where_nothing_else_does() {
    let here = folder();
    let here = here.path();
    study_key(here, 1024);
    write(here, "m", "a message");
    write(here, "list", "m\n");
    let (private, public) = (read(here, "key.pem"), read(here, "public.pem"));
    let rows: [(&str, &[u8]); 12] = [
        ("key public - --out half.pem", &private),
        ("key check -", &private),
        ("key convert - --format jwk --out key.jwk", &private),
        ("sign --key - m", &private),
        ("verify --key - m", &public),
        ("encrypt --raw-oaep --key - --text x --out m.enc", &public),
        ("decrypt --key - m.enc", &private),
        ("text-encrypt --key - m --out m.rsa", &public),
        ("text-decrypt --key - m.rsa", &private),
        ("raw-public --key - --in m.enc --out raised", &public),
        ("blind request --key - m", &public),
        ("blind sign --key - m.blinded", &private),
    ];
    for (line, key) in rows {
        assert_done(&piped(here, line, key));
    }
    assert_eq!(read(here, "half.pem"), public);
    for (line, one, other) in [
        ("sign --key -", "the message", "the key"),
        ("sign --key - -", "the message", "the key"),
        ("sign --key - --files-from -", "the list of files", "the key"),
        ("sign --key key.pem - --password-file -", "the message", "the password"),
        ("verify --key - m --sig -", "its signature", "the key"),
        ("verify --key key.pem --sig -", "the message", "its signature"),
        ("encrypt --key -", "the message", "the key"),
        ("decrypt --key -", "the message", "the key"),
        ("text-encrypt --key -", "the input", "the key"),
        ("text-decrypt --key -", "the input", "the key"),
        ("raw-private --key -", "the input", "the key"),
        ("raw-public --key -", "the input", "the key"),
        ("blind request --key - --out o --state s", "the message", "the key"),
        ("blind sign --key -", "the message", "the key"),
        ("blind finalize --key - m --state -", "the state", "the key"),
        (
            "blind finalize --key public.pem --state - --blind-sig b --sig s --prefix p",
            "the message",
            "the state",
        ),
        ("blind verify --key - m --sig -", "its signature", "the key"),
        ("key public - --password-file -", "the key", "its password"),
    ] {
        let words = format!("{one} and {other} cannot both be standard input");
        assert_failure(&piped(here, line, &private), 2, &words);
    }
    assert_failure(&piped(here, "key public -", b"nonsense"), 3, "standard input");
}
