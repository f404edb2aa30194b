//! A worker that is given up because its coordinator was asked to stop.
#![cfg(unix)]

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use rsalab_engines::{Limits, Location, SessionError, Worker};

#[test]
fn a_wish_to_stop_ends_a_conversation_that_would_last() {
    let silent = Location {
        engine: "own".to_owned(),
        program: "sleep".into(),
        args: vec!["3600".into()],
    };
    let limits = Limits {
        reply: Duration::from_secs(3600),
        ..Limits::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let worker = thread::spawn({
        let stop = Arc::clone(&stop);
        move || Worker::spawn_until(&silent, limits, stop).err()
    });
    stop.store(true, Ordering::Relaxed);
    let error = worker.join().unwrap();
    assert!(
        matches!(&error, Some(SessionError::Stopped { request: "hello", .. })),
        "{error:?}"
    );
}
