//! The report as Markdown, for where a page cannot be.

use std::fmt::{self, Write};

use super::{
    model::{Group, Report, Row},
    overview::{Overview, OverviewCell},
    quantity,
    review::{Review, Table},
    words,
};
use crate::number;

/// The whole report, with its figures as links to the files beside it.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    write(&mut text, report).expect("a string takes all that is written to it");
    text
}

fn write(text: &mut String, report: &Report) -> fmt::Result {
    writeln!(
        text,
        "# {}\n\n{}\n",
        escaped(&report.title),
        words::status(report)
    )?;
    for finding in &report.findings {
        writeln!(text, "- {}", escaped(&finding.sentence))?;
    }
    for article in &report.articles {
        review(text, article)?;
    }
    if !report.figures.is_empty() {
        writeln!(text, "\n## Figures\n")?;
    }
    for figure in &report.figures {
        writeln!(
            text,
            "![{}](figures/{}.svg)\n",
            escaped(&figure.description),
            figure.id
        )?;
    }
    if !report.overviews.is_empty() {
        writeln!(text, "\n## Overview")?;
    }
    for overview in &report.overviews {
        overview_table(text, overview)?;
    }
    writeln!(text, "\n## Tables")?;
    report
        .groups
        .iter()
        .try_for_each(|group| table(text, group))?;
    let troubles = words::troubles(report);
    if !troubles.is_empty() {
        writeln!(text, "\n## Without a figure\n")?;
    }
    for trouble in troubles {
        let line = format!(
            "**{}**, {}: {}. {}",
            trouble.engine,
            trouble.job,
            trouble.state,
            escaped(&trouble.reason)
        );
        writeln!(text, "- {line}")?;
    }
    writeln!(text, "\n## Method\n")?;
    report
        .method
        .iter()
        .try_for_each(|paragraph| writeln!(text, "{paragraph}\n"))?;
    writeln!(text, "## Environment\n")?;
    if let Some(session) = report.sessions.first() {
        writeln!(text, "| | |\n|---|---|")?;
        session
            .machine
            .iter()
            .try_for_each(|(name, value)| writeln!(text, "| {name} | {} |", escaped(value)))?;
        writeln!(text)?;
    }
    for session in words::sessions(report) {
        writeln!(text, "- {session}")?;
    }
    for warning in words::warnings(report) {
        writeln!(text, "- Warning: {}", escaped(&warning))?;
    }
    writeln!(
        text,
        "\n## Commands\n\n    {}\n    {}\n",
        report.command, report.report_command
    )?;
    writeln!(
        text,
        "Seed of its keys and inputs, insecure on purpose: `{}`",
        report.insecure_seed
    )
}

/// The claims of an article, and every comparison behind them.
fn review(text: &mut String, article: &Review) -> fmt::Result {
    writeln!(text, "\n## Article ({}): {}\n", article.id, article.title)?;
    writeln!(
        text,
        "{}. Its machine: {}.",
        article.source, article.machine
    )?;
    for table in &article.tables {
        beside(text, table)?;
    }
    writeln!(text, "\n### Claims\n")?;
    writeln!(text, "| claim | published | here |\n|---|---|---|")?;
    for claim in &article.claims {
        writeln!(
            text,
            "| {} {} | {} | {} |",
            claim.numeral(),
            claim.claim,
            claim.published,
            escaped(&claim.outcome())
        )?;
    }
    for claim in &article.claims {
        writeln!(text, "\n### {} {}\n", claim.numeral(), claim.claim)?;
        writeln!(text, "{}\n", claim.computed)?;
        for case in &claim.cases {
            let sentence = format!("{}, {}: {}", case.engine, case.case, case.sentence);
            let verdict = case.verdict.words();
            writeln!(text, "- {} – **{verdict}**", escaped(&sentence))?;
        }
    }
    writeln!(text)?;
    article
        .remarks
        .iter()
        .try_for_each(|remark| writeln!(text, "{}\n", escaped(remark)))
}

/// A table of an article, each number of ours above the printed one.
fn beside(text: &mut String, table: &Table) -> fmt::Result {
    writeln!(text, "\n### {}\n", words::table_title(table))?;
    let cells = |cells: &mut dyn Iterator<Item = String>| {
        cells
            .map(|cell| format!(" {} |", escaped(&cell)))
            .collect::<String>()
    };
    writeln!(
        text,
        "| {} |{}",
        table.row_head,
        cells(&mut table.columns.iter().cloned())
    )?;
    writeln!(text, "|---|{}", "---:|".repeat(table.columns.len()))?;
    for row in &table.rows {
        let words = &mut row.cells.iter().map(|cell| {
            let (ours, published) = words::beside(cell);
            match published {
                Some(published) => format!("{ours}; {published}"),
                None => ours,
            }
        });
        writeln!(text, "| {} |{}", escaped(&row.label), cells(words))?;
    }
    writeln!(text)?;
    table
        .reason
        .iter()
        .chain(&table.remarks)
        .try_for_each(|remark| writeln!(text, "{}\n", escaped(remark)))
}

/// Engines down, sizes across.
fn overview_table(text: &mut String, overview: &Overview) -> fmt::Result {
    writeln!(text, "\n### {} ({})\n", overview.title, overview.unit)?;
    let columns = |of: &dyn Fn(&usize) -> String| overview.bits.iter().map(of).collect::<String>();
    writeln!(
        text,
        "| engine |{}",
        columns(&|bits| format!(" {bits} bits |"))
    )?;
    writeln!(text, "|---|{}", columns(&|_| "---:|".to_owned()))?;
    for row in &overview.rows {
        let cells: Vec<String> = row.cells.iter().map(OverviewCell::text).collect();
        writeln!(text, "| {} | {} |", row.engine, cells.join(" | "))?;
    }
    writeln!(text, "\n{}\n", words::OVERVIEW)?;
    for (index, reason) in overview.reasons.iter().enumerate() {
        writeln!(text, "{}. {}", index + 1, escaped(reason))?;
    }
    Ok(())
}

fn table(text: &mut String, group: &Group) -> fmt::Result {
    writeln!(text, "\n### {}\n", group.title)?;
    let unit = quantity::unit(&group.job);
    let base = group.base().map_or("the first", |row| row.engine.as_str());
    writeln!(
        text,
        "| engine | speed ({unit}) | ratio to {base} | time of one | conditions and remarks |"
    )?;
    writeln!(text, "|---|---:|---:|---:|---|")?;
    group.rows.iter().try_for_each(|row| line(text, group, row))
}

fn line(text: &mut String, group: &Group, row: &Row) -> fmt::Result {
    let Some(figures) = &row.figures else {
        let reason = row.reason.as_deref().unwrap_or_default();
        return writeln!(
            text,
            "| {} | {} | | | {} |",
            row.engine,
            row.state,
            escaped(reason)
        );
    };
    let speed = quantity::speed(&group.job, &figures.ops_per_s);
    let ratio = row
        .ratio
        .as_ref()
        .map(|ratio| number::with_interval(&ratio.to_first))
        .unwrap_or_default();
    let (time, time_interval) = number::duration_and_interval(&figures.ns_per_op);
    let mut remarks: Vec<String> = row.ledger.iter().map(words::conditions).collect();
    if let Some(ratio) = row
        .ratio
        .as_ref()
        .filter(|ratio| !ratio.differs_in.is_empty())
    {
        remarks.push(format!("not the same job: {}", ratio.differs_in.join(", ")));
    }
    remarks.extend(words::luck(group, row));
    remarks.extend(row.notes.iter().cloned());
    writeln!(
        text,
        "| {} | {} | {ratio} | {time} {time_interval} | {} |",
        row.engine,
        number::with_interval(&speed),
        escaped(&remarks.join("; "))
    )
}

/// Text that came from outside, kept from meaning something in Markdown and on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => escaped.push(' '),
            '|' | '*' | '`' | '<' | '>' | '[' | ']' | '\\' => {
                escaped.push('\\');
                escaped.push(character);
            }
            _ => escaped.push(character),
        }
    }
    escaped
}
