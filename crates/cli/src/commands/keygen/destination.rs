//! Where keys go: a file for one, a folder, one file for all, or standard output.

use std::{
    ops::RangeInclusive,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use serde::Serialize;
use zeroize::Zeroizing;

use super::{
    archive::{Archive, Kind},
    folder::{Folder, MANIFEST},
    manifest::{Header, Item, PartOfKeys},
};
use crate::{
    arguments::{KeyFormat, Keygen},
    commands::key_writer::KeyWriter,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output,
};

pub(super) enum Destination {
    /// One key, in a file of its own; and the file of its public half, if there is to be one.
    File(PathBuf, Option<PathBuf>),
    /// A folder with a file for each key.
    Folder(Folder),
    /// One file for all keys.
    Archive(Box<Archive>),
    /// Standard output, as they come; and what separates two of them.
    Stream(&'static [u8]),
}

/// Where the keys are; nothing for standard output.
#[derive(Default, Serialize)]
pub(super) struct Place {
    pub(super) out: Option<String>,
    /// The file of a single private key.
    pub(super) private: Option<String>,
    /// The file of its public half, or of a set of public keys.
    pub(super) public: Option<String>,
}

impl Destination {
    /// Makes the place, or opens one that an earlier run left incomplete.
    pub(super) fn open(arguments: &Keygen, whole: u64, writer: &KeyWriter) -> Result<Self> {
        let (out, format) = (&arguments.out, arguments.format.format);
        if files::is_dash(out) {
            check_stream(arguments)?;
            return Ok(Destination::Stream(writer.separator()));
        }
        let header = header(arguments, whole);
        let kind = match out.extension() {
            _ if format == KeyFormat::JwkSet => Some(Kind::JwkSet),
            Some(ending) if ending == "tar" => Some(Kind::Tar),
            _ => None,
        };
        // A folder of keys is recognised by its manifest.
        let is_folder = whole > 1
            || arguments.names.is_some()
            || out.as_os_str().as_bytes().ends_with(b"/")
            || out.join(MANIFEST).exists();
        match kind {
            None if !is_folder => file(arguments, writer),
            _ if arguments.public_out.is_some() => {
                let what = "--public-out is for one key in a file of its own";
                Err(Failure::new(Class::Usage, what).advice("take --public"))
            }
            Some(kind) => Archive::open(out, kind, &header, writer.password())
                .map(|archive| Destination::Archive(Box::new(archive))),
            None => Folder::open(out, &header, writer.password()).map(Destination::Folder),
        }
        .and_then(|destination| destination.check_names(writer).map(|()| destination))
    }

    /// Refuses keys that are there under other names than a user gives them.
    fn check_names(&self, writer: &KeyWriter) -> Result<()> {
        let (entries, place) = match self {
            Destination::Folder(folder) => (folder.entries(), folder.path()),
            Destination::Archive(archive) => (archive.entries(), archive.place()),
            Destination::File(..) | Destination::Stream(_) => return Ok(()),
        };
        for entry in entries {
            let Some(name) = writer.name_of(entry.number) else {
                continue;
            };
            let expected = writer.stem(name) + writer.endings().0;
            if entry.file != expected {
                let what = format!(
                    "key {} of {} has another name than {expected}",
                    entry.number,
                    place.display()
                );
                return Err(Failure::new(Class::Usage, what)
                    .advice("add new names after those that were used, or name another place"));
            }
        }
        Ok(())
    }

    pub(super) fn is_stream(&self) -> bool {
        matches!(self, Destination::Stream(_))
    }

    /// Numbers, of these, that no key has yet.
    pub(super) fn missing(&self, numbers: RangeInclusive<u64>) -> Result<Vec<u64>> {
        match self {
            Destination::Folder(folder) => Ok(folder.missing(*numbers.end())),
            Destination::Archive(archive) => archive.missing(numbers),
            Destination::File(..) | Destination::Stream(_) => Ok(numbers.collect()),
        }
    }

    /// Takes keys, and returns how many have been written.
    pub(super) fn write(&mut self, items: Vec<Item>) -> Result<u64> {
        let count = items.len() as u64;
        match self {
            Destination::Folder(folder) => folder.append(items)?,
            Destination::Archive(archive) => return archive.append(items),
            Destination::Stream(separator) => {
                let lens = items.iter().map(|item| item.private.len() + separator.len());
                let mut bytes = Zeroizing::new(Vec::with_capacity(lens.sum()));
                for item in &items {
                    bytes.extend_from_slice(&item.private);
                    bytes.extend_from_slice(separator);
                }
                output::deliver(&bytes)?;
            }
            Destination::File(private, public) => {
                for item in &items {
                    let mut files = vec![(&**private, &item.private[..], Privacy::Private)];
                    let bytes = item.public.as_deref().unwrap_or_default();
                    files.extend(public.iter().map(|path| (&**path, bytes, Privacy::Public)));
                    files::create(&files)?;
                }
            }
        }
        Ok(count)
    }

    /// After a failure: removes what was begun, if no key is in it. How many keys are kept, and where.
    pub(super) fn abandon(&mut self) -> Option<(u64, String)> {
        let shown = |path: &Path| path.display().to_string();
        let (count, place) = match self {
            Destination::Folder(folder) => {
                folder.abandon();
                (folder.len(), shown(folder.path()))
            }
            Destination::Archive(archive) => {
                archive.abandon();
                (archive.len(), shown(archive.place()))
            }
            Destination::File(..) | Destination::Stream(_) => return None,
        };
        (count > 0).then_some((count, place))
    }

    /// Completes the place once all keys are there.
    pub(super) fn finish(&mut self, writer: &KeyWriter) -> Result<Place> {
        let shown = |path: &Path| path.display().to_string();
        let out = match self {
            Destination::Stream(_) => return Ok(Place::default()),
            Destination::File(private, public) => {
                return Ok(Place {
                    out: Some(shown(private)),
                    private: Some(shown(private)),
                    public: public.as_deref().map(shown),
                });
            }
            Destination::Folder(folder) => folder.path().to_owned(),
            Destination::Archive(archive) => {
                let (path, public) = archive.finish(writer)?;
                return Ok(Place {
                    out: Some(shown(&path)),
                    private: None,
                    public: public.as_deref().map(shown),
                });
            }
        };
        Ok(Place {
            out: Some(shown(&out)),
            ..Place::default()
        })
    }
}

/// The properties that all keys have, of so many.
pub(super) fn header(arguments: &Keygen, whole: u64) -> Header {
    Header {
        rsalab_keys: 1,
        bits: arguments.bits,
        primes: arguments.primes,
        e: arguments.e,
        format: arguments.format.format.name(),
        public: arguments.public,
        named: arguments.names.is_some(),
        part: arguments.shard.map(|part| PartOfKeys { part, keys: whole }),
        insecure_seed: arguments.insecure_seed.map(|seed| seed.to_string()),
    }
}

/// The files of one key, which must not exist.
fn file(arguments: &Keygen, writer: &KeyWriter) -> Result<Destination> {
    let out = &arguments.out;
    let public = match (&arguments.public_out, arguments.public) {
        (Some(path), _) => Some(path.clone()),
        (None, true) => Some(writer.public_name(out)),
        (None, false) => None,
    };
    files::check_absent(out)?;
    if let Some(path) = &public {
        files::check_absent(path)?;
        if path == out {
            let what = format!("--out and --public-out both name {}", out.display());
            return Err(Failure::new(Class::Usage, what).advice("name a file for each"));
        }
    }
    Ok(Destination::File(out.clone(), public))
}

fn check_stream(arguments: &Keygen) -> Result<()> {
    output::check_open()?;
    let is_set = arguments.format.format == KeyFormat::JwkSet;
    if is_set || arguments.public || arguments.public_out.is_some() {
        let what = "a stream to standard output has neither public halves nor a set";
        return Err(
            Failure::new(Class::Usage, what).advice("name a folder or a file, or take --format jwk: a key a line")
        );
    }
    if arguments.json.json {
        let what = "--json and the keys would share standard output";
        return Err(Failure::new(Class::Usage, what).advice("leave out --json"));
    }
    Ok(())
}
