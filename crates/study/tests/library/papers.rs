//! The articles (b) and (c) on planted data, and all articles together: whatever an article has is in the results, with
//! a value or a reason.

use std::{collections::BTreeMap, path::Path};

use rsalab_engines::{BlockReport, Job, Mode, Op};
use rsalab_measure::Estimate;
use rsalab_study::{
    articles::{self, Article},
    plan::{Engines, Host, Plan, Preset},
    report::{self, Review, Table, Verdict},
    store::GroupRecord,
};

use crate::support::{Planted, beginning, block, host};

/// Every engine that a plan names.
fn engines_of(plan: &Plan) -> Vec<String> {
    let mut engines: Vec<String> = Vec::new();
    for grid in &plan.grids {
        let Engines::Named(named) = &grid.engines else {
            continue;
        };
        for selector in named {
            let name = selector.split(':').next().unwrap().to_owned();
            if !engines.contains(&name) {
                engines.push(name);
            }
        }
    }
    engines
}

fn host_of(plan: &Plan) -> Host {
    let engines = engines_of(plan);
    let names: Vec<&str> = engines.iter().map(String::as_str).collect();
    host(&names, 2)
}

fn study(directory: &Path, plan: &Plan) -> Planted {
    Planted::new(directory, &plan.to_toml(), &host_of(plan))
}

/// The plan of a preset, which asks nothing of the machine.
fn plan(preset: &str) -> Plan {
    Preset::named(preset).unwrap().plan(&host(&["own"], 2))
}

/// The contents of a cell: nanoseconds of an operation, and how many threads' worth of it passes at once.
type Law = dyn Fn(&Job, &str) -> Option<(f64, f64)>;

/// Fills every cell that the law has a time for, in ten blocks of ten calls with noise of half a per cent; the others
/// are not supported.
fn fill(planted: &mut Planted, law: &Law) {
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            match law(&cell.job, &cell.engine) {
                Some((ns, at_once)) => fill_cell(planted, &group, place, ns, at_once),
                None => {
                    let store = planted.study.store_mut();
                    store.refuse_cell(cell.id, "it was not planted").unwrap();
                }
            }
        }
    }
}

fn fill_cell(planted: &mut Planted, group: &GroupRecord, place: usize, ns: f64, at_once: f64) {
    let engine = group.cells[place].engine.split(':').next().unwrap();
    let mut beginning = beginning(engine);
    beginning.ledger.rounds = match &group.cells[place].engine[..] {
        "openssl" | "libcrypto" | "ippcp:trials64" => Some("64 of Miller-Rabin".to_owned()),
        "ippcp:trials1" => Some("1 of Miller-Rabin".to_owned()),
        _ => beginning.ledger.rounds,
    };
    planted.begin(&group.cells[place], &beginning);
    for round in 0..10 {
        let times = (0..10).map(|index| {
            let noise = (index + 3 * round + 5 * place * round) % 11;
            (ns * (0.995 + 0.001 * noise as f64)) as u64
        });
        let report = block(times);
        let elapsed_ns = (report.block.elapsed_ns as f64 / at_once) as u64;
        let report = BlockReport {
            block: rsalab_measure::Block {
                elapsed_ns,
                ..report.block
            },
            ..report
        };
        planted.add(group, place, round, report);
    }
    let store = planted.study.store_mut();
    store.complete_cell(group.cells[place].id, &[]).unwrap();
}

fn reviews(planted: &Planted) -> Vec<Review> {
    articles::report(planted.study.store()).unwrap().articles
}

fn table<'a>(review: &'a Review, id: &str) -> &'a Table {
    review.tables.iter().find(|table| table.id == id).unwrap()
}

/// The value of a table's cell, by the beginning of its row's label and its column.
fn value(table: &Table, row: &str, column: &str) -> Estimate {
    let rows = table.rows.iter();
    let line = rows.clone().find(|line| line.label.starts_with(row));
    let line = line.unwrap_or_else(|| panic!("{}: no row '{row}'", table.id));
    let place = table.columns.iter().position(|name| name == column);
    line.cells[place.unwrap()].ours.unwrap()
}

fn verdict(review: &Review, claim: &str, engine: &str) -> Verdict {
    let claim = review.claims.iter().find(|one| one.id == claim).unwrap();
    let one = claim.verdicts.iter().find(|one| one.engine == engine);
    one.unwrap().verdict
}

fn about(value: f64, expected: f64) {
    assert!((value / expected - 1.0).abs() < 0.01, "{value}, not {expected}");
}

/// Ticks of a nanosecond in planted blocks.
const TICKS_PER_NS: f64 = 2.3;

/// Times as article (b) has them: pairs as its ticks, steps as its Table 1, two threads 1.6 times as fast as one.
fn as_article_b(job: &Job, engine: &str) -> Option<(f64, f64)> {
    let place = [1024, 1536, 2048].iter().position(|bits| *bits == job.bits)?;
    let ticks = match job.op {
        Op::PrimePair => [6_761_931.78, 24_958_071.37, 66_574_448.80][place],
        Op::Totient => [5_618.0, 1_485.0, 2_359.0][place],
        Op::PrivateExponent => [15_961.0, 4_786.0, 7_032.0][place],
        Op::Public => [63_600.0, 100_927.0, 173_280.0][place],
        Op::Private => [727_766.0, 2_000_828.0, 4_748_965.0][place],
        _ => return None,
    };
    // Each of two threads takes longer than one alone.
    let (slower, at_once) = match (job.mode, job.threads) {
        (Mode::Concurrent, 2) => (2.0 / 1.6, 2.0),
        _ => (1.0, 1.0),
    };
    (engine != "own").then_some((ticks * slower / TICKS_PER_NS, at_once))
}

#[test]
fn what_article_b_says_holds_of_its_own_numbers() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(directory.path(), &plan("prime-cycles"));
    fill(&mut planted, &as_article_b);
    let [review] = &reviews(&planted)[..] else {
        panic!("one article");
    };
    for engine in ["gmp:random", "c-openmp"] {
        assert_eq!(verdict(review, "b-claim-i", engine), Verdict::Holds);
        assert_eq!(verdict(review, "b-claim-ii", engine), Verdict::Holds);
        // Two threads that are 1.6 times as fast as one lose a quarter: the article's two numbers are not one.
        assert_eq!(verdict(review, "b-claim-iii", engine), Verdict::DoesNotHold);
    }
    assert_eq!(verdict(review, "b-claim-iv", "gmp:plain_powm_sec"), Verdict::Holds);
    // One run of the steps is nothing to a million pairs, which is what the article compares.
    assert_eq!(verdict(review, "b-claim-v", "gmp:random"), Verdict::Holds);
    assert_eq!(verdict(review, "b-claim-v", "own"), Verdict::NotMeasurableHere);

    let times = table(review, "b-times");
    let serial = 6_761_931.78 + 24_958_071.37 + 66_574_448.80;
    let seconds = serial * 1e6 / TICKS_PER_NS * 1e-9;
    about(value(times, "all three, one thread", "gmp:random").value, seconds);
    about(
        value(times, "all three, two threads", "gmp:random").value,
        seconds / 1.6,
    );
    let step_one = table(review, "b-step1");
    about(
        value(step_one, "768-bit primes, mean", "gmp:random").value,
        24_958_071.37 * 2.0 / 1.6,
    );
    let steps = table(review, "b-tab1");
    about(
        value(steps, "Step 4, decryption of 1,023 bits: median", "1024-bit primes").value,
        4_748_965.0,
    );
    let first = steps.rows.iter().find(|row| row.label.ends_with("first call"));
    let cell = &first.unwrap().cells[0];
    assert_eq!((cell.ours, cell.published), (None, Some(5_618.0)));
    assert!(cell.reason.is_some());
}

#[test]
fn quotients_below_one_or_falling_do_not_hold() {
    let of = |decryption: fn(f64) -> f64| {
        let directory = tempfile::tempdir().unwrap();
        let mut planted = study(directory.path(), &plan("prime-cycles"));
        fill(&mut planted, &move |job, engine| {
            let time = match job.op {
                Op::Public => 1e4,
                Op::Private => 1e4 * decryption(job.bits as f64),
                _ => return as_article_b(job, engine),
            };
            Some((time, 1.0))
        });
        verdict(&reviews(&planted)[0], "b-claim-iv", "gmp:plain_powm_sec")
    };
    assert_eq!(of(|bits| bits / 100.0), Verdict::Holds);
    // However far it is: the article sets no bound.
    assert_eq!(of(|bits| bits / 10.0), Verdict::Holds);
    assert_eq!(of(|bits| bits / 4_000.0), Verdict::DoesNotHold);
    // The first is as it should be, and the others fall.
    assert_eq!(of(|bits| 30_000.0 / bits), Verdict::HoldsInPart);
}

#[test]
fn steps_that_take_as_long_as_a_million_pairs_are_not_negligible() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(directory.path(), &plan("prime-cycles"));
    fill(&mut planted, &|job, engine| match job.op {
        Op::PrimePair => Some((1e3, 1.0)),
        Op::Private => Some((1e9, 1.0)),
        _ => as_article_b(job, engine),
    });
    let reviews = reviews(&planted);
    let of = verdict(&reviews[0], "b-claim-v", "gmp:random");
    assert_eq!(of, Verdict::DoesNotHold);
}

/// The files that article (b)'s program saves have every pair of a study once.
#[test]
fn batch_files_count_on() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(directory.path(), &plan("prime-cycles"));
    fill(&mut planted, &as_article_b);
    let groups = articles::report(planted.study.store()).unwrap().groups;
    let files = articles::batch_files(&groups);
    let of_program: Vec<&str> = files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| path.starts_with("results/result_768"))
        .collect();
    let expected: Vec<String> = (1..=10)
        .map(|batch| format!("results/result_768_run_{}.txt", batch * 10))
        .collect();
    assert_eq!(of_program, expected);
    let text = |path: &str| &files.iter().find(|file| file.path == path).unwrap().text;
    let number = |text: &str, name: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let last = text("results/result_1024_run_100.txt");
    assert_eq!(number(last, "Iterations"), 100.0);
    about(number(last, "Average"), 66_574_448.80 * 2.0 / 1.6);
    let first = text("results/result_1024_run_10.txt");
    assert!(number(last, "Minimum") <= number(first, "Minimum"));
    assert!(number(last, "Maximum") >= number(first, "Maximum"));
    // The tests of the program in C compare its files with the same one.
    let form = |text: &str| text.replace(|character: char| character.is_ascii_digit(), "");
    assert_eq!(form(last), form(include_str!("../golden/batch-file.txt")));
    assert!(files.iter().any(|file| file.path.starts_with("results/c-openmp/")));
    assert!(!files.iter().any(|file| file.path.contains("own")));
}

/// Times of keys: Intel's library is twice as fast below 512 bits and twice as slow above; no OpenSSL of today below.
fn as_article_c(job: &Job, engine: &str) -> Option<(f64, f64)> {
    let of_openssl = (job.bits as f64).powi(3);
    match engine {
        "openssl" if job.bits < 512 => None,
        "openssl" | "libcrypto" => Some((of_openssl, 1.0)),
        "ippcp:trials1" if job.bits < 512 => Some((of_openssl / 2.0, 1.0)),
        // With one round it is faster, and with as many as OpenSSL slower.
        "ippcp:trials1" => Some((of_openssl / 2.0, 1.0)),
        "ippcp:trials64" => Some((of_openssl * 2.0, 1.0)),
        "own" => Some((of_openssl / 3.0, 1.0)),
        _ => None,
    }
}

#[test]
fn what_article_c_says_is_judged_with_every_openssl_that_there_is() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(directory.path(), &plan("keygen-libraries"));
    fill(&mut planted, &as_article_c);
    let [review] = &reviews(&planted)[..] else {
        panic!("one article");
    };
    assert_eq!(verdict(review, "c-claim-i", "openssl"), Verdict::NotMeasurableHere);
    assert_eq!(verdict(review, "c-claim-i", "libcrypto"), Verdict::Holds);
    for openssl in ["openssl", "libcrypto"] {
        assert_eq!(verdict(review, "c-claim-ii", openssl), Verdict::Holds);
    }
    let claim = review.claims.iter().find(|one| one.id == "c-claim-ii");
    let sentence = &claim.unwrap().cases[0].sentence;
    assert!(sentence.contains("64 rounds against 1"), "{sentence}");
    let protocol = table(review, "c-protocol");
    let median = value(protocol, "2048", "ippcp:trials1");
    about(median.value, 0.5 * 2048_f64.powi(3) * TICKS_PER_NS);
    assert!(median.low < median.value && median.value < median.high && median.n == 10);
    let width = value(table(review, "c-interval"), "2048", "ippcp:trials1");
    about(width.value, (median.high - median.low) / 2.0 / median.value * 100.0);
    about(
        value(table(review, "c-engines"), "4096", "own").value,
        3e9 / 4096_f64.powi(3),
    );
}

#[test]
fn faster_everywhere_is_another_answer() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(directory.path(), &plan("keygen-libraries"));
    fill(&mut planted, &|job, engine| {
        let ns = (job.bits as f64).powi(3);
        let factor = if engine.starts_with("ippcp") { 1.0 } else { 2.0 };
        Some((ns * factor, 1.0))
    });
    let review = &reviews(&planted)[0];
    assert_eq!(verdict(review, "c-claim-i", "libcrypto"), Verdict::Holds);
    assert_eq!(verdict(review, "c-claim-ii", "openssl"), Verdict::DoesNotHold);
}

/// The ids of a review's tables, figures and claims, each with whether it has a value and whether it has a reason.
fn ids(results: &serde_json::Value) -> BTreeMap<String, (bool, bool)> {
    let is_filled = |value: &serde_json::Value| value.as_array().is_some_and(|list| !list.is_empty());
    let mut ids = BTreeMap::new();
    for review in results["articles"].as_array().unwrap() {
        for kind in ["shown", "claims", "tables"] {
            for entry in review[kind].as_array().unwrap() {
                let has_value = match kind {
                    "shown" => is_filled(&entry["figures"]),
                    "claims" => is_filled(&entry["cases"]),
                    _ => entry["rows"].as_array().unwrap().iter().any(|row| {
                        let cells = row["cells"].as_array().unwrap();
                        cells.iter().any(|cell| cell["ours"].is_object())
                    }),
                };
                let has_reason = entry["reason"].is_string();
                let id = entry["id"].as_str().unwrap().to_owned();
                let is_new = ids.insert(id.clone(), (has_value, has_reason)).is_none();
                assert!(is_new, "{id} is there twice");
            }
        }
    }
    ids
}

#[test]
fn every_id_of_every_article_has_a_value_or_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(directory.path(), &plan("papers"));
    for is_measured in [false, true] {
        if is_measured {
            fill(&mut planted, &|job, _| {
                let blocks = job.text_blocks().max(1) as f64;
                Some(((job.bits as f64).powi(2) * blocks, job.threads as f64))
            });
        }
        report::write(&articles::report(planted.study.store()).unwrap(), directory.path()).unwrap();
        let text = std::fs::read_to_string(directory.path().join("results.json")).unwrap();
        let results: serde_json::Value = serde_json::from_str(&text).unwrap();
        let ids = ids(&results);
        for id in Article::all().flat_map(articles::ids) {
            assert!(ids.contains_key(&id), "{id} is missing");
        }
        for (id, (has_value, has_reason)) in &ids {
            // A claim whose cases all say why they have no value has no reason of its own.
            let is_told = *has_value || *has_reason;
            assert!(is_told, "{id} has neither a value nor a reason");
            // Luck is told from counted tests, which are not planted here.
            let may_lack = id == "c-luck";
            assert!(!is_measured || *has_value || may_lack, "{id} has no value");
        }
    }
}
