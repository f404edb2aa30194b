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

#[test]
fn the_package_for_go() {
    let Some(go) = go() else {
        eprintln!("SKIPPED: the library from Go: no Go 1.24 or later here");
        return;
    };
    // cgo needs both.
    if !has("cc", "--version", "the library from Go") || !has("pkg-config", "--version", "the library from Go") {
        return;
    }
    // Go keeps the path of the library with what it compiled: both stay, and stay together.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("go");
    let installed = Installed::into(&folder);
    let command = |arguments: &[&str]| {
        let mut command = installed.command(&go);
        command.env("CGO_ENABLED", "1").env("GOTOOLCHAIN", "local");
        command.env("GOFLAGS", "-buildvcs=false");
        command.env("GOCACHE", folder.join("cache"));
        command.current_dir(Path::new(HERE).join("../go"));
        command.args(arguments);
        command
    };
    run(&mut command(&["vet", "./..."]));
    let said = run(&mut command(&["test", "-count=1", "-v", "./..."]));
    println!("{said}");
    for test in [
        "TestServer",
        "TestHandshakesShareAPass",
        "TestSignaturesAreVerifiedByGo",
        "TestErrorsRepeatNoKey",
    ] {
        assert!(said.contains(&format!("--- PASS: {test}")), "{test} did not run");
    }
}
