//! Files: those that were named, and those of folders, all the way down.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, Metadata},
    path::{Path, PathBuf},
};

/// Files to be audited.
#[derive(Debug, Default)]
pub struct Inventory {
    pub(crate) entries: Vec<Entry>,
    /// Folders that could not be listed, with the system's words.
    pub(crate) unlisted: Vec<(PathBuf, String)>,
    /// Where the files of the file system are among the entries.
    pub(crate) known: BTreeMap<(u64, u64), usize>,
    /// Names of files that are there under another one already.
    pub(crate) repeated: usize,
}

/// A file, or standard input.
#[derive(Debug)]
pub(crate) struct Entry {
    /// None for standard input.
    pub(crate) path: Option<PathBuf>,
    /// It was named, rather than found in a folder.
    pub(crate) is_named: bool,
    /// Its bytes, where that is known.
    pub(crate) len: Option<u64>,
}

impl Entry {
    /// A file that was read before.
    pub(crate) fn again(&self) -> Entry {
        Entry {
            path: self.path.clone(),
            is_named: self.is_named,
            len: self.len,
        }
    }
}

/// Folders in folders that are followed.
const DEEPEST: usize = 64;

impl Inventory {
    /// The files of paths: files as they are, of folders every file below them, in the order of their names; `-` is
    /// standard input. Folders of version control and drafts of rsalab are left out, and so are further names of a
    /// file, such as links to it. What cannot be listed is a finding of the audit.
    pub fn of(paths: &[impl AsRef<Path>]) -> Inventory {
        let mut inventory = Inventory::default();
        for path in paths {
            let path = path.as_ref();
            if path.as_os_str() == "-" {
                inventory.entries.push(Entry {
                    path: None,
                    is_named: true,
                    len: None,
                });
            } else if path.is_dir() {
                inventory.walk(path, DEEPEST);
            } else {
                inventory.add(path.to_owned(), true);
            }
        }
        inventory
    }

    /// How many files there are.
    pub fn files(&self) -> usize {
        self.entries.len()
    }

    /// How many names were left out since their files are there under another one.
    pub fn repeated(&self) -> usize {
        self.repeated
    }

    /// Their bytes, as far as they are known.
    pub fn bytes(&self) -> u64 {
        self.entries.iter().filter_map(|entry| entry.len).sum()
    }

    /// Returns whether the length of a file is not known before it is read.
    pub fn is_open_ended(&self) -> bool {
        self.entries.iter().any(|entry| entry.len.is_none())
    }

    fn add(&mut self, path: PathBuf, is_named: bool) {
        let found = path.metadata().ok().filter(Metadata::is_file);
        if let Some(identity) = found.as_ref().and_then(identity) {
            let place = *self.known.entry(identity).or_insert(self.entries.len());
            if let Some(entry) = self.entries.get_mut(place) {
                entry.is_named |= is_named;
                self.repeated += 1;
                return;
            }
        }
        self.entries.push(Entry {
            len: found.map(|found| found.len()),
            path: Some(path),
            is_named,
        });
    }

    fn walk(&mut self, folder: &Path, depth: usize) {
        let listed = fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let mut entries = match listed {
            Ok(entries) if depth > 0 => entries,
            Ok(_) => {
                let what = format!("it lies more than {DEEPEST} folders deep");
                return self.unlisted.push((folder.to_owned(), what));
            }
            Err(error) => return self.unlisted.push((folder.to_owned(), error.to_string())),
        };
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (name, path) = (entry.file_name(), entry.path());
            let Ok(kind) = entry.file_type() else {
                self.add(path, false);
                continue;
            };
            // A link to a folder may lead back to where it came from.
            if kind.is_dir() {
                if ![".git", ".hg", ".svn"].contains(&name.to_string_lossy().as_ref()) {
                    self.walk(&path, depth - 1);
                }
            } else if path.is_file() && !name.as_encoded_bytes().starts_with(b".rsalab-") {
                self.add(path, false);
            }
        }
    }
}

/// What tells a file from others, whatever its name is, where the system says that.
#[cfg(unix)]
fn identity(file: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((file.dev(), file.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Returns whether a name promises a key, so that it is a finding if there is none.
pub(crate) fn looks_like_key(name: &str) -> bool {
    const ENDINGS: [&str; 18] = [
        "pem", "key", "der", "crt", "cer", "cert", "csr", "req", "pub", "jwk", "jwks", "p8", "pk8", "p1", "p10",
        "priv", "openssh", "modulus",
    ];
    const NAMES: [&str; 5] = [
        "id_rsa",
        "authorized_keys",
        "authorized_keys2",
        "known_hosts",
        "known_hosts2",
    ];
    let path = Path::new(name);
    let is_one_of = |part: Option<&OsStr>, words: &[&str]| {
        part.is_some_and(|part| words.iter().any(|word| part.eq_ignore_ascii_case(word)))
    };
    is_one_of(path.extension(), &ENDINGS) || is_one_of(path.file_name(), &NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_are_known() {
        for name in [
            "a/key.pem",
            "x.CRT",
            "home/.ssh/authorized_keys",
            "keys.tar:host/id_rsa",
            "id_rsa",
        ] {
            assert!(looks_like_key(name), "{name}");
        }
        for name in ["README.md", "pem", "manifest.jsonl", "a.txt", ""] {
            assert!(!looks_like_key(name), "{name}");
        }
    }

    #[test]
    fn folders_are_walked_in_the_order_of_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/.git")).expect("folders");
        for name in ["b/two.pem", "a.pem", "b/.git/x", "c", ".rsalab-draft"] {
            fs::write(at(name), name).expect("a file");
        }
        std::os::unix::fs::symlink(folder.path(), at("b/loop")).expect("a link");
        // Further names of files: a symbolic link, a hard one, and a path.
        std::os::unix::fs::symlink(at("a.pem"), at("b/1.pem")).expect("a link");
        fs::hard_link(at("a.pem"), at("b/2.pem")).expect("a link");
        let inventory = Inventory::of(&[folder.path().to_owned(), at("c"), "-".into()]);
        let paths: Vec<Option<PathBuf>> = inventory.entries.iter().map(|entry| entry.path.clone()).collect();
        let files = ["a.pem", "b/two.pem", "c"].map(|name| Some(at(name)));
        assert_eq!(paths[..3], files);
        assert_eq!(paths[3..], [None]);
        assert_eq!((inventory.files(), inventory.bytes()), (4, 5 + 9 + 1));
        assert_eq!(inventory.repeated(), 3);
        assert!(inventory.is_open_ended() && inventory.entries[2].is_named && !inventory.entries[1].is_named);
    }
}
