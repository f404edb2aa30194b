//! Audits that are saved, killed, short of memory or disk, or done in parts: the findings are those of one audit.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    audit::MODULI,
    support::{assert_done, assert_failure, folder, program, run, stdout},
};

fn audit(here: &Path, words: &str) -> Output {
    run(here, format!("audit {words}").split(' '))
}

/// So many random odd numbers of 2048 bits, most of them with small factors; two real moduli share a prime.
fn moduli(count: usize, salt: &str) -> String {
    let number = |place: usize| {
        let blocks = (0..8).map(|block| hex::encode(Sha256::digest(format!("{salt} {place} {block}"))));
        let digits: String = blocks.collect();
        format!("c{}1\n", &digits[1..511])
    };
    let mut all: Vec<String> = (0..count).map(number).collect();
    all.insert(count / 3, format!("{}\n", MODULI[0]));
    all.push(format!("{}\n", MODULI[1]));
    all.concat()
}

fn findings(output: &Output) -> Vec<Value> {
    let lines = stdout(output).lines();
    lines.map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn new_keys_are_compared_with_saved_ones() {
    let here = folder();
    let at = |name: &str| here.path().join(name);
    fs::write(at("old"), format!("{}\n", MODULI[0])).expect("a file");
    fs::write(at("new"), format!("{}\n", MODULI[1])).expect("a file");
    assert_done(&audit(here.path(), "old --fail-on never --save store"));
    let output = audit(here.path(), "new --against store --json --ignore short-modulus");
    assert_failure(&output, 3, "1 finding of severity medium or worse");
    let found = findings(&output);
    assert_eq!(found[0]["finding"], "shared-prime");
    let places: Vec<&str> = found[0]["places"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|place| place["file"].as_str())
        .collect();
    assert_eq!(places, ["new", "store:old"]);
    assert_eq!(
        (&found[1]["summary"]["keys"], &found[1]["summary"]["moduli"]),
        (&1.into(), &1.into())
    );
    // Alone it shares nothing.
    assert_done(&audit(here.path(), "new --ignore short-modulus"));

    let added = audit(here.path(), "new --against store --add --fail-on never");
    assert_done(&added);
    let talk = String::from_utf8_lossy(&added.stderr);
    assert!(
        talk.contains("compared with 1 key that were audited before") && talk.contains("store has 2 keys now"),
        "{talk}"
    );
    let again = audit(here.path(), "new --against store --json --ignore short-modulus");
    let rules: Vec<String> = findings(&again)
        .iter()
        .filter_map(|found| found["finding"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(rules, ["shared-prime", "duplicate-key"]);

    assert_failure(&audit(here.path(), "old --save store"), 5, "store exists already");
    assert_failure(
        &audit(here.path(), "new --against old"),
        3,
        "old is no saved tree of an audit",
    );
    assert_failure(&audit(here.path(), "new --add"), 2, "--against");
    let keys = at("store/00000002.keys");
    let mut bytes = fs::read(&keys).expect("it is there");
    bytes[100] ^= 1;
    fs::write(&keys, bytes).expect("a file");
    assert_failure(
        &audit(here.path(), "new --against store"),
        3,
        "store is damaged: it is not what was saved",
    );
    fs::write(at("store/store.json"), "{\"rsalab_audit_store\":99}\n").expect("a file");
    assert_failure(
        &audit(here.path(), "new --against store"),
        3,
        "version 99, and this program reads version 1",
    );
}

const SEARCH: [&str; 8] = [
    "audit",
    "moduli",
    "--json",
    "--fail-on",
    "never",
    "--memory",
    "1M",
    "--scratch",
];

/// How many steps of a search are done, by the files of its scratch folder.
fn steps(scratch: &Path) -> usize {
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten();
    let files = entries(scratch).flat_map(|folder| entries(&folder.path()).collect::<Vec<_>>());
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    // Drafts end with the number of their process.
    let is_done =
        |name: &String| !name.contains('.') && ["product-", "found-"].iter().any(|kind| name.starts_with(kind));
    names.filter(is_done).count()
}

#[test]
fn a_search_that_is_killed_ten_times_goes_on_and_finds_the_same() {
    let here = folder();
    fs::write(here.path().join("moduli"), moduli(1200, "killed")).expect("a file");
    let plain = audit(here.path(), "moduli --json --fail-on never");
    assert_done(&plain);
    assert_eq!(findings(&plain)[0]["finding"], "shared-prime");
    let scratch = here.path().join("scratch");
    let mut done = 0;
    for kill in 0..10 {
        let mut child = Command::new(program())
            .current_dir(here.path())
            .args(SEARCH)
            .arg("scratch")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let begun = Instant::now();
        while steps(&scratch) <= done {
            assert!(begun.elapsed() < Duration::from_secs(300), "no step in five minutes");
            assert!(
                child.try_wait().expect("it is a child").is_none(),
                "it ended before kill {kill}"
            );
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("it runs");
        child.wait().expect("it is a child");
        let now = steps(&scratch);
        assert!(now > done, "{now} steps after {done}");
        done = now;
    }
    let output = run(here.path(), SEARCH.into_iter().chain(["scratch"]));
    assert_done(&output);
    assert_eq!(stdout(&output), stdout(&plain));
    assert_eq!(fs::read_dir(&scratch).expect("it is there").count(), 0, "it is emptied");
}

#[test]
fn a_full_disk_is_said() {
    let here = folder();
    fs::write(here.path().join("moduli"), moduli(300, "full")).expect("a file");
    let typed: Vec<String> = SEARCH.iter().map(|word| (*word).to_owned()).collect();
    let script = format!("ulimit -f 8; exec {} {} scratch", program().display(), typed.join(" "));
    let output = Command::new("sh")
        .current_dir(here.path())
        .args(["-c", &script])
        .output()
        .expect("there is a shell");
    assert_eq!(output.status.code(), Some(5));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("cannot use scratch/rsalab-audit-") && stderr.contains("File too large"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
    let estimate = run(here.path(), SEARCH.into_iter().chain(["scratch", "--estimate"]));
    assert!(stdout(&estimate).contains("\"scratch\": "), "{}", stdout(&estimate));
    assert_failure(
        &run(here.path(), SEARCH.into_iter().chain(["moduli/scratch"])),
        5,
        "cannot use moduli/scratch",
    );
}

fn part(here: &Path, shard: &str, more: &str) -> Output {
    let number = shard.split('/').next().unwrap_or_default();
    audit(
        here,
        &format!("keys moduli --quiet --shard {shard} --out {number}.audit{more}"),
    )
}

fn refused(here: &Path, parts: &str, words: &str) {
    let output = audit(here, &format!("merge {parts} --out whole --sarif whole.sarif"));
    assert_failure(&output, 3, words);
    assert!(!here.join("whole").exists() && !here.join("whole.sarif").exists());
}

#[test]
fn parts_merged_are_one_audit_and_those_that_do_not_fit_are_refused() {
    let here = folder();
    let here = here.path();
    assert_done(&run(
        here,
        ["keygen", "--count", "6", "--public", "--out", "keys", "-q"],
    ));
    fs::remove_file(here.join("keys/key-000002.pem")).expect("it is there");
    fs::copy(here.join("keys/key-000003.pem"), here.join("keys/copy.pem")).expect("a file");
    fs::write(here.join("moduli"), moduli(60, "parts")).expect("a file");
    let one = audit(
        here,
        "keys moduli --json --fail-on never --sarif one.sarif --secret-primes one.primes",
    );
    assert_done(&one);
    assert!(findings(&one).len() > 10);
    for number in 1..=3 {
        assert_done(&part(here, &format!("{number}/3"), " --scratch scratch"));
    }
    let merge = "merge 3.audit 1.audit 2.audit --json --sarif merged.sarif --secret-primes merged.primes";
    let merged = audit(here, &format!("{merge} --fail-on never"));
    assert_done(&merged);
    assert_eq!(stdout(&merged), stdout(&one));
    for kind in ["sarif", "primes"] {
        let read = |name| fs::read(here.join(format!("{name}.{kind}"))).expect("it was made");
        assert_eq!(read("merged"), read("one"), "{kind}");
    }
    assert_failure(
        &audit(here, "merge 3.audit 1.audit 2.audit"),
        3,
        "of severity medium or worse",
    );
    // A complete part is left as it is; another one does not take its place.
    let before = fs::read(here.join("2.audit")).expect("it is there");
    assert_done(&part(here, "2/3", ""));
    assert_eq!(fs::read(here.join("2.audit")).expect("it is there"), before);
    assert_failure(&part(here, "2/4", ""), 2, "2.audit has a part of another audit");
    assert_failure(
        &part(here, "2/3", " --rounds 9"),
        2,
        "2.audit has a part of another audit",
    );
    // One whose process was killed before its manifest is made again.
    fs::remove_file(here.join("2.audit.json")).expect("it is there");
    refused(
        here,
        "1.audit 2.audit 3.audit",
        "2.audit is not complete: it has no 2.audit.json",
    );
    assert_done(&part(here, "2/3", ""));
    assert_eq!(fs::read(here.join("2.audit")).expect("it is there"), before);
    assert_failure(
        &audit(here, "- --shard 1/2 --out 9.audit"),
        2,
        "standard input cannot be audited in parts",
    );
    assert_failure(
        &audit(here, "keys --shard 1/2 --out moduli"),
        5,
        "moduli exists already",
    );
    assert_failure(&audit(here, "keys --shard 1/2"), 2, "--out");

    refused(here, "1.audit 3.audit", "1 of 3 parts are missing: 2");
    let copy = |from: &str, to: &str| {
        for ending in ["", ".json"] {
            let path = |name: &str| here.join(format!("{name}.audit{ending}"));
            fs::copy(path(from), path(to)).expect("a file");
        }
    };
    copy("2", "again");
    refused(
        here,
        "1.audit 2.audit again.audit 3.audit",
        "part 2/3 is there twice, as 2.audit and as again.audit",
    );
    let foreign = audit(here, "moduli --quiet --shard 2/3 --out foreign.audit");
    assert_done(&foreign);
    refused(
        here,
        "1.audit foreign.audit 3.audit",
        "1.audit and foreign.audit are parts of different plans",
    );
    copy("2", "flipped");
    let mut bytes = before.clone();
    bytes[200] ^= 1;
    fs::write(here.join("flipped.audit"), bytes).expect("a file");
    refused(
        here,
        "1.audit flipped.audit 3.audit",
        "flipped.audit is not what flipped.audit.json says",
    );
    copy("2", "newer");
    let manifest = here.join("newer.audit.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&manifest).expect("it is there")).expect("JSON");
    value["program_version"] = "99.0.0".into();
    fs::write(&manifest, value.to_string()).expect("a file");
    refused(here, "1.audit newer.audit 3.audit", "was made by rsalab");
    assert_done(&run(here, "keygen --count 4 --shard 1/2 --out keys.tar -q".split(' ')));
    refused(here, "1.audit keys.tar", "keys.tar is no part of an audit");
    assert_failure(
        &run(here, ["merge", "1.audit", "--out", "x.tar"]),
        3,
        "is no archive of keys",
    );
}

#[test]
fn the_commands_of_a_plan_are_its_parts() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("my moduli"), moduli(20, "plan")).expect("a file");
    let one = run(here, ["audit", "my moduli", "--json", "--fail-on", "never"]);
    let plan = [
        "audit",
        "plan",
        "--parts",
        "2",
        "my moduli",
        "--memory",
        "500M",
        "--json",
    ];
    let plan = run(here, plan);
    assert_done(&plan);
    let plan: Value = serde_json::from_str(stdout(&plan)).expect("JSON");
    assert!(plan["seconds"].is_f64() && plan["memory"].is_u64());
    let shell = |command: &str| {
        let command = command.replace("rsalab ", &format!("{} ", program().display()));
        let ran = Command::new("sh").current_dir(here).args(["-c", &command]).output();
        ran.expect("there is a shell")
    };
    for part in plan["parts"].as_array().expect("a list") {
        assert_done(&shell(part["command"].as_str().expect("text")));
    }
    let merge = plan["merge"].as_str().expect("text");
    let merged = shell(&format!("{merge} --json --fail-on never"));
    assert_done(&merged);
    assert_eq!(stdout(&merged), stdout(&one));
    let shown = run(here, ["audit", "plan", "--parts", "2", "my moduli"]);
    assert!(stdout(&shown).contains("each of 2 parts: "), "{}", stdout(&shown));
    assert!(stdout(&shown).ends_with("rsalab audit merge part-*.audit\n"));
}

#[test]
fn scripts_for_slurm_make_parts_of_an_audit_and_merge_them() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("moduli"), moduli(40, "slurm")).expect("a file");
    let one = audit(here, "moduli --json --fail-on never");
    let typed = [
        "slurm", "audit", "--parts", "3", "--cpus", "2", "--out", "my job", "--", "moduli", "--memory", "300M",
    ];
    assert_done(&run(here, typed));
    let parts = fs::read_to_string(here.join("my job/parts.sbatch")).expect("a script");
    assert!(
        parts.contains("#SBATCH --array=1-3\n") && parts.contains("#SBATCH --time="),
        "{parts}"
    );
    for (task, script) in [
        ("2", "parts"),
        ("1", "parts"),
        ("3", "parts"),
        ("3", "parts"),
        ("", "merge"),
    ] {
        let ran = Command::new("sh")
            .arg(here.join(format!("my job/{script}.sbatch")))
            .env("SLURM_ARRAY_TASK_ID", task)
            .env("SLURM_CPUS_PER_TASK", "2")
            .output()
            .expect("there is a shell");
        assert_done(&ran);
    }
    let found = fs::read_to_string(here.join("my job/findings.jsonl")).expect("it was made");
    assert_eq!(found, stdout(&one));
    assert!(!here.join("my job/scratch").exists());
    let refused = |words: &str, sentence: &str| {
        let typed = format!("slurm audit --parts 2 --out x -- {words}");
        assert_failure(&run(here, typed.split(' ')), 2, sentence);
    };
    refused("moduli --no-such", "after '--' are not taken");
    refused("plan --parts 2 moduli", "after '--' are not taken");
    refused("moduli --shard 1/2", "after '--' are not taken");
}
