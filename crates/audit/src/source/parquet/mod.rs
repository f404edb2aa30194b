//! Tables in Apache Parquet: the cells of a column of moduli, as text.
//!
//! | question | file |
//! |---|---|
//! | which column, and which rows | here |
//! | where do pages begin and end, and how are they unpacked | `pages` |
//! | which values are in a page | `values` |
//!
//! The library for it reads the footer and the heads of pages. It believes what a file states, and a file may state
//! anything: its decoders of values end in a panic then, and its unpacking takes whatever memory a page is said to
//! need. So pages are asked for as they are stored.

mod pages;
mod values;

use std::{fs::File, sync::Arc};

use parquet::{
    basic::{Compression, ConvertedType, LogicalType, Type},
    errors::ParquetError,
    file::{
        metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData},
        reader::ChunkReader,
    },
    schema::types::{ColumnDescPtr, ColumnDescriptor},
};

use self::{
    pages::{Bounded, Pages, Shape, damaged},
    values::Len,
};
use super::{
    piece::{Body, COLUMNS, PIECE, Piece, Sink},
    texts::Texts,
};
use crate::issue::Issue;

/// The first bytes of a table.
pub(super) const MAGIC: &[u8] = b"PAR1";
/// The first bytes of a table whose footer is encrypted.
pub(super) const ENCRYPTED: &[u8] = b"PARE";

/// Rows for a byte of the file at most: one value may be stored once for a thousand million rows.
const MOST_ROWS: u64 = 16;
/// Rows of a piece.
const ROWS: usize = 64;

/// A table that is read.
#[derive(Debug)]
struct Table<R> {
    file: Arc<Bounded<R>>,
    metadata: ParquetMetaData,
    /// The number of the column of moduli.
    column: usize,
    rows: u64,
}

/// Reads the cells of a table's column of moduli, that of this name if there is one; of a table that is longer than
/// `most` bytes, the first ones, as many as these are of its bytes.
///
/// A column of text has digits, one of bytes digits or the big-endian number.
pub(super) fn rows(
    file: impl ChunkReader + 'static,
    len: u64,
    most: u64,
    column: Option<&str>,
    document: u32,
    sink: &mut dyn Sink,
) {
    let read = Table::open(file, len, column).and_then(|table| table.read(most, document, sink));
    if let Err(issue) = read {
        let body = Body::Issue(issue);
        sink.piece(Piece { document, body });
    }
}

impl<R: ChunkReader + 'static> Table<R> {
    fn open(file: R, len: u64, column: Option<&str>) -> Result<Table<R>, Issue> {
        let file = Bounded { file, len };
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&file)
            .map_err(|error| unread(&error, "its footer"))?;
        let column = column_of_moduli(&metadata, column)?;
        let rows: u64 = metadata.row_groups().iter().map(rows_of).fold(0, u64::saturating_add);
        if rows > len.saturating_mul(MOST_ROWS) {
            let what = format!("this table states {rows} rows in {len} bytes; give its column of moduli as text");
            return Err(Issue::new("not-examined", what));
        }
        Ok(Table {
            file: Arc::new(file),
            metadata,
            column,
            rows,
        })
    }

    fn read(&self, most: u64, document: u32, sink: &mut dyn Sink) -> Result<(), Issue> {
        let groups = self.metadata.row_groups();
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
            let limit = rows_of(group).min(left);
            if limit == 0 {
                continue;
            }
            left -= limit;
            let column = group.column(self.column);
            unpacking(column.compression())?;
            let read = self.read_group(column, rows_of(group), limit, &mut cells);
            cells.end();
            read.map_err(|error| unread(&error, &format!("row group {}", number + 1)))?;
            cells.sink.read(share);
        }
        Ok(())
    }

    /// Reads the first cells of a group of rows, so many.
    fn read_group(
        &self,
        column: &ColumnChunkMetaData,
        rows: u64,
        limit: u64,
        to: &mut Cells<'_>,
    ) -> Result<(), ParquetError> {
        let descriptor = column.column_descr();
        let shape = Shape {
            len: match column.column_type() {
                Type::FIXED_LEN_BYTE_ARRAY => Len::All(usize::try_from(descriptor.type_length())?),
                _ => Len::Each,
            },
            most_level: u32::try_from(descriptor.max_def_level())?,
        };
        let is_text = is_text(descriptor);
        let mut pages = Pages::of(&self.file, column, rows, shape)?;
        let mut left = limit;
        while left > 0 {
            let page = pages.next()?;
            let page = page.ok_or_else(|| ParquetError::EOF("fewer rows than stated".to_owned()))?;
            let mut cells = pages.cells(&page)?;
            for _ in 0..left.min(page.count.into()) {
                let cell = cells.next().map_err(damaged)?;
                to.push(cell.unwrap_or_default(), is_text);
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
        let text = self.texts.bytes_mut();
        if is_text || is_number(value) {
            text.extend_from_slice(value);
        } else {
            text.extend_from_slice(b"0x");
            text.extend_from_slice(hex::encode(value).as_bytes());
        }
        self.row += 1;
        self.texts.end(self.row);
        if self.texts.count() == ROWS || self.texts.bytes() > PIECE {
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

/// Rows of a group, as its metadata says.
fn rows_of(group: &RowGroupMetaData) -> u64 {
    u64::try_from(group.num_rows()).unwrap_or(0)
}

/// The number of the column of moduli.
fn column_of_moduli(metadata: &ParquetMetaData, name: Option<&str>) -> Result<usize, Issue> {
    let columns = metadata.file_metadata().schema_descr().columns();
    let is_meant = |column: &ColumnDescPtr| {
        let path = column.path().string();
        match name {
            Some(name) => path == name,
            None => COLUMNS.iter().any(|one| path.eq_ignore_ascii_case(one)),
        }
    };
    let not_examined = |what: String| Err(Issue::new("not-examined", what));
    let Some(number) = columns.iter().position(is_meant) else {
        let which = match name {
            Some(name) => format!("`{name}`"),
            None => format!("of moduli ({}); name it by `--column`", COLUMNS.join(", ")),
        };
        return not_examined(format!("this table has no column {which}"));
    };
    let column = &columns[number];
    let (kind, path) = (column.physical_type(), column.path().string());
    if !matches!(kind, Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY) {
        return not_examined(format!(
            "the column `{path}` holds {kind}, and moduli are text or bytes"
        ));
    }
    if column.max_rep_level() > 0 {
        return not_examined(format!(
            "the column `{path}` holds lists, and a cell is to hold a modulus"
        ));
    }
    Ok(number)
}

fn is_text(column: &ColumnDescriptor) -> bool {
    let is_said = |kind: &LogicalType| matches!(kind, LogicalType::String | LogicalType::Enum | LogicalType::Json);
    column.logical_type_ref().is_some_and(is_said) || column.converted_type() == ConvertedType::UTF8
}

/// Returns whether bytes are digits already: some programs write text without saying so. A number of 256 bits or more
/// would be digits alone once in 2^100.
fn is_number(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"0x").unwrap_or(value);
    digits.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b':')
}

/// Refuses a compression that is not read here.
fn unpacking(compression: Compression) -> Result<(), Issue> {
    let name = match compression {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::GZIP(_) => return Ok(()),
        Compression::ZSTD(_) => "Zstandard",
        Compression::BROTLI(_) => "Brotli",
        Compression::LZO => "LZO",
        Compression::LZ4 | Compression::LZ4_RAW => "LZ4",
    };
    let what = format!(
        "this table is packed with {name}, which is not read here; pack it with Snappy: `duckdb -c \"COPY 'FILE' TO \
         'NEW' (FORMAT parquet, COMPRESSION snappy)\"`"
    );
    Err(Issue::new("not-examined", what))
}

/// Why a table, or a part of it, is not read. The library's words may repeat what is in the file.
fn unread(error: &ParquetError, what: &str) -> Issue {
    match error {
        ParquetError::External(cause) if is_of_system(cause.downcast_ref()) => {
            Issue::new("not-read", cause.to_string())
        }
        ParquetError::NYI(why) => Issue::new(
            "not-examined",
            format!("{what} of this table has what is not read here: {why}"),
        ),
        _ => Issue::new("unreadable", format!("this table is cut or damaged in {what}")),
    }
}

/// The length of a file that can be read from any place on, where it is one.
pub(super) fn seekable(file: &File) -> Option<u64> {
    file.metadata()
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|found| found.len())
}

/// Returns whether the system says it: a file that ends too early is cut.
fn is_of_system(cause: Option<&std::io::Error>) -> bool {
    cause.is_some_and(|cause| cause.kind() != std::io::ErrorKind::UnexpectedEof)
}
