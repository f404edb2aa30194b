//! Which engines there are, where each is found, and what brings one that is missing.
//!
//! Those of [`ENGINES`] are known by name, present or not. Beside them, any executable `rsalab-peer-NAME` in the folders
//! that are searched is the engine NAME of a user's own: see `docs/bring-your-own-engine.md`.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    env,
    ffi::OsString,
    fmt, fs,
    path::{Path, PathBuf},
};

use crate::client::Location;

/// An engine that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name: fixed, or that of the program for an engine of the user's own.
    pub name: Cow<'static, str>,
    /// What it is, in a line.
    pub summary: Cow<'static, str>,
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
    /// In a program `rsalab-peer-NAME` that the user has put there.
    External,
}

/// Every engine of this version, in the order in which tables show them.
pub const ENGINES: &[Entry] = &[
    Entry {
        name: Cow::Borrowed("own"),
        summary: Cow::Borrowed("the engine of this project"),
        home: Home::BuiltIn,
    },
    Entry {
        name: Cow::Borrowed("textbook"),
        summary: Cow::Borrowed(
            "binary Montgomery exponentiation as a textbook gives it, in variable time",
        ),
        home: Home::BuiltIn,
    },
    Entry {
        name: Cow::Borrowed("openssl"),
        summary: Cow::Borrowed("OpenSSL 4, built for this machine"),
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-openssl",
        },
    },
    Entry {
        name: Cow::Borrowed("libcrypto"),
        summary: Cow::Borrowed("the libcrypto that the system has, loaded at run time"),
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-libcrypto",
        },
    },
    Entry {
        name: Cow::Borrowed("gmp"),
        summary: Cow::Borrowed("GMP 6.3, built for this CPU: powm, powm_sec"),
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-gmp",
        },
    },
    Entry {
        name: Cow::Borrowed("aws-lc"),
        summary: Cow::Borrowed("AWS-LC, built for this machine"),
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-aws-lc",
        },
    },
    Entry {
        name: Cow::Borrowed("crypto_mb"),
        summary: Cow::Borrowed(
            "Intel's multi-buffer library, eight operations at once, loaded at run time",
        ),
        home: Home::Peer { bring: BRING_IPP },
    },
    Entry {
        name: Cow::Borrowed("ippcp"),
        summary: Cow::Borrowed("Intel's Cryptography Primitives Library, loaded at run time"),
        home: Home::Peer { bring: BRING_IPP },
    },
    Entry {
        name: Cow::Borrowed("cryptopp"),
        summary: Cow::Borrowed("the Crypto++ that the system has"),
        home: Home::Peer {
            bring: "apt-get install libcrypto++-dev && cargo build --release --package rsalab-peer-cryptopp",
        },
    },
    Entry {
        name: Cow::Borrowed("rustcrypto"),
        summary: Cow::Borrowed("RustCrypto's crate rsa: portable Rust"),
        home: Home::Peer {
            bring: "cargo build --release --package rsalab-peer-rustcrypto",
        },
    },
    Entry {
        name: Cow::Borrowed("go"),
        summary: Cow::Borrowed("Go's own crypto/rsa"),
        home: Home::Peer {
            bring: "sh peers/external/go/build.sh",
        },
    },
    Entry {
        name: Cow::Borrowed("java"),
        summary: Cow::Borrowed(
            "article (a)'s Java application: texts on threads of its own, without CRT",
        ),
        home: Home::Peer {
            bring: "sh peers/external/java/build.sh",
        },
    },
    Entry {
        name: Cow::Borrowed("jca"),
        summary: Cow::Borrowed("the RSA of Java's own providers, through the JCA"),
        home: Home::Peer {
            bring: "sh peers/external/jca/build.sh",
        },
    },
    Entry {
        name: Cow::Borrowed("c-openmp"),
        summary: Cow::Borrowed("one C file on OpenMP and the GMP that the system has, without CRT"),
        home: Home::Peer {
            bring: "sh peers/external/c-openmp/build.sh",
        },
    },
    Entry {
        name: Cow::Borrowed("gpu"),
        summary: Cow::Borrowed(
            "the kernels of this project on a graphics processor, or on what else a driver offers",
        ),
        home: Home::BuiltIn,
    },
];

/// The libraries and the two workers that load them.
const BRING_IPP: &str =
    "sh scripts/bring-ipp.sh && cargo build --release --package rsalab-peer-ipp";

/// An engine, and one of its forms if one was asked for: `gmp:powm_sec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selector {
    /// The engine.
    pub engine: Entry,
    /// The form, as [`Job::variant`](crate::Job::variant) takes it.
    pub variant: Option<String>,
}

impl Selector {
    /// Reads `NAME` or `NAME:VARIANT` of an engine of this version. [`Registry::select`] knows the user's own too.
    pub fn parse(text: &str) -> Result<Self, UnknownEngine> {
        Selector::among(ENGINES, text)
    }

    fn among(engines: &[Entry], text: &str) -> Result<Self, UnknownEngine> {
        let (name, variant) = match text.split_once(':') {
            Some((name, variant)) => (name, Some(variant.to_owned())),
            None => (text, None),
        };
        if variant.as_deref() == Some("") {
            return Err(UnknownEngine::new(engines, text));
        }
        match engines.iter().find(|entry| entry.name == name) {
            Some(engine) => Ok(Selector {
                engine: engine.clone(),
                variant,
            }),
            None => Err(UnknownEngine::new(engines, name)),
        }
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => f.pad(&format!("{}:{variant}", self.engine.name)),
            None => f.pad(&self.engine.name),
        }
    }
}

/// A name that no engine has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no engine '{name}'; {advice}")]
pub struct UnknownEngine {
    /// The name given.
    pub name: String,
    /// An engine of nearly that name.
    pub closest: Option<String>,
    /// That name, or all of them.
    advice: String,
}

impl UnknownEngine {
    fn new(engines: &[Entry], name: &str) -> Self {
        let names: Vec<&str> = engines.iter().map(|entry| entry.name.as_ref()).collect();
        let closest = closest(name, names.iter().copied()).map(str::to_owned);
        UnknownEngine {
            name: name.to_owned(),
            advice: match &closest {
                Some(name) => format!("did you mean '{name}'?"),
                None => format!("there are {}", names.join(", ")),
            },
            closest,
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

    /// Every engine of this version, and after them those of the user's own, by name.
    pub fn engines(&self) -> Vec<Entry> {
        let external = self.own_names().into_iter().map(|name| Entry {
            summary: Cow::Owned(format!("an engine of your own: {}", file_of(&name))),
            name: Cow::Owned(name),
            home: Home::External,
        });
        ENGINES.iter().cloned().chain(external).collect()
    }

    /// Reads `NAME` or `NAME:VARIANT` of any of [`Registry::engines`].
    ///
    /// # Errors
    /// A name that none of them has.
    pub fn select(&self, text: &str) -> Result<Selector, UnknownEngine> {
        // Folders are searched only for a name that this version does not know.
        Selector::parse(text).or_else(|_| Selector::among(&self.engines(), text))
    }

    /// The names of executables `rsalab-peer-NAME` that are none of this version's engines.
    fn own_names(&self) -> BTreeSet<String> {
        let files = self
            .folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flat_map(|entries| entries.flatten());
        files
            .filter_map(|file| {
                let path = file.path();
                let name = path
                    .file_name()?
                    .to_str()?
                    .strip_prefix(PROGRAM_PREFIX)?
                    .strip_suffix(env::consts::EXE_SUFFIX)?;
                (is_own_name(name) && is_program(&path)).then(|| name.to_owned())
            })
            .collect()
    }

    /// How to start an engine.
    pub fn locate(&self, entry: &Entry) -> Result<Location, Absent> {
        let location = |program: PathBuf, args: &[&str]| Location {
            engine: entry.name.clone().into_owned(),
            program,
            args: args.iter().map(OsString::from).collect(),
        };
        let bring = match entry.home {
            Home::BuiltIn => {
                let args = ["worker", "--engine", entry.name.as_ref()];
                return Ok(location(self.program.clone(), &args));
            }
            Home::Peer { bring } => bring,
            Home::External => "the steps of docs/bring-your-own-engine.md",
        };
        let file = file_of(&entry.name);
        self.folders
            .iter()
            .map(|folder| folder.join(&file))
            .find(|path| path.is_file())
            .map(|path| location(path, &[]))
            .ok_or_else(|| Absent::NotInstalled {
                engine: entry.name.clone().into_owned(),
                file,
                folders: self.folders.clone(),
                bring,
            })
    }
}

/// What the names of workers' programs begin with.
const PROGRAM_PREFIX: &str = "rsalab-peer-";

/// The program of an engine.
fn file_of(name: &str) -> String {
    format!("{PROGRAM_PREFIX}{name}{}", env::consts::EXE_SUFFIX)
}

/// Whether an engine of the user's own may be called so, and none of this version is: the name is written on command lines,
/// in plans and in tables.
pub(crate) fn is_own_name(name: &str) -> bool {
    const LONGEST: usize = 32;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= LONGEST
        && name.starts_with(is_plain)
        && name.chars().all(|c| is_plain(c) || c == '-' || c == '_')
        && ENGINES.iter().all(|entry| entry.name != name)
}

/// Whether a file is there to be started.
fn is_program(path: &Path) -> bool {
    #[cfg(unix)]
    let may_run = |file: &fs::Metadata| {
        use std::os::unix::fs::PermissionsExt;
        file.permissions().mode() & 0o111 != 0
    };
    #[cfg(not(unix))]
    let may_run = |_: &fs::Metadata| true;
    fs::metadata(path).is_ok_and(|file| file.is_file() && may_run(&file))
}

/// An engine that cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Absent {
    /// Its program is not there.
    #[error("the engine '{engine}' is not installed: there is no {file} in {}; get it with: {bring}", list(.folders))]
    NotInstalled {
        /// The engine.
        engine: String,
        /// The program that was looked for.
        file: String,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
        /// The one command that brings it.
        bring: &'static str,
    },
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
            assert_eq!(Some(selector.engine.name.as_ref()), text.split(':').next());
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
            assert_eq!(error.closest.as_deref(), Some(meant), "{typed}");
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

        let absent = registry.locate(&gmp).unwrap_err();
        let message = absent.to_string();
        assert!(
            message.contains("cargo build --release --package rsalab-peer-gmp"),
            "{message}"
        );
        assert!(message.contains(&bin.display().to_string()), "{message}");

        let Absent::NotInstalled { file, .. } = absent;
        fs::write(prefix.join("bin").join(&file), "").unwrap();
        assert_eq!(
            registry.locate(&gmp).unwrap().program,
            prefix.join("bin").join(&file)
        );
        fs::write(bin.join(&file), "").unwrap();
        assert_eq!(registry.locate(&gmp).unwrap().program, bin.join(&file));
    }

    #[test]
    fn a_built_in_engine_is_this_program() {
        let registry = Registry::new(PathBuf::from("/opt/bin/rsalab"), None);
        let own = registry
            .locate(&Selector::parse("own").unwrap().engine)
            .unwrap();
        assert_eq!(own.program, Path::new("/opt/bin/rsalab"));
        assert_eq!(own.args, ["worker", "--engine", "own"]);
        // Whether there is a device, the worker says.
        let gpu = registry
            .locate(&Selector::parse("gpu").unwrap().engine)
            .unwrap();
        assert_eq!(gpu.args, ["worker", "--engine", "gpu"]);
        // No program of the user's own takes its name.
        assert!(!is_own_name("gpu"));
    }

    #[cfg(unix)]
    #[test]
    fn programs_that_are_well_named_are_engines_of_the_users_own() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let (bin, prefix) = (home.path().join("bin"), home.path().join("prefix"));
        fs::create_dir_all(&bin).unwrap();
        fs::create_dir_all(prefix.join("bin/rsalab-peer-folder")).unwrap();
        let file = |path: PathBuf, mode: u32| {
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        for name in ["mine", "a_2-b"] {
            file(bin.join(file_of(name)), 0o755);
            file(prefix.join("bin").join(file_of(name)), 0o755);
        }
        // None of these is one: a name that is taken, names that are no good, a file that cannot be run, no worker at all.
        for name in [
            "own",
            "gmp",
            "Mine",
            "my engine",
            "mine.d",
            "-mine",
            "",
            &"m".repeat(33),
        ] {
            file(bin.join(file_of(name)), 0o755);
        }
        file(bin.join(file_of("text")), 0o644);
        file(bin.join("peer-mine"), 0o755);

        let registry = Registry::new(bin.join("rsalab"), Some(prefix));
        let engines = registry.engines();
        let (fixed, own) = engines.split_at(ENGINES.len());
        assert_eq!(fixed, ENGINES);
        let names: Vec<&str> = own.iter().map(|entry| entry.name.as_ref()).collect();
        assert_eq!(names, ["a_2-b", "mine"]);

        let selector = registry.select("mine:fast").unwrap();
        assert_eq!(selector.to_string(), "mine:fast");
        let location = registry.locate(&selector.engine).unwrap();
        assert_eq!(location.engine, "mine");
        assert_eq!(location.program, bin.join(file_of("mine")));
        assert_eq!(
            registry.select("mime").unwrap_err().closest.as_deref(),
            Some("mine")
        );
        assert!(registry.select("text").is_err());
    }
}
