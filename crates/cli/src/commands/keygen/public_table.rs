//! The public halves of keys as a table in Apache Parquet, a row a key and nothing secret: what pandas, DuckDB and
//! Spark read.
//!
//! | column | type | of a key |
//! |---|---|---|
//! | number | 64-bit integer | its number among all keys, from 1 |
//! | archive, file | text | where its private half is |
//! | bits | 64-bit integer | the length of its modulus |
//! | modulus, exponent | bytes | big-endian, the modulus with all its bytes |
//! | sha256 | text | SHA-256 of its SubjectPublicKeyInfo in DER, in hexadecimal digits, as in the manifest |

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    sync::Arc,
    thread,
};

use parquet::{
    basic::{LogicalType, Repetition, Type as PhysicalType},
    data_type::{ByteArray, ByteArrayType, Int64Type},
    errors::{ParquetError, Result as ParquetResult},
    file::{
        properties::WriterProperties,
        writer::{SerializedFileWriter, SerializedRowGroupWriter},
    },
    schema::types::{ColumnPath, Type, TypePtr},
};
use rsalab_rsa::{Error, PublicKey, format};
use rsalab_study::VERSION;
use zeroize::Zeroizing;

use super::{
    manifest::cannot,
    merge::{Indexed, Part, refused_because},
};
use crate::exit::{Class, Failure, Result};

/// Rows of a row group: some 25 MB of moduli of 2048 bits, which is in memory at a time.
const GROUP_ROWS: usize = 1 << 16;
/// Keys that are read before all CPUs decode them.
const DECODED_TOGETHER: usize = 1 << 10;

const NUMBER: &str = "number";
const ARCHIVE: &str = "archive";
const NAME: &str = "file";
const BITS: &str = "bits";
const MODULUS: &str = "modulus";
const EXPONENT: &str = "exponent";
const SHA256: &str = "sha256";

/// Writes the table of the keys that lines of an index name.
pub(super) fn write(parts: &[Part], mut index: &File, file: &File) -> Result<()> {
    let spooled = |error| Failure::io("cannot read the index of the keys again".to_owned(), error);
    index.seek(SeekFrom::Start(0)).map_err(spooled)?;
    // The first line says what all keys have in common.
    let mut index = BufReader::new(index).lines().skip(1);
    let mut table = Table::new(file).map_err(written)?;
    let threads = thread::available_parallelism().map_or(1, usize::from);
    for part in parts {
        let unreadable = |error: io::Error| cannot(&part.path, "read", error);
        let unfit = || refused_because(&part.path, "has other files than its manifest names");
        let archive = File::open(&part.path).map_err(unreadable)?.take(part.end);
        let mut archive = tar::Archive::new(BufReader::new(archive));
        let mut files = archive.entries().map_err(unreadable)?;
        let mut left = part.record.items;
        while left > 0 {
            let mut batch = Vec::new();
            while left > 0 && batch.len() < DECODED_TOGETHER {
                let line = index.next().ok_or_else(unfit)?.map_err(spooled)?;
                let row: Indexed = serde_json::from_str(&line).map_err(|_| unfit())?;
                // A public half is read in its place, if there is one: it may be that the private one is encrypted.
                let wanted = row.entry.public.as_deref().unwrap_or(&row.entry.file).as_bytes();
                let half = loop {
                    let mut member = files.next().ok_or_else(unfit)?.map_err(unreadable)?;
                    if *member.path_bytes() == *wanted {
                        let mut half = Zeroizing::new(Vec::with_capacity(member.size() as usize));
                        member.read_to_end(&mut half).map_err(unreadable)?;
                        break half;
                    }
                };
                batch.push((row, half));
                left -= 1;
            }
            let keys = decoded(&batch, threads);
            for ((row, _), key) in batch.iter().zip(keys) {
                table.add(row, &key.map_err(|error| unread(part, row, error))?);
                if table.numbers.len() == GROUP_ROWS {
                    table.write_group().map_err(written)?;
                }
            }
        }
    }
    table.finish().map_err(written)
}

/// The public keys of files, in their order.
fn decoded(batch: &[(Indexed, Zeroizing<Vec<u8>>)], threads: usize) -> Vec<rsalab_rsa::Result<PublicKey>> {
    let decode = |files: &[(Indexed, Zeroizing<Vec<u8>>)]| -> Vec<_> {
        let key = |half: &[u8]| format::load_public(half, None).map(|loaded| loaded.key);
        files.iter().map(|(_, half)| key(half)).collect()
    };
    thread::scope(|scope| {
        let chunks = batch.chunks(batch.len().div_ceil(threads).max(1));
        let workers: Vec<_> = chunks.map(|files| scope.spawn(move || decode(files))).collect();
        let ended = workers
            .into_iter()
            .map(|worker| worker.join().expect("decoding does not panic"));
        ended.flatten().collect()
    })
}

/// Why a key of an archive cannot be read.
fn unread(part: &Part, row: &Indexed, error: Error) -> Failure {
    let what = format!(
        "nothing was merged: {} of {} cannot be read",
        row.entry.file,
        part.path.display()
    );
    let failure = Failure::new(Class::Input, what);
    match error {
        Error::PasswordMissing => {
            let advice = "keys with a password are in a table if 'rsalab keygen' made them with --public";
            Failure::new(Class::Input, "nothing was merged: the keys are encrypted").advice(advice)
        }
        error => failure.because(error),
    }
}

/// A table that is being written.
struct Table<'f> {
    writer: SerializedFileWriter<&'f File>,
    numbers: Vec<i64>,
    archives: Vec<ByteArray>,
    names: Vec<ByteArray>,
    bits: Vec<i64>,
    moduli: Vec<ByteArray>,
    exponents: Vec<ByteArray>,
    digests: Vec<ByteArray>,
}

impl<'f> Table<'f> {
    fn new(file: &'f File) -> ParquetResult<Self> {
        let mut properties = WriterProperties::builder().set_created_by(format!("rsalab version {VERSION}"));
        // No two are alike.
        for column in [NUMBER, NAME, MODULUS, SHA256] {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        Ok(Table {
            writer: SerializedFileWriter::new(file, schema()?, Arc::new(properties.build()))?,
            numbers: Vec::new(),
            archives: Vec::new(),
            names: Vec::new(),
            bits: Vec::new(),
            moduli: Vec::new(),
            exponents: Vec::new(),
            digests: Vec::new(),
        })
    }

    fn add(&mut self, row: &Indexed, key: &PublicKey) {
        let integer = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.numbers.push(integer(row.entry.number));
        self.archives.push(ByteArray::from(&*row.archive));
        self.names.push(ByteArray::from(&*row.entry.file));
        self.bits.push(integer(key.bits() as u64));
        self.moduli.push(ByteArray::from(key.n().to_vec()));
        self.exponents.push(ByteArray::from(key.e().to_vec()));
        self.digests.push(ByteArray::from(&*row.entry.sha256));
    }

    fn write_group(&mut self) -> ParquetResult<()> {
        let mut group = self.writer.next_row_group()?;
        write_integers(&mut group, &mut self.numbers)?;
        write_bytes(&mut group, &mut self.archives)?;
        write_bytes(&mut group, &mut self.names)?;
        write_integers(&mut group, &mut self.bits)?;
        write_bytes(&mut group, &mut self.moduli)?;
        write_bytes(&mut group, &mut self.exponents)?;
        write_bytes(&mut group, &mut self.digests)?;
        group.close().map(drop)
    }

    fn finish(mut self) -> ParquetResult<()> {
        if !self.numbers.is_empty() {
            self.write_group()?;
        }
        self.writer.finish().map(drop)
    }
}

fn write_integers(group: &mut SerializedRowGroupWriter<'_, &File>, values: &mut Vec<i64>) -> ParquetResult<()> {
    let mut column = group.next_column()?.expect("the schema has as many columns");
    column.typed::<Int64Type>().write_batch(values, None, None)?;
    values.clear();
    column.close()
}

fn write_bytes(group: &mut SerializedRowGroupWriter<'_, &File>, values: &mut Vec<ByteArray>) -> ParquetResult<()> {
    let mut column = group.next_column()?.expect("the schema has as many columns");
    column.typed::<ByteArrayType>().write_batch(values, None, None)?;
    values.clear();
    column.close()
}

/// The columns, in the order in which they are written.
fn schema() -> ParquetResult<TypePtr> {
    let column = |name: &str, physical, logical| {
        let column = Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_repetition(Repetition::REQUIRED);
        column.build().map(Arc::new)
    };
    let integer = |name| column(name, PhysicalType::INT64, None);
    let text = |name| column(name, PhysicalType::BYTE_ARRAY, Some(LogicalType::String));
    let bytes = |name| column(name, PhysicalType::BYTE_ARRAY, None);
    let columns = vec![
        integer(NUMBER)?,
        text(ARCHIVE)?,
        text(NAME)?,
        integer(BITS)?,
        bytes(MODULUS)?,
        bytes(EXPONENT)?,
        text(SHA256)?,
    ];
    let table = Type::group_type_builder("keys").with_fields(columns);
    table.build().map(Arc::new)
}

/// The system's error, where that is why.
fn written(error: ParquetError) -> Failure {
    let error = match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        error => io::Error::other(error),
    };
    Failure::io("cannot write the table".to_owned(), error)
}
