//! Every instruction of a step of RSA is the same for different secrets, and so is every address, every count of a
//! shift, every dividend and divisor.
//!
//! A child process for each of some keys does the step once, the key prepared from its bytes; this process steps
//! through it, instruction by instruction, and compares what it sees (Wichelmann et al., *MicroWalk*, 2018, compares
//! such traces). The children are alike in all but the key and random numbers, which they get from here, such that none
//! has to be drawn again; their addresses are not randomized. What runs is what ships, on this machine, with every
//! kernel that it has: instructions, too, that valgrind does not know.
//!
//! | argument | what is done |
//! |---|---|
//! | none | each step with each kernel, keys of 512 bits, one of them of primes that are almost all zeros |
//! | `only PART` | the steps that have this in their names |
//! | `leak` | a branch, an address and a division that depend on a secret: all three must be reported |
//! | `child STEP KERNEL KEY` | what a child does |
//!
//! Exit code 9 if something differs, 3 where instructions cannot be stepped through.
#![forbid(unsafe_code)]

mod steps;
mod trace;

use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use rsalab_arith::{Kernel, kernels};
use steps::{LEAKS, STEPS, Step};
use trace::Outcome;

/// Traces of each step, of a key each.
const TRACES: usize = 3;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => each_step(""),
        ["only", part] => each_step(part),
        ["leak"] => each_leak(),
        ["child", step, kernel, key] => match (steps::named(step), Kernel::named(kernel), key.parse()) {
            (Some(step), Ok(kernel), Ok(key)) if key < TRACES => {
                steps::run(step, kernel, key);
                ExitCode::SUCCESS
            }
            _ => usage(),
        },
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!("rsalab-traces: give nothing, `only PART` or `leak`");
    ExitCode::from(2)
}

/// Prints a line of what a step's traces show; returns whether they are the same.
fn compare(step: &Step, kernel: &str) -> Result<bool, trace::Error> {
    let outcome = trace::compare(step.name, kernel, TRACES)?;
    let Outcome {
        instructions,
        addresses,
        different,
        timed,
    } = &outcome;
    for place in timed {
        println!(
            "{kernel}, {}: {place}, whose time may depend on operands that are not compared",
            step.name
        );
    }
    match different {
        None => println!(
            "{kernel}, {}: {instructions} instructions and {addresses} addresses, the same for {TRACES} keys",
            step.name
        ),
        Some(place) => println!("{kernel}, {}: {place}", step.name),
    }
    Ok(different.is_none() && timed.is_empty())
}

/// A thread for each CPU takes one step after the other.
fn each_step(part: &str) -> ExitCode {
    let mut jobs = Vec::new();
    for info in kernels().into_iter().filter(|info| !info.is_for_tests()) {
        if let Err(reason) = Kernel::named(info.name) {
            eprintln!("SKIPPED: {reason}");
            continue;
        }
        jobs.extend(
            STEPS
                .iter()
                .filter(|step| step.of_kernels)
                .map(|step| (step, info.name)),
        );
    }
    let any = Kernel::auto().name();
    jobs.extend(STEPS.iter().filter(|step| !step.of_kernels).map(|step| (step, any)));
    jobs.retain(|(step, _)| step.name.contains(part));
    if jobs.is_empty() {
        eprintln!("rsalab-traces: no step has {part:?} in its name");
        return ExitCode::from(2);
    }
    let jobs = Mutex::new(jobs.into_iter());
    let next = || jobs.lock().expect("no thread panics with it").next();
    let work = || {
        let mut same = true;
        while let Some((step, kernel)) = next() {
            same &= compare(step, kernel)?;
        }
        Ok(same)
    };
    let results: Vec<Result<bool, trace::Error>> = thread::scope(|scope| {
        let cpus = thread::available_parallelism().map_or(1, NonZero::get);
        let threads: Vec<_> = (0..cpus).map(|_| scope.spawn(work)).collect();
        let results = threads
            .into_iter()
            .map(|thread| thread.join().expect("no thread panics"));
        results.collect()
    });
    match results.into_iter().try_fold(true, |all, same| Ok(all & same?)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(9),
        Err(error) => stopped(&error),
    }
}

fn each_leak() -> ExitCode {
    for step in LEAKS {
        match compare(step, "mont64x1_portable") {
            Ok(false) => (),
            Ok(true) => {
                eprintln!("rsalab-traces: {} that is planted is not seen", step.name);
                return ExitCode::FAILURE;
            }
            Err(error) => return stopped(&error),
        }
    }
    ExitCode::from(9)
}

fn stopped(error: &trace::Error) -> ExitCode {
    eprintln!("rsalab-traces: {error}");
    match error {
        trace::Error::Stepping(_) => ExitCode::from(3),
        _ => ExitCode::FAILURE,
    }
}
