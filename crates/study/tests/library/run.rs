//! Running a study with engines that behave, and with engines that do not.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use proptest::prelude::*;
use rsalab_engines::Op;
use rsalab_study::{
    Error, Study,
    plan::Plan,
    run::{self, Environment, Event},
    store::{BlockRecord, CellState, Ending, Store, StoreError},
};

use crate::support::{
    self, host,
    mock::{Mocks, Trouble},
};

/// Two groups of three engines, three to four rounds each.
const PLAN: &str = r#"
seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
[measure]
precision = 0
budget_s = 0.38
min_blocks = 2
block_ms = 100
discard_ms = 10

[[grid]]
operations = ["private", "public"]
engines = ["own", "gmp", "openssl"]
bits = [512]
"#;

fn study(directory: &Path) -> Study {
    let plan = Plan::parse(PLAN, &host(&[], 1)).unwrap();
    Study::create(directory, &plan, &host(&[], 1), "a test").unwrap()
}

fn around(mocks: &Mocks) -> Environment<'_> {
    Environment {
        launcher: mocks,
        machine: support::MACHINE.clone(),
        warnings: vec!["somebody is at work".to_owned()],
        allow_unoptimised: false,
    }
}

fn run_with(study: &mut Study, mocks: &Mocks) -> Result<Ending, Error> {
    let stop = Arc::new(AtomicBool::new(false));
    run::run(study, &around(mocks), &mut |_: &Event<'_>| {}, &stop)
}

/// The states of all cells, group by group.
fn states(store: &Store) -> Vec<(String, CellState)> {
    let groups = store.groups().unwrap();
    let cells = groups
        .iter()
        .flat_map(|group| group.cells.iter().map(move |cell| (group.job.op, cell)));
    cells
        .map(|(op, cell)| (format!("{op} {}", cell.engine), cell.state.clone()))
        .collect()
}

fn blocks(store: &Store) -> Vec<BlockRecord> {
    store
        .groups()
        .unwrap()
        .iter()
        .flat_map(|group| store.blocks(group.id).unwrap())
        .collect()
}

/// Checks of a finished study, however it came about.
fn check_whole(store: &Store, rounds: usize) {
    store.check_integrity().unwrap();
    for group in store.groups().unwrap() {
        let blocks = store.blocks(group.id).unwrap();
        let orders: Vec<u64> = blocks.iter().map(|block| block.taken.order_index).collect();
        assert_eq!(
            orders,
            (0..blocks.len() as u64).collect::<Vec<_>>(),
            "no block twice, none missing"
        );
        for cell in &group.cells {
            assert_eq!(cell.state, CellState::Done, "{}", cell.engine);
            let own = blocks.iter().filter(|block| block.cell == cell.id);
            let own_rounds: Vec<usize> = own.map(|block| block.taken.round).collect();
            assert_eq!(own_rounds, (0..rounds).collect::<Vec<_>>(), "{}", cell.engine);
        }
    }
}

/// Rounds that the budget of 0.38 s allows: blocks of 110 ms, and another round if half of it fits.
const ROUNDS: usize = 3;

#[test]
fn everything_is_measured_in_turn_and_stored() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path());
    let mocks = Mocks::new();
    let mut events = Vec::new();
    let stop = Arc::new(AtomicBool::new(false));
    let mut observer = |event: &Event<'_>| match event {
        Event::Began { progress } => {
            assert_eq!((progress.cells, progress.cells_closed), (6, 0));
            assert!((progress.eta.as_secs_f64() - 6.0 * 0.38).abs() < 1e-6);
            events.push("began".to_owned());
        }
        Event::GroupBegan { job, engines } => events.push(format!("{job}: {}", engines.join(" "))),
        Event::Block {
            cell,
            ns_per_op,
            progress,
        } => {
            assert_eq!(ns_per_op.value, 5e7 / 12.0);
            assert!((0.0..=1.0).contains(&progress.group_share));
            assert!(progress.eta.as_secs_f64() <= 6.0 * 0.38);
            events.push(format!("block {}", cell.engine));
        }
        Event::Closed {
            cell,
            state,
            figures,
            progress,
        } => {
            assert_eq!(figures.unwrap().ns_per_op.value, 5e7 / 12.0);
            assert!(progress.cells_closed > 0);
            events.push(format!("{} {}", state.name(), cell.engine));
        }
        Event::Warning(warning) => events.push((*warning).to_owned()),
        other => panic!("{other:?}"),
    };
    let ending = run::run(&mut study, &around(&mocks), &mut observer, &stop).unwrap();
    assert_eq!(ending, Ending::Complete);
    check_whole(study.store(), ROUNDS);
    assert_eq!(
        events[..3],
        [
            "somebody is at work",
            "began",
            "Private operation, 512 bits, 1 thread: own gmp openssl"
        ]
    );
    assert_eq!(
        events.iter().filter(|event| event.starts_with("block")).count(),
        6 * ROUNDS
    );
    assert_eq!(events.iter().filter(|event| event.starts_with("done")).count(), 6);
    assert_eq!(mocks.launched("own"), 1, "a worker waits for its next cell");
    let session = study.store().sessions().unwrap().remove(0);
    assert_eq!(session.ending, Some(Ending::Complete));
    assert_eq!(session.warnings, ["somebody is at work"]);
    assert!(
        blocks(study.store())
            .iter()
            .all(|block| block.taken.worker_pid == Some(4242))
    );
    // Once more: there is nothing left to do.
    let again = Mocks::new();
    assert_eq!(run_with(&mut study, &again).unwrap(), Ending::Complete);
    assert_eq!(again.launched("own"), 0);
    assert_eq!(study.store().sessions().unwrap().len(), 1);
}

/// One row each: what goes wrong with `gmp`, the state of its two cells, and words of the reason.
#[test]
fn whatever_an_engine_does_costs_its_cells_only() {
    let failed = ["failed", "failed"];
    let rows: &[(Trouble, [&str; 2], &str, usize)] = &[
        (
            Trouble::Absent,
            ["unsupported", "unsupported"],
            "get it with: make it",
            0,
        ),
        (Trouble::DoesNotStart, failed, "permission denied", 0),
        (
            Trouble::Refuses(Op::Private),
            ["unsupported", "done"],
            "no such function",
            1,
        ),
        // supports, prepare, outputs, block, block, block, outputs, release: each may be the last.
        (Trouble::DiesAt(1), failed, "'supports' (signal: 9", 2),
        (Trouble::DiesAt(2), failed, "'prepare' (signal: 9", 2),
        (Trouble::DiesAt(3), failed, "'outputs' (signal: 9", 2),
        (Trouble::DiesAt(5), failed, "'block' (signal: 9", 2),
        (Trouble::DiesAt(7), failed, "'outputs' (signal: 9", 2),
        (Trouble::DiesAt(8), failed, "'release' (signal: 9", 2),
        // In the second cell of the same worker.
        (Trouble::DiesAt(12), ["done", "failed"], "'block' (signal: 9", 1),
        (Trouble::HangsAt(4), failed, "did not answer 'block'", 2),
        (Trouble::WrongFrom(1), failed, "wrong", 2),
        (Trouble::WrongFrom(7), failed, "wrong", 2),
    ];
    for (trouble, expected, words, launches) in rows {
        let directory = tempfile::tempdir().unwrap();
        let mut study = study(directory.path());
        let mocks = Mocks::with("gmp", *trouble);
        assert_eq!(run_with(&mut study, &mocks).unwrap(), Ending::Complete, "{trouble:?}");
        let states = states(study.store());
        let of_gmp: Vec<&CellState> = states
            .iter()
            .filter(|(name, _)| name.ends_with("gmp"))
            .map(|(_, state)| state)
            .collect();
        assert_eq!(
            [of_gmp[0].name(), of_gmp[1].name()],
            *expected,
            "{trouble:?}: {of_gmp:?}"
        );
        let reason = of_gmp.iter().find_map(|state| state.reason()).unwrap();
        assert!(reason.contains(words), "{trouble:?}: {reason}");
        for (name, state) in states.iter().filter(|(name, _)| !name.ends_with("gmp")) {
            assert_eq!(*state, CellState::Done, "{trouble:?}: {name}");
        }
        assert_eq!(mocks.launched("gmp"), *launches, "{trouble:?}");
        study.store().check_integrity().unwrap();
    }
}

#[test]
fn our_own_unoptimised_build_is_refused_unless_allowed() {
    for (engine, allowed, state, words) in [
        ("own", false, "unsupported", "cargo build --release"),
        ("own", true, "done", "without optimisation"),
        ("gmp", false, "done", "without optimisation"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let mut study = study(directory.path());
        let mocks = Mocks::with(engine, Trouble::Unoptimised);
        let around = Environment {
            allow_unoptimised: allowed,
            ..around(&mocks)
        };
        let stop = Arc::new(AtomicBool::new(false));
        run::run(&mut study, &around, &mut |_: &Event<'_>| {}, &stop).unwrap();
        let group = study.store().groups().unwrap().remove(0);
        let cell = group.cells.iter().find(|cell| cell.engine == engine).unwrap();
        assert_eq!(cell.state.name(), state, "{engine} {allowed}");
        let notes = cell
            .beginning
            .as_ref()
            .map(|beginning| beginning.notes.join(" "))
            .unwrap_or_default();
        let said = cell.state.reason().map_or(notes, str::to_owned);
        assert!(said.contains(words), "{engine} {allowed}: {said}");
    }
}

/// Requests of an undisturbed run: supports, prepare, outputs, the blocks, outputs, release, for each cell.
const REQUESTS: usize = 6 * (5 + ROUNDS);

#[test]
fn a_study_stopped_anywhere_is_resumed_without_loss() {
    let whole = tempfile::tempdir().unwrap();
    let mut undisturbed = study(whole.path());
    let mocks = Mocks::new();
    run_with(&mut undisturbed, &mocks).unwrap();
    assert_eq!(mocks.requests.load(std::sync::atomic::Ordering::Relaxed), REQUESTS);
    let order = |store: &Store| -> Vec<_> {
        blocks(store)
            .iter()
            .map(|block| (block.cell, block.taken.order_index, block.taken.round))
            .collect()
    };
    for stop_at in 1..=REQUESTS {
        let directory = tempfile::tempdir().unwrap();
        let mut study = study(directory.path());
        let ending = run_with(
            &mut study,
            &Mocks {
                stop_at: Some(stop_at),
                ..Mocks::new()
            },
        )
        .unwrap();
        let is_complete = !study.store().has_open_cells().unwrap();
        assert_eq!(ending == Ending::Complete, is_complete, "{stop_at}");
        assert_eq!(
            is_complete,
            stop_at > REQUESTS - 2,
            "{stop_at}: the last check and the release"
        );
        let stored = blocks(study.store());
        drop(study);
        let mut study = Study::open(directory.path()).unwrap();
        assert_eq!(run_with(&mut study, &Mocks::new()).unwrap(), Ending::Complete);
        check_whole(study.store(), ROUNDS);
        assert_eq!(
            order(study.store()),
            order(undisturbed.store()),
            "the same order as without a stop, {stop_at}"
        );
        let kept = blocks(study.store());
        assert!(stored.iter().all(|block| kept.contains(block)), "{stop_at}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// Kills leave no ending behind and do not ask the program: unwinding drops everything at an arbitrary request.
    #[test]
    fn a_study_killed_again_and_again_is_finished_once(kills in prop::collection::vec(1..=REQUESTS, 1..5)) {
        let directory = tempfile::tempdir().unwrap();
        drop(study(directory.path()));
        let mut sessions = 0;
        for killed_at in kills {
            let mut study = Study::open(directory.path()).unwrap();
            let before = blocks(study.store());
            let mocks = Mocks { killed_at: Some(killed_at), ..Mocks::new() };
            let _ = catch_unwind(AssertUnwindSafe(|| run_with(&mut study, &mocks)));
            sessions += 1;
            drop(study);
            let store = Store::view(directory.path()).unwrap();
            store.check_integrity().unwrap();
            let after = blocks(&store);
            prop_assert!(before.iter().all(|block| after.contains(block)));
        }
        let mut study = Study::open(directory.path()).unwrap();
        prop_assert_eq!(run_with(&mut study, &Mocks::new()).unwrap(), Ending::Complete);
        check_whole(study.store(), ROUNDS);
        prop_assert!(study.store().sessions().unwrap().len() <= sessions + 1);
    }
}

#[test]
fn a_database_that_fails_ends_the_run() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path());
    let other = rusqlite::Connection::open(study.store().path()).unwrap();
    let mocks = Mocks::new();
    let stop = Arc::new(AtomicBool::new(false));
    let mut locked = false;
    let mut observer = |event: &Event<'_>| {
        if matches!(event, Event::Block { .. }) && !locked {
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            locked = true;
        }
    };
    let error = run::run(&mut study, &around(&mocks), &mut observer, &stop).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::InUse { .. })), "{error}");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(blocks(study.store()).len(), 1);
    assert_eq!(run_with(&mut study, &Mocks::new()).unwrap(), Ending::Complete);
    check_whole(study.store(), ROUNDS);
}
