//! Pages of a column, unpacked within bounds.

use std::{io::Read, sync::Arc};

use bytes::Bytes;
use parquet::{
    basic::{Compression, Encoding},
    column::page::{Page, PageReader},
    errors::{ParquetError, Result},
    file::{
        metadata::ColumnChunkMetaData,
        reader::{ChunkReader, Length},
        serialized_reader::SerializedPageReader,
    },
};

use super::{
    super::piece::PIECE,
    values::{Cells, Damaged, Dictionary, Hybrid, Len, Plain, Values},
};

/// Bytes of the longest page, and of the longest footer: DuckDB writes pages of up to 100 MB.
const MOST_PAGE: usize = 128 << 20;
/// What a byte of a page is unpacked to at most: digits of moduli are packed to half of their bytes.
const MOST_UNPACKED: usize = 64;

/// A file of which no more is asked than it has.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    pub(super) file: R,
    pub(super) len: u64,
}

impl<R> Bounded<R> {
    fn check(&self, end: Option<u64>) -> Result<()> {
        match end {
            Some(end) if end <= self.len => Ok(()),
            _ => Err(ParquetError::EOF("beyond the end of the file".to_owned())),
        }
    }
}

impl<R: Send + Sync> Length for Bounded<R> {
    fn len(&self) -> u64 {
        self.len
    }
}

impl<R: ChunkReader> ChunkReader for Bounded<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> Result<R::T> {
        self.check(Some(start))?;
        self.file.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.check(start.checked_add(length as u64))?;
        if length > MOST_PAGE {
            return Err(ParquetError::NYI(format!("a page of {length} bytes")));
        }
        self.file.get_bytes(start, length)
    }
}

/// How a column's values are stored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) len: Len,
    /// The level of a cell that has a value; 0 if all have.
    pub(super) most_level: u32,
}

/// Pages of a column in a group of rows.
pub(super) struct Pages<R: ChunkReader> {
    stored: SerializedPageReader<Bounded<R>>,
    compression: Compression,
    shape: Shape,
    dictionary: Option<Dictionary>,
}

/// A page of cells.
pub(super) struct CellPage {
    /// Cells that it has.
    pub(super) count: u32,
    levels: Bytes,
    values: Bytes,
    is_numbers: bool,
}

impl<R: ChunkReader> Pages<R> {
    pub(super) fn of(file: &Arc<Bounded<R>>, column: &ColumnChunkMetaData, rows: u64, shape: Shape) -> Result<Self> {
        let start = column
            .dictionary_page_offset()
            .unwrap_or_else(|| column.data_page_offset());
        let (start, len) = (u64::try_from(start)?, u64::try_from(column.compressed_size())?);
        file.check(start.checked_add(len))?;
        // Without compression, the library hands over what is stored.
        let as_stored = column.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let rows = usize::try_from(rows)?;
        Ok(Pages {
            stored: SerializedPageReader::new(file.clone(), &as_stored.build()?, rows, None)?,
            compression: column.compression(),
            shape,
            dictionary: None,
        })
    }

    /// The next page that has cells.
    pub(super) fn next(&mut self) -> Result<Option<CellPage>> {
        loop {
            match self.stored.get_next_page()? {
                None => return Ok(None),
                Some(Page::DictionaryPage {
                    buf,
                    num_values,
                    encoding,
                    ..
                }) => {
                    if self.dictionary.is_some() || !matches!(encoding, Encoding::PLAIN | Encoding::PLAIN_DICTIONARY) {
                        return Err(damaged(Damaged));
                    }
                    let bytes = self.unpack(buf)?;
                    self.dictionary = Some(Dictionary::new(bytes, self.shape.len, num_values).map_err(damaged)?);
                }
                Some(Page::DataPage {
                    buf,
                    num_values,
                    encoding,
                    def_level_encoding,
                    ..
                }) => {
                    let is_numbers = self.is_numbers(encoding)?;
                    let mut values = self.unpack(buf)?;
                    let mut levels = Bytes::new();
                    if self.shape.most_level > 0 {
                        if def_level_encoding != Encoding::RLE {
                            return Err(ParquetError::NYI(format!("levels in {def_level_encoding}")));
                        }
                        let len = values.first_chunk().map(|len| u32::from_le_bytes(*len) as usize);
                        let end = len
                            .and_then(|len| len.checked_add(4))
                            .filter(|&end| end <= values.len());
                        levels = values.split_to(end.ok_or_else(|| damaged(Damaged))?).slice(4..);
                    }
                    return Ok(Some(CellPage {
                        count: num_values,
                        levels,
                        values,
                        is_numbers,
                    }));
                }
                Some(Page::DataPageV2 {
                    buf,
                    num_values,
                    encoding,
                    def_levels_byte_len,
                    rep_levels_byte_len,
                    is_compressed,
                    ..
                }) => {
                    let is_numbers = self.is_numbers(encoding)?;
                    // Levels come first, as they are.
                    let (start, mut values) = (rep_levels_byte_len as usize, buf);
                    let end = start.saturating_add(def_levels_byte_len as usize);
                    if end > values.len() {
                        return Err(damaged(Damaged));
                    }
                    let levels = values.split_to(end).slice(start..);
                    if is_compressed && !values.is_empty() {
                        values = self.unpack(values)?;
                    }
                    return Ok(Some(CellPage {
                        count: num_values,
                        levels,
                        values,
                        is_numbers,
                    }));
                }
            }
        }
    }

    /// The cells of a page.
    pub(super) fn cells<'a>(&'a self, page: &'a CellPage) -> Result<Cells<'a>> {
        let most = self.shape.most_level;
        let levels = Hybrid::new(&page.levels, u32::BITS - most.leading_zeros()).map_err(damaged)?;
        let values = match &self.dictionary {
            Some(dictionary) if page.is_numbers => {
                // Where no cell has a value, there may be no width.
                let (width, numbers) = page.values.split_first().unwrap_or((&0, &[]));
                Values::Numbers(Hybrid::new(numbers, u32::from(*width)).map_err(damaged)?, dictionary)
            }
            _ => Values::Plain(Plain::new(&page.values, self.shape.len)),
        };
        Ok(Cells {
            levels: (most > 0).then_some((levels, most)),
            values,
        })
    }

    fn unpack(&self, stored: Bytes) -> Result<Bytes> {
        let room = stored
            .len()
            .saturating_mul(MOST_UNPACKED)
            .saturating_add(PIECE)
            .min(MOST_PAGE);
        let too_long = || ParquetError::NYI(format!("a page of more than {room} bytes"));
        match self.compression {
            Compression::SNAPPY => {
                if snap::raw::decompress_len(&stored)? > room {
                    return Err(too_long());
                }
                Ok(snap::raw::Decoder::new().decompress_vec(&stored)?.into())
            }
            Compression::GZIP(_) => {
                let mut unpacked = Vec::new();
                let mut reader = flate2::read::MultiGzDecoder::new(&stored[..]).take(room as u64 + 1);
                match reader.read_to_end(&mut unpacked).map_err(|_| damaged(Damaged))? > room {
                    true => Err(too_long()),
                    false => Ok(unpacked.into()),
                }
            }
            _ => Ok(stored),
        }
    }

    /// Returns whether values are numbers of the dictionary's.
    fn is_numbers(&self, encoding: Encoding) -> Result<bool> {
        match encoding {
            Encoding::PLAIN => Ok(false),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY if self.dictionary.is_some() => Ok(true),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => Err(damaged(Damaged)),
            other => Err(ParquetError::NYI(format!("values in {other}"))),
        }
    }
}

pub(super) fn damaged(_: Damaged) -> ParquetError {
    ParquetError::General("damaged".to_owned())
}
