//! The median of ten means, the interval it has, and the speeds of all engines.

use rsalab_engines::{Job, Op};
use rsalab_measure::{Estimate, stats::median_interval};

use super::plan::{BITS, ENGINES, IPP, OPENSSL};
use crate::articles::{
    Beside, Table, TableRow,
    evidence::{Cell, Evidence, exact},
};

/// Confidence of the interval of a median of ten means.
const CONFIDENCE: f64 = 0.95;

type Value = Result<Estimate, String>;

/// The article's libraries, in its order: Intel's, and OpenSSL twice.
pub(super) const LIBRARIES: [&str; 3] = [IPP, OPENSSL[0], OPENSSL[1]];

pub(super) fn of(evidence: Evidence<'_>) -> Vec<Table> {
    let no_words = || Vec::new();
    let tables = [
        table(
            "c-protocol",
            "Ticks of a key: the median of ten means, as the article measures",
            "TSC ticks",
            &LIBRARIES,
            vec!["Intervals are exact for a median of so many independent means.".to_owned()],
            &|bits, engine| protocol(cell(evidence, bits, engine)?),
        ),
        table(
            "c-interval",
            "What that median can tell: half the width of its interval",
            "%",
            &LIBRARIES,
            vec![
                "Of the median of the means, at the confidence that so many of them reach. Two medians that are nearer to each \
                 other than their intervals are wide do not say who is faster."
                    .to_owned(),
            ],
            &|bits, engine| {
                let median = protocol(cell(evidence, bits, engine)?)?;
                let width = (median.high - median.low) / 2.0 / median.value;
                Ok(exact(width * 100.0))
            },
        ),
        table(
            "c-engines",
            "Keys per second of every engine, one thread, luck included",
            "keys/s",
            &ENGINES,
            no_words(),
            &|bits, engine| {
                let figures = cell(evidence, bits, engine)?.row.figures;
                Ok(figures.expect("a cell has figures").ops_per_s)
            },
        ),
        table(
            "c-luck",
            "The same without luck, where the tests are counted and others search alike",
            "keys/s",
            &ENGINES,
            no_words(),
            &|bits, engine| {
                let corrected = cell(evidence, bits, engine)?.row.luck_corrected;
                let corrected = corrected.map(|corrected| corrected.ops_per_s);
                corrected.ok_or_else(|| "its luck cannot be told".to_owned())
            },
        ),
    ];
    tables.map(Table::decided).into()
}

fn table(
    id: &'static str,
    title: &str,
    unit: &'static str,
    engines: &[&str],
    remarks: Vec<String>,
    value: &dyn Fn(usize, &str) -> Value,
) -> Table {
    let row = |bits: usize| TableRow {
        label: bits.to_string(),
        cells: engines
            .iter()
            .map(|engine| Beside::new(value(bits, engine), None))
            .collect(),
    };
    Table {
        id,
        title: title.to_owned(),
        unit,
        row_head: "Key, bits",
        columns: engines.iter().map(|engine| (*engine).to_owned()).collect(),
        rows: BITS.into_iter().map(row).collect(),
        remarks,
        reason: None,
    }
}

pub(super) fn cell<'a>(
    evidence: Evidence<'a>,
    bits: usize,
    engine: &str,
) -> Result<Cell<'a>, String> {
    let is_asked = |job: &Job| (job.op, job.bits) == (Op::Keygen, bits);
    evidence.cell(is_asked, engine)
}

/// Ticks of a key by the article's protocol.
pub(super) fn protocol(cell: Cell<'_>) -> Value {
    let mean = |block: &crate::report::BlockDigest| {
        let ticks = block.ticks.unwrap_or_default();
        ticks as f64 / block.operations as f64
    };
    // Says why where there are no ticks.
    cell.ticks_per_ns()?;
    let means: Vec<f64> = cell.digest.blocks.iter().map(mean).collect();
    median_interval(&means, CONFIDENCE).ok_or_else(|| "there is no mean yet".to_owned())
}
