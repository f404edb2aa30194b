//! The set of public keys next to a set of private ones.
//!
//! It is written when all private keys are there, from their file, so that an interrupted command has nothing of it to
//! complete. Each key is the one that the record's line names, or no set is written.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
};

use rsalab_rsa::format::{self, WipedReader};
use zeroize::Zeroizing;

use super::manifest::{Entry, cannot};
use crate::{
    commands::{inputs::with_ending, key_writer::KeyWriter},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
};

/// The text before the first key of a set of `keygen`, between two, and after the last.
pub(super) const OPENING: &[u8] = b"{\"keys\":[\n";
pub(super) const SEPARATOR: &[u8] = b",\n";
pub(super) const CLOSING: &[u8] = b"\n]}\n";

/// The name of the set of public keys: `keys.pub.json` for `keys.json`.
pub(super) fn name(set: &Path) -> PathBuf {
    let Some(ending) = set.extension() else {
        return with_ending(set, ".pub.jwk");
    };
    let mut name = set.with_extension("pub").into_os_string();
    name.push(".");
    name.push(ending);
    name.into()
}

/// Makes the set of the public halves of the private keys in `private`, of which the record has `entries`.
///
/// A set that is there already is left as it is if it is this one: the command may have been interrupted after it was
/// made.
pub(super) fn make(path: &Path, private: &Path, entries: &[Entry], writer: &KeyWriter) -> Result<()> {
    if path.symlink_metadata().is_ok() {
        let found = File::open(path).map_err(|error| cannot(path, "read", error))?;
        let mut compared = Compared {
            found: BufReader::new(found),
            is_same: true,
        };
        write(&mut compared, path, private, entries, writer)?;
        return match compared.is_same && compared.is_at_end() {
            true => Ok(()),
            false => Err(files::exists(path).advice("move it away: the same command then makes the set")),
        };
    }
    files::create_from(path, Privacy::Public, |file| {
        let mut buffered = BufWriter::new(file);
        write(&mut buffered, path, private, entries, writer)?;
        buffered.flush().map_err(|error| cannot(path, "write to", error))
    })
}

fn write(to: &mut impl Write, path: &Path, private: &Path, entries: &[Entry], writer: &KeyWriter) -> Result<()> {
    let file = File::open(private).map_err(|error| cannot(private, "read", error))?;
    let mut lines = PrivateLines(WipedReader::new(file, LONGEST));
    let write = |to: &mut dyn Write, bytes: &[u8]| to.write_all(bytes).map_err(|error| cannot(path, "write to", error));
    for (place, entry) in entries.iter().enumerate() {
        let line = lines.next().map_err(|error| cannot(private, "read", error))?;
        let key = format::load_public(&line, None)
            .ok()
            .map(|loaded| loaded.key)
            .filter(|key| hex::encode(format::fingerprint(key)) == entry.sha256)
            .ok_or_else(|| {
                let what = format!(
                    "key {} of {} is not the one that was made: the file was changed",
                    entry.number,
                    private.display()
                );
                Failure::new(Class::Input, what).advice("remove it, and make the keys anew")
            })?;
        write(to, if place == 0 { OPENING } else { SEPARATOR })?;
        write(to, &writer.public_named(&key, writer.name_of(entry.number))?)?;
    }
    write(to, CLOSING)
}

/// The keys of a set as `keygen` writes it, each on a line.
struct PrivateLines(WipedReader<File>);

impl PrivateLines {
    /// The next key, without what separates it from its neighbours; empty at the end.
    fn next(&mut self) -> io::Result<Zeroizing<Vec<u8>>> {
        loop {
            // The capacity is taken at once: growing would leave copies of the key behind.
            let mut line = Zeroizing::new(Vec::with_capacity(LONGEST));
            self.0.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line)?;
            if *line == OPENING {
                continue;
            }
            let kept = line.strip_suffix(SEPARATOR).unwrap_or(&line).len();
            line.truncate(kept);
            return Ok(line);
        }
    }
}

/// More bytes than the longest key takes on its line.
const LONGEST: usize = 1 << 16;

/// Compares what is written with what is there.
struct Compared {
    found: BufReader<File>,
    is_same: bool,
}

impl Compared {
    fn is_at_end(&mut self) -> bool {
        self.found.fill_buf().is_ok_and(<[u8]>::is_empty)
    }
}

impl Write for Compared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut there = vec![0; bytes.len()];
        self.is_same = self.is_same && self.found.read_exact(&mut there).is_ok() && there == bytes;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_set_is_named_after_the_private_one() {
        for (set, public) in [
            ("keys.json", "keys.pub.json"),
            ("a/keys.jwk", "a/keys.pub.jwk"),
            ("keys", "keys.pub.jwk"),
            ("a.b/keys", "a.b/keys.pub.jwk"),
        ] {
            assert_eq!(name(Path::new(set)), Path::new(public));
        }
    }
}
