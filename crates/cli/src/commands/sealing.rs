//! Sealed files: `rsalab encrypt` and `rsalab decrypt` of files of any length, in age's format.
//!
//! A file that is made has its name when all of it was verified and is on the disk. What goes to standard output was
//! verified, too, but only its end shows that it is complete.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read, Write},
    os::unix::ffi::OsStrExt,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    thread,
};

use rsalab_rsa::{
    PrivateKey,
    format::{Loaded, Purpose, Usage},
};
use rsalab_sealed::{Error, Identity, Outline, Recipient, armor};
use rsalab_study::number;
use zeroize::Zeroizing;

use super::{
    inputs::{Destination, Inputs, note_if_typed, with_ending},
    per_file::{Files, Tally, once_each},
};
use crate::{
    arguments::{Encrypt, KeyFileOptions, KeyOptions},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    keys,
    output::{self, Log},
    patience::Patient,
    progress, steps,
};

/// The ending of a sealed file's name, next to its file.
const ENDING: &str = ".age";

/// The ending of a message's name, next to its sealed file.
const DECRYPTED: &str = ".dec";

/// Bytes that show whether a file is sealed: its first line, with the white space that age lets be before it.
const BEGINNING: u64 = 1200;

/// Bytes of a message in a chunk, and in what a thread takes at once.
const CHUNK: u64 = 64 << 10;
const GROUP: u64 = 4 * CHUNK;

/// Encrypts for all recipients.
pub(super) fn encrypt(arguments: &Encrypt, files: &Files, log: Log) -> Result<()> {
    // The name in a set and the password are those of `--key`.
    let others = arguments.recipient.iter().map(|path| KeyOptions {
        key: path.clone(),
        reading: KeyFileOptions {
            password_file: None,
            kid: None,
            ..arguments.key.reading.clone()
        },
        ..arguments.key.clone()
    });
    let options: Vec<KeyOptions> = std::iter::once(arguments.key.clone()).chain(others).collect();
    let recipients = options
        .iter()
        .map(|options| recipient(options, log))
        .collect::<Result<Vec<_>>>()?;
    let sealing = Sealing {
        recipients,
        is_armored: arguments.armor,
        log,
    };
    match &files.inputs {
        Inputs::One(from) => {
            let to = Destination::of(files.out.as_deref())?;
            if !arguments.armor {
                to.check_terminal("the sealed file")?;
            }
            let source = match &arguments.text.text {
                Some(text) => Source::of_text(text.as_bytes()),
                None => Source::open(from.as_deref(), log)?,
            };
            sealing.run(source, &to)
        }
        Inputs::Many(paths) => {
            let (mut tally, paths) = (Tally::default(), once_each(paths));
            for path in &paths {
                match sealing.run_beside(path, arguments.skip_existing) {
                    Ok(is_made) => tally.add(is_made),
                    Err(failure) => tally.fail(path, failure),
                }
            }
            tally.end(paths.len(), "sealed file", log)
        }
    }
}

fn recipient(options: &KeyOptions, log: Log) -> Result<Recipient> {
    let loaded = keys::public(&options.key, &options.reading, log)?;
    check_use(options, &loaded, Purpose::Encrypt(Some(&Recipient::scheme())))?;
    keys::warn(options, &loaded.key.weaknesses(), log);
    let prepared = Recipient::with_backend(&loaded.key, &keys::backend(options)?);
    let recipient = prepared.map_err(|error| {
        let what = format!("cannot encrypt for {}", files::name(Some(&options.key)));
        Failure::new(class(&error), what).because(error)
    })?;
    steps::ended(|| {
        format!(
            "recipient: ssh-rsa {}, RSAES-OAEP, sha256, age's label",
            recipient.tag()
        )
    });
    Ok(recipient)
}

/// Refuses a key that is for something else than OAEP with SHA-256 and age's label.
fn check_use<K>(options: &KeyOptions, loaded: &Loaded<K>, purpose: Purpose<'_>) -> Result<()> {
    let has_parameters =
        matches!(loaded.usage, Usage::Oaep(Some(_))) || loaded.restrictions.encryption_scheme().is_some();
    keys::check_scheme(options, loaded, purpose).map_err(|failure| match has_parameters {
        true => failure.advice("add --raw-oaep: what its file allows is a block; or --any-use, if you know better"),
        false => failure,
    })
}

/// A message to be encrypted, or a file to be decrypted.
struct Source {
    name: String,
    reader: Box<dyn Read + Send>,
    len: Option<u64>,
}

impl Source {
    fn of_text(text: &[u8]) -> Source {
        let text = Zeroizing::new(text.to_vec());
        Source {
            name: "the message".to_owned(),
            len: Some(text.len() as u64),
            reader: Box::new(Cursor::new(text)),
        }
    }

    fn open(from: Option<&Path>, log: Log) -> Result<Source> {
        note_if_typed(from, log);
        let (reader, len) = files::open(from)?;
        Ok(Source {
            name: files::name(from),
            reader,
            len,
        })
    }

    /// Threads that have something to do.
    fn threads(&self) -> usize {
        let all = thread::available_parallelism().map_or(1, usize::from);
        let groups = self.len.map_or(u64::MAX, |len| len.div_ceil(GROUP).max(1));
        all.min(usize::try_from(groups).unwrap_or(all))
    }

    /// Follows how much of it was read.
    fn follow<T>(self, log: Log, work: impl FnOnce(Box<dyn Read + Send + '_>) -> T) -> T {
        let Some(len) = self.len else {
            return work(self.reader);
        };
        let reader = self.reader;
        progress::follow(log, "chunk", len.div_ceil(CHUNK), |done| {
            work(Box::new(Counted { reader, done, read: 0 }))
        })
    }
}

/// A reader whose chunks are counted.
struct Counted<'a> {
    reader: Box<dyn Read + Send>,
    done: &'a AtomicU64,
    read: u64,
}

impl Read for Counted<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let len = self.reader.read(bytes)?;
        self.read += len as u64;
        self.done.store(self.read / CHUNK, Ordering::Relaxed);
        Ok(len)
    }
}

struct Sealing {
    recipients: Vec<Recipient>,
    is_armored: bool,
    log: Log,
}

impl Sealing {
    fn run(&self, source: Source, to: &Destination) -> Result<()> {
        let threads = source.threads();
        let name = source.name.clone();
        deliver(to, |sink, target| {
            let sealed = source.follow(self.log, |reader| match self.is_armored {
                false => rsalab_sealed::encrypt(&self.recipients, reader, sink, threads),
                true => {
                    let mut text = armor::Writer::new(sink);
                    rsalab_sealed::encrypt(&self.recipients, reader, &mut text, threads)?;
                    text.finish().map(drop).map_err(Error::Write)
                }
            });
            sealed.map_err(|error| failed(&format!("cannot encrypt {name}"), &name, target, error))
        })?;
        note("encrypted", threads);
        Ok(())
    }

    /// Makes FILE.age next to FILE. Returns whether it was made.
    fn run_beside(&self, path: &Path, keeps_existing: bool) -> Result<bool> {
        let out = with_ending(path, ENDING);
        if out.symlink_metadata().is_err() {
            files::check_absent(&out)?;
            return self
                .run(Source::open(Some(path), self.log)?, &Destination::File(out))
                .map(|()| true);
        }
        let why_not = match keeps_existing {
            true if self.may_be_result(path, &out) => return Ok(false),
            true => "has not the length and the recipients of a sealed file of it",
            false => "only the private key shows what it is a ciphertext of (see --skip-existing)",
        };
        Err(Failure::about_existing(format!(
            "{} exists already, and {why_not}",
            out.display()
        )))
    }

    /// Returns whether a file is armored as asked for, and has the recipients and the length of the sealed file of
    /// another. A pipe is not opened: that would wait for its other end.
    fn may_be_result(&self, path: &Path, out: &Path) -> bool {
        let len = |path: &Path| {
            path.metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)
                .map(|found| found.len())
        };
        let (Some(message), Some(sealed)) = (len(path), len(out)) else {
            return false;
        };
        let outline = File::open(out)
            .ok()
            .and_then(|file| Outline::read(BufReader::new(Patient::new(file))).ok());
        outline.is_some_and(|outline| {
            outline.is_armored() == self.is_armored
                && outline.is_for(&self.recipients)
                && outline.file_len(message) == sealed
        })
    }
}

/// Opens sealed files.
pub(super) struct Opening {
    identity: Identity,
    log: Log,
}

impl Opening {
    pub(super) fn new(options: &KeyOptions, loaded: &Loaded<PrivateKey>, log: Log) -> Result<Opening> {
        check_use(options, loaded, Purpose::Decrypt(Some(&Recipient::scheme())))?;
        let identity = Identity::with_backend(&loaded.key, &keys::backend(options)?);
        steps::ended(|| "scheme: age's format, RSAES-OAEP, sha256, age's label".to_owned());
        Ok(Opening {
            identity: identity.map_err(|error| Failure::new(class(&error), "cannot prepare the key").because(error))?,
            log,
        })
    }

    /// Decrypts a file of which the beginning has been read.
    pub(super) fn run(&self, opened: Beginning, to: &Destination) -> Result<()> {
        let source = Source {
            name: opened.name,
            len: opened.len,
            reader: Box::new(Cursor::new(opened.bytes).chain(opened.rest)),
        };
        let is_stdout = *to == Destination::Stdout;
        let threads = source.threads();
        let name = source.name.clone();
        deliver(to, |sink, target| {
            let decrypted = source.follow(self.log, |reader| {
                rsalab_sealed::decrypt(&self.identity, reader, sink, threads)
            });
            decrypted.map_err(|error| {
                let failure = failed(&format!("cannot decrypt {name}"), &name, target, error);
                match (failure.class(), is_stdout) {
                    (Class::Verification, true) => {
                        failure.advice("do not use what was written to standard output: it is a beginning at most")
                    }
                    _ => failure,
                }
            })
        })?;
        note("decrypted", threads);
        Ok(())
    }

    /// Makes FILE.dec next to FILE. Returns whether it was made.
    pub(super) fn run_beside(&self, path: &Path) -> Result<bool> {
        let out = with_ending(path, DECRYPTED);
        let opened = Beginning::read(Some(path))?;
        match out.symlink_metadata() {
            Err(_) => {
                files::check_absent(&out)?;
                self.run(opened, &Destination::File(out)).map(|()| true)
            }
            Ok(found) if found.is_file() => self.compare(opened, &out).map(|()| false),
            Ok(_) => Err(files::exists(&out)),
        }
    }

    /// Decrypts a file whose message seems to be there already.
    fn compare(&self, opened: Beginning, out: &Path) -> Result<()> {
        let (existing, _) = files::open(Some(out))?;
        let mut comparison = Comparison {
            existing,
            has_differed: false,
        };
        let name = opened.name;
        let reader = Cursor::new(opened.bytes).chain(opened.rest);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        rsalab_sealed::decrypt(&self.identity, reader, &mut comparison, threads).map_err(|error| {
            failed(
                &format!("cannot decrypt {name}"),
                &name,
                &out.display().to_string(),
                error,
            )
        })?;
        let is_longer = match comparison.existing.read_exact(&mut [0]) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(Failure::io(format!("cannot read {}", out.display()), error)),
        };
        match comparison.has_differed || is_longer {
            false => Ok(()),
            true => Err(Failure::about_existing(format!(
                "{} exists already, and is no message of it by this key",
                out.display()
            ))),
        }
    }
}

/// Compares what is written with what is there.
struct Comparison {
    existing: Box<dyn Read + Send>,
    has_differed: bool,
}

impl Write for Comparison {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut existing = Zeroizing::new(vec![0; bytes.len()]);
        match self.existing.read_exact(&mut existing) {
            Ok(()) => self.has_differed |= *existing != bytes,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.has_differed = true,
            Err(error) => return Err(error),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The first bytes of a file, which tell what it is, and the rest.
pub(super) struct Beginning {
    pub(super) name: String,
    pub(super) bytes: Zeroizing<Vec<u8>>,
    pub(super) rest: Box<dyn Read + Send>,
    len: Option<u64>,
}

impl Beginning {
    pub(super) fn read(path: Option<&Path>) -> Result<Beginning> {
        let (mut rest, len) = files::open(path)?;
        Ok(Beginning {
            name: files::name(path),
            bytes: files::read_up_to(&mut rest, path, BEGINNING)?,
            rest,
            len,
        })
    }

    pub(super) fn is_sealed(&self) -> bool {
        rsalab_sealed::begins(&self.bytes)
    }
}

/// Returns whether a file, which can be read more than once, is sealed.
pub(super) fn is_sealed(path: &Path) -> bool {
    let is_file = !files::is_dash(path) && path.metadata().is_ok_and(|found| found.is_file());
    is_file && Beginning::read(Some(path)).is_ok_and(|beginning| beginning.is_sealed())
}

/// Gives work what it writes to, and its name. A file is there whole or not at all.
fn deliver(to: &Destination, work: impl FnOnce(Box<dyn Write + Send + '_>, &str) -> Result<()>) -> Result<()> {
    match to {
        Destination::Stdout => {
            work(Box::new(output::stream()?), "standard output")?;
            steps::ended(|| "standard output: written".to_owned());
            Ok(())
        }
        Destination::File(path) => files::create_from(path, Privacy::Private, |file| {
            work(Box::new(Patient::new(file)), &path.display().to_string())
        }),
    }
}

fn note(done: &str, threads: usize) {
    steps::ended(|| {
        let threads = number::counted(threads, "thread");
        format!("payload: {done} on {threads}, ChaCha20-Poly1305")
    });
}

fn class(error: &Error) -> Class {
    match error {
        Error::Rsa(error) => Class::of(error),
        Error::Recipients { .. } => Class::Usage,
        Error::Read(_) | Error::Write(_) => Class::Io,
        Error::Header { .. } | Error::Armor { .. } | Error::NoMatch | Error::Key | Error::Payload => {
            Class::Verification
        }
        _ => Class::Internal,
    }
}

fn failed(what: &str, from: &str, to: &str, error: Error) -> Failure {
    match error {
        Error::Read(error) => Failure::io(format!("cannot read {from}"), error),
        Error::Write(error) => Failure::io(format!("cannot write all of it to {to}"), error),
        error => {
            let class = class(&error);
            let failure = Failure::new(class, what).because(error);
            match class {
                Class::Verification => failure.advice("nothing was made of it"),
                _ => failure,
            }
        }
    }
}
