//! Every cell in a row: the numbers of the report for other programs.

use rsalab_engines::Job;
use rsalab_measure::{Estimate, stats::StabilisedQuartiles};

use super::{
    group::{Group, Row},
    model::Report,
    words,
};
use crate::{compare::Figures, disturbance::Disturbance, number, spreadsheet::inert};

/// One cell of the study.
#[derive(Clone, Copy)]
struct Cell<'a> {
    report: &'a Report,
    group: &'a Group,
    job: &'a Job,
    row: &'a Row,
}

/// The value in a column, for one cell.
type Field = fn(Cell<'_>) -> String;

/// Every column: its name, and what stands in it.
const COLUMNS: [(&str, Field); 59] = [
    ("op", |it| it.job.op.to_string()),
    ("bits", |it| it.job.bits.to_string()),
    ("threads", |it| it.job.threads.to_string()),
    ("batch", |it| it.job.batch.to_string()),
    ("mode", |it| it.job.mode.name().to_owned()),
    ("bare", |it| number::logical(it.row.is_bare).to_owned()),
    ("exponent", |it| it.job.exponent.to_string()),
    ("message_bits", |it| text(it.job.message_bits)),
    ("symbols", |it| it.job.symbols.to_string()),
    ("block_symbols", |it| it.job.block_symbols.to_string()),
    ("engine", |it| it.row.engine.clone()),
    ("engine_version", |it| text(it.row.engine_version.as_ref())),
    ("kernel", |it| text(it.row.kernel.as_ref())),
    ("state", |it| it.row.state.clone()),
    ("reason", |it| text(it.row.reason.as_ref())),
    ("confidence", |it| text(it.confidence())),
    ("ops_per_s", |it| value(it.speed())),
    ("ops_per_s_low", |it| low(it.speed())),
    ("ops_per_s_high", |it| high(it.speed())),
    ("ns_per_op_median", |it| value(it.time())),
    ("ns_per_op_low", |it| low(it.time())),
    ("ns_per_op_high", |it| high(it.time())),
    ("ns_per_op_mean", |it| it.figure(|it| it.summary.mean)),
    ("ns_per_op_min", |it| it.figure(|it| it.summary.min)),
    ("ns_per_op_max", |it| it.figure(|it| it.summary.max)),
    ("ns_per_op_stabilised_q1", |it| it.quartile(|it| it.q1)),
    ("ns_per_op_stabilised_median", |it| it.quartile(|it| it.median)),
    ("ns_per_op_stabilised_q3", |it| it.quartile(|it| it.q3)),
    ("tsc_ticks_per_op", |it| it.known(|it| it.tsc_per_op)),
    ("tests_per_op", |it| it.known(|it| it.tests_per_op)),
    ("blocks", |it| it.figure(|it| it.blocks)),
    ("samples", |it| it.figure(|it| it.summary.n)),
    ("operations", |it| it.figure(|it| it.operations)),
    ("ratio_to", |it| it.base()),
    ("ratio", |it| value(it.ratio())),
    ("ratio_low", |it| low(it.ratio())),
    ("ratio_high", |it| high(it.ratio())),
    ("speedup", |it| value(it.row.speedup)),
    ("speedup_low", |it| low(it.row.speedup)),
    ("speedup_high", |it| high(it.row.speedup)),
    ("ratio_differs_in", |it| it.differs_in()),
    ("luck_corrected_ops_per_s", |it| value(it.adjusted())),
    ("luck_corrected_ops_per_s_low", |it| low(it.adjusted())),
    ("luck_corrected_ops_per_s_high", |it| high(it.adjusted())),
    ("luck_corrected_ratio", |it| value(it.adjusted_ratio())),
    ("luck_corrected_ratio_low", |it| low(it.adjusted_ratio())),
    ("luck_corrected_ratio_high", |it| high(it.adjusted_ratio())),
    ("ratio_uncorrected", |it| text(it.uncorrected())),
    ("disturbed_blocks", |it| it.disturbed(|it| it.blocks.to_string())),
    ("time_lost", |it| it.disturbed(|it| text(it.lost))),
    ("disturbed_by", |it| it.disturbed(|it| it.causes.join("; "))),
    ("notes", |it| it.row.notes.join("; ")),
    ("study", |it| it.report.title.clone()),
    ("seed", |it| it.report.insecure_seed.clone()),
    ("cpu", |it| {
        text(it.report.sessions.first().and_then(|session| session.fact("CPU")))
    }),
    ("primes", |it| it.job.primes.to_string()),
    ("keys", |it| it.job.keys.to_string()),
    ("message_bytes", |it| it.job.message_bytes.to_string()),
    ("machine", |it| text(it.report.sessions.first().map(words::machine))),
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
                report,
                group,
                job: &group.job,
                row,
            };
            write(COLUMNS.map(|(_, field)| inert(&field(cell)).into_owned()).to_vec());
        }
    }
    let bytes = writer.into_inner().expect("memory takes all that is written to it");
    String::from_utf8(bytes).expect("the fields are text")
}

impl Cell<'_> {
    fn known<T: ToString>(self, of: impl FnOnce(&Figures) -> Option<T>) -> String {
        text(self.row.figures.as_ref().and_then(of))
    }

    fn figure<T: ToString>(self, of: impl FnOnce(&Figures) -> T) -> String {
        text(self.row.figures.as_ref().map(of))
    }

    fn quartile(self, of: impl FnOnce(&StabilisedQuartiles) -> f64) -> String {
        self.figure(|figures| of(&figures.summary.stabilised))
    }

    fn speed(self) -> Option<Estimate> {
        self.row.figures.map(|figures| figures.ops_per_s)
    }

    fn time(self) -> Option<Estimate> {
        self.row.figures.map(|figures| figures.ns_per_op)
    }

    /// What all intervals of the row reach.
    fn confidence(self) -> Option<f64> {
        let all = [
            self.time(),
            self.speed(),
            self.ratio(),
            self.row.speedup,
            self.adjusted(),
            self.adjusted_ratio(),
        ];
        self.time()?;
        let confidences = all.into_iter().filter_map(with_interval).map(|it| it.confidence);
        Some(confidences.reduce(f64::min).unwrap_or(0.0))
    }

    fn adjusted(self) -> Option<Estimate> {
        self.row.adjusted.map(|adjusted| adjusted.ops_per_s)
    }

    fn ratio(self) -> Option<Estimate> {
        self.row.ratio.as_ref().map(|ratio| ratio.to_first)
    }

    fn adjusted_ratio(self) -> Option<Estimate> {
        self.row.ratio.as_ref()?.adjusted
    }

    fn uncorrected(&self) -> Option<&str> {
        self.row.ratio.as_ref()?.uncorrected.as_deref()
    }

    fn differs_in(self) -> String {
        let ratio = self.row.ratio.as_ref();
        text(ratio.map(|ratio| ratio.differs_in.join("; ")))
    }

    fn disturbed(self, of: impl FnOnce(&Disturbance) -> String) -> String {
        self.row.disturbance.as_ref().map(of).unwrap_or_default()
    }

    /// The engine that the ratio refers to.
    fn base(self) -> String {
        let base = self.group.base().filter(|_| self.row.ratio.is_some());
        text(base.map(|base| &base.engine))
    }
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|it| it.to_string()).unwrap_or_default()
}

fn value(estimate: Option<Estimate>) -> String {
    text(estimate.map(|it| it.value))
}

fn low(estimate: Option<Estimate>) -> String {
    text(with_interval(estimate).map(|it| it.low))
}

fn high(estimate: Option<Estimate>) -> String {
    text(with_interval(estimate).map(|it| it.high))
}

fn with_interval(estimate: Option<Estimate>) -> Option<Estimate> {
    estimate.filter(|it| it.confidence > 0.0)
}
