//! The columns of the table of samples, whatever the format.

use std::{borrow::Cow, collections::BTreeMap};

use rsalab_measure::Sample;

use self::Field::{Flag, Number, OptionalNumber, OptionalText, Text};
use crate::store::{CellRecord, GroupId, SessionNumber, TakenBlock};

/// The study that all samples are of, and the machines that its sessions ran on.
pub(super) struct Origin {
    pub(super) study: String,
    pub(super) seed: String,
    /// Of each session: the CPU, and the machine in words.
    pub(super) machines: BTreeMap<i64, (String, String)>,
}

impl Origin {
    fn machine(&self, session: SessionNumber) -> Option<&(String, String)> {
        self.machines.get(&session.0)
    }
}

/// A sample, with all that says where it is from.
pub(super) struct Row<'a> {
    pub(super) origin: &'a Origin,
    pub(super) group: GroupId,
    pub(super) cell: &'a CellRecord,
    pub(super) session: SessionNumber,
    pub(super) taken: &'a TakenBlock,
    /// Its place in the block.
    pub(super) position: usize,
    pub(super) sample: Sample,
    /// `true` if figures are made of it.
    pub(super) is_counted: bool,
    /// The interruption of the worker during the block.
    pub(super) interruption: Option<&'a str>,
}

/// Every column: its name, and what stands in it. The first ones identify a cell, by the names that `results.csv` has
/// for them.
pub(super) const COLUMNS: [(&str, Field); 30] = [
    ("op", Text(|it| it.cell.job.op.name().into())),
    ("bits", Number(|it| it.cell.job.bits as u64)),
    ("threads", Number(|it| it.cell.job.threads as u64)),
    ("batch", Number(|it| it.cell.job.batch as u64)),
    ("mode", Text(|it| it.cell.job.mode.name().into())),
    ("bare", Flag(|it| it.cell.job.bare)),
    ("exponent", Text(|it| it.cell.job.exponent.to_string().into())),
    (
        "message_bits",
        OptionalNumber(|it| it.cell.job.message_bits.map(|bits| bits as u64)),
    ),
    ("symbols", Number(|it| it.cell.job.symbols as u64)),
    ("block_symbols", Number(|it| it.cell.job.block_symbols as u64)),
    ("engine", Text(|it| it.cell.engine.as_str().into())),
    ("state", Text(|it| it.cell.state.name().into())),
    ("group", Number(|it| it.group.0.unsigned_abs())),
    ("session", Number(|it| it.session.0.unsigned_abs())),
    ("block", Number(|it| it.taken.order_index)),
    ("round", Number(|it| it.taken.round as u64)),
    ("sample", Number(|it| it.position as u64)),
    ("elapsed_ns", Number(|it| it.sample.elapsed_ns)),
    ("tsc_ticks", OptionalNumber(|it| it.sample.tsc_ticks)),
    ("operations", Number(|it| it.sample.operations)),
    (
        "primality_tests",
        OptionalNumber(|it| it.taken.report.tests.get(it.position).copied()),
    ),
    ("counted", Flag(|it| it.is_counted)),
    ("interruption", OptionalText(|it| it.interruption)),
    ("primes", Number(|it| it.cell.job.primes as u64)),
    ("keys", Number(|it| it.cell.job.keys as u64)),
    ("message_bytes", Number(|it| it.cell.job.message_bytes as u64)),
    ("study", Text(|it| it.origin.study.as_str().into())),
    ("seed", Text(|it| it.origin.seed.as_str().into())),
    (
        "cpu",
        OptionalText(|it| it.origin.machine(it.session).map(|(cpu, _)| cpu.as_str())),
    ),
    (
        "machine",
        OptionalText(|it| it.origin.machine(it.session).map(|(_, machine)| machine.as_str())),
    ),
];

/// The value in a column, for one sample. What is known of some samples only is absent from the others.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Text(for<'a> fn(&'a Row<'_>) -> Cow<'a, str>),
    OptionalText(for<'a> fn(&'a Row<'_>) -> Option<&'a str>),
    Number(fn(&Row<'_>) -> u64),
    OptionalNumber(fn(&Row<'_>) -> Option<u64>),
    Flag(fn(&Row<'_>) -> bool),
}

/// The value of a field.
#[derive(Debug)]
pub(super) enum Value<'a> {
    Absent,
    Text(Cow<'a, str>),
    Number(u64),
    Flag(bool),
}

impl Field {
    /// The value for this sample.
    pub(super) fn of<'a>(self, row: &'a Row<'_>) -> Value<'a> {
        match self {
            Field::Text(of) => Value::Text(of(row)),
            Field::OptionalText(of) => of(row).map_or(Value::Absent, |text| Value::Text(Cow::Borrowed(text))),
            Field::Number(of) => Value::Number(of(row)),
            Field::OptionalNumber(of) => of(row).map_or(Value::Absent, Value::Number),
            Field::Flag(of) => Value::Flag(of(row)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs};

    use super::*;

    /// The names in one of the lists of the Python package, which has no other way to know types of columns.
    fn python(list: &str) -> BTreeSet<String> {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../bindings/python/python/rsalab/study.py"
        );
        let source = fs::read_to_string(path).unwrap();
        let (_, rest) = source.split_once(&format!("\n{list} = ")).unwrap();
        let (names, _) = rest.split_once(".split()").unwrap();
        let words = names.split(|sign: char| !sign.is_ascii_lowercase() && sign != '_');
        words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
    }

    #[test]
    fn the_python_package_knows_which_columns_are_numbers() {
        let numbers = COLUMNS.iter().filter_map(|&(name, field)| match field {
            Number(_) | OptionalNumber(_) => Some(name.to_owned()),
            _ => None,
        });
        let numbers: BTreeSet<String> = numbers.collect();
        assert_eq!(python("_SAMPLE_INTEGERS"), numbers);
        // What tells one cell from another stands in `results.csv` under the same names.
        let of_a_cell = numbers.intersection(&python("_JOB")).cloned().collect::<BTreeSet<_>>();
        assert!(of_a_cell.contains("message_bytes") && of_a_cell.is_subset(&python("_CELL_INTEGERS")));
    }
}
