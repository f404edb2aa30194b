//! Threads that ask side by side: answers are their own, and where the configuration wants it, they come of shared
//! passes.

#![allow(unsafe_code)]

use std::{fs, path::Path, thread};

use crate::support::{
    Here,
    crypto::{Loaded, Pkey},
};

/// Messages of each thread.
const ROUNDS: usize = 6;

/// Each thread encrypts messages of its own for the keys, in turns, and decrypts them.
fn round_trips(keys: &[Pkey<'_>], threads: usize) {
    thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let key = &keys[(thread + round) % keys.len()];
                    let message = format!("thread {thread}, message {round}");
                    let ciphertext = key.encrypt(&[], message.as_bytes()).unwrap();
                    let decrypted = key.decrypt(&[], &ciphertext).unwrap();
                    assert_eq!(String::from_utf8(decrypted).as_ref(), Ok(&message));
                }
            });
        }
    });
}

#[test]
fn threads_share_passes_where_they_are_to() {
    let Some(alone) = Loaded::new() else { return };
    round_trips(&[alone.new_key()], 4);
    let sizes: Vec<usize> = alone.batches().into_iter().map(|(size, _)| size).collect();
    assert_eq!(sizes, [1], "without the setting, each computes for itself");

    // So long that passes fill on a busy machine, too.
    let together = Loaded::with("share-wait = 50000").unwrap();
    let lanes = rsalab_rsa::Backend::lanes(&rsalab_rsa::CpuBackend::auto());
    let keys: Vec<_> = (0..3).map(|_| together.new_key()).collect();
    let threads = 2 * lanes + 1;
    round_trips(&keys[..1], threads);
    round_trips(&keys, threads);
    let batches = together.batches();
    let largest = batches.iter().map(|(size, _)| *size).max();
    // A kernel of one number has nothing to gain.
    assert_eq!(largest, Some(lanes.max(1)), "{batches:?}");
    // One thread has nobody to wait for, and is answered all the same.
    round_trips(&keys, 1);
    let batches = together.batches().into_iter();
    let answered: usize = batches.map(|(size, count)| size * count).sum();
    assert_eq!(answered, ROUNDS * (2 * threads + 1));
}

/// Without a time to wait, a thread waits for passes of others only: none is forgotten, whichever kernel and however
/// many CPUs there are.
#[test]
fn every_thread_is_answered() {
    let Some(loaded) = Loaded::with("share-threads = yes") else {
        return;
    };
    let keys: Vec<_> = (0..3).map(|_| loaded.new_key()).collect();
    for threads in [1, 2, 5, 40] {
        round_trips(&keys, threads);
    }
    let answered: usize = loaded.batches().into_iter().map(|(size, count)| size * count).sum();
    assert_eq!(answered, ROUNDS * (1 + 2 + 5 + 40));
}

#[test]
fn a_time_that_is_no_number_is_refused() {
    // A configuration with an error in it loads no provider of ours.
    let Some(here) = Here::with("share-wait = soon") else {
        return;
    };
    // OpenSSL has the reason in its queue of errors, and prints nothing.
    let providers = here.run(true, "list -providers");
    assert!(!providers.contains("rsalab"), "{providers}");
    assert!(providers.contains("OpenSSL Default Provider"));
}

/// A child of a fork has none of its parent's other threads, and waits for ever for one of them: `OnceLock` and
/// `LazyLock` wait for the thread that prepares what they hold, `once_cell::race` does not.
#[test]
fn nothing_waits_for_a_thread_that_prepares_it() {
    fn look_through(folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look_through(&path);
            } else {
                let source = fs::read_to_string(&path).unwrap();
                for waits in ["OnceLock", "LazyLock"] {
                    assert!(!source.contains(waits), "{waits} in {}", path.display());
                }
            }
        }
    }
    look_through(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
