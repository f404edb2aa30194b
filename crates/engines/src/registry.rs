//! Which engines there are, where each is found, and what brings one that is missing.

use std::{
    env,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use crate::client::Location;

/// An engine that this version knows how to start.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The fixed name.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// How it is started.
    pub home: Home,
}

/// Where an engine lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// In `rsalab` itself, which is started again as `rsalab worker --engine NAME`.
    BuiltIn,
    /// In a program of its own, `rsalab-peer-NAME`.
    Peer {
        /// The one command that brings it.
        bring: &'static str,
    },
}

/// Every engine of this version, in the order in which tables show them.
pub const ENGINES: &[Entry] = &[
    Entry {
        name: "own",
        summary: "the engine of this project",
        home: Home::BuiltIn,
    },
    Entry {
        name: "textbook",
        summary: "binary Montgomery exponentiation as a textbook gives it, in variable time",
        home: Home::BuiltIn,
    },
    Entry {
        name: "openssl",
        summary: "OpenSSL 4, built for this machine",
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-openssl",
        },
    },
    Entry {
        name: "libcrypto",
        summary: "the libcrypto that the system has, loaded at run time",
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-libcrypto",
        },
    },
    Entry {
        name: "gmp",
        summary: "GMP 6.3, built for this CPU: powm, powm_sec",
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-gmp",
        },
    },
    Entry {
        name: "aws-lc",
        summary: "AWS-LC, built for this machine",
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-aws-lc",
        },
    },
    Entry {
        name: "crypto_mb",
        summary: "Intel's multi-buffer library, eight operations at once, loaded at run time",
        home: Home::Peer { bring: BRING_IPP },
    },
    Entry {
        name: "ippcp",
        summary: "Intel's Cryptography Primitives Library, loaded at run time",
        home: Home::Peer { bring: BRING_IPP },
    },
    Entry {
        name: "cryptopp",
        summary: "the Crypto++ that the system has",
        home: Home::Peer {
            bring: "apt-get install libcrypto++-dev && cargo build --release --package rsalab-peer-cryptopp",
        },
    },
    Entry {
        name: "rustcrypto",
        summary: "RustCrypto's crate rsa: portable Rust",
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-rustcrypto",
        },
    },
];

/// The libraries and the two workers that load them.
const BRING_IPP: &str =
    "sh scripts/bring-ipp.sh && cargo build --release --package rsalab-peer-ipp";

/// An engine, and one of its forms if one was asked for: `gmp:powm_sec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The engine.
    pub engine: &'static Entry,
    /// The form, as [`Job::variant`](crate::Job::variant) takes it.
    pub variant: Option<String>,
}

impl Selector {
    /// Reads `NAME` or `NAME:VARIANT`.
    pub fn parse(text: &str) -> Result<Self, UnknownEngine> {
        let (name, variant) = match text.split_once(':') {
            Some((name, variant)) => (name, Some(variant.to_owned())),
            None => (text, None),
        };
        if variant.as_deref() == Some("") {
            return Err(UnknownEngine::new(text));
        }
        match ENGINES.iter().find(|entry| entry.name == name) {
            Some(engine) => Ok(Selector { engine, variant }),
            None => Err(UnknownEngine::new(name)),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => f.pad(&format!("{}:{variant}", self.engine.name)),
            None => f.pad(self.engine.name),
        }
    }
}

/// A name that no engine has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine '{name}'; {}", advice(.closest))]
pub struct UnknownEngine {
    /// The name given.
    pub name: String,
    /// An engine of nearly that name.
    pub closest: Option<&'static str>,
}

impl UnknownEngine {
    fn new(name: &str) -> Self {
        UnknownEngine {
            name: name.to_owned(),
            closest: closest(name, ENGINES.iter().map(|entry| entry.name)),
        }
    }
}

fn advice(closest: &Option<&'static str>) -> String {
    match closest {
        Some(name) => format!("did you mean '{name}'?"),
        None => {
            let names: Vec<&str> = ENGINES.iter().map(|entry| entry.name).collect();
            format!("there are {}", names.join(", "))
        }
    }
}

/// The name most like a mistyped one, if any is like it at all.
pub fn closest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const ALIKE: f64 = 0.7;
    let typed = typed.to_lowercase();
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&typed, name), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, name)| name)
}

/// Where workers are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// The program `rsalab`.
    program: PathBuf,
    /// Folders that may hold workers, the first first.
    folders: Vec<PathBuf>,
}

/// The environment variable that names the project's prefix.
pub const PREFIX_VARIABLE: &str = "RSALAB_PREFIX";

/// The folder into which peers are installed that are no system packages: the one that the environment names, or else
/// `prefix` in the working directory.
pub fn prefix() -> PathBuf {
    env::var_os(PREFIX_VARIABLE)
        .filter(|prefix| !prefix.is_empty())
        .map_or_else(|| PathBuf::from("prefix"), PathBuf::from)
}

impl Registry {
    /// Workers beside `program`, then in the folder `bin` of the prefix: the project's ([`prefix`]) if none is given.
    pub fn new(program: PathBuf, prefix: Option<PathBuf>) -> Self {
        let beside = program.parent().map(Path::to_path_buf);
        let prefix = prefix.unwrap_or_else(self::prefix);
        let folders = beside.into_iter().chain([prefix.join("bin")]).collect();
        Registry { program, folders }
    }

    /// For the program that is running, with the project's prefix.
    ///
    /// # Errors
    /// The system's, if it does not tell where the program is.
    pub fn of_this_program() -> std::io::Result<Self> {
        Ok(Registry::new(env::current_exe()?, None))
    }

    /// How to start an engine.
    pub fn locate(&self, entry: &Entry) -> Result<Location, Absent> {
        let location = |program: PathBuf, args: &[&str]| Location {
            engine: entry.name.to_owned(),
            program,
            args: args.iter().map(OsString::from).collect(),
        };
        match entry.home {
            Home::BuiltIn => Ok(location(
                self.program.clone(),
                &["worker", "--engine", entry.name],
            )),
            Home::Peer { bring } => {
                let file = format!("rsalab-peer-{}{}", entry.name, env::consts::EXE_SUFFIX);
                self.folders
                    .iter()
                    .map(|folder| folder.join(&file))
                    .find(|path| path.is_file())
                    .map(|path| location(path, &[]))
                    .ok_or_else(|| Absent {
                        engine: entry.name,
                        file,
                        folders: self.folders.clone(),
                        bring,
                    })
            }
        }
    }
}

/// An engine that is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the engine '{engine}' is not installed: there is no {file} in {}; get it with: {bring}", list(.folders))]
pub struct Absent {
    /// The engine.
    pub engine: &'static str,
    /// The program that was looked for.
    pub file: String,
    /// Where it was looked for.
    pub folders: Vec<PathBuf>,
    /// The one command that brings it.
    pub bring: &'static str,
}

fn list(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders
        .iter()
        .map(|folder| folder.display().to_string())
        .collect();
    names.join(" or ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_selector_reads_back_as_it_was_written() {
        for text in ["own", "gmp:powm_sec", "libcrypto:/usr/lib/libcrypto.so.3"] {
            let selector = Selector::parse(text).unwrap();
            assert_eq!(selector.to_string(), text);
            assert_eq!(Some(selector.engine.name), text.split(':').next());
        }
        assert_eq!(
            format!("{:>8}|", Selector::parse("gmp").unwrap()),
            "     gmp|"
        );
    }

    #[test]
    fn a_mistyped_name_is_answered_with_the_closest() {
        for (typed, meant) in [
            ("opensll", "openssl"),
            ("OpenSSL", "openssl"),
            ("libcripto", "libcrypto"),
            ("text-book", "textbook"),
            ("gnp", "gmp"),
            ("gmp:", "gmp"),
        ] {
            let error = Selector::parse(typed).unwrap_err();
            assert_eq!(error.closest, Some(meant), "{typed}");
            assert!(
                error
                    .to_string()
                    .contains(&format!("did you mean '{meant}'?"))
            );
        }
        let error = Selector::parse("zzzz").unwrap_err();
        assert_eq!(error.closest, None);
        assert!(error.to_string().contains("own, textbook"), "{error}");
    }

    #[test]
    fn a_peer_is_found_beside_the_program_before_the_prefix() {
        let home = tempfile::tempdir().unwrap();
        let (bin, prefix) = (home.path().join("bin"), home.path().join("prefix"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(prefix.join("bin")).unwrap();
        let registry = Registry::new(bin.join("rsalab"), Some(prefix.clone()));
        let gmp = Selector::parse("gmp").unwrap().engine;

        let absent = registry.locate(gmp).unwrap_err();
        let message = absent.to_string();
        assert!(
            message.contains("cargo build --release --package rsalab-peer-gmp"),
            "{message}"
        );
        assert!(message.contains(&bin.display().to_string()), "{message}");

        let file = absent.file;
        fs::write(prefix.join("bin").join(&file), "").unwrap();
        assert_eq!(
            registry.locate(gmp).unwrap().program,
            prefix.join("bin").join(&file)
        );
        fs::write(bin.join(&file), "").unwrap();
        assert_eq!(registry.locate(gmp).unwrap().program, bin.join(&file));
    }

    #[test]
    fn a_built_in_engine_is_this_program() {
        let registry = Registry::new(PathBuf::from("/opt/bin/rsalab"), None);
        let own = registry
            .locate(Selector::parse("own").unwrap().engine)
            .unwrap();
        assert_eq!(own.program, Path::new("/opt/bin/rsalab"));
        assert_eq!(own.args, ["worker", "--engine", "own"]);
    }
}
