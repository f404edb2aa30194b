//! The provider that Cargo built for these tests, as OpenSSL finds it, and OpenSSL's command line.

pub(crate) mod crypto;
pub(crate) mod tls;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// A folder with the provider, and a configuration that prefers it.
pub(crate) struct Here {
    folder: tempfile::TempDir,
    /// Of OpenSSL: 3 or 4.
    pub(crate) major: u32,
    /// The answer of `openssl version`.
    version: String,
}

/// The program, which `RSALAB_OPENSSL` may name; its libraries must be those that the dynamic linker finds.
fn program() -> std::ffi::OsString {
    env::var_os("RSALAB_OPENSSL").unwrap_or_else(|| "openssl".into())
}

impl Here {
    /// None where there is no OpenSSL 3 on the path.
    pub(crate) fn new() -> Option<Self> {
        Self::with("")
    }

    /// With lines more in the provider's section of the configuration.
    pub(crate) fn with(settings: &str) -> Option<Self> {
        let version = Command::new(program()).arg("version").output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let is = |major: &u32| {
            let name = format!("OpenSSL {major}.");
            version.as_ref().is_ok_and(|version| version.starts_with(&name))
        };
        let Some(major) = [3, 4].into_iter().find(is) else {
            assert!(
                env::var_os("RSALAB_OPENSSL").is_none(),
                "RSALAB_OPENSSL names a program that is not OpenSSL 3 or 4: {version:?}"
            );
            eprintln!("SKIPPED: there is no OpenSSL 3 command here to load the provider");
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let version = version.unwrap_or_default();
        let here = Here { folder, major, version };
        // Cargo leaves the library next to the tests.
        let test = env::current_exe().expect("a path");
        let built = test.parent().expect("a folder").join("librsalab_provider.so");
        fs::copy(&built, here.path("rsalab.so")).expect("Cargo has built the provider");
        let module = here.path("rsalab.so").display().to_string();
        let example = include_str!("../../../openssl.cnf");
        let installed = "/usr/lib/rsalab/rsalab.so";
        assert!(example.contains(installed));
        let ours = example.replace(installed, &format!("{module}\n{settings}"));
        fs::write(here.path("openssl.cnf"), ours).expect("a file");
        Some(here)
    }

    /// `true` if it is OpenSSL 3.0.
    pub(crate) fn is_3_0(&self) -> bool {
        self.version.starts_with("OpenSSL 3.0.")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// `openssl` with this provider preferred, or without it.
    pub(crate) fn command(&self, with_ours: bool, line: &str) -> Command {
        let mut command = Command::new(program());
        command
            .args(line.split(' '))
            .current_dir(self.folder())
            .stdin(Stdio::null());
        command.env(
            "OPENSSL_CONF",
            match with_ours {
                true => self.path("openssl.cnf"),
                false => PathBuf::from("/dev/null"),
            },
        );
        command
    }

    pub(crate) fn output(&self, with_ours: bool, line: &str) -> Output {
        self.command(with_ours, line).output().expect("openssl runs")
    }

    /// The output of a command that must succeed.
    pub(crate) fn run(&self, with_ours: bool, line: &str) -> String {
        let output = self.output(with_ours, line);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "ours: {with_ours}: openssl {line}: {errors}");
        String::from_utf8_lossy(&output.stdout).into_owned() + &errors
    }
}
