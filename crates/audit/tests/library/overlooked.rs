//! Keys and marks that are easily overlooked, and files that are easily taken for keys.

use base64::{Engine, engine::general_purpose::STANDARD};
use num_bigint::BigUint;
use rsalab_audit::{Audit, Inventory, Options, Severity};
use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{INSECURE, openssh},
};

use crate::made::{
    audit, family, found, fresh_prime, hex, jwk, places, prime_from, private, private_pem, public_pem, rng, spki, write,
};

/// Keys with one prime in common, each on a line of OpenSSH's.
fn lines_of(keys: &[PrivateKey]) -> Vec<String> {
    keys.iter()
        .map(|key| openssh::public(key.public(), "me") + "\n")
        .collect()
}

/// An open bracket in a comment, in a string or in a line that is no record is none of a record.
#[test]
fn brackets_hide_no_keys() {
    let keys = family(9, 61);
    let lines = lines_of(&keys);
    let folder = tempfile::tempdir().expect("a folder");
    let dkim = format!(
        "s._domainkey IN TXT \"v=DKIM1; p={}\"\n",
        STANDARD.encode(spki(keys[8].public()))
    );
    let text = [
        "# lost my KEY :(\n",
        &lines[0],
        "# found it :)\n",
        "; TXT (\n",
        &lines[1],
        "// a TXT (\n",
        &lines[2],
        "x IN TXT \"smile :(\"\n",
        &lines[3],
        // Closed far below, and not at all.
        "my KEY (\n",
        &lines[4],
        &lines[5],
        ")\n",
        "my KEY (\n",
        &lines[6],
        &lines[7],
        &dkim,
    ];
    write(folder.path(), "authorized_keys", text.concat());
    let report = audit(folder.path());
    let numbers = [2, 5, 7, 9, 11, 12, 15, 16, 17];
    let expected: Vec<String> = numbers
        .iter()
        .map(|number| format!("authorized_keys, line {number}"))
        .collect();
    assert_eq!(places(&report, folder.path()), expected);
}

#[test]
fn options_of_many_words_and_certificates_of_openssh_are_read() {
    let keys = family(3, 62);
    let lines = lines_of(&keys);
    let (n, e) = (keys[2].public().n(), keys[2].public().e());
    let mut blob = Vec::new();
    for part in [
        &b"ssh-rsa-cert-v01@openssh.com"[..],
        &[7; 32],
        e,
        &[&[0], n].concat(),
        &[0; 8],
    ] {
        blob.extend(u32::try_from(part.len()).expect("short").to_be_bytes());
        blob.extend(part);
    }
    let certificate = format!("ssh-rsa-cert-v01@openssh.com {} me\n", STANDARD.encode(&blob));
    let options = "command=\"/usr/bin/rsync --server --sender -logDtpr . /data \\\"a b\\\"\",no-pty ";
    let folder = tempfile::tempdir().expect("a folder");
    write(
        folder.path(),
        "authorized_keys",
        [options, &lines[0], &lines[1], &certificate].concat(),
    );
    let report = audit(folder.path());
    let expected = [1, 2, 3].map(|number| format!("authorized_keys, line {number}"));
    assert_eq!(places(&report, folder.path()), expected);
    // Its key belongs to that of the line.
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "id_rsa.pub", &lines[2]);
    write(folder.path(), "id_rsa-cert.pub", &certificate);
    assert_eq!(found(&audit(folder.path()), folder.path()), []);
    write(folder.path(), "id_rsa-cert.pub", certificate.replace(" me", "A me"));
    write(folder.path(), "id_rsa.pub", "ssh-rsa-cert-v01@openssh.com AAAA\n");
    let rules: Vec<&str> = audit(folder.path())
        .findings
        .iter()
        .map(|finding| finding.rule.id)
        .collect();
    assert_eq!(rules, ["unreadable", "unreadable"]);
}

/// DER of a PKCS#1 private key with these primes, and exponents that do not fit them.
fn lopsided(p: &BigUint, q: &BigUint) -> Vec<u8> {
    let element = |tag: u8, content: &[u8]| {
        let len = u16::try_from(content.len()).expect("short").to_be_bytes();
        [&[tag, 0x82], &len[..], content].concat()
    };
    // Short lengths are written in one byte.
    let integer = |number: &BigUint| {
        let bytes = number.to_bytes_be();
        let content = [&[0][..usize::from(bytes[0] >> 7)], &bytes[..]].concat();
        match content.len() {
            len @ 0..128 => [&[2, len as u8], &content[..]].concat(),
            len @ 128..256 => [&[2, 0x81, len as u8], &content[..]].concat(),
            _ => element(2, &content),
        }
    };
    let (n, one) = (p * q, BigUint::from(1_u8));
    let e = BigUint::from(65537_u32);
    let numbers = [&BigUint::ZERO, &n, &e, &one, p, q, &one, &one, &one];
    element(0x30, &numbers.map(integer).concat())
}

/// Private keys of a form that is not worked with are not examined; their public halves are, and are compared.
#[test]
fn public_halves_of_refused_keys_are_examined() {
    let mut rng = rng(63);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let long = prime_from(fresh_prime(&mut rng) << 6_u32);
    let short = [0; 2].map(|_| prime_from(fresh_prime(&mut rng) >> 6_u32));
    write(at, "a.der", lopsided(&long, &short[0]));
    write(at, "b.der", lopsided(&long, &short[1]));
    // Three divides it.
    let rest = fresh_prime(&mut rng) * fresh_prime(&mut rng);
    write(at, "c.der", lopsided(&BigUint::from(3_u8), &rest));
    let report = audit(at);
    let one = |name: &str| vec![name.to_owned()];
    assert_eq!(
        found(&report, at),
        [
            ("not-examined", one("a.der")),
            ("not-examined", one("b.der")),
            ("not-examined", one("c.der")),
            ("shared-prime", vec!["a.der".to_owned(), "b.der".to_owned()]),
            ("small-factor", one("c.der")),
        ]
    );
    let severities: Vec<Severity> = report
        .findings
        .iter()
        .filter(|finding| finding.rule.id == "not-examined")
        .map(|finding| finding.severity)
        .collect();
    assert_eq!(severities, [Severity::Medium; 3]);
}

/// What is no key in a folder is no finding, unless it was to be one.
#[test]
fn ordinary_files_of_a_folder_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let block = |label: &str| format!("-----BEGIN {label}-----\nAAAA\n-----END {label}-----\n");
    let many: String = (0..2000).map(|number| format!("\"{number}\":0,")).collect();
    let files = [
        ("package.json", "{\"name\":\"x\"}".to_owned()),
        ("keys.json", "{\"keys\":{\"a\":1}}".to_owned()),
        ("many.json", format!("{{{many}\"z\":0}}")),
        ("torn.json", "{\"a\": // words\n".to_owned()),
        ("empty.json", "[]".to_owned()),
        ("list.json", "[{\"a\":1},7]".to_owned()),
        ("numbers.json", "[1,2]".to_owned()),
        ("log.jsonl", "{\"a\":1}\n{\"b\":2}\n{torn\n".to_owned()),
        ("long.jsonl", "{\"a\":1}\n".repeat(20_000)),
        ("list.crl", block("X509 CRL")),
        ("list.p7b", block("PKCS7")),
        ("message.age", block("AGE ENCRYPTED FILE")),
        ("signature.asc", block("PGP SIGNATURE")),
        ("LICENSE", "MIT License\n".to_owned()),
        ("image", "\0".repeat(2 << 20)),
    ];
    for (name, text) in &files {
        write(at, name, text);
    }
    let report = audit(at);
    assert_eq!(found(&report, at), []);
    assert_eq!(report.summary.without_keys, files.len());
    for (name, _) in files {
        let report = audit(&at.join(name));
        let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.id).collect();
        assert!(matches!(&rules[..], ["unreadable" | "no-key"]), "{name}: {rules:?}");
    }
    // Beside keys they are no fault either; what stands among keys of a set is.
    let keys = family(2, 64);
    let public: Vec<&PublicKey> = keys.iter().map(PrivateKey::public).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let bundle = [
        public_pem(public[0]),
        block("X509 CRL").into_bytes(),
        public_pem(public[1]),
    ]
    .concat();
    write(at, "bundle.pem", bundle);
    assert_eq!(places(&audit(at), at), ["bundle.pem, block 1", "bundle.pem, block 3"]);
    write(
        at,
        "bundle.pem",
        format!("{{\"keys\":[{},{{\"a\":1}}]}}", jwk(public[0])),
    );
    assert_eq!(
        found(&audit(at), at),
        [("unreadable", vec!["bundle.pem, key 2".to_owned()])]
    );
}

#[test]
fn a_mark_is_that_of_the_block_behind_it() {
    let keys = family(1, 65);
    let mut rng = rng(66);
    let other = private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let mark = format!("{INSECURE}\n").into_bytes();
    let blocks = [private_pem(&keys[0]), mark.clone(), private_pem(&other)];
    write(at, "key.pem", blocks.concat());
    let seen = |place: &str| [("made-from-a-seed", vec![place.to_owned()])];
    assert_eq!(found(&audit(at), at), seen("key.pem, block 2"));
    write(
        at,
        "key.pem",
        [mark.clone(), private_pem(&other), private_pem(&keys[0])].concat(),
    );
    assert_eq!(found(&audit(at), at), seen("key.pem, block 1"));
    // In a text that has no PEM in its beginning, too.
    let words = b"# words\n".repeat(10_000);
    write(
        at,
        "key.pem",
        [words, private_pem(&keys[0]), mark, private_pem(&other)].concat(),
    );
    let report = audit(at);
    let lines = private_pem(&keys[0]).split(|&byte| byte == b'\n').count() - 1;
    assert_eq!(found(&report, at), seen(&format!("key.pem, line {}", 10_001 + lines)));
    assert_eq!(report.summary.private, 2);
}

#[test]
fn records_of_dkim_need_no_version_and_no_kind() {
    let keys = family(4, 67);
    let folder = tempfile::tempdir().expect("a folder");
    let base64 = |place: usize| STANDARD.encode(spki(keys[place].public()));
    let records = [
        format!("s._domainkey.example. IN TXT \"p={}\"\n", base64(0)),
        format!("S._DomainKey.example. 60 IN TXT p={}\n", base64(1)),
        format!("\"p={}\"\n", base64(2)),
        format!("x IN TXT \"n=note; p={}\"\n", base64(3)),
    ];
    write(folder.path(), "records", records.concat());
    write(folder.path(), "code.c", "p = MIN(a, b); map=MINUTES;\n");
    let report = audit(folder.path());
    let expected = [1, 2, 3, 4].map(|number| format!("records, line {number}"));
    assert_eq!(places(&report, folder.path()), expected);
    assert_eq!(report.summary.foreign, 0);
}

/// Messages to the backdoor of xz are random numbers: most have small factors, and half of them are even.
#[test]
fn messages_to_the_backdoor_of_xz_are_told_whatever_divides_them() {
    let mut rng = rng(68);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let tail = fresh_prime(&mut rng) * fresh_prime(&mut rng);
    // 1 times 1, and minus 1.
    let head = BigUint::from_bytes_be(&[1, 0, 0, 0, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    let mut odd = (head << 2048_u32) + tail;
    odd.set_bit(0, true);
    let even = &odd + 1_u8;
    while &odd % 3_u8 != BigUint::ZERO {
        odd += 2_u8;
    }
    write(at, "odd.modulus", odd.to_str_radix(16));
    write(at, "even.modulus", even.to_str_radix(16));
    let place = |name: &str| vec![format!("{name}.modulus, line 1")];
    assert_eq!(
        found(&audit(at), at),
        [
            ("small-factor", place("odd")),
            ("xz-backdoor", place("even")),
            ("xz-backdoor", place("odd")),
        ]
    );
}

#[test]
fn the_column_of_moduli_is_found_behind_quotation_marks() {
    let keys = family(2, 69);
    let moduli: Vec<String> = keys.iter().map(|key| hex(key.public())).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    write(
        at,
        "a.csv",
        format!("host;\"place, town\";n\na;\"b, c\";{}\n", moduli[0]),
    );
    write(
        at,
        "b.csv",
        format!("\"host, \"\"name\"\"\nand port\",\"N\"\n\"a\",{}\n", moduli[1]),
    );
    assert_eq!(places(&audit(at), at), ["a.csv, line 2", "b.csv, line 3"]);
}

#[test]
fn names_of_one_file_are_no_copies() {
    let keys = family(1, 70);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    write(at, "key.pem", private_pem(&keys[0]));
    std::os::unix::fs::symlink("key.pem", at.join("0001.0")).expect("a link");
    let inventory = Inventory::of(&[at.to_owned(), at.join("key.pem")]);
    assert_eq!((inventory.files(), inventory.repeated()), (1, 2));
    let report = Audit::new(&Options::default())
        .run(&inventory, &mut |_| {})
        .expect("it can be done");
    assert_eq!((found(&report, at), report.summary.private), (Vec::new(), 1));
}
