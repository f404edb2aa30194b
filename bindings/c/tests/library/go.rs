//! The library from Go: the package in `bindings/go`, against an installation in a temporary folder.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{HERE, Installed, has, run};

/// A Go that is new enough for the package: the one on the path, where Go's own archive goes, or what
/// scripts/install-go.sh installed.
fn go() -> Option<PathBuf> {
    let root = Path::new(HERE).join("../..");
    let prefix = std::env::var_os("RSALAB_PREFIX").map_or(root.join("prefix"), PathBuf::from);
    let candidates = [
        PathBuf::from("go"),
        "/usr/local/go/bin/go".into(),
        prefix.join("go/bin/go"),
    ];
    candidates.into_iter().find(|go| {
        let version = Command::new(go).args(["env", "GOVERSION"]).output();
        let version = version.map_or(String::new(), |output| {
            String::from_utf8_lossy(&output.stdout).into_owned()
        });
        let minor = version
            .trim()
            .strip_prefix("go1.")
            .and_then(|rest| rest.split('.').next());
        minor
            .and_then(|minor| minor.parse::<u32>().ok())
            .is_some_and(|minor| minor >= 24)
    })
}

/// Go's command in the package, against an installation; none where something is missing.
fn package() -> Option<impl Fn(&[&str]) -> Command> {
    let Some(go) = go() else {
        eprintln!("SKIPPED: the library from Go: no Go 1.24 or later here");
        return None;
    };
    // cgo needs both.
    if !has("cc", "--version", "the library from Go") || !has("pkg-config", "--version", "the library from Go") {
        return None;
    }
    // Go keeps the path of the library with what it compiled: both stay, and stay together.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
    let installed = Installed::into(&folder);
    Some(move |arguments: &[&str]| {
        let mut command = installed.command(&go);
        command.env("CGO_ENABLED", "1").env("GOTOOLCHAIN", "local");
        command.env("GOFLAGS", "-buildvcs=false");
        command.env("GOCACHE", folder.join("cache"));
        command.current_dir(Path::new(HERE).join("../go"));
        command.args(arguments);
        command
    })
}

/// Runs the package's tests, and checks that those that matter ran.
fn run_tests(mut test: Command) {
    let said = run(&mut test);
    println!("{said}");
    for test in [
        "TestServer",
        "TestHandshakesShareAPass",
        "TestSignaturesAreVerifiedByGo",
        "TestErrorsRepeatNoKey",
        "TestLoadPrivateKeys",
        "TestNoKeyIsGivenTwice",
        "TestKeyPool",
        "ExampleKeyPool",
    ] {
        assert!(said.contains(&format!("--- PASS: {test} ")), "{test} did not run");
    }
}

/// On a fresh clone Go's library is compiled first, which takes a minute.
#[test]
#[ignore = "long: make test-all"]
fn the_package_for_go() {
    if let Some(command) = package() {
        run(&mut command(&["vet", "./..."]));
        run_tests(command(&["test", "-count=1", "-v", "./..."]));
    }
}

/// Compiles Go's library with the detector. Benchmarks run once, so that they do not rot.
#[test]
#[ignore = "long: make test-all"]
fn the_package_for_go_under_the_race_detector() {
    if let Some(command) = package() {
        run_tests(command(&["test", "-race", "-count=1", "-v", "./..."]));
        let said = run(&mut command(&["test", "-run=^$", "-bench=.", "-benchtime=1x", "./..."]));
        println!("{said}");
        assert!(
            said.contains("BenchmarkLoad/rsalab/rounds=8"),
            "a benchmark did not run"
        );
    }
}
