//! The examples of the README that are marked as tested are typed in as they stand there.

use std::{env, fs, path::Path, process::Command};

use crate::support::{folder, program};

/// A block of commands follows this line.
const MARK: &str = "<!-- tested -->\n```sh\n";

#[test]
fn the_examples_of_the_readme_work() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(readme).expect("the README is there");
    let blocks: Vec<&str> = readme
        .split(MARK)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap_or_default())
        .collect();
    assert!(!blocks.is_empty(), "the README marks no example as tested");

    let program = program();
    let beside = program.parent().expect("a program lies in a folder");
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths(
        [beside.to_owned()]
            .into_iter()
            .chain(env::split_paths(&others)),
    )
    .expect("folders without a colon");
    for block in blocks {
        let here = folder();
        let run = Command::new("sh")
            .args(["-eu", "-c", block])
            .current_dir(here.path())
            .env("PATH", &path)
            .output()
            .expect("there is a shell");
        assert!(
            run.status.success(),
            "{block}\n{}",
            String::from_utf8_lossy(&run.stderr)
        );
    }
}
