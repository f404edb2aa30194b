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

use std::{fs::File, io, sync::Arc};

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
use rsalab_rsa::PublicKey;
use rsalab_study::VERSION;

use super::manifest::Entry;
use crate::exit::{Failure, Result};

/// Rows of a row group: some 25 MB of moduli of 2048 bits, which is in memory at a time.
const GROUP_ROWS: usize = 1 << 16;

const NUMBER: &str = "number";
const ARCHIVE: &str = "archive";
const NAME: &str = "file";
const BITS: &str = "bits";
const MODULUS: &str = "modulus";
const EXPONENT: &str = "exponent";
const SHA256: &str = "sha256";

/// A table that is being written.
pub(super) struct PublicTable<'f> {
    writer: SerializedFileWriter<&'f File>,
    numbers: Vec<i64>,
    archives: Vec<ByteArray>,
    names: Vec<ByteArray>,
    bits: Vec<i64>,
    moduli: Vec<ByteArray>,
    exponents: Vec<ByteArray>,
    digests: Vec<ByteArray>,
}

impl<'f> PublicTable<'f> {
    /// A table in an empty file.
    pub(super) fn new(file: &'f File) -> Result<Self> {
        let mut properties = WriterProperties::builder().set_created_by(format!("rsalab version {VERSION}"));
        // No two are alike.
        for column in [NUMBER, NAME, MODULUS, SHA256] {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(column), false);
        }
        let writer = schema().and_then(|schema| SerializedFileWriter::new(file, schema, Arc::new(properties.build())));
        Ok(PublicTable {
            writer: writer.map_err(written)?,
            numbers: Vec::new(),
            archives: Vec::new(),
            names: Vec::new(),
            bits: Vec::new(),
            moduli: Vec::new(),
            exponents: Vec::new(),
            digests: Vec::new(),
        })
    }

    /// Adds a key: the archive that has its private half, its line of the manifest, and the public half.
    pub(super) fn add(&mut self, archive: &str, entry: &Entry, key: &PublicKey) -> Result<()> {
        let integer = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.numbers.push(integer(entry.number));
        self.archives.push(ByteArray::from(archive));
        self.names.push(ByteArray::from(&*entry.file));
        self.bits.push(integer(key.bits() as u64));
        self.moduli.push(ByteArray::from(key.n().to_vec()));
        self.exponents.push(ByteArray::from(key.e().to_vec()));
        self.digests.push(ByteArray::from(&*entry.sha256));
        match self.numbers.len() < GROUP_ROWS {
            true => Ok(()),
            false => self.write_group().map_err(written),
        }
    }

    /// Writes what is left in memory, and the file's footer.
    pub(super) fn finish(mut self) -> Result<()> {
        if !self.numbers.is_empty() {
            self.write_group().map_err(written)?;
        }
        self.writer.finish().map(drop).map_err(written)
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
