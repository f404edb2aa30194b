//! Files that a user names: read within limits, made whole or not at all.
//!
//! A file that is made has no name until all of it is on the disk, so that a process that is killed leaves nothing
//! behind, and no part of a key. Where the file system has no files without names, a draft has a name that begins with
//! `.rsalab-`.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File, Permissions},
    io::{self, Read, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{OpenOptionsExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rsalab_rsa::hash::Hash;
use rustix::fs::{AtFlags, CWD, OFlags, linkat};
use tempfile::{Builder, NamedTempFile};
use zeroize::Zeroizing;

use crate::{
    exit::{Class, Failure, Result},
    patience::Patient,
    steps,
};

/// Readers that a file which is made may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Privacy {
    /// Its owner only.
    Private,
    /// Whoever the umask allows.
    Public,
}

impl Privacy {
    fn mode(self) -> u32 {
        match self {
            Privacy::Private => 0o600,
            Privacy::Public => 0o666,
        }
    }
}

/// Returns whether a path stands for standard input or output.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an input, in words.
pub(crate) fn name(path: Option<&Path>) -> String {
    match path.filter(|path| !is_dash(path)) {
        Some(path) => path.display().to_string(),
        None => "standard input".to_owned(),
    }
}

/// The whole of a file, or of standard input if there is none. What has more bytes than `most` is refused, and is not
/// read to its end; the caller knows what to advise.
pub(crate) fn read(path: Option<&Path>, most: u64) -> Result<Zeroizing<Vec<u8>>> {
    let (mut source, len) = open(path)?;
    let too_long = || {
        let what = format!("{} is longer than {most} bytes", name(path));
        Failure::new(Class::Input, what)
    };
    // A device or a pipe has no length, and is found out by reading.
    if len.is_some_and(|len| len > most) {
        return Err(too_long());
    }
    let bytes = read_up_to(&mut source, path, most + 1)?;
    match bytes.len() as u64 > most {
        true => Err(too_long()),
        false => {
            note_read(path);
            Ok(bytes)
        }
    }
}

fn note_read(path: Option<&Path>) {
    steps::ended(|| format!("{}: read", name(path)));
}

/// The first bytes of a file, or of standard input: as many as there are, and `most` at most.
pub(crate) fn read_start(path: Option<&Path>, most: u64) -> Result<Zeroizing<Vec<u8>>> {
    let (mut source, _) = open(path)?;
    let bytes = read_up_to(&mut source, path, most)?;
    note_read(path);
    Ok(bytes)
}

/// The digest of a file, or of standard input, however long it is; or the digest that it holds, if it `holds_digest`.
pub(crate) fn digest(path: Option<&Path>, hash: Hash, holds_digest: bool) -> Result<Vec<u8>> {
    if !holds_digest {
        let (source, _) = open(path)?;
        let digest = hash.digest_reader(source).map_err(|error| cannot_read(path, error))?;
        steps::ended(|| format!("{}: read and hashed by {hash}", name(path)));
        return Ok(digest.to_vec());
    }
    let len = hash.digest_len();
    let bytes = read_start(path, 4 * len as u64)?;
    let text = bytes.trim_ascii();
    let are_digits = !text.is_empty() && text.iter().all(u8::is_ascii_hexdigit);
    match (bytes.len() == len, hex::decode(text)) {
        // Digits of a shorter digest may be as many as the bytes of this one.
        (true, _) if !are_digits => Ok(bytes.to_vec()),
        (_, Ok(digest)) if digest.len() == len => Ok(digest),
        _ => {
            let (name, digits) = (name(path), 2 * len);
            let what = format!("{name} is no digest by {hash}, which has {len} bytes, or {digits} hexadecimal digits");
            Err(Failure::new(Class::Input, what)
                .advice("name the function that made it with --hash; or leave out --digest"))
        }
    }
}

/// A file, or standard input, opened for reading, and its length where it has one.
pub(crate) fn open(path: Option<&Path>) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    match path.filter(|path| !is_dash(path)) {
        Some(path) => {
            let file = File::open(path).map_err(|error| cannot_read(Some(path), error))?;
            let found = file.metadata().ok().filter(|found| found.is_file());
            let len = found.map(|found| found.len());
            Ok((Box::new(Patient::new(file)), len))
        }
        None => Ok((Box::new(Patient::new(io::stdin())), None)),
    }
}

/// The next bytes of what was opened: as many as there are, and `most` at most. They may be secret: what held them is
/// wiped where more room is taken, and where reading fails.
pub(crate) fn read_up_to(source: &mut impl Read, path: Option<&Path>, most: u64) -> Result<Zeroizing<Vec<u8>>> {
    const FIRST: u64 = 1 << 16;
    let mut bytes = Zeroizing::new(Vec::with_capacity(most.min(FIRST) as usize));
    loop {
        let room = (bytes.capacity() as u64).min(most) - bytes.len() as u64;
        let read = source.by_ref().take(room).read_to_end(&mut bytes);
        if (read.map_err(|error| cannot_read(path, error))? as u64) < room || bytes.len() as u64 == most {
            return Ok(bytes);
        }
        let mut longer = Zeroizing::new(Vec::with_capacity(2 * bytes.capacity()));
        longer.extend_from_slice(&bytes);
        bytes = longer;
    }
}

fn cannot_read(path: Option<&Path>, error: io::Error) -> Failure {
    Failure::io(format!("cannot read {}", name(path)), error)
}

/// Fails early if a file could not be made, before the work that would fill it.
pub(crate) fn check_absent(path: &Path) -> Result<()> {
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

/// A file that is to be made: where, of which bytes, and for whom.
pub(crate) type NewFile<'a> = (&'a Path, &'a [u8], Privacy);

/// Makes files that do not exist yet: all of them, or none. Whatever happens, each is there whole or not at all: the
/// bytes are on the disk before a file gets its name.
pub(crate) fn create(files: &[NewFile<'_>]) -> Result<()> {
    let drafts: Vec<Draft> = files
        .iter()
        .map(|&(path, bytes, privacy)| Draft::new(path, bytes, privacy))
        .collect::<Result<_, _>>()?;
    let mut made = Vec::with_capacity(files.len());
    for ((path, ..), draft) in files.iter().zip(drafts) {
        match draft.name(path) {
            Ok(named) => made.push(named),
            Err(refused) => {
                for (path, ..) in &files[..made.len()] {
                    // This program has made it a moment ago, so nothing of the user's is lost.
                    let _ = fs::remove_file(path);
                }
                return Err(refused);
            }
        }
    }
    sync_names(files.iter().map(|(path, ..)| *path).zip(&made))?;
    files.iter().for_each(|(path, _, privacy)| note_made(path, *privacy));
    Ok(())
}

fn note_made(path: &Path, privacy: Privacy) {
    let readers = match privacy {
        Privacy::Private => ", readable by its owner only",
        Privacy::Public => "",
    };
    steps::ended(|| format!("{}: made{readers}", path.display()));
}

/// Makes a file that does not exist yet, of what `fill` writes into it, however much that is. It is there whole or not
/// at all.
pub(crate) fn create_from<T>(path: &Path, privacy: Privacy, fill: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let draft = Draft::open(path, privacy).map_err(|error| cannot_make(path, error))?;
    let made = fill(draft.file())?;
    draft.file().sync_all().map_err(|error| cannot_make(path, error))?;
    let named = draft.name(path)?;
    sync_names([(path, &named)].into_iter())?;
    note_made(path, privacy);
    Ok(made)
}

/// Has the names of new files reach the disk, folder by folder.
///
/// A folder that may be written to and not read cannot be opened for that. Its files are synced once more instead,
/// which carries their names along on the journalling file systems of Linux.
pub(crate) fn sync_names<'a>(files: impl Iterator<Item = (&'a Path, &'a File)>) -> Result<()> {
    let mut synced = BTreeSet::new();
    for (path, file) in files {
        let folder = folder_of(path);
        if synced.contains(&folder) {
            continue;
        }
        match File::open(&folder) {
            Ok(opened) => {
                opened.sync_all().map_err(|error| cannot_make(path, error))?;
                synced.insert(folder);
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                file.sync_all().map_err(|error| cannot_make(path, error))?;
            }
            Err(error) => return Err(cannot_make(path, error)),
        }
    }
    Ok(())
}

/// The start of a draft's name, where it must have one.
const DRAFT: &str = ".rsalab-";

/// Returns whether a file is a draft that was left behind.
pub(crate) fn is_draft(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(DRAFT.as_bytes())
}

/// A file's bytes on the disk, where it will get its name; gone when dropped, or when the process ends, before that.
pub(crate) enum Draft {
    /// Nobody sees it.
    Nameless(File),
    /// Where the file system has no files without names.
    Named(NamedTempFile),
}

impl Draft {
    /// Puts bytes on the disk of the folder that `path` names.
    pub(crate) fn new(path: &Path, bytes: &[u8], privacy: Privacy) -> Result<Draft> {
        Draft::open(path, privacy)
            .and_then(|draft| {
                let file = draft.file();
                Patient::new(file).write_all(bytes)?;
                file.sync_all()?;
                Ok(draft)
            })
            .map_err(|error| cannot_make(path, error))
    }

    fn open(path: &Path, privacy: Privacy) -> io::Result<Draft> {
        let folder = folder_of(path);
        if Path::new(DESCRIPTORS).is_dir() {
            let opened = File::options()
                .write(true)
                .mode(privacy.mode())
                .custom_flags(OFlags::TMPFILE.bits() as i32)
                .open(&folder);
            match opened {
                Ok(file) => return Ok(Draft::Nameless(file)),
                // The folder, and not the file system, refuses: a name would not help.
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::PermissionDenied
                            | io::ErrorKind::ReadOnlyFilesystem
                            | io::ErrorKind::StorageFull
                    ) =>
                {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        Builder::new()
            .prefix(DRAFT)
            .permissions(Permissions::from_mode(privacy.mode()))
            .tempfile_in(&folder)
            .map(Draft::Named)
    }

    fn file(&self) -> &File {
        match self {
            Draft::Nameless(file) => file,
            Draft::Named(file) => file.as_file(),
        }
    }

    /// Gives it a name, which nothing may have yet. Whether the name is on the disk is another question:
    /// [`sync_names`].
    pub(crate) fn name(self, path: &Path) -> Result<File> {
        let named = match self {
            Draft::Nameless(file) => {
                let descriptor = Path::new(DESCRIPTORS).join(file.as_raw_fd().to_string());
                linkat(CWD, &descriptor, CWD, path, AtFlags::SYMLINK_FOLLOW)
                    .map(|()| file)
                    .map_err(io::Error::from)
            }
            Draft::Named(draft) => draft.persist_noclobber(path).map_err(|error| error.error),
        };
        named.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(path),
            _ => cannot_make(path, error),
        })
    }
}

/// Where the system lists the files that this process has open: a file without a name gets one from there.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Bytes on the disk that are to take the place of a file, which happens by the draft's name, all at once.
pub(crate) fn replacement(path: &Path, bytes: &[u8], privacy: Privacy) -> io::Result<NamedTempFile> {
    let mut draft = Builder::new()
        .prefix(DRAFT)
        .permissions(Permissions::from_mode(privacy.mode()))
        .tempfile_in(folder_of(path))?;
    Patient::new(draft.as_file_mut()).write_all(bytes)?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// The folder that a path lies in.
pub(crate) fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Something has the name already.
pub(crate) fn exists(path: &Path) -> Failure {
    Failure::about_existing(format!("{} exists already", path.display()))
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
        let file = |bytes: &'static [u8]| (path.as_path(), bytes, Privacy::Private);
        create(&[file(b"first")]).expect("the folder is empty");
        let mode = path.metadata().expect("it was made").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);

        let refused = create(&[file(b"second")]).expect_err("it exists");
        assert_eq!(refused.class(), Class::Io);
        assert_eq!(std::fs::read(&path).expect("it is there"), b"first");
        assert!(check_absent(&path).is_err());
        let other = folder.path().join("other");
        let half = (other.as_path(), &b"half a pair"[..], Privacy::Private);
        let pair = [half, file(b"second")];
        assert!(create(&pair).is_err());
        let left = folder.path().read_dir().expect("it is a folder").count();
        assert_eq!(left, 1, "no draft and no half of a pair may be left behind");
    }

    #[test]
    fn a_file_that_could_not_be_filled_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("table");
        let fill = |mut file: &File, outcome: Result| {
            file.write_all(b"row").expect("there is room");
            outcome
        };
        let broken = Failure::new(Class::Database, "the rest cannot be read");
        let refused = create_from(&path, Privacy::Public, |file| fill(file, Err(broken)));
        assert_eq!(refused.expect_err("it was not filled").class(), Class::Database);
        let left = folder.path().read_dir().expect("it is a folder").count();
        assert_eq!(left, 0);

        create_from(&path, Privacy::Public, |file| fill(file, Ok(()))).expect("the name is free");
        assert_eq!(fs::read(&path).expect("it is there"), b"row");
        let refused = create_from(&path, Privacy::Public, |file| fill(file, Ok(())));
        assert_eq!(refused.expect_err("it exists").class(), Class::Io);
    }

    #[test]
    fn a_draft_shows_in_no_listing() {
        let folder = tempfile::tempdir().expect("a folder for the test");
        let path = folder.path().join("key");
        let draft = Draft::new(&path, b"secret", Privacy::Private).expect("there is room");
        let seen = folder.path().read_dir().expect("it is a folder").count();
        match draft {
            Draft::Nameless(_) => assert_eq!(seen, 0),
            Draft::Named(_) => {
                let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
                let nameless = rustix::fs::open(folder.path(), flags, rustix::fs::Mode::RUSR);
                let can_be_named = Path::new(DESCRIPTORS).is_dir();
                assert!(nameless.is_err() || !can_be_named, "a draft needs no name here");
                eprintln!("SKIPPED: this file system has no files without names");
            }
        }
        draft.name(&path).expect("the name is free");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"secret");
    }
}
