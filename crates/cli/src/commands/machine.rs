//! `rsalab machine`: what is measured on, what would disturb it, and what can be told apart.

use rsalab_measure::{Machine as Description, busy_warnings};
use serde::Serialize;

use super::calibrate;
use crate::{
    arguments::Machine,
    exit::Failure,
    output::{self, Talk},
    table::{Align, Table},
};

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    machine: &'a Description,
    /// Sentences about what would disturb a measurement that began now.
    warnings: &'a [String],
}

/// Describes the machine; what disturbs it is said on standard error.
pub(crate) fn run(arguments: &Machine, talk: Talk) -> Result<(), Failure> {
    if arguments.calibrate {
        return calibrate::run(&arguments.calibration, arguments.json.json, talk);
    }
    let machine = Description::describe();
    let warnings = busy_warnings(&machine);
    if arguments.json.json {
        return output::json(&Report {
            machine: &machine,
            warnings: &warnings,
        });
    }
    let mut table = Table::new([("machine", Align::Left), ("", Align::Left)]);
    for (name, value) in machine.rows() {
        table.row([name.to_owned(), value]);
    }
    output::report(&table.render())?;
    for warning in &warnings {
        talk.say(format_args!("warning: {warning}"));
    }
    Ok(())
}
