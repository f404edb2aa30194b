//! The store: what is written is read back, nothing half, and every wrong file is named for what it is.

use std::{
    fs,
    io::{Read, Seek, SeekFrom, Write},
    path::Path,
};

use rsalab_engines::{BlockReport, PartTrace};
use rsalab_measure::{Block, CpuTime, Fact, Losses, Sample};
use rsalab_study::{
    Error, ErrorClass, Study, articles,
    part::{self, Manifest, Part, Work},
    plan::{Host, Plan, Preset, Seed},
    store::{
        Beginning, BlockRecord, CellState, Ending, FILE, GroupId, InterruptedBlock, MergeError, PART_FILE,
        SessionStart, Store, StoreError, TakenBlock,
    },
};

use crate::support;

fn host() -> Host {
    support::host(&["own", "gmp"], 2)
}

fn beginning() -> Beginning {
    Beginning {
        notes: vec!["a note".to_owned()],
        ..support::beginning("own")
    }
}

fn smoke(directory: &Path) -> Study {
    Study::create(directory, &Preset::Smoke.plan(&host()), &host(), "rsalab study smoke").unwrap()
}

fn report(samples: u64) -> BlockReport {
    let sample = |number| Sample {
        elapsed_ns: 1000 + number,
        tsc_ticks: Some(2300 + number),
        operations: 8,
    };
    BlockReport {
        block: Block {
            samples: (0..samples).map(sample).collect(),
            discarded_operations: 16,
            discarded_ns: Some(99),
            started_ns: 77,
            elapsed_ns: 123_456,
        },
        tests: (0..samples).collect(),
        outputs: Vec::new(),
        trace: vec![PartTrace {
            id: 0,
            bytes: 5,
            blocks: 1,
            cpu: Some(0),
            start_ns: 3,
            end_ns: 9,
        }],
        cpu: Some(CpuTime {
            user_ns: 120_000,
            system_ns: 3_000,
        }),
    }
}

/// Begins the first cell and returns what a block of it looks like.
fn begun(store: &mut Store) -> (GroupId, impl Fn(u64) -> BlockRecord + use<>) {
    let start = SessionStart {
        machine: &support::MACHINE,
        warnings: &["busy".into()],
    };
    let session = store.begin_session(&start).unwrap();
    let group = store.groups().unwrap().remove(0);
    let cell = group.cells[0].id;
    store.begin_cell(cell, &beginning()).unwrap();
    let record = move |order_index| {
        let taken = TakenBlock {
            order_index,
            round: order_index as usize,
            worker_pid: Some(42),
            report: report(5),
            losses: Some(Losses {
                wall_ns: 1_000_000,
                waited_ns: 5,
                was_stopped: true,
                ..Losses::default()
            }),
        };
        BlockRecord { cell, session, taken }
    };
    (group.id, record)
}

#[test]
fn what_is_written_is_read_back() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("deep/er");
    let mut study = smoke(&place);
    let store = study.store_mut();
    let (group, record) = begun(store);
    store.add_block(group, &record(0)).unwrap();
    store.add_block(group, &record(1)).unwrap();
    let cells = store.groups().unwrap().remove(0).cells;
    store.complete_cell(cells[0].id, &["in the end".into()]).unwrap();
    store.fail_cell(cells[1].id, "it died").unwrap();
    let second = store.groups().unwrap()[1].cells[0].id;
    store.refuse_cell(second, "no such thing").unwrap();
    let session = store.sessions().unwrap()[0].number;
    store.end_session(session, Ending::Stopped).unwrap();
    drop(study);

    let store = Store::view(&place).unwrap();
    store.check_integrity().unwrap();
    let planned = store.study().unwrap();
    assert_eq!(planned.command, "rsalab study smoke");
    assert_eq!(planned.host, host());
    assert_eq!(
        Plan::parse(&planned.plan_toml, &host()).unwrap(),
        Preset::Smoke.plan(&host())
    );
    let session = store.sessions().unwrap().remove(0);
    assert_eq!(
        (session.warnings, session.ending),
        (vec!["busy".to_owned()], Some(Ending::Stopped))
    );
    assert!(session.ended_unix_ms.unwrap() >= session.started_unix_ms);
    let groups = store.groups().unwrap();
    assert_eq!(groups.len(), Preset::Smoke.plan(&host()).groups(&host()).unwrap().len());
    let done = &groups[0].cells[0];
    assert_eq!(done.state, CellState::Done);
    let closed = Beginning {
        notes: vec!["in the end".to_owned()],
        ..beginning()
    };
    assert_eq!(done.beginning, Some(closed));
    assert_eq!(groups[0].cells[1].beginning, None);
    assert_eq!(groups[0].cells[1].state, CellState::Failed("it died".into()));
    assert_eq!(groups[1].cells[0].state, CellState::Unsupported("no such thing".into()));
    assert_eq!(groups[1].cells[1].state, CellState::Planned);
    assert_eq!(store.blocks(group).unwrap(), [record(0), record(1)]);
    assert_eq!(store.blocks(groups[1].id).unwrap(), []);
    assert!(store.has_open_cells().unwrap());
}

#[test]
fn a_study_of_the_first_schema_is_read_as_it_is_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let store = study.store_mut();
    let (group, record) = begun(store);
    store.add_block(group, &record(0)).unwrap();
    drop(study);
    let file = directory.path().join("study.db");
    sql(
        &file,
        "DROP TABLE interrupted_block; DROP TABLE sentinel; DROP TABLE part;
         ALTER TABLE block DROP COLUMN cpu_user_ns;
         ALTER TABLE block DROP COLUMN cpu_system_ns; ALTER TABLE block DROP COLUMN losses_json; ALTER TABLE block DROP COLUMN discarded_ns;
         PRAGMA user_version = 1",
    );
    let mut old = record(0);
    old.taken.report.cpu = None;
    old.taken.losses = None;
    old.taken.report.block.discarded_ns = None;
    let bytes = fs::read(&file).unwrap();
    let seen = Store::view(directory.path()).unwrap().blocks(group);
    assert_eq!(seen.unwrap(), [old.clone()]);
    assert_eq!(fs::read(&file).unwrap(), bytes, "reading changes nothing");

    for _ in 0..2 {
        let store = Store::open(directory.path()).unwrap();
        store.check_integrity().unwrap();
    }
    let mut store = Store::open(directory.path()).unwrap();
    store.add_block(group, &record(1)).unwrap();
    assert_eq!(store.blocks(group).unwrap(), [old, record(1)]);
    let interrupted = interrupted(record(1));
    store.add_interrupted_block(group, &interrupted).unwrap();
    assert_eq!(store.interrupted_blocks(group).unwrap(), [interrupted]);
}

fn interrupted(record: BlockRecord) -> InterruptedBlock {
    InterruptedBlock {
        record,
        reason: "its process was stopped".to_owned(),
    }
}

#[test]
fn a_study_of_the_second_schema_is_read_as_it_is_and_gone_on_with() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let (group, record) = begun(study.store_mut());
    study.store_mut().add_block(group, &record(0)).unwrap();
    drop(study);
    let file = directory.path().join("study.db");
    sql(
        &file,
        "DROP TABLE interrupted_block; DROP TABLE sentinel; DROP TABLE part;
         ALTER TABLE block DROP COLUMN losses_json; ALTER TABLE block DROP COLUMN discarded_ns;
         PRAGMA user_version = 2",
    );
    let mut old = record(0);
    old.taken.losses = None;
    old.taken.report.block.discarded_ns = None;
    let bytes = fs::read(&file).unwrap();
    let seen = Store::view(directory.path()).unwrap();
    assert_eq!(seen.blocks(group).unwrap(), [old.clone()]);
    assert_eq!(seen.interrupted_blocks(group).unwrap(), []);
    assert_eq!(seen.sentinels().unwrap(), []);
    drop(seen);
    assert_eq!(fs::read(&file).unwrap(), bytes, "reading changes nothing");

    let mut store = Store::open(directory.path()).unwrap();
    store.check_integrity().unwrap();
    // Each attempt at a turn has a row, and the turn itself one block.
    for _ in 0..2 {
        store.add_interrupted_block(group, &interrupted(record(1))).unwrap();
    }
    store.add_block(group, &record(1)).unwrap();
    let session = store.sessions().unwrap()[0].number;
    store.add_sentinel(session, group, 98_765.5).unwrap();
    drop(store);
    let store = Store::view(directory.path()).unwrap();
    assert_eq!(store.blocks(group).unwrap(), [old, record(1)]);
    let sentinel = store.sentinels().unwrap().remove(0);
    assert_eq!(
        (sentinel.session, sentinel.group, sentinel.elapsed_ns),
        (session, group, 98_765.5)
    );
    let both = [interrupted(record(1)), interrupted(record(1))];
    assert_eq!(store.interrupted_blocks(group).unwrap(), both);
}

#[test]
fn a_study_that_nobody_writes_to_is_one_file_and_a_copy_without_its_log_is_known() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("study");
    let mut study = smoke(&place);
    let (group, record) = begun(study.store_mut());
    study.store_mut().add_block(group, &record(0)).unwrap();
    // Copied in the middle, as by somebody who takes the file with the data.
    let copy = directory.path().join("copy");
    fs::create_dir(&copy).unwrap();
    assert!(place.join("study.db-wal").exists());
    fs::copy(place.join("study.db"), copy.join("study.db")).unwrap();
    assert!(!study.store().lacks_its_log());
    drop(study);
    let copied = Store::view(&copy).unwrap();
    assert!(copied.lacks_its_log());
    let report = articles::report(&copied).unwrap();
    assert!(report.incomplete.unwrap().contains("without the file study.db-wal"));

    assert!(!place.join("study.db-wal").exists());
    fs::copy(place.join("study.db"), copy.join("study.db")).unwrap();
    for place in [&place, &copy] {
        let store = Store::view(place).unwrap();
        assert!(!store.lacks_its_log());
        assert_eq!(store.blocks(group).unwrap(), [record(0)]);
        assert_eq!(articles::report(&store).unwrap().incomplete, None);
    }
    // Whoever goes on with it finds it as it was, and leaves one file again.
    let store = Store::open(&place).unwrap();
    assert!(!store.lacks_its_log());
    drop(store);
    assert!(!place.join("study.db-wal").exists() && !place.join("study.db-shm").exists());
}

#[test]
fn a_step_is_taken_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let store = study.store_mut();
    let (group, record) = begun(store);
    let cell = record(0).cell;
    store.add_block(group, &record(0)).unwrap();
    assert!(
        store.add_block(group, &record(0)).is_err(),
        "the same place in the order twice"
    );
    assert_eq!(store.blocks(group).unwrap().len(), 1);
    store.complete_cell(cell, &[]).unwrap();
    assert!(matches!(store.complete_cell(cell, &[]), Err(StoreError::State { .. })));
    assert!(matches!(store.fail_cell(cell, "late"), Err(StoreError::State { .. })));
    let planned = store.groups().unwrap()[1].cells[0].id;
    assert!(
        matches!(store.complete_cell(planned, &[]), Err(StoreError::State { .. })),
        "done without a beginning"
    );
}

#[test]
fn a_block_is_stored_whole_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let store = study.store_mut();
    let (group, record) = begun(store);
    store.add_block(group, &record(0)).unwrap();
    // The fourth sample is refused after the block and three samples are in the transaction.
    let mut broken = record(1);
    broken.taken.report.block.samples[3].operations = 0;
    assert!(store.add_block(group, &broken).is_err());
    let mut too_large = record(1);
    too_large.taken.report.block.samples[4].elapsed_ns = u64::MAX;
    assert!(store.add_block(group, &too_large).is_err());
    assert_eq!(store.blocks(group).unwrap(), [record(0)]);
    store.check_integrity().unwrap();
}

/// A kill leaves a copy of the files at that moment: the database as it was, and whatever of the log had been written.
/// Every prefix of the log must open to a prefix of the blocks.
#[test]
fn a_kill_at_any_moment_leaves_whole_blocks() {
    const BLOCKS: u64 = 4;
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let (group, record) = begun(study.store_mut());
    for index in 0..BLOCKS {
        study.store_mut().add_block(group, &record(index)).unwrap();
    }
    let log_name = format!("{FILE}-wal");
    let database = fs::read(directory.path().join(FILE)).unwrap();
    let log = fs::read(directory.path().join(&log_name)).unwrap();
    assert!(log.len() > 4096, "the blocks are in the log, not yet in the database");
    let mut seen = std::collections::BTreeSet::new();
    for cut in (0..=log.len()).step_by(997).chain([log.len()]) {
        let killed = tempfile::tempdir().unwrap();
        fs::write(killed.path().join(FILE), &database).unwrap();
        fs::write(killed.path().join(&log_name), &log[..cut]).unwrap();
        let store = Store::open(killed.path()).unwrap();
        store.check_integrity().unwrap();
        let blocks = store.blocks(group).unwrap();
        let expected: Vec<BlockRecord> = (0..blocks.len() as u64).map(&record).collect();
        assert_eq!(blocks, expected);
        seen.insert(blocks.len() as u64);
    }
    assert!(seen.len() > 2 && seen.contains(&BLOCKS), "{seen:?}");
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let _ = begun(study.store_mut());
    let mut files = 0;
    for entry in fs::read_dir(directory.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
        files += 1;
    }
    assert!(files >= 3, "the database, its log and the lock");
}

#[test]
fn a_directory_holds_one_study() {
    let directory = tempfile::tempdir().unwrap();
    drop(smoke(directory.path()));
    let error = Study::create(directory.path(), &Preset::Smoke.plan(&host()), &host(), "again").unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::Exists(_))));
    assert_eq!(error.class(), ErrorClass::Usage);
    Store::view(directory.path()).unwrap().check_integrity().unwrap();
}

#[test]
fn one_process_writes_and_others_may_read() {
    let directory = tempfile::tempdir().unwrap();
    let mut study = smoke(directory.path());
    let message = Study::open(directory.path()).unwrap_err().to_string();
    assert!(message.contains("in use by another process") && message.contains(&std::process::id().to_string()));
    let (group, record) = begun(study.store_mut());
    let reader = Store::view(directory.path()).unwrap();
    assert_eq!(reader.blocks(group).unwrap(), []);
    study.store_mut().add_block(group, &record(0)).unwrap();
    assert_eq!(reader.blocks(group).unwrap().len(), 1);
    drop(study);
    Study::open(directory.path()).unwrap();
}

#[test]
fn a_study_is_read_where_nothing_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    // Signs that mean something in the address that SQLite is given.
    let place = directory.path().join("50 % of #1?");
    drop(smoke(&place));
    // What a read-only directory does to readers: the file that they share cannot be made.
    fs::create_dir(place.join(format!("{FILE}-shm"))).unwrap();
    let store = Store::view(&place).unwrap();
    store.check_integrity().unwrap();
    assert_eq!(store.study().unwrap().command, "rsalab study smoke");
    assert!(!store.is_writable());
}

#[test]
fn sqlites_own_lock_is_respected() {
    let directory = tempfile::tempdir().unwrap();
    drop(smoke(directory.path()));
    let other = rusqlite::Connection::open(directory.path().join(FILE)).unwrap();
    let mut study = Study::open(directory.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = study
        .store_mut()
        .begin_session(&SessionStart {
            machine: &support::MACHINE,
            warnings: &[],
        })
        .unwrap_err();
    assert!(matches!(error, StoreError::InUse { .. }), "{error}");
}

/// One row each: what is done to a good study, and what must be said about the result.
#[test]
fn wrong_files_are_named_for_what_they_are() {
    type Harm = fn(&Path);
    let rows: &[(&str, Harm, &str)] = &[
        ("missing", |file| fs::remove_file(file).unwrap(), "there is no study in"),
        ("empty", |file| fs::write(file, b"").unwrap(), "is empty"),
        (
            "text",
            |file| fs::write(file, "not a database at all, ".repeat(100)).unwrap(),
            "is not a study's database",
        ),
        (
            "noise",
            |file| fs::write(file, noise()).unwrap(),
            "is not a study's database",
        ),
        ("foreign", |file| foreign(file), "another program made it"),
        (
            "newer",
            |file| sql(file, "PRAGMA user_version = 6"),
            "newer rsalab (its schema is 6",
        ),
        (
            "older",
            |file| sql(file, "PRAGMA user_version = 0"),
            "no rsalab has written",
        ),
        ("cut", |file| cut(file, 2), "is damaged"),
        ("cut deep", |file| cut(file, 10), "is damaged"),
        ("overwritten", overwrite, "is damaged"),
        (
            "bad plan",
            |file| sql(file, "UPDATE cell SET job_json = '{}'"),
            "holds a cell that cannot be read",
        ),
        (
            "no plan",
            |file| sql(file, "DELETE FROM study"),
            "holds a study that cannot be read",
        ),
    ];
    for (name, harm, words) in rows {
        let directory = tempfile::tempdir().unwrap();
        drop(smoke(directory.path()));
        harm(&directory.path().join(FILE));
        for open in [Store::open, Store::view] {
            let read = |store: Store| store.study().and(store.groups()).map(drop);
            let error = open(directory.path()).and_then(read).expect_err(name);
            let message = error.to_string();
            assert!(message.contains(words), "{name}: {message}");
            assert_eq!(Error::from(error).class(), ErrorClass::Database, "{name}");
        }
    }
}

/// SQLite's own words for all of these are that the database cannot be opened.
#[test]
fn what_keeps_a_database_from_being_opened_is_told_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("place");
    drop(smoke(&place));
    fs::create_dir(place.join(format!("{FILE}-wal"))).unwrap();
    let error = Store::view(&place).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("study.db-wal: is a directory"), "{message}");
    assert_eq!(Error::from(error).class(), ErrorClass::InputOutput);

    // SQLite gives up on paths that the system has no trouble with.
    let deep = (0..60).fold(directory.path().to_owned(), |path, _| path.join("ten_letters"));
    let error = Study::create(&deep, &Preset::Smoke.plan(&host()), &host(), "c").unwrap_err();
    assert!(error.to_string().contains("invalid filename"), "{error}");
    assert_eq!(error.class(), ErrorClass::InputOutput);
    assert!(!directory.path().join("ten_letters").exists(), "nothing is left of it");
}

#[test]
fn a_file_in_the_way_is_input_or_output() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = Study::create(&file.join("study"), &Preset::Smoke.plan(&host()), &host(), "c").unwrap_err();
    assert_eq!(error.class(), ErrorClass::InputOutput, "{error}");
}

/// A part of a study in which nothing is supported, with a session on each of these CPUs.
fn part_of_study(place: &Path, number: u64, cpus: &[&str]) {
    let plan = Plan {
        seed: Some(Seed([7; 32])),
        ..Preset::Smoke.plan(&host())
    };
    let of_two = Part { number, of: 2 };
    let mut study = Study::create_part(place, &plan, &host(), "a test", Some(of_two)).unwrap();
    let store = study.store_mut();
    for cpu in cpus {
        let mut machine = support::MACHINE.clone();
        machine.cpu_model = Fact::Known((*cpu).to_owned());
        let start = SessionStart {
            machine: &machine,
            warnings: &[],
        };
        store.begin_session(&start).unwrap();
    }
    let groups = store.own_groups().unwrap();
    for cell in groups.iter().flat_map(|group| &group.cells) {
        store.refuse_cell(cell.id, "no such thing").unwrap();
    }
    drop(study);
    let (bytes, sha256) = part::digest(&place.join(FILE)).unwrap();
    let manifest = Manifest {
        rsalab_part: Manifest::VERSION,
        work: Work::Study,
        part: of_two,
        plan_sha256: part::plan_digest(plan.to_toml().as_bytes()),
        program_version: "1".to_owned(),
        cpu: cpus.last().map(|cpu| (*cpu).to_owned()).unwrap_or_default(),
        system: String::new(),
        insecure_seed: plan.seed.map(|seed| seed.to_string()),
        items: 0,
        bytes,
        sha256,
    };
    fs::write(place.join(PART_FILE), serde_json::to_vec(&manifest).unwrap()).unwrap();
}

#[test]
fn a_part_that_went_on_with_another_cpu_is_not_merged() {
    let directory = tempfile::tempdir().unwrap();
    let [one, two, mixed, whole] = ["one", "two", "mixed", "whole"].map(|name| directory.path().join(name));
    part_of_study(&one, 1, &["A", "A"]);
    part_of_study(&two, 2, &["A"]);
    part_of_study(&mixed, 2, &["A", "B"]);
    let error = Store::merge(&[one.clone(), mixed], &whole, "a test").unwrap_err();
    let is_of_both = matches!(&error, MergeError::Cpu(_, a, _, b) if a == "A" && b == "B");
    assert!(is_of_both, "{error}");
    assert!(!whole.exists());
    Store::merge(&[one, two], &whole, "a test").unwrap();
    assert_eq!(Store::view(&whole).unwrap().sessions().unwrap().len(), 3);
}

fn noise() -> Vec<u8> {
    // A linear congruential generator: any bytes that are no header will do.
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..100_000).map(|_| next()).collect()
}

fn foreign(file: &Path) {
    fs::remove_file(file).unwrap();
    sql(file, "CREATE TABLE photographs (id INTEGER)");
}

fn sql(file: &Path, text: &str) {
    rusqlite::Connection::open(file).unwrap().execute_batch(text).unwrap();
}

fn cut(file: &Path, divisor: u64) {
    let handle = fs::OpenOptions::new().write(true).open(file).unwrap();
    handle.set_len(handle.metadata().unwrap().len() / divisor).unwrap();
}

fn overwrite(file: &Path) {
    let mut handle = fs::OpenOptions::new().read(true).write(true).open(file).unwrap();
    handle.seek(SeekFrom::Start(4096)).unwrap();
    let mut page = vec![0; 8192];
    handle.read_exact(&mut page).unwrap();
    page.iter_mut().for_each(|byte| *byte ^= 0x5a);
    handle.seek(SeekFrom::Start(4096)).unwrap();
    handle.write_all(&page).unwrap();
}
