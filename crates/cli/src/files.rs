//! Files that a user names: read within limits, made whole or not at all.

use std::{
    ffi::OsStr,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

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

/// What is read, in words.
pub(crate) fn name(path: Option<&Path>) -> String {
    match path.filter(|path| !is_dash(path)) {
        Some(path) => path.display().to_string(),
        None => "standard input".to_owned(),
    }
}

/// The whole of a file, or of standard input if there is none; what has more bytes than `most` is refused, and is not
/// read to its end.
pub(crate) fn read(path: Option<&Path>, most: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error| Failure::io(format!("cannot read {}", name(path)), error);
    let too_long = || {
        let what = format!("{} is longer than {most} bytes", name(path));
        Failure::new(Class::Input, what)
            .advice("rsalab holds it in memory and takes no more at once: split it")
    };
    let mut bytes = Vec::new();
    let read = match path.filter(|path| !is_dash(path)) {
        Some(path) => {
            let file = File::open(path).map_err(failed)?;
            // A device or a pipe has no length, and is found out by reading.
            if file.metadata().is_ok_and(|found| found.len() > most) {
                return Err(too_long());
            }
            file.take(most + 1).read_to_end(&mut bytes)
        }
        None => io::stdin().lock().take(most + 1).read_to_end(&mut bytes),
    };
    read.map_err(failed)?;
    match bytes.len() as u64 > most {
        true => Err(too_long()),
        false => Ok(bytes),
    }
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

/// A file that is to be made.
pub(crate) struct NewFile<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: &'a [u8],
    pub(crate) privacy: Privacy,
}

/// Makes files that do not exist yet: all of them, or none. Whatever happens, each is there whole or not at all: the bytes
/// are on the disk under another name before a file gets its own.
pub(crate) fn create(files: &[NewFile<'_>]) -> Result<(), Failure> {
    let drafts: Vec<_> = files
        .iter()
        .map(|file| draft(file.path, file.bytes, file.privacy))
        .collect::<Result<_, _>>()?;
    for (index, (file, draft)) in files.iter().zip(drafts).enumerate() {
        if let Err(refused) = name_draft(draft, file.path) {
            for made in &files[..index] {
                // This program has made it a moment ago, so nothing of the user's is lost.
                let _ = fs::remove_file(made.path);
            }
            return Err(refused);
        }
    }
    for file in files {
        // The name itself must reach the disk too.
        File::open(folder_of(file.path))
            .and_then(|folder| folder.sync_all())
            .map_err(|error| cannot_make(file.path, error))?;
    }
    Ok(())
}

/// What the name of a draft begins with.
const DRAFT: &str = ".rsalab-";

/// Whether a file is a draft that was left behind.
pub(crate) fn is_draft(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(DRAFT.as_bytes())
}

/// A file's bytes on the disk, beside the place where it will get its name; removed when dropped before.
pub(crate) fn draft(path: &Path, bytes: &[u8], privacy: Privacy) -> Result<NamedTempFile, Failure> {
    Builder::new()
        .prefix(DRAFT)
        .permissions(privacy.permissions())
        .tempfile_in(folder_of(path))
        .and_then(|mut draft| {
            draft.write_all(bytes)?;
            draft.as_file().sync_all()?;
            Ok(draft)
        })
        .map_err(|error| cannot_make(path, error))
}

/// Gives a draft its name, which nothing may have yet.
pub(crate) fn name_draft(draft: NamedTempFile, path: &Path) -> Result<(), Failure> {
    match draft.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(refused) => Err(match refused.error.kind() {
            io::ErrorKind::AlreadyExists => exists(path),
            _ => cannot_make(path, refused.error),
        }),
    }
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
        let file = |bytes| NewFile {
            path: &path,
            bytes,
            privacy: Privacy::Private,
        };
        create(&[file(b"first")]).expect("the folder is empty");
        let mode = path.metadata().expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let refused = create(&[file(b"second")]).expect_err("it exists");
        assert_eq!(refused.class(), Class::Io);
        assert_eq!(std::fs::read(&path).expect("it is there"), b"first");
        assert!(check_absent(&path).is_err());
        let other = folder.path().join("other");
        let pair = [
            NewFile {
                path: &other,
                ..file(b"half a pair")
            },
            file(b"second"),
        ];
        assert!(create(&pair).is_err());
        let left = folder.path().read_dir().expect("it is a folder").count();
        assert_eq!(left, 1, "no draft and no half of a pair may be left behind");
    }
}
