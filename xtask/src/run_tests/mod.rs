//! `cargo xtask test`: builds the tests with one run of Cargo, and runs their programs side by side.
//!
//! | step | file |
//! |---|---|
//! | Cargo builds the programs and lists them | [`programs`] |
//! | a program starts when fewer tests run than keep the CPUs busy | [`side_by_side`] |
//! | the lines of the test harness | [`harness`] |
//! | a program's output is read: what passed, failed, was skipped, and how long each test took | [`outcome`] |
//! | the sums: the slowest tests, what was skipped, what failed | [`summary`] |

use std::{thread, time::Instant};

use anyhow::{Result, ensure};

use outcome::{Outcome, failure_of_all};
use side_by_side::Ended;

mod harness;
mod outcome;
mod programs;
mod side_by_side;
mod summary;

/// Which tests to build, and how to run them.
pub(crate) struct Request {
    /// Arguments for `cargo test`: packages, targets, features, a profile.
    pub(crate) build: Vec<String>,
    /// Arguments for each program: filters, `--ignored`.
    pub(crate) run: Vec<String>,
    /// Also runs the examples in documentation.
    pub(crate) doctests: bool,
}

/// Builds and runs, prints every output and the sums, and returns whether all tests passed.
pub(crate) fn run(request: &Request) -> Result<bool> {
    let cpus = thread::available_parallelism()?.get();
    let mut jobs = programs::build(&request.build, &request.run, cpus)?;
    ensure!(!jobs.is_empty(), "Cargo built no test program");
    if request.doctests {
        // First, since it compiles: it takes one CPU while the programs share the others.
        jobs.insert(0, programs::doctests(&request.build));
    }
    let began = Instant::now();
    let mut outcomes = Vec::new();
    // Many tests wait for a moment, a process or a disk, and would leave CPUs idle.
    let at_once = cpus + cpus.div_ceil(2);
    side_by_side::run(jobs, at_once, |ended: Ended| {
        let outcome = Outcome::of(ended);
        println!("\n==== {outcome}");
        print!("{}", outcome.output);
        outcomes.push(outcome);
    })?;
    print!("{}", summary::of(&outcomes, began.elapsed()));
    let all_passed = outcomes.iter().all(|outcome| outcome.failure().is_none());
    Ok(all_passed && failure_of_all(&outcomes).is_none())
}
