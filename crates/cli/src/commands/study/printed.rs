//! Text that is printed of a study, and the command lines that a user may repeat.

use std::{collections::BTreeMap, env, path::Path};

use rsalab_engines::Job;
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
    /// Of all jobs but those of articles, whose tables are in the report's own JSON.
    rankings: Vec<Ranking>,
    findings: Vec<Finding>,
}

/// The engines of a job, the fastest first.
#[derive(Serialize)]
struct Ranking {
    title: String,
    job: Job,
    engines: Vec<Ranked>,
}

#[derive(Serialize)]
struct Ranked {
    engine: String,
    ops_per_s: Estimate,
}

impl Ranking {
    fn of(group: &Group) -> Ranking {
        let ranked = |row: &Row| {
            Some(Ranked {
                engine: row.engine.clone(),
                ops_per_s: row.figures.as_ref()?.ops_per_s,
            })
        };
        Ranking {
            title: group.title.clone(),
            job: group.job.clone(),
            engines: group.fastest_first().into_iter().filter_map(ranked).collect(),
        }
    }
}

/// Prints the findings, and the path of the page with the rest.
pub(super) fn print(directory: &Path, report: Report, page: &Path, json: &JsonOption) -> Result<()> {
    let rankings: Vec<Ranking> = ranked(&report).map(Ranking::of).collect();
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
            rankings,
            findings: report.findings,
        });
    }
    let mut text = shown(&rankings);
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

/// Jobs whose engines are ranked. An article's tables are on the page.
fn ranked(report: &Report) -> impl Iterator<Item = &Group> {
    let is_ranked = |group: &&Group| group.article.is_none() && group.base().is_some();
    report.groups.iter().filter(is_ranked)
}

/// Tables of the rankings, where these are few enough to be read in a terminal.
fn shown(rankings: &[Ranking]) -> String {
    const MOST: usize = 8;
    if rankings.len() > MOST {
        return String::new();
    }
    let table = |ranking: &Ranking| {
        let table = Table::of(&ranking.engines)
            .left("engine", |ranked| ranked.engine.clone())
            .right("per second", |ranked| number::significant(ranked.ops_per_s.value))
            .left("interval", |ranked| number::interval(&ranked.ops_per_s))
            .render();
        format!("{}\n{table}\n", printable(&ranking.title))
    };
    rankings.iter().map(table).collect()
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
