//! Tables of cells with a delimiter between them: those of a column of moduli.

use std::{
    io::{self, BufRead, Read},
    mem,
};

use csv_core::{ReadFieldResult, ReaderBuilder};
use rsalab_rsa::format::WipedReader;
use zeroize::Zeroizing;

use super::{
    piece::{BUFFER, Body, LINES, PIECE, Piece, Sink},
    texts::Texts,
};
use crate::issue::Issue;

/// The longest row: a quotation mark that is not closed makes one of all that follows.
const MOST_ROW: usize = 1 << 20;
/// Bytes of a cell that are taken at once.
const PART: usize = 4 << 10;

/// The cells of the first row, which are the names of columns, in a table with this delimiter.
pub(super) fn names(head: &[u8], delimiter: u8) -> Vec<Vec<u8>> {
    let mut parser = ReaderBuilder::new().delimiter(delimiter).build();
    let (mut names, mut name, mut rest, mut part) = (Vec::new(), Vec::new(), head, [0; 256]);
    loop {
        let (result, read, written) = parser.read_field(rest, &mut part);
        rest = &rest[read..];
        name.extend_from_slice(&part[..written]);
        match result {
            ReadFieldResult::Field { record_end } => {
                names.push(mem::take(&mut name));
                if record_end {
                    return names;
                }
            }
            ReadFieldResult::End => return names,
            // Where nothing is left, the next call is told that it was the end.
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
        }
    }
}

/// Reads the cells of a column, without its name.
///
/// Every buffer is wiped: other columns may hold what is secret.
pub(super) fn cells(document: u32, bytes: impl Read, delimiter: u8, column: usize, sink: &mut dyn Sink) {
    let mut table = Table {
        bytes: WipedReader::new(bytes, BUFFER),
        parser: ReaderBuilder::new().delimiter(delimiter).build(),
        part: Zeroizing::new(vec![0; PART]),
    };
    let mut batch = Texts::with_room(2 * PIECE);
    let mut is_names = true;
    let mut len = 0;
    let issue = loop {
        let line = usize::try_from(table.parser.line()).unwrap_or(usize::MAX);
        match table.row(column, (!is_names).then(|| batch.bytes_mut())) {
            Ok(0) => break None,
            Ok(read) => len += read,
            Err(issue) => break Some(issue),
        }
        if !mem::take(&mut is_names) {
            batch.end(line);
        }
        if batch.count() == LINES || batch.bytes() > PIECE {
            sink.read(mem::take(&mut len));
            let body = Body::Moduli(batch.take());
            sink.piece(Piece { document, body });
        }
    };
    sink.read(len);
    let last = Body::Moduli(batch.take());
    for body in [Some(last), issue.map(Body::Issue)].into_iter().flatten() {
        sink.piece(Piece { document, body });
    }
}

/// A table that is read row by row.
struct Table<R> {
    bytes: WipedReader<R>,
    parser: csv_core::Reader,
    part: Zeroizing<Vec<u8>>,
}

impl<R: Read> Table<R> {
    /// Reads a row, writes one of its cells to the end of `to`, and returns the row's bytes: none after the last.
    fn row(&mut self, column: usize, mut to: Option<&mut Vec<u8>>) -> Result<usize, Issue> {
        let (mut cell, mut len) = (0, 0);
        let start = to.as_ref().map_or(0, |to| to.len());
        let issue = loop {
            let input = match self.bytes.fill_buf() {
                Ok(input) => input,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => break Issue::new("not-read", error.to_string()),
            };
            let (result, read, written) = self.parser.read_field(input, &mut self.part);
            self.bytes.consume(read);
            len += read;
            if let Some(to) = to.as_mut().filter(|_| cell == column) {
                to.extend_from_slice(&self.part[..written]);
            }
            match result {
                ReadFieldResult::End => return Ok(0),
                ReadFieldResult::Field { record_end: true } => return Ok(len.max(1)),
                ReadFieldResult::Field { record_end: false } => cell += 1,
                ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            }
            if len > MOST_ROW {
                break Issue::new(
                    "unreadable",
                    format!("a row of this table is longer than {MOST_ROW} bytes; is a quotation mark not closed?"),
                );
            }
        };
        if let Some(to) = to {
            to.truncate(start);
        }
        Err(issue)
    }
}
