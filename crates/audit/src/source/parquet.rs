//! Tables in Apache Parquet: the cells of a column of moduli, as text.
//!
//! The library for it believes sizes, offsets and encodings that a file states, and a file may state anything. So it is
//! asked for pages as they are stored; these are unpacked and looked at here, within bounds, and then decoded there.

use std::{fs::File, io::Read, ops::Range, sync::Arc};

use bytes::Bytes;
use parquet::{
    basic::{Compression, ConvertedType, Encoding, LogicalType, Type},
    column::{
        page::{Page, PageMetadata, PageReader},
        reader::ColumnReaderImpl,
    },
    data_type::{ByteArrayType, DataType, FixedLenByteArrayType},
    errors::{ParquetError, Result as ParquetResult},
    file::{
        metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData},
        reader::{ChunkReader, Length},
        serialized_reader::SerializedPageReader,
    },
    schema::types::{ColumnDescPtr, ColumnDescriptor},
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

/// Bytes of the longest page, and of the longest footer: DuckDB writes pages of up to 100 MB.
const MOST_PAGE: usize = 128 << 20;
/// What a byte of a page is unpacked to at most: digits of moduli are packed to half of their bytes.
const MOST_UNPACKED: usize = 64;
/// Rows for a byte of the file at most: one value may be stored once for a thousand million rows.
const MOST_ROWS: u64 = 16;
/// Rows that are decoded at a time, which are a piece.
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
        let mut row = 0;
        for (number, group) in groups.iter().enumerate() {
            let limit = rows_of(group).min(left);
            if limit == 0 {
                continue;
            }
            left -= limit;
            let column = group.column(self.column);
            unpacking(column.compression())?;
            let name = format!("row group {}", number + 1);
            let descriptor = column.column_descr_ptr();
            let damaged = |error: ParquetError| unread(&error, &name);
            let pages = Box::new(Pages::of(&self.file, column, rows_of(group)).map_err(damaged)?);
            let mut cells = |rows: Rows<'_>| {
                sink.piece(Piece {
                    document,
                    body: Body::Rows(texts(rows, &descriptor, row)),
                });
                row += rows.count;
            };
            match column.column_type() {
                Type::BYTE_ARRAY => decode::<ByteArrayType>(&descriptor, pages, limit, &mut cells),
                _ => decode::<FixedLenByteArrayType>(&descriptor, pages, limit, &mut cells),
            }
            .map_err(damaged)?;
            sink.read(share);
        }
        Ok(())
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

/// Rows that were decoded.
#[derive(Clone, Copy)]
struct Rows<'a> {
    count: usize,
    /// Of each row, how many of the groups that it is in, and itself, are there. None where all are.
    levels: &'a [i16],
    values: &'a [&'a [u8]],
}

/// Decodes rows of a group, and hands them over some at a time.
fn decode<T: DataType>(
    column: &ColumnDescPtr,
    pages: Box<dyn PageReader>,
    limit: u64,
    take: &mut dyn FnMut(Rows<'_>),
) -> ParquetResult<()>
where
    T::T: AsBytesOf,
{
    let mut reader = ColumnReaderImpl::<T>::new(column.clone(), pages);
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut left = limit;
    while left > 0 {
        levels.clear();
        values.clear();
        let most = usize::try_from(left).map_or(ROWS, |left| ROWS.min(left));
        let (count, _, _) = reader.read_records(most, Some(&mut levels), None, &mut values)?;
        if count == 0 {
            return Err(ParquetError::EOF("fewer rows than stated".to_owned()));
        }
        let values: Vec<&[u8]> = values.iter().map(AsBytesOf::bytes).collect();
        take(Rows {
            count,
            levels: &levels,
            values: &values,
        });
        left -= count as u64;
    }
    Ok(())
}

/// A value that has bytes.
trait AsBytesOf {
    fn bytes(&self) -> &[u8];
}

impl AsBytesOf for parquet::data_type::ByteArray {
    fn bytes(&self) -> &[u8] {
        self.data()
    }
}

impl AsBytesOf for parquet::data_type::FixedLenByteArray {
    fn bytes(&self) -> &[u8] {
        self.data()
    }
}

/// Cells as text, with their numbers from 1: a row without a value has an empty one, as in CSV.
fn texts(rows: Rows<'_>, column: &ColumnDescriptor, before: usize) -> Texts {
    let is_text = is_text(column);
    let mut values = rows.values.iter();
    let mut texts = Texts::with_room(PIECE);
    for row in 0..rows.count {
        let is_there = rows
            .levels
            .get(row)
            .is_none_or(|&level| level == column.max_def_level());
        let value = if is_there { values.next().copied() } else { None }.unwrap_or_default();
        let text = texts.bytes_mut();
        if is_text || is_number(value) {
            text.extend_from_slice(value);
        } else {
            text.extend_from_slice(b"0x");
            text.extend_from_slice(hex::encode(value).as_bytes());
        }
        texts.end(before + row + 1);
    }
    texts
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

/// A file of which no more is asked than it has.
#[derive(Debug)]
struct Bounded<R> {
    file: R,
    len: u64,
}

impl<R: ChunkReader> Bounded<R> {
    fn check(&self, range: Range<Option<u64>>) -> ParquetResult<()> {
        match range.end {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(ParquetError::EOF("beyond the end of the file".to_owned())),
        }
    }
}

impl<R: ChunkReader> Length for Bounded<R> {
    fn len(&self) -> u64 {
        self.len
    }
}

impl<R: ChunkReader> ChunkReader for Bounded<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> ParquetResult<R::T> {
        self.check(Some(start)..Some(start))?;
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        self.check(Some(start)..start.checked_add(length as u64))?;
        if length > MOST_PAGE {
            return Err(ParquetError::NYI(format!("a page of {length} bytes")));
        }
        self.file.get_bytes(start, length)
    }
}

/// Pages of a column in a group of rows, unpacked here.
struct Pages<R: ChunkReader> {
    stored: SerializedPageReader<Bounded<R>>,
    compression: Compression,
    has_dictionary: bool,
}

impl<R: ChunkReader> Pages<R> {
    fn of(file: &Arc<Bounded<R>>, column: &ColumnChunkMetaData, rows: u64) -> ParquetResult<Pages<R>> {
        let start = column
            .dictionary_page_offset()
            .unwrap_or_else(|| column.data_page_offset());
        let start = u64::try_from(start).ok();
        let len = u64::try_from(column.compressed_size()).ok();
        let end = start.zip(len).and_then(|(start, len)| start.checked_add(len));
        file.check(start..end)?;
        // Without compression, the library hands over what is stored.
        let as_stored = column
            .clone()
            .into_builder()
            .set_compression(Compression::UNCOMPRESSED)
            .build()?;
        let rows = usize::try_from(rows)?;
        Ok(Pages {
            stored: SerializedPageReader::new(file.clone(), &as_stored, rows, None)?,
            compression: column.compression(),
            has_dictionary: false,
        })
    }

    fn unpack(&self, stored: &[u8]) -> ParquetResult<Bytes> {
        let room = stored
            .len()
            .saturating_mul(MOST_UNPACKED)
            .saturating_add(PIECE)
            .min(MOST_PAGE);
        let too_long = || ParquetError::NYI(format!("a page of more than {room} bytes"));
        match self.compression {
            Compression::SNAPPY => {
                if snap::raw::decompress_len(stored)? > room {
                    return Err(too_long());
                }
                Ok(snap::raw::Decoder::new().decompress_vec(stored)?.into())
            }
            Compression::GZIP(_) => {
                let mut unpacked = Vec::new();
                let mut reader = flate2::read::MultiGzDecoder::new(stored).take(room as u64 + 1);
                match reader.read_to_end(&mut unpacked)? > room {
                    true => Err(too_long()),
                    false => Ok(unpacked.into()),
                }
            }
            _ => Ok(Bytes::copy_from_slice(stored)),
        }
    }

    /// A page as the library's decoders want it.
    fn checked(&mut self, mut page: Page) -> ParquetResult<Page> {
        let is_packed = self.compression != Compression::UNCOMPRESSED;
        match &mut page {
            Page::DictionaryPage { buf, encoding, .. } => {
                if self.has_dictionary || !matches!(*encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                    return Err(ParquetError::General("dictionary".to_owned()));
                }
                self.has_dictionary = true;
                if is_packed {
                    *buf = self.unpack(buf)?;
                }
            }
            Page::DataPage {
                buf,
                encoding,
                def_level_encoding,
                ..
            } => {
                self.check_encoding(*encoding)?;
                if *def_level_encoding != Encoding::RLE {
                    return Err(ParquetError::NYI(format!("levels in {def_level_encoding}")));
                }
                if is_packed {
                    *buf = self.unpack(buf)?;
                }
            }
            Page::DataPageV2 {
                buf,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                is_compressed,
                ..
            } => {
                self.check_encoding(*encoding)?;
                // Levels come first, as they are.
                let levels = u64::from(*def_levels_byte_len) + u64::from(*rep_levels_byte_len);
                let levels = usize::try_from(levels)?;
                if levels > buf.len() {
                    return Err(ParquetError::EOF("levels".to_owned()));
                }
                if is_packed && *is_compressed && levels < buf.len() {
                    let values = self.unpack(&buf[levels..])?;
                    *buf = [&buf[..levels], &values].concat().into();
                }
                *is_compressed = false;
            }
        }
        Ok(page)
    }

    fn check_encoding(&self, encoding: Encoding) -> ParquetResult<()> {
        match encoding {
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if !self.has_dictionary => {
                Err(ParquetError::General("no dictionary".to_owned()))
            }
            Encoding::PLAIN
            | Encoding::RLE_DICTIONARY
            | Encoding::PLAIN_DICTIONARY
            | Encoding::DELTA_LENGTH_BYTE_ARRAY
            | Encoding::DELTA_BYTE_ARRAY => Ok(()),
            other => Err(ParquetError::NYI(format!("values in {other}"))),
        }
    }
}

impl<R: ChunkReader> Iterator for Pages<R> {
    type Item = ParquetResult<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: ChunkReader> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> ParquetResult<Option<Page>> {
        match self.stored.get_next_page()? {
            Some(page) => self.checked(page).map(Some),
            None => Ok(None),
        }
    }

    fn peek_next_page(&mut self) -> ParquetResult<Option<PageMetadata>> {
        self.stored.peek_next_page()
    }

    fn skip_next_page(&mut self) -> ParquetResult<()> {
        self.stored.skip_next_page()
    }
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
        ParquetError::External(cause) if cause.is::<std::io::Error>() => Issue::new("not-read", cause.to_string()),
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
