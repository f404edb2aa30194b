//! A store comes back as it was saved; one that was changed is refused.

use sha2::{Digest, Sha256};

use super::{manifest::FILE, *};
use crate::record::{Record, Used, Where};

fn saved(number: u64, is_known: bool) -> Saved {
    let modulus = [&[0xc0 | number as u8; 40][..], &number.to_be_bytes(), &[1]].concat();
    let record = |e: u8, place| Record {
        n: modulus.clone(),
        e: vec![e],
        uses: vec![Used {
            document: 0,
            file: format!("file {}", number % 3).into(),
            form: "a modulus".into(),
            place,
        }],
    };
    let mut records = vec![record(3, Where::Line(number))];
    if number.is_multiple_of(5) {
        let is_even = number.is_multiple_of(2);
        records.push(record(5, if is_even { Where::Whole } else { Where::Row(number) }));
    }
    (Sha256::digest(&modulus).into(), records, is_known)
}

fn made(folder: &Path) -> (Vec<Record>, Store) {
    let all = (0..30).map(|number| saved(number, false));
    let store = Store::create(folder, all, vec![[9; 32]], 1).expect("there is room");
    ((0..30).flat_map(|number| saved(number, false).1).collect(), store)
}

fn records(store: &Store) -> Result<Vec<Record>, AuditError> {
    let mut all = Vec::new();
    for block in store.blocks() {
        all.extend(block?.records);
    }
    Ok(all)
}

#[test]
fn keys_are_saved_and_added_to() {
    let here = tempfile::tempdir().expect("a folder");
    let folder = here.path().join("store");
    let (mut expected, mut store) = made(&folder);
    assert_eq!((store.keys(), store.moduli()), (36, 30));
    assert_eq!(records(&store).expect("whole"), expected);
    assert!(matches!(
        Store::create(&folder, std::iter::empty(), Vec::new(), 1),
        Err(AuditError::Exists(_))
    ));
    let more = || [saved(3, true), saved(77, false)].into_iter();
    let mut other = Store::open(&folder).expect("it is one");
    store.add(more(), vec![[8; 32]], 1).expect("there is room");
    expected.extend(more().flat_map(|(_, records, _)| records));
    let again = Store::open(&folder).expect("it is one");
    assert_eq!(records(&again).expect("whole"), expected);
    assert_eq!((again.keys(), again.moduli()), (38, 31));
    assert!(again.has_shared(&[9; 32]) && again.has_shared(&[8; 32]) && !again.has_shared(&[7; 32]));
    let product = |store: &Store| {
        let all = store
            .blocks()
            .map(|block| block.and_then(|block| block.product()).expect("whole"));
        all.map(|product| product.common_factor(&saved(77, false).1[0].n))
            .collect::<Vec<_>>()
    };
    assert_eq!(product(&again)[1], Some(saved(77, false).1[0].n.clone()));
    // Keys that were not compared with those that came meanwhile are not added.
    assert!(matches!(other.add(more(), Vec::new(), 1), Err(AuditError::Busy(_))));
    // Nothing to add is no file.
    store.add(std::iter::empty(), Vec::new(), 1).expect("nothing");
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 4);
    assert_eq!(fs::read_dir(here.path()).expect("a folder").count(), 1);
}

/// A folder that may be written to and not read cannot be synced: what was added is there all the same. (Whoever may
/// read every folder, as root, sees nothing of it.)
#[test]
fn keys_are_added_to_a_folder_that_cannot_be_listed() {
    use std::os::unix::fs::PermissionsExt;
    let here = tempfile::tempdir().expect("a folder");
    let folder = here.path().join("store");
    let (mut expected, mut store) = made(&folder);
    let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).expect("it is this user's");
    mode(0o300);
    let added = store.add([saved(77, false)].into_iter(), Vec::new(), 1);
    mode(0o700);
    added.expect("there is room");
    expected.extend(saved(77, false).1);
    let again = Store::open(&folder).expect("it is one");
    assert_eq!(records(&again).expect("whole"), expected);
}

#[test]
fn what_was_changed_is_refused() {
    let here = tempfile::tempdir().expect("a folder");
    let folder = here.path().join("store");
    assert!(matches!(Store::open(&folder), Err(AuditError::NoStore(_))));
    made(&folder);
    let keys = folder.join("00000001.keys");
    let whole = fs::read(&keys).expect("it is there");
    let refused = || match Store::open(&folder).and_then(|store| records(&store)) {
        Err(AuditError::DamagedStore(path)) => assert_eq!(path, folder),
        other => panic!("{other:?}"),
    };
    for place in (0..whole.len()).step_by(13).chain([7, 8]) {
        let mut flipped = whole.clone();
        flipped[place] ^= 4;
        fs::write(&keys, flipped).expect("a file");
        refused();
    }
    for cut in [0, 1, 8, whole.len() - 1] {
        fs::write(&keys, &whole[..cut]).expect("a file");
        refused();
    }
    fs::remove_file(&keys).expect("it is there");
    refused();
    fs::write(&keys, &whole).expect("a file");
    let manifest = folder.join(FILE);
    let text = fs::read_to_string(&manifest).expect("it is there");
    let (line, _) = text.split_once('\n').expect("two lines");
    for place in 30..text.len() {
        let mut flipped = text.clone().into_bytes();
        flipped[place] ^= 1;
        fs::write(&manifest, flipped).expect("a file");
        assert!(Store::open(&folder).is_err(), "{place}");
    }
    fs::write(&manifest, line.replace("store\":1", "store\":2")).expect("a file");
    let error = Store::open(&folder).expect_err("another version").to_string();
    assert!(
        error.ends_with("is a saved tree of version 2, and this program reads version 1"),
        "{error}"
    );
    fs::write(&manifest, "{}").expect("a file");
    assert!(matches!(Store::open(&folder), Err(AuditError::NoStore(_))));
}
