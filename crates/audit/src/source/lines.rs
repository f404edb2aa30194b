//! The lines of a text. A DNS record in brackets and a PEM block go on over several of them, and are one; lines that
//! only begin as such are handed on one by one, so that nothing hides those after it.

use std::{
    io::{BufRead, Read},
    sync::Arc,
};

use rsalab_rsa::format::{INSECURE, WipedReader};

use super::{
    line::{BEGIN, is_comment},
    piece::{BUFFER, Body, LINES, PIECE, Piece, Sink},
    texts::Texts,
};
use crate::issue::Issue;

/// The longest line, and the most bytes of lines that are one.
const MOST_LINE: usize = 1 << 20;
/// Lines of a DNS record in brackets.
const MOST_RECORD: usize = 256;

/// Reads lines.
pub(super) fn lines(document: u32, bytes: impl Read, sink: &mut dyn Sink) {
    read(document, bytes, None, sink);
}

/// Reads the lines of the manifest with this name, of which each is one.
pub(super) fn manifest(document: u32, bytes: impl Read, name: Arc<str>, sink: &mut dyn Sink) {
    read(document, bytes, Some(name), sink);
}

fn read(document: u32, bytes: impl Read, manifest: Option<Arc<str>>, sink: &mut dyn Sink) {
    let mut bytes = WipedReader::new(bytes, BUFFER);
    let mut batch = Batch {
        texts: Texts::with_room(2 * PIECE),
        open: None,
        manifest,
    };
    let mut number = 0;
    let issue = loop {
        let start = batch.texts.bytes();
        let text = batch.texts.bytes_mut();
        match bytes.by_ref().take(MOST_LINE as u64).read_until(b'\n', text) {
            Ok(0) => break None,
            Ok(_) => number += 1,
            Err(error) => {
                text.truncate(start);
                break Some(Issue::new("not-read", error.to_string()));
            }
        }
        if text.len() - start == MOST_LINE {
            text.truncate(start);
            let what = format!("line {number} is longer than {MOST_LINE} bytes");
            break Some(Issue::new("unreadable", what));
        }
        batch.line(number, start);
        let is_full = batch.texts.count() >= LINES || batch.texts.bytes() > PIECE;
        if batch.open.is_none() && is_full {
            batch.hand_on(document, sink);
        }
    };
    batch.break_up();
    batch.hand_on(document, sink);
    if let Some(issue) = issue {
        let body = Body::Issue(issue);
        sink.piece(Piece { document, body });
    }
}

/// Lines that are handed on together.
struct Batch {
    texts: Texts,
    /// The last lines, which are one if they end as they began.
    open: Option<Open>,
    /// The name of the manifest whose lines they are.
    manifest: Option<Arc<str>>,
}

/// Lines that may be one.
struct Open {
    kind: Kind,
    /// The number of the first.
    first: usize,
    /// Where the first begins, and where each ends.
    start: usize,
    ends: Vec<usize>,
}

#[derive(Clone, Copy)]
enum Kind {
    /// A DNS record, with so many open brackets, between which line ends are blanks.
    Record(isize),
    /// The mark of a key that was made from a seed: it stands before the block of that key.
    Mark,
    /// A PEM block.
    Block,
}

impl Batch {
    /// Takes the line of this number, the last of the texts, which begins at a place.
    fn line(&mut self, number: usize, start: usize) {
        if self.manifest.is_some() {
            return self.texts.end(number);
        }
        let end = self.texts.bytes();
        let text = &self.texts.bytes_mut()[start..];
        let trimmed = text.trim_ascii_start();
        let (is_begin, is_end) = (trimmed.starts_with(BEGIN), trimmed.starts_with(b"-----END "));
        let brackets = brackets(text);
        let kind = match is_begin {
            true => Some(Kind::Block),
            false if text.trim_ascii() == INSECURE.as_bytes() => Some(Kind::Mark),
            false if brackets > 0 && is_record(text) => Some(Kind::Record(brackets)),
            false => None,
        };
        // A block begins after the mark, and ends whatever else is open.
        if let Some(open) = &mut self.open
            && is_begin == matches!(open.kind, Kind::Mark)
        {
            open.ends.push(end);
            let (is_whole, most_lines) = match open.kind {
                Kind::Mark => {
                    open.kind = Kind::Block;
                    (false, usize::MAX)
                }
                Kind::Block => (is_end, usize::MAX),
                Kind::Record(depth) => {
                    open.kind = Kind::Record(depth + brackets);
                    (depth + brackets <= 0, MOST_RECORD)
                }
            };
            let (first, is_long) = (
                open.first,
                open.ends.len() >= most_lines || end - open.start >= MOST_LINE,
            );
            if is_whole {
                self.open = None;
                self.texts.end(first);
            } else if is_long {
                self.break_up();
            }
            return;
        }
        self.break_up();
        match kind {
            Some(kind) => {
                self.open = Some(Open {
                    kind,
                    first: number,
                    start,
                    ends: vec![end],
                });
            }
            None => self.texts.end(number),
        }
    }

    /// Ends the lines that are open one by one: they do not end as they began.
    fn break_up(&mut self) {
        if let Some(open) = self.open.take() {
            for (number, end) in (open.first..).zip(open.ends) {
                self.texts.end_at(number, end);
            }
        }
    }

    /// Hands on all lines, of which none is open.
    fn hand_on(&mut self, document: u32, sink: &mut dyn Sink) {
        sink.read(self.texts.bytes());
        let texts = self.texts.take();
        let body = match &self.manifest {
            Some(name) => Body::Manifest(Arc::clone(name), texts),
            None => Body::Lines(texts),
        };
        sink.piece(Piece { document, body });
    }
}

/// Returns whether a line may begin a DNS record with a key.
fn is_record(line: &[u8]) -> bool {
    const KINDS: [&[u8]; 4] = [b"TXT", b"DNSKEY", b"CDNSKEY", b"KEY"];
    let mut words = line.split(u8::is_ascii_whitespace);
    !is_comment(line) && words.any(|word| KINDS.iter().any(|kind| word.eq_ignore_ascii_case(kind)))
}

/// Brackets of a record that a line opens, less those that it closes: strings and comments have none.
fn brackets(line: &[u8]) -> isize {
    if !line.contains(&b'(') && !line.contains(&b')') {
        return 0;
    }
    let (mut depth, mut is_quoted, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b';' => break,
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Document;

    /// Takes lines as texts, each with its number.
    #[derive(Default)]
    struct Taken(Vec<(usize, String)>);

    impl Sink for Taken {
        fn document(&mut self, _: Document) -> u32 {
            0
        }

        fn piece(&mut self, piece: Piece) {
            let Body::Lines(texts) = piece.body else {
                panic!("something else than lines");
            };
            let each = texts.iter().map(|(number, text)| (number, text.to_vec()));
            let each = each.map(|(number, text)| (number, String::from_utf8(text).expect("it was text")));
            self.0.extend(each);
        }

        fn read(&mut self, _: usize) {}
    }

    /// The numbers of the first lines of texts, and how many lines each has.
    fn texts(text: &str) -> Vec<(usize, usize)> {
        let mut taken = Taken::default();
        lines(0, text.as_bytes(), &mut taken);
        let all: String = taken.0.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(all, text);
        taken
            .0
            .iter()
            .map(|(number, text)| (*number, text.lines().count()))
            .collect()
    }

    #[test]
    fn records_and_blocks_are_one_and_nothing_else_is() {
        assert_eq!(texts("x IN TXT (\n\"a\"\n) ; end\nb\n"), [(1, 3), (4, 1)]);
        assert_eq!(texts("-----BEGIN X-----\na\n-----END X-----\nb"), [(1, 3), (4, 1)]);
        let marked = format!("a\n{INSECURE}\n-----BEGIN X-----\n-----END X-----\n");
        assert_eq!(texts(&marked), [(1, 1), (2, 3)]);
        let one_by_one = |lines: usize| (1..=lines).map(|number| (number, 1)).collect::<Vec<_>>();
        for text in [
            "# my TXT key :(\na\nb )\n",
            "; TXT (\na\n)\n",
            "// a KEY (\na\n)\n",
            "x IN TXT \"smile :(\"\na\nb )\n",
            "x IN TXT a ; (\nb\n)\n",
            "x IN TXT (\na\nb\n",
            "words (\na )\n",
            "-----BEGIN X-----\na\nb\n",
            "x IN TXT (\n-----BEGIN X-----\na\n",
        ] {
            assert_eq!(texts(text), one_by_one(text.lines().count()), "{text}");
        }
        assert_eq!(texts(&format!("{INSECURE}\na\n")), one_by_one(2));
        // A block that does not end stands in the way of no other.
        let two = "-----BEGIN X-----\na\n-----BEGIN X-----\na\n-----END X-----\n";
        assert_eq!(texts(two), [(1, 1), (2, 1), (3, 3)]);
        let long = format!("x KEY (\n{}", "a\n".repeat(2 * MOST_RECORD));
        assert_eq!(texts(&long), one_by_one(2 * MOST_RECORD + 1));
    }
}
