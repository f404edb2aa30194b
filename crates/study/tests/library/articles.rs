//! The claims of an article on planted data: what is planted decides what becomes of them.

use std::{collections::BTreeMap, path::Path};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rsalab_engines::Op;
use rsalab_measure::Machine;
use rsalab_study::{
    articles,
    plan::{Engines, Plan, Preset, Threads},
    report::{self, Review, Verdict},
};

use crate::support::{Planted, beginning, block, host, machine};

const SIZES: [usize; 7] = [10, 100, 1_000, 10_000, 50_000, 100_000, 1_000_000];
const THREADS: [usize; 6] = [8, 5, 4, 3, 2, 1];
const BLOCKS: usize = 6;

/// Nanoseconds of a text.
type Law = fn(op: Op, symbols: f64, threads: usize) -> f64;

/// Time of one thread: decryption twenty times that of encryption.
fn alone(op: Op, symbols: f64) -> f64 {
    let block_ns = if op == Op::TextDecrypt { 80e3 } else { 4e3 };
    (symbols / 127.0).ceil() * block_ns
}

/// The review of a study whose times follow a law, with noise of `spread` on each text.
fn planted(machine: &Machine, law: Law, spread: f64) -> Review {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(machine, directory.path(), &SIZES, &["own"]);
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    for group in planted.groups() {
        let job = &group.job;
        let text_ns = law(job.op, job.symbols as f64, job.threads);
        planted.begin(&group.cells[0], &beginning("own"));
        for round in 0..BLOCKS {
            let noisy = |_| (text_ns * (1.0 + spread * (rng.random::<f64>() - 0.5))) as u64;
            let times: Vec<u64> = (0..10).map(noisy).collect();
            planted.add(&group, 0, round, block(times));
        }
        let store = planted.study.store_mut();
        store.complete_cell(group.cells[0].id, &[]).unwrap();
    }
    review(&planted)
}

fn plan() -> Plan {
    Preset::named("text-threads").unwrap().plan(&host(&["own"], 1))
}

fn study(machine: &Machine, directory: &Path, symbols: &[usize], engines: &[&str]) -> Planted {
    let mut plan = plan().with_symbols(symbols);
    for grid in &mut plan.grids {
        grid.threads = Threads::These(THREADS.to_vec());
        let engines = engines.iter().map(|engine| (*engine).to_owned());
        grid.engines = Engines::Named(engines.collect());
    }
    let host = host(engines, machine.topology.allowed_cpus());
    Planted::on(machine, directory, &plan.to_toml(), &host)
}

fn review(planted: &Planted) -> Review {
    articles::report(planted.study.store()).unwrap().articles.remove(0)
}

fn verdict(review: &Review, claim: &str) -> Verdict {
    let claim = review.claims.iter().find(|one| one.id == claim).unwrap();
    claim.verdicts[0].verdict
}

fn verdicts(review: &Review) -> Vec<Verdict> {
    let claims = review.claims.iter();
    claims.map(|claim| claim.verdicts[0].verdict).collect()
}

/// The verdicts of a claim's cases whose names hold a word.
fn cases(review: &Review, claim: &str, word: &str) -> Vec<Verdict> {
    let claim = review.claims.iter().find(|one| one.id == claim).unwrap();
    let cases = claim.cases.iter().filter(|case| case.case.contains(word));
    cases.map(|case| case.verdict).collect()
}

use Verdict::{
    DoesNotHold as No, Holds as Yes, HoldsInPart as InPart, NoSignificantDifference as Equal,
    NotMeasurableHere as Unmeasured,
};

#[test]
fn a_machine_as_the_article_has_it_bears_every_claim_out() {
    // A start costs as much as the article's texts allow: encryption pays from 1,000 symbols on, decryption from 100.
    let law: Law = |op, symbols, threads| {
        let cores = [0.0, 1.0, 1.95, 2.5, 2.9];
        let large = symbols > 50_000.0;
        let gain = match threads {
            1..=4 => cores[threads],
            8 if large => 3.1,
            _ => 2.9,
        };
        let start_ns = if op == Op::TextDecrypt { 41e3 } else { 15e3 };
        let starts = if threads > 1 && symbols < 1_000.0 {
            start_ns
        } else {
            0.0
        };
        let work = if symbols < 1_000.0 { 1.0 } else { gain };
        alone(op, symbols) / work + starts
    };
    let review = planted(&machine(4, 2), law, 0.01);
    assert_eq!(cases(&review, "a-claim-i", "cryption"), [Yes, Yes]);
    assert_eq!(verdict(&review, "a-claim-ii"), Yes);
    assert_eq!(cases(&review, "a-claim-iii", "threads"), [Yes; 8]);
    assert_eq!(cases(&review, "a-claim-iv", "encryption"), [Yes]);
    assert_eq!(cases(&review, "a-claim-v", "cryption"), [Yes; 6]);
    assert_eq!(cases(&review, "a-claim-vi", "000 symbols"), [Yes; 5]);
}

#[test]
fn perfect_scaling_has_no_size_at_which_threads_hurt() {
    let law: Law = |op, symbols, threads| alone(op, symbols) / threads as f64;
    let review = planted(&machine(4, 2), law, 0.01);
    // The gain is there, and it does not depend on the size.
    assert_eq!(verdicts(&review), [Equal, Yes, Yes, No, InPart, Yes, Yes, Yes]);
    assert_eq!(cases(&review, "a-claim-v", "below 1,000"), [No, No]);
    let saving = &review.claims[2].cases[0];
    assert!(saving.value.unwrap().covers(50.0), "{saving:?}");
}

#[test]
fn without_scaling_no_saving_is_seen() {
    let law: Law = |op, symbols, _| alone(op, symbols);
    let review = planted(&machine(4, 2), law, 0.01);
    assert_eq!(verdict(&review, "a-claim-i"), Equal);
    assert_eq!(cases(&review, "a-claim-iii", "threads"), [Equal; 8]);
    assert_eq!(verdict(&review, "a-claim-iv"), Equal);
    assert_eq!(cases(&review, "a-claim-v", "below 1,000"), [Yes, Yes]);
    assert_eq!(verdict(&review, "a-claim-vi"), Yes);
}

#[test]
fn threads_that_hurt_below_a_size_are_found_there() {
    let law: Law = |op, symbols, threads| match (symbols < 1_000.0, threads) {
        (_, 1) => alone(op, symbols),
        (true, _) => alone(op, symbols) * 2.0,
        (false, _) => alone(op, symbols) / 1.8,
    };
    let review = planted(&machine(4, 2), law, 0.01);
    assert_eq!(verdict(&review, "a-claim-i"), Yes);
    let hurt = &review.claims[3];
    for case in &hurt.cases {
        assert_eq!(case.verdict, Yes, "{case:?}");
        assert_eq!(case.value.unwrap().value, 100.0);
        assert!(case.sentence.contains("up to 100 symbols and help from 1,000"));
    }
    // Threads that hurt more texts than the article says.
    let law: Law = |op, symbols, threads| match (symbols < 20_000.0, threads) {
        (_, 1) => alone(op, symbols),
        (true, _) => alone(op, symbols) * 2.0,
        (false, _) => alone(op, symbols) / 1.8,
    };
    let review = planted(&machine(4, 2), law, 0.01);
    assert_eq!(verdict(&review, "a-claim-iv"), InPart);
}

#[test]
fn threads_that_only_hurt_contradict_the_savings() {
    let law: Law = |op, symbols, threads| alone(op, symbols) * threads as f64;
    let review = planted(&machine(4, 2), law, 0.01);
    assert_eq!(cases(&review, "a-claim-iii", "threads"), [No; 8]);
    assert_eq!(cases(&review, "a-claim-v", "1,000 to"), [No, No]);
    assert_eq!(verdict(&review, "a-claim-vii"), No);
}

#[test]
fn sizes_that_contradict_each_other_decide_nothing() {
    // Threads help texts of 10 symbols and hurt those of 100: noise, and no size below which they hurt.
    let law: Law = |op, symbols, threads| match (symbols, threads) {
        (_, 1) => alone(op, symbols),
        (100.0, _) => alone(op, symbols) * 2.0,
        _ => alone(op, symbols) / 1.8,
    };
    let review = planted(&machine(4, 2), law, 0.01);
    assert_eq!(verdict(&review, "a-claim-iv"), Equal);
    let case = &review.claims[3].cases[0];
    assert!(case.sentence.contains("hurt at 100 symbols"), "{case:?}");
    assert!(case.sentence.contains("help at 10, 1,000"), "{case:?}");
}

#[test]
fn noise_alone_decides_nothing() {
    // All texts take the same time, give or take a quarter.
    let law: Law = |_, _, _| 1e6;
    let review = planted(&machine(4, 2), law, 0.5);
    for claim in [
        "a-claim-i",
        "a-claim-ii",
        "a-claim-iii",
        "a-claim-iv",
        "a-claim-vi",
        "a-claim-vii",
        "a-claim-viii",
    ] {
        assert_eq!(verdict(&review, claim), Equal, "{claim}");
    }
}

#[test]
fn decryption_that_is_little_slower_is_not_far_slower() {
    let law: Law = |op, symbols, threads| {
        let factor = if op == Op::TextDecrypt { 1.3 } else { 1.0 };
        factor * symbols * 100.0 / threads as f64
    };
    assert_eq!(verdict(&planted(&machine(4, 2), law, 0.01), "a-claim-ii"), No);
}

#[test]
fn directions_that_gain_differently_are_told_apart() {
    let law: Law = |op, symbols, threads| match op {
        Op::TextDecrypt => alone(op, symbols) / threads as f64,
        _ => alone(op, symbols) / (threads as f64).sqrt(),
    };
    assert_eq!(verdict(&planted(&machine(4, 2), law, 0.01), "a-claim-vi"), No);
}

#[test]
fn what_a_machine_lacks_is_not_measurable_on_it() {
    let law: Law = |op, symbols, threads| alone(op, symbols) / threads.min(2) as f64;
    let review = planted(&machine(2, 1), law, 0.01);
    assert_eq!(cases(&review, "a-claim-iii", "2 threads"), [Yes, Yes]);
    assert_eq!(cases(&review, "a-claim-iii", "3 threads"), [Unmeasured; 2]);
    // What holds in one part and was not measured in others is not said to hold, and the parts are named.
    let savings = &review.claims[2].verdicts[0];
    assert_eq!(savings.verdict, Verdict::HoldsWhereMeasured);
    assert_eq!(savings.missing.len(), 6, "{savings:?}");
    assert!(savings.missing.contains(&"encryption, 3 threads".to_owned()));
    assert_eq!(cases(&review, "a-claim-iii", "hyper"), [Unmeasured; 2]);
    assert_eq!(cases(&review, "a-claim-v", "above 50,000"), [Unmeasured; 2]);
    assert!(
        review.claims[2]
            .cases
            .iter()
            .any(|case| case.sentence.contains("no hyper-threads"))
    );

    let one = planted(&machine(1, 1), law, 0.01);
    assert_eq!(
        verdicts(&one),
        [
            Unmeasured, Yes, Unmeasured, Unmeasured, Unmeasured, Unmeasured, Unmeasured, Unmeasured
        ]
    );
}

/// Every figure and claim of the article is in `results.json`, with something to show or a reason why not.
#[test]
fn every_figure_and_claim_is_in_the_results() {
    const FIGURES: [&str; 6] = ["a-fig3", "a-fig4", "a-fig5", "a-fig6", "a-speedup", "a-efficiency"];
    const CLAIMS: [&str; 6] = [
        "a-claim-i",
        "a-claim-ii",
        "a-claim-iii",
        "a-claim-iv",
        "a-claim-v",
        "a-claim-vi",
    ];
    let directory = tempfile::tempdir().unwrap();
    // Nothing is measured; then two sizes, of which figure 5 has none.
    let mut planted = study(&machine(2, 1), directory.path(), &[100, 50_000], &["own", "gmp:powm"]);
    for is_measured in [false, true] {
        if is_measured {
            for group in planted.groups() {
                for (place, engine) in ["own", "gmp"].into_iter().enumerate() {
                    let text_ns = alone(group.job.op, group.job.symbols as f64);
                    planted.fill(&group, place, &beginning(engine), text_ns);
                }
            }
        }
        report::write(&articles::report(planted.study.store()).unwrap(), directory.path()).unwrap();
        let text = std::fs::read_to_string(directory.path().join("results.json")).unwrap();
        let results: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of_id = |list: &serde_json::Value| -> BTreeMap<String, serde_json::Value> {
            let entries = list.as_array().unwrap().iter();
            entries
                .map(|entry| (entry["id"].as_str().unwrap().to_owned(), entry.clone()))
                .collect()
        };
        let drawn = of_id(&results["figures"]);
        let shown = of_id(&results["articles"][0]["shown"]);
        for id in FIGURES {
            let entry = shown.get(id).unwrap_or_else(|| panic!("{id} is missing"));
            let figures = entry["figures"].as_array().unwrap();
            assert_eq!(figures.is_empty(), entry["reason"].is_string(), "{entry}");
            assert_eq!(figures.is_empty(), !is_measured || id == "a-fig5", "{entry}");
            for figure in figures {
                let figure = figure.as_str().unwrap();
                assert!(figure.starts_with(id) && drawn.contains_key(figure), "{figure}");
                let file = directory.path().join(format!("figures/{figure}.svg"));
                assert!(file.exists(), "{}", file.display());
            }
        }
        let claims = of_id(&results["articles"][0]["claims"]);
        for id in CLAIMS {
            let entry = claims.get(id).unwrap_or_else(|| panic!("{id} is missing"));
            let cases = entry["cases"].as_array().unwrap();
            assert_eq!(cases.is_empty(), entry["reason"].is_string(), "{entry}");
            assert_eq!(cases.is_empty(), !is_measured, "{entry}");
            for case in cases {
                let is_told = case["value"].is_object() || !case["sentence"].as_str().unwrap().is_empty();
                assert!(is_told && case["verdict"].is_string(), "{case}");
            }
        }
        for form in ["report.html", "report.md"] {
            let text = std::fs::read_to_string(directory.path().join(form)).unwrap();
            assert!(text.contains("Threads hurt small texts"), "{form}");
        }
    }
}

/// The article's own application is the last of the preset's engines, and a report with it says what its time has in
/// it.
#[test]
fn the_articles_own_application_is_told_from_the_others() {
    let plan = plan();
    for grid in &plan.grids {
        let Engines::Named(engines) = &grid.engines else {
            panic!("the preset names its engines");
        };
        assert_eq!(engines.first().map(String::as_str), Some("own"));
        assert_eq!(engines.last().map(String::as_str), Some("java"));
    }
    for (engines, is_told) in [(vec!["own", "java"], true), (vec!["own"], false)] {
        let directory = tempfile::tempdir().unwrap();
        let planted = study(&machine(2, 1), directory.path(), &[100], &engines);
        let remarks = review(&planted).remarks;
        let told = remarks
            .iter()
            .any(|remark| remark.contains("the article's own application"));
        assert_eq!(told, is_told, "{remarks:?}");
    }
}
