//! Text that is printed of a study, and the command lines that a user may repeat.

use std::{collections::BTreeMap, env, path::Path};

use rsalab_measure::Estimate;
use rsalab_study::{
    VERSION, number,
    report::{Finding, Group, Report, Row},
    shell,
};
use serde::Serialize;

use crate::{
    arguments::{self, JsonOption},
    exit::Result,
    output,
    printable::printable,
    table::Table,
};

/// Output of `--json` about a study.
#[derive(Serialize)]
struct Summary {
    program_version: &'static str,
    directory: String,
    report: String,
    /// By state.
    cells: BTreeMap<String, usize>,
    /// Left out of every figure, because something outside kept the worker from running.
    interrupted_blocks: usize,
    findings: Vec<Finding>,
}

/// Prints the findings, and the path of the page with the rest.
pub(super) fn print(directory: &Path, report: Report, page: &Path, json: &JsonOption) -> Result<()> {
    if json.json {
        return output::json(&Summary {
            program_version: VERSION,
            directory: directory.display().to_string(),
            report: page.display().to_string(),
            cells: report.counts,
            interrupted_blocks: report
                .groups
                .iter()
                .flat_map(|group| &group.rows)
                .map(|row| row.interrupted_blocks)
                .sum(),
            findings: report.findings,
        });
    }
    let mut text = rankings(&report);
    for finding in &report.findings {
        text += &printable(&finding.sentence);
        text.push('\n');
    }
    text += &format!("report: {}\n", printable(&page.display().to_string()));
    output::report(&text)
}

/// Prints which Markdown file has the speeds, where nothing else was made.
pub(super) fn print_into(arguments: &arguments::Report) -> Result<()> {
    #[derive(Serialize)]
    struct Into {
        into: Option<String>,
    }
    let into = arguments.into.as_ref().map(|file| file.display().to_string());
    let text = into.as_deref().map(|file| format!("speeds: {}\n", printable(file)));
    output::print(arguments.json.json, &Into { into }, || text.unwrap_or_default())
}

/// The engines of each job by their speed, where these are few enough to be read in a terminal. An article's tables are
/// on the page.
fn rankings(report: &Report) -> String {
    const MOST: usize = 8;
    let is_ranked = |group: &&Group| group.article.is_none() && group.base().is_some();
    let groups: Vec<&Group> = report.groups.iter().filter(is_ranked).collect();
    if groups.len() > MOST {
        return String::new();
    }
    groups.into_iter().map(ranking).collect()
}

fn ranking(group: &Group) -> String {
    let mut rows = group.fastest_first();
    rows.retain(|row| row.figures.is_some());
    let speed = |row: &&Row, text: fn(&Estimate) -> String| {
        let figures = row.figures.as_ref();
        figures.map_or_else(String::new, |figures| text(&figures.ops_per_s))
    };
    let table = Table::of(&rows)
        .left("engine", |row| row.engine.clone())
        .right("per second", |row| speed(row, |it| number::significant(it.value)))
        .left("interval", |row| speed(row, number::interval))
        .render();
    format!("{}\n{table}\n", printable(&group.title))
}

/// A command about a study, to be pasted into a shell.
pub(super) fn line(command: &str, directory: &Path) -> String {
    format!("rsalab {command} {}", shell::operand(directory))
}

/// The command line, for the report.
pub(super) fn typed() -> String {
    let words: Vec<String> = env::args_os().skip(1).map(|word| shell::quoted(&word)).collect();
    format!("rsalab {}", words.join(" "))
}
