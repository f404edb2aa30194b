//! Parts of a work that is spread over machines: each can be killed, repeated and merged.
//!
//! A part is named by its number and by how many there are, as `3/8`. It leaves a [`Manifest`] beside its file when it
//! is complete, and nothing before: what has a manifest of the right checksum is whole.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, Read},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// One part of several, as `3/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Part {
    /// Which one, from 1.
    pub number: u64,
    /// How many there are.
    pub of: u64,
}

/// The most parts of a work.
pub const MOST_PARTS: u64 = 100_000;

impl Part {
    /// The items of this part, of so many that are numbered from 1: the lengths of parts differ by one at most, and
    /// parts follow each other. A part may have none.
    pub fn range(self, count: u64) -> RangeInclusive<u64> {
        let end = |part: u64| (u128::from(count) * u128::from(part) / u128::from(self.of)) as u64;
        end(self.number - 1) + 1..=end(self.number)
    }

    /// Returns whether an item belongs to this part where items are dealt out in turn; the first has the place 0.
    pub fn has(self, place: u64) -> bool {
        place % self.of == self.number - 1
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// A text that names no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("parts are named as 3/8: the third of eight, of at most {MOST_PARTS}")]
pub struct NoPart;

impl FromStr for Part {
    type Err = NoPart;

    fn from_str(text: &str) -> Result<Self, NoPart> {
        let (number, of) = text.split_once('/').ok_or(NoPart)?;
        let [number, of] = [number, of].map(|number| match number.starts_with('+') {
            true => Err(NoPart),
            false => number.parse().map_err(|_| NoPart),
        });
        let part = Part {
            number: number?,
            of: of?,
        };
        match (1..=part.of).contains(&part.number) && part.of <= MOST_PARTS {
            true => Ok(part),
            false => Err(NoPart),
        }
    }
}

/// The work that a part is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// A study; the file is its database.
    Study,
    /// Private keys; the file is an archive.
    Keys,
    /// An audit; the file has findings.
    Audit,
}

/// The record of a part that is complete: a JSON object in a file beside it. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this format.
    pub rsalab_part: u32,
    /// The work.
    pub work: Work,
    /// Which part of it.
    pub part: Part,
    /// SHA-256 of what all parts have in common: of a study's plan, or of the properties of keys.
    pub plan_sha256: String,
    /// The version of the program that made it.
    pub program_version: String,
    /// The CPU of the machine that completed it.
    pub cpu: String,
    /// The operating system and the hypervisor there, as far as they make themselves known.
    pub system: String,
    /// The seed of a study or of insecure keys; none where keys are random.
    pub insecure_seed: Option<String>,
    /// Cells of a study that are done, failed or not supported; or keys.
    pub items: u64,
    /// Bytes of the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Why a part is not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// There is no manifest.
    #[error("{file} is not complete: it has no {manifest}")]
    Missing {
        /// The part's file.
        file: PathBuf,
        /// Where its manifest would be.
        manifest: PathBuf,
    },
    /// The manifest cannot be read.
    #[error("{0} is not the manifest of a part")]
    Unreadable(PathBuf),
    /// The file is another one than the manifest says.
    #[error("{file} is not what {manifest} says: it was changed after it was complete")]
    Changed {
        /// The part's file.
        file: PathBuf,
        /// Its manifest.
        manifest: PathBuf,
    },
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// A manifest's longest text.
const MOST_BYTES: u64 = 64 << 10;

impl Manifest {
    /// The version of the format that this program writes.
    pub const VERSION: u32 = 1;

    /// Reads a manifest.
    ///
    /// # Errors
    /// There is none; it has another form.
    pub fn read(file: &Path, manifest: &Path) -> Result<Self, ManifestError> {
        let mut text = Vec::new();
        let opened = File::open(manifest).and_then(|opened| opened.take(MOST_BYTES).read_to_end(&mut text));
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ManifestError::Missing {
                    file: file.to_owned(),
                    manifest: manifest.to_owned(),
                });
            }
            opened => opened.map_err(at(manifest))?,
        };
        let unreadable = || ManifestError::Unreadable(manifest.to_owned());
        let read: Manifest = serde_json::from_slice(&text).map_err(|_| unreadable())?;
        let part = read.part.to_string().parse() == Ok(read.part);
        match read.rsalab_part == Self::VERSION && part {
            true => Ok(read),
            false => Err(unreadable()),
        }
    }

    /// Compares a file with what the manifest says of it.
    ///
    /// # Errors
    /// It was changed, or cannot be read.
    pub fn check(&self, file: &Path, manifest: &Path) -> Result<(), ManifestError> {
        let (bytes, sha256) = digest(file).map_err(at(file))?;
        match (bytes, &sha256) == (self.bytes, &self.sha256) {
            true => Ok(()),
            false => Err(ManifestError::Changed {
                file: file.to_owned(),
                manifest: manifest.to_owned(),
            }),
        }
    }
}

/// Why parts do not make a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// Parts of a study among parts of keys.
    #[error("{0} and {1} are parts of different kinds of work")]
    Work(PathBuf, PathBuf),
    /// They do not agree on how many there are.
    #[error("{0} is one of {1} parts, and {2} is one of {3}: they are of different works")]
    Of(PathBuf, u64, PathBuf, u64),
    /// They were made by different versions.
    #[error("{0} was made by rsalab {1}, and {2} by {3}: make the parts anew with one version")]
    Version(PathBuf, String, PathBuf, String),
    /// They have different plans.
    #[error("{0} and {1} are parts of different plans")]
    Plan(PathBuf, PathBuf),
    /// They have different seeds.
    #[error("{0} and {1} have different seeds: they are of different works")]
    Seed(PathBuf, PathBuf),
    /// One is there more than once.
    #[error("part {0} is there twice, as {1} and as {2}: leave one of them out")]
    Twice(Part, PathBuf, PathBuf),
    /// Some are missing.
    #[error("{missing} of {of} parts are missing: {}", list(.numbers))]
    Missing {
        /// How many are missing.
        missing: u64,
        /// How many there should be.
        of: u64,
        /// The numbers of the first ones.
        numbers: Vec<u64>,
    },
}

/// Numbers in a sentence; if there may be more of them, it says so.
fn list(numbers: &[u64]) -> String {
    let shown: Vec<String> = numbers.iter().map(u64::to_string).collect();
    match numbers.len() {
        LISTED => shown.join(", ") + " …",
        _ => shown.join(", "),
    }
}

/// The most missing parts that are listed.
const LISTED: usize = 10;

/// Returns nothing if these are all parts of one work, each once, in any order; otherwise the first reason why not.
///
/// # Errors
/// As [`SetError`] has them.
pub fn check_set(parts: &[(PathBuf, Manifest)]) -> Result<(), SetError> {
    let Some((first, one)) = parts.iter().min_by_key(|(_, manifest)| manifest.part.number) else {
        return Ok(());
    };
    let mut seen: BTreeMap<u64, &Path> = BTreeMap::new();
    for (path, manifest) in parts {
        let [a, b] = [first, path].map(Clone::clone);
        if manifest.work != one.work {
            return Err(SetError::Work(a, b));
        }
        if manifest.part.of != one.part.of {
            return Err(SetError::Of(a, one.part.of, b, manifest.part.of));
        }
        if manifest.program_version != one.program_version {
            let [one, other] = [one, manifest].map(|manifest| manifest.program_version.clone());
            return Err(SetError::Version(a, one, b, other));
        }
        if manifest.plan_sha256 != one.plan_sha256 {
            return Err(SetError::Plan(a, b));
        }
        if manifest.insecure_seed != one.insecure_seed {
            return Err(SetError::Seed(a, b));
        }
        if let Some(before) = seen.insert(manifest.part.number, path) {
            return Err(SetError::Twice(manifest.part, before.to_owned(), path.clone()));
        }
    }
    let of = one.part.of;
    match of - seen.len() as u64 {
        0 => Ok(()),
        missing => Err(SetError::Missing {
            missing,
            of,
            numbers: (1..=of)
                .filter(|number| !seen.contains_key(number))
                .take(LISTED)
                .collect(),
        }),
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ManifestError {
    let path = path.to_owned();
    move |source| ManifestError::Io { path, source }
}

/// The digest of a plan, for [`Manifest::plan_sha256`].
pub fn plan_digest(plan: &[u8]) -> String {
    hex::encode(Sha256::digest(plan))
}

/// The length of a file, and its SHA-256 in hexadecimal digits.
///
/// # Errors
/// It cannot be read.
pub fn digest(path: &Path) -> io::Result<(u64, String)> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        match file.read(&mut block)? {
            0 => return Ok((bytes, hex::encode(hash.finalize()))),
            len => {
                hash.update(&block[..len]);
                bytes += len as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_every_item_once() {
        for (count, of) in [(0, 3), (1, 3), (2, 3), (20_000, 7), (10, 10), (100_000_000, 100_000)] {
            let mut next = 1;
            for number in 1..=of {
                let range = Part { number, of }.range(count);
                assert_eq!(*range.start(), next);
                next = range.end() + 1;
            }
            assert_eq!(next, count + 1);
        }
        for place in 0..20 {
            let has = |number: &u64| Part { number: *number, of: 7 }.has(place);
            assert_eq!((1..=7).filter(has).count(), 1);
        }
    }

    #[test]
    fn a_part_is_read_as_it_is_written() {
        for text in ["1/1", "3/8", "100000/100000"] {
            assert_eq!(text.parse::<Part>().unwrap().to_string(), text);
        }
        for text in [
            "", "3", "0/8", "9/8", "1/0", "-1/8", "+1/8", "1/+8", "a/b", "1/8/9", "1/100001", " 1/8",
        ] {
            assert_eq!(text.parse::<Part>(), Err(NoPart), "{text}");
        }
    }

    #[test]
    fn a_set_is_whole_or_says_why_not() {
        let part = |number, of| {
            let manifest = Manifest {
                rsalab_part: Manifest::VERSION,
                work: Work::Study,
                part: Part { number, of },
                plan_sha256: String::new(),
                program_version: "1".to_owned(),
                cpu: "a CPU".to_owned(),
                system: "a system".to_owned(),
                insecure_seed: Some("00".to_owned()),
                items: 7,
                bytes: 1,
                sha256: String::new(),
            };
            (PathBuf::from(format!("part-{number}")), manifest)
        };
        let whole = || vec![part(3, 3), part(1, 3), part(2, 3)];
        assert_eq!(check_set(&whole()), Ok(()));
        let refused = |change: fn(&mut Vec<(PathBuf, Manifest)>)| {
            let mut parts = whole();
            change(&mut parts);
            check_set(&parts).unwrap_err().to_string()
        };
        assert_eq!(refused(|parts| drop(parts.remove(2))), "1 of 3 parts are missing: 2");
        assert_eq!(
            refused(|parts| parts.push(parts[0].clone())),
            "part 3/3 is there twice, as part-3 and as part-3: leave one of them out"
        );
        assert!(refused(|parts| parts[0].1.part.of = 4).contains("of different works"));
        assert!(refused(|parts| parts[0].1.insecure_seed = None).contains("different seeds"));
        assert!(refused(|parts| parts[0].1.program_version = "2".to_owned()).contains("by rsalab 1, and part-3 by 2"));
        assert!(refused(|parts| parts[0].1.plan_sha256.push('0')).contains("different plans"));
        assert!(refused(|parts| parts[0].1.work = Work::Keys).contains("different kinds"));
    }

    #[test]
    fn a_changed_byte_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let (file, path) = (folder.path().join("file"), folder.path().join("part.json"));
        std::fs::write(&file, b"what was made").unwrap();
        let (bytes, sha256) = digest(&file).unwrap();
        let manifest = Manifest {
            rsalab_part: Manifest::VERSION,
            work: Work::Keys,
            part: Part { number: 2, of: 3 },
            plan_sha256: String::new(),
            program_version: "1".to_owned(),
            cpu: "a CPU".to_owned(),
            system: "a system".to_owned(),
            insecure_seed: None,
            items: 7,
            bytes,
            sha256,
        };
        assert!(matches!(
            Manifest::read(&file, &path),
            Err(ManifestError::Missing { .. })
        ));
        std::fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
        let read = Manifest::read(&file, &path).unwrap();
        assert_eq!(read, manifest);
        read.check(&file, &path).unwrap();
        std::fs::write(&file, b"what was mafe").unwrap();
        assert!(matches!(read.check(&file, &path), Err(ManifestError::Changed { .. })));
        std::fs::write(&path, b"{\"rsalab_part\":1}").unwrap();
        assert!(matches!(
            Manifest::read(&file, &path),
            Err(ManifestError::Unreadable(_))
        ));
    }
}
