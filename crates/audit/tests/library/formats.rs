//! Every kind of input, and where in it a key stands.

use base64::{Engine, engine::general_purpose::STANDARD};
use num_bigint::BigUint;
use rsalab_audit::{Audit, Inventory, Options};
use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{Encoding, MAX_SET_LEN, Usage, encode_encrypted, fingerprint, openssh},
    random::SystemRng,
};

use crate::made::{
    audit, family, found, fresh_prime, hex, jwk, places, private, private_pem, public_pem, rng, spki, write,
};

fn decimal(key: &PublicKey) -> String {
    BigUint::from_bytes_be(key.n()).to_string()
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

/// A folder of a million keys has a manifest of ninety megabytes, longer than any set of keys that is read.
#[test]
fn long_manifests_are_read() {
    let key = &family(1, 47)[0];
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let name: String = fingerprint(key.public())
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    write(at, "1.pem", private_pem(key));
    let more = "x".repeat(1_000_000);
    let entry = |file: &str| format!("{{\"file\":\"{file}\",\"sha256\":\"{name}\",\"more\":\"{more}\"}}\n");
    let entries = entry("1.pem").repeat(68) + &entry("2.pem");
    let manifest = format!("{{\"rsalab_keys\":1}}\n{entries}torn\n\n");
    assert!(manifest.len() > MAX_SET_LEN);
    write(at, "manifest.jsonl", manifest);
    let report = audit(at);
    let manifest = || vec!["manifest.jsonl".to_owned()];
    assert_eq!(
        found(&report, at),
        [("missing-file", manifest()), ("unreadable", manifest())]
    );
    let said: Vec<&str> = report.findings.iter().map(|finding| finding.what.as_str()).collect();
    let lines = "2 lines of this manifest are damaged, the first and the last 71 and 72";
    assert!(said.contains(&lines), "{said:?}");
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
