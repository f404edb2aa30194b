//! Articles at sizes of one's own, and with a text of one's own.

use std::collections::BTreeSet;

use rsalab_study::{
    articles,
    plan::{Plan, Preset},
    report::{Report, Review},
};

use super::machine;
use crate::support::{Planted, beginning, host};

fn preset(name: &str) -> Plan {
    Preset::named(name).unwrap().plan(&host(&["own"], 2))
}

/// The report of a study each of whose cells is measured: the time of an operation grows with its bits and blocks.
fn filled(plan: &Plan) -> Report {
    let directory = tempfile::tempdir().unwrap();
    let host = host(&["own"], 2);
    let machine = machine(2, None);
    let mut planted = Planted::on(&machine, directory.path(), &plan.to_toml(), &host);
    for group in planted.groups() {
        for place in 0..group.cells.len() {
            let job = &group.job;
            let blocks = job.text_blocks().max(1) as f64;
            let is_decryption =
                format!("{:?}", job.op).contains("rivate") || format!("{:?}", job.op).contains("Decrypt");
            let factor = if is_decryption { job.bits as f64 } else { 17.0 };
            let ns = factor * (job.bits as f64).powi(2) * blocks / job.threads as f64;
            planted.fill(&group, place, &beginning("own"), ns);
        }
    }
    articles::report(planted.study.store()).unwrap()
}

fn review(plan: &Plan) -> Review {
    filled(plan).articles.remove(0)
}

fn verdict(review: &Review, claim: &str) -> &'static str {
    let claim = review.claims.iter().find(|one| one.id == claim).unwrap();
    claim.verdicts[0].verdict.words()
}

#[test]
fn figures_over_threads_have_the_sizes_that_were_asked_for() {
    let drawn = |symbols: &[usize]| {
        let review = review(&preset("text-threads").with_symbols(symbols));
        let shown = review.shown.iter().filter(|shown| shown.id.starts_with("a-fig"));
        let titles = shown.filter(|shown| !shown.figures.is_empty());
        let titles = titles
            .map(|shown| shown.title.clone())
            .filter(|title| title.contains(','));
        titles
            .filter(|title| title.starts_with("Time over threads"))
            .collect::<Vec<String>>()
    };
    let of = |symbols: &[&str]| {
        let title = |symbols: &&str| format!("Time over threads, {symbols} symbols");
        symbols.iter().map(title).collect::<Vec<String>>()
    };
    assert_eq!(drawn(&[200]), of(&["200"]));
    assert_eq!(drawn(&[200, 3_000]), of(&["200", "3,000"]));
    assert_eq!(drawn(&[10, 20, 200, 2_000, 20_000]), of(&["10", "200", "20,000"]));
    // Those of the article where all of them were asked for, whatever else was.
    assert_eq!(
        drawn(&[10, 100, 50_000, 1_000_000]),
        of(&["100", "50,000", "1,000,000"])
    );
}

#[test]
fn many_messages_at_another_key_have_their_tables_and_figures() {
    let review = review(&preset("cpu-gpu").with_bits(&[1280]));
    for id in ["d-tab7", "d-tab8", "d-multithread", "d-batches"] {
        let table = review.tables.iter().find(|table| table.id == id).unwrap();
        assert_eq!(table.reason, None, "{id}");
        let cells = table.rows.iter().flat_map(|row| &row.cells);
        assert!(cells.clone().any(|cell| cell.ours.is_some()), "{id}");
        // What was printed of 1024 bits is not compared with 1280.
        assert!(cells.clone().all(|cell| cell.published.is_none()), "{id}");
    }
    let table = review.tables.iter().find(|table| table.id == "d-tab7").unwrap();
    assert!(table.title.ends_with("key of 1280 bits"), "{}", table.title);
    assert!(table.remarks.iter().any(|remark| remark.contains("are left out")));
    let of = |id: &str| review.shown.iter().find(|shown| shown.id == id).unwrap();
    assert_eq!(of("d-fig3").figures.len(), 1);
    assert!(of("d-fig3").title.contains("1280 bits"));
    let figure = review_figure(&preset("cpu-gpu").with_bits(&[1280]), "d-fig3");
    assert!(!figure.iter().any(|name| name.contains("published")), "{figure:?}");
    for claim in ["d-claim-xi", "d-claim-xii"] {
        assert_ne!(verdict(&review, claim), "not measurable here", "{claim}");
    }
    // The article's own keys keep its numbers.
    let published = review_figure(&preset("cpu-gpu").with_bits(&[1024, 2048]), "d-fig3");
    assert!(published.iter().any(|name| name.contains("published")), "{published:?}");
}

/// The names of a figure's lines.
fn review_figure(plan: &Plan, id: &str) -> Vec<String> {
    let report = filled(plan);
    let figure = report.figures.iter().find(|figure| figure.id == id).unwrap();
    figure.series.iter().map(|series| series.name.clone()).collect()
}

#[test]
fn messages_fit_short_keys() {
    for (name, bits) in [
        ("prime-cycles", &[640][..]),
        ("prime-cycles", &[640, 1024]),
        ("cpu-gpu", &[640]),
        ("cpu-gpu", &[768, 800]),
        ("papers", &[640]),
    ] {
        let plan = preset(name).with_bits(bits);
        let host = host(&["own"], 2);
        let groups = plan
            .groups(&host)
            .unwrap_or_else(|error| panic!("{name} at {bits:?}: {error}"));
        let jobs: BTreeSet<String> = groups.iter().map(|group| format!("{:?}", group.job)).collect();
        assert_eq!(jobs.len(), groups.len(), "no job twice");
        let of_messages = groups
            .iter()
            .filter_map(|group| Some((group.job.message_bits?, group.job.bits)));
        assert!(of_messages.clone().all(|(message, bits)| message < bits), "{name}");
    }
    let review = review(&preset("prime-cycles").with_bits(&[640, 1280]));
    let steps = review.tables.iter().find(|table| table.id == "b-tab1-own").unwrap();
    let decryption = steps
        .rows
        .iter()
        .find(|row| row.label.contains("decryption of 1,023 bits: median"));
    for cell in &decryption.unwrap().cells {
        assert!(cell.ours.is_some(), "{cell:?}");
    }
    assert!(
        review
            .remarks
            .iter()
            .any(|remark| remark.contains("does not fit the shorter moduli"))
    );
}

#[test]
fn one_size_shows_no_growth() {
    let of = |bits: &[usize]| review(&preset("prime-cycles").with_bits(bits));
    let several = of(&[1024, 2048]);
    assert_eq!(verdict(&several, "b-claim-iv"), "holds");
    let one = of(&[1024]);
    assert_eq!(verdict(&one, "b-claim-iv"), "holds where it was measured");
    let claim = one.claims.iter().find(|claim| claim.id == "b-claim-iv").unwrap();
    assert_eq!(claim.verdicts[0].missing, ["growth with the key"]);
}

#[test]
fn a_given_text_is_not_called_random() {
    let text = "0123456789".repeat(200);
    for name in ["text-threads", "cpu-gpu"] {
        let remarks = review(&preset(name).with_text(text.clone(), Some(&[100, 1_000]))).remarks;
        assert!(
            !remarks
                .iter()
                .any(|remark| remark.contains("random text") || remark.contains("texts are random")),
            "{remarks:?}"
        );
        assert!(
            remarks.iter().any(|remark| remark.contains("that was given")),
            "{remarks:?}"
        );
        let remarks = review(&preset(name)).remarks;
        assert!(remarks.iter().any(|remark| remark.contains("random")), "{remarks:?}");
    }
}

/// A contradiction that article (b) does not notice in its own numbers.
#[test]
fn the_remarks_on_article_b_are_whole() {
    let remarks = review(&preset("prime-cycles").with_bits(&[1024])).remarks.join(" ");
    assert!(remarks.contains("0.015131, not 0.015130"), "{remarks}");
    assert!(
        remarks.contains("is 1.48 times as fast, outside of its own range"),
        "{remarks}"
    );
}
