//! The sections on many cells, on studies with a known truth.
//!
//! Leaves the report in `target/tmp/analyses`, to be looked at.

use std::path::Path;

use rsalab_engines::{Job, Op};
use rsalab_measure::{
    Fact, Machine,
    cycles::{CoreClock, CycleSource},
    peak::Peak,
};
use rsalab_study::{
    articles,
    report::{self, Analysis, Layout, Line, Part, Report, html, latex, markdown},
};

use crate::{
    judged,
    support::{Planted, beginning, block, host},
};

const PLAN: &str = "title = \"Every section\"\n\
    [[grid]]\noperations = ['private']\nengines = ['own', 'gmp']\nbits = [1024, 2048, 4096]\nbatch = [1, 2, 4, 8, 16]\n\
    [[grid]]\noperations = ['public']\nengines = ['own', 'gmp']\nbits = [1024, 2048, 3072, 4096]\n\
    [[grid]]\noperations = ['keygen']\nengines = ['own', 'gmp']\nbits = [1024]\n\
    [[grid]]\noperations = ['private']\nengines = ['own', 'gmp']\nbits = [2048]\nthreads = [2, 3, 4, 8, 16]\n\
    [[grid]]\noperations = ['text_encrypt']\nengines = ['own', 'gmp']\nbits = [1024, 2048]\nthreads = [1, 2, 4, 8]\n\
    symbols = [100, 10_000, 1_000_000]\n";

/// On 4 cores of two threads each at 4 GHz, with peaks of 1 and 2.5 multiply-adds a cycle.
fn machine() -> Machine {
    let mut machine = judged::machine(8, None);
    machine.core_clock = Fact::Known(CoreClock {
        hz: 4e9,
        source: CycleSource::AddChain,
    });
    let peak = |instruction: &str, per_second| Peak {
        instruction: instruction.to_owned(),
        per_second,
    };
    machine.multiply_peaks = Fact::Known(vec![peak("mulx of 64 bits", 4e9), peak("vpmadd52 of 512 bits", 10e9)]);
    machine
}

/// Nanoseconds of an operation: a power of the size, a quarter of it in a batch of eight, a text's start on each
/// thread.
fn ns(engine: &str, job: &Job) -> f64 {
    let factor = if engine == "own" { 1.0 } else { 3.0 };
    let size = job.bits as f64 / 1024.0;
    let threads = job.threads as f64;
    match job.op {
        Op::Public => factor * 4e3 * size.powi(2),
        Op::Keygen => factor * 2e6,
        Op::TextEncrypt => {
            let blocks = job.text_blocks() as f64;
            let work = factor * 4e3 * size.powi(2) * blocks;
            // More threads are no faster than eight, and each costs its start.
            work / threads + 20e3 * (threads - 1.0)
        }
        _ => {
            let gain = match (engine, job.batch) {
                ("own", batch) => (batch.min(8) as f64).powf(2.0 / 3.0),
                // A tenth slower in any batch.
                (_, 1) => 1.0,
                _ => 0.9,
            };
            let in_turn = 0.05 * (threads - 1.0);
            factor * 1e5 * size.powi(3) / gain / threads.min(8.0) * (1.0 + in_turn)
        }
    }
}

fn planted(directory: &Path) -> Planted {
    let mut planted = Planted::on(&machine(), directory, PLAN, &host(&["own", "gmp"], 8));
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            let ns = ns(&cell.engine, &cell.job);
            if cell.job.op != Op::Keygen {
                planted.fill(&group, place, &beginning(&cell.engine), ns);
                continue;
            }
            planted.begin(cell, &beginning(&cell.engine));
            for round in 0..6 {
                // An exponential distribution, in the order of a sequence that fills it evenly.
                let times = (0..50).map(|index| {
                    let share = ((index * 6 + round) * 89 % 300) as f64 / 300.0;
                    (ns * (0.5 - (1.0 - share).ln())) as u64
                });
                planted.add(&group, place, round, block(times));
            }
            planted.study.store_mut().complete_cell(cell.id, &[]).unwrap();
        }
    }
    planted
}

fn section<'a>(report: &'a Report, id: &str) -> &'a Analysis {
    let mut analyses = report.analyses.iter();
    analyses
        .find(|analysis| analysis.id == id)
        .unwrap_or_else(|| panic!("{id} is missing"))
}

fn part<'a>(report: &'a Report, id: &str, part: &str) -> &'a Part {
    let parts = &section(report, id).parts;
    let ids: Vec<&str> = parts.iter().map(|part| part.id.as_str()).collect();
    parts
        .iter()
        .find(|one| one.id == part)
        .unwrap_or_else(|| panic!("{part}: {ids:?}"))
}

/// The value of a cell by the name of its column.
fn value(part: &Part, line: &Line, column: &str) -> f64 {
    let place = part.columns.iter().position(|it| it.name == column);
    let place = place.unwrap_or_else(|| panic!("{column}: {:?}", part.columns));
    line.cells[place]
        .value
        .unwrap_or_else(|| panic!("{column}: {line:?}"))
        .value
}

fn lines<'a>(part: &'a Part, engine: &'a str) -> impl Iterator<Item = &'a Line> {
    part.rows.iter().filter(move |line| line.cells[0].text == engine)
}

#[test]
fn every_section_says_what_was_planted() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path());
    let report = articles::report(planted.study.store()).unwrap();
    let ids: Vec<&str> = report.analyses.iter().map(|analysis| analysis.id.as_str()).collect();
    assert_eq!(
        ids,
        ["best-threads", "batches", "exponents", "roofline", "distributions"]
    );

    batches(part(&report, "batches", "batches-private-throughput"));
    exponents(&report);
    roofline(part(&report, "roofline", "roofline-private"));
    best_threads(&report);
    distributions(&report);
    every_format_has_them(&report);

    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("analyses");
    report::write(&report, &out).unwrap();
    let read = report::read(&out.join("results.json")).unwrap();
    assert_eq!(read.analyses, report.analyses);
    for figure in report.all_figures() {
        assert!(
            out.join(format!("figures/{}.svg", figure.id)).is_file(),
            "{}",
            figure.id
        );
    }
}

fn batches(part: &Part) {
    assert!(
        part.sentences[0].starts_with("own, 1024 bits: batches are faster from 2 on, 1.587 "),
        "{:?}",
        part.sentences
    );
    assert!(
        part.sentences[0].contains("an answer then takes 1.260 "),
        "{:?}",
        part.sentences
    );
    let gmp = part.sentences.iter().find(|it| it.starts_with("gmp, 2048 bits"));
    assert!(
        gmp.unwrap()
            .ends_with("no batch up to 16 is shown to be faster than single items."),
        "{gmp:?}"
    );
    let eight =
        lines(part, "own").find(|line| value(part, line, "Batch") == 8.0 && value(part, line, "Bits") == 2048.0);
    let eight = eight.unwrap();
    // Four times as fast; a call of eight takes twice as long as one.
    let latency = value(part, eight, "Time of a batch");
    assert!((latency / (2.0 * 8e5) - 1.0).abs() < 0.01, "{latency}");
    assert_eq!(part.figures.len(), 1);
    assert_eq!(part.figures[0].series.len(), 6, "two engines at three sizes");
    assert_eq!(part.figures[0].series[0].points[3].label.as_deref(), Some("8"));
}

fn exponents(report: &Report) {
    for (name, power, steps) in [
        ("exponents-private-throughput", 3.0, ["1024 to 2048", "2048 to 4096"]),
        ("exponents-public", 2.0, ["1024 to 2048", "3072 to 4096"]),
    ] {
        let part = part(report, "exponents", name);
        for engine in ["own", "gmp"] {
            let line = lines(part, engine).next().unwrap();
            for column in steps.into_iter().chain(["Fit"]) {
                let exponent = value(part, line, column);
                assert!((exponent - power).abs() < 0.01, "{name} {engine} {column}: {exponent}");
            }
        }
    }
}

fn roofline(part: &Part) {
    let own = lines(part, "own")
        .find(|line| value(part, line, "Bits") == 2048.0)
        .unwrap();
    // 16 words, 1024 bits, two primes: squarings of 408, a fifth of as many multiplications of 528.
    let count = 2.0 * 1024.0 * (408.0 + 528.0 / 5.0);
    assert!((value(part, own, "Multiply-adds of one") - count).abs() < 1.0);
    // In the batch that is fastest, four times as fast as single items.
    assert!(value(part, own, "Batch") >= 8.0);
    let per_second = count / (8e5 / 4.0) * 1e9;
    assert!((value(part, own, "In a second (G/s)") / (per_second / 1e9) - 1.0).abs() < 0.01);
    assert!((value(part, own, "A cycle") / (per_second / 4e9) - 1.0).abs() < 0.01);
    assert!((value(part, own, "Share of the peak (%)") / (per_second / 10e9 * 100.0) - 1.0).abs() < 0.01);
    assert!(
        part.sentences[0].contains("vpmadd52 of 512 bits 10.00 G/s, 2.500 a cycle"),
        "{:?}",
        part.sentences
    );
    let references: Vec<f64> = part.figures[0].references.iter().map(|it| it.y).collect();
    assert_eq!(references, [1.0, 2.5]);
}

fn best_threads(report: &Report) {
    let own = part(report, "best-threads", "best-threads-text_encrypt-own");
    let short = &own.rows[0];
    // One block is not split; a million symbols gain from all threads.
    assert_eq!(value(own, short, "100 symbols"), 1.0);
    assert_eq!(value(own, short, "1,000,000 symbols"), 8.0);
    // 79 blocks at 1024 bits, 316 µs: 158 + 20 on two threads, 79 + 60 on four.
    assert_eq!(value(own, short, "10,000 symbols"), 4.0);
    let [figure] = &own.figures[..] else {
        panic!("{:?}", own.figures)
    };
    assert_eq!(figure.layout, Layout::Map);
    assert_eq!(figure.series.len(), 2);
}

fn distributions(report: &Report) {
    let keys = part(report, "distributions", "distribution-keygen-1024");
    let [boxes, cumulative] = &keys.figures[..] else {
        panic!("{:?}", keys.figures)
    };
    assert_eq!((boxes.layout, cumulative.layout), (Layout::Boxes, Layout::Steps));
    let own = lines(keys, "own").next().unwrap();
    assert_eq!(value(keys, own, "Samples"), 300.0);
    // The median of an exponential distribution is ln 2 of its mean, here after half a mean.
    let median = value(keys, own, "median") / 2e6;
    assert!((median - (0.5 + 2_f64.ln())).abs() < 0.01, "{median}");
    let last = cumulative.series[0].points.last().unwrap();
    assert_eq!(last.y, 100.0);
    assert!(
        cumulative
            .series
            .iter()
            .all(|line| line.points.is_sorted_by(|one, other| one.y <= other.y))
    );

    let private = part(report, "distributions", "histogram-private-1024-throughput");
    for engine in 0..2 {
        let share: f64 = private
            .rows
            .iter()
            .map(|row| row.cells[engine + 1].value.unwrap().value)
            .sum();
        assert!((share - 100.0).abs() < 1e-9, "{share}");
    }
    assert!(section(report, "distributions").words.contains("Shown for 4 of "));
}

fn every_format_has_them(report: &Report) {
    let (page, text, tex) = (html(report), markdown(report), latex(report));
    for analysis in &report.analyses {
        assert!(page.contains(&format!("<h2 id=\"{}\">", analysis.id)));
        assert!(text.contains(&format!("## {}", analysis.title)));
        for part in &analysis.parts {
            assert!(page.contains(&format!("<h3 id=\"{}\">", part.id)));
            assert!(
                text.contains(&format!("### {}", part.title.replace('*', "\\*"))),
                "{}",
                part.title
            );
            assert_eq!(
                tex.contains(&format!("\\label{{tab:{}}}", part.id)),
                !part.is_long,
                "{}",
                part.id
            );
            for row in &part.rows {
                assert_eq!(row.cells.len(), part.columns.len(), "{}", part.id);
            }
        }
    }
    assert!(tex.contains("What threads gain"));
    assert!(tex.contains("of the work in turn"));
}

/// A tenth of the samples take forty times as long: the bins begin where the samples do, not below nothing.
#[test]
fn bins_lie_where_samples_are() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "[[grid]]\noperations = ['private']\nengines = ['own']\nbits = [2048]\n";
    let mut planted = Planted::on(&machine(), directory.path(), plan, &host(&["own"], 2));
    let group = planted.groups().remove(0);
    planted.begin(&group.cells[0], &beginning("own"));
    for round in 0..3 {
        let times = (0..20).map(|index| {
            if index % 10 == 0 {
                4_000_000
            } else {
                100_000 + 500 * index
            }
        });
        planted.add(&group, 0, round, block(times));
    }
    let id = group.cells[0].id;
    planted.study.store_mut().complete_cell(id, &[]).unwrap();
    let report = articles::report(planted.study.store()).unwrap();
    let part = part(&report, "distributions", "histogram-private-2048");
    let points = &part.figures[0].series[0].points;
    assert!(points[0].x > -10.0 && points[0].y > 50.0, "{points:?}");
    let share: f64 = points.iter().map(|point| point.y).sum();
    assert!((share - 100.0).abs() < 1e-9, "{share}");
}

/// A study of one cell has nothing to compare it with but the peak, if that was measured.
#[test]
fn one_cell_has_hardly_a_section() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "[[grid]]\noperations = ['private']\nengines = ['own']\nbits = [2048]\n";
    let mut planted = Planted::on(&machine(), directory.path(), plan, &host(&["own"], 2));
    let group = planted.groups().remove(0);
    planted.begin(&group.cells[0], &beginning("own"));
    for round in 0..3 {
        planted.add(&group, 0, round, block([100_000, 101_000, 102_000]));
    }
    let id = group.cells[0].id;
    planted.study.store_mut().complete_cell(id, &[]).unwrap();
    let report = articles::report(planted.study.store()).unwrap();
    // Nine samples are too few for a distribution; a peak to compare one rate with is there.
    let ids: Vec<&str> = report.analyses.iter().map(|analysis| analysis.id.as_str()).collect();
    assert_eq!(ids, ["roofline"]);
    assert!(report.analyses[0].parts[0].figures.is_empty(), "a line takes two sizes");
}
