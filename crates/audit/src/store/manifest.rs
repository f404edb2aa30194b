//! The contents of a store: its files, and which moduli share a prime.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    process,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{error::AuditError, record::STORE_VERSION as VERSION};

/// Its name in the folder.
pub(super) const FILE: &str = "store.json";
/// No manifest is longer.
const MOST: u64 = 1 << 32;

/// All files of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    rsalab_audit_store: u64,
    /// In the order in which they were added.
    pub(super) files: Vec<Files>,
    /// SHA-256, in hexadecimal, of the moduli that share a prime with another one in the store.
    pub(super) shared: BTreeSet<String>,
}

/// A file of keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Files {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) blocks: u64,
    pub(super) keys: u64,
    pub(super) moduli: u64,
    /// Of the digests of its blocks.
    pub(super) sha256: String,
}

/// The fields that every version has.
#[derive(Deserialize)]
struct AnyVersion {
    rsalab_audit_store: u64,
}

impl Default for Manifest {
    fn default() -> Self {
        Manifest {
            rsalab_audit_store: VERSION,
            files: Vec::new(),
            shared: BTreeSet::new(),
        }
    }
}

impl Manifest {
    pub(super) fn read(folder: &Path) -> Result<Manifest, AuditError> {
        let path = folder.join(FILE);
        let none = || AuditError::NoStore(folder.to_owned());
        let found = fs::metadata(&path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => none(),
            _ => AuditError::at(&path)(error),
        })?;
        if !found.is_file() || found.len() > MOST {
            return Err(none());
        }
        let text = fs::read(&path).map_err(AuditError::at(&path))?;
        let damaged = || AuditError::DamagedStore(folder.to_owned());
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let version: AnyVersion = serde_json::from_slice(line).map_err(|_| none())?;
        if version.rsalab_audit_store != VERSION {
            return Err(AuditError::StoreVersion {
                path: folder.to_owned(),
                version: version.rsalab_audit_store,
            });
        }
        if text != with_digest(line) {
            return Err(damaged());
        }
        let manifest: Manifest = serde_json::from_slice(line).map_err(|_| damaged())?;
        // A name is one of this folder.
        let is_name = |file: &Files| {
            file.name
                .bytes()
                .all(|byte| byte.is_ascii_digit() || b".keys".contains(&byte))
        };
        match manifest.files.iter().all(is_name) {
            true => Ok(manifest),
            false => Err(damaged()),
        }
    }

    pub(super) fn digest(&self) -> [u8; 32] {
        Sha256::digest(serde_json::to_vec(self).unwrap_or_default()).into()
    }

    /// Replaces the manifest of a folder, at once; its name may not be on the disk yet.
    pub(super) fn write(&self, folder: &Path) -> Result<File, AuditError> {
        let path = folder.join(FILE);
        let draft = folder.join(format!(".{FILE}-{}", process::id()));
        let text = serde_json::to_vec(self).map_err(|error| AuditError::at(&path)(error.into()))?;
        let written = File::create(&draft).and_then(|mut file| {
            file.write_all(&with_digest(&text))?;
            file.sync_all()?;
            fs::rename(&draft, &path).map(|()| file)
        });
        written.map_err(|error| {
            let _ = fs::remove_file(&draft);
            AuditError::at(&path)(error)
        })
    }
}

fn with_digest(line: &[u8]) -> Vec<u8> {
    let digest = hex::encode(Sha256::digest(line));
    [line, b"\n", digest.as_bytes(), b"\n"].concat()
}
