//! Every cell in a row: the numbers of the report for other programs.

use rsalab_engines::{Job, Mode};
use rsalab_measure::Estimate;

use super::{
    group::{Group, Row},
    model::Report,
};
use crate::compare::{Figures, Ratio};

/// One cell of the study.
#[derive(Clone, Copy)]
struct Cell<'a> {
    group: &'a Group,
    job: &'a Job,
    row: &'a Row,
}

/// What stands in a column, for one cell.
type Field = fn(Cell<'_>) -> String;

/// Every column: its name, and what stands in it.
const COLUMNS: [(&str, Field); 45] = [
    ("op", |it| it.job.op.to_string()),
    ("bits", |it| it.job.bits.to_string()),
    ("threads", |it| it.job.threads.to_string()),
    ("batch", |it| it.job.batch.to_string()),
    ("mode", |it| mode(it.job.mode).to_owned()),
    ("bare", |it| it.row.is_bare.to_string()),
    ("exponent", |it| it.job.exponent.to_string()),
    ("symbols", |it| it.job.symbols.to_string()),
    ("block_symbols", |it| it.job.block_symbols.to_string()),
    ("engine", |it| it.row.engine.clone()),
    ("engine_version", |it| {
        it.row.engine_version.clone().unwrap_or_default()
    }),
    ("kernel", |it| it.row.kernel.clone().unwrap_or_default()),
    ("state", |it| it.row.state.to_owned()),
    ("reason", |it| it.row.reason.clone().unwrap_or_default()),
    ("confidence", |it| {
        it.figure(|figures| Some(figures.ns_per_op.confidence))
    }),
    ("ops_per_s", |it| value(it.speed())),
    ("ops_per_s_low", |it| low(it.speed())),
    ("ops_per_s_high", |it| high(it.speed())),
    ("ns_per_op_median", |it| value(it.time())),
    ("ns_per_op_low", |it| low(it.time())),
    ("ns_per_op_high", |it| high(it.time())),
    ("ns_per_op_mean", |it| {
        it.figure(|figures| Some(figures.summary.mean))
    }),
    ("ns_per_op_min", |it| {
        it.figure(|figures| Some(figures.summary.min))
    }),
    ("ns_per_op_max", |it| {
        it.figure(|figures| Some(figures.summary.max))
    }),
    ("ns_per_op_stabilised_q1", |it| {
        it.figure(|figures| Some(figures.summary.stabilised.q1))
    }),
    ("ns_per_op_stabilised_median", |it| {
        it.figure(|figures| Some(figures.summary.stabilised.median))
    }),
    ("ns_per_op_stabilised_q3", |it| {
        it.figure(|figures| Some(figures.summary.stabilised.q3))
    }),
    ("tsc_ticks_per_op", |it| {
        it.figure(|figures| figures.tsc_per_op)
    }),
    ("tests_per_op", |it| {
        it.figure(|figures| figures.tests_per_op)
    }),
    ("blocks", |it| it.figure(|figures| Some(figures.blocks))),
    ("samples", |it| it.figure(|figures| Some(figures.summary.n))),
    ("operations", |it| {
        it.figure(|figures| Some(figures.operations))
    }),
    ("ratio_to", |it| it.base()),
    ("ratio", |it| value(it.ratio(|ratio| Some(ratio.to_first)))),
    (
        "ratio_low",
        |it| low(it.ratio(|ratio| Some(ratio.to_first))),
    ),
    ("ratio_high", |it| {
        high(it.ratio(|ratio| Some(ratio.to_first)))
    }),
    ("ratio_differs_in", |it| {
        it.ratio(|ratio| Some(ratio.differs_in.join("; ")))
            .unwrap_or_default()
    }),
    ("luck_corrected_ops_per_s", |it| value(it.adjusted())),
    ("luck_corrected_ops_per_s_low", |it| low(it.adjusted())),
    ("luck_corrected_ops_per_s_high", |it| high(it.adjusted())),
    ("luck_corrected_ratio", |it| {
        value(it.ratio(|ratio| ratio.luck_corrected))
    }),
    ("luck_corrected_ratio_low", |it| {
        low(it.ratio(|ratio| ratio.luck_corrected))
    }),
    ("luck_corrected_ratio_high", |it| {
        high(it.ratio(|ratio| ratio.luck_corrected))
    }),
    ("ratio_uncorrected", |it| {
        it.ratio(|ratio| ratio.uncorrected)
            .unwrap_or_default()
            .to_owned()
    }),
    ("notes", |it| it.row.notes.join("; ")),
];

/// The table. Speeds and times have their unit in the column's name; an empty field is unknown.
pub fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: Vec<String>| {
        let written = writer.write_record(&record);
        written.expect("every record has as many fields as there are columns");
    };
    write(COLUMNS.map(|(name, _)| name.to_owned()).to_vec());
    for group in &report.groups {
        for row in &group.rows {
            let cell = Cell {
                group,
                job: &group.job,
                row,
            };
            write(COLUMNS.map(|(_, field)| field(cell)).to_vec());
        }
    }
    let bytes = writer
        .into_inner()
        .expect("memory takes all that is written to it");
    String::from_utf8(bytes).expect("the fields are text")
}

impl Cell<'_> {
    fn figure<T: ToString>(self, of: impl FnOnce(&Figures) -> Option<T>) -> String {
        let figure = self.row.figures.as_ref().and_then(of);
        figure.map(|it| it.to_string()).unwrap_or_default()
    }

    fn speed(self) -> Option<Estimate> {
        self.row.figures.map(|figures| figures.ops_per_s)
    }

    fn time(self) -> Option<Estimate> {
        self.row.figures.map(|figures| figures.ns_per_op)
    }

    fn adjusted(self) -> Option<Estimate> {
        self.row.luck_corrected.map(|adjusted| adjusted.ops_per_s)
    }

    fn ratio<T>(self, of: impl FnOnce(&Ratio) -> Option<T>) -> Option<T> {
        self.row.ratio.as_ref().and_then(of)
    }

    /// The engine that the ratio refers to.
    fn base(self) -> String {
        let base = self.group.base().filter(|_| self.row.ratio.is_some());
        base.map(|base| base.engine.clone()).unwrap_or_default()
    }
}

fn value(estimate: Option<Estimate>) -> String {
    estimate.map(|it| it.value.to_string()).unwrap_or_default()
}

fn low(estimate: Option<Estimate>) -> String {
    let has_interval = estimate.filter(|it| it.confidence > 0.0);
    has_interval
        .map(|it| it.low.to_string())
        .unwrap_or_default()
}

fn high(estimate: Option<Estimate>) -> String {
    let has_interval = estimate.filter(|it| it.confidence > 0.0);
    has_interval
        .map(|it| it.high.to_string())
        .unwrap_or_default()
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Latency => "latency",
        Mode::Concurrent => "concurrent",
        Mode::Throughput => "throughput",
    }
}
