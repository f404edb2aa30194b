//! Tables in Apache Parquet: the cells of a column of moduli, as text.
//!
//! | question | file |
//! |---|---|
//! | which column, and which rows | here |
//! | which columns are there, and where is each | `footer` |
//! | where do pages begin and end, and how are they unpacked | `pages` |
//! | which values are in a page | `values` |
//! | how are structures stored | `thrift` |
//! | why is a table not read | `fault` |
//!
//! Written here for what strangers send: in the library for it (`parquet` 60.1) decoders of values panic where a page
//! has fewer bytes than it states, unpacking takes whatever memory is stated, and a list of two thousand million truth
//! values, which take no byte there, is gone through in seconds. Tests write their tables with it.

mod fault;
mod footer;
mod pages;
mod thrift;
mod values;

use std::{
    fs::File,
    io::{Read, Seek},
};

use self::{
    fault::Fault,
    footer::{Chunk, Column, Group},
    pages::{Bounded, Pages, Shape},
    values::{Damaged, Len},
};
use super::{
    piece::{Body, COLUMNS, LINES, PIECE, Piece, Sink},
    texts::Texts,
};
/// The first bytes of a table.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// The first bytes of a table whose footer is encrypted.
pub(super) const ENCRYPTED: &[u8] = b"PARE";

/// Rows for a byte of the file at most: one value may be stored once for a thousand million rows.
const MOST_ROWS: u64 = 8;
/// The longest cell that is looked at: no modulus has more digits. One value may be a thousand million cells.
const MOST_CELL: usize = 5_000;

/// Bytes of the longest footer.
const MOST_FOOTER: u64 = 64 << 20;

/// A table that is read.
#[derive(Debug)]
struct Table<R> {
    file: Bounded<R>,
    column: Column,
    groups: Vec<Group>,
    rows: u64,
}

/// Reads the cells of a table's column of moduli, that of this name if there is one; of a table that is longer than
/// `most` bytes, the first ones, as many as these are of its bytes.
///
/// A column of text has digits, one of bytes digits or the big-endian number.
pub(super) fn rows(
    file: impl Read + Seek,
    len: u64,
    most: u64,
    column: Option<&str>,
    document: u32,
    sink: &mut dyn Sink,
) {
    let table = Table::open(file, len, column).map_err(|fault| fault.body("its footer"));
    let read = table.and_then(|table| table.read(most, document, sink));
    if let Err(body) = read {
        sink.piece(Piece { document, body });
    }
}

impl<R: Read + Seek> Table<R> {
    fn open(file: R, len: u64, column: Option<&str>) -> Result<Table<R>, Fault> {
        let mut file = Bounded { file, len };
        // Its length, and the magic number once more.
        let tail = file.bytes(len.checked_sub(8).ok_or(Damaged)?, 8)?;
        let footer = tail.first_chunk().map_or(0, |len| u64::from(u32::from_le_bytes(*len)));
        if &tail[4..] != MAGIC {
            return Err(Fault::Damaged);
        }
        if footer > MOST_FOOTER {
            return Err(Fault::NotRead(format!("has a footer of {footer} bytes")));
        }
        let footer = file.bytes((len - 8).checked_sub(footer).ok_or(Damaged)?, footer)?;
        let (column, groups) = footer::read(&footer, &mut |columns| column_of_moduli(columns, column))?;
        let rows: u64 = groups.iter().map(|group| group.rows).fold(0, u64::saturating_add);
        if rows > len.saturating_mul(MOST_ROWS) {
            let what = format!("states {rows} rows in {len} bytes; give its column of moduli as text");
            return Err(Fault::NotRead(what));
        }
        Ok(Table {
            file,
            column,
            groups,
            rows,
        })
    }

    fn read(mut self, most: u64, document: u32, sink: &mut dyn Sink) -> Result<(), Body> {
        let groups = std::mem::take(&mut self.groups);
        let share = usize::try_from(self.file.len).unwrap_or(usize::MAX) / groups.len().max(1);
        let mut left = match most < self.file.len {
            true => (u128::from(self.rows) * u128::from(most)).div_ceil(u128::from(self.file.len)) as u64,
            false => self.rows,
        };
        let mut cells = Cells {
            document,
            row: 0,
            texts: Texts::with_room(2 * PIECE),
            sink,
        };
        for (number, group) in groups.iter().enumerate() {
            let limit = group.rows.min(left);
            if limit == 0 {
                continue;
            }
            left -= limit;
            let read = self.read_group(&group.chunk, limit, &mut cells);
            cells.sink.read(share);
            cells.end();
            read.map_err(|fault| fault.body(&format!("row group {}", number + 1)))?;
        }
        Ok(())
    }

    /// Reads the first cells of a group of rows, so many.
    fn read_group(&mut self, chunk: &Chunk, limit: u64, to: &mut Cells<'_>) -> Result<(), Fault> {
        let shape = Shape {
            len: match self.column.kind {
                Some(Column::FIXED) => Len::All(usize::try_from(self.column.len).map_err(|_| Damaged)?),
                _ => Len::Each,
            },
            most_level: self.column.most_level,
        };
        let is_text = self.column.is_text;
        let mut pages = Pages::of(&mut self.file, chunk, shape)?;
        let mut left = limit;
        while left > 0 {
            let page = pages.next()?.ok_or(Damaged)?;
            let mut cells = pages.cells(&page)?;
            for _ in 0..left.min(page.count.into()) {
                to.push(cells.next()?.unwrap_or_default(), is_text);
                left -= 1;
            }
        }
        Ok(())
    }
}

/// Cells as text, with their numbers from 1: a row without a value has an empty one, as in CSV.
struct Cells<'a> {
    document: u32,
    row: usize,
    texts: Texts,
    sink: &'a mut dyn Sink,
}

impl Cells<'_> {
    fn push(&mut self, value: &[u8], is_text: bool) {
        let value = if value.len() > MOST_CELL { &[] } else { value };
        let text = self.texts.bytes_mut();
        if is_text || is_number(value) {
            text.extend_from_slice(value);
        } else {
            text.extend_from_slice(b"0x");
            text.extend_from_slice(hex::encode(value).as_bytes());
        }
        self.row += 1;
        self.texts.end(self.row);
        if self.texts.count() == LINES || self.texts.bytes() > PIECE {
            self.end();
        }
    }

    /// Hands over what is there.
    fn end(&mut self) {
        self.sink.piece(Piece {
            document: self.document,
            body: Body::Rows(self.texts.take()),
        });
    }
}

/// The number of the column of moduli.
fn column_of_moduli(columns: &[Column], name: Option<&str>) -> Result<usize, Fault> {
    let is_meant = |column: &Column| match name {
        Some(name) => column.path == name,
        None => COLUMNS.iter().any(|one| column.path.eq_ignore_ascii_case(one)),
    };
    let Some(number) = columns.iter().position(is_meant) else {
        let which = match name {
            Some(name) => format!("`{name}`"),
            None => format!("of moduli ({}); name it by `--column`", COLUMNS.join(", ")),
        };
        return Err(Fault::NoColumn(format!("has no column {which}")));
    };
    let column = &columns[number];
    let path = &column.path;
    if !matches!(column.kind, Some(Column::BYTES | Column::FIXED)) {
        let kind = column.kind_in_words();
        return Err(Fault::NotRead(format!(
            "has {kind} in the column `{path}`, and moduli are text or bytes"
        )));
    }
    if column.is_list {
        return Err(Fault::NotRead(format!(
            "has lists in the column `{path}`, where a cell is to hold a modulus"
        )));
    }
    Ok(number)
}

/// Returns whether bytes are digits already: some programs write text without saying so. A number of 256 bits or more
/// would be digits alone once in 2^100.
fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b':')
}

/// The length of a file that can be read from any place on, where it is one.
pub(super) fn seekable(file: &File) -> Option<u64> {
    file.metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|found| found.len())
}
