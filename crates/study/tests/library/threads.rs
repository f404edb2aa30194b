//! Thread counts are measured interleaved, and what threads gain is a ratio over shared rounds.

use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rsalab_study::{
    Study, articles,
    plan::Plan,
    run::{self, Environment, Event},
    store::{BlockRecord, CellId, CellState, Ending, GroupRecord, Store},
};

use rsalab_study::report::{html, markdown};

use crate::{
    judged::machine,
    support::{self, Planted, beginning, block, host, mock::Mocks},
};

/// Two batches, so that groups that differ in their threads do not follow one another.
const PLAN: &str = r#"
seed = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
[measure]
precision = 0
budget_s = 0.38
min_blocks = 2
block_ms = 100
discard_ms = 10

[[grid]]
operations = ["private"]
engines = ["own", "gmp"]
bits = [512]
threads = [4, 1, 2]
batch = [1, 3]
"#;

/// Rounds that the budget allows.
const ROUNDS: usize = 3;

fn study(directory: &Path) -> Study {
    let plan = Plan::parse(PLAN, &host(&[], 4)).unwrap();
    Study::create(directory, &plan, &host(&[], 4), "a test").unwrap()
}

fn run_with(study: &mut Study, mocks: &Mocks, observer: &mut dyn FnMut(&Event<'_>)) -> Ending {
    let environment = Environment {
        launcher: mocks,
        machine: support::MACHINE.clone(),
        warnings: Vec::new(),
        allow_unoptimised: false,
    };
    let mut observer = |event: &Event<'_>| observer(event);
    let stop = Arc::new(AtomicBool::new(false));
    run::run(study, &environment, &mut observer, &stop).unwrap()
}

/// The blocks of all thread counts of a batch, in the order in which they were taken.
fn family(store: &Store, batch: usize) -> Vec<BlockRecord> {
    let groups: Vec<GroupRecord> = store.groups().unwrap();
    let of_batch = groups.iter().filter(|group| group.job.batch == batch);
    let mut blocks: Vec<BlockRecord> = of_batch.flat_map(|group| store.blocks(group.id).unwrap()).collect();
    blocks.sort_by_key(|block| block.taken.order_index);
    blocks
}

/// Each round of a family has a block of each cell, and no block is missing or there twice.
fn check_families(store: &Store) {
    store.check_integrity().unwrap();
    for batch in [1, 3] {
        let blocks = family(store, batch);
        let orders: Vec<u64> = blocks.iter().map(|block| block.taken.order_index).collect();
        assert_eq!(orders, (0..6 * ROUNDS as u64).collect::<Vec<_>>());
        for (round, of_round) in blocks.chunks(6).enumerate() {
            assert!(of_round.iter().all(|block| block.taken.round == round), "{of_round:?}");
            let cells: BTreeSet<CellId> = of_round.iter().map(|block| block.cell).collect();
            assert_eq!(cells.len(), 6);
        }
    }
    let groups = store.groups().unwrap();
    let mut cells = groups.iter().flat_map(|group| &group.cells);
    assert!(cells.all(|cell| cell.state == CellState::Done));
}

#[test]
fn thread_counts_are_measured_in_turn() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path());
    let mocks = Mocks::new();
    let (mut began, mut closed) = (Vec::new(), Vec::new());
    let ending = run_with(&mut study, &mocks, &mut |event| match event {
        Event::GroupBegan { job, engines } => began.push(format!("{job}: {}", engines.join(" "))),
        Event::Closed { cell, progress, .. } => {
            assert_eq!(progress.cells, 12);
            closed.push(format!("{} {}", cell.engine, cell.job));
        }
        _ => {}
    });
    assert_eq!(ending, Ending::Complete);
    check_families(study.store());
    let engines = "own gmp own gmp own gmp";
    assert_eq!(
        began,
        [
            format!("Private operation, 512 bits, 1, 2 and 4 threads: {engines}"),
            format!("Private operation, 512 bits, batch 3, 1, 2 and 4 threads: {engines}"),
        ]
    );
    // Lines name each cell by its own threads.
    assert_eq!(
        closed[..3],
        [
            "own Private operation, 512 bits, 4 threads",
            "gmp Private operation, 512 bits, 4 threads",
            "own Private operation, 512 bits, 1 thread"
        ]
    );
    assert_eq!(closed.len(), 12);
    // A worker for each thread count, which waits for the next family.
    assert_eq!(mocks.launched("own"), 3);

    // The mocks do as much on four threads as on one.
    let report = articles::report(study.store()).unwrap();
    for group in &report.groups {
        for row in &group.rows {
            let is_single = group.job.threads == 1;
            assert_eq!(row.speedup.map(|speedup| speedup.value), (!is_single).then_some(1.0));
        }
    }
}

#[test]
fn a_family_that_is_stopped_anywhere_goes_on_in_the_same_order() {
    let whole = tempfile::tempdir().unwrap();
    let mut undisturbed = study(whole.path());
    let mocks = Mocks::new();
    run_with(&mut undisturbed, &mocks, &mut |_| {});
    let requests = mocks.requests.load(Ordering::Relaxed);
    let order = |store: &Store| -> Vec<_> {
        let blocks = [1, 3].into_iter().flat_map(|batch| family(store, batch));
        blocks.map(|block| (block.cell, block.taken.round)).collect()
    };
    for stop_at in (1..=requests).step_by(5) {
        let directory = tempfile::tempdir().unwrap();
        let mut study = study(directory.path());
        let mocks = Mocks {
            stop_at: Some(stop_at),
            ..Mocks::new()
        };
        run_with(&mut study, &mocks, &mut |_| {});
        drop(study);
        let mut study = Study::open(directory.path()).unwrap();
        assert_eq!(run_with(&mut study, &Mocks::new(), &mut |_| {}), Ending::Complete);
        check_families(study.store());
        assert_eq!(order(study.store()), order(undisturbed.store()), "{stop_at}");
    }
}

/// All engines of one thread count have failed when the study is stopped: the others go on behind what was taken.
#[test]
fn a_family_goes_on_without_a_count_that_failed() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = study(directory.path());
    // Three requests of each of six cells, a round of blocks, and the next one but for its last block.
    let mocks = Mocks {
        stop_at: Some(3 * 6 + 6 + 6),
        ..Mocks::new()
    };
    assert_eq!(run_with(&mut study, &mocks, &mut |_| {}), Ending::Stopped);
    let groups = study.store().groups().unwrap().into_iter();
    let of_batch = groups.filter(|group| group.job.batch == 1);
    let (failed, left): (Vec<GroupRecord>, Vec<GroupRecord>) = of_batch.partition(|group| group.job.threads == 4);
    for cell in failed.iter().flat_map(|group| &group.cells) {
        study.store_mut().fail_cell(cell.id, "it died").unwrap();
    }
    drop(study);
    let mut study = Study::open(directory.path()).unwrap();
    assert_eq!(run_with(&mut study, &Mocks::new(), &mut |_| {}), Ending::Complete);
    study.store().check_integrity().unwrap();
    let blocks = left.iter().flat_map(|group| study.store().blocks(group.id).unwrap());
    let mut turns: Vec<(u64, usize)> = blocks
        .map(|block| (block.taken.order_index, block.taken.round))
        .collect();
    turns.sort_unstable();
    assert_eq!(turns.len(), 4 * ROUNDS);
    let follow = |pair: &[(u64, usize)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
    assert!(turns.windows(2).all(follow), "{turns:?}");
}

/// A machine that is half as fast in every other round, on one thread and on two.
#[test]
fn what_the_machine_does_to_both_is_not_in_the_gain() {
    let plan = "[[grid]]\noperations = ['private']\nengines = ['own']\nbits = [2048]\nthreads = [1, 2]\n";
    let report = |is_interleaved: bool| {
        let directory = tempfile::tempdir().unwrap();
        let machine = support::MACHINE.clone();
        let mut planted = Planted::on(&machine, directory.path(), plan, &host(&[], 2));
        for (place, group) in planted.groups().iter().enumerate() {
            planted.begin(&group.cells[0], &beginning("own"));
            for round in 0..12 {
                let slow = [1.0, 2.0][round % 2];
                let gain = [1.0, 1.9][place];
                let noise = 0.999 + 0.001 * ((3 * round + 5 * place * round) % 3) as f64;
                let mut report = block(vec![(1e6 * slow * noise / gain) as u64; 5]);
                report.block.started_ns = match is_interleaved {
                    true => (2 * round + place) as u64,
                    false => (12 * place + round) as u64,
                };
                planted.add(group, 0, round, report);
            }
            let store = planted.study.store_mut();
            store.complete_cell(group.cells[0].id, &[]).unwrap();
        }
        articles::report(planted.study.store()).unwrap()
    };
    let interleaved = report(true);
    let speedup = interleaved.groups[1].rows[0].speedup.unwrap();
    // The noise of twelve rounds is a tenth of a per cent.
    assert!((speedup.value / 1.9 - 1.0).abs() < 0.003, "{speedup:?}");
    assert!(speedup.relative_error() < 0.005, "{speedup:?}");
    let finding = |report: &rsalab_study::report::Report| {
        let mut findings = report.findings.iter();
        let gain = findings.find(|finding| finding.id == "threads-private-2048-throughput");
        gain.unwrap().clone()
    };
    assert_eq!(finding(&interleaved).value, Some(speedup));
    let apart = report(false);
    assert_eq!(apart.groups[1].rows[0].speedup, None, "one after the other");
    assert!(finding(&apart).value.unwrap().relative_error() > 0.1);
}

/// A twentieth of the work is done in turn, on eight CPUs; sixteen threads are more than these.
#[test]
fn the_laws_are_fitted_to_what_the_cpus_run_at_once() {
    let plan = "[[grid]]\noperations = ['private']\nengines = ['own', 'gmp']\nbits = [2048]\n\
                threads = [1, 2, 4, 8, 16]\n";
    let directory = tempfile::tempdir().unwrap();
    let machine = machine(8, None);
    let mut planted = Planted::on(&machine, directory.path(), plan, &host(&[], 8));
    for (place, group) in planted.groups().iter().enumerate() {
        for (engine, cell) in group.cells.iter().enumerate() {
            planted.begin(cell, &beginning(&cell.engine));
            let threads = group.job.threads as f64;
            let gain = match threads {
                16.0 => 3.0,
                _ => threads / (1.0 + [0.05, 0.2][engine] * (threads - 1.0)),
            };
            for round in 0..10 {
                let noise = 0.999 + 0.0005 * ((3 * round + 5 * place * round) % 5) as f64;
                let mut report = block(vec![(1e7 * noise / gain) as u64; 5]);
                report.block.started_ns = (5 * round + place) as u64;
                planted.add(group, engine, round, report);
            }
            planted.study.store_mut().complete_cell(cell.id, &[]).unwrap();
        }
    }
    let report = articles::report(planted.study.store()).unwrap();
    let [scaling] = &report.scaling[..] else {
        panic!("{:?}", report.scaling);
    };
    for (engine, sigma) in scaling.engines.iter().zip([0.05, 0.2]) {
        let serial = engine.serial.unwrap();
        assert!((serial.value - sigma).abs() < 0.002, "{serial:?}");
        assert!((engine.contention.unwrap().value - sigma).abs() < 0.005, "{engine:?}");
        assert!(engine.coherence.unwrap().value.abs() < 0.001, "{engine:?}");
        assert_eq!(engine.reason, None);
        let left_out: Vec<(usize, Option<&str>)> = engine
            .counts
            .iter()
            .map(|count| (count.threads, count.left_out.as_deref()))
            .collect();
        let expected = [(2, None), (4, None), (8, None), (16, Some("more than 8 CPUs"))];
        assert_eq!(left_out, expected);
        let eight = &engine.counts[2];
        assert!((eight.efficiency.value * 8.0 - eight.speedup.value).abs() < 1e-9);
    }
    let figure = report
        .figures
        .iter()
        .find(|figure| figure.id.ends_with("-speedup"))
        .unwrap();
    assert_eq!(
        figure.series.len(),
        3,
        "two engines, and what as many times one would be"
    );
    assert_eq!(figure.marks.len(), 1, "{:?}", figure.marks);
    for page in [html(&report), markdown(&report)] {
        assert!(page.contains("What threads gain"));
        assert!(page.contains("of the work in turn; the Universal Scalability Law with"));
        assert!(page.contains("more than 8 CPUs"));
    }
}
