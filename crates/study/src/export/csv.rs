//! Samples as CSV: booleans are `TRUE` and `FALSE`, as R reads them, what is absent is an empty field, and a text that
//! looks like a formula has an apostrophe before it.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use csv::Writer;

use super::row::{COLUMNS, Row, Value};
use crate::{number, spreadsheet::inert};

/// A file that is being written.
pub(super) struct CsvFile<W: Write> {
    writer: Writer<W>,
    /// Digits of the number that is being written.
    digits: String,
}

impl<W: Write> CsvFile<W> {
    /// Begins with the names of the columns.
    pub(super) fn new(file: W) -> io::Result<Self> {
        let mut writer = Writer::from_writer(file);
        writer.write_record(COLUMNS.map(|(name, _)| name)).map_err(written)?;
        Ok(CsvFile {
            writer,
            digits: String::new(),
        })
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        for (_, field) in COLUMNS {
            let value = field.of(row);
            self.add_field(&value).map_err(written)?;
        }
        let end = self.writer.write_record(None::<&[u8]>);
        end.map_err(written)
    }

    fn add_field(&mut self, value: &Value<'_>) -> csv::Result<()> {
        match value {
            Value::Absent => self.writer.write_field(""),
            Value::Text(text) => self.writer.write_field(inert(text).as_bytes()),
            Value::Number(number) => {
                self.digits.clear();
                write!(self.digits, "{number}").expect("a string takes all that is written");
                self.writer.write_field(&self.digits)
            }
            Value::Flag(flag) => self.writer.write_field(number::logical(*flag)),
        }
    }

    /// Writes what is left in memory.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The system's error. Nothing else can be wrong: every row has as many fields as there are columns.
fn written(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
