//! A study survives SIGKILL at any moment: nothing that was stored is lost, nothing is measured twice.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::support::{cells, folder, open, program, wait_for};

/// Short blocks and many of them, so that a kill finds every step at work.
const PLAN: &str = r#"
title = "To be killed"
seed = "5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED5EED"
[measure]
precision = 0.0
budget_s = 0.8
min_blocks = 2
max_blocks = 100
block_ms = 10
discard_ms = 1
[[grid]]
operations = ["private", "public"]
engines = ["own", "textbook"]
bits = [512]
threads = [1, 2]
[[grid]]
operations = ["text_encrypt"]
engines = ["own", "textbook"]
bits = [512]
threads = [2]
symbols = [600]
"#;

/// Pairs of primes as article (b) finds them, in batches of 20 that are stored one by one.
fn primes(bits: usize, pairs: usize) -> String {
    format!(
        r#"
title = "Primes to be killed"
article = "prime-cycles"
[[grid]]
operations = ["prime_pair"]
engines = ["own"]
bits = [{bits}]
threads = [2]
mode = "concurrent"
[grid.measure]
precision = 0.0
budget_s = 3600.0
min_blocks = 1
max_blocks = 1000
block_calls = 20
repeats = {pairs}
discard_ms = 0
max_samples = 1000
"#
    )
}

#[test]
fn batches_of_primes_are_the_same_whether_killed_or_not() {
    batches(1024, 610, 3);
}

#[test]
#[ignore = "long: make test-all"]
fn long_batches_of_primes_are_the_same_whether_killed_or_not() {
    batches(2048, 1210, 10);
}

/// A study of so many pairs of primes has the same batches in the end, whether it was killed or not.
fn batches(bits: usize, pairs: usize, kills: usize) {
    let here = folder();
    let plan = primes(bits, pairs);
    fs::write(here.path().join("primes.toml"), plan).expect("the folder can be written to");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(program());
        command.current_dir(here.path()).args(arguments);
        command
    };
    let finish = |arguments: &[&str]| {
        let output = run(arguments).output().expect("the program starts");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{words}");
    };
    let mut stored = BTreeMap::new();
    let mut moments = Moments(0x5EED);
    let study = here.path().join("killed");
    let count = || blocks(&study);
    for kill in 1..=kills {
        let arguments: &[&str] = match study.join("study.db").exists() {
            true => &["resume", "killed"],
            false => &["study", "primes.toml", "--out", "killed"],
        };
        let mut process = run(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        // However slow the machine, a batch further each time, and then in the middle of one.
        let before = count();
        while count() == before && process.try_wait().expect("it can be asked").is_none() {
            thread::sleep(Duration::from_millis(20));
        }
        thread::sleep(moments.next() / 16);
        let has_ended = process.try_wait().expect("it can be asked").is_some();
        assert!(!has_ended, "the study ended by itself before kill {kill}");
        process.kill().expect("it can be killed");
        process.wait().expect("it ends");
        if study.join("study.db").exists() {
            stored = look(&study, &stored);
        }
    }
    assert!(stored.len() >= kills, "{} batches after {kills} kills", stored.len());
    finish(&["resume", "killed"]);
    look(&study, &stored);
    finish(&["study", "primes.toml", "--out", "whole"]);

    // Which pairs are found is chance; how many there are in which batch is not.
    let batches = |study: &str| -> Vec<(i64, i64)> {
        let database = open(&here.path().join(study).join("study.db"));
        let mut query = database
            .prepare(
                "SELECT round, (SELECT sum(operations) FROM sample WHERE block_id = block.id)
                 FROM block ORDER BY round",
            )
            .expect("there are batches");
        let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
        let rows = rows.expect("they can be read");
        rows.collect::<Result<_, _>>().expect("batches have pairs")
    };
    let killed = batches("killed");
    assert_eq!(killed, batches("whole"));
    let count = pairs.div_ceil(20);
    assert_eq!(killed.len(), count);
    let found: i64 = killed.iter().map(|(_, pairs)| pairs).sum();
    assert_eq!(found, pairs as i64);
    let files = |study: &str| -> Vec<String> {
        finish(&["report", study, "--batch-files"]);
        let folder = here.path().join(study).join("results/own");
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("there are files")
            .map(|entry| entry.expect("it can be read").file_name().into_string())
            .collect::<Result<_, _>>()
            .expect("names are text");
        names.sort();
        names
    };
    let names = files("killed");
    assert_eq!(names, files("whole"));
    assert_eq!(names.len(), count);
    let last = format!("result_{}_run_{pairs}.txt", bits / 2);
    assert!(names.contains(&last), "{names:?}");
}

#[test]
fn a_study_that_is_killed_five_times_is_complete_in_the_end() {
    complete_after(5);
}

#[test]
#[ignore = "long: make test-all"]
fn a_study_that_is_killed_fifty_times_is_complete_in_the_end() {
    complete_after(50);
}

fn complete_after(kills: usize) {
    let here = folder();
    let study = here.path().join("study");
    fs::write(here.path().join("plan.toml"), PLAN).expect("the folder can be written to");
    let mut stored = BTreeMap::new();
    let mut moments = Moments(0x5EED);
    let mut started_before = false;
    for kill in 1..=kills {
        let arguments: &[&str] = match study.join("study.db").exists() {
            true => &["resume", "study"],
            // Killed before it had a database, a study is planned again.
            false => &["study", "plan.toml", "--out", "study"],
        };
        let mut run = Command::new(program())
            .current_dir(here.path())
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        thread::sleep(moments.next());
        // However slow the machine, the last kill finds something stored.
        if kill == kills {
            wait_for("a block", || (blocks(&study) > 0).then_some(()));
        }
        let has_ended = run.try_wait().expect("it can be asked").is_some();
        run.kill().expect("it can be killed");
        let output = run.wait_with_output().expect("it ends");
        assert!(
            !has_ended,
            "the study ended by itself before kill {kill}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        if study.join("study.db").exists() {
            started_before = true;
            stored = look(&study, &stored);
        } else {
            assert!(!started_before, "the database is gone after kill {kill}");
        }
    }
    assert!(!stored.is_empty(), "no kill left any block: the moments are too early");

    let last = Command::new(program())
        .current_dir(here.path())
        .args(["resume", "study"])
        .output()
        .expect("the program starts");
    assert!(last.status.success(), "{}", String::from_utf8_lossy(&last.stderr));
    look(&study, &stored);
    let cells = cells(&study);
    assert_eq!(cells.len(), 10);
    assert!(cells.iter().all(|cell| cell.state == "done"), "{cells:?}");
    assert!(study.join("report.html").is_file());
    assert_every_round_is_whole(&study);
}

/// How many blocks a study has stored; none while its database is not there yet, or is being written to.
fn blocks(study: &Path) -> i64 {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    rusqlite::Connection::open_with_flags(study.join("study.db"), flags)
        .and_then(|database| database.query_row("SELECT count(*) FROM block", [], |row| row.get(0)))
        .unwrap_or(0)
}

/// The name of a block, and everything that was stored of it.
type Blocks = BTreeMap<(i64, i64), String>;

/// Looks at a copy of the database, as it lies on the disk between two runs: it is whole, and every block that was
/// there at an earlier look is there now, with the same samples.
fn look(study: &Path, earlier: &Blocks) -> Blocks {
    let copy = folder();
    for name in ["study.db", "study.db-wal"] {
        if study.join(name).exists() {
            fs::copy(study.join(name), copy.path().join(name)).expect("it can be copied");
        }
    }
    let database = rusqlite::Connection::open(copy.path().join("study.db")).expect("it is a database");
    let integrity: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .expect("it can be checked");
    assert_eq!(integrity, "ok");
    let twice: i64 = database
        .query_row(
            "SELECT count(*) - count(DISTINCT group_id || ' ' || engine) FROM cell",
            [],
            |row| row.get(0),
        )
        .expect("there are cells");
    assert_eq!(twice, 0, "a cell is there twice");

    let mut query = database
        .prepare(
            "SELECT group_id, order_index, cell_id || ' ' || started_ns || ' ' || elapsed_ns || ' ' ||
                 (SELECT group_concat(elapsed_ns || '/' || operations) FROM sample WHERE block_id = block.id)
             FROM block",
        )
        .expect("there are blocks and samples");
    let block = |row: &rusqlite::Row<'_>| Ok(((row.get(0)?, row.get(1)?), row.get(2)?));
    let now: Blocks = query
        .query_map([], block)
        .expect("they can be read")
        .collect::<Result<_, _>>()
        .expect("no block is without samples");
    for (place, samples) in earlier {
        assert_eq!(now.get(place), Some(samples), "the block {place:?} was lost or changed");
    }
    now
}

/// The engines of a group were interleaved over all sessions: each has the same number of blocks.
fn assert_every_round_is_whole(study: &Path) {
    let database = open(&study.join("study.db"));
    let uneven: i64 = database
        .query_row(
            "SELECT count(*) FROM (SELECT group_id, round, count(*) AS blocks FROM block GROUP BY group_id, round) WHERE blocks <> 2",
            [],
            |row| row.get(0),
        )
        .expect("there are blocks");
    assert_eq!(uneven, 0, "a round is not whole");
}

/// Moments to kill at, up to a second after the start: before the first block, and in any step after it. The same in
/// each run of the test.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Duration {
        // Xorshift, after Marsaglia.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_millis(self.0 % 1000)
    }
}
