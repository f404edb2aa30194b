//! Malformed inputs: nothing panics, and nothing takes a second.

use std::{
    fs,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use parquet::basic::Compression;
use rand_core::TryRng;
use rsalab_audit::{Audit, Inventory, Options};
use rsalab_rsa::{
    format::{Encoding, PublicFormat, encode_public, openssh},
    random::InsecureStudyRng,
};

use crate::made::{fresh_prime, jwk, private, private_pem, public_pem, rng};
use crate::parquet::{every_way, plain};

/// Inputs of every kind, to be damaged.
fn seeds() -> Vec<Vec<u8>> {
    let mut rng = rng(31);
    let key = private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]);
    let public = key.public();
    let der = encode_public(public, PublicFormat::Spki, Encoding::Der);
    let digits: String = public.n().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut dnskey = vec![3, 1, 0, 1];
    dnskey.extend(public.n());
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in [("a.pem", private_pem(&key)), ("b.pem", public_pem(public))] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        archive.append_data(&mut header, name, &bytes[..]).expect("in memory");
    }
    vec![
        private_pem(&key),
        public_pem(public),
        [public_pem(public), private_pem(&key)].concat(),
        der.clone(),
        jwk(public).to_string().into_bytes(),
        format!("{{\"keys\":[{},{}]}}", jwk(public), jwk(public)).into_bytes(),
        (openssh::public(public, "me") + "\n@revoked host " + &openssh::public(public, "x") + "\n").into_bytes(),
        format!("example. IN TXT ( \"v=DKIM1; p={}\"\n \"\" )\n", STANDARD.encode(&der)).into_bytes(),
        format!("example. 3600 IN DNSKEY 256 3 8 (\n{} )\n", STANDARD.encode(&dnskey)).into_bytes(),
        format!("Modulus={digits}\n{digits}\n").into_bytes(),
        format!("id,modulus\n1,{digits}\n2,\"{digits}\"\n").into_bytes(),
        b"{\"rsalab_keys\":1,\"bits\":2048}\n{\"number\":1,\"file\":\"a.pem\",\"sha256\":\"00\"}\n".to_vec(),
        archive.into_inner().expect("in memory"),
        plain(&[&key], Compression::UNCOMPRESSED),
        plain(&[&key], Compression::SNAPPY),
    ]
}

fn below(most: usize, rng: &mut InsecureStudyRng) -> usize {
    let mut bytes = [0; 8];
    let Ok(()) = rng.try_fill_bytes(&mut bytes);
    (u64::from_le_bytes(bytes) % most.max(1) as u64) as usize
}

/// Cuts, flips, doubles, swaps, and puts in what parsers trip over.
fn damage(bytes: &mut Vec<u8>, others: &[Vec<u8>], rng: &mut InsecureStudyRng) {
    const ODD: [&[u8]; 12] = [
        b"-----BEGIN RSA PRIVATE KEY-----",
        b"-----END ",
        b"\0\0\0\0",
        b"\x30\x84\xff\xff\xff\xff",
        b"((((((((",
        b"\"\"\"",
        b"{\"keys\":[",
        b"[[[[[[[[[[[[[[[[",
        b"\xff\xfe",
        b"9999999999999999999999999999999999999999999999999999999999999999999999",
        b",,;\t\n",
        b"\n@ ssh-rsa AAAA\n",
    ];
    for _ in 0..=below(4, rng) {
        let at = below(bytes.len(), rng);
        match below(7, rng) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << below(8, rng),
            2 if !bytes.is_empty() => bytes[at] = below(256, rng) as u8,
            3 => drop(bytes.drain(..at)),
            4 => {
                let odd = ODD[below(ODD.len(), rng)];
                bytes.splice(at..at, odd.iter().copied());
            }
            5 => {
                let other = &others[below(others.len(), rng)];
                let from = below(other.len(), rng);
                let to = from + below(other.len() - from, rng);
                bytes.splice(at..at, other[from..to].iter().copied());
            }
            _ => {
                let to = at + below(bytes.len() - at, rng);
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
        }
    }
}

fn check(count: usize, stream: u64) {
    let seeds = seeds();
    let mut rng = rng(stream);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("input.pem");
    let options = Options {
        threads: 1,
        ..Options::default()
    };
    let (mut slowest, mut findings) = (Duration::ZERO, 0);
    for round in 0..count {
        let mut bytes = seeds[round % seeds.len()].clone();
        damage(&mut bytes, &seeds, &mut rng);
        fs::write(&file, &bytes).expect("a file");
        let begun = Instant::now();
        let report = Audit::new(&options)
            .run(&Inventory::of(&[&file]), &mut |_| {})
            .expect("it can be done");
        let taken = begun.elapsed();
        findings += report.findings.len();
        slowest = slowest.max(taken);
        // Where the machine is busy, the second time tells.
        if taken > Duration::from_secs(1) {
            let begun = Instant::now();
            Audit::new(&options)
                .run(&Inventory::of(&[&file]), &mut |_| {})
                .expect("it can be done");
            let again = begun.elapsed();
            assert!(
                again < Duration::from_secs(1),
                "input {round} of stream {stream} takes {taken:?}, then {again:?}"
            );
        }
    }
    eprintln!("{count} malformed inputs, {findings} findings, the slowest {slowest:.1?}");
    assert!(findings > count / 3, "{findings} findings: damage is hardly noticed");
}

#[test]
fn damaged_inputs_end_in_findings() {
    check(1500, 32);
}

#[test]
#[ignore = "long: make test-all"]
fn a_hundred_thousand_damaged_inputs_end_in_findings() {
    check(100_000, 33);
}

/// Bytes of a table's footer and of the heads of its pages say where others are, and how many.
#[test]
fn tables_whose_bytes_are_changed_end_in_findings() {
    let mut rng = rng(35);
    let keys = [0; 2].map(|_| private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]));
    let seeds = every_way(&[&keys[0], &keys[1]]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("n.parquet");
    let options = Options {
        threads: 1,
        ..Options::default()
    };
    let mut findings = 0;
    for round in 0..600 {
        let mut bytes = seeds[round % seeds.len()].clone();
        for _ in 0..=below(3, &mut rng) {
            let end = bytes.len();
            let at = match below(3, &mut rng) {
                0 => below(end, &mut rng),
                1 => end - 1 - below(end.min(700), &mut rng),
                _ => below(end.min(200), &mut rng),
            };
            bytes[at] = match below(4, &mut rng) {
                0 => bytes[at] ^ 1 << below(8, &mut rng),
                1 => 0xff,
                2 => below(256, &mut rng) as u8,
                _ => bytes[at].wrapping_add(1),
            };
        }
        fs::write(&file, &bytes).expect("a file");
        let begun = Instant::now();
        let report = Audit::new(&options)
            .run(&Inventory::of(&[&file]), &mut |_| {})
            .expect("it can be done");
        assert!(begun.elapsed() < Duration::from_secs(2), "table {round}");
        findings += report.findings.len();
    }
    assert!(findings > 300, "{findings}");
}

#[test]
fn inputs_that_grow_take_their_time_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = 400_000;
    let mut rng = rng(34);
    let key = private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]);
    let inputs: Vec<Vec<u8>> = vec![
        b"[".repeat(long),
        b"{\"a\":".repeat(long / 5),
        b"-----BEGIN ".repeat(long / 11),
        b"-----BEGIN PUBLIC KEY-----\n".repeat(long / 27),
        b"x IN TXT (\n".repeat(long / 11),
        b"\"".repeat(long),
        b"9".repeat(long),
        b"a,".repeat(long / 2),
        [b"modulus,".repeat(long / 8), b"\n".to_vec(), b"\"".repeat(long / 2)].concat(),
        b"ssh-rsa AAAA ".repeat(long / 13),
        b"ssh-rsa AAAA\n".repeat(long / 13),
        vec![0x30; long],
        vec![0; long],
        b"p=;k=rsa;".repeat(long / 9),
        b"DNSKEY 256 3 8 AAAA".repeat(long / 19),
        [vec![b' '; 257], b"ustar".to_vec(), vec![b'7'; long]].concat(),
        // Much text before many keys, which is not looked at once for each of them.
        [b"some words\n".repeat(long / 2), public_pem(key.public()).repeat(1500)].concat(),
    ];
    for (place, input) in inputs.iter().enumerate() {
        let file = folder.path().join("input");
        fs::write(&file, input).expect("a file");
        let run = || {
            let begun = Instant::now();
            Audit::new(&Options::default())
                .run(&Inventory::of(&[&file]), &mut |_| {})
                .expect("it can be done");
            begun.elapsed()
        };
        // The least of three, where the machine is busy.
        let least = (0..3).map(|_| run()).min().expect("three times");
        eprintln!("input {place}: {least:.1?}");
        assert!(least < Duration::from_secs(1), "input {place} takes {least:?}");
    }
}
