//! `rsalab machine`: this machine, what would disturb a measurement on it, and its calibration.

use rsalab_measure::{Machine as Description, busy_warnings};
use serde::Serialize;

use super::calibrate;
use crate::{
    arguments::Machine,
    exit::Result,
    output::{self, Log},
    steps,
    table::Table,
};

/// Output of `--json`.
#[derive(Serialize)]
struct Report<'a> {
    machine: &'a Description,
    /// Sentences about what would disturb a measurement that began now.
    warnings: &'a [String],
}

/// Describes the machine. What would disturb a measurement is printed on standard error.
pub(crate) fn run(arguments: &Machine, log: Log) -> Result<()> {
    if arguments.calibrate {
        return calibrate::run(&arguments.calibration, arguments.json.json, log);
    }
    let machine = Description::describe();
    steps::ended(|| "machine: described".to_owned());
    let warnings = busy_warnings(&machine);
    steps::ended(|| "machine: looked for what would disturb a measurement".to_owned());
    if arguments.json.json {
        return output::json(&Report {
            machine: &machine,
            warnings: &warnings,
        });
    }
    output::report(
        &Table::of(&machine.rows())
            .left("machine", |(name, _)| (*name).to_owned())
            .left("", |(_, value)| value.clone())
            .render(),
    )?;
    for warning in &warnings {
        log.note(format_args!("warning: {warning}"));
    }
    Ok(())
}
