//! Faulty keys among many sound ones: all of them are found, and nothing else.

use std::{collections::BTreeSet, path::Path, time::Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use rsalab_audit::{Audit, Inventory, Options, Severity};
use rsalab_rsa::format::{Encoding, PublicFormat, encode_public, openssh};

use crate::made::{
    audit, close, found, fresh_prime, inconsistent, jwk, pairs, patterned, private, private_pem, public, public_pem,
    rng, roca, short_exponent, short_sleeve, write,
};

/// A finding that is due: its rule, and the places that it names.
type Due = BTreeSet<(&'static str, Vec<String>)>;

/// Plants 5 pairs that share a prime, 5 keys of close primes, 5 of ROCA, 3 that are there twice, 3 of short private
/// exponents, 5 whose numbers contradict each other, 5 that are torn, 3 of patterned and 3 of short-sleeve primes.
fn plant(folder: &Path) -> Due {
    let mut rng = rng(7);
    let mut due = Due::new();
    let one = |name: &str| vec![name.to_owned()];
    for number in 0..5 {
        let shared = fresh_prime(&mut rng);
        let names = [
            format!("x/shared-{number}-one.pem"),
            format!("a/shared-{number}-two.pem"),
        ];
        for name in &names {
            let key = private(&[shared.clone(), fresh_prime(&mut rng)]);
            match name.starts_with('x') {
                true => write(folder, name, private_pem(&key)),
                false => write(folder, name, public_pem(key.public())),
            }
        }
        let [one, other] = names;
        due.insert(("shared-prime", vec![other, one]));
    }
    for number in 0..5 {
        let name = format!("close-{number}.pem");
        write(folder, &name, public_pem(&public(&close(&mut rng))));
        due.insert(("fermat-factorable", one(&name)));
        let name = format!("roca-{number}.pem");
        write(folder, &name, public_pem(&public(&roca(&mut rng))));
        due.insert(("roca", one(&name)));
    }
    for number in 0..3 {
        let key = private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]);
        let names = [format!("equal-{number}.pem"), format!("m/equal-{number}.pem")];
        names.iter().for_each(|name| write(folder, name, private_pem(&key)));
        due.insert(("duplicate-key", names.to_vec()));

        let primes = [fresh_prime(&mut rng), fresh_prime(&mut rng)];
        let name = format!("short-d-{number}.pem");
        write(folder, &name, private_pem(&short_exponent(&primes, 300, &mut rng)));
        for rule in ["wiener", "large-exponent", "short-private-exponent"] {
            due.insert((rule, one(&name)));
        }
        let name = format!("patterned-{number}.pem");
        write(folder, &name, public_pem(&public(&patterned(number))));
        due.insert(("patterned-modulus", one(&name)));
        let name = format!("sleeve-{number}.pem");
        write(folder, &name, public_pem(&public(&short_sleeve(&mut rng))));
        due.insert(("short-sleeve", one(&name)));
    }
    for number in 0..5 {
        let key = private(&[fresh_prime(&mut rng), fresh_prime(&mut rng)]);
        let name = format!("inconsistent-{number}.der");
        write(folder, &name, inconsistent(&key, number));
        due.insert(("invalid-key", one(&name)));

        let pem = private_pem(&key);
        let torn = match number {
            0 => &pem[..pem.len() / 2],
            1 => &pem[..pem.len() - 2],
            2 => &pem[..0],
            3 => &[0; 1700][..],
            _ => &pem[pem.len() / 2..],
        };
        let name = format!("torn-{number}.pem");
        write(folder, &name, torn);
        due.insert(("unreadable", one(&name)));
    }
    due
}

/// Sound keys, in every form.
fn fill(folder: &Path, count: usize, threads: usize) {
    let (mut lines, mut moduli, mut set, mut records) = (String::new(), String::new(), Vec::new(), String::new());
    for (number, primes) in pairs(count, threads).iter().enumerate() {
        let key = private(primes);
        match number % 8 {
            0..=2 => write(folder, &format!("keys/{number:05}.pem"), private_pem(&key)),
            3 => write(folder, &format!("public/{number:05}.pem"), public_pem(key.public())),
            4 => lines += &(openssh::public(key.public(), "somebody") + "\n"),
            5 => moduli += &(hex(key.public().n()) + "\n"),
            6 => set.push(jwk(key.public())),
            _ => {
                let der = encode_public(key.public(), PublicFormat::Spki, Encoding::Der);
                records += &format!("s{number}._domainkey IN TXT \"v=DKIM1; p={}\"\n", STANDARD.encode(der));
            }
        }
    }
    write(folder, "authorized_keys", lines);
    write(folder, "moduli.txt", moduli);
    write(folder, "set.json", format!("{{\"keys\":[{}]}}", set.join(",")));
    write(folder, "zone.txt", records);
    write(folder, "README.txt", "Some words that are no key.\n");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check(count: usize, threads: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), count, threads);
    let due = plant(folder.path());
    let begun = Instant::now();
    let report = audit(folder.path());
    eprintln!("{count} sound keys and the planted ones: {:.1?}", begun.elapsed());
    let found: Due = found(&report, folder.path()).into_iter().collect();
    let missed: Vec<_> = due.difference(&found).collect();
    let more: Vec<_> = found.difference(&due).collect();
    assert!(
        missed.is_empty() && more.is_empty(),
        "missed: {missed:#?}; found besides: {more:#?}"
    );
    assert_eq!(report.findings.len(), due.len());
    // 10 sharing, 5 close, 5 of ROCA, twice 3 equal, 3 short, 3 patterned, 3 short-sleeve, 5 public halves of keys
    // whose numbers contradict each other.
    assert_eq!(report.summary.keys, count + 40);
    assert_eq!(report.summary.moduli, count + 37);
    assert_eq!((report.summary.without_keys, report.summary.foreign), (1, 0));
    assert_eq!(report.shared_primes.len(), 5);
    assert_eq!(report.worst(), Some(Severity::Critical));
}

#[test]
fn planted_faults_are_found_and_nothing_else() {
    check(160, 1);
}

#[test]
#[ignore = "long: make test-all"]
fn planted_faults_are_found_among_20_000_keys() {
    check(20_000, 2);
}

#[test]
fn threads_and_order_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), 40, 1);
    plant(folder.path());
    let inventory = Inventory::of(&[folder.path()]);
    let run = |threads| {
        let options = Options {
            threads,
            ..Options::default()
        };
        let report = Audit::new(&options)
            .run(&inventory, &mut |_| {})
            .expect("it can be done");
        (found(&report, folder.path()), report.summary)
    };
    let one = run(1);
    assert_eq!(run(2), one);
    assert_eq!(run(5), one);
}

#[test]
fn a_folder_without_faults_has_no_findings() {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), 48, 1);
    let report = audit(folder.path());
    assert_eq!(found(&report, folder.path()), []);
    assert_eq!(report.summary.keys, 48);
    assert!(report.shared_primes.is_empty() && report.worst().is_none());
}
