//! The worker `rsalab-peer-libcrypto`.

use std::{ffi::OsString, path::PathBuf};

use rsalab_engines::{Limits, Location, Session, SessionError, Worker};
use rsalab_peer_libcrypto::LibcryptoEngine;

fn spawn(args: &[&str]) -> Result<Worker, SessionError> {
    let location = Location {
        engine: "libcrypto".to_owned(),
        program: PathBuf::from(env!("CARGO_BIN_EXE_rsalab-peer-libcrypto")),
        args: args.iter().map(OsString::from).collect(),
    };
    Worker::spawn(&location, Limits::default())
}

#[test]
fn a_missing_library_is_told_at_the_greeting() {
    let error = spawn(&["--library", "/no/such/libcrypto.so"])
        .err()
        .expect("there is no such library");
    assert!(matches!(error, SessionError::Fault(_)), "{error:?}");
    let message = error.to_string();
    assert!(
        message.starts_with("/no/such/libcrypto.so cannot be loaded: "),
        "{message}"
    );
}

#[test]
fn the_systems_library_greets_by_name_and_by_path() {
    use rsalab_engines::Engine;

    let info = match LibcryptoEngine::new(None) {
        Ok(engine) => engine.info(),
        Err(absent) => {
            eprintln!("SKIPPED: {absent}");
            return;
        }
    };
    assert_eq!(spawn(&[]).unwrap().info(), &info);
    if info.origin.starts_with('/') {
        assert_eq!(spawn(&["--library", &info.origin]).unwrap().info(), &info);
    }
}
