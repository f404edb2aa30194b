//! Profiles from studies with a known truth.

use std::path::Path;

use rsalab_engines::Job;
use rsalab_measure::{Losses, Machine};
use rsalab_rsa::profile::{Cpu, Profile, Text};
use rsalab_study::{
    profile,
    store::{BlockRecord, TakenBlock},
};

use crate::support::{self, Planted, beginning, host};

const PLAN: &str = "title = \"Settings\"\n\
    [[grid]]\noperations = ['text_encrypt']\nengines = ['own', 'own:mont64x1_portable', 'gmp']\nbits = [1024]\n\
    threads = [1, 2, 4]\nsymbols = [100, 10_000]\n\
    [[grid]]\noperations = ['private']\nengines = ['own', 'gmp']\nbits = [2048]\nbatch = [1, 4, 8, 16]\n";

/// Nanoseconds of an operation. The portable kernel is the faster one for the long text; batches of eight and sixteen
/// are equally fast but for a per cent.
fn ns(engine: &str, job: &Job, slower: f64) -> f64 {
    let threads = job.threads as f64;
    match (engine, job.op.is_text()) {
        ("gmp", true) => 5e5,
        ("own", true) if job.symbols == 100 => 1e4 * threads,
        (_, true) if job.symbols == 100 => 2e4 * threads,
        ("own", true) => 1e6 / threads.min(2.0),
        (_, true) => slower * 0.8e6 / threads.min(2.0),
        ("gmp", false) => 1.2e4,
        _ => 1e5 / [1.0, 3.0, 5.0, 5.05][[1, 4, 8, 16].iter().position(|it| *it == job.batch).unwrap()],
    }
}

fn planted(directory: &Path, slower: f64) -> Planted {
    let present = ["own", "gmp"];
    let mut planted = Planted::on(&support::MACHINE, directory, PLAN, &host(&present, 4));
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            let ns = ns(&cell.engine, &cell.job, slower);
            planted.fill(&group, place, &beginning("own"), ns);
        }
    }
    planted
}

#[test]
fn the_best_settings_become_the_profile() {
    let directory = tempfile::tempdir().unwrap();
    let planted = planted(directory.path(), 1.0);
    let made = profile::of(planted.study.store(), false).unwrap();
    assert_eq!(made.disturbed, 0);
    let profile = &made.profile;
    assert_eq!(Profile::read(profile.to_json().as_bytes()).unwrap(), *profile);

    let short = profile.text(Text::Encrypt, 1024, 100).unwrap();
    assert_eq!((short.threads, short.kernel.as_deref()), (1, None));
    assert_eq!((short.engine.as_str(), short.unit.as_str()), ("own", "symbols/s"));
    // Four threads are no faster than two, so two.
    let long = profile.text(Text::Encrypt, 1024, 10_000).unwrap();
    assert_eq!((long.threads, long.kernel.as_deref()), (2, Some("mont64x1_portable")));
    // A batch of sixteen is faster by one per cent only.
    let private = profile.operation("private", 2048).unwrap();
    assert_eq!((private.batch, private.threads), (8, 1));
    assert!((private.call_ns / (8.0 * 2e4) - 1.0).abs() < 0.01, "{private:?}");
    assert_eq!(private.engine, "gmp");
    assert!((private.engine_times / (2e4 / 1.2e4) - 1.0).abs() < 0.01, "{private:?}");
    let delay = profile.delay(2048).unwrap();
    assert!((delay.as_nanos() as f64 / 1.6e5 - 1.0).abs() < 0.01, "{delay:?}");
}

/// The machine's identity in a study is the one that is read where the profile is used.
#[test]
fn a_machine_is_known_again() {
    assert_eq!(profile::described(&Machine::describe()), Cpu::of_this_machine());
}

#[test]
fn another_study_tells_how_good_the_settings_are() {
    let [one, another] = [1.0, 1.6].map(|slower| {
        let directory = tempfile::tempdir().unwrap();
        let planted = planted(directory.path(), slower);
        (directory, planted)
    });
    let profile = profile::of(one.1.study.store(), false).unwrap().profile;
    let same = profile::compared(&profile, one.1.study.store(), false).unwrap();
    assert!(same.iter().all(|one| one.share.value > 0.97), "{same:?}");
    // There the portable kernel is slower than the other one, for the long text.
    let compared = profile::compared(&profile, another.1.study.store(), true).unwrap();
    assert_eq!(compared.len(), 3);
    let long = compared.iter().find(|one| one.symbols == 10_000).unwrap();
    assert!((long.share.value - 1.0 / (0.8 * 1.6)).abs() < 0.01, "{long:?}");
    assert_eq!(
        (long.setting.as_str(), long.settings),
        ("2 threads, mont64x1_portable", 6)
    );
    assert!(long.fastest.starts_with("2 threads") || long.fastest.starts_with("4 threads"));
    let short = compared.iter().find(|one| one.symbols == 100).unwrap();
    assert_eq!(short.share.value, 1.0);
}

/// A fifth of the time of one cell was somebody else's: the best of the others would not be the best of all.
#[test]
fn an_operation_that_was_disturbed_has_no_setting_unless_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let plan = "[[grid]]\noperations = ['text_encrypt']\nengines = ['own']\nbits = [1024]\nthreads = [1, 2]\n\
                symbols = [100, 10_000]\n";
    let mut planted = Planted::on(&support::MACHINE, directory.path(), plan, &host(&["own"], 2));
    for group in planted.groups() {
        let cell = group.cells[0].clone();
        planted.begin(&cell, &beginning("own"));
        let is_disturbed = (cell.job.symbols, cell.job.threads) == (100, 1);
        for round in 0..6 {
            let record = BlockRecord {
                cell: cell.id,
                session: planted.session,
                taken: TakenBlock {
                    order_index: round as u64,
                    round,
                    worker_pid: Some(1),
                    report: support::block([10_000 * cell.job.threads as u64; 10]),
                    losses: is_disturbed.then_some(Losses {
                        wall_ns: 100_000_000,
                        cpu_ns: 80_000_000,
                        waited_ns: 20_000_000,
                        others_ns: Some(20_000_000),
                        cpus: 2,
                        ..Losses::default()
                    }),
                },
            };
            planted.study.store_mut().add_block(group.id, &record).unwrap();
        }
        planted.study.store_mut().complete_cell(cell.id, &[]).unwrap();
    }
    let store = planted.study.store();
    let made = profile::of(store, false).unwrap();
    assert_eq!(made.disturbed, 1);
    let lengths = |made: &profile::Made| -> Vec<usize> { made.profile.choices.iter().map(|it| it.symbols).collect() };
    assert_eq!(lengths(&made), [10_000]);
    assert_eq!(profile::compared(&made.profile, store, false).unwrap().len(), 1);
    let all = profile::of(store, true).unwrap();
    assert_eq!((all.disturbed, lengths(&all)), (1, vec![100, 10_000]));
    assert_eq!(all.profile.text(Text::Encrypt, 1024, 100).unwrap().threads, 1);
}
