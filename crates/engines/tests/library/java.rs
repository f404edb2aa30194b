//! The article's Java application without the laboratory: `multithread_rsa.jar` alone, and `rsa_speed_test.jar` on it.
//!
//! Both are built here, from the sources. That the engine `java` is right is the conformance suite's question
//! (`external`).

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use tempfile::TempDir;

/// Where the application's sources are.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/external/java")
}

/// A folder with the two jars. None, said aloud, where they cannot be built.
fn jars(test: &str) -> Option<TempDir> {
    let javac = Command::new("javac")
        .args(["--release", "17", "-version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if !javac.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: {test}, which needs a JDK of 17 or later");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder for the test");
    done(Command::new("sh").arg(sources().join("jars.sh")).arg(folder.path()));
    Some(folder)
}

/// Returns the output of a program that must not fail.
fn done(command: &mut Command) -> String {
    let output = command.output().expect("it can be started");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).expect("it prints text")
}

#[test]
fn the_package_of_the_threads_is_usable_alone() {
    let Some(folder) = jars("multithread_rsa.jar alone") else {
        return;
    };
    // Out of the way of the other one.
    let alone = tempfile::tempdir().expect("a folder for the test");
    let jar = alone.path().join("multithread_rsa.jar");
    fs::copy(folder.path().join("multithread_rsa.jar"), &jar).expect("it was built");
    let classes = alone.path().join("classes");
    done(
        Command::new("javac")
            .args(["--release", "17", "-Xlint:all", "-Werror", "-classpath"])
            .arg(&jar)
            .arg("-d")
            .arg(&classes)
            .arg(sources().join("test/Alone.java")),
    );
    let paths = std::env::join_paths([&jar, &classes]).expect("they have no separators");
    let said = done(Command::new("java").arg("-classpath").arg(paths).arg("Alone"));
    assert_eq!(said.trim(), "35 round trips");
}

fn speed_test(folder: &TempDir, arguments: &str) -> Output {
    Command::new("java")
        .arg("-jar")
        .arg(folder.path().join("rsa_speed_test.jar"))
        .args(arguments.split_whitespace())
        .output()
        .expect("Java can be started")
}

#[test]
fn the_speed_test_counts_the_threads_down_to_one() {
    let Some(folder) = jars("rsa_speed_test.jar") else {
        return;
    };
    for symbols in [0, 500] {
        let arguments = format!("--threads 3 --bits 512 --symbols {symbols} --repeats 2 --warm-up 0");
        let output = speed_test(&folder, &arguments);
        assert!(output.status.success(), "{output:?}");
        let printed = String::from_utf8(output.stdout).expect("it prints text");
        let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines[0], ["threads", "encryption_ms", "decryption_ms"]);
        let threads: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
        assert_eq!(threads, ["3", "2", "1"]);
        for ms in lines[1..].iter().flat_map(|line| &line[1..]) {
            assert!(ms.parse::<f64>().is_ok_and(|ms| ms > 0.0), "{ms}");
        }
    }
}

#[test]
fn the_speed_test_says_what_is_wrong_with_its_options() {
    let Some(folder) = jars("the options of rsa_speed_test.jar") else {
        return;
    };
    let cases = [
        ("--threads 0", "--threads takes a number from 1 to 1024"),
        ("--threads 1025", "--threads takes a number from 1 to 1024"),
        ("--bits 511", "--bits takes a number from 512"),
        ("--bits 1025", "an even number"),
        ("--symbols -1", "--symbols takes a number from 0"),
        ("--symbols 1e6", "not '1e6'"),
        ("--repeats 0", "--repeats takes a number from 1"),
        ("--repeats", "--repeats needs a number"),
        ("--repeats 1 --repeats 1", "given twice"),
        ("--warm-up 60001", "--warm-up takes a number"),
        ("--thread 8", "no option '--thread'"),
        ("8", "no option '8'"),
    ];
    for (arguments, words) in cases {
        let output = speed_test(&folder, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        assert!(said.contains(words), "{arguments}: {said}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
}
