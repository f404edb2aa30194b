//! A process that measures a study, killed by the system at any moment, again and again.

use std::{
    env,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use rsalab_study::{
    Study,
    plan::Plan,
    run::{self, Environment, Event},
    store::{BlockRecord, CellState, Ending, Store},
};

use crate::support::{self, host, mock::Mocks};

/// Where the child finds its study. Without it the child's test has nothing to do.
const VARIABLE: &str = "RSALAB_TEST_STUDY";

const PLAN: &str = r#"
[measure]
precision = 0
budget_s = 1000
min_blocks = 2
max_blocks = 300
block_ms = 100
max_samples = 1000
[[grid]]
operations = ["private", "public"]
engines = ["own", "gmp", "openssl"]
bits = [512]
"#;

#[test]
fn the_child_resumes_its_study() {
    let Some(directory) = env::var_os(VARIABLE) else {
        return;
    };
    let mut study = Study::open(Path::new(&directory)).unwrap();
    let mocks = Mocks::new();
    let around = Environment {
        launcher: &mocks,
        machine: support::MACHINE.clone(),
        warnings: Vec::new(),
        allow_unoptimised: false,
    };
    let stop = Arc::new(AtomicBool::new(false));
    run::run(&mut study, &around, &mut |_: &Event<'_>| {}, &stop).unwrap();
}

#[test]
fn every_cell_once_and_no_sample_lost_after_many_kills() {
    const KILLS: u64 = 25;
    let directory = tempfile::tempdir().unwrap();
    let plan = Plan::parse(PLAN, &host(&[], 1)).unwrap();
    drop(Study::create(directory.path(), &plan, &host(&[], 1), "a test").unwrap());
    let mut stored: Vec<BlockRecord> = Vec::new();
    for kill in 0..KILLS {
        let mut child = child(directory.path());
        // From before the database is open to the middle of the measurement: the describing of the machine alone takes
        // a tenth of a second.
        thread::sleep(Duration::from_millis(100 + 31 * kill % 400));
        child.kill().unwrap();
        child.wait().unwrap();
        let store = Store::view(directory.path()).unwrap();
        store.check_integrity().unwrap();
        let now = blocks(&store);
        assert!(
            stored.iter().all(|block| now.contains(block)),
            "a stored block is gone after kill {kill}"
        );
        stored = now;
    }
    let was_measured = !Store::view(directory.path()).unwrap().has_open_cells().unwrap();
    assert!(child(directory.path()).wait().unwrap().success());

    let store = Store::view(directory.path()).unwrap();
    store.check_integrity().unwrap();
    let blocks = blocks(&store);
    assert!(stored.iter().all(|block| blocks.contains(block)));
    for group in store.groups().unwrap() {
        assert!(group.cells.iter().all(|cell| cell.state == CellState::Done));
        for cell in &group.cells {
            let rounds: Vec<usize> = blocks
                .iter()
                .filter(|block| block.cell == cell.id)
                .map(|block| block.taken.round)
                .collect();
            assert_eq!(rounds, (0..300).collect::<Vec<_>>(), "{} {}", group.job.op, cell.engine);
        }
    }
    let sessions = store.sessions().unwrap();
    // A kill after the last cell leaves nothing to measure, and a session without an ending as the last.
    assert!(was_measured || sessions.last().unwrap().ending == Some(Ending::Complete));
    let killed = sessions.iter().filter(|session| session.ending.is_none()).count();
    eprintln!("{killed} of {KILLS} kills came while the study was being measured");
    assert!(killed > 0);
}

/// This very test program, running the test above on a directory.
fn child(directory: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "kill::the_child_resumes_its_study"])
        .env(VARIABLE, directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn blocks(store: &Store) -> Vec<BlockRecord> {
    store
        .groups()
        .unwrap()
        .iter()
        .flat_map(|group| store.blocks(group.id).unwrap())
        .collect()
}
