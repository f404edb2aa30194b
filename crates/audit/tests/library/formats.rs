//! Every kind of input, and where in it a key stands.

use base64::{Engine, engine::general_purpose::STANDARD};
use num_bigint::BigUint;
use rsalab_audit::{Audit, Inventory, Options, Severity};
use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{Encoding, INSECURE, PublicFormat, Usage, encode_encrypted, encode_public, fingerprint, openssh},
    random::SystemRng,
};

use crate::made::{
    audit, family, found, fresh_prime, hex, jwk, places, prime_from, private, private_pem, public_pem, rng, write,
};

fn decimal(key: &PublicKey) -> String {
    BigUint::from_bytes_be(key.n()).to_string()
}

fn spki(key: &PublicKey) -> Vec<u8> {
    encode_public(key, PublicFormat::Spki, Encoding::Der)
}

#[test]
fn every_format_is_read_and_places_are_named() {
    let keys = family(20, 41);
    let public: Vec<&PublicKey> = keys.iter().map(PrivateKey::public).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    write(at, "a.pem", private_pem(&keys[0]));
    write(at, "b.der", spki(public[1]));
    write(
        at,
        "c.chain.pem",
        [public_pem(public[2]), b"words\n".to_vec(), public_pem(public[3])].concat(),
    );
    write(
        at,
        "d.jwks",
        format!(
            "{{\"keys\":[{},{{\"kty\":\"EC\"}},{}]}}",
            jwk(public[4]),
            jwk(public[5])
        ),
    );
    write(
        at,
        "e/authorized_keys",
        format!(
            "# me\nno-pty {}\nssh-ed25519 AAAAC3Nz x\n",
            openssh::public(public[6], "x")
        ),
    );
    write(
        at,
        "e/known_hosts",
        format!(
            "host,10.0.0.1 {}\n@cert-authority *.example {}\n|1|abc=|def= {}\n",
            openssh::public(public[7], ""),
            openssh::public(public[8], ""),
            openssh::public(public[9], "")
        ),
    );
    let dkim = STANDARD.encode(spki(public[10]));
    write(
        at,
        "f.zone",
        format!(
            "$ORIGIN example.\nwww IN A 192.0.2.1\ns._domainkey IN TXT ( \"v=DKIM1; k=rsa; p={}\"\n  \"{}\" )\nx IN TXT \"v=spf1 -all\"\n\
             example. 3600 IN DNSKEY 257 3 8 ( {} ; ksk\n )\nold 60 IN DNSKEY 256 3 13 AAAA\n",
            &dkim[..200],
            &dkim[200..],
            STANDARD.encode([&[3, 1, 0, 1], public[11].n()].concat())
        ),
    );
    write(
        at,
        "g.txt",
        format!(
            "{}\n0x{}\nModulus={}\n",
            decimal(public[12]),
            hex(public[13]),
            hex(public[14]).to_uppercase()
        ),
    );
    write(
        at,
        "h.csv",
        format!(
            "host;\"n\";e\na;{};3\n\"b\nc\";{};65537\n",
            hex(public[15]),
            decimal(public[16])
        ),
    );
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in [
        ("x/i.pem", private_pem(&keys[17])),
        ("README", b"words".to_vec()),
        ("j.pem", public_pem(public[18])),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o600);
        header.set_cksum();
        archive.append_data(&mut header, name, &bytes[..]).expect("in memory");
    }
    write(at, "k.tar", archive.into_inner().expect("in memory"));
    write(at, "l.jsonl", format!("{}\n", jwk(public[19])));
    let report = audit(at);
    assert_eq!(
        places(&report, at),
        [
            "a.pem",
            "b.der",
            "c.chain.pem, block 1",
            "c.chain.pem, block 2",
            "d.jwks, key 1",
            "d.jwks, key 3",
            "e/authorized_keys, line 2",
            "e/known_hosts, line 1",
            "e/known_hosts, line 2",
            "e/known_hosts, line 3",
            "f.zone, line 3",
            "f.zone, line 6",
            "g.txt, line 1",
            "g.txt, line 2",
            "g.txt, line 3",
            "h.csv, line 2",
            "h.csv, line 3",
            "k.tar:x/i.pem",
            "k.tar:j.pem",
            "l.jsonl",
        ]
    );
    assert_eq!(
        (report.summary.keys, report.summary.private, report.summary.foreign),
        (20, 2, 3)
    );
    assert_eq!(report.shared_primes[0].keys.len(), 20);
}

#[test]
fn a_column_may_have_another_name() {
    let keys = family(2, 42);
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<String> = keys.iter().map(|key| format!("1,{}\n", hex(key.public()))).collect();
    write(folder.path(), "t.csv", format!("id,the number\n{}", rows.concat()));
    let options = Options {
        column: Some("the number"),
        ..Options::default()
    };
    let report = Audit::new(&options)
        .run(&Inventory::of(&[folder.path()]), &mut |_| {})
        .expect("it can be done");
    assert_eq!(places(&report, folder.path()), ["t.csv, line 2", "t.csv, line 3"]);
}

/// All that follows a quotation mark which is not closed is one cell: memory is not, and the rows before it are read.
#[test]
fn a_quotation_mark_that_is_not_closed_ends_a_table() {
    let keys = family(2, 44);
    let folder = tempfile::tempdir().expect("a folder");
    let rows: Vec<String> = keys.iter().map(|key| format!("1,{}\n", hex(key.public()))).collect();
    let rest = "2,ab\n".repeat(300_000);
    write(folder.path(), "t.csv", format!("id,n\n{}\"{rest}", rows.concat()));
    let report = audit(folder.path());
    let found = found(&report, folder.path());
    let rows = ["t.csv, line 2".to_owned(), "t.csv, line 3".to_owned()];
    assert_eq!(found[0], ("shared-prime", rows.to_vec()));
    assert_eq!(found[1..], [("unreadable", vec!["t.csv".to_owned()])]);
    let said = format!("{:?}", report.findings);
    assert!(said.contains("a quotation mark not closed?"), "{said}");
}

#[test]
fn what_belongs_together_is_no_duplicate_and_copies_are() {
    let keys = family(1, 43);
    let folder = tempfile::tempdir().expect("a folder");
    let (at, key) = (folder.path(), keys[0].public());
    write(at, "key.pem", private_pem(&keys[0]));
    write(at, "key.pub.pem", public_pem(key));
    write(at, "moduli", hex(key));
    write(at, "authorized_keys", openssh::public(key, "me"));
    assert_eq!(found(&audit(at), at), []);
    write(at, "copy/key.pub.pem", public_pem(key));
    let copies = vec!["copy/key.pub.pem".to_owned(), "key.pub.pem".to_owned()];
    assert_eq!(found(&audit(at), at), [("duplicate-key", copies)]);
    // The same modulus with another exponent.
    let other = PublicKey::new(key.n(), &[1, 0, 3]).expect("a key");
    write(at, "copy/key.pub.pem", public_pem(&other));
    let report = audit(at);
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["shared-modulus"]);
    assert_eq!((report.findings[0].places.len(), report.findings[0].keys.len()), (5, 2));
}

#[test]
fn manifests_are_compared_with_their_keys() {
    let keys = family(1, 44);
    let mut rng = rng(45);
    let other = private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let name = |key: &PrivateKey| -> String {
        fingerprint(key.public())
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let manifest = |line: &str| {
        format!(
            "{{\"rsalab_keys\":1,\"bits\":2048}}\n{{\"number\":1,\"file\":\"1.pem\",\"public\":\"1.pub.pem\",\"sha256\":\"{}\"}}\n{line}",
            name(&keys[0])
        )
    };
    write(at, "manifest.jsonl", manifest(""));
    write(at, "1.pem", private_pem(&keys[0]));
    write(at, "1.pub.pem", public_pem(keys[0].public()));
    assert_eq!(found(&audit(at), at), []);
    write(at, "1.pub.pem", public_pem(other.public()));
    write(
        at,
        "manifest.jsonl",
        manifest(&format!(
            "{{\"number\":2,\"file\":\"2.pem\",\"sha256\":\"{}\"}}\ntorn",
            name(&other)
        )),
    );
    let manifest = || vec!["manifest.jsonl".to_owned()];
    assert_eq!(
        found(&audit(at), at),
        [
            ("manifest-mismatch", vec!["1.pub.pem".to_owned()]),
            ("missing-file", manifest()),
            ("unreadable", manifest()),
        ]
    );
}

#[test]
fn what_cannot_be_examined_is_said() {
    let keys = family(1, 46);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let encrypted =
        encode_encrypted(&keys[0], &Usage::Any, b"secret", Encoding::Pem, &mut SystemRng).expect("it can be");
    write(at, "encrypted", &encrypted);
    write(at, "z.tar.gz", b"\x1f\x8b\x08\0\0\0");
    write(at, "y.parquet", b"PARE\x15\x04\x15\0");
    write(at, "z.parquet", b"PAR1\x15\x04\x15\0");
    write(at, "words.txt", "no key\n");
    write(at, "words.pem", "no key\n");
    write(at, "blob", [7; 100]);
    write(
        at,
        "authorized_keys",
        format!("{}\ngarbage\n", openssh::public(keys[0].public(), "")),
    );
    write(at, "torn.tar", {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(5000);
        header.set_cksum();
        archive
            .append_data(&mut header, "key.pem", &[b'x'; 5000][..])
            .expect("in memory");
        archive.into_inner().expect("in memory")[..2000].to_vec()
    });
    let report = audit(at);
    let rules = found(&report, at);
    let one = |name: &str| vec![name.to_owned()];
    assert_eq!(
        rules,
        [
            ("no-key", one("torn.tar:key.pem")),
            ("no-key", one("words.pem")),
            ("not-examined", one("encrypted")),
            ("not-examined", one("y.parquet")),
            ("not-examined", one("z.tar.gz")),
            ("unreadable", one("authorized_keys, line 2")),
            ("unreadable", one("torn.tar")),
            ("unreadable", one("z.parquet")),
        ]
    );
    assert_eq!(report.summary.keys, 1);
    let options = Options {
        password: Some(b"secret"),
        ..Options::default()
    };
    let report = Audit::new(&options)
        .run(&Inventory::of(&[at.join("encrypted")]), &mut |_| {})
        .expect("it can be done");
    assert_eq!((report.summary.private, report.findings.len()), (1, 0));
    // What was named is to be a key.
    let report = Audit::new(&options)
        .run(&Inventory::of(&[at.join("blob"), at.join("missing")]), &mut |_| {})
        .expect("it can be done");
    let rules: Vec<&str> = report.findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["unreadable", "not-read"]);
}

#[test]
fn records_of_dns_may_be_written_in_many_ways() {
    let keys = family(5, 47);
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let dkim = |place: usize| STANDARD.encode(spki(keys[place].public()));
    let bare = STANDARD.encode([&[0, 0, 3, 1, 0, 1], keys[4].public().n()].concat());
    let records = [
        format!("v=DKIM1;k=rsa;comment=\"quoted\";p={}", dkim(0)),
        format!("\"v=DKIM1\\; n=a \\\" in it\\; p={}\"", dkim(1)),
        format!("v=DKIM1; p={}", dkim(2).replace('A', "A ")),
        format!("k=rsa; p={}", dkim(3).trim_end_matches('=')),
        format!("256 3 8 {bare}"),
        "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=".to_owned(),
        "v=DKIM1; p=".to_owned(),
        "v=DKIM1; p=MIIB!".to_owned(),
        "v=DKIM1; p=MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE".to_owned(),
        "256 3 8 0".to_owned(),
    ];
    write(at, "records.txt", records.join("\n"));
    let report = audit(at);
    let line = |number: usize| format!("records.txt, line {number}");
    assert_eq!(
        found(&report, at),
        [
            ("shared-prime", (1..=5).map(line).collect()),
            ("unreadable", vec![line(10)]),
            ("unreadable", vec![line(8)]),
            ("unreadable", vec![line(9)]),
        ]
    );
    assert_eq!((report.summary.keys, report.summary.foreign), (5, 2));
}

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
