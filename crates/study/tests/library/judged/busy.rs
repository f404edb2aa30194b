//! Conditions that keep a claim from being judged, and claims that take more of a sample than its time.

use rsalab_engines::{BlockReport, Job, Mode, Op};
use rsalab_measure::CpuTime;
use rsalab_study::{
    articles,
    plan::Preset,
    report::{Review, Verdict},
    store::{BlockRecord, CellRecord, GroupRecord, InterruptedBlock, TakenBlock},
};

use crate::support::{Planted, beginning, block, host};

/// Calls of a block.
const CALLS: usize = 30;
const ROUNDS: usize = 10;

/// Article (b)'s study, its pairs alone filled with what `report` makes of the numbers of the calls of a block.
fn review(report: &dyn Fn(&Job, std::ops::Range<usize>) -> BlockReport, interrupted: usize) -> Review {
    let directory = tempfile::tempdir().unwrap();
    let host = host(&["gmp", "c-openmp", "own"], 2);
    let plan = Preset::named("prime-cycles").unwrap().plan(&host);
    let mut planted = Planted::new(directory.path(), &plan.to_toml(), &host);
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            let is_pair = cell.job.op == Op::PrimePair && cell.job.mode == Mode::Concurrent;
            match is_pair {
                true => fill(&mut planted, &group, place, cell, report, interrupted),
                false => {
                    let store = planted.study.store_mut();
                    store.refuse_cell(cell.id, "it was not planted").unwrap();
                }
            }
        }
    }
    articles::report(planted.study.store()).unwrap().articles.remove(0)
}

fn fill(
    planted: &mut Planted,
    group: &GroupRecord,
    place: usize,
    cell: &CellRecord,
    report: &dyn Fn(&Job, std::ops::Range<usize>) -> BlockReport,
    interrupted: usize,
) {
    planted.begin(cell, &beginning(cell.engine.split(':').next().unwrap()));
    for round in 0..ROUNDS {
        let made = report(&cell.job, round * CALLS..(round + 1) * CALLS);
        for _ in 0..interrupted {
            let taken = TakenBlock {
                order_index: (round * group.cells.len() + place) as u64,
                round,
                worker_pid: Some(1),
                report: made.clone(),
                losses: None,
            };
            let record = BlockRecord {
                cell: cell.id,
                session: planted.session,
                taken,
            };
            let block = InterruptedBlock {
                record,
                reason: "its process was stopped".to_owned(),
            };
            let store = planted.study.store_mut();
            store.add_interrupted_block(group.id, &block).unwrap();
        }
        planted.add(group, place, round, made);
    }
    planted.study.store_mut().complete_cell(cell.id, &[]).unwrap();
}

/// The verdict on a claim for one engine, and the sentence of its first case.
fn verdict(review: &Review, claim: &str, engine: &str) -> (Verdict, String) {
    let claim = review.claims.iter().find(|one| one.id == claim).unwrap();
    let one = claim.verdicts.iter().find(|one| one.engine == engine).unwrap();
    let case = claim.cases.iter().find(|case| case.engine == engine).unwrap();
    (one.verdict, case.sentence.clone())
}

/// Nanoseconds of a pair as articles have them: ten times as long at twice the bits.
fn ns(job: &Job) -> u64 {
    match job.bits {
        1024 => 4_000_000,
        1536 => 11_000_000,
        _ => 30_000_000,
    }
}

/// Tests of a pair: from 2 to 60, most of them few.
fn tests(call: usize) -> u64 {
    2 + (call as u64 * 7919 % 100).pow(3) / 17_000
}

#[test]
fn slow_pairs_are_slow_by_their_candidates_or_for_another_reason() {
    let of = |ns_of: fn(&Job, usize) -> u64| {
        let report = move |job: &Job, calls: std::ops::Range<usize>| BlockReport {
            tests: calls.clone().map(tests).collect(),
            ..block(calls.map(|call| ns_of(job, call)))
        };
        verdict(&review(&report, 0), "b-claim-vi", "gmp:random").0
    };
    let by_tests: fn(&Job, usize) -> u64 = |job, call| ns(job) / 10 * (3 + tests(call));
    assert_eq!(of(by_tests), Verdict::Holds);
    // Every fortieth waits for a CPU, whatever it tests.
    let by_waiting: fn(&Job, usize) -> u64 = |job, call| match call % 40 {
        11 => 200 * ns(job),
        _ => ns(job) / 10 * (3 + tests(call)),
    };
    assert_eq!(of(by_waiting), Verdict::DoesNotHold);
    // About half of it: no difference that could be told.
    let by_both: fn(&Job, usize) -> u64 = |job, call| match tests(call) {
        many @ 50.. => ns(job) / 10 * (many + (call as u64 % 5) * 25),
        few => ns(job) / 10 * few,
    };
    assert_eq!(of(by_both), Verdict::NoSignificantDifference);
}

#[test]
fn tests_that_are_not_counted_say_nothing() {
    let report = |job: &Job, calls: std::ops::Range<usize>| block(calls.map(|_| ns(job)));
    let (verdict, reason) = verdict(&review(&report, 0), "b-claim-vi", "own");
    assert_eq!(verdict, Verdict::NotMeasurableHere);
    assert_eq!(reason, "own does not count its tests");
}

#[test]
fn a_busy_machine_decides_nothing() {
    let with_cpu = |share: f64| {
        move |job: &Job, calls: std::ops::Range<usize>| {
            let one = block(calls.map(|call| ns(job) + call as u64 % 11 * 1000));
            let ns = (one.block.elapsed_ns as f64 * share * job.threads as f64) as u64;
            BlockReport {
                cpu: Some(CpuTime {
                    user_ns: ns,
                    system_ns: 0,
                }),
                ..one
            }
        }
    };
    // Of two threads on one CPU each has a half: the claim compares them with one thread.
    let of = |share, interrupted| verdict(&review(&with_cpu(share), interrupted), "b-claim-ii", "c-openmp");
    let (quiet, _) = of(0.99, 0);
    assert_eq!(quiet, Verdict::DoesNotHold, "two threads take as long as one");
    let (busy, reason) = of(0.6, 0);
    assert_eq!(busy, Verdict::NotMeasurableHere);
    assert_eq!(reason, "the machine was busy: c-openmp had 60 % of 1 CPU");
    let (interrupted, reason) = of(0.99, 1);
    assert_eq!(interrupted, Verdict::NotMeasurableHere);
    assert_eq!(
        reason,
        "the machine was busy: 10 of 20 blocks of c-openmp were interrupted"
    );
    // What is measured is shown nevertheless.
    let review = review(&with_cpu(0.6), 0);
    let times = review.tables.iter().find(|table| table.id == "b-times").unwrap();
    assert!(times.rows[0].cells[1].ours.is_some());
}
