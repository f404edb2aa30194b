//! Every cell in a row: the numbers of the report for other programs.

use rsalab_measure::Estimate;

use super::model::{Group, Report, Row};

const COLUMNS: [&str; 45] = [
    "op",
    "bits",
    "threads",
    "batch",
    "mode",
    "bare",
    "exponent",
    "symbols",
    "block_symbols",
    "engine",
    "engine_version",
    "kernel",
    "state",
    "reason",
    "confidence",
    "ops_per_s",
    "ops_per_s_low",
    "ops_per_s_high",
    "ns_per_op_median",
    "ns_per_op_low",
    "ns_per_op_high",
    "ns_per_op_mean",
    "ns_per_op_min",
    "ns_per_op_max",
    "ns_per_op_stabilised_q1",
    "ns_per_op_stabilised_median",
    "ns_per_op_stabilised_q3",
    "tsc_ticks_per_op",
    "tests_per_op",
    "blocks",
    "samples",
    "operations",
    "ratio_to",
    "ratio",
    "ratio_low",
    "ratio_high",
    "ratio_differs_in",
    "luck_corrected_ops_per_s",
    "luck_corrected_ops_per_s_low",
    "luck_corrected_ops_per_s_high",
    "luck_corrected_ratio",
    "luck_corrected_ratio_low",
    "luck_corrected_ratio_high",
    "ratio_uncorrected",
    "notes",
];

/// The table. Speeds and times have their unit in the column's name; an empty field is unknown.
pub fn csv(report: &Report) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = report
        .groups
        .iter()
        .flat_map(|group| group.rows.iter().map(move |row| fields(group, row)));
    for record in std::iter::once(COLUMNS.map(str::to_owned)).chain(rows) {
        writer
            .write_record(&record)
            .expect("every record has as many fields as there are columns");
    }
    let bytes = writer
        .into_inner()
        .expect("memory takes all that is written to it");
    String::from_utf8(bytes).expect("the fields are text")
}

fn fields(group: &Group, row: &Row) -> [String; COLUMNS.len()] {
    let job = &group.job;
    let figures = row.figures.as_ref();
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let ends = |estimate: Option<Estimate>| {
        let sure = estimate.filter(|estimate| estimate.confidence > 0.0);
        [
            number(estimate.map(|estimate| estimate.value)),
            number(sure.map(|estimate| estimate.low)),
            number(sure.map(|estimate| estimate.high)),
        ]
    };
    let [speed, speed_low, speed_high] = ends(figures.map(|figures| figures.ops_per_s));
    let [time, time_low, time_high] = ends(figures.map(|figures| figures.ns_per_op));
    let [ratio, ratio_low, ratio_high] = ends(row.ratio.as_ref().map(|ratio| ratio.to_first));
    let [corrected_speed, corrected_speed_low, corrected_speed_high] =
        ends(row.luck_corrected.map(|corrected| corrected.ops_per_s));
    let [corrected_ratio, corrected_ratio_low, corrected_ratio_high] =
        ends(row.ratio.as_ref().and_then(|ratio| ratio.luck_corrected));
    let summary = |field: fn(&rsalab_measure::stats::Summary) -> f64| {
        number(figures.map(|figures| field(&figures.summary)))
    };
    let base = group.base().filter(|_| row.ratio.is_some());
    [
        job.op.to_string(),
        job.bits.to_string(),
        job.threads.to_string(),
        job.batch.to_string(),
        mode(job.mode).to_owned(),
        row.is_bare.to_string(),
        job.exponent.to_string(),
        job.symbols.to_string(),
        job.block_symbols.to_string(),
        row.engine.clone(),
        row.engine_version.clone().unwrap_or_default(),
        row.kernel.clone().unwrap_or_default(),
        row.state.to_owned(),
        row.reason.clone().unwrap_or_default(),
        number(figures.map(|figures| figures.ns_per_op.confidence)),
        speed,
        speed_low,
        speed_high,
        time,
        time_low,
        time_high,
        summary(|summary| summary.mean),
        summary(|summary| summary.min),
        summary(|summary| summary.max),
        summary(|summary| summary.stabilised.q1),
        summary(|summary| summary.stabilised.median),
        summary(|summary| summary.stabilised.q3),
        number(figures.and_then(|figures| figures.tsc_per_op)),
        number(figures.and_then(|figures| figures.tests_per_op)),
        figures
            .map(|figures| figures.blocks.to_string())
            .unwrap_or_default(),
        figures
            .map(|figures| figures.summary.n.to_string())
            .unwrap_or_default(),
        figures
            .map(|figures| figures.operations.to_string())
            .unwrap_or_default(),
        base.map(|base| base.engine.clone()).unwrap_or_default(),
        ratio,
        ratio_low,
        ratio_high,
        row.ratio
            .as_ref()
            .map(|ratio| ratio.differs_in.join("; "))
            .unwrap_or_default(),
        corrected_speed,
        corrected_speed_low,
        corrected_speed_high,
        corrected_ratio,
        corrected_ratio_low,
        corrected_ratio_high,
        row.ratio
            .as_ref()
            .and_then(|ratio| ratio.uncorrected)
            .unwrap_or_default()
            .to_owned(),
        row.notes.join("; "),
    ]
}

fn mode(mode: rsalab_engines::Mode) -> &'static str {
    match mode {
        rsalab_engines::Mode::Latency => "latency",
        rsalab_engines::Mode::Concurrent => "concurrent",
        rsalab_engines::Mode::Throughput => "throughput",
    }
}
