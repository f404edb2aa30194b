//! The table of a bench: a row for each engine at each size.

use rsalab_engines::{Ledger, Mode, Op};
use rsalab_measure::{Estimate, stats::Explained};
use serde::{Deserialize, Serialize};

use crate::{
    compare::{self, Adjusted, CONFIDENCE, Figures, Measured, Ratio},
    disturbance::{self, Disturbance, Reading},
    launches::Launches,
    number,
    plan::Group,
    run::{ActiveCell, interrupted_note},
    store::CellState,
};

/// One engine at one size.
///
/// An engine that failed or does not do the job has a row too, without figures and with the reason in its notes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The engine's selector.
    pub engine: String,
    /// The version of its library.
    pub engine_version: Option<String>,
    /// The code path it chose for this CPU.
    pub kernel: Option<String>,
    /// The operation.
    pub op: Op,
    /// Bits of the modulus.
    pub bits: usize,
    /// Threads that ran at once.
    pub threads: usize,
    /// Items handed to the engine in one call.
    pub batch: usize,
    /// Primes of the key.
    #[serde(default = "two", skip_serializing_if = "is_two")]
    pub primes: usize,
    /// Keys that the items of a batch were under by turns.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub keys: usize,
    /// Signatures of messages: bytes of each; else 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub message_bytes: usize,
    /// Which question the figures answer.
    pub mode: Mode,
    /// Operations per second, of all threads together: what was done over the time that it took, pauses included.
    pub ops_per_s: Option<f64>,
    /// Nanoseconds per operation of wall time, in the median, with its interval of 95 %.
    pub ns_per_op: Option<Interval>,
    /// Ticks of the time-stamp counter per operation. Not core cycles.
    pub tsc_per_op: Option<f64>,
    /// This engine's speed divided by that of the first engine listed, at the same size: above 1 where this one is
    /// faster. None if the first has no figures.
    pub ratio_to_first: Option<Interval>,
    /// Where luck decides and the primality tests are counted: what they say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub luck: Option<Luck>,
    /// The conditions of the figures.
    pub ledger: Option<Ledger>,
    /// The time that was taken from its blocks; none where that was little, or is not known.
    #[serde(default)]
    pub disturbance: Option<Disturbance>,
    /// Remarks: a ratio between unequal jobs, oversubscription, the reason of a failure.
    pub notes: Vec<String>,
    /// Operations per second of each launch, if there were several; the figures are medians over them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub launches_ops_per_s: Vec<f64>,
}

fn two() -> usize {
    2
}

fn is_two(primes: &usize) -> bool {
    *primes == 2
}

fn one() -> usize {
    1
}

fn is_one(keys: &usize) -> bool {
    *keys == 1
}

fn is_zero(bytes: &usize) -> bool {
    *bytes == 0
}

/// The part of chance in a row, by its primality tests. The row's own figures are raw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Luck {
    /// How far the tests explain the time: an operation is a key, a count is a test.
    pub explained: Explained,
    /// The mean number of tests of all engines of the row's size that search as this one does; none if no other does.
    pub shared_tests_per_op: Option<f64>,
    /// Operations per second, had this engine needed so many.
    pub corrected_ops_per_s: Option<Interval>,
    /// The ratio to the first engine, had both needed as many as the two did in the mean. None where the ratio is raw.
    pub corrected_ratio_to_first: Option<Interval>,
}

/// A median with its interval. Without enough blocks for one, the interval is the range of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The value.
    pub median: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Interval {
            median: estimate.value,
            low: estimate.low,
            high: estimate.high,
        }
    }
}

pub(super) fn rows_of(group: &Group, launches: &[Vec<ActiveCell>], quota: Option<f64>) -> Vec<Row> {
    let engines: Vec<Launches<'_>> = (0..group.cells.len())
        .map(|place| Launches::of(place, launches))
        .collect();
    let measured: Vec<Option<Measured<'_>>> = engines.iter().map(Launches::measured).collect();
    let measured: Vec<Option<&Measured<'_>>> = measured.iter().map(Option::as_ref).collect();
    let corrected = compare::adjusted(group.job.op, &measured, CONFIDENCE);
    engines
        .iter()
        .zip(corrected)
        .map(|(engine, corrected)| row(engine, &engines[0], group, corrected, quota))
        .collect()
}

fn row(
    this: &Launches<'_>,
    first: &Launches<'_>,
    group: &Group,
    corrected: Option<Adjusted>,
    quota: Option<f64>,
) -> Row {
    let job = &group.job;
    let launches_ops_per_s = this.speeds(job.op);
    let figures = this.figures(job.op);
    let ratio = this.ratio(first, job.op);
    let disturbance = disturbance_of(this, quota);
    let mut notes = notes(this, figures.as_ref(), ratio.as_ref(), &launches_ops_per_s);
    notes.extend(disturbance::remarks(
        figures.as_ref(),
        this.taken().len(),
        disturbance.as_ref(),
        compare::is_random(job.op),
    ));
    let beginning = this.beginning();
    Row {
        engine: this.cells()[0].engine.clone(),
        engine_version: beginning.map(|beginning| beginning.info.version.clone()),
        kernel: beginning.map(|beginning| beginning.readiness.kernel.clone()),
        op: job.op,
        bits: job.bits,
        threads: job.threads,
        batch: job.batch,
        primes: job.primes,
        keys: job.keys,
        message_bytes: job.message_bytes,
        mode: job.mode,
        ops_per_s: figures.map(|figures| figures.ops_per_s.value),
        ns_per_op: figures.map(|figures| figures.ns_per_op.into()),
        tsc_per_op: figures.and_then(|figures| figures.tsc_per_op),
        ratio_to_first: ratio.as_ref().map(|ratio| ratio.to_first.into()),
        luck: figures.and_then(|figures| figures.luck).map(|explained| Luck {
            explained,
            shared_tests_per_op: corrected.map(|corrected| corrected.tests_per_op),
            corrected_ops_per_s: corrected.map(|corrected| corrected.ops_per_s.into()),
            corrected_ratio_to_first: ratio
                .as_ref()
                .and_then(|ratio| ratio.adjusted)
                .filter(|_| corrected.is_some())
                .map(Interval::from),
        }),
        ledger: beginning.map(|beginning| beginning.ledger.clone()),
        disturbance,
        notes,
        launches_ops_per_s,
    }
}

fn disturbance_of(this: &Launches<'_>, quota: Option<f64>) -> Option<Disturbance> {
    let cell = this.cells()[0];
    let reading = Reading::of(this.beginning()?, &cell.job, &cell.engine);
    Disturbance::of(&this.taken(), reading, quota)
}

/// That there are too few values for an interval of the confidence that was asked for; of a bench that was stopped
/// that is no news.
fn lack_of_values(this: &Launches<'_>, figures: &Figures, ratio: Option<&Ratio>) -> Option<String> {
    /// The confidence that five launches reach.
    const LEAST: f64 = 0.9;
    let is_done = this.cells().iter().all(|cell| cell.state == CellState::Done);
    // An engine compared with itself is no measurement.
    let ratio = ratio.filter(|ratio| ratio.to_first.low < ratio.to_first.high);
    let of_ratio = ratio.map_or(1.0, |ratio| ratio.to_first.confidence);
    let reached = figures.ns_per_op.confidence.min(of_ratio);
    let what = match this.cells().len() {
        1 => "block",
        _ => "launch",
    };
    let count = match (this.values(), what) {
        (1, what) => format!("1 {what}"),
        (count, "launch") => format!("{count} launches"),
        (count, what) => number::counted(count, what),
    };
    (is_done && reached < LEAST).then(|| match reached > 0.0 {
        true => format!(
            "{count} are too few values: the intervals reach a confidence of {:.0} %",
            100.0 * reached
        ),
        false => format!("{count}: there is no interval, and what stands there is the range of its samples"),
    })
}

fn notes(this: &Launches<'_>, figures: Option<&Figures>, ratio: Option<&Ratio>, speeds: &[f64]) -> Vec<String> {
    let mut notes = this
        .beginning()
        .map(|beginning| beginning.notes.clone())
        .unwrap_or_default();
    if let Some(ratio) = ratio.filter(|ratio| !ratio.differs_in.is_empty()) {
        notes.push(format!("differs in: {}", ratio.differs_in.join(", ")));
    }
    if let Some(reason) = ratio.and_then(|ratio| ratio.uncorrected.as_deref()) {
        notes.push(format!("the ratio is raw, luck included: {reason}"));
    }
    if let Some(best) = speeds.iter().copied().reduce(f64::max) {
        let worst = speeds.iter().copied().fold(best, f64::min);
        notes.push(format!(
            "launches: {}, best {}, worst {} per second; the figures are medians over them",
            speeds.len(),
            number::significant(best),
            number::significant(worst),
        ));
    }
    let interrupted: Vec<&str> = this
        .cells()
        .iter()
        .flat_map(|cell| cell.interrupted.iter().map(String::as_str))
        .collect();
    notes.extend(interrupted_note(&interrupted));
    for (index, cell) in this.cells().iter().enumerate() {
        let launch = if this.cells().len() > 1 {
            format!("launch {} ", index + 1)
        } else {
            String::new()
        };
        match &cell.state {
            CellState::Done => {}
            CellState::Failed(reason) => notes.push(format!("{launch}failed: {reason}")),
            CellState::Unsupported(reason) => notes.push(format!("{launch}not supported: {reason}")),
            CellState::Planned | CellState::Running => notes.push(format!("{launch}stopped before the end")),
        }
    }
    notes.extend(figures.and_then(|figures| lack_of_values(this, figures, ratio)));
    // An engine that cannot do a job says the same in every launch.
    notes.dedup();
    notes
}
