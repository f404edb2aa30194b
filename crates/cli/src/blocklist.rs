//! Lists of keys that are known to be weak: those that Debian's OpenSSL made from 2006 to 2008 (CVE-2008-0166).
//!
//! Two packages of Debian and Ubuntu list them, a key a line, shortened to 80 bits in hexadecimal:
//!
//! | package | file | a line |
//! |---|---|---|
//! | openssl-blacklist | `blacklist.RSA-2048` | the end of the SHA-1 of the line that `openssl rsa -noout -modulus` prints |
//! | openssh-blacklist | `blacklist.RSA-2048` | the end of the MD5 of the key as SSH sends it (RFC 4253, section 6.6) |
//!
//! Lines of both kinds are looked for in every list: that two unlike digests agree is as unlikely as any collision of
//! 80 bits.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use md5::Md5;
use rsalab_rsa::PublicKey;
use sha1::{Digest, Sha1};

use crate::{
    exit::{Class, Failure, Result},
    files,
};

/// Where the packages put their lists.
const PLACES: [&str; 3] = ["/usr/share/openssl-blacklist", "/usr/share/ssh", "/etc/ssh"];
/// Start of the names of the lists.
const PREFIX: &str = "blacklist.";
/// The longest list: a few times that of every size there is.
const MOST_LIST: u64 = 64 << 20;
/// Hexadecimal digits of a line.
const DIGITS: usize = 20;

/// The lists that are there.
pub(crate) struct Blocklists {
    /// Which list has a line.
    lines: BTreeMap<[u8; DIGITS], usize>,
    lists: Vec<PathBuf>,
}

impl Blocklists {
    /// The lists that the packages have installed, and those named: files, or folders of them.
    pub(crate) fn open(named: &[PathBuf]) -> Result<Self> {
        let mut found = Blocklists {
            lines: BTreeMap::new(),
            lists: Vec::new(),
        };
        for place in PLACES.map(Path::new) {
            // What is not installed is not there.
            for list in listed(place).unwrap_or_default() {
                found.add(&list)?;
            }
        }
        for path in named {
            match path.is_dir() {
                true => {
                    let lists =
                        listed(path).map_err(|error| Failure::io(format!("cannot list {}", path.display()), error))?;
                    if lists.is_empty() {
                        let what = format!("{} has no lists of keys", path.display());
                        return Err(Failure::new(Class::Input, what).advice("their names begin with 'blacklist.'"));
                    }
                    lists.iter().try_for_each(|list| found.add(list))?;
                }
                false => found.add(path)?,
            }
        }
        Ok(found)
    }

    /// Returns whether no list is there.
    pub(crate) fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// The list that has a key, if one has.
    pub(crate) fn list_of(&self, key: &PublicKey) -> Option<&Path> {
        let modulus = hex::encode_upper(key.n());
        let line = format!("Modulus={}\n", modulus.trim_start_matches('0'));
        let digests = [hex::encode(Sha1::digest(line)), hex::encode(Md5::digest(ssh_blob(key)))];
        digests.iter().find_map(|digest| {
            let end = digest.as_bytes().last_chunk()?;
            self.lines.get(end).map(|&list| self.lists[list].as_path())
        })
    }

    fn add(&mut self, list: &Path) -> Result<()> {
        let text = files::read(Some(list), MOST_LIST)
            .map_err(|failure| failure.or_advice("name a list of keys that are known to be weak"))?;
        let number = self.lists.len();
        self.lists.push(list.to_owned());
        for (place, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() || line.starts_with(b"#") {
                continue;
            }
            match <[u8; DIGITS]>::try_from(line) {
                Ok(digits) if digits.iter().all(u8::is_ascii_hexdigit) => {
                    self.lines
                        .insert(digits.map(|digit| digit.to_ascii_lowercase()), number);
                }
                _ => {
                    let what = format!("line {} of {} is not of a list of keys", place + 1, list.display());
                    return Err(Failure::new(Class::Input, what)
                        .advice("each line has 20 hexadecimal digits, or begins with '#'"));
                }
            }
        }
        Ok(())
    }
}

/// The lists of RSA keys in a folder.
fn listed(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
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
