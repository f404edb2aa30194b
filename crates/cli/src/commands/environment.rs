//! Needs of every measurement: an optimised program, workers, and the machine as it is now.

use std::time::Duration;

use rsalab_engines::{Limits, OPTIMISED};
use rsalab_study::run::{Environment, Workers};

use super::selection::registry;
use crate::{
    arguments::MeasureOptions,
    exit::{Class, Failure, Result},
    output::Log,
    steps,
};

/// Starts workers, and kills those that do not answer. An unoptimised program measures itself slow, and its peers not:
/// it starts none.
pub(super) fn workers(options: &MeasureOptions) -> Result<Workers> {
    if !OPTIMISED && !options.allow_unoptimised {
        let what = "this rsalab was built without optimisation, so its results would mean nothing";
        return Err(Failure::new(Class::Usage, what)
            .advice("build it with 'cargo build --release', or add --allow-unoptimised, and the results will say so"));
    }
    let usual = Limits::default();
    let patience = Duration::from_secs_f64(options.give_up_after);
    Ok(Workers {
        registry: registry()?,
        limits: Limits {
            reply: usual.reply.min(patience),
            work: patience,
        },
    })
}

/// The machine as it is now, which takes a moment to find out.
pub(super) fn environment<'a>(workers: &'a Workers, options: &MeasureOptions) -> Environment<'a> {
    let environment = Environment {
        allow_unoptimised: options.allow_unoptimised,
        ..Environment::of_this_machine(workers)
    };
    steps::ended(|| "machine: described".to_owned());
    environment
}

/// As [`environment`], and prints what would disturb a measurement.
pub(super) fn environment_with_warnings<'a>(
    workers: &'a Workers,
    options: &MeasureOptions,
    log: Log,
) -> Environment<'a> {
    let environment = environment(workers, options);
    for warning in &environment.warnings {
        log.note(format_args!("warning: {warning}"));
    }
    environment
}
