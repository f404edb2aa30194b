//! The articles' reviews of planted studies, word by word: a change of the data or of the evaluators shows here.
//!
//! Texts that are too long to keep are kept as digests, one for each review, figure and plan. With `GOLDEN_DIR` set to
//! a folder, whole texts are compared with those there, line by line.
//!
//! `UPDATE_GOLDEN=1 cargo test -p rsalab-study --test library golden::` writes the expected files anew.

use std::{
    env,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
};

use rsalab_engines::{BlockReport, Exponent, Job, Mode, Op};
use rsalab_measure::{Block, Estimate, Machine};
use rsalab_study::{
    articles,
    plan::{Engines, Host, Preset},
    report::{Figure, Review},
};
use sha2::{Digest, Sha256};

use crate::support::{self, Planted, beginning, block, machine};

/// Nanoseconds of a job on an engine and how many threads' worth of it passes at once, or why it has none.
type Law = fn(engine: &str, job: &Job) -> Result<(f64, f64), &'static str>;

fn study(machine: &Machine, directory: &Path) -> Planted {
    let logical_cpus = machine.topology.allowed_cpus();
    let plan = Preset::named("papers")
        .unwrap()
        .plan(&support::host(&["own"], logical_cpus));
    let mut names: Vec<String> = Vec::new();
    for grid in &plan.grids {
        if let Engines::Named(named) = &grid.engines {
            names.extend(named.iter().map(|one| one.split(':').next().unwrap().to_owned()));
        }
    }
    names.sort();
    names.dedup();
    let host = Host {
        known: names.clone(),
        present: names,
        logical_cpus,
    };
    Planted::on(machine, directory, &plan.to_toml(), &host)
}

/// Fills every cell that the law has a time for, in ten blocks of ten calls with noise of half a per cent.
fn fill(planted: &mut Planted, kernel: &str, law: Law) {
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            let (ns, at_once) = match law(&cell.engine, &cell.job) {
                Ok(time) => time,
                Err("") => continue,
                Err(reason) => {
                    let store = planted.study.store_mut();
                    store.refuse_cell(cell.id, reason).unwrap();
                    continue;
                }
            };
            let mut beginning = beginning(cell.engine.split(':').next().unwrap());
            kernel.clone_into(&mut beginning.readiness.kernel);
            if matches!(cell.job.op, Op::Totient | Op::PrivateExponent) {
                beginning.readiness.first_call = block([(ns * 3.0) as u64]).block.samples.pop();
            }
            planted.begin(cell, &beginning);
            for round in 0..10 {
                let times = (0..10).map(|index| {
                    let noise = (index + 3 * round + 5 * place * round) % 11;
                    (ns * (0.995 + 0.001 * noise as f64)) as u64
                });
                let report = block(times);
                let elapsed_ns = (report.block.elapsed_ns as f64 / at_once) as u64;
                let report = BlockReport {
                    block: Block {
                        elapsed_ns,
                        ..report.block
                    },
                    ..report
                };
                planted.add(&group, place, round, report);
            }
            let store = planted.study.store_mut();
            store.complete_cell(cell.id, &[]).unwrap();
        }
    }
}

/// Times that depend on everything, so that no two values are alike by chance.
fn ns(engine: &str, job: &Job) -> (f64, f64) {
    let bits = job.bits as f64 / 1024.0;
    let speed: f64 = engine.bytes().map(f64::from).sum::<f64>() / 500.0;
    let is_public = matches!(job.op, Op::Public | Op::TextEncrypt);
    let work = match (job.op, job.exponent) {
        (Op::PrimePair | Op::Keygen, _) => 3e6 * bits.powi(4),
        (Op::Totient, _) => 400.0 * bits,
        (Op::PrivateExponent, _) => 2_000.0 * bits,
        (_, Exponent::Fixed(_)) if is_public => 4e3 * bits * bits,
        _ => 9e4 * bits.powi(3),
    };
    let short = job.message_bits.map_or(1.0, |bits| 0.9 + bits as f64 * 1e-5);
    let messages = job.text_blocks().max(1) as f64;
    let start = if job.threads > 1 { 15e3 } else { 0.0 };
    let at_once = match job.mode {
        Mode::Concurrent => job.threads as f64,
        _ => 1.0,
    };
    let threads = if job.op.is_text() {
        (job.threads as f64).powf(0.85)
    } else {
        1.0
    };
    let slower = if job.mode == Mode::Concurrent {
        at_once / 1.6_f64.powf(at_once - 1.0)
    } else {
        1.0
    };
    (work * short * speed * messages / threads * slower + start, at_once)
}

fn everything(engine: &str, job: &Job) -> Result<(f64, f64), &'static str> {
    let (ns, at_once) = ns(engine, job);
    Ok((if engine.starts_with("gpu") { ns / 14.0 } else { ns }, at_once))
}

fn with_reasons(engine: &str, job: &Job) -> Result<(f64, f64), &'static str> {
    match engine {
        name if name.starts_with("gpu") => Err("no device, because NVIDIA's driver is not installed"),
        "textbook:halves" if job.op == Op::Public => Err("'public' has no form 'halves'; it has plain"),
        "openssl" if job.op == Op::Keygen && job.bits < 512 => Err("no keys below 512 bits"),
        name if name.starts_with("c-openmp") => Err("c-openmp is not built: 'make setup' builds it"),
        "cryptopp" if job.bits == 3072 => Err(""),
        "gmp" if job.threads > 4 => Err("the worker died"),
        _ => Ok(ns(engine, job)),
    }
}

fn estimate(value: &Estimate) -> String {
    format!(
        "{:.5e} [{:.5e}, {:.5e}] {} n={}",
        value.value, value.low, value.high, value.confidence, value.n
    )
}

fn of_review(text: &mut String, review: &Review) {
    let line = |text: &mut String, line: String| writeln!(text, "{line}").unwrap();
    line(
        text,
        format!(
            "# {} {}\n{}\n{}",
            review.id, review.title, review.source, review.machine
        ),
    );
    review
        .remarks
        .iter()
        .for_each(|remark| line(text, format!("- {remark}")));
    for shown in &review.shown {
        line(
            text,
            format!(
                "## {} {}: {:?} {:?}",
                shown.id, shown.title, shown.figures, shown.reason
            ),
        );
    }
    for table in &review.tables {
        line(
            text,
            format!(
                "## {} {} ({}) {} {:?}",
                table.id, table.title, table.unit, table.row_head, table.reason
            ),
        );
        line(text, table.columns.join(" | "));
        for row in &table.rows {
            line(text, format!("{}:", row.label));
            for cell in &row.cells {
                let ours = cell.ours.as_ref().map(estimate);
                line(
                    text,
                    format!(
                        "  {:?} / {:?} {}",
                        ours,
                        cell.published,
                        cell.reason.as_deref().unwrap_or("")
                    ),
                );
            }
        }
        table
            .remarks
            .iter()
            .for_each(|remark| line(text, format!("- {remark}")));
    }
    for claim in &review.claims {
        line(
            text,
            format!(
                "## {} {}\n{}\n{}\n{}",
                claim.id,
                claim.claim,
                claim.published,
                claim.computed,
                claim.outcome()
            ),
        );
        for case in &claim.cases {
            let value = case.value.as_ref().map(estimate);
            line(
                text,
                format!(
                    "{} / {}: {:?} {}\n  {value:?}",
                    case.engine, case.case, case.verdict, case.sentence
                ),
            );
        }
    }
}

fn of_figure(text: &mut String, figure: &Figure) {
    let shape = Figure {
        series: Vec::new(),
        references: Vec::new(),
        marks: Vec::new(),
        ..figure.clone()
    };
    writeln!(text, "{}", serde_json::to_string(&shape).unwrap()).unwrap();
    // Not to the last digit, which depends on the C library.
    for line in &figure.references {
        writeln!(text, "  y={:.5e}: {}", line.y, line.label).unwrap();
    }
    for line in &figure.marks {
        writeln!(text, "  x={:.5e}: {}", line.x, line.label).unwrap();
    }
    for series in &figure.series {
        write!(text, "  {}:", series.name).unwrap();
        for point in &series.points {
            write!(text, " {:.5e}={:.5e}", point.x, point.y).unwrap();
            if let (Some(low), Some(high)) = (point.low, point.high) {
                write!(text, "[{low:.5e},{high:.5e}]").unwrap();
            }
            if let Some(note) = &point.note {
                write!(text, "({note})").unwrap();
            }
        }
        writeln!(text).unwrap();
    }
}

/// The reviews and figures of a study, each with its name.
fn items(planted: &Planted, with_points: bool) -> Vec<(String, String)> {
    let report = articles::report(planted.study.store()).unwrap();
    let mut items = Vec::new();
    for review in &report.articles {
        let mut text = String::new();
        of_review(&mut text, review);
        items.push((format!("article {}", review.id), text));
    }
    for figure in &report.figures {
        let mut text = String::new();
        match with_points {
            true => of_figure(&mut text, figure),
            false => writeln!(text, "{}: {}", figure.id, figure.description).unwrap(),
        }
        items.push((format!("figure {}", figure.id), text));
    }
    items
}

fn whole(items: &[(String, String)]) -> String {
    items.iter().map(|(_, text)| text.as_str()).collect()
}

/// Where an expected file is kept.
fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn check(path: &Path, text: &str) {
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, text).unwrap();
    }
    let read = fs::read_to_string(path);
    let path = path.display();
    let expected = read.unwrap_or_else(|error| panic!("{path} cannot be read: {error}; UPDATE_GOLDEN=1 writes it"));
    for (number, (line, expected)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(line, expected, "line {} of {path}", number + 1);
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "lines of {path}");
}

/// Checks the digests of texts, and the texts themselves where `GOLDEN_DIR` has them.
fn check_items(name: &str, items: &[(String, String)]) {
    if let Some(folder) = env::var_os("GOLDEN_DIR") {
        check(&Path::new(&folder).join(format!("{name}.txt")), &whole(items));
    }
    let mut digests = String::new();
    for (item, text) in items {
        writeln!(digests, "{}  {item}", hex::encode(Sha256::digest(text))).unwrap();
    }
    check(&kept(&format!("{name}.sha256")), &digests);
}

#[test]
fn a_study_without_a_cell() {
    let directory = tempfile::tempdir().unwrap();
    let planted = study(&machine(4, 2), directory.path());
    check_items("unmeasured", &items(&planted, true));
}

fn check_every_cell(name: &str, machine: &Machine, kernel: &str) {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(machine, directory.path());
    fill(&mut planted, kernel, everything);
    check_items(name, &items(&planted, true));
}

#[test]
fn a_study_with_every_cell() {
    check_every_cell("everything", &machine(4, 2), "portable");
}

#[test]
fn a_study_of_one_core() {
    check_every_cell("one", &machine(1, 1), "portable");
}

#[test]
fn a_study_whose_device_is_a_cpu() {
    check_every_cell("on-cpu", &machine(2, 1), "mont32x1-opencl on a CPU");
}

#[test]
fn a_study_with_reasons() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(&machine(2, 1), directory.path());
    fill(&mut planted, "portable", with_reasons);
    check(&kept("reasons.txt"), &whole(&items(&planted, false)));
    check_items("reasons-points", &items(&planted, true));
}

/// The cells that the presets of articles unfold into.
#[test]
fn the_plans_of_articles() {
    let mut plans = Vec::new();
    for name in ["text-threads", "prime-cycles", "keygen-libraries", "cpu-gpu", "papers"] {
        let directory = tempfile::tempdir().unwrap();
        let host = study(&machine(4, 2), directory.path());
        let host = host.study.store().study().unwrap().host;
        let plan = Preset::named(name).unwrap().plan(&host);
        let mut text = String::new();
        writeln!(text, "# {name}: {} {}", plan.title, plan.nice).unwrap();
        for group in plan.groups(&host).unwrap() {
            let engines: Vec<&str> = group.cells.iter().map(|cell| cell.engine.as_str()).collect();
            writeln!(text, "{:?} {:?}\n  {}", group.job, group.measure, engines.join(" ")).unwrap();
        }
        plans.push((format!("plan {name}"), text));
    }
    check_items("plans", &plans);
}
