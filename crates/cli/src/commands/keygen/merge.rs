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
    thread,
};

use rsalab_rsa::{
    Error, PublicKey,
    format::{self, WipedReader},
};
use rsalab_study::{
    number,
    part::{Manifest as PartManifest, Work, check_set},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{
    archive::{BLOCK, part_manifest, tar_header},
    counted,
    folder::MANIFEST,
    manifest::{Entry, Header, cannot},
    public_table::PublicTable,
};
use crate::{
    arguments::Merge,
    exit::{self, Class, Failure, Result},
    files::{self, Privacy},
    output::{self, Log, line},
    steps,
};

/// What every failure begins with.
const NOT_MERGED: &str = "nothing was merged";
/// Keys that are read before all CPUs decode them.
const DECODED_TOGETHER: usize = 1 << 10;
/// Bytes of the longest file of a key.
const LONGEST_FILE: u64 = 1 << 20;
/// Bytes of archives that are asked of the system at once.
const BUFFER: usize = 64 << 10;

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
struct Part {
    path: PathBuf,
    record: PartManifest,
    /// Where the archive's own manifest begins: before it are keys alone.
    end: u64,
}

/// A line of the index of several archives.
#[derive(Serialize, Deserialize)]
struct Indexed {
    archive: String,
    #[serde(flatten)]
    entry: Entry,
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
            Kind::PublicTable => return write_public_table(&parts, &spool, file),
        };
        written.map_err(|error| cannot(out, "write to", error))
    })?;
    let keys = merged.keys;
    log.note(format_args!(
        "{} of {}: in {}",
        counted(keys),
        number::counted(parts.len(), "part"),
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
        let unfit = |error| exit::of_manifest(NOT_MERGED, error);
        let record = PartManifest::read(path, &manifest).map_err(unfit)?;
        record.check(path, &manifest).map_err(unfit)?;
        if record.work != Work::Keys {
            return Err(refused_because(path, "is no archive of keys"));
        }
        records.push((path.clone(), record));
    }
    check_set(&records).map_err(|error| Failure::new(Class::Input, NOT_MERGED).because(error))?;
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

/// Writes a table of the public halves of the keys that lines of an index name.
fn write_public_table(parts: &[Part], mut index: &File, file: &File) -> Result<()> {
    let spooled = |error| Failure::io("cannot read the index of the keys again".to_owned(), error);
    index.seek(SeekFrom::Start(0)).map_err(spooled)?;
    // The first line says what all keys have in common.
    let mut index = BufReader::new(index).lines().skip(1);
    let mut table = PublicTable::new(file)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    for part in parts {
        let unreadable = |error: io::Error| cannot(&part.path, "read", error);
        let unfit = || refused_because(&part.path, "has other files than its manifest names");
        let archive = File::open(&part.path).map_err(unreadable)?.take(part.end);
        let mut archive = tar::Archive::new(WipedReader::new(archive, BUFFER));
        let mut files = archive.entries().map_err(unreadable)?;
        let mut left = part.record.items;
        while left > 0 {
            let mut batch = Vec::new();
            while left > 0 && batch.len() < DECODED_TOGETHER {
                let line = index.next().ok_or_else(unfit)?.map_err(spooled)?;
                let row: Indexed = serde_json::from_str(&line).map_err(|_| unfit())?;
                // A public half is read in its place, if there is one: it may be that the private one is encrypted.
                let wanted = row.entry.public.as_deref().unwrap_or(&row.entry.file).as_bytes();
                let half = loop {
                    let mut member = files.next().ok_or_else(unfit)?.map_err(unreadable)?;
                    if *member.path_bytes() == *wanted {
                        // No key is longer, whatever the archive says.
                        let most = member.size().min(LONGEST_FILE);
                        let mut half = Zeroizing::new(Vec::with_capacity(most as usize));
                        member.by_ref().take(most).read_to_end(&mut half).map_err(unreadable)?;
                        break half;
                    }
                };
                batch.push((row, half));
                left -= 1;
            }
            let keys = decoded(&batch, threads);
            for ((row, _), key) in batch.iter().zip(keys) {
                let key = key.map_err(|error| unread(part, row, error))?;
                if hex::encode(format::fingerprint(&key)) != row.entry.sha256 {
                    let why = format!("holds another key {} than its manifest says", row.entry.number);
                    return Err(refused_because(&part.path, &why));
                }
                table.add(&row.archive, &row.entry, &key)?;
            }
        }
    }
    table.finish()
}

/// The public keys of files, in their order.
fn decoded(batch: &[(Indexed, Zeroizing<Vec<u8>>)], threads: usize) -> Vec<rsalab_rsa::Result<PublicKey>> {
    let decode = |files: &[(Indexed, Zeroizing<Vec<u8>>)]| -> Vec<_> {
        let key = |half: &[u8]| format::load_public(half, None).map(|loaded| loaded.key);
        files.iter().map(|(_, half)| key(half)).collect()
    };
    thread::scope(|scope| {
        let chunks = batch.chunks(batch.len().div_ceil(threads).max(1));
        let workers: Vec<_> = chunks.map(|files| scope.spawn(move || decode(files))).collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().expect("decoding does not panic"));
        ended.flatten().collect()
    })
}

/// Why a key of an archive cannot be read.
fn unread(part: &Part, row: &Indexed, error: Error) -> Failure {
    let what = format!(
        "nothing was merged: {} of {} cannot be read",
        row.entry.file,
        part.path.display()
    );
    let failure = Failure::new(Class::Input, what);
    match error {
        Error::PasswordMissing => {
            let advice = "keys with a password are in a table if 'rsalab keygen' made them with --public";
            Failure::new(Class::Input, "nothing was merged: the keys are encrypted").advice(advice)
        }
        error => failure.because(error),
    }
}

fn copy_all(mut from: &File, mut to: &File) -> io::Result<()> {
    from.seek(SeekFrom::Start(0))?;
    io::copy(&mut from, &mut to).map(drop)
}

fn refused_because(path: &Path, why: &str) -> Failure {
    Failure::new(Class::Input, format!("{NOT_MERGED}: {} {why}", path.display()))
}
