//! Bad input, one row each: a clear sentence, the documented exit code, nothing lost and nothing left behind.
//!
//! A row says what is typed, the exit code, and words that standard error must hold: what is concerned, and the remedy.
//! After each row the folder must be as it was, byte for byte.

//!
//! | question | file |
//! |---|---|
//! | command lines | `typed` |
//! | plans | `plans` |
//! | places to write to: taken, read-only, full | `places` |
//! | files that lead elsewhere: links, pipes, folders in a file's place | `elsewhere` |
//! | databases, and studies that are in use | `databases` |
//! | keys | `keys` |
//! | keys that cost much, are for something else, or are none for reasons that take work to find | `supplied` |
//! | texts and ciphertexts | `texts` |
//! | streams that are closed or full | `streams` |
//! | names that are not UTF-8 | `names` |

mod databases;
mod elsewhere;
mod keys;
mod names;
mod places;
mod plans;
mod streams;
mod supplied;
mod texts;
mod typed;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs,
    os::unix::{ffi::OsStringExt, fs::MetadataExt},
    path::{Path, PathBuf},
    process::Output,
};

use crate::support::{assert_done, open, run};

/// A command line, the exit code, and the words.
type Row<'a> = (&'a str, i32, &'a [&'a str]);

/// Checks every row and tells of all that fail.
#[track_caller]
fn refuse<T: AsRef<[u8]>>(here: &Path, rows: &[(T, i32, &[&str])]) {
    check(here, rows, judge);
}

/// As [`refuse`], of commands whose verdict is data on standard output.
#[track_caller]
fn refuse_with_verdict<T: AsRef<[u8]>>(here: &Path, rows: &[(T, i32, &[&str])]) {
    check(here, rows, judge_stderr);
}

#[track_caller]
fn check<T: AsRef<[u8]>>(
    here: &Path,
    rows: &[(T, i32, &[&str])],
    judge: impl Fn(&Output, i32, &[&str]) -> Result<(), String>,
) {
    let mut wrong = Vec::new();
    for (typed, code, words) in rows {
        let before = tree(here);
        let output = run(here, split(typed.as_ref()));
        let judged = judge(&output, *code, words).and_then(|()| compare(&before, &tree(here)));
        if let Err(what) = judged {
            wrong.push(format!("rsalab {}\n{what}", String::from_utf8_lossy(typed.as_ref())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The words of a command line, as a shell takes it apart.
fn split(typed: &[u8]) -> Vec<OsString> {
    let words = shlex::bytes::split(typed).expect("the row can be taken apart");
    words.into_iter().map(OsString::from_vec).collect()
}

fn judge(output: &Output, code: i32, words: &[&str]) -> Result<(), String> {
    judge_stderr(output, code, words)?;
    match output.stdout.is_empty() {
        true => Ok(()),
        false => Err(format!("{} bytes on standard output", output.stdout.len())),
    }
}

fn judge_stderr(output: &Output, code: i32, words: &[&str]) -> Result<(), String> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let complain = |what: String| Err(format!("{what} in:\n{stderr}"));
    if output.status.code() != Some(code) {
        return complain(format!("{}, not code {code},", output.status));
    }
    if let Some(missing) = words.iter().find(|word| !stderr.contains(**word)) {
        return complain(format!("no «{missing}»"));
    }
    if !(1..=6).contains(&stderr.lines().count()) {
        return complain(format!("{} lines", stderr.lines().count()));
    }
    if stderr.contains("panicked") || stderr.chars().count() > 3000 {
        return complain("a defect".to_owned());
    }
    Ok(())
}

/// Marks by which one sees that a file has been touched.
#[derive(Debug, PartialEq)]
struct Trace {
    mode: u32,
    length: u64,
    /// Of files, since a draft that came and went changes its directory.
    modified_ns: Option<i128>,
    /// Of files that are not there for their size.
    content: Option<Vec<u8>>,
}

/// Everything in a folder.
fn tree(folder: &Path) -> BTreeMap<PathBuf, Trace> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("it can be read").flatten() {
            let path = entry.path();
            let metadata = entry.metadata().expect("it is there");
            if is_sqlites_own(&path, metadata.len()) {
                continue;
            }
            let is_file = metadata.is_file();
            let trace = Trace {
                mode: metadata.mode(),
                length: if is_file { metadata.len() } else { 0 },
                modified_ns: is_file
                    .then(|| i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec())),
                content: (is_file && metadata.len() < 1 << 21).then(|| fs::read(&path).expect("it can be read")),
            };
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, trace);
        }
    }
    found
}

/// Readers share a file next to a database and an empty log, which stay until somebody writes. They hold nothing.
fn is_sqlites_own(path: &Path, length: u64) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == "study.db-shm" || (name == "study.db-wal" && length == 0)
}

fn compare(before: &BTreeMap<PathBuf, Trace>, after: &BTreeMap<PathBuf, Trace>) -> Result<(), String> {
    let all = before.keys().chain(after.keys());
    let touched: Vec<&PathBuf> = all.filter(|path| before.get(*path) != after.get(*path)).collect();
    match touched.is_empty() {
        true => Ok(()),
        false => Err(format!("made, changed or removed: {touched:?}")),
    }
}

fn write(here: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    fs::write(here.join(name), bytes).expect("the folder can be written to");
}

/// A finished study in the folder.
fn finished_study(here: &Path, name: &str) {
    let done = run(here, ["study", "smoke", "--engines", "own", "-q", "--out", name]);
    assert_done(&done);
}

/// Where each stored block stands, and what was measured in it.
fn blocks(study: &Path) -> Vec<(i64, i64, i64, i64)> {
    let database = open(&study.join("study.db"));
    let mut query = database
        .prepare("SELECT group_id, order_index, started_ns, elapsed_ns FROM block ORDER BY id")
        .expect("there are blocks");
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)));
    rows.and_then(Iterator::collect).expect("they can be read")
}
