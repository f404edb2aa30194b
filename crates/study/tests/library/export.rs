//! Samples in a file are those of the database, in both formats, and say which of them figures are made of.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write},
    path::Path,
};

use parquet::{
    file::reader::{FileReader, SerializedFileReader},
    record::Field,
};
use rsalab_measure::Sample;
use rsalab_study::{
    articles,
    export::{self, ExportError, Exported, Format},
    report,
    store::{BlockRecord, InterruptedBlock, Store, TakenBlock},
};

use crate::support::{Planted, beginning, block, host};

const PLAN: &str = r#"
title = "Samples"
[[grid]]
operations = ["private", "public"]
engines = ["own", "gmp", "openssl"]
bits = [1024, 2048]

[[grid]]
operations = ["public"]
engines = ["own"]
bits = [1024]
message = 160
exponent = "random"

[[grid]]
operations = ["text_decrypt"]
engines = ["own", "gmp"]
bits = [2048]
threads = [2]
symbols = [20_000]
"#;

/// An interruption, in words that CSV has to quote.
const INTERRUPTION: &str = "its process, \"stopped\",\nwas starved";

/// Cells that are done, one that failed after it had blocks, one that is not supported, and an interrupted block.
fn planted(directory: &Path) -> Planted {
    let mut planted = Planted::new(directory, PLAN, &host(&["own"], 2));
    for (number, group) in planted.groups().iter().enumerate() {
        let times = [1_000_000.0, 700_000.0].map(|ns| ns / (number + 1) as f64);
        planted.fill(group, 0, &beginning("own"), times[0]);
        if group.cells.len() > 1 {
            planted.fill(group, 1, &beginning("gmp"), times[1]);
        }
    }
    let groups = planted.groups();
    let [first, second] = [&groups[0], &groups[1]];
    planted.begin(&first.cells[2], &beginning("openssl"));
    let mut merged = block([7, 9]);
    merged.block.samples[1] = Sample {
        elapsed_ns: 18,
        tsc_ticks: None,
        operations: 2,
    };
    merged.tests = vec![3, 4];
    planted.add(first, 2, 0, merged.clone());
    let interrupted = InterruptedBlock {
        record: BlockRecord {
            cell: first.cells[0].id,
            session: planted.session,
            taken: TakenBlock {
                order_index: 3,
                round: 1,
                worker_pid: Some(1),
                report: merged,
                losses: None,
            },
        },
        reason: INTERRUPTION.to_owned(),
    };
    let store = planted.study.store_mut();
    store.fail_cell(first.cells[2].id, "wrong").unwrap();
    store.refuse_cell(second.cells[2].id, "no").unwrap();
    store.add_interrupted_block(first.id, &interrupted).unwrap();
    planted
}

/// A row by the names of the columns. What is absent is empty.
type Row = BTreeMap<String, String>;

fn exported(store: &Store, format: Format) -> (Exported, Vec<u8>) {
    let mut file = Vec::new();
    let exported = export::samples(store, format, &mut file).unwrap();
    (exported, file)
}

fn of_csv(file: &[u8]) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(file);
    let rows = reader.deserialize().map(Result::unwrap);
    rows.collect()
}

fn opened(file: &[u8]) -> SerializedFileReader<fs::File> {
    let mut on_disk = tempfile::tempfile().unwrap();
    on_disk.write_all(file).unwrap();
    SerializedFileReader::new(on_disk).unwrap()
}

fn of_parquet(file: &[u8]) -> Vec<Row> {
    let reader = opened(file);
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Bool(flag) => flag.to_string().to_uppercase(),
        other => panic!("no column has the type of {other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
    let row = |row: parquet::record::Row| {
        let columns = row.get_column_iter();
        columns.map(|(name, field)| (name.clone(), text(field))).collect()
    };
    rows.map(row).collect()
}

fn number(row: &Row, name: &str) -> f64 {
    row[name].parse().unwrap()
}

/// The columns that name a cell.
const CELL: [&str; 11] = [
    "op",
    "bits",
    "threads",
    "batch",
    "mode",
    "bare",
    "exponent",
    "message_bits",
    "symbols",
    "block_symbols",
    "engine",
];

fn cell(row: &Row) -> Vec<String> {
    CELL.map(|name| row[name].clone()).to_vec()
}

#[test]
fn both_formats_hold_the_samples_that_the_figures_are_made_of() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let store = planted.study.store();
    let (in_csv, csv) = exported(store, Format::Csv);
    let (in_parquet, parquet) = exported(store, Format::Parquet);
    // The same store gives the same bytes.
    assert_eq!(exported(store, Format::Csv).1, csv);
    assert_eq!(exported(store, Format::Parquet).1, parquet);
    let rows = of_csv(&csv);
    assert_eq!(of_parquet(&parquet), rows);
    assert_eq!(in_csv, in_parquet);
    let counted: Vec<&Row> = rows.iter().filter(|row| row["counted"] == "TRUE").collect();
    assert_eq!((in_csv.samples, in_csv.counted), (rows.len(), counted.len()));

    let mut times: BTreeMap<Vec<String>, Vec<f64>> = BTreeMap::new();
    for row in &counted {
        let time = number(row, "elapsed_ns") / number(row, "operations");
        times.entry(cell(row)).or_default().push(time);
    }
    let results = report::csv(&articles::report(store).unwrap());
    let results: Vec<Row> = of_csv(results.as_bytes());
    let mut cells = 0;
    for row in &results {
        let times = times.get_mut(&cell(row));
        if row["state"] != "done" {
            assert!(times.is_none(), "{row:?}");
            continue;
        }
        let times = times.expect("it has samples");
        times.sort_by(f64::total_cmp);
        assert_eq!(row["samples"], times.len().to_string());
        let middle = times.len() / 2;
        let median = (times[middle - 1] + times[middle]) / 2.0;
        assert_eq!(number(row, "ns_per_op_median"), median, "{row:?}");
        cells += 1;
    }
    assert_eq!(cells, times.len(), "a cell is in the samples only");
    assert_eq!(cells, 11);
}

#[test]
fn samples_that_are_in_no_figure_say_why() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let rows = of_csv(&exported(planted.study.store(), Format::Csv).1);
    let others = rows.iter().filter(|row| row["counted"] == "FALSE");
    let shown = others.map(|row| {
        let columns = [
            "engine",
            "state",
            "block",
            "round",
            "sample",
            "elapsed_ns",
            "tsc_ticks",
            "operations",
            "primality_tests",
            "interruption",
        ];
        columns.map(|name| row[name].as_str())
    });
    // Failed, and then interrupted: the blocks that were interrupted come after the others of the group.
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ["openssl", "failed", "2", "0", "0", "7", "16", "1", "3", ""],
            ["openssl", "failed", "2", "0", "1", "18", "", "2", "4", ""],
            ["own", "done", "3", "1", "0", "7", "16", "1", "3", INTERRUPTION],
            ["own", "done", "3", "1", "1", "18", "", "2", "4", INTERRUPTION],
        ]
    );
    let texts = rows.iter().filter(|row| row["op"] == "text_decrypt");
    for row in texts {
        assert_eq!((&*row["symbols"], &*row["threads"]), ("20000", "2"));
    }
    let random = rows.iter().filter(|row| row["exponent"] == "random");
    assert_eq!(
        random.map(|row| &row["message_bits"]).collect::<Vec<_>>(),
        vec!["160"; 60]
    );
}

#[test]
fn a_study_without_samples_is_a_table_without_rows() {
    let directory = tempfile::tempdir().unwrap();
    let planted = Planted::new(directory.path(), PLAN, &host(&["own"], 2));
    let (none, csv) = exported(planted.study.store(), Format::Csv);
    assert_eq!(none, Exported::default());
    assert_eq!(String::from_utf8(csv).unwrap().lines().count(), 1);
    let (_, parquet) = exported(planted.study.store(), Format::Parquet);
    assert_eq!(of_parquet(&parquet), []);
}

#[test]
fn more_rows_than_a_row_group_has_are_all_there() {
    const SAMPLES: u64 = 70_000;
    let directory = tempfile::tempdir().unwrap();
    let mut planted = Planted::new(directory.path(), PLAN, &host(&["own"], 2));
    let group = &planted.groups()[0];
    planted.begin(&group.cells[0], &beginning("own"));
    planted.add(group, 0, 0, block(1..=SAMPLES));
    planted.add(group, 0, 1, block(1..=SAMPLES));
    let (exported, file) = exported(planted.study.store(), Format::Parquet);
    assert_eq!(exported.samples as u64, 2 * SAMPLES);
    assert_eq!(opened(&file).num_row_groups(), 3);
    let rows = of_parquet(&file);
    let times = rows.iter().map(|row| row["elapsed_ns"].parse::<u64>().unwrap());
    assert!(times.eq((1..=SAMPLES).chain(1..=SAMPLES)));
}

#[test]
fn each_report_names_the_command() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let report = articles::report(planted.study.store()).unwrap();
    let command = format!(
        "rsalab export --samples --out samples.csv {}",
        directory.path().display()
    );
    assert!(
        report.method.iter().any(|it| it.contains(&command)),
        "{:?}",
        report.method
    );
    report::write(&report, directory.path()).unwrap();
    for file in ["report.html", "report.md", "report.tex", "results.json"] {
        let text = fs::read_to_string(directory.path().join(file)).unwrap();
        assert!(text.contains(&command), "{file}");
    }
}

/// A file on a disk that becomes full.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.0.checked_sub(bytes.len()) {
            Some(room) => {
                self.0 = room;
                Ok(bytes.len())
            }
            None => Err(io::ErrorKind::StorageFull.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_the_system_says_is_passed_on() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    for format in [Format::Csv, Format::Parquet] {
        let whole = exported(planted.study.store(), format).1.len();
        for room in [0, whole / 2, whole - 1] {
            let refused = export::samples(planted.study.store(), format, Full(room));
            match refused.expect_err("there is no room") {
                ExportError::Write(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::StorageFull, "{format:?}, {room}");
                }
                error => panic!("{error}"),
            }
        }
    }
}

#[test]
fn a_title_that_looks_like_a_formula_is_text() {
    const FORMULA: &str = "=HYPERLINK(\"http://x\")";
    let directory = tempfile::tempdir().unwrap();
    let plan = PLAN.replace("\"Samples\"", &format!("'{FORMULA}'"));
    let mut planted = Planted::new(directory.path(), &plan, &host(&["own"], 2));
    let group = planted.groups().remove(0);
    planted.fill(&group, 0, &beginning("own"), 1e6);
    let store = planted.study.store();
    let samples = of_csv(&exported(store, Format::Csv).1);
    let results = of_csv(report::csv(&articles::report(store).unwrap()).as_bytes());
    assert!(!samples.is_empty() && !results.is_empty());
    let is_text = |row: &Row| row["study"] == format!("'{FORMULA}");
    assert!(samples.iter().chain(&results).all(is_text), "{results:?}");
    // Parquet has types, and the text as it is.
    let table = of_parquet(&exported(store, Format::Parquet).1);
    assert!(table.iter().all(|row| row["study"] == FORMULA), "{table:?}");
}
