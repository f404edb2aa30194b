//! Reading: each file in pieces, so that many of them, and parts of a long one, are worked on at once.
//!
//! | a file that | is read as |
//! |---|---|
//! | is a TAR archive | the files in it |
//! | begins as the manifest of a folder of ours | what that promises |
//! | has a line of names of columns, one of which is that of a modulus | the cells of that column |
//! | is a table in Apache Parquet | the cells of its column of moduli |
//! | is text without PEM or JSON | `lines` |
//! | is anything else | a whole, which the library for keys reads |

use std::{
    fs::File,
    io::{self, Chain, Cursor, Read, stdin},
    sync::Arc,
};

use rsalab_rsa::format::{MAX_SET_LEN, WipedReader};
use zeroize::Zeroizing;

use super::{
    csv::{cells, names},
    inventory::Entry,
    lines::{self, lines},
    manifest, parquet,
    piece::{BUFFER, Body, COLUMNS, Document, Piece, Sink},
};
use crate::issue::Issue;

/// Bytes by which the kind of a file is known.
const HEAD: usize = 64 << 10;
/// Bytes of a block of an archive.
const BLOCK: usize = 512;

/// How files are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reader<'a> {
    /// The column of moduli, where it has a name of its own.
    pub(crate) column: Option<&'a str>,
    /// Bytes of each file that are read; all if there is none.
    pub(crate) most: Option<u64>,
}

/// The beginning of a file, and the rest.
type FileBytes<'a> = Chain<Cursor<Zeroizing<Vec<u8>>>, &'a mut dyn Read>;

impl Reader<'_> {
    /// Reads a file.
    pub(crate) fn read(self, entry: &Entry, sink: &mut dyn Sink) {
        let most = self.most.unwrap_or(u64::MAX);
        let name: Arc<str> = match &entry.path {
            Some(path) => path.display().to_string().into(),
            None => "standard input".into(),
        };
        let document = Document {
            name,
            is_named: entry.is_named,
            is_archive: false,
        };
        match &entry.path {
            Some(path) => match File::open(path) {
                Ok(file) => self.read_file(document, file, entry.len, most, sink),
                Err(error) => not_read(document, &error, sink),
            },
            None => self.read_stream(document, &mut stdin().lock().take(most), None, true, sink),
        }
    }

    /// Reads a file of the file system.
    fn read_file(self, document: Document, mut file: File, len: Option<u64>, most: u64, sink: &mut dyn Sink) {
        let magic = parquet::MAGIC;
        let mut head = Zeroizing::new(Vec::with_capacity(magic.len()));
        if let Err(error) = file.by_ref().take(most.min(magic.len() as u64)).read_to_end(&mut head) {
            return not_read(document, &error, sink);
        }
        match parquet::seekable(&file) {
            Some(all) if head.as_slice() == magic => {
                let number = sink.document(document);
                parquet::rows(file, all, most, self.column, number, sink);
            }
            _ => {
                let left = most - head.len() as u64;
                let mut bytes = Cursor::new(head).chain(file.take(left));
                self.read_stream(document, &mut bytes, len, true, sink);
            }
        }
    }

    /// Reads a file, or one of an archive, whose length is known or not.
    fn read_stream(
        self,
        document: Document,
        rest: &mut dyn Read,
        len: Option<u64>,
        may_be_archive: bool,
        sink: &mut dyn Sink,
    ) {
        // All of the room is wiped, and keys are short.
        let room = len.map_or(HEAD, |len| HEAD.min(usize::try_from(len).unwrap_or(HEAD)));
        let mut head = Zeroizing::new(Vec::with_capacity(room));
        if let Err(error) = rest.take(HEAD as u64).read_to_end(&mut head) {
            return not_read(document, &error, sink);
        }
        if may_be_archive && head.get(257..262) == Some(b"ustar") {
            let rest: &mut dyn Read = &mut WipedReader::new(rest, BUFFER);
            return self.read_archive(document, &mut Cursor::new(head).chain(rest), sink);
        }
        let is_all = head.len() < HEAD;
        let name = document.name.clone();
        let number = sink.document(document);
        let mut whole = |head| all_of(head, rest).inspect(|bytes| sink.read(bytes.len()));
        let body = if head.starts_with(parquet::MAGIC) {
            // It is read from its end on.
            match all_of(head, rest) {
                Ok(table) => {
                    let (len, mut table) = (table.len() as u64, Cursor::new(table.as_slice()));
                    return parquet::rows(&mut table, len, len, self.column, number, sink);
                }
                Err(body) => Err(body),
            }
        } else if let Some(what) = not_read_here(&head) {
            sink.read(head.len());
            Err(Body::Issue(Issue::new("not-examined", what)))
        } else if manifest::is(&head) {
            return lines::manifest(number, Cursor::new(head).chain(rest), name, sink);
        } else if !is_text(&head)
            || head.trim_ascii().is_empty()
            || has_pem(&head)
            || (is_json(&head) && (is_all || head.trim_ascii_start()[0] == b'['))
        {
            whole(head).map(Body::Whole)
        } else if let Some((delimiter, column)) = self.table(&head) {
            return cells(number, Cursor::new(head).chain(rest), delimiter, column, sink);
        } else if is_json(&head) && !first_line(&head).trim_ascii_end().ends_with(b"}") {
            // A set is a whole, a stream is a key a line.
            whole(head).map(Body::Whole)
        } else {
            return lines(number, Cursor::new(head).chain(rest), sink);
        };
        let body = body.unwrap_or_else(|issue| issue);
        sink.piece(Piece { document: number, body });
    }

    fn read_archive(self, document: Document, bytes: &mut FileBytes<'_>, sink: &mut dyn Sink) {
        let archive = document.name.clone();
        let number = sink.document(Document {
            is_archive: true,
            ..document
        });
        let torn = |error: io::Error| Piece {
            document: number,
            body: Body::Issue(Issue::new(
                "unreadable",
                format!("this archive is cut or damaged: {}", error.kind()),
            )),
        };
        let mut archive_of_files = tar::Archive::new(bytes);
        let entries = match archive_of_files.entries() {
            Ok(entries) => entries,
            Err(error) => return sink.piece(torn(error)),
        };
        for entry in entries {
            let mut entry = match entry {
                Ok(entry) => entry,
                Err(error) => return sink.piece(torn(error)),
            };
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let member = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let document = Document {
                name: format!("{archive}:{member}").into(),
                is_named: false,
                is_archive: false,
            };
            let len = entry.size();
            // Its header, and what fills its last block.
            sink.read(BLOCK + (len.wrapping_neg() % BLOCK as u64) as usize);
            self.read_stream(document, &mut entry, Some(len), false, sink);
            // Most files of an archive were read to their end.
            let is_left = entry.read(&mut [0]).map(|read| read > 0);
            let rest = is_left.and_then(|is_left| match is_left {
                true => io::copy(&mut entry, &mut io::sink()),
                false => Ok(0),
            });
            if rest.is_err() && len > 0 {
                return sink.piece(torn(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }

    /// The delimiter of a table, and the number of its column of moduli, by its first row.
    fn table(self, head: &[u8]) -> Option<(u8, usize)> {
        let is_meant = |name: &[u8], is_alone: bool| match self.column {
            Some(column) => name == column.as_bytes(),
            // A word alone is a line like others.
            None if is_alone => name.eq_ignore_ascii_case(b"modulus"),
            None => COLUMNS
                .iter()
                .any(|column| name.eq_ignore_ascii_case(column.as_bytes())),
        };
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        [b',', b';', b'\t'].into_iter().find_map(|delimiter| {
            let names = names(text, delimiter);
            let mut places = names.iter();
            let column = places.position(|name| is_meant(name.trim_ascii(), names.len() == 1))?;
            Some((delimiter, column))
        })
    }
}

/// All of a file, if it is not too long.
fn all_of(mut head: Zeroizing<Vec<u8>>, rest: &mut dyn Read) -> Result<Zeroizing<Vec<u8>>, Body> {
    loop {
        // What is outgrown is wiped: it may be a set of private keys.
        let capacity = (2 * head.len()).clamp(1 << 12, MAX_SET_LEN + 1);
        let mut longer = Zeroizing::new(Vec::with_capacity(capacity));
        longer.extend_from_slice(&head);
        head = longer;
        let room = head.capacity() - head.len();
        let read = match (&mut *rest).take(room as u64).read_to_end(&mut head) {
            Ok(read) => read,
            Err(error) => return Err(Body::Issue(Issue::new("not-read", error.to_string()))),
        };
        if head.len() > MAX_SET_LEN {
            let what = format!("it is longer than {} MiB; give it in parts", MAX_SET_LEN >> 20);
            let issue = Issue::new("not-examined", what);
            // Bytes that begin as no key does are those of any other file.
            return Err(
                match is_text(&head[..HEAD]) || is_der(&head) || has_pem(&head[..HEAD]) {
                    true => Body::Issue(issue),
                    false => Body::Unread(issue),
                },
            );
        }
        if read < room {
            return Ok(head);
        }
    }
}

fn not_read(document: Document, error: &io::Error, sink: &mut dyn Sink) {
    let number = sink.document(document);
    sink.piece(Piece {
        document: number,
        body: Body::Issue(Issue::new("not-read", error.to_string())),
    });
}

/// The command that makes a file that is read here of one that is not.
fn not_read_here(head: &[u8]) -> Option<String> {
    if head.starts_with(parquet::ENCRYPTED) {
        return Some("it is an encrypted table in Apache Parquet; give its column of moduli as text".to_owned());
    }
    compression(head).map(|how| format!("it is compressed; give it unpacked: `{how} FILE | rsalab audit -`"))
}

/// The command that unpacks a file.
fn compression(head: &[u8]) -> Option<&'static str> {
    const MAGIC: [(&[u8], &str); 5] = [
        (b"\x1f\x8b", "gunzip -c"),
        (b"\xfd7zXZ\0", "xz -dc"),
        (b"BZh", "bunzip2 -c"),
        (b"\x28\xb5\x2f\xfd", "zstd -dc"),
        (b"PK\x03\x04", "unzip -p"),
    ];
    MAGIC
        .iter()
        .find(|(magic, _)| head.starts_with(magic))
        .map(|(_, how)| *how)
}

/// Returns whether bytes are of a text, in UTF-8 or a code of one byte.
fn is_text(head: &[u8]) -> bool {
    let is_binary = |&byte: &u8| byte < b' ' && !b"\t\n\r\x0c".contains(&byte);
    !is_der(head) && !head.iter().any(is_binary)
}

/// Returns whether bytes begin as a sequence of DER, whose length is long.
fn is_der(head: &[u8]) -> bool {
    head.first() == Some(&0x30) && head.get(1).is_some_and(|&next| next > 0x7f)
}

fn has_pem(head: &[u8]) -> bool {
    let marks: [&[u8]; 2] = [b"-----BEGIN ", b"-----END "];
    let mut rest = head;
    while let Some(dash) = rest.iter().position(|&byte| byte == b'-') {
        rest = &rest[dash..];
        if marks.iter().any(|mark| rest.starts_with(mark)) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

fn is_json(head: &[u8]) -> bool {
    matches!(head.trim_ascii_start(), [b'{' | b'[', ..])
}

fn first_line(head: &[u8]) -> &[u8] {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    text.split(|&byte| byte == b'\n').next().unwrap_or_default()
}
