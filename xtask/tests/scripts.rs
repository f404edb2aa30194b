//! The Makefile and the scripts, as people run them who have settings and folders of their own.
#![cfg(unix)]
#![forbid(unsafe_code)]

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

/// The repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Runs `make` in a folder with a Makefile, unless there is none here.
fn make(folder: &Path, arguments: &[&str]) -> Option<Output> {
    let output = Command::new("make")
        .current_dir(folder)
        .args(arguments)
        // Of a `make` that runs these tests.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .env("CARGO_TARGET_DIR", "/nowhere")
        .output();
    match output {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: make cannot be started: {error}");
            None
        }
    }
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn cargo_builds_where_the_scripts_look_whatever_the_environment_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    makefile += "\nshow:\n\t@echo \"$$CARGO_TARGET_DIR\"\n";
    fs::write(folder.path().join("Makefile"), makefile).unwrap();
    let Some(output) = make(folder.path(), &["show"]) else {
        return;
    };
    let shown = text(&output);
    assert!(shown.trim_end().ends_with("/target"), "{shown}");
}

#[test]
fn a_folder_with_a_space_in_its_name_is_one_word() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("my own");
    fs::create_dir(&folder).unwrap();
    fs::copy(root().join("Makefile"), folder.join("Makefile")).unwrap();
    let Some(output) = make(&folder, &["--dry-run", "deny"]) else {
        return;
    };
    let shown = text(&output);
    assert!(shown.contains("/my own/target/tools\""), "{shown}");
}

#[test]
fn the_readme_names_every_package_that_the_setup_installs() {
    let script = "set -eu; . scripts/engines.sh; engine_needs";
    let output = Command::new("sh").args(["-c", script]).current_dir(root()).output();
    let listed = text(&output.unwrap());
    let needs = listed.lines().filter_map(|line| line.split(' ').nth(1));
    let setup = fs::read_to_string(root().join("scripts/setup.sh")).unwrap();
    // Those that are no engine's: echo COMMAND PACKAGE.
    let own = setup.lines().filter(|line| line.starts_with("missing="));
    let own = own.flat_map(|line| line.split("echo ").skip(1));
    let own = own.filter_map(|words| words.split([' ', ';']).nth(1));
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let is_list = |line: &&str| line.starts_with("gcc ");
    let shown: Vec<&str> = readme.lines().find(is_list).unwrap().split(' ').collect();
    let packages: Vec<&str> = needs.chain(own).collect();
    assert!(packages.len() > 8 && packages.contains(&"gcc"), "{packages:?}");
    for package in packages {
        assert!(shown.contains(&package), "README.md does not name {package}: {shown:?}");
    }
}
