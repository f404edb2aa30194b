//! Which engines there are, where each is found, and what installs one that is missing.
//!
//! | question | file |
//! |---|---|
//! | which engines there are, and how each is built | `engines.toml`, read by `table` |
//! | which engine a user means | `selector` |
//! | where its program is | this one |
//!
//! In addition to those of the table, any executable `rsalab-peer-NAME` in the folders that are searched is the engine
//! NAME of a user's own: see `docs/src/how-to/bring-your-own-engine.md`.

mod selector;
mod table;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

pub use selector::{Selector, UnknownEngine, closest};
pub(crate) use table::is_user_name;
pub use table::{Entry, Home, engines};

/// Where a worker is found and how it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The engine it must say it is.
    pub engine: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments. Never a secret: every user of the machine can read them.
    pub args: Vec<OsString>,
}

/// Where workers are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    /// The program `rsalab`.
    program: PathBuf,
    /// Folders that may hold workers, the first first.
    folders: Vec<PathBuf>,
}

/// The environment variable that names a prefix, when the program is built and when it runs.
pub const PREFIX_VARIABLE: &str = "RSALAB_PREFIX";

/// The prefix that this program was built for: what the variable held then. In the repository that is `prefix` in its
/// root, by `.cargo/config.toml`.
const BUILT_FOR: Option<&str> = option_env!("RSALAB_PREFIX");

/// The folders into which peers are installed that are no system packages, the first to be searched first:
///
/// 1. the prefix that this program was built for;
/// 2. the one that `RSALAB_PREFIX` names now.
///
/// What lies next to the program, and what was [installed](installation) with it, comes before both. The working
/// directory is none of them: whoever can write there could else have any program started.
pub fn prefixes() -> Vec<PathBuf> {
    let named = env::var_os(PREFIX_VARIABLE).filter(|prefix| !prefix.is_empty());
    let (built_for, named) = (BUILT_FOR.map(PathBuf::from), named.map(PathBuf::from));
    search_order(built_for, named)
}

/// The folder below a prefix for programs that other programs start (Filesystem Hierarchy Standard 3.0, 4.7).
const LIBEXEC: &str = "libexec/rsalab";

/// The prefix into which a program was installed: PREFIX of `PREFIX/bin/NAME` and of `PREFIX/libexec/rsalab/NAME`. A
/// wheel puts `rsalab` into the one folder and the workers into the other.
pub fn installation(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    if folder.ends_with("bin") {
        folder.parent()
    } else if folder.ends_with(LIBEXEC) {
        folder.parent()?.parent()
    } else {
        None
    }
}

/// A relative prefix means another folder wherever the program is started: one that was built in is not searched. Who
/// names one now means the folder that it is now.
fn search_order(built_for: Option<PathBuf>, named: Option<PathBuf>) -> Vec<PathBuf> {
    let built_for = built_for.filter(|prefix| prefix.is_absolute());
    let named = named.filter(|prefix| built_for.as_ref() != Some(prefix));
    built_for.into_iter().chain(named).collect()
}

impl Registry {
    /// Workers in the folder of `program`, then in `libexec/rsalab` of its [`installation`], then in the folder `bin`
    /// of each prefix.
    pub fn new(program: PathBuf, prefixes: &[PathBuf]) -> Self {
        let own = program.parent().map(Path::to_path_buf);
        let packaged = installation(&program).map(|prefix| prefix.join(LIBEXEC));
        let installed = prefixes.iter().map(|prefix| prefix.join("bin"));
        let folders = own.into_iter().chain(packaged).chain(installed).collect();
        Registry { program, folders }
    }

    /// For the program that is running, with its [`prefixes`].
    ///
    /// # Errors
    /// The system's, if it does not say where the program is.
    pub fn of_this_program() -> std::io::Result<Self> {
        Ok(Registry::new(env::current_exe()?, &prefixes()))
    }

    /// The folders in which workers are looked for, the first first.
    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// Every engine of this version, and after them those of the user's own, by name.
    pub fn engines(&self) -> Vec<Entry> {
        let users = self.user_names().into_iter().map(|name| Entry {
            summary: format!("an engine of your own: {}", file_of(&name)),
            name,
            home: Home::User,
        });
        engines().iter().cloned().chain(users).collect()
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
    fn user_names(&self) -> BTreeSet<String> {
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
                (is_user_name(name) && is_program(&path)).then(|| name.to_owned())
            })
            .collect()
    }

    /// How to start an engine.
    pub fn locate(&self, entry: &Entry) -> Result<Location, Absent> {
        let location = |program: PathBuf, args: &[&str]| Location {
            engine: entry.name.clone(),
            program,
            args: args.iter().map(OsString::from).collect(),
        };
        let install = match &entry.home {
            Home::BuiltIn => {
                let args = ["worker", "--engine", &entry.name];
                return Ok(location(self.program.clone(), &args));
            }
            Home::Peer { install } => install,
            Home::User => "the steps of docs/src/how-to/bring-your-own-engine.md",
        };
        let file = file_of(&entry.name);
        self.folders
            .iter()
            .map(|folder| folder.join(&file))
            .find(|path| path.is_file())
            .map(|path| location(path, &[]))
            .ok_or_else(|| Absent::NotInstalled {
                engine: entry.name.clone(),
                file,
                folders: self.folders.clone(),
                install: install.to_owned(),
            })
    }
}

/// The beginning of the names of workers' programs.
const PROGRAM_PREFIX: &str = "rsalab-peer-";

/// The program of an engine.
fn file_of(name: &str) -> String {
    format!("{PROGRAM_PREFIX}{name}{}", env::consts::EXE_SUFFIX)
}

/// Returns whether a file is there to be started.
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
    #[error("the engine '{engine}' is not installed: there is no {file} in {}; get it with: {install}", list(.folders))]
    NotInstalled {
        /// The engine.
        engine: String,
        /// The program that was looked for.
        file: String,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
        /// The one command that installs it.
        install: String,
    },
}

fn list(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
    names.join(" or ")
}
