//! `barometer`: an entry made of a study, verified, changed and refused; and the entries of this repository.

use std::{
    fs::{self, File},
    path::Path,
};

use rsalab_study::barometer::Entry;
use sha2::{Digest, Sha256};

use crate::support::{assert_done, assert_failure, folder, program, run, stdout};

const PLAN: &str = r#"
title = "An entry"

[measure]
budget_s = 0.5
block_ms = 30
min_blocks = 6

[[grid]]
operations = ["private"]
engines = ["own", "libcrypto"]
bits = [1024]
"#;

/// A study of two engines, and its entry `entry.json.gz`; none, and a message, where there is no libcrypto.
fn packed(here: &Path) -> Option<()> {
    fs::write(here.join("plan.toml"), PLAN).expect("it can be written");
    assert_done(&run(here, ["study", "plan.toml", "-q", "--out", "study"]));
    let pack = run(here, ["barometer", "pack", "study", "--out", "entry.json.gz"]);
    let stderr = String::from_utf8_lossy(&pack.stderr);
    if stderr.contains("nothing here can be compared") {
        assert_failure(&pack, 4, "ratios: ");
        assert!(!has_libcrypto(here), "libcrypto is here, and was not compared");
        eprintln!("SKIPPED: an entry with a peer: the worker of libcrypto, or the library, is not here");
        return None;
    }
    assert_done(&pack);
    let own = hex_of(&program());
    let programs = format!("[[program]]\nversion = \"0.1.0\"\ntarget = \"this\"\nsha256 = \"{own}\"\n");
    fs::write(here.join("programs.toml"), programs).expect("it can be written");
    Some(())
}

/// Whether the program finds the worker of libcrypto, and the worker its library.
fn has_libcrypto(here: &Path) -> bool {
    let listed = run(here, ["engines", "--json"]);
    assert_done(&listed);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("it is JSON");
    let engines = listed["engines"].as_array().expect("it lists engines");
    let libcrypto = engines.iter().find(|engine| engine["name"] == "libcrypto");
    libcrypto.expect("the program knows it")["present"] == true
}

fn hex_of(path: &Path) -> String {
    let digest = Sha256::digest(fs::read(path).expect("the program is there"));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn verify(here: &Path, file: &str) -> std::process::Output {
    run(here, ["barometer", "verify", file, "--programs", "programs.toml"])
}

#[test]
fn an_entry_is_verified_and_listed_and_a_forged_one_refused() {
    let here = folder();
    let here = here.path();
    if packed(here).is_none() {
        return;
    }
    let verified = verify(here, "entry.json.gz");
    assert_done(&verified);
    assert!(
        stdout(&verified).contains("entry.json.gz: OK, "),
        "{}",
        stdout(&verified)
    );
    let page = run(here, ["barometer", "page", "."]);
    assert_done(&page);
    assert!(
        stdout(&page).contains("[entry.json.gz](entry.json.gz)"),
        "{}",
        stdout(&page)
    );

    // Nobody published this one.
    let unknown = run(here, ["barometer", "verify", "entry.json.gz"]);
    assert_failure(
        &unknown,
        4,
        "program: the entry was made by a program with the checksum",
    );

    // With the checksum computed again.
    type Change = fn(&mut Entry);
    let changes: [(&str, Change); 4] = [
        ("figures: ", |entry| entry.groups[0].cells[0].stated.ops_per_s *= 2.0),
        ("cpu: the entry is titled", |entry| {
            entry.cpu = "A faster CPU".to_owned()
        }),
        ("peak: own", |entry| {
            for block in &mut entry.groups[0].cells[0].blocks {
                for sample in &mut block.report.block.samples {
                    sample.operations *= 1000;
                }
            }
        }),
        ("program: ", |entry| entry.program.sha256 = "00".repeat(32)),
    ];
    for (words, change) in changes {
        let file = File::open(here.join("entry.json.gz")).expect("it is there");
        let mut entry = Entry::read(file).expect("it is an entry");
        change(&mut entry);
        let mut forged = Vec::new();
        entry.write(&mut forged).expect("memory takes it");
        fs::write(here.join("forged.json.gz"), forged).expect("it can be written");
        let refused = verify(here, "forged.json.gz");
        assert_failure(&refused, 4, words);
        let mut said = stdout(&refused).lines();
        assert_eq!(said.next(), Some("forged.json.gz: REFUSED"));
        assert!(said.clone().next().is_some(), "{}", stdout(&refused));
        assert!(said.all(|reason| reason.starts_with("  ")), "{}", stdout(&refused));
        assert!(!String::from_utf8_lossy(&refused.stderr).contains("\\n"), "{refused:?}");
        assert_failure(&run(here, ["barometer", "page", "."]), 4, words);
    }
    fs::remove_file(here.join("forged.json.gz")).expect("it is there");

    // The other program's, whole: refused at the version or the checksum, and what is no entry has another code.
    for other in [&b"not compressed"[..], b""] {
        fs::write(here.join("other"), other).expect("it can be written");
        assert_failure(&verify(here, "other"), 3, "it is no entry of the barometer");
    }
    assert_failure(&verify(here, "absent"), 5, "absent");
    assert_failure(
        &run(here, ["barometer", "pack", "study", "--out", "entry.json.gz"]),
        5,
        "entry.json.gz",
    );
    let json = run(
        here,
        [
            "barometer",
            "verify",
            "entry.json.gz",
            "other",
            "--json",
            "--programs",
            "programs.toml",
        ],
    );
    assert_failure(&json, 3, "no entry");
    let outcomes: serde_json::Value = serde_json::from_str(stdout(&json)).expect("it is JSON");
    assert_eq!(outcomes[0]["refusals"].as_array().map(Vec::len), Some(0));
    assert_eq!(outcomes[1]["refusals"].as_array().map(Vec::len), Some(1));
    fs::write(here.join("programs.toml"), "[[program]]\nversion = 1\n").expect("it can be written");
    assert_failure(&verify(here, "entry.json.gz"), 3, "is no list of programs");
}

/// An entry that is sent to this repository passes or fails here.
#[test]
fn the_entries_of_this_repository_are_verified_and_their_page_is_what_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/barometer");
    let page = run(&folder, ["barometer", "page", "."]);
    assert_done(&page);
    let written = fs::read_to_string(folder.join("README.md")).expect("the page is there");
    assert_eq!(
        stdout(&page),
        written,
        "rsalab barometer page docs/results/barometer > docs/results/barometer/README.md"
    );
}
