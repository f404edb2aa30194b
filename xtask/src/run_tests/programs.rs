//! The programs that Cargo builds for tests.

use std::{
    collections::HashSet,
    env,
    io::{BufReader, Read},
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use cargo_metadata::{Artifact, Message, TargetKind};

use super::side_by_side::{Job, Kind};

/// Builds with `cargo test --no-run` and the arguments given, and returns the programs. Those whose tests start a
/// program of their package come first: they wait for it, and others run meanwhile.
pub(crate) fn build(build: &[String], run: &[String], threads: usize) -> Result<Vec<Job>> {
    let mut cargo = cargo()
        .args(["test", "--no-run", "--message-format=json-render-diagnostics"])
        .args(build)
        .stdout(Stdio::piped())
        .spawn()
        .context("cargo cannot be started")?;
    let output = cargo.stdout.take().context("cargo has no output")?;
    let programs = programs_in(output)?;
    ensure!(cargo.wait()?.success(), "cargo test --no-run failed");
    Ok(programs.iter().map(|program| job(program, run, threads)).collect())
}

/// The examples in the documentation of the same packages.
pub(crate) fn doctests(build: &[String]) -> Job {
    let mut command = cargo();
    command.args(["test", "--doc"]).args(build);
    Job {
        name: "examples in documentation".to_owned(),
        command,
        kind: Kind::Doctests,
    }
}

/// The Cargo that runs this program.
fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

fn programs_in(messages: impl Read) -> Result<Vec<Artifact>> {
    let mut programs: Vec<Artifact> = Vec::new();
    let mut with_programs = HashSet::new();
    for message in Message::parse_stream(BufReader::new(messages)) {
        match message? {
            // With `--bins` Cargo builds also those of which the manifest says that they have no tests.
            Message::CompilerArtifact(artifact)
                if artifact.profile.test && artifact.executable.is_some() && artifact.target.test =>
            {
                programs.push(artifact);
            }
            Message::CompilerArtifact(artifact) if artifact.target.is_bin() => {
                with_programs.insert(artifact.package_id);
            }
            Message::TextLine(line) => println!("{line}"),
            _ => {}
        }
    }
    let starts_one = |test: &Artifact| test.target.is_test() && with_programs.contains(&test.package_id);
    // Cargo's order is another one each time.
    programs.sort_by_key(|test| (!starts_one(test), name(test)));
    Ok(programs)
}

/// The name of a program for a reader: the package, and the target unless that says the same.
fn name(program: &Artifact) -> String {
    let target = &program.target;
    let is = |kind| target.kind.contains(&kind);
    let folder = program.manifest_path.parent();
    let package = folder.and_then(|folder| folder.file_name()).unwrap_or("?");
    if is(TargetKind::Test) {
        format!("{package} tests/{}", target.name)
    } else if is(TargetKind::Bin) || is(TargetKind::Example) {
        format!("{package} unit tests of {}", target.name)
    } else {
        format!("{package} unit tests")
    }
}

/// Returns what `cargo test` would start, with times of each test.
fn job(program: &Artifact, run: &[String], threads: usize) -> Job {
    let executable = program.executable.as_ref().expect("it was chosen by that");
    let folder = program.manifest_path.parent().map(|folder| folder.as_std_path());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let mut command = Command::new(executable);
    for (variable, _) in env::vars_os() {
        // Of this program's own package.
        if variable.to_str().is_some_and(|name| name.starts_with("CARGO_PKG_")) {
            command.env_remove(variable);
        }
    }
    // The test harness prints times only where it is told that unstable options may be used.
    command
        .current_dir(folder)
        .env("CARGO_MANIFEST_DIR", folder)
        .env("RUSTC_BOOTSTRAP", "1")
        .args(["-Z", "unstable-options", "--report-time", "--show-output"])
        // With one thread the harness prints a name before the test's own output, and its result after it.
        .arg(format!("--test-threads={}", threads.max(2)))
        .args(run);
    Job {
        name: name(program),
        command,
        kind: Kind::Program {
            threads,
            is_filtered: !run.is_empty(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = concat!(
        r#"{"reason":"compiler-artifact","package_id":"path+file:///r/crates/rsa#rsalab-rsa@0.1.0","manifest_path":"/r/crates/rsa/Cargo.toml","target":{"kind":["lib"],"crate_types":["lib"],"name":"rsalab_rsa","src_path":"/r/crates/rsa/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true},"profile":{"opt_level":"2","debuginfo":0,"debug_assertions":true,"overflow_checks":true,"test":false},"features":[],"filenames":["/r/target/debug/librsalab_rsa.rlib"],"executable":null,"fresh":true}"#,
        "\n",
        r#"{"reason":"compiler-artifact","package_id":"path+file:///r/crates/rsa#rsalab-rsa@0.1.0","manifest_path":"/r/crates/rsa/Cargo.toml","target":{"kind":["lib"],"crate_types":["lib"],"name":"rsalab_rsa","src_path":"/r/crates/rsa/src/lib.rs","edition":"2024","doc":true,"doctest":true,"test":true},"profile":{"opt_level":"2","debuginfo":0,"debug_assertions":true,"overflow_checks":true,"test":true},"features":[],"filenames":["/r/target/debug/deps/rsalab_rsa-1"],"executable":"/r/target/debug/deps/rsalab_rsa-1","fresh":true}"#,
        "\n",
        r#"{"reason":"compiler-artifact","package_id":"path+file:///r/crates/rsa#rsalab-rsa@0.1.0","manifest_path":"/r/crates/rsa/Cargo.toml","target":{"kind":["test"],"crate_types":["bin"],"name":"library","src_path":"/r/crates/rsa/tests/library/main.rs","edition":"2024","doc":false,"doctest":false,"test":true},"profile":{"opt_level":"2","debuginfo":0,"debug_assertions":true,"overflow_checks":true,"test":true},"features":[],"filenames":["/r/target/debug/deps/library-2"],"executable":"/r/target/debug/deps/library-2","fresh":true}"#,
        "\n",
        r#"{"reason":"build-finished","success":true}"#,
        "\n",
    );

    #[test]
    fn programs_are_what_was_built_as_tests() {
        let programs = programs_in(MESSAGES.as_bytes()).unwrap();
        let names: Vec<String> = programs.iter().map(name).collect();
        assert_eq!(names, ["rsa tests/library", "rsa unit tests"]);
    }

    #[test]
    fn tests_that_start_their_packages_program_come_first() {
        let of_program = |line: &str, kind: &str| {
            line.replace("rsa", "study")
                .replace(r#"["test"]"#, &format!(r#"["{kind}"]"#))
        };
        let library = MESSAGES.lines().nth(2).unwrap();
        let program = of_program(library, "bin").replace(r#""test":true}"#, r#""test":false}"#);
        let messages = format!("{MESSAGES}{}\n{program}\n", of_program(library, "test"));
        let programs = programs_in(messages.as_bytes()).unwrap();
        let names: Vec<String> = programs.iter().map(name).collect();
        assert_eq!(names, ["study tests/library", "rsa tests/library", "rsa unit tests"]);
    }

    #[test]
    fn a_program_runs_in_the_folder_of_its_package() {
        let programs = programs_in(MESSAGES.as_bytes()).unwrap();
        let job = job(&programs[1], &["keys::".to_owned()], 1);
        assert_eq!(job.command.get_current_dir(), Some(Path::new("/r/crates/rsa")));
        let arguments: Vec<_> = job.command.get_args().collect();
        assert!(arguments.contains(&"--test-threads=2".as_ref()) && arguments.last() == Some(&"keys::".as_ref()));
        assert!(matches!(job.kind, Kind::Program { is_filtered: true, .. }));
    }
}
