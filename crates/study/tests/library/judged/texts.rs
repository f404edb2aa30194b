//! Claims about texts, on a busy machine and at sizes that say little.

use rsalab_engines::{BlockReport, Job, Op};
use rsalab_measure::CpuTime;
use rsalab_study::{
    articles,
    plan::{Engines, Plan, Preset, Threads},
    report::{self, Case, Claim, Report, Review},
};

use super::machine;
use crate::support::{Planted, beginning, block, host};

/// Nanoseconds of a text, and the share of its CPUs that its threads had.
type Law<'a> = &'a dyn Fn(&Job) -> (f64, f64);

fn plan(preset: &str) -> Plan {
    Preset::named(preset).unwrap().plan(&host(&["own"], 2))
}

/// The review of an article's study on two CPUs, on its first engine alone, with noise of half a per cent.
fn review(plan: Plan, engine: &str, rounds: usize, law: Law<'_>) -> Review {
    report_of(plan, engine, rounds, law).articles.remove(0)
}

/// The report that the review is of.
fn report_of(mut plan: Plan, engine: &str, rounds: usize, law: Law<'_>) -> Report {
    for grid in &mut plan.grids {
        grid.engines = Engines::Named(vec![engine.to_owned()]);
    }
    plan.grids.dedup();
    let directory = tempfile::tempdir().unwrap();
    let host = host(&["own", "textbook"], 2);
    let machine = machine(2, None);
    let mut planted = Planted::on(&machine, directory.path(), &plan.to_toml(), &host);
    for group in planted.groups() {
        let mut beginning = beginning(engine);
        beginning.readiness.cpus = (0..group.job.threads).map(|thread| thread % 2).collect();
        let (ns, share) = law(&group.job);
        planted.begin(&group.cells[0], &beginning);
        for round in 0..rounds {
            let noisy = |index: usize| ns * (0.995 + 0.001 * ((index + 3 * round) % 11) as f64);
            let report = block((0..10).map(|index| noisy(index) as u64));
            let at_once = group.job.threads.min(2) as f64;
            // Counted in hundredths of a second.
            let cpu_s = report.block.elapsed_ns as f64 * share * at_once / 1e7;
            let cpu = CpuTime {
                user_ns: cpu_s.round() as u64 * 10_000_000,
                system_ns: 0,
            };
            planted.add(
                &group,
                0,
                round,
                BlockReport {
                    cpu: Some(cpu),
                    ..report
                },
            );
        }
        let store = planted.study.store_mut();
        store.complete_cell(group.cells[0].id, &[]).unwrap();
    }
    articles::report(planted.study.store()).unwrap()
}

fn of_texts(symbols: &[usize]) -> Plan {
    let mut plan = plan("text-threads").with_symbols(symbols);
    for grid in &mut plan.grids {
        grid.threads = Threads::These(vec![2, 1]);
    }
    plan
}

fn claim<'a>(review: &'a Review, id: &str) -> &'a Claim {
    review.claims.iter().find(|claim| claim.id == id).unwrap()
}

fn case<'a>(review: &'a Review, id: &str, of: &str) -> &'a Case {
    let mut cases = claim(review, id).cases.iter();
    let found = cases.find(|case| case.case.contains(of));
    found.unwrap_or_else(|| panic!("{id} has no case {of}"))
}

/// A text of `symbols` on two threads that are 1.9 times as fast as one; decryption takes twenty times as long.
fn alone(job: &Job) -> f64 {
    let block_ns = if job.op == Op::TextDecrypt { 200e3 } else { 10e3 };
    let blocks = (job.symbols as f64 / 127.0).ceil();
    blocks * block_ns / [1.0, 1.0, 1.9][job.threads.min(2)]
}

/// On a quiet machine the same data decide.
#[test]
fn a_quiet_machine_decides_claims_about_texts() {
    let review = review(of_texts(&[100, 50_000, 1_000_000]), "own", 6, &|job| (alone(job), 0.99));
    for id in ["a-claim-ii", "a-claim-vi"] {
        assert_eq!(claim(&review, id).verdicts[0].verdict.words(), "holds", "{id}");
    }
    let saving = case(&review, "a-claim-iii", "encryption, 2 threads");
    assert_eq!(saving.verdict.words(), "holds", "{saving:?}");
}

#[test]
fn threads_that_gain_more_than_there_are_decide_nothing() {
    // While encryption was measured on one thread another program was at work: two threads look 7.6 times as fast.
    let law: Law<'_> = &|job| match (job.op, job.threads) {
        (Op::TextEncrypt, 1) => (4.0 * alone(job), 0.99),
        _ => (alone(job), 0.99),
    };
    let review = review(of_texts(&[100, 50_000, 1_000_000]), "own", 6, law);
    for (id, of) in [
        ("a-claim-i", "encryption"),
        ("a-claim-ii", "symbols"),
        ("a-claim-iii", "encryption, 2 threads"),
        ("a-claim-iv", "encryption"),
        ("a-claim-v", "encryption, below 1,000"),
        ("a-claim-v", "encryption, 1,000 to"),
        ("a-claim-vi", "50,000 symbols"),
        ("a-claim-vii", "encryption"),
    ] {
        let case = case(&review, id, of);
        assert_eq!(case.verdict.words(), "not measurable here", "{id}: {case:?}");
        assert!(
            case.sentence.contains("the machine was busy: own took 7.6"),
            "{id}: {case:?}"
        );
    }
}

#[test]
fn threads_that_share_a_text_have_their_cpus() {
    // Another program has one of the two CPUs: two threads on what is left of them are as fast as one.
    let law: Law<'_> = &|job| match job.threads {
        2 => (1.9 * alone(job), 0.55),
        _ => (alone(job), 0.99),
    };
    let review = review(of_texts(&[100, 50_000, 1_000_000]), "own", 6, law);
    let case = case(&review, "a-claim-iii", "decryption, 2 threads");
    assert_eq!(case.verdict.words(), "not measurable here", "{case:?}");
    assert_eq!(case.sentence, "the machine was busy: own had 55 % of 2 CPUs");
}

/// Texts of a block leave a thread without work, and nobody is to blame.
#[test]
fn a_text_of_one_block_keeps_one_thread_busy() {
    let law: Law<'_> = &|job| match (job.threads, job.symbols) {
        (2, 100) => (1e3 * alone(job), 0.5),
        _ => (1e3 * alone(job), 0.99),
    };
    let review = review(of_texts(&[100, 10_000]), "own", 6, law);
    let case = case(&review, "a-claim-vi", "100 symbols");
    assert_ne!(case.verdict.words(), "not measurable here", "{case:?}");
}

/// Article (d)'s loop: one thread each, which another program shares a CPU with. The single messages are over too soon
/// for their own CPU time to tell.
#[test]
fn a_busy_machine_decides_nothing_of_the_loop() {
    let ns = |job: &Job| 2e5 * job.text_blocks().max(1) as f64;
    let of = |law: Law<'_>| {
        let mut plan = plan("cpu-gpu");
        plan.grids.retain(|grid| grid.bits == [1024]);
        let review = review(plan, "textbook", 6, law);
        let case = case(&review, "d-claim-xi", "decryption").clone();
        (case.verdict.words(), case.sentence)
    };
    let (quiet, _) = of(&|job| (ns(job), 0.99));
    assert_eq!(quiet, "does not hold", "600 take 600 times as long as one");
    // Many messages met the other program, and one message did not.
    let (busy, reason) = of(&|job| match job.text_blocks() {
        600 => (1.6 * ns(job), 0.62),
        _ => (ns(job), 0.99),
    });
    assert_eq!(busy, "not measurable here", "{reason}");
    assert_eq!(reason, "the machine was busy: textbook had 62 % of 1 CPU");
    // All of the study met it, and one message is too short to tell.
    let (busy, reason) = of(&|job| match job.text_blocks() {
        0 => (ns(job), 0.6),
        600 => (1.6 * ns(job), 0.95),
        _ => (ns(job), 0.6),
    });
    assert_eq!(busy, "not measurable here", "{reason}");
    assert!(reason.contains("in the whole study"), "{reason}");
}

#[test]
fn eighty_symbols_are_no_large_text() {
    let review = review(of_texts(&[10, 80]), "own", 6, &|job| {
        (1e5 * job.symbols as f64 / job.threads as f64, 0.99)
    });
    for id in ["a-claim-i", "a-claim-iii"] {
        let case = &claim(&review, id).cases[0];
        assert_eq!(case.verdict.words(), "not measurable here", "{case:?}");
        assert!(case.sentence.contains("its largest text has 80 symbols"), "{case:?}");
    }
    // Nothing is beyond 1,000 symbols.
    let hurt = case(&review, "a-claim-iv", "encryption");
    assert!(hurt.sentence.contains("below and beyond 1,000 symbols"), "{hurt:?}");
}

#[test]
fn few_values_decide_no_claim_about_texts() {
    let review = review(of_texts(&[100, 50_000, 1_000_000]), "own", 1, &|job| (alone(job), 0.99));
    for id in [
        "a-claim-i",
        "a-claim-ii",
        "a-claim-iii",
        "a-claim-iv",
        "a-claim-vi",
        "a-claim-vii",
    ] {
        let verdict = claim(&review, id).verdicts[0].verdict.words();
        assert_eq!(verdict, "too few values", "{id}");
    }
    let best = case(&review, "a-claim-v", "encryption, below 1,000");
    assert_eq!(best.verdict.words(), "too few values", "{best:?}");
}

#[test]
fn what_cannot_be_measured_is_gathered_with_its_reason() {
    let report = report_of(of_texts(&[100, 50_000]), "own", 1, &|job| (alone(job), 0.99));
    let reason = "there are 2 CPUs here, and it takes four";
    let headline = report.findings.iter().find(|one| one.id == "a-claim-viii");
    let sentence = &headline.unwrap().sentence;
    assert!(
        sentence.ends_with(&format!("– not measurable here: {reason}.")),
        "{sentence}"
    );
    let page = report::html(&report);
    let answers = page.split("<main>").next().unwrap();
    assert!(answers.contains("Not measurable here: "), "{answers}");
    assert_eq!(answers.matches(reason).count(), 1, "{answers}");
}
