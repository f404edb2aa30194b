//! `--shard` and `merge`: works that are done in parts, and what is refused of them.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Output};

use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::Field,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::{assert_done, assert_failure, folder, run, stdout};

const SEED: &str = "0707070707070707070707070707070707070707070707070707070707070707";

fn keys(here: &Path, shard: &str, out: &str, more: &[&str]) -> Output {
    let mut typed = vec![
        "keygen",
        "--count",
        "20",
        "--bits",
        "512",
        "--insecure-size",
        "--out",
        out,
    ];
    if !shard.is_empty() {
        typed.extend(["--shard", shard]);
    }
    typed.extend(more);
    run(here, typed)
}

fn merge(here: &Path, parts: &[&str], out: &str) -> Output {
    run(here, [&["merge", "--out", out], parts].concat())
}

/// Changes a value of a JSON file.
fn change(path: &Path, edit: impl FnOnce(&mut Value)) {
    let mut value = serde_json::from_slice(&fs::read(path).expect("it is there")).expect("it is JSON");
    edit(&mut value);
    fs::write(path, value.to_string()).expect("it can be written");
}

fn copy(from: &Path, to: &Path) {
    for ending in ["", ".json"] {
        let named = |path: &Path| format!("{}{ending}", path.display());
        fs::copy(named(from), named(to)).expect("it can be copied");
    }
}

/// The manifest of the keys in an archive.
fn manifest(archive: &Path) -> String {
    let mut archive = tar::Archive::new(fs::File::open(archive).expect("it is there"));
    let mut entries = archive
        .entries()
        .expect("an archive")
        .map(|entry| entry.expect("a file"));
    let mut manifest = entries
        .find(|entry| *entry.path_bytes() == *b"manifest.jsonl")
        .expect("it has a manifest");
    std::io::read_to_string(&mut manifest).expect("text")
}

#[test]
fn parts_of_seeded_keys_are_the_same_keys_whatever_their_number() {
    let here = folder();
    let here = here.path();
    let seeded = ["--insecure-seed", SEED, "-q"];
    assert_done(&keys(here, "", "one.tar", &seeded));
    let one = manifest(&here.join("one.tar"));
    assert_eq!(one.lines().count(), 21);
    for of in [1, 3, 20] {
        let parts: Vec<String> = (1..=of).map(|number| format!("{number}-of-{of}.tar")).collect();
        for (number, part) in (1..).zip(&parts) {
            assert_done(&keys(here, &format!("{number}/{of}"), part, &seeded));
        }
        let mut parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        // In any order.
        parts.reverse();
        let whole = format!("{of}.tar");
        assert_done(&merge(here, &parts, &whole));
        assert_eq!(manifest(&here.join(whole)), one);
        let index = format!("{of}.jsonl");
        assert_done(&merge(here, &parts, &index));
        let index = fs::read_to_string(here.join(index)).expect("an index");
        assert_eq!(index.lines().count(), 21);
        assert!(
            index.contains(&format!("\"archive\":\"1-of-{of}.tar\",\"number\":1,")),
            "{index}"
        );
    }
}

#[test]
fn a_complete_part_is_made_once_and_another_one_is_refused_its_place() {
    let here = folder();
    let here = here.path();
    assert_done(&keys(here, "2/3", "part.tar", &["-q"]));
    let before = fs::read(here.join("part.tar")).expect("it is there");
    let again = keys(here, "2/3", "part.tar", &[]);
    assert_done(&again);
    assert!(String::from_utf8_lossy(&again.stderr).contains("part 2/3 is complete"));
    assert_eq!(fs::read(here.join("part.tar")).expect("it is there"), before);
    let json = keys(here, "2/3", "part.tar", &["--json"]);
    let json: Value = serde_json::from_str(stdout(&json)).expect("it is JSON");
    assert_eq!((&json["count"], &json["made_now"]), (&7.into(), &0.into()), "{json}");
    assert_failure(&keys(here, "1/3", "part.tar", &[]), 2, "a part of other keys");
    assert_failure(&keys(here, "2/3", "part.tar", &["--e", "3"]), 2, "a part of other keys");
    assert_failure(&keys(here, "2/3", "folder", &[]), 2, "is an archive");
    assert_failure(&keys(here, "2/3", "-", &[]), 2, "is an archive");
    assert_failure(&keys(here, "7/21", "other.tar", &[]), 2, "20 keys cannot be 21 parts");
    assert_failure(&keys(here, "4/3", "other.tar", &[]), 2, "3/8");
}

#[test]
fn parts_of_keys_that_do_not_fit_are_refused_and_nothing_is_written() {
    let here = folder();
    let here = here.path();
    for number in 1..=3 {
        assert_done(&keys(here, &format!("{number}/3"), &format!("{number}.tar"), &["-q"]));
    }
    let refused = |parts: &[&str], words: &str| {
        for out in ["whole.tar", "whole.jsonl", "whole.parquet"] {
            assert_failure(&merge(here, parts, out), 3, words);
            assert!(!here.join(out).exists());
        }
    };
    refused(&["1.tar", "3.tar"], "1 of 3 parts are missing: 2");
    copy(&here.join("2.tar"), &here.join("2-again.tar"));
    refused(
        &["1.tar", "2.tar", "2-again.tar", "3.tar"],
        "part 2/3 is there twice, as 2.tar and as 2-again.tar",
    );
    assert_done(&keys(here, "2/3", "other.tar", &["-q", "--e", "3"]));
    refused(
        &["1.tar", "other.tar", "3.tar"],
        "1.tar and other.tar are parts of different plans",
    );
    copy(&here.join("2.tar"), &here.join("flipped.tar"));
    let mut bytes = fs::read(here.join("flipped.tar")).expect("it is there");
    bytes[700] ^= 1;
    fs::write(here.join("flipped.tar"), bytes).expect("it can be written");
    refused(
        &["1.tar", "flipped.tar", "3.tar"],
        "flipped.tar is not what flipped.tar.json says",
    );
    copy(&here.join("2.tar"), &here.join("newer.tar"));
    change(&here.join("newer.tar.json"), |manifest| {
        manifest["program_version"] = "99.0.0".into()
    });
    refused(&["1.tar", "newer.tar", "3.tar"], "was made by rsalab");
    fs::copy(here.join("2.tar"), here.join("bare.tar")).expect("it can be copied");
    refused(
        &["1.tar", "bare.tar", "3.tar"],
        "bare.tar is not complete: it has no bare.tar.json",
    );
    // A part whose keys are another part's.
    copy(&here.join("2.tar"), &here.join("forged.tar"));
    change(&here.join("forged.tar.json"), |manifest| {
        manifest["part"]["number"] = 3.into()
    });
    refused(&["1.tar", "2.tar", "forged.tar"], "has a manifest of another form");

    assert_failure(
        &merge(here, &["1.tar", "2.tar", "3.tar"], "whole.zip"),
        2,
        "none of FILE.tar, FILE.jsonl and FILE.parquet",
    );
    assert_failure(
        &merge(here, &["1.tar", "2.tar", "4.tar"], "whole.tar"),
        5,
        "there is no 4.tar",
    );
    assert_done(&merge(here, &["1.tar", "2.tar", "3.tar"], "whole.tar"));
    assert_failure(&merge(here, &["1.tar", "2.tar", "3.tar"], "whole.tar"), 5, "whole.tar");
}

/// The rows of a table of public keys, each value as text and bytes in hexadecimal digits.
fn rows(table: &Path) -> Vec<Vec<String>> {
    let reader = SerializedFileReader::new(fs::File::open(table).expect("it is there")).expect("a table");
    let text = |field: &Field| match field {
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Bytes(bytes) => hex::encode(bytes.data()),
        other => panic!("no column has the type of {other:?}"),
    };
    let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row"));
    rows.map(|row| row.get_column_iter().map(|(_, field)| text(field)).collect())
        .collect()
}

#[test]
fn public_halves_of_parts_are_a_table() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("password"), "a password\n").expect("it can be written");
    let encrypted = ["--format", "pkcs8-encrypted", "--password-file", "password"];
    let variants: [(&str, &[&str]); 4] = [
        ("plain", &[]),
        ("openssh", &["--format", "openssh"]),
        ("with-public", &["--public"]),
        ("encrypted", &[&["--public"], &encrypted[..]].concat()),
    ];
    for (name, more) in variants {
        let parts: Vec<String> = (1..=3).map(|number| format!("{name}-{number}.tar")).collect();
        for (number, part) in (1..).zip(&parts) {
            assert_done(&keys(here, &format!("{number}/3"), part, &[&["-q"], more].concat()));
        }
        let parts: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
        let (table, index) = (format!("{name}.parquet"), format!("{name}.jsonl"));
        assert_done(&merge(here, &parts, &table));
        assert_done(&merge(here, &parts, &index));
        let index = fs::read_to_string(here.join(index)).expect("an index");
        let rows = rows(&here.join(&table));
        // The first line says what all keys have in common.
        assert_eq!((rows.len(), index.lines().count()), (20, 21));
        for (row, line) in rows.iter().zip(index.lines().skip(1)) {
            let line: Value = serde_json::from_str(line).expect("it is JSON");
            let [number, archive, file, bits, modulus, exponent, sha256] = &row[..] else {
                panic!("{row:?}");
            };
            assert_eq!(*number, line["number"].to_string());
            assert_eq!(
                (&line["archive"], &line["file"]),
                (&archive[..].into(), &file[..].into())
            );
            assert_eq!((&bits[..], &exponent[..], modulus.len()), ("512", "010001", 128));
            // The public key as the manifest's digest has it: the beginning of a key of 512 bits, modulus, exponent.
            let der = format!("305c300d06092a864886f70d0101010500034b003048024100{modulus}0203{exponent}");
            let digest = Sha256::digest(hex::decode(der).expect("digits"));
            assert_eq!((&hex::encode(digest), &line["sha256"]), (sha256, &sha256[..].into()));
        }
        // An audit reads what was merged.
        let audited = run(here, ["audit", &table, "--json"]);
        let last = stdout(&audited).lines().last().unwrap_or_default();
        let last: Value = serde_json::from_str(last).expect("it is JSON");
        assert_eq!(
            (&last["summary"]["keys"], &last["summary"]["moduli"]),
            (&20.into(), &20.into())
        );
    }

    // A manifest that names another key, with the right checksum of the archive.
    let forged = here.join("plain-2.tar");
    let mut bytes = fs::read(&forged).expect("it is there");
    let name = b"\"sha256\":\"";
    let digest = bytes
        .windows(name.len())
        .position(|window| window == name)
        .expect("a digest")
        + name.len();
    bytes[digest + 63] = if bytes[digest + 63] == b'0' { b'1' } else { b'0' };
    fs::write(&forged, &bytes).expect("it can be written");
    change(&here.join("plain-2.tar.json"), |manifest| {
        manifest["sha256"] = hex::encode(Sha256::digest(&bytes)).into();
    });
    let parts = ["plain-1.tar", "plain-2.tar", "plain-3.tar"];
    assert_failure(
        &merge(here, &parts, "forged.parquet"),
        3,
        "plain-2.tar holds another key 7 than",
    );
    assert!(!here.join("forged.parquet").exists());

    for number in 1..=3 {
        let part = format!("secret-{number}.tar");
        assert_done(&keys(
            here,
            &format!("{number}/3"),
            &part,
            &[&["-q"], &encrypted[..]].concat(),
        ));
    }
    let secret = ["secret-1.tar", "secret-2.tar", "secret-3.tar"];
    assert_failure(&merge(here, &secret, "secret.parquet"), 3, "the keys are encrypted");
    assert!(!here.join("secret.parquet").exists());
}

/// One part of a study of four cells, two jobs on one engine each.
fn study(here: &Path, shard: &str, out: &str, more: &[&str]) -> Output {
    let plan = "title = \"parts\"\n[measure]\nprecision = 0.0\nconfidence = 0.95\nbudget_s = 0.1\nmin_blocks = 2\n\
                max_blocks = 2\nblock_ms = 5\ndiscard_ms = 0\nmax_samples = 20\n[[grid]]\n\
                operations = [\"private\", \"public\"]\nengines = [\"own\"]\nbits = [512, 768]\nthreads = [1]\n\
                batch = [1]\nexponent = 65537\n";
    fs::write(here.join("plan.toml"), plan).expect("it can be written");
    let typed = [
        "study",
        "plan.toml",
        "--shard",
        shard,
        "--out",
        out,
        "--allow-unoptimised",
    ];
    run(here, [&typed, more].concat())
}

#[test]
fn a_study_in_parts_is_one_study_afterwards() {
    let here = folder();
    let here = here.path();
    assert_failure(&study(here, "1/3", "1", &[]), 2, "needs the seed of the other parts");
    for number in 1..=3 {
        let name = number.to_string();
        assert_done(&study(here, &format!("{number}/3"), &name, &["--seed", SEED, "-q"]));
        assert!(here.join(name).join("part.json").exists());
    }
    let again = study(here, "2/3", "2", &["--seed", SEED]);
    assert_done(&again);
    assert!(String::from_utf8_lossy(&again.stderr).contains("part 2/3 is complete"));
    assert_failure(&study(here, "1/3", "2", &["--seed", SEED]), 2, "already holds a study");

    let refused = |parts: &[&str], words: &str| {
        assert_failure(&merge(here, parts, "whole"), 3, words);
        assert!(!here.join("whole").exists());
    };
    refused(&["1", "3"], "1 of 3 parts are missing: 2");
    assert_done(&run(here, ["resume", "3", "-q", "--allow-unoptimised"]));
    fs::create_dir(here.join("again")).expect("a folder");
    for file in ["study.db", "part.json"] {
        fs::copy(here.join("3").join(file), here.join("again").join(file)).expect("it can be copied");
    }
    refused(&["1", "2", "3", "again"], "part 3/3 is there twice");
    change(&here.join("again/part.json"), |manifest| {
        manifest["program_version"] = "99.0.0".into()
    });
    refused(&["1", "2", "again"], "was made by rsalab");
    fs::copy(here.join("3/part.json"), here.join("again/part.json")).expect("it can be copied");
    let mut bytes = fs::read(here.join("again/study.db")).expect("it is there");
    let last = bytes.len() - 100;
    bytes[last] ^= 1;
    fs::write(here.join("again/study.db"), bytes).expect("it can be written");
    refused(&["1", "2", "again"], "is not what again/part.json says");
    let other = "0808080808080808080808080808080808080808080808080808080808080808";
    assert_done(&study(here, "3/3", "other", &["--seed", other, "-q"]));
    refused(&["1", "2", "other"], "are parts of different plans");
    assert_done(&run(
        here,
        ["study", "plan.toml", "--out", "all", "-q", "--allow-unoptimised"],
    ));
    refused(&["1", "2", "all"], "all is a whole study, not a part of one");
    assert_failure(&merge(here, &["1", "2", "plan.toml"], "whole"), 2, "here are both");

    let merged = run(here, ["merge", "3", "1", "2", "--out", "whole", "--json"]);
    assert_done(&merged);
    let merged: Value = serde_json::from_str(stdout(&merged)).expect("it is JSON");
    assert_eq!(merged["cells"]["done"], 4, "{merged}");
    assert_done(&run(here, ["report", "whole"]));
    assert_failure(&merge(here, &["3", "1", "2"], "whole"), 5, "whole is there already");
    // What the system refuses has its own exit code.
    fs::rename(here.join("1/part.json"), here.join("1/kept")).expect("it is there");
    fs::create_dir(here.join("1/part.json")).expect("a folder");
    assert_failure(&merge(here, &["1", "2", "3"], "new"), 5, "Is a directory");
    fs::remove_dir(here.join("1/part.json")).expect("it is there");
    fs::rename(here.join("1/kept"), here.join("1/part.json")).expect("it is there");
    let samples = |study: &str| {
        let exported = run(here, ["export", study, "--samples"]);
        stdout(&exported).lines().count() - 1
    };
    assert_eq!(samples("whole"), ["1", "2", "3"].map(samples).iter().sum::<usize>());
    // Nothing is left to do, and nothing is a part any more.
    assert_done(&run(here, ["resume", "whole", "-q", "--allow-unoptimised"]));
    assert!(!here.join("whole/part.json").exists());
}

#[test]
fn scripts_for_slurm_are_shell_that_makes_parts_and_merges_them() {
    let here = folder();
    let here = here.path();
    let keygen = [
        "slurm",
        "keygen",
        "--parts",
        "3",
        "--time",
        "5",
        "--cpus",
        "2",
        "--constraint",
        "zen4&ib",
        "--out",
    ];
    let options = [
        "my job",
        "--",
        "--count",
        "20",
        "--bits",
        "512",
        "--insecure-size",
        "--public",
    ];
    assert_done(&run(here, [&keygen[..], &options].concat()));
    let parts = fs::read_to_string(here.join("my job/parts.sbatch")).expect("a script");
    for line in [
        "#SBATCH --array=1-3",
        "#SBATCH --cpus-per-task=2",
        "#SBATCH --mem=640M",
        "#SBATCH --time=5",
        "#SBATCH --requeue",
        "#SBATCH --constraint=\"zen4&ib\"",
    ] {
        assert!(parts.lines().any(|found| found == line), "{line}: {parts}");
    }
    let submit = fs::read_to_string(here.join("my job/submit.sh")).expect("a script");
    assert!(submit.contains("--dependency=\"afterok:$parts\""), "{submit}");
    // One of several clusters puts its name behind a job's number.
    let sbatch = here.join("sbatch");
    fs::write(&sbatch, "#!/bin/sh\necho \"$*\" >>\"$0.log\"\necho \"7;cluster\"\n").expect("there is room");
    fs::set_permissions(&sbatch, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = std::env::var("PATH").expect("it is set");
    let submitted = std::process::Command::new("sh")
        .arg(here.join("my job/submit.sh"))
        .env("PATH", format!("{}:{path}", here.display()))
        .output()
        .expect("there is a shell");
    assert_done(&submitted);
    assert_eq!(
        String::from_utf8_lossy(&submitted.stdout),
        "parts: job 7; merge: job 7\n"
    );
    let asked = fs::read_to_string(here.join("sbatch.log")).expect("it was called");
    assert!(asked.contains("--dependency=afterok:7 "), "{asked}");
    assert_failure(&run(here, [&keygen[..], &options].concat()), 5, "is not empty");
    // As Slurm would run them.
    for (task, script) in [("1", "parts"), ("3", "parts"), ("2", "parts"), ("", "merge")] {
        let ran = std::process::Command::new("sh")
            .arg(here.join(format!("my job/{script}.sbatch")))
            .env("SLURM_ARRAY_TASK_ID", task)
            .env("SLURM_CPUS_PER_TASK", "2")
            .output()
            .expect("there is a shell");
        assert_done(&ran);
    }
    let keys = manifest(&here.join("my job/keys.tar"));
    assert_eq!(keys.lines().count(), 21);

    let study = [
        "slurm",
        "study",
        "--parts",
        "4",
        "--out",
        "study",
        "--",
        "smoke",
        "--bits",
        "512",
        "--give-up-after",
        "2000",
    ];
    assert_done(&run(here, study));
    let parts = fs::read_to_string(here.join("study/parts.sbatch")).expect("a script");
    assert!(
        parts.contains("#SBATCH --exclusive") && parts.contains("--shard \"$SLURM_ARRAY_TASK_ID/4\""),
        "{parts}"
    );
    assert!(parts.contains(" --give-up-after 2000 "), "{parts}");
    for (out, threads) in [("joined", &["--threads=4"][..]), ("apart", &["--threads", "4"])] {
        let typed = [
            "slurm", "keygen", "--parts", "2", "--time", "5", "--out", out, "--", "--count", "4",
        ];
        assert_done(&run(here, [&typed[..], threads].concat()));
        let parts = fs::read_to_string(here.join(out).join("parts.sbatch")).expect("a script");
        assert!(!parts.contains("SLURM_CPUS_PER_TASK\""), "{parts}");
    }
    let plan = fs::read_to_string(here.join("study/plan.toml")).expect("a plan");
    assert!(plan.contains("seed = "), "{plan}");
    let refused = |options: &[&str], words: &str| {
        let typed = [
            &["slurm", "keygen", "--parts", "30", "--time", "5", "--out", "x", "--"],
            options,
        ]
        .concat();
        assert_failure(&run(here, typed), 2, words);
    };
    refused(&["--bits", "2048"], "the keys of all parts are to be counted");
    refused(&["--count", "20"], "20 keys cannot be 30 parts");
    refused(&["--count", "20", "--bits", "17"], "after '--' are not taken");
}
