//! Random rounds with `blind-rsa-signatures`, in both directions; and that the numbers of the RFC which our tests have
//! are those of its package.

use std::{collections::BTreeSet, path::PathBuf};

use blind_rsa_signatures::{Deterministic, PSS, PSSZero, Randomized};
use cargo_metadata::MetadataCommand;
use rsalab_peer_blind_rsa::{Both, key};
use rsalab_rsa::{
    blind::{Variant, token_key},
    format::{Usage, load_public},
    scheme::SignatureScheme,
};

/// So many rounds in each direction, shared by keys and variants.
fn rounds(bits: usize, keys: usize, count: usize) {
    let count = count / Variant::ALL.len() / keys;
    for stream in 0..keys {
        let key = key(bits, stream as u64);
        let from = stream * count;
        Both::<PSS, Randomized>::new(&key, Variant::PssRandomized).rounds(count, from);
        Both::<PSSZero, Randomized>::new(&key, Variant::PsszeroRandomized).rounds(count, from);
        Both::<PSS, Deterministic>::new(&key, Variant::PssDeterministic).rounds(count, from);
        Both::<PSSZero, Deterministic>::new(&key, Variant::PsszeroDeterministic).rounds(count, from);
    }
}

#[test]
fn two_hundred_rounds_in_each_direction() {
    rounds(1024, 2, 160);
    // Another number of words. Moduli that do not fill theirs are left out: 0.18 sends blind signatures of whole words
    // then, 136 bytes at 1028 bits, where RFC 9474 says as many bytes as the modulus has.
    rounds(1088, 1, 40);
}

/// Takes minutes, in the release profile: `cargo test --release --manifest-path peers/blind-rsa/Cargo.toml --
/// --ignored`.
#[test]
#[ignore = "takes minutes"]
fn ten_thousand_rounds_in_each_direction() {
    rounds(1024, 5, 8000);
    rounds(2048, 5, 2000);
}

#[test]
fn token_keys_are_published_alike() {
    let key = key(2048, 0);
    let both = Both::<PSS, Deterministic>::new(&key, Variant::PssDeterministic);
    let published = token_key(key.public());
    assert_eq!(published, both.their_client.to_spki().expect("DER"));
    let loaded = load_public(&published, None).expect("we read it");
    assert_eq!(&loaded.key, key.public());
    let Usage::Pss(Some(pss)) = loaded.usage else {
        panic!("it is for RSASSA-PSS with parameters");
    };
    assert_eq!(pss.hash, Variant::PssDeterministic.scheme().hash());
    assert!(matches!(Variant::PssDeterministic.scheme(), SignatureScheme::Pss(own) if own.mgf_hash == pss.mgf_hash));
}

/// The folder of a package of a registry. Cargo has just built it, and needs no network to find it.
fn package(name: &str) -> PathBuf {
    let metadata = MetadataCommand::new()
        .manifest_path(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .other_options(vec![
            "--offline".to_owned(),
            "--locked".to_owned(),
            format!("--filter-platform={}-unknown-linux-gnu", std::env::consts::ARCH),
        ])
        .exec()
        .expect("cargo knows the packages of this build");
    let package = metadata
        .packages
        .into_iter()
        .find(|package| package.name.as_str() == name)
        .expect("it is a dependency");
    let manifest: PathBuf = package.manifest_path.into();
    manifest.parent().expect("a file lies in a folder").to_owned()
}

#[test]
fn our_copy_of_the_vectors_is_that_of_the_package() {
    let file = package("blind-rsa-signatures").join("tests/test_vectors_rfc9474.json");
    let text = std::fs::read_to_string(&file).expect("the package carries the vectors");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(&text).expect("they are JSON");
    let digits = |value: &serde_json::Value| {
        let text = value.as_str().expect("a field is text");
        text.strip_prefix("0x").unwrap_or(text).to_owned()
    };
    let mut of_key = BTreeSet::new();
    let mut of_vector = BTreeSet::new();
    let mut vector = None;
    for line in include_str!("../../../crates/rsa/tests/library/blind/rfc9474.txt").lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            vector = vectors.iter().find(|vector| vector["name"] == name);
            assert!(vector.is_some(), "the package has {name}");
        } else if let Some((field, value)) = line.split_once(" =").filter(|_| !line.starts_with('#')) {
            let value = value.trim();
            match vector {
                None => {
                    assert!(vectors.iter().all(|vector| digits(&vector[field]) == value));
                    of_key.insert(field);
                }
                Some(vector) => {
                    assert_eq!(digits(&vector[field]), value, "{field}");
                    of_vector.insert((vector["name"].to_string(), field));
                }
            }
        }
    }
    assert_eq!(of_key, ["e", "n", "p", "q"].into());
    // Seven fields each, and the encoding where the RFC has it.
    assert_eq!(of_vector.len(), 4 * 7 + 3);
}
