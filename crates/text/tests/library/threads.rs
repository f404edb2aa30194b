//! A system that refuses threads: an error that says so, nothing half done, and nobody left waiting.
#![cfg(target_os = "linux")]

use std::{
    env,
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use rsalab_text::{BlockWorker, Error, Part, Reason, Threads, Work, WorkError, run};

/// Set in the process that is refused threads.
const IS_CHILD: &str = "RSALAB_TEST_THREADS";

/// This test again in a process of its own, with stacks of so many bytes and, if asked, so many bytes of addresses in
/// all.
fn again(test: &str, stack: u64, addresses: Option<u64>) -> Output {
    let this = env::current_exe().unwrap();
    let mut command = match addresses {
        None => Command::new(&this),
        Some(bytes) => {
            let mut command = Command::new("prlimit");
            command.arg(format!("--as={bytes}")).arg(&this);
            command
        }
    };
    command
        .args([
            "--exact",
            &format!("threads::{test}"),
            "--nocapture",
            "--test-threads=1",
        ])
        .env(IS_CHILD, "1")
        .env("RUST_MIN_STACK", stack.to_string())
        .output()
        .expect("it starts")
}

#[track_caller]
fn assert_passed(output: &Output) {
    let said = [&output.stdout[..], &output.stderr[..]].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

static WORKED: AtomicUsize = AtomicUsize::new(0);

struct Counting;

impl BlockWorker for Counting {
    type Error = Error;

    fn work(&mut self, _: usize, _: &[u8], _: &mut [u8]) -> Result<(), Error> {
        WORKED.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

fn four_threads() -> WorkError<Error> {
    let work = Work {
        input: &[7; 40],
        input_block: 1,
        output_len: 40,
        output_block: 1,
    };
    let done = run(work, Threads::unpinned(4), |_: &Part| Ok(Counting));
    done.map(drop).expect_err("there are no threads for it")
}

#[test]
fn no_thread_at_all_is_an_error_of_its_own() {
    if env::var_os(IS_CHILD).is_none() {
        // No system has so many addresses.
        return assert_passed(&again("no_thread_at_all_is_an_error_of_its_own", 1 << 60, None));
    }
    let error = Error::from(four_threads());
    assert!(matches!(error, Error::Threads { .. }), "{error}");
    assert!(
        error.to_string().starts_with("a thread could not be started: "),
        "{error}"
    );
}

#[test]
fn threads_that_wait_for_one_that_never_comes_are_sent_away() {
    if env::var_os(IS_CHILD).is_none() {
        // Room for two stacks.
        let output = again(
            "threads_that_wait_for_one_that_never_comes_are_sent_away",
            1 << 30,
            Some(5 << 29),
        );
        return assert_passed(&output);
    }
    let WorkError::Workers(failures) = four_threads() else {
        panic!("the work is laid out well")
    };
    let refused = |reason: &Reason<Error>| matches!(reason, Reason::NotStarted(_));
    let waited = |reason: &Reason<Error>| matches!(reason, Reason::NotReleased);
    assert_eq!(failures.len(), 4);
    // The test itself may run on a thread that takes one of the two.
    let started = failures.iter().take_while(|failure| waited(&failure.reason)).count();
    assert!((1..3).contains(&started), "{failures:?}");
    let others = &failures[started..];
    assert!(others.iter().all(|failure| refused(&failure.reason)), "{failures:?}");
    assert_eq!(WORKED.load(Ordering::SeqCst), 0, "blocks that nobody wants");
}
