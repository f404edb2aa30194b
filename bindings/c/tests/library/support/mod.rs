//! The library that Cargo built for these tests, installed into a folder of their own; and programs of the system.

pub(crate) mod composite;
pub(crate) mod vectors;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// This package.
pub(crate) const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// The library as users have it: under a prefix, with its file for pkg-config.
pub(crate) struct Installed {
    folder: PathBuf,
    temporary: Option<tempfile::TempDir>,
}

impl Installed {
    /// Into a folder that goes with it.
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let mut installed = Installed::into(temporary.path());
        installed.temporary = Some(temporary);
        installed
    }

    /// Into a folder that stays.
    pub(crate) fn into(folder: &Path) -> Self {
        // Cargo leaves the library next to the tests.
        let test = env::current_exe().unwrap();
        let mut install = Command::new("sh");
        install.arg(Path::new(HERE).join("install.sh"));
        install.arg(folder.join("prefix"));
        install.arg(test.parent().unwrap());
        run(&mut install);
        Installed {
            folder: folder.to_owned(),
            temporary: None,
        }
    }

    /// For what a test makes.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn lib(&self) -> PathBuf {
        self.folder().join("prefix/lib")
    }

    /// A command that finds the library through pkg-config, and the system's linker through its path.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("PKG_CONFIG_PATH", self.lib().join("pkgconfig"));
        command.env("LD_LIBRARY_PATH", self.lib());
        command.env("DYLD_LIBRARY_PATH", self.lib());
        command.current_dir(self.folder());
        command
    }

    /// The answer of pkg-config.
    pub(crate) fn pkg_config(&self, options: &[&str]) -> Vec<String> {
        let mut command = self.command("pkg-config");
        let said = run(command.args(options).arg("rsalab"));
        said.split_whitespace().map(str::to_owned).collect()
    }
}

/// Runs a command that must succeed, and returns what it prints.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// `true` if a program is there. A test that needs one that is not says so on standard error.
pub(crate) fn has(program: &str, argument: &str, what_for: &str) -> bool {
    let mut command = Command::new(program);
    command.arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = command.status().is_ok_and(|status| status.success());
    if !is_there {
        eprintln!("SKIPPED: {what_for}: no {program} here");
    }
    is_there
}
