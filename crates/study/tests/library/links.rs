//! Names in a study's directory that are taken by links, FIFOs and other people's files: nothing outside the directory
//! is changed, nothing is waited for, and the error names the file.
#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Duration,
};

use rsalab_study::{
    Error, ErrorClass, Study, articles,
    plan::{Host, Preset},
    report,
    store::{FILE, LOCK_FILE, Store, StoreError},
};
use rustix::fs::{CWD, FileType, Mode};

use crate::support;

const PRECIOUS: &str = "somebody's only copy";

fn host() -> Host {
    support::host(&["own", "gmp"], 2)
}

fn smoke(directory: &Path) -> Result<Study, Error> {
    Study::create(directory, &Preset::Smoke.plan(&host()), &host(), "rsalab study smoke")
}

fn fifo(path: &Path) {
    rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).expect("a FIFO can be made");
}

/// A folder with a precious file in it, and beside it the directory of a study.
fn places() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (precious, study) = (folder.path().join("precious"), folder.path().join("study"));
    fs::write(&precious, PRECIOUS).unwrap();
    (folder, precious, study)
}

/// The value that `act` returns, if it does so within a reasonable time.
fn in_time<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, awaited) = mpsc::channel();
    thread::spawn(move || done.send(act()));
    awaited
        .recv_timeout(Duration::from_secs(20))
        .expect("it waits for ever")
}

/// Every way to open the study, each as an error's class and words; none where it is opened.
fn openings(study: &Path) -> Vec<Option<(ErrorClass, String)>> {
    let told = |error: StoreError| {
        let message = error.to_string();
        (Error::from(error).class(), message)
    };
    let (writer, reader) = (study.to_owned(), study.to_owned());
    let opened = [
        in_time(move || Store::open(&writer).err()),
        in_time(move || Store::view(&reader).err()),
    ];
    opened.into_iter().map(|error| error.map(told)).collect()
}

#[track_caller]
fn assert_refused(opening: Option<&(ErrorClass, String)>, name: &str, words: &str) {
    let (class, message) = opening.expect("it was opened");
    assert_eq!(*class, ErrorClass::InputOutput, "{message}");
    assert!(
        message.contains(name) && message.contains(words),
        "no '{words}' in: {message}"
    );
}

#[test]
fn a_lock_that_is_something_else_is_left_as_it_is() {
    type Take = fn(&Path, &Path);
    let rows: &[(Take, &str)] = &[
        (|lock, precious| symlink(precious, lock).unwrap(), "symbolic link"),
        (|lock, precious| fs::hard_link(precious, lock).unwrap(), "hard link"),
        (|lock, _| fifo(lock), "not a regular file"),
        (|lock, _| fs::create_dir(lock).unwrap(), "not a regular file"),
        (|lock, _| fs::write(lock, PRECIOUS).unwrap(), "no lock"),
    ];
    for (take, words) in rows {
        // Before there is a study, and when there is one.
        for is_made in [false, true] {
            let (_folder, precious, study) = places();
            match is_made {
                true => {
                    drop(smoke(&study).unwrap());
                    fs::remove_file(study.join(LOCK_FILE)).unwrap();
                }
                false => fs::create_dir(&study).unwrap(),
            }
            let lock = study.join(LOCK_FILE);
            take(&lock, &precious);
            let kind = lock.symlink_metadata().unwrap().file_type();
            let error = match is_made {
                true => openings(&study).swap_remove(0),
                false => {
                    let study = study.clone();
                    let error = in_time(move || smoke(&study).err());
                    error.map(|error| (error.class(), error.to_string()))
                }
            };
            assert_refused(error.as_ref(), LOCK_FILE, words);
            assert_eq!(fs::read_to_string(&precious).unwrap(), PRECIOUS, "{words}");
            assert_eq!(lock.symlink_metadata().unwrap().file_type(), kind, "{words}");
            if kind.is_file() {
                assert_eq!(fs::read_to_string(&lock).unwrap(), PRECIOUS, "{words}");
            }
        }
    }
}

#[test]
fn a_link_to_nothing_makes_nothing() {
    let (folder, _, study) = places();
    fs::create_dir(&study).unwrap();
    let target = folder.path().join("new");
    for name in [LOCK_FILE, FILE] {
        symlink(&target, study.join(name)).unwrap();
        assert!(smoke(&study).is_err(), "{name}");
        assert!(!target.exists(), "{name}");
        fs::remove_file(study.join(name)).unwrap();
    }
}

#[test]
fn a_database_of_another_directory_is_not_opened_through_a_link() {
    let (folder, _, study) = places();
    let other = folder.path().join("other");
    drop(smoke(&other).unwrap());
    fs::create_dir(&study).unwrap();
    symlink(other.join(FILE), study.join(FILE)).unwrap();
    let before = fs::read(other.join(FILE)).unwrap();
    for opening in openings(&study) {
        assert_refused(opening.as_ref(), FILE, "symbolic link");
    }
    assert_eq!(fs::read(other.join(FILE)).unwrap(), before);
    assert!(!study.join(LOCK_FILE).exists(), "a lock beside what is no study");

    // The directory may be a link: a person has named it.
    let linked = folder.path().join("linked");
    symlink(&other, &linked).unwrap();
    assert!(openings(&linked).iter().all(Option::is_none));

    // A copy made of hard links may be read, and is not written to.
    fs::remove_file(study.join(FILE)).unwrap();
    fs::hard_link(other.join(FILE), study.join(FILE)).unwrap();
    let openings = openings(&study);
    assert_refused(openings[0].as_ref(), FILE, "hard link");
    assert_eq!(openings[1], None);
}

#[test]
fn what_lies_beside_the_database_is_ours_or_refused() {
    type Take = fn(&Path, &Path);
    let rows: &[(Take, &str)] = &[
        (|file, precious| symlink(precious, file).unwrap(), "symbolic link"),
        (|file, precious| fs::hard_link(precious, file).unwrap(), "hard link"),
        (|file, _| fifo(file), "not a regular file"),
    ];
    for suffix in ["-wal", "-shm", "-journal"] {
        for (take, words) in rows {
            let (_folder, precious, study) = places();
            drop(smoke(&study).unwrap());
            let name = format!("{FILE}{suffix}");
            take(&study.join(&name), &precious);
            for opening in openings(&study) {
                assert_refused(opening.as_ref(), &name, words);
            }
            assert_eq!(fs::read_to_string(&precious).unwrap(), PRECIOUS, "{name}");
        }
    }
}

#[test]
fn a_report_is_not_written_through_a_link() {
    let (folder, precious, study) = places();
    let made = smoke(&study).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, study.join("figures")).unwrap();
    let error = report::write(&articles::report(made.store()).unwrap(), &study).unwrap_err();
    let told = Some((error.class(), error.to_string()));
    assert_refused(told.as_ref(), "figures", "symbolic link");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);

    // Files are replaced, whatever had their names; what a link led to stays.
    fs::remove_file(study.join("figures")).unwrap();
    symlink(&precious, study.join("results.csv")).unwrap();
    fifo(&study.join("results.json"));
    let page = in_time(move || report::write(&articles::report(made.store()).unwrap(), &study)).unwrap();
    let there = |name: &str| page.with_file_name(name).symlink_metadata().unwrap();
    assert!(there("results.csv").is_file() && there("results.json").is_file());
    assert_eq!(fs::read_to_string(&precious).unwrap(), PRECIOUS);
}
