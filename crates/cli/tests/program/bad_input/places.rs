//! Places to write to that are taken, missing, read-only or full.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
    process::{Command, Output},
};

use super::{Row, blocks, compare, finished_study, judge, refuse, split, tree, write};
use crate::support::{assert_done, folder, link_program, program, run, study_key};

#[test]
fn places_to_write_to() {
    let here = folder();
    finished_study(here.path(), "good");
    study_key(here.path(), 512);
    fs::create_dir(here.path().join("full")).expect("the folder can be written to");
    write(here.path(), "full/something", "precious");
    write(here.path(), "file", "precious");
    let long = "x".repeat(300);
    let in_long = |start: &str| format!("{start}{long}");
    #[rustfmt::skip]
    let rows: Vec<(String, i32, &[&str])> = vec![
        ("study smoke --out good".into(), 2, &["good holds a study already", "rsalab resume good"]),
        ("study smoke --out full".into(), 2, &["full is not empty", "name another directory"]),
        ("study smoke --out file".into(), 5, &["file", "name a directory"]),
        ("study smoke --out file/deeper".into(), 5, &["file/deeper", "name a directory"]),
        ("study smoke --out /proc/none/deeper".into(), 5, &["/proc/none/deeper", "check the name"]),
        (in_long("study smoke --out new/"), 5, &["(300 bytes)", "shorter name"]),
        ("report good --out file".into(), 5, &["file", "name a directory"]),
        ("report good --out /proc/none".into(), 5, &["/proc/none", "check the name"]),
        ("keygen --out file".into(), 5, &["file exists already", "nothing is overwritten"]),
        ("keygen --out full".into(), 5, &["full exists already", "name another file"]),
        ("keygen --out new --public-out file".into(), 5, &["file exists already", "name another file"]),
        ("keygen --bits 512 --insecure-size --out new --public-out ./new".into(), 5, &["./new exists already"]),
        ("keygen --out missing/new".into(), 5, &["missing/new", "check the name"]),
        ("keygen --count 2 --out file".into(), 5, &["file", "exists"]),
        ("keygen --count 2 --out missing/new".into(), 5, &["missing/new", "check the name"]),
        ("keygen --count 2 --out file/new".into(), 5, &["file/new"]),
        ("keygen --out file/new".into(), 5, &["file/new", "name a directory"]),
        ("keygen --bits 512 --insecure-size --out /proc/new".into(), 5, &["/proc/new", "check the name"]),
        (in_long("keygen --bits 512 --insecure-size --out "), 5, &["(300 bytes)", "shorter name"]),
        ("text-encrypt --quiet --key public.pem --text a --out file".into(), 5, &["file exists already"]),
        ("text-encrypt --quiet --key public.pem --text a --out key.pem".into(), 5, &["key.pem exists already"]),
        ("text-encrypt --quiet --key public.pem --text a --out missing/new".into(), 5, &["missing/new", "check the name"]),
        ("text-decrypt --quiet --key key.pem file --out file".into(), 5, &["file exists already"]),
    ];
    refuse(here.path(), &rows);
    assert_done(&run(here.path(), ["resume", "good"]));
}

#[test]
fn places_that_may_only_be_read() {
    let here = folder();
    finished_study(here.path(), "good");
    let locked = here.path().join("locked");
    fs::create_dir(&locked).expect("the folder can be written to");
    let set_mode = |path: &Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    set_mode(&locked, 0o555);
    set_mode(here.path(), 0o755);
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("study smoke --out locked", 5, &["locked", "Permission denied", "name another place"]),
        ("study smoke --out locked/new", 5, &["locked/new", "Permission denied", "name another place"]),
        ("keygen --bits 512 --insecure-size --out locked/new", 5, &["locked/new", "Permission denied", "name another place"]),
        ("keygen --bits 512 --insecure-size --count 2 --out locked/new", 5, &["locked/new", "Permission denied", "name another place"]),
        ("report good --out locked", 5, &["locked", "Permission denied", "name another place"]),
    ];
    // Permissions mean nothing to root, so that somebody else must type it.
    let is_root = rustix::process::geteuid().is_root();
    let rsalab = here.path().join("rsalab");
    link_program(&program(), &rsalab);
    set_mode(&rsalab, 0o755);
    set_mode(&here.path().join("good"), 0o755);
    set_mode(&here.path().join("good/study.db"), 0o644);
    const NOBODY: u32 = 65_534;
    for (typed, code, words) in rows {
        let before = tree(here.path());
        let mut command = Command::new(&rsalab);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let output = command
            .current_dir(here.path())
            .args(split(typed.as_bytes()))
            .output()
            .expect("the program starts");
        judge(&output, *code, words)
            .and_then(|()| compare(&before, &tree(here.path())))
            .unwrap_or_else(|what| panic!("{typed}: {what}"));
    }
    set_mode(&locked, 0o755);

    // A medium that is read-only refuses root, too.
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("study smoke --out disk/new", 5, &["disk/new", "Read-only", "can be written to"]),
        ("resume disk/good", 5, &["disk/good", "Read-only", "can be written to"]),
        ("report disk/good", 5, &["disk/good", "read-only", "can be written to"]),
        ("keygen --bits 512 --insecure-size --out disk/new", 5, &["disk/new", "Read-only", "can be written to"]),
        ("keygen --bits 512 --insecure-size --count 2 --out disk/new", 5, &["disk/new", "Read-only", "can be written to"]),
    ];
    for (typed, code, words) in rows {
        let prepare = "cp -a good disk/ && mount -o remount,ro disk";
        let Some((output, _)) = on_a_disk(here.path(), "10m", prepare, typed) else {
            return;
        };
        judge(&output, *code, words).unwrap_or_else(|what| panic!("{typed}: {what}"));
    }
}

#[test]
fn full_disks() {
    let here = folder();
    study_key(here.path(), 512);
    finished_study(here.path(), "good");
    write(here.path(), "text", [b'a'; 10_000]);
    fs::create_dir(here.path().join("disk")).expect("the folder can be written to");
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("study smoke --out disk/new/study", 5, &["disk/new/study", "make room"]),
        ("keygen --bits 512 --insecure-size --out disk/key --public-out disk/public", 5, &["disk/", "make room"]),
        ("text-encrypt --quiet --key public.pem text --out disk/new", 5, &["disk/new", "make room"]),
    ];
    for (typed, code, words) in rows {
        let Some((output, left)) = on_a_disk(here.path(), "4k", "true", typed) else {
            return;
        };
        judge(&output, *code, words)
            .and_then(|()| compare(&BTreeMap::new(), &tree(left.path())))
            .unwrap_or_else(|what| panic!("{typed}: {what}"));
    }
    let typed = "report good --out disk";
    if let Some((output, left)) = on_a_disk(here.path(), "8k", "true", typed) {
        judge(&output, 5, &["disk/", "make room"]).unwrap_or_else(|what| panic!("{typed}: {what}"));
        assert!(!left.path().join("report.html").exists(), "half a report");
    }

    // Wherever the disk is full, what is stored is complete, and the study continues where there is space.
    let mut stopped_at = Vec::new();
    for size in ["56k", "64k", "100k", "160k", "220k", "300k", "420k"] {
        let typed = "study smoke --quiet --engines own,textbook --out disk/study";
        let Some((output, left)) = on_a_disk(here.path(), size, "true", typed) else {
            return;
        };
        judge(&output, 5, &["disk/study", "make room"])
            .or_else(|_| {
                judge(
                    &output,
                    5,
                    &[
                        "disk/study",
                        "what was stored before is safe",
                        "rsalab resume disk/study",
                    ],
                )
            })
            .or_else(|_| {
                judge(
                    &output,
                    5,
                    &["disk/study", "the measurements are safe", "rsalab report disk/study"],
                )
            })
            .unwrap_or_else(|what| panic!("{size}: {what}"));
        let study = left.path().join("study");
        if !study.exists() {
            continue;
        }
        let before = blocks(&study);
        assert_done(&run(left.path(), ["resume", "study", "--quiet"]));
        let after = blocks(&study);
        assert!(
            before.iter().all(|block| after.contains(block)),
            "{size}: a block was lost"
        );
        stopped_at.push(before.len());
    }
    stopped_at.dedup();
    assert!(stopped_at.len() > 2, "{stopped_at:?}");
}

/// The outcome of a command in a folder where `disk` is a file system of that size of its own, and what is on it
/// afterwards. None, with a visible note, where this cannot be had.
fn on_a_disk(here: &Path, size: &str, prepare: &str, typed: &str) -> Option<(Output, tempfile::TempDir)> {
    const NO_DISK: i32 = 99;
    let script = format!(
        "mkdir -p disk && mount -t tmpfs -o size={size} tmpfs disk && {{ {prepare}; }} || exit {NO_DISK}
         left=$1; shift; \"$@\"; code=$?; cp -a disk/. \"$left\"; exit $code"
    );
    let left = folder();
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .arg(left.path())
        .arg(program())
        .args(split(typed.as_bytes()))
        .current_dir(here)
        .output();
    match output {
        Ok(output) if output.status.code() != Some(NO_DISK) && is_of_ours(&output) => Some((output, left)),
        _ => {
            eprintln!("SKIPPED: no small or read-only disk can be had here, since that takes 'unshare' and 'mount'");
            None
        }
    }
}

/// Returns whether the program was reached, rather than refused a place to run in.
fn is_of_ours(output: &Output) -> bool {
    !String::from_utf8_lossy(&output.stderr).contains("unshare:")
}
