//! New keys against saved ones: what one audit of all finds about the new ones, and nothing else.

use std::{collections::BTreeSet, path::Path};

use num_bigint::BigUint;
use rsalab_audit::{Audit, Inventory, Options, Part, PartError, Report, Share, Store};
use rsalab_rsa::PublicKey;

use crate::made::{found, pairs, private_pem, public, public_pem, write};

/// Findings about keys of which one is in the folder `new`, each with its sentence.
fn about_new(report: &Report, folder: &Path, store: &Path) -> BTreeSet<String> {
    let (folder, store) = (format!("{}/", folder.display()), format!("{}:", store.display()));
    let sentences = report.findings.iter().map(|finding| {
        let mut places: Vec<String> = finding
            .places
            .iter()
            .map(|place| place.in_words().replace(&store, "").replace(&folder, ""))
            .collect();
        places.sort();
        let mut keys: Vec<&str> = finding.keys.iter().map(|key| key.fingerprint.as_str()).collect();
        keys.sort_unstable();
        (places, format!("{} {} {keys:?}", finding.rule.id, finding.what))
    });
    sentences
        .filter(|(places, _)| places.iter().any(|place| place.starts_with("new")))
        .map(|(places, what)| format!("{places:?} {what}"))
        .collect()
}

fn other_exponent(primes: &[BigUint; 2]) -> PublicKey {
    PublicKey::new(&(&primes[0] * &primes[1]).to_bytes_be(), &[1, 0, 3]).expect("a key")
}

/// Old and new keys, of which some share primes, moduli, or everything.
fn plant(folder: &Path) {
    let made = pairs(40, 2);
    let of = |one: usize, other: usize| [made[one][0].clone(), made[other][1].clone()];
    let old =
        |name: &str, primes: &[BigUint; 2]| write(folder, &format!("old/{name}.pem"), public_pem(&public(primes)));
    let new =
        |name: &str, primes: &[BigUint; 2]| write(folder, &format!("new/{name}.pem"), public_pem(&public(primes)));
    for (number, primes) in made.iter().take(12).enumerate() {
        old(&format!("{number:02}"), primes);
    }
    // Two old ones share a prime, two are one.
    old("weak", &of(11, 12));
    old("copy", &made[0]);
    for (number, primes) in made.iter().enumerate().take(24).skip(20) {
        new(&format!("{number}"), primes);
    }
    new("with-old", &of(1, 24));
    new("with-two-old", &of(2, 3));
    new("with-new", &of(20, 25));
    new("with-weak", &of(26, 12));
    new("same-as-old", &made[4]);
    new("same-as-weak", &of(11, 12));
    // One that is old and new, whose prime a new one has.
    new("same-with-new", &made[5]);
    new("with-same", &of(5, 27));
    write(folder, "new/other-exponent.pem", public_pem(&other_exponent(&made[6])));
    write(folder, "new/private.pem", private_pem(&crate::made::private(&made[7])));
}

fn run(paths: &[&Path], options: &Options<'_>) -> Report {
    Audit::new(options)
        .run(&Inventory::of(paths), &mut |_| {})
        .expect("it can be done")
}

#[test]
fn new_keys_against_saved_ones_show_what_one_audit_of_all_shows_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    plant(folder.path());
    let at = |name: &str| folder.path().join(name);
    let (old, new) = (at("old"), at("new"));
    let all = run(&[&old, &new], &Options::default());
    let none = Path::new("none");
    let expected = about_new(&all, folder.path(), none);
    assert!(expected.len() >= 8, "{expected:#?}");
    let examined = Audit::new(&Options::default())
        .examine(&Inventory::of(&[&old]), &mut |_| {})
        .expect("it can be done");
    assert_eq!(found(&examined.report(), folder.path()).len(), 2);
    let path = at("store");
    let mut store = examined.save(&path).expect("there is room");
    assert!(examined.save(&path).is_err());
    assert_eq!((store.keys(), store.moduli()), (13, 13));
    let scratch = at("scratch");
    for (memory, scratch, threads) in [
        (None, None, 2),
        (Some(1), None, 1),
        (Some(1), Some(scratch.as_path()), 3),
    ] {
        let options = Options {
            against: Some(&store),
            memory,
            scratch,
            threads,
            ..Options::default()
        };
        let report = run(&[&new], &options);
        assert_eq!(about_new(&report, folder.path(), &path), expected);
        // Nothing else, and the numbers are of the new ones.
        assert_eq!(report.findings.len(), expected.len());
        assert_eq!(
            (report.summary.files, report.summary.keys, report.summary.moduli),
            (14, 14, 14)
        );
        assert_eq!(report.shared_primes.len(), 7);
    }

    // With the new ones added, these are there already; and one that shares a prime with them is found.
    let options = Options {
        against: Some(&store),
        ..Options::default()
    };
    let examined = Audit::new(&options)
        .examine(&Inventory::of(&[&new]), &mut |_| {})
        .expect("it can be done");
    examined.add_to(&mut store).expect("there is room");
    assert_eq!((store.keys(), store.moduli()), (13 + 14, 13 + 14 - 5));
    let store = Store::open(&path).expect("it is one");
    let made = pairs(40, 2);
    let later = [made[21][0].clone(), made[30][1].clone()];
    write(folder.path(), "newest/key.pem", public_pem(&public(&later)));
    let options = Options {
        against: Some(&store),
        ..Options::default()
    };
    let report = run(&[&at("newest")], &options);
    let places: Vec<String> = report.findings[0]
        .places
        .iter()
        .map(rsalab_audit::Location::in_words)
        .collect();
    assert_eq!(report.findings.len(), 1);
    assert_eq!(
        places,
        [
            at("newest/key.pem").display().to_string(),
            format!("{}:{}", path.display(), at("new/21.pem").display())
        ]
    );
    // The same new keys again: what is shared is shared, and all of them are there twice.
    let again = run(&[&new], &options);
    let shared = |report: &Report| {
        let shared = report
            .findings
            .iter()
            .filter(|finding| finding.rule.id == "shared-prime");
        shared.map(|finding| finding.keys.len()).collect::<Vec<_>>().len()
    };
    assert_eq!(shared(&again), 7);
    let copies = again
        .findings
        .iter()
        .filter(|finding| finding.rule.id == "duplicate-key");
    assert_eq!(copies.count(), 14);
}

/// Parts of an audit, merged, are the report of one.
#[test]
fn parts_merged_are_one_audit() {
    let folder = tempfile::tempdir().expect("a folder");
    plant(folder.path());
    write(folder.path(), "new/torn.pem", "-----BEGIN PUBLIC KEY-----\nMIIB");
    let inventory = Inventory::of(&[folder.path()]);
    let audit = |options: &Options<'_>| {
        Audit::new(options)
            .examine(&inventory, &mut |_| {})
            .expect("it can be done")
    };
    let whole = audit(&Options::default()).report();
    assert!(whole.findings.len() > 12);
    let scratch = folder.path().join("scratch");
    for of in [1, 2, 3, 7] {
        let mut parts: Vec<Part> = (1..=of)
            .map(|number| {
                let options = Options {
                    share: Share { number, of },
                    scratch: (number % 2 == 1).then_some(scratch.as_path()),
                    threads: 1 + number as usize % 3,
                    ..Options::default()
                };
                let part = audit(&options).part();
                Part::from_json(part.to_json().as_bytes()).expect("it is one")
            })
            .collect();
        // In any order.
        parts.reverse();
        let merged = Part::merge(parts.clone(), 2).expect("they are all");
        assert_eq!(merged.findings, whole.findings, "{of} parts");
        assert_eq!((&merged.summary, &merged.files), (&whole.summary, &whole.files));
        let secrets = |report: &Report| -> Vec<(Vec<u8>, Vec<rsalab_audit::KeyName>)> {
            let shared = report.shared_primes.iter();
            shared
                .map(|shared| (shared.factor.to_vec(), shared.keys.clone()))
                .collect()
        };
        assert_eq!(secrets(&merged), secrets(&whole));
        if of > 1 {
            let missing = Part::merge(parts[1..].to_vec(), 1).expect_err("one is missing");
            assert_eq!(missing, PartError::Set);
            let twice = Part::merge([&parts[..], &parts[..1]].concat(), 1).expect_err("one is there twice");
            assert_eq!(twice, PartError::Set);
        }
    }
    // No prime is in what a part leaves.
    let options = Options {
        share: Share { number: 1, of: 1 },
        ..Options::default()
    };
    let text = audit(&options).part().to_json();
    for shared in &whole.shared_primes {
        let digits: String = shared.factor.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(!text.contains(&digits[8..60]));
    }
    assert_eq!(Part::from_json(b"{}"), Err(PartError::Unreadable));
    assert_eq!(Part::from_json(br#"{"rsalab_audit_part":7}"#), Err(PartError::Version));
}
