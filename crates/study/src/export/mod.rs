//! The samples of a study in one file, for other programs: CSV, or Apache Parquet.
//!
//! | question | file |
//! |---|---|
//! | which columns there are, and what stands in them | `row` |
//! | the formats | `csv`, `parquet` |
//!
//! A study may have millions of samples. One block of the database is in memory at a time, and of a Parquet file the
//! rows of one row group.

mod csv;
mod parquet;
mod row;

use std::io::{self, Write};

use self::{
    csv::CsvFile,
    parquet::ParquetFile,
    row::{Origin, Row},
};
use crate::{
    report,
    store::{BlockRecord, CellState, GroupRecord, SessionRecord, Store, StoreError},
};

/// How the file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text in UTF-8, a line for each sample, the names of the columns in the first (RFC 4180, lines end in LF).
    Csv,
    /// Apache Parquet, without compression.
    Parquet,
}

/// Counts of what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Samples: rows of the file.
    pub samples: usize,
    /// The rows that figures are made of.
    pub counted: usize,
}

/// Why the samples could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The database cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Writes every sample of a study, group by group, in the order in which they were measured. After the blocks of a
/// group come those that were interrupted.
///
/// Figures are made of the rows that have `counted`. The others are of blocks that were interrupted, and of cells that
/// are not done.
///
/// # Errors
/// The database cannot be read, or the file cannot be written.
pub fn samples(store: &Store, format: Format, file: impl Write + Send) -> Result<Exported, ExportError> {
    match format {
        Format::Csv => {
            let mut table = CsvFile::new(file)?;
            let exported = each_row(store, |row| table.add(row))?;
            table.finish()?;
            Ok(exported)
        }
        Format::Parquet => {
            let mut table = ParquetFile::new(file)?;
            let exported = each_row(store, |row| table.add(row))?;
            table.finish()?;
            Ok(exported)
        }
    }
}

fn each_row(store: &Store, mut add: impl FnMut(&Row<'_>) -> io::Result<()>) -> Result<Exported, ExportError> {
    let mut exported = Exported::default();
    let origin = origin(store)?;
    for group in store.own_groups()? {
        let mut add_block = |block: &BlockRecord, interruption: Option<&str>| {
            for row in rows(&origin, &group, block, interruption) {
                add(&row)?;
                exported.samples += 1;
                exported.counted += usize::from(row.is_counted);
            }
            Ok::<(), io::Error>(())
        };
        store.each_block(group.id, |block| add_block(&block, None).map_err(ExportError::from))?;
        for block in store.interrupted_blocks(group.id)? {
            add_block(&block.record, Some(&block.reason))?;
        }
    }
    Ok(exported)
}

fn origin(store: &Store) -> Result<Origin, StoreError> {
    let study = store.study()?;
    let sessions = store.sessions()?;
    let machine = |record: &SessionRecord| {
        let session = report::Session::of(record, &[]);
        (
            session.fact("CPU").unwrap_or_default().to_owned(),
            report::machine_words(&session),
        )
    };
    Ok(Origin {
        study: report::title_of(&study.plan_toml),
        seed: study.seed.to_string(),
        machines: sessions
            .iter()
            .map(|record| (record.number.0, machine(record)))
            .collect(),
    })
}

/// The samples of a block.
fn rows<'a>(
    origin: &'a Origin,
    group: &'a GroupRecord,
    block: &'a BlockRecord,
    interruption: Option<&'a str>,
) -> impl Iterator<Item = Row<'a>> {
    // The schema lets no block be of a cell that is in no group.
    let cell = group.cells.iter().find(|cell| cell.id == block.cell);
    let taken = &block.taken;
    cell.into_iter().flat_map(move |cell| {
        let samples = taken.report.block.samples.iter().enumerate();
        samples.map(move |(position, &sample)| Row {
            origin,
            group: group.id,
            cell,
            session: block.session,
            taken,
            position,
            sample,
            is_counted: cell.state == CellState::Done && interruption.is_none(),
            interruption,
        })
    })
}
