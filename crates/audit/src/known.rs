//! Lists of keys that are known: to be weak, or to whoever made the list.
//!
//! | list | a line |
//! |---|---|
//! | Debian's package openssl-blacklist (CVE-2008-0166) | the last 20 digits of the SHA-1 of the line that `openssl rsa -noout -modulus` prints |
//! | Debian's package openssh-blacklist | the last 20 digits of the MD5 of the key as SSH sends it (RFC 4253, section 6.6) |
//! | fingerprints | 64 digits: SHA-256 of the SubjectPublicKeyInfo, as [`rsalab_rsa::format::fingerprint`] |
//!
//! Lines of all kinds are looked for in every list: that two unlike digests agree is as unlikely as any collision of 80
//! bits.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use md5::Md5;
use rsalab_rsa::{PublicKey, format::fingerprint};
use sha1::{Digest, Sha1};

/// Where the packages put their lists.
const PLACES: [&str; 3] = ["/usr/share/openssl-blacklist", "/usr/share/ssh", "/etc/ssh"];
/// Start of the names of the lists in a folder.
const PREFIX: &str = "blacklist.";
/// The longest list: a million fingerprints.
const MOST_LIST: u64 = 64 << 20;
/// Hexadecimal digits of a line of Debian's.
const DIGITS: usize = 20;

/// Why a list cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListError {
    /// It cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The list, or the folder of lists.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// It is too long.
    #[error("{} is longer than {MOST_LIST} bytes", path.display())]
    TooLong {
        /// The list.
        path: PathBuf,
    },
    /// A folder has none.
    #[error("{} has no lists of keys", path.display())]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// A line is of no such list.
    #[error("line {line} of {} is not of a list of keys", path.display())]
    Line {
        /// The list.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// Lists of known keys.
#[derive(Debug, Default)]
pub struct Lists {
    /// Which list has the end of a digest.
    ends: BTreeMap<[u8; DIGITS / 2], usize>,
    /// Which list has a fingerprint.
    fingerprints: BTreeMap<[u8; 32], usize>,
    lists: Vec<PathBuf>,
}

impl Lists {
    /// The lists that Debian's packages have installed, and those named: files, or folders of them.
    ///
    /// # Errors
    ///
    /// [`ListError`], of the first list that cannot be used.
    pub fn open(named: &[PathBuf]) -> Result<Self, ListError> {
        let mut found = Lists::default();
        for place in PLACES.map(Path::new) {
            // What is not installed is not there.
            for list in listed(place).unwrap_or_default() {
                found.add(&list)?;
            }
        }
        for path in named {
            match path.is_dir() {
                true => {
                    let lists = listed(path).map_err(|source| ListError::Io {
                        path: path.clone(),
                        source,
                    })?;
                    if lists.is_empty() {
                        return Err(ListError::Empty { path: path.clone() });
                    }
                    lists.iter().try_for_each(|list| found.add(list))?;
                }
                false => found.add(path)?,
            }
        }
        Ok(found)
    }

    /// Returns whether no list is there.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The list that has a key, if one has.
    pub fn list_of(&self, key: &PublicKey) -> Option<&Path> {
        if self.lists.is_empty() {
            return None;
        }
        let modulus = hex::encode_upper(key.n());
        let line = format!("Modulus={}\n", modulus.trim_start_matches('0'));
        let (sha1, md5) = (Sha1::digest(line), Md5::digest(ssh_blob(key)));
        let ends = [sha1.last_chunk(), md5.last_chunk()];
        let ends = ends.into_iter().flatten().filter_map(|end| self.ends.get(end));
        let list = ends.chain(self.fingerprints.get(&fingerprint(key))).next()?;
        Some(&self.lists[*list])
    }

    fn add(&mut self, path: &Path) -> Result<(), ListError> {
        let number = self.lists.len();
        self.lists.push(path.to_owned());
        for (place, line) in read(path)?.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            let digest = hex::decode(line).unwrap_or_default();
            if let Ok(end) = digest.as_slice().try_into() {
                self.ends.insert(end, number);
            } else if let Ok(fingerprint) = digest.as_slice().try_into() {
                self.fingerprints.insert(fingerprint, number);
            } else {
                return Err(ListError::Line {
                    path: path.to_owned(),
                    line: place + 1,
                });
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, ListError> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_LIST + 1).read_to_end(&mut bytes))
        .map_err(|source| ListError::Io {
            path: path.to_owned(),
            source,
        })?;
    match bytes.len() as u64 > MOST_LIST {
        true => Err(ListError::TooLong { path: path.to_owned() }),
        false => Ok(bytes),
    }
}

/// The lists of RSA keys in a folder.
fn listed(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut lists = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_list = name
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX) && !name.starts_with("blacklist.DSA"));
        if is_list {
            lists.push(entry.path());
        }
    }
    lists.sort();
    Ok(lists)
}

/// The key as SSH sends it.
fn ssh_blob(key: &PublicKey) -> Vec<u8> {
    let mut blob = Vec::new();
    let mut string = |bytes: &[u8]| {
        let len = u32::try_from(bytes.len()).expect("a key is short");
        blob.extend(len.to_be_bytes());
        blob.extend(bytes);
    };
    string(b"ssh-rsa");
    for number in [key.e(), key.n()] {
        // A first bit that is set would be a minus.
        match number.first().is_some_and(|first| first & 0x80 != 0) {
            true => string(&[&[0], number].concat()),
            false => string(number),
        }
    }
    blob
}
