//! Pages of a column, unpacked within bounds.

use std::io::{self, Read, Seek, SeekFrom};

use super::{
    super::piece::PIECE,
    fault::Fault,
    footer::{Chunk, structure},
    thrift::{Kind, Thrift},
    values::{Cells, Damaged, Dictionary, Hybrid, Len, Plain, Values},
};

/// Bytes of the longest page: DuckDB writes pages of up to 100 MB.
const MOST_PAGE: u64 = 128 << 20;
/// What a byte of a page is unpacked to at most: digits of moduli are packed to half of their bytes.
const MOST_UNPACKED: usize = 64;
/// Bytes in which the head of a page is looked for; with longer statistics, in so many.
const HEAD: u64 = 4 << 10;
const MOST_HEAD: u64 = 1 << 20;

/// A file of which no more is asked than it has.
#[derive(Debug)]
pub(super) struct Bounded<R> {
    pub(super) file: R,
    pub(super) len: u64,
}

impl<R: Read + Seek> Bounded<R> {
    /// Bytes from a place on.
    pub(super) fn bytes(&mut self, start: u64, len: u64) -> Result<Vec<u8>, Fault> {
        if start.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(Fault::Damaged);
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(start))?;
        self.file.by_ref().take(len).read_to_end(&mut bytes)?;
        if bytes.len() as u64 == len {
            Ok(bytes)
        } else {
            Err(Fault::Damaged)
        }
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
pub(super) struct Pages<'a, R> {
    file: &'a mut Bounded<R>,
    compression: Compression,
    /// Where the next page is, and where the last one ends.
    at: u64,
    end: u64,
    shape: Shape,
    dictionary: Option<Dictionary>,
    ahead: Ahead,
}

/// Bytes that were read for the last head: those of short pages hold the next ones, too.
#[derive(Default)]
struct Ahead {
    start: u64,
    bytes: Vec<u8>,
}

impl Ahead {
    /// The bytes from a place of the file on, where they are here.
    fn from(&self, at: u64) -> Option<&[u8]> {
        let place = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(place..).filter(|bytes| !bytes.is_empty())
    }
}

/// A page of cells.
pub(super) struct CellPage {
    /// Cells that it has.
    pub(super) count: u32,
    levels: Vec<u8>,
    values: Vec<u8>,
    is_numbers: bool,
}

/// The compressions that are read here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    None,
    Snappy,
    Gzip,
}

impl Compression {
    /// The one of this number.
    fn of(codec: i64) -> Result<Self, Fault> {
        let name = match codec {
            0 => return Ok(Self::None),
            1 => return Ok(Self::Snappy),
            2 => return Ok(Self::Gzip),
            3 => "LZO",
            4 => "Brotli",
            5 | 7 => "LZ4",
            6 => "Zstandard",
            _ => "an unknown compression",
        };
        Err(Fault::NotRead(format!(
            "is packed with {name}; pack it with Snappy: `duckdb -c \"COPY 'FILE' TO 'NEW' (FORMAT parquet, \
             COMPRESSION snappy)\"`"
        )))
    }

    fn unpack(self, stored: Vec<u8>) -> Result<Vec<u8>, Fault> {
        let room = stored.len().saturating_mul(MOST_UNPACKED).saturating_add(PIECE);
        let room = room.min(usize::try_from(MOST_PAGE).unwrap_or(usize::MAX));
        let too_long = || Fault::NotRead(format!("has a page that is unpacked to more than {room} bytes"));
        match self {
            Self::None => Ok(stored),
            Self::Snappy => {
                let len = snap::raw::decompress_len(&stored).map_err(|_| Damaged)?;
                if len > room {
                    return Err(too_long());
                }
                Ok(snap::raw::Decoder::new().decompress_vec(&stored).map_err(|_| Damaged)?)
            }
            Self::Gzip => {
                let mut unpacked = Vec::new();
                let mut reader = flate2::read::MultiGzDecoder::new(&stored[..]).take(room as u64 + 1);
                let len = reader.read_to_end(&mut unpacked).map_err(|_: io::Error| Damaged)?;
                if len > room { Err(too_long()) } else { Ok(unpacked) }
            }
        }
    }
}

/// The numbers of encodings, as the format has them.
const PLAIN: i64 = 0;
const PLAIN_DICTIONARY: i64 = 2;
const RUNS: i64 = 3;
const DICTIONARY: i64 = 8;

/// The head of a page.
#[derive(Debug, Default)]
struct Head {
    kind: i64,
    stored: u64,
    count: u32,
    encoding: i64,
    level_encoding: i64,
    /// Bytes of levels in front, which are not packed: of lists, and of what may be missing.
    list_levels: u64,
    levels: u64,
    is_packed: bool,
}

impl Head {
    const CELLS: i64 = 0;
    const DICTIONARY: i64 = 2;
    const CELLS_V2: i64 = 3;

    /// The parts of a head that only one kind of pages has.
    const OF_CELLS: i64 = 5;
    const OF_DICTIONARY: i64 = 7;
    const OF_CELLS_V2: i64 = 8;

    /// The head at the beginning of these bytes, and its length.
    fn read(bytes: &[u8]) -> Result<(Self, usize), Damaged> {
        let mut head = Self {
            level_encoding: RUNS,
            is_packed: true,
            ..Self::default()
        };
        let mut thrift = Thrift::new(bytes);
        let unsigned = |kind: Kind, thrift: &mut Thrift<'_>| u64::try_from(thrift.integer(kind)?).map_err(|_| Damaged);
        let count = |kind: Kind, thrift: &mut Thrift<'_>| u32::try_from(thrift.integer(kind)?).map_err(|_| Damaged);
        thrift.fields(&mut |part, kind, thrift| {
            match part {
                1 => head.kind = thrift.integer(kind)?,
                3 => head.stored = unsigned(kind, thrift)?,
                Self::OF_CELLS | Self::OF_DICTIONARY | Self::OF_CELLS_V2 => {
                    structure(kind, thrift, &mut |number, kind, thrift| {
                        match (part, number) {
                            (_, 1) => head.count = count(kind, thrift)?,
                            (Self::OF_CELLS | Self::OF_DICTIONARY, 2) | (Self::OF_CELLS_V2, 4) => {
                                head.encoding = thrift.integer(kind)?;
                            }
                            (Self::OF_CELLS, 3) => head.level_encoding = thrift.integer(kind)?,
                            (Self::OF_CELLS_V2, 5) => head.levels = unsigned(kind, thrift)?,
                            (Self::OF_CELLS_V2, 6) => head.list_levels = unsigned(kind, thrift)?,
                            (Self::OF_CELLS_V2, 7) => head.is_packed = Thrift::truth(kind)?,
                            _ => thrift.skip(kind)?,
                        }
                        Ok(())
                    })?;
                }
                _ => thrift.skip(kind)?,
            }
            Ok(())
        })?;
        Ok((head, bytes.len() - thrift.left()))
    }
}

impl<'a, R: Read + Seek> Pages<'a, R> {
    pub(super) fn of(file: &'a mut Bounded<R>, chunk: &Chunk, shape: Shape) -> Result<Self, Fault> {
        if chunk.is_elsewhere {
            return Err(Fault::NotRead(
                "has its moduli in another file, or encrypted".to_owned(),
            ));
        }
        let end = chunk.start.checked_add(chunk.len).filter(|&end| end <= file.len);
        Ok(Pages {
            compression: Compression::of(chunk.codec)?,
            at: chunk.start,
            end: end.ok_or(Damaged)?,
            file,
            shape,
            dictionary: None,
            ahead: Ahead::default(),
        })
    }

    /// The next page that has cells.
    pub(super) fn next(&mut self) -> Result<Option<CellPage>, Fault> {
        while self.at < self.end {
            let (head, len) = self.head()?;
            let start = self.at + len;
            // A page of neither is left out.
            self.at = start
                .checked_add(head.stored)
                .filter(|&at| at <= self.end)
                .ok_or(Damaged)?;
            if head.stored > MOST_PAGE {
                return Err(Fault::NotRead(format!("has a page of {} bytes", head.stored)));
            }
            match head.kind {
                Head::DICTIONARY => {
                    if self.dictionary.is_some() || ![PLAIN, PLAIN_DICTIONARY].contains(&head.encoding) {
                        return Err(Fault::Damaged);
                    }
                    let bytes = self.compression.unpack(self.file.bytes(start, head.stored)?)?;
                    self.dictionary = Some(Dictionary::new(bytes, self.shape.len, head.count)?);
                }
                Head::CELLS => {
                    let is_numbers = self.is_numbers(head.encoding)?;
                    let mut levels = self.compression.unpack(self.file.bytes(start, head.stored)?)?;
                    let mut values = Vec::new();
                    if self.shape.most_level > 0 {
                        if head.level_encoding != RUNS {
                            return Err(Fault::NotRead("has levels in an old encoding".to_owned()));
                        }
                        let len = levels.first_chunk().map(|len| u32::from_le_bytes(*len) as usize);
                        let end = len
                            .and_then(|len| len.checked_add(4))
                            .filter(|&end| end <= levels.len());
                        values = levels.split_off(end.ok_or(Damaged)?);
                        levels.drain(..4);
                    } else {
                        std::mem::swap(&mut levels, &mut values);
                    }
                    return Ok(Some(CellPage {
                        count: head.count,
                        levels,
                        values,
                        is_numbers,
                    }));
                }
                Head::CELLS_V2 => {
                    let is_numbers = self.is_numbers(head.encoding)?;
                    // Levels come first, as they are.
                    let before = head.list_levels.checked_add(head.levels);
                    let before = before.filter(|&before| before <= head.stored).ok_or(Damaged)?;
                    let levels = self.file.bytes(start + head.list_levels, head.levels)?;
                    let mut values = self.file.bytes(start + before, head.stored - before)?;
                    if head.is_packed && !values.is_empty() {
                        values = self.compression.unpack(values)?;
                    }
                    return Ok(Some(CellPage {
                        count: head.count,
                        levels,
                        values,
                        is_numbers,
                    }));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The head of the next page, and its length.
    fn head(&mut self) -> Result<(Head, u64), Fault> {
        let left = self.end - self.at;
        let mut read = self.ahead.from(self.at).and_then(|bytes| Head::read(bytes).ok());
        for most in [HEAD, MOST_HEAD] {
            if read.is_some() {
                break;
            }
            self.ahead = Ahead {
                start: self.at,
                bytes: self.file.bytes(self.at, most.min(left))?,
            };
            read = Head::read(&self.ahead.bytes).ok();
            if left <= most {
                break;
            }
        }
        let (head, len) = read.ok_or(Damaged)?;
        Ok((head, len as u64))
    }

    /// The cells of a page.
    pub(super) fn cells<'p>(&'p self, page: &'p CellPage) -> Result<Cells<'p>, Fault> {
        let most = self.shape.most_level;
        let levels = Hybrid::new(&page.levels, u32::BITS - most.leading_zeros())?;
        let values = match &self.dictionary {
            Some(dictionary) if page.is_numbers => {
                // Where no cell has a value, there may be no width.
                let (width, numbers) = page.values.split_first().unwrap_or((&0, &[]));
                Values::Numbers(Hybrid::new(numbers, u32::from(*width))?, dictionary)
            }
            _ => Values::Plain(Plain::new(&page.values, self.shape.len)),
        };
        Ok(Cells {
            levels: (most > 0).then_some((levels, most)),
            values,
        })
    }

    /// Returns whether values are numbers of the dictionary's.
    fn is_numbers(&self, encoding: i64) -> Result<bool, Fault> {
        let name = match encoding {
            PLAIN => return Ok(false),
            PLAIN_DICTIONARY | DICTIONARY if self.dictionary.is_some() => return Ok(true),
            PLAIN_DICTIONARY | DICTIONARY => return Err(Fault::Damaged),
            6 => "DELTA_LENGTH_BYTE_ARRAY",
            7 => "DELTA_BYTE_ARRAY",
            9 => "BYTE_STREAM_SPLIT",
            _ => "an unknown encoding",
        };
        Err(Fault::NotRead(format!("has its moduli in {name}; write them in PLAIN")))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    struct Counted {
        file: Cursor<Vec<u8>>,
        read: usize,
    }

    impl Read for Counted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let read = self.file.read(buffer)?;
            self.read += read;
            Ok(read)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.file.seek(to)
        }
    }

    /// A file of empty pages is not read some two hundred times over.
    #[test]
    fn heads_of_short_pages_are_read_once() {
        const PAGES: usize = 10_000;
        // Kind, lengths, and the part of pages of cells: count, encodings; each a number in the compact form.
        let page = b"\x15\0\x15\0\x15\0\x2c\x15\0\x15\0\x15\x06\x15\x06\0\0";
        let bytes = page.repeat(PAGES);
        let len = bytes.len() as u64;
        let chunk = Chunk {
            start: 0,
            len,
            codec: 0,
            is_elsewhere: false,
        };
        let shape = Shape {
            len: Len::Each,
            most_level: 0,
        };
        let counted = Counted {
            file: Cursor::new(bytes),
            read: 0,
        };
        let mut file = Bounded { file: counted, len };
        let mut pages = Pages::of(&mut file, &chunk, shape).expect("it is whole");
        let mut found = 0;
        while let Some(page) = pages.next().expect("it is whole") {
            assert_eq!(page.count, 0);
            found += 1;
        }
        assert_eq!(found, PAGES);
        assert!(file.file.read < 2 * len as usize, "{} of {len}", file.file.read);
    }
}
