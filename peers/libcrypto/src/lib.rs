//! OpenSSL's libcrypto as this system has it, loaded at run time, as the engine `libcrypto`.
//!
//! What is done with it is in [`rsalab_peer_evp`]; this crate finds the library, opens it, and makes the worker
//! `rsalab-peer-libcrypto`. It builds where no OpenSSL is installed, and then says at run time what is missing.
//! `NOTES.md` says which versions were tried.
//!
//! A job may name another library by its path, as the variant of the engine:
//! `libcrypto:/opt/openssl/lib/libcrypto.so.3`.

mod find;
mod v1_0_2;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Mutex, PoisonError},
};

use rsalab_engines::{Engine, EngineError, EngineInfo, Job, Ledger, Prepared, Reason, Runner, StudyKey, ensure};
use rsalab_peer_evp::{EvpEngine, Libcrypto, MissingFunction, NotSupported};

/// The environment variable that names the library; the argument `--library` goes before it.
pub const LIBRARY_VARIABLE: &str = "RSALAB_LIBCRYPTO";

/// The system's libcrypto, and whichever others jobs name.
#[derive(Debug)]
pub struct LibcryptoEngine {
    default: EvpEngine,
    /// Open for as long as the process lives, as libraries are.
    by_path: Mutex<BTreeMap<String, &'static EvpEngine>>,
}

impl LibcryptoEngine {
    /// The engine, on the library of a path or else on the newest that the loader finds by name.
    pub fn new(library: Option<&Path>) -> Result<Self, Absent> {
        Ok(Self {
            default: load(library)?,
            by_path: Mutex::default(),
        })
    }

    /// The library that the job names, or the default.
    fn library(&self, job: &Job) -> Result<&EvpEngine, Reason> {
        let Some(path) = &job.variant else {
            return Ok(&self.default);
        };
        ensure!(
            path.contains('/'),
            "the variant of libcrypto is the path of a library, which '{path}' is not"
        );
        // What another thread left behind when it panicked is still a map of open libraries.
        let mut by_path = self.by_path.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = by_path.get(path) {
            return Ok(open);
        }
        let library = load(Some(Path::new(path))).map_err(|absent| Reason(absent.to_string()))?;
        let library: &'static EvpEngine = Box::leak(Box::new(library));
        by_path.insert(path.clone(), library);
        Ok(library)
    }
}

impl Engine for LibcryptoEngine {
    fn info(&self) -> EngineInfo {
        self.default.info()
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        self.library(job)?.supports(&without_form(job))
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        let library = self.library(job).map_err(EngineError::Unsupported)?;
        let prepared = library.prepare(&without_form(job), keys)?;
        Ok(match job.variant {
            None => prepared,
            Some(_) => Box::new(OfVersion {
                prepared,
                version: library.info().version,
            }),
        })
    }
}

fn without_form(job: &Job) -> Job {
    Job {
        variant: None,
        ..job.clone()
    }
}

/// A job on another library than the one that the engine's own version names: the kernel names its version.
struct OfVersion<'a> {
    prepared: Box<dyn Prepared + 'a>,
    version: String,
}

impl Prepared for OfVersion<'_> {
    fn kernel(&self) -> String {
        format!("{} of {}", self.prepared.kernel(), self.version)
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        self.prepared.runner()
    }
}

fn load(library: Option<&Path>) -> Result<EvpEngine, Absent> {
    let found = match library {
        Some(path) => find::open(path).map_err(|reason| Absent::NotLoaded {
            path: path.display().to_string(),
            reason,
        })?,
        None => find::newest().ok_or(Absent::NotInstalled)?,
    };
    let refused = |reason: String| Absent::NotUsable {
        origin: found.origin.clone(),
        reason,
    };
    let table = found
        .table
        .map_err(|MissingFunction(name)| refused(format!("it lacks the function {name}")))?;
    let library = Libcrypto::new(table).map_err(|reason: NotSupported| refused(reason.to_string()))?;
    Ok(EvpEngine::new("libcrypto", found.origin, library))
}

/// Why there is no engine here, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Absent {
    /// No libcrypto under any usual name.
    #[error(
        "no libcrypto is installed; `apt-get install libssl3` installs one, or name one with --library or {LIBRARY_VARIABLE}"
    )]
    NotInstalled,
    /// The library that was named cannot be loaded.
    #[error("{path} cannot be loaded: {reason}")]
    NotLoaded {
        /// As it was named.
        path: String,
        /// The loader's words.
        reason: String,
    },
    /// It was loaded, and is none that can be measured.
    #[error("{origin} cannot be used: {reason}")]
    NotUsable {
        /// The library's file.
        origin: String,
        /// The reason.
        reason: String,
    },
}
