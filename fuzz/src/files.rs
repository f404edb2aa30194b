//! Files and lines of other programs, of strangers, and of a crash.

use std::{fs, path::PathBuf, sync::OnceLock};

use rsalab_audit::{Audit, Inventory, Options};
use rsalab_engines::{
    Op, Textbook,
    protocol::{Answer, Request},
    worker,
};
use rsalab_rsa::CpuBackend;
use rsalab_sealed::{Identity, Outline};
use rsalab_study::{
    part::{Manifest, check_set},
    plan::Plan,
    report,
    store::Store,
};
use rsalab_text::{Threads, container};

use crate::seeds::{host, key};

/// A folder of this process.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let folder = FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder"));
        folder.path().to_owned()
    })
}

/// A file with these bytes; one thread at a time uses a name.
fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let thread = format!("{:?}", std::thread::current().id());
    let path = folder().join(thread.replace(['(', ')'], "-") + name);
    fs::write(&path, bytes).expect("a file");
    path
}

/// A plan: as a text, and as a file if it begins with a comment or is no text.
pub(crate) fn plan(bytes: &[u8]) {
    match str::from_utf8(bytes) {
        Ok(text) if !text.starts_with('#') => match Plan::parse(text, &host()) {
            Ok(plan) => drop((plan.groups(&host()), serde_json::to_string(&plan))),
            Err(error) => assert!(!error.to_string().is_empty()),
        },
        _ => {
            if let Err(error) = Plan::read(&file("plan.toml", bytes), &host()) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// A report's `results.json`, compressed or not.
pub(crate) fn results(bytes: &[u8]) {
    let _ = report::read(&file("results.json", bytes));
}

/// The manifests of parts of a study, of keys, or of an audit, one a line.
pub(crate) fn part_manifest(bytes: &[u8]) {
    let part = file("part", b"part");
    let mut read = Vec::new();
    for text in bytes.split(|&byte| byte == b'\n').take(4) {
        let manifest = file("part.json", text);
        if let Ok(one) = Manifest::read(&part, &manifest) {
            let _ = one.check(&part, &manifest);
            let range = one.part.range(one.items);
            assert!(
                range.end() <= &one.items
                    && one.part.has(one.part.number - 1)
                    && one.part.to_string().parse() == Ok(one.part)
            );
            read.push((part.clone(), one));
        }
    }
    if let Err(error) = check_set(&read) {
        assert!(!error.to_string().is_empty());
    }
}

/// Lines of whoever talks to a worker, and of a worker. Jobs that are prepared are short: whoever starts a worker may
/// have it work for hours.
pub(crate) fn worker_lines(bytes: &[u8]) {
    let is_long = |line: &[u8]| match serde_json::from_slice(line) {
        Ok(Request::Prepare { job, .. }) => {
            matches!(job.op, Op::Keygen | Op::PrimePair | Op::PrimeSearch)
                || job.bits > 512
                || job.batch > 4
                || job.threads > 1
                || job.symbols > 100
        }
        Ok(Request::Block { plan }) => {
            plan.discard_ns > 1000
                || plan.min_ns > 1000
                || plan.max_samples > 10
                || plan.calls.is_some_and(|calls| calls > 3)
        }
        _ => false,
    };
    let lines = || bytes.split(|&byte| byte == b'\n');
    for line in lines() {
        if let Ok(answer) = serde_json::from_slice::<Answer>(line) {
            let written = serde_json::to_vec(&answer).expect("answers are written");
            assert_eq!(serde_json::from_slice::<Answer>(&written).expect("and read"), answer);
            assert!(!answer.name().is_empty());
            if let Answer::Error(fault) = answer {
                assert_eq!(fault.to_string(), fault.message);
            }
        }
        if let Ok(request) = serde_json::from_slice::<Request>(line) {
            let written = serde_json::to_vec(&request).expect("requests are written");
            assert_eq!(serde_json::from_slice::<Request>(&written).expect("and read"), request);
            assert!(!request.name().is_empty() && !format!("{request:?}").is_empty());
            if let Request::Supports { job } | Request::Prepare { job, .. } = &request {
                assert!(!job.mode.name().is_empty());
            }
        }
    }
    if !lines().any(is_long) {
        let (mut requests, mut answers) = (bytes, Vec::new());
        let _ = worker::serve(&Textbook, &mut requests, &mut answers);
    }
}

/// An encrypted text, as `rsalab text` writes it.
pub(crate) fn text_container(bytes: &[u8]) {
    if container::Header::parse(bytes).is_ok() {
        let _ = container::decrypt(&CpuBackend::auto(), key(), bytes, Threads::unpinned(1));
    }
}

/// A file in age's format, armored or not.
pub(crate) fn sealed_file(bytes: &[u8]) {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(|| Identity::new(key()).expect("it has room"));
    let _ = Outline::read(bytes);
    let mut message = Vec::new();
    let _ = rsalab_sealed::decrypt(identity, bytes, &mut message, 1);
    assert!(message.len() <= bytes.len());
}

/// Anything that an audit may find in a folder.
pub(crate) fn audit(bytes: &[u8]) {
    let options = Options {
        threads: 1,
        ..Options::default()
    };
    // The beginning decides what it is; the name does not.
    let path = file("input", bytes);
    let _ = Audit::new(&options).run(&Inventory::of(&[&path]), &mut |_| {});
}

/// The database of a study.
pub(crate) fn database(bytes: &[u8]) {
    let path = file("study.db", bytes);
    let folder = path.with_extension("folder");
    fs::create_dir_all(&folder).expect("a folder");
    fs::rename(&path, folder.join("study.db")).expect("a file");
    if let Ok(store) = Store::view(&folder) {
        read_all(&store);
        drop(store);
        // Whoever goes on with it brings it up to date.
        if let Ok(store) = Store::open(&folder) {
            read_all(&store);
        }
    }
    fs::remove_dir_all(&folder).expect("the folder is there");
}

fn read_all(store: &Store) {
    let _ = (store.check_integrity(), store.study(), store.part(), store.sessions());
    let _ = (store.sentinels(), store.own_groups(), store.has_open_cells());
    for group in store.groups().unwrap_or_default() {
        let _ = (
            store.blocks(group.id),
            store.interrupted_blocks(group.id),
            store.rounds_begun(group.id),
        );
    }
}
