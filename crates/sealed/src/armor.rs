//! Files as text: age's ASCII armor, a strict form of PEM.
//!
//! Lines have 64 characters of base64, the last one fewer or as many; they end with a line feed, or a carriage return
//! before it. White space may stand before the first line and after the last. Everything else is refused.

use std::io::{self, BufRead, Read, Write};

use base64::{Engine, engine::general_purpose::STANDARD as BASE64};

use crate::Error;

/// The first line.
pub const BEGIN: &str = "-----BEGIN AGE ENCRYPTED FILE-----";
/// The last line.
pub const END: &str = "-----END AGE ENCRYPTED FILE-----";

/// Characters of base64 on a line, and the bytes that they stand for.
const COLUMNS: usize = 64;
const BYTES: usize = 48;

/// The most white space before and after.
const MOST_SPACE: usize = 1024;

/// Writes a file as text. [`Writer::finish`] writes what is left and the last line.
pub struct Writer<W> {
    writer: W,
    has_begun: bool,
    /// Bytes that do not fill a line yet.
    rest: Vec<u8>,
    text: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes to a writer.
    pub fn new(writer: W) -> Self {
        Writer {
            writer,
            has_begun: false,
            rest: Vec::with_capacity(BYTES),
            text: Vec::new(),
        }
    }

    /// Ends the text.
    ///
    /// # Errors
    ///
    /// The errors of the writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.begin();
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.put(&rest);
        }
        self.text.extend(END.as_bytes());
        self.text.push(b'\n');
        self.send()?;
        self.writer.flush()?;
        Ok(self.writer)
    }

    fn begin(&mut self) {
        if !std::mem::replace(&mut self.has_begun, true) {
            self.text.extend(BEGIN.as_bytes());
            self.text.push(b'\n');
        }
    }

    fn put(&mut self, line: &[u8]) {
        let begin = self.text.len();
        self.text.resize(begin + COLUMNS, 0);
        let len = BASE64.encode_slice(line, &mut self.text[begin..]);
        self.text
            .truncate(begin + len.expect("a line has room for as many bytes"));
        self.text.push(b'\n');
    }

    fn send(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begin();
        let missing = (BYTES - self.rest.len()).min(bytes.len());
        let (first, after) = bytes.split_at(missing);
        self.rest.extend(first);
        if self.rest.len() == BYTES {
            let rest = std::mem::take(&mut self.rest);
            self.put(&rest);
            let lines = after.chunks_exact(BYTES);
            self.rest.extend(lines.remainder());
            lines.for_each(|line| self.put(line));
        }
        self.send()?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Bytes of the text that a [`Writer`] makes of so many.
pub(crate) fn text_len(bytes: u64) -> u64 {
    // Each line has an end, the first and the last one, too.
    let around = BEGIN.len() + 1 + END.len() + 1;
    around as u64 + bytes.div_ceil(3) * 4 + bytes.div_ceil(BYTES as u64)
}

/// Reads a file that was written as text. Faults are errors of the kind [`io::ErrorKind::InvalidData`] around an
/// [`Error::Armor`].
pub struct Reader<R> {
    source: R,
    place: Place,
    line: Vec<u8>,
    /// The bytes of a line, and how many of them were read.
    bytes: Vec<u8>,
    used: usize,
}

/// The part of the text that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Begin,
    /// A line, or the last one.
    Body,
    /// The last line, after one that is not full.
    End,
    Over,
}

impl<R: BufRead> Reader<R> {
    /// Reads from a reader.
    pub fn new(source: R) -> Self {
        Reader {
            source,
            place: Place::Begin,
            line: Vec::new(),
            bytes: Vec::new(),
            used: 0,
        }
    }

    /// Decodes the next line. Returns whether there was one.
    fn next(&mut self) -> io::Result<bool> {
        if self.place == Place::Begin {
            self.skip_space()?;
            self.read_line()?;
            if self.line != BEGIN.as_bytes() {
                return Err(refused("its first line is another"));
            }
            self.place = Place::Body;
        }
        if self.place == Place::Over {
            return Ok(false);
        }
        self.read_line()?;
        if self.line == END.as_bytes() {
            self.skip_space()?;
            self.place = Place::Over;
            return match peek(&mut self.source, <[u8]>::is_empty)? {
                true => Ok(false),
                false => Err(refused("something follows its last line")),
            };
        }
        if self.place == Place::End {
            return Err(refused("a line is too short"));
        }
        if self.line.is_empty() || self.line.len() > COLUMNS {
            return Err(refused("a line is empty or too long"));
        }
        self.bytes.clear();
        self.used = 0;
        BASE64
            .decode_vec(&self.line, &mut self.bytes)
            .map_err(|_| refused("a line is no canonical base64"))?;
        if self.bytes.len() < BYTES {
            self.place = Place::End;
        }
        Ok(true)
    }

    /// Reads a line, without its end.
    fn read_line(&mut self) -> io::Result<()> {
        self.line.clear();
        Read::take(&mut self.source, COLUMNS as u64 + 3).read_until(b'\n', &mut self.line)?;
        let has_end = self.line.ends_with(b"\n");
        if has_end {
            self.line.pop();
            if self.line.ends_with(b"\r") {
                self.line.pop();
            }
        }
        match has_end || self.line == END.as_bytes() {
            true => Ok(()),
            false if self.line.len() > COLUMNS => Err(refused("a line is empty or too long")),
            false => Err(refused("it is cut")),
        }
    }

    fn skip_space(&mut self) -> io::Result<()> {
        let mut skipped = 0;
        loop {
            let (spaces, len) = peek(&mut self.source, |bytes| {
                let spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace());
                (spaces.count(), bytes.len())
            })?;
            if spaces == 0 {
                return Ok(());
            }
            self.source.consume(spaces);
            skipped += spaces;
            if skipped > MOST_SPACE {
                return Err(refused("too much white space is around it"));
            }
            if spaces < len {
                return Ok(());
            }
        }
    }
}

impl<R: BufRead> Read for Reader<R> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        while self.used == self.bytes.len() {
            if room.is_empty() || !self.next()? {
                return Ok(0);
            }
        }
        let len = room.len().min(self.bytes.len() - self.used);
        room[..len].copy_from_slice(&self.bytes[self.used..][..len]);
        self.used += len;
        Ok(len)
    }
}

/// What `look` finds in the bytes that come next, of which there are none at the end. A call that a signal interrupts
/// is repeated, as the standard library does where it reads.
pub(crate) fn peek<T>(source: &mut impl BufRead, look: impl Fn(&[u8]) -> T) -> io::Result<T> {
    loop {
        match source.fill_buf() {
            Ok(bytes) => return Ok(look(bytes)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn refused(reason: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, Error::Armor { reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(bytes in prop::collection::vec(any::<u8>(), 0..500), cut in 1..200_usize) {
            let mut writer = Writer::new(Vec::new());
            for part in bytes.chunks(cut) {
                writer.write_all(part).expect("memory takes it");
            }
            let text = writer.finish().expect("memory takes it");
            let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            prop_assert!(lines.iter().all(|line| line.len() <= COLUMNS));
            prop_assert_eq!(lines.len(), 3 + bytes.len().div_ceil(BYTES));
            prop_assert_eq!(text.len() as u64, text_len(bytes.len() as u64));
            let mut read = Vec::new();
            Reader::new(&text[..]).read_to_end(&mut read).expect("it was written just now");
            prop_assert_eq!(read, bytes);
        }

        #[test]
        fn a_cut_text_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0..400_usize) {
            let mut writer = Writer::new(Vec::new());
            writer.write_all(&bytes).expect("memory takes it");
            let text = writer.finish().expect("memory takes it");
            // The last line feed may be missing.
            let cut = cut.min(text.len() - 2);
            let refused = Reader::new(&text[..cut]).read_to_end(&mut Vec::new()).expect_err("it was cut");
            prop_assert_eq!(refused.kind(), io::ErrorKind::InvalidData);
        }
    }
}
