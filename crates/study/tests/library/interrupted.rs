//! Workers that something outside keeps from running: the block is kept, is part of no figure, and is measured anew.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use rsalab_engines::Op;
use rsalab_study::{
    Study, articles,
    bench::{self, Request},
    plan::Plan,
    run::{self, Environment, Event},
    store::{CellState, Ending},
};

use crate::support::{
    self, host,
    mock::{Mocks, Trouble},
};

const PLAN: &str = r#"
[measure]
precision = 0
budget_s = 0.38
min_blocks = 2
block_ms = 100
discard_ms = 10

[[grid]]
operations = ["private"]
engines = ["own", "gmp", "gpu"]
bits = [512]
"#;

/// As many rounds as the budget has room for.
const ROUNDS: usize = 3;

/// Of a session's requests, the first that asks for a block.
const FIRST_BLOCK: usize = 4;

fn around(mocks: &Mocks) -> Environment<'_> {
    Environment {
        launcher: mocks,
        machine: support::MACHINE.clone(),
        warnings: Vec::new(),
        allow_unoptimised: false,
    }
}

/// The study, and what a watcher heard of interruptions.
fn measured(directory: &Path, mocks: &Mocks) -> (Study, Vec<String>) {
    let plan = Plan::parse(PLAN, &host(&[], 1)).unwrap();
    let mut study = Study::create(directory, &plan, &host(&[], 1), "a test").unwrap();
    let mut heard = Vec::new();
    let mut observer = |event: &Event<'_>| {
        if let Event::Interrupted { cell, reason } = event {
            heard.push(format!("{}: {reason}", cell.engine));
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let ending = run::run(&mut study, &around(mocks), &mut observer, &stop).unwrap();
    assert_eq!(ending, Ending::Complete);
    (study, heard)
}

#[test]
fn an_interrupted_block_is_kept_aside_and_measured_anew() {
    let rows = [
        (Trouble::Stopped(FIRST_BLOCK + 1, 2), "its process was stopped"),
        (
            Trouble::Starved(FIRST_BLOCK + 1, 2),
            "its process had 0.11 s of CPU time in 3.11 s",
        ),
    ];
    for (trouble, reason) in rows {
        let directory = tempfile::tempdir().unwrap();
        let (study, heard) = measured(directory.path(), &Mocks::with("gmp", trouble));
        assert_eq!(heard, [format!("gmp: {reason}"), format!("gmp: {reason}")]);
        let store = study.store();
        store.check_integrity().unwrap();
        let group = store.groups().unwrap().remove(0);
        assert!(group.cells.iter().all(|cell| cell.state == CellState::Done));

        // The order and the rounds have no gap, and no sample is longer than it should be.
        let blocks = store.blocks(group.id).unwrap();
        assert_eq!(blocks.len(), 3 * ROUNDS);
        for (index, block) in blocks.iter().enumerate() {
            assert_eq!(block.taken.order_index, index as u64);
            assert_eq!(block.taken.report.block.elapsed_ns, 110_000_000);
        }
        let interrupted = store.interrupted_blocks(group.id).unwrap();
        assert_eq!(interrupted.len(), 2);
        for block in &interrupted {
            assert_eq!(block.reason, reason);
            let kept = &block.record;
            let anew = blocks
                .iter()
                .find(|anew| anew.cell == kept.cell && anew.taken.round == kept.taken.round);
            assert_eq!(anew.unwrap().taken.order_index, kept.taken.order_index);
            assert_eq!(kept.taken.report.block.samples[1].elapsed_ns, 3_050_000_000);
        }

        let report = articles::report(store).unwrap();
        let [own, gmp, _] = &report.groups[0].rows[..] else {
            panic!("three engines")
        };
        assert_eq!((own.interrupted_blocks, gmp.interrupted_blocks), (0, 2));
        assert_eq!(own.notes, [""; 0]);
        let note = format!("2 blocks were interrupted and are left out, the first: {reason}");
        assert_eq!(gmp.notes, [note]);
        assert_eq!(gmp.figures.unwrap().blocks, ROUNDS);
        assert_eq!(gmp.figures.unwrap().summary.max, own.figures.unwrap().summary.max);
    }
}

#[test]
fn a_block_that_a_neighbour_took_time_from_is_measured_again_a_few_times() {
    let directory = tempfile::tempdir().unwrap();
    let (study, heard) = measured(
        directory.path(),
        &Mocks::with("gmp", Trouble::Neighbour(FIRST_BLOCK, 2)),
    );
    let reason = "other programs had its CPU for 50 % of its time";
    assert_eq!(heard, [format!("gmp: {reason}"), format!("gmp: {reason}")]);
    let report = articles::report(study.store()).unwrap();
    let [own, gmp, _] = &report.groups[0].rows[..] else {
        panic!("three engines")
    };
    assert_eq!((own.interrupted_blocks, gmp.interrupted_blocks), (0, 2));
    // What was measured again is not in the figures, and they are not called disturbed.
    assert_eq!(gmp.figures.unwrap().ops_per_s, own.figures.unwrap().ops_per_s);
    assert_eq!(gmp.disturbance, None);
    let note = format!("2 blocks were interrupted and are left out, the first: {reason}");
    assert_eq!(gmp.notes, [note]);

    // A neighbour that stays: the cell is measured with it, and says so.
    let directory = tempfile::tempdir().unwrap();
    let mocks = Mocks::with("gmp", Trouble::Neighbour(FIRST_BLOCK, usize::MAX));
    let (study, heard) = measured(directory.path(), &mocks);
    assert_eq!(heard.len(), 2);
    let report = articles::report(study.store()).unwrap();
    let [own, gmp, _] = &report.groups[0].rows[..] else {
        panic!("three engines")
    };
    assert_eq!((gmp.state.as_str(), gmp.figures.unwrap().blocks), ("done", ROUNDS));
    let disturbance = gmp.disturbance.as_ref().unwrap();
    assert_eq!((disturbance.blocks, disturbance.lost), (ROUNDS, Some(0.5)));
    assert_eq!(disturbance.causes, [reason]);
    assert_eq!(gmp.notes[1], format!("disturbed in 3 of 3 blocks: {reason}"));
    // Of 12 and 12 operations 12 and 3 were done in the same time.
    let speeds = gmp.figures.unwrap().ops_per_s.value / own.figures.unwrap().ops_per_s.value;
    assert!((speeds - 15.0 / 24.0).abs() < 1e-9, "{speeds}");
    assert!((gmp.ratio.as_ref().unwrap().to_first.value - 15.0 / 24.0).abs() < 1e-9);
}

#[test]
fn a_quota_is_not_waited_for_and_is_in_the_speed() {
    let directory = tempfile::tempdir().unwrap();
    let mocks = Mocks::with("gmp", Trouble::Throttled);
    let mut environment = around(&mocks);
    environment.machine.topology.quota = Some(0.5);
    let plan = Plan::parse(PLAN, &host(&[], 1)).unwrap();
    let mut study = Study::create(directory.path(), &plan, &host(&[], 1), "a test").unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    run::run(&mut study, &environment, &mut |_: &Event<'_>| (), &stop).unwrap();
    let report = articles::report(study.store()).unwrap();
    let gmp = &report.groups[0].rows[1];
    assert_eq!(gmp.interrupted_blocks, 0);
    let held_back = "a quota of 0.50 CPUs held it back for 50 % of its time";
    assert_eq!(gmp.disturbance.as_ref().unwrap().causes, [held_back]);
    assert_eq!(gmp.notes[0], format!("disturbed in 3 of 3 blocks: {held_back}"));

    let request = Request {
        seconds: 0.3,
        ..Request::new(Op::Private, vec![512], vec!["own".to_owned(), "gmp".to_owned()])
    };
    let measured = bench::run(&request, &host(&[], 1), &environment, &mut |_: &Event<'_>| (), &stop).unwrap();
    let row = &measured.rows[1];
    assert_eq!(row.disturbance.as_ref().unwrap().causes, [held_back]);
    let speeds = row.ops_per_s.unwrap() / measured.rows[0].ops_per_s.unwrap();
    assert!((speeds - 15.0 / 24.0).abs() < 1e-9, "{speeds}");
}

#[test]
fn what_is_interrupted_again_and_again_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let mocks = Mocks::with("gmp", Trouble::Stopped(FIRST_BLOCK, usize::MAX));
    let (study, heard) = measured(directory.path(), &mocks);
    assert_eq!(heard.len(), 4);
    let group = study.store().groups().unwrap().remove(0);
    let states: BTreeMap<&str, &CellState> = group
        .cells
        .iter()
        .map(|cell| (cell.engine.as_str(), &cell.state))
        .collect();
    let CellState::Failed(reason) = states["gmp"] else {
        panic!("{states:?}")
    };
    assert!(reason.contains("4 blocks in a row were interrupted"), "{reason}");
    assert_eq!(states["own"], &CellState::Done);
    let report = articles::report(study.store()).unwrap();
    assert_eq!(report.groups[0].rows[1].interrupted_blocks, 4);
    assert!(report.groups[0].rows[1].figures.is_none());
}

#[test]
fn whoever_waits_for_a_device_is_not_judged_by_its_cpu_time() {
    let directory = tempfile::tempdir().unwrap();
    let (study, heard) = measured(directory.path(), &Mocks::with("gpu", Trouble::Waits));
    assert_eq!(heard, [""; 0]);
    let group = study.store().groups().unwrap().remove(0);
    assert_eq!(study.store().interrupted_blocks(group.id).unwrap(), []);
    assert!(group.cells.iter().all(|cell| cell.state == CellState::Done));
}

#[test]
fn a_bench_tells_of_it_in_a_note() {
    let mocks = Mocks::with("gmp", Trouble::Stopped(FIRST_BLOCK, 1));
    let engines = ["own", "gmp"].map(str::to_owned).to_vec();
    let request = Request::new(Op::Private, vec![512], engines);
    let stop = Arc::new(AtomicBool::new(false));
    let host = host(&["own", "gmp"], 1);
    let mut observer = |_: &Event<'_>| {};
    let results = bench::run(&request, &host, &around(&mocks), &mut observer, &stop).unwrap();
    assert_eq!(results.rows[0].notes, [""; 0]);
    assert_eq!(
        results.rows[1].notes,
        ["1 block was interrupted and is left out: its process was stopped"]
    );
    assert_eq!(results.rows[0].ns_per_op, results.rows[1].ns_per_op);
}
