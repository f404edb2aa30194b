//! Raw blocks beside OpenSSL's answers.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use rsalab_rsa::{Backend, CpuBackend, format::decode_private};
use rsalab_text::{
    Threads,
    blocks::{Blocks, decrypt, encrypt},
};

#[test]
fn raw_blocks_are_those_of_openssl() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| Path::new(directory.path()).join(name);
    let openssl = |line: &str, input: &[u8]| {
        let mut child = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(directory.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(input)
            .expect("openssl reads");
        let output = child.wait_with_output().expect("openssl ends");
        assert!(output.status.success(), "openssl {line}");
        Some(output.stdout)
    };
    if openssl("version", b"").is_none() {
        eprintln!("SKIPPED: there is no `openssl` command here, so raw blocks were not compared with OpenSSL");
        return;
    }
    let backend = CpuBackend::auto();
    for bits in [512, 1024, 2048, 3072] {
        openssl(
            &format!("genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:{bits} -out key.pem"),
            b"",
        );
        let key = decode_private(&std::fs::read(path("key.pem")).expect("a key")).expect("reads");
        let k = key.modulus_len();
        let blocks = Blocks::new(k, None).unwrap();
        let text: Vec<u8> = (0..3 * k as u32 - 7).map(|index| (index * index) as u8).collect();
        let public = backend.prepare_public(key.public()).unwrap();
        let private = backend.prepare_private(&key).unwrap();
        let cipher = encrypt(&*public, blocks, &text, Threads::unpinned(2)).unwrap().output;
        for (part, block) in text.chunks(k - 1).zip(cipher.chunks(k)) {
            let mut padded = vec![0; k - part.len()];
            padded.extend(part);
            let theirs = openssl(
                "pkeyutl -encrypt -inkey key.pem -pkeyopt rsa_padding_mode:none",
                &padded,
            );
            assert_eq!(theirs.as_deref(), Some(block), "{bits}");
            let opened = openssl("pkeyutl -decrypt -inkey key.pem -pkeyopt rsa_padding_mode:none", block);
            assert_eq!(opened, Some(padded), "{bits}");
        }
        let back = decrypt(&*private, blocks, &cipher, text.len(), Threads::unpinned(2))
            .unwrap()
            .output;
        assert_eq!(back, text);
    }
}
