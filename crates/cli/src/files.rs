//! Files that a user names: read within limits, made whole or not at all.

use std::{
    fs::{File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::Builder;

use crate::exit::{Class, Failure};

/// Who may read a file that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Its owner only.
    Private,
    /// Whoever the umask allows.
    Public,
}

impl Privacy {
    fn permissions(self) -> Permissions {
        Permissions::from_mode(match self {
            Privacy::Private => 0o600,
            Privacy::Public => 0o666,
        })
    }
}

/// Whether a path stands for standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The whole of a file, or of standard input if there is none.
pub(crate) fn read(path: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    match path.filter(|path| !is_dash(path)) {
        Some(path) => File::open(path)
            .and_then(|mut file| file.read_to_end(&mut bytes))
            .map_err(|error| Failure::io(format!("cannot read {}", path.display()), error))?,
        None => io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| Failure::io("cannot read standard input", error))?,
    };
    Ok(bytes)
}

/// Fails early if a file could not be made, before the work that would fill it.
pub(crate) fn check_absent(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_ok() {
        return Err(exists(path));
    }
    let folder = folder_of(path);
    match folder.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(cannot_make(path, io::ErrorKind::NotADirectory.into())),
        Err(error) => Err(cannot_make(path, error)),
    }
}

/// Makes a file that does not exist yet. Whatever happens, it is there whole or not at all: the bytes are on the disk
/// under another name before the file gets its own.
pub(crate) fn create(path: &Path, bytes: &[u8], privacy: Privacy) -> Result<(), Failure> {
    let folder = folder_of(path);
    let draft = Builder::new()
        .prefix(".rsalab-")
        .permissions(privacy.permissions())
        .tempfile_in(&folder)
        .and_then(|mut draft| {
            draft.write_all(bytes)?;
            draft.as_file().sync_all()?;
            Ok(draft)
        })
        .map_err(|error| cannot_make(path, error))?;
    draft
        .persist_noclobber(path)
        .map_err(|refused| match refused.error.kind() {
            io::ErrorKind::AlreadyExists => exists(path),
            _ => cannot_make(path, refused.error),
        })?;
    // The name itself must reach the disk too.
    File::open(&folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| cannot_make(path, error))
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

fn exists(path: &Path) -> Failure {
    Failure::new(Class::Io, format!("{} exists already", path.display()))
        .advice("name another file: nothing is overwritten")
}

fn cannot_make(path: &Path, error: io::Error) -> Failure {
    Failure::io(format!("cannot make {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_private_and_never_overwritten() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("key");
        create(&path, b"first", Privacy::Private).expect("the folder is empty");
        let mode = path.metadata().expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let refused = create(&path, b"second", Privacy::Private).expect_err("it exists");
        assert_eq!(refused.class(), Class::Io);
        assert_eq!(std::fs::read(&path).expect("it is there"), b"first");
        assert!(check_absent(&path).is_err());
        let left = folder.path().read_dir().expect("it is a folder").count();
        assert_eq!(left, 1, "no draft may be left behind");
    }
}
