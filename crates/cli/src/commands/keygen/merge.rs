//! Parts of many keys become one archive, an index of all archives, or a table of the public halves.
//!
//! ```text
//! checksums ── the set of parts ── each archive's manifest: numbers, fingerprints ── the archives' files, one manifest
//! ```
//!
//! What lies in the archives is copied as it is. Of each key 16 bytes are kept in memory, to find one that is there
//! twice; the manifest lies in a file until it is written.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use rsalab_study::part::{Manifest as PartManifest, Work, check_set};
use serde::{Deserialize, Serialize};

use super::{
    archive::{BLOCK, part_manifest, tar_header},
    counted,
    folder::MANIFEST,
    manifest::{Entry, Header, cannot},
    public_table,
};
use crate::{
    arguments::Merge,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output::{self, Log, line},
    steps,
};

/// The kinds of merged files.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Archive,
    Index,
    PublicTable,
}

impl Kind {
    fn of(out: &Path) -> Result<Kind> {
        match out.extension().and_then(|ending| ending.to_str()) {
            Some("tar") => Ok(Kind::Archive),
            Some("jsonl") => Ok(Kind::Index),
            Some("parquet") => Ok(Kind::PublicTable),
            _ => {
                let what = format!("{} is none of FILE.tar, FILE.jsonl and FILE.parquet", out.display());
                let advice = "name an archive for the keys, an index of where they are, or a table of the public ones";
                Err(Failure::new(Class::Usage, what).advice(advice))
            }
        }
    }
}

/// A part whose checksum is right.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) record: PartManifest,
    /// Where the archive's own manifest begins: before it are keys alone.
    pub(super) end: u64,
}

/// A line of the index of several archives.
#[derive(Serialize, Deserialize)]
pub(super) struct Indexed {
    pub(super) archive: String,
    #[serde(flatten)]
    pub(super) entry: Entry,
}

/// Output of `--json`.
#[derive(Serialize)]
struct Report {
    out: String,
    parts: usize,
    keys: u64,
}

/// Merges archives of keys.
pub(in crate::commands) fn run(arguments: &Merge, log: Log) -> Result<()> {
    let out = &arguments.out;
    let kind = Kind::of(out)?;
    files::check_absent(out)?;
    let mut parts = checked(&arguments.parts)?;
    let mut spool = spool(out)?;
    let mut merged = Merged::default();
    for part in &mut parts {
        part.end = merged.add(part, kind, &mut spool)?;
        steps::ended(|| format!("{}: checked", part.path.display()));
    }
    spool.flush().map_err(|error| cannot(out, "prepare", error))?;
    let spool = spool
        .into_inner()
        .map_err(|error| cannot(out, "prepare", error.into_error()))?;
    let privacy = match kind {
        Kind::Archive | Kind::Index => Privacy::Private,
        Kind::PublicTable => Privacy::Public,
    };
    files::create_from(out, privacy, |file| {
        let written = match kind {
            Kind::Archive => write_archive(&parts, &spool, file),
            Kind::Index => copy_all(&spool, file),
            Kind::PublicTable => return public_table::write(&parts, &spool, file),
        };
        written.map_err(|error| cannot(out, "write to", error))
    })?;
    let keys = merged.keys;
    log.note(format_args!(
        "{} of {} parts: in {}",
        counted(keys),
        parts.len(),
        out.display()
    ));
    match arguments.json.json {
        false => Ok(()),
        true => output::json(&Report {
            out: out.display().to_string(),
            parts: parts.len(),
            keys,
        }),
    }
}

/// The parts in their order, if they are whole and make a set.
fn checked(paths: &[PathBuf]) -> Result<Vec<Part>> {
    let mut records = Vec::new();
    for path in paths {
        let manifest = part_manifest(path);
        let record = PartManifest::read(path, &manifest).map_err(refused)?;
        record.check(path, &manifest).map_err(refused)?;
        if record.work != Work::Keys {
            return Err(refused_because(path, "is no archive of keys"));
        }
        records.push((path.clone(), record));
    }
    check_set(&records).map_err(refused)?;
    records.sort_by_key(|(_, record)| record.part);
    let parts = records.into_iter().map(|(path, record)| Part { path, record, end: 0 });
    Ok(parts.collect())
}

/// Facts of all parts so far.
#[derive(Default)]
struct Merged {
    header: Option<Header>,
    keys: u64,
    /// The first half of each public key's SHA-256.
    fingerprints: HashSet<[u8; 16]>,
}

impl Merged {
    /// Takes a part's manifest over. Returns where it begins in the archive.
    fn add(&mut self, part: &Part, kind: Kind, spool: &mut impl Write) -> Result<u64> {
        let unreadable = |error: io::Error| cannot(&part.path, "read", error);
        let file = File::open(&part.path).map_err(unreadable)?;
        let mut archive = tar::Archive::new(&file);
        let mut found = None;
        for entry in archive.entries_with_seek().map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            if *entry.path_bytes() == *MANIFEST.as_bytes() {
                found = Some((entry.raw_header_position(), entry.raw_file_position(), entry.size()));
            }
        }
        let Some((begin, text_at, len)) = found else {
            return Err(refused_because(&part.path, "has no manifest"));
        };
        let mut file = &file;
        file.seek(SeekFrom::Start(text_at)).map_err(unreadable)?;
        let mut lines = BufReader::new(file.take(len)).lines();
        let unfit = || refused_because(&part.path, "has a manifest of another form");
        let header = lines.next().ok_or_else(unfit)?.map_err(unreadable)?;
        let header: Header = serde_json::from_str(&header).map_err(|_| unfit())?;
        let fits = header.part.is_some_and(|of| of.part == part.record.part)
            && header.plan_sha256() == part.record.plan_sha256;
        if !fits {
            return Err(unfit());
        }
        let spooled = |error| cannot(&part.path, "copy the manifest of", error);
        let first = header.first();
        if self.header.is_none() {
            let whole = Header { part: None, ..header };
            spool.write_all(line(&whole).as_bytes()).map_err(spooled)?;
            self.header = Some(whole);
        }
        let archive = part.path.file_name().unwrap_or_default().to_string_lossy();
        let before = self.keys;
        for (number, text) in (first..).zip(lines) {
            let text = text.map_err(unreadable)?;
            let entry: Entry = serde_json::from_str(&text).map_err(|_| unfit())?;
            if entry.number != number {
                return Err(unfit());
            }
            self.keys += 1;
            let digest = hex::decode(&entry.sha256).map_err(|_| unfit())?;
            let fingerprint = digest.first_chunk().ok_or_else(unfit)?;
            if !self.fingerprints.insert(*fingerprint) {
                let what = format!(
                    "key {} of {} is in another place too",
                    entry.number,
                    part.path.display()
                );
                let advice =
                    "random keys are never equal: one of the machines draws no random numbers, or a part was copied";
                return Err(Failure::new(Class::Input, what).advice(advice));
            }
            let text = match kind {
                Kind::Archive => line(&entry),
                Kind::Index | Kind::PublicTable => line(&Indexed {
                    archive: archive.to_string(),
                    entry,
                }),
            };
            spool.write_all(text.as_bytes()).map_err(spooled)?;
        }
        match self.keys - before == part.record.items {
            true => Ok(begin),
            false => Err(unfit()),
        }
    }
}

/// A file without a name, on the disk where the merged one will be.
fn spool(out: &Path) -> Result<BufWriter<File>> {
    let folder = files::folder_of(out);
    let file = tempfile::tempfile_in(&folder).map_err(|error| cannot(out, "prepare", error))?;
    Ok(BufWriter::new(file))
}

fn write_archive(parts: &[Part], spool: &File, mut to: &File) -> io::Result<()> {
    for part in parts {
        let copied = io::copy(&mut File::open(&part.path)?.take(part.end), &mut to)?;
        if copied != part.end {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let len = spool.metadata()?.len();
    to.write_all(tar_header(MANIFEST, len, Privacy::Private).as_bytes())?;
    copy_all(spool, to)?;
    let filling = len.next_multiple_of(BLOCK as u64) - len;
    to.write_all(&vec![0; filling as usize + 2 * BLOCK])
}

fn copy_all(mut from: &File, mut to: &File) -> io::Result<()> {
    from.seek(SeekFrom::Start(0))?;
    io::copy(&mut from, &mut to).map(drop)
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::new(Class::Input, "nothing was merged").because(error)
}

pub(super) fn refused_because(path: &Path, why: &str) -> Failure {
    Failure::new(Class::Input, format!("nothing was merged: {} {why}", path.display()))
}
