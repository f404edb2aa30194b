//! `rsalab completions`: what a shell needs to complete the command line.

use clap::CommandFactory;

use crate::{
    arguments::{Arguments, Completions},
    exit::Result,
    output,
};

/// Prints the completions of a shell.
pub(crate) fn run(completions: &Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(completions.shell, &mut Arguments::command(), "rsalab", &mut script);
    output::report_lines(&String::from_utf8_lossy(&script))
}
