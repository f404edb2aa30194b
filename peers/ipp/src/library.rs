//! Intel's libraries, opened for good.

use std::{
    env,
    error::Error,
    ffi::c_void,
    path::{Path, PathBuf},
};

use libloading::Library;
use rsalab_engines::registry;

/// The commands that install the libraries: in the repository, and next to a program that a wheel brought.
const INSTALL: &str = "sh scripts/install-ipp.sh (in an environment of Python: pip install ipp-crypto==2026.2.0 intel-cmplr-lib-rt==2026.2.0)";

/// A library that every way of installing them brings.
const ANY: &str = "libippcp.so.13";

/// Why there is no engine here, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Absent {
    /// There is no such file.
    #[error("there is no {}; get it with: {INSTALL}", .0.display())]
    NotInstalled(PathBuf),
    /// The loader refused the library, or one that it needs.
    #[error("{} cannot be loaded: {reason}", path.display())]
    NotLoaded {
        /// The library.
        path: PathBuf,
        /// The loader's words.
        reason: String,
    },
    /// Another version than the one that the functions were declared for.
    #[error("{} has no function {function}; get the version that is known with: {INSTALL}", path.display())]
    Lacks {
        /// The library.
        path: PathBuf,
        /// The function.
        function: &'static str,
    },
    /// It runs, but not on this CPU.
    #[error("{0}")]
    NotOnThisCpu(String),
}

/// The folder with the libraries, the first of these:
///
/// 1. `ipp/lib` next to the worker's program;
/// 2. `lib` in the prefix into which the worker [was installed](registry::installation), where pip puts what Intel's
///    wheels bring;
/// 3. `ipp/lib` in one of the [prefixes](registry::prefixes), which `scripts/install-ipp.sh` fills.
///
/// Where there is none, the last place where it could be.
///
/// # Errors
/// There is no such place: the system does not say where the program is, and there are no prefixes.
pub fn folder() -> Result<PathBuf, Absent> {
    let filled = |root: &Path| root.join("ipp").join("lib");
    let program = env::current_exe().ok();
    let next_to_it = program.as_deref().and_then(Path::parent).map(filled);
    let installation = program.as_deref().and_then(registry::installation);
    let by_pip = installation.map(|prefix| prefix.join("lib"));
    let prefixes: Vec<PathBuf> = registry::prefixes().iter().map(|prefix| filled(prefix)).collect();

    let is_folder = |folder: &&PathBuf| folder.is_dir();
    let found = next_to_it
        .as_ref()
        .filter(is_folder)
        // Every installation has a folder of that name.
        .or(by_pip.as_ref().filter(|folder| folder.join(ANY).is_file()))
        .or(prefixes.iter().find(is_folder));
    let last = by_pip.as_ref().or(prefixes.last()).or(next_to_it.as_ref());
    let folder = found.or(last).cloned();
    folder.ok_or_else(|| Absent::NotInstalled(Path::new("ipp").join("lib")))
}

/// A library that is open for as long as the process lives.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    library: &'static Library,
}

impl Opened {
    /// Opens `file` of the folder, and before it those that it needs: an open library satisfies by its name whoever
    /// needs it, so that no search path has to be set. A needed file that the folder lacks is the system's.
    pub(crate) fn open(folder: &Path, file: &str, needed: &[&str]) -> Result<Self, Absent> {
        let path = folder.join(file);
        if !path.is_file() {
            return Err(Absent::NotInstalled(path));
        }
        for name in needed {
            let ours = folder.join(name);
            load(if ours.is_file() { &ours } else { Path::new(name) })?;
        }
        Ok(Opened {
            library: load(&path)?,
            path,
        })
    }

    /// The address of a function.
    pub(crate) fn function(&self, name: &'static str) -> Result<*const c_void, Absent> {
        // SAFETY: the symbol is taken as an address only.
        unsafe { self.library.get::<*const c_void>(name) }
            .map(|symbol| *symbol)
            .map_err(|_| Absent::Lacks {
                path: self.path.clone(),
                function: name,
            })
    }
}

/// Libraries are never closed: their functions are called until the process ends.
fn load(path: &Path) -> Result<&'static Library, Absent> {
    // SAFETY: loading runs the library's initialisers, which may run at any time; that the files of the prefix are
    // Intel's was checked by their hashes when they were fetched.
    match unsafe { Library::new(path) } {
        Ok(library) => Ok(Box::leak(Box::new(library))),
        Err(error) => Err(Absent::NotLoaded {
            path: path.to_owned(),
            // libloading keeps the loader's words behind its own.
            reason: error.source().map_or_else(|| error.to_string(), ToString::to_string),
        }),
    }
}

/// Declares a table of C functions, filled by name from an opened library.
macro_rules! functions {
    (
        $(#[$doc:meta])*
        $table:ident { $(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty;)* }
    ) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($arg: $type),*) -> $result,)*
        }

        impl $table {
            /// # Safety
            ///
            /// The library's functions of these names have the signatures declared here.
            pub(crate) unsafe fn of(library: &crate::library::Opened) -> Result<Self, crate::library::Absent> {
                Ok($table {
                    $($name: {
                        let address = library.function(stringify!($name))?;
                        // SAFETY: a function pointer has the size of a data pointer here; the signature is the caller's
                        // promise.
                        unsafe { std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($arg: $type),*) -> $result>(address) }
                    },)*
                })
            }
        }
    };
}
pub(crate) use functions;

/// A string of a library's.
///
/// # Safety
///
/// `text` is null or a NUL-terminated string that is never freed nor written to.
pub(crate) unsafe fn static_text(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null; the rest is the caller's promise.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_reported_with_the_command_that_installs_it() {
        let absent = Opened::open(Path::new("nowhere"), "libippcp.so.13", &[]).unwrap_err();
        assert_eq!(
            absent,
            Absent::NotInstalled(Path::new("nowhere").join("libippcp.so.13"))
        );
        assert!(absent.to_string().ends_with(INSTALL), "{absent}");
        // Both commands bring the version that the functions were declared for.
        let script = include_str!("../../../scripts/install-ipp.sh");
        let version = script.lines().find_map(|line| line.strip_prefix("version=")).unwrap();
        assert_eq!(INSTALL.matches(&format!("=={version}")).count(), 2, "{INSTALL}");
    }

    #[test]
    fn a_file_that_is_no_library_is_reported_in_the_loaders_words() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let absent = Opened::open(folder, "Cargo.toml", &[]).unwrap_err();
        assert!(
            matches!(&absent, Absent::NotLoaded { path, reason } if path.ends_with("Cargo.toml") && !reason.is_empty()),
            "{absent}"
        );
    }
}
