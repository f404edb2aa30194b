//! Helpers of the tests: the program, a folder of its own for each test, and how an end is checked.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Output,
    thread,
    time::{Duration, Instant},
};

use assert_cmd::Command;
use rusqlite::{Connection, OpenFlags};

/// The program, in a folder, without what the environment of the tests might tell it.
pub(crate) fn rsalab(folder: &Path) -> Command {
    let mut command = Command::new(program());
    command.current_dir(folder);
    for name in ["RSALAB_PREFIX", "RSALAB_DISABLE_KERNELS", "RSALAB_PROFILE", "RUST_LOG"] {
        command.env_remove(name);
    }
    command
}

/// Where the program lies.
pub(crate) fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin!("rsalab").to_owned()
}

/// Runs the program and returns what became of it.
pub(crate) fn run(folder: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Output {
    rsalab(folder).args(arguments).output().expect("the program starts")
}

/// A folder for one test, removed when dropped.
pub(crate) fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for the test")
}

/// Gives the program another name. No copy: a file that was open for writing cannot be started while another thread's
/// child, forked in between, still has it open.
pub(crate) fn link_program(from: &Path, to: &Path) {
    if fs::hard_link(from, to).is_err() {
        // Another file system.
        fs::copy(from, to).expect("it can be copied");
    }
}

/// Checks that the program failed with a code and a message of one to six lines that contains `words`.
#[track_caller]
pub(crate) fn assert_failure(output: &Output, code: i32, words: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    assert!(stderr.contains(words), "no '{words}' in: {stderr}");
    assert!(
        (1..=6).contains(&stderr.lines().count()),
        "not one to six lines: {stderr}"
    );
    assert!(!stderr.contains("panicked"), "{stderr}");
}

/// Checks that the program did what it was asked.
#[track_caller]
pub(crate) fn assert_done(output: &Output) {
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Standard output as text.
pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("what people read is UTF-8")
}

/// A new key of a size that need not be secure: `key.pem` and `public.pem` in the folder. Returns the private one.
pub(crate) fn study_key(folder: &Path, bits: usize) -> PathBuf {
    let bits = bits.to_string();
    let output = run(
        folder,
        [
            "keygen",
            "--bits",
            &bits,
            "--insecure-size",
            "--out",
            "key.pem",
            "--public-out",
            "public.pem",
        ],
    );
    assert_done(&output);
    folder.join("key.pem")
}

/// A cell as the database of a study has it.
#[derive(Debug)]
pub(crate) struct Cell {
    pub(crate) engine: String,
    pub(crate) state: String,
    pub(crate) reason: Option<String>,
}

/// The cells of a study.
pub(crate) fn cells(directory: &Path) -> Vec<Cell> {
    let database = open(&directory.join("study.db"));
    let mut query = database
        .prepare("SELECT engine, state, reason FROM cell ORDER BY id")
        .expect("there are cells");
    let cell = |row: &rusqlite::Row<'_>| {
        Ok(Cell {
            engine: row.get(0)?,
            state: row.get(1)?,
            reason: row.get(2)?,
        })
    };
    let cells = query.query_map([], cell).expect("they can be read");
    cells.collect::<Result<_, _>>().expect("they can be read")
}

/// A database, to be read.
pub(crate) fn open(path: &Path) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).expect("it is a database")
}

/// Asks again and again until there is an answer.
#[track_caller]
pub(crate) fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} did not come");
        thread::sleep(Duration::from_millis(5));
    }
}
