//! A table of speeds at one key size for a Markdown file, such as a README: engines down, operations across. It stands
//! between two lines of the file, of which the first says what it shows:
//!
//! ```text
//! <!-- rsalab speeds 2048 private public keygen -->
//! <!-- rsalab end -->
//! ```

use std::{cmp::Ordering, fs, path::Path};

use rsalab_engines::Op;

use super::{
    group::{Group, Row},
    model::Report,
    names, replace,
    template::as_markdown,
    words,
};
use crate::{
    distinct::distinct,
    error::Error,
    number,
    plan::{Dimension, title_without},
};

const BEGIN: &str = "<!-- rsalab speeds ";
const END: &str = "<!-- rsalab end -->";

/// Replaces every table of speeds in a Markdown file by one of this report, or nothing if one of them cannot be made.
///
/// # Errors
/// The file cannot be read or written; it has no line that asks for a table; or it asks for what the report does not
/// have.
pub fn put_speeds(report: &Report, path: &Path) -> Result<(), Error> {
    // A link stays one: the file behind it is replaced.
    let path = fs::canonicalize(path).map_err(Error::io(path))?;
    let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
    let text = with_speeds(report, &text).map_err(|reason| Error::Markdown {
        path: path.clone(),
        reason,
    })?;
    let (directory, name) = (path.parent(), path.file_name().and_then(|name| name.to_str()));
    let (Some(directory), Some(name)) = (directory, name) else {
        let reason = "its name is not UTF-8".to_owned();
        return Err(Error::Markdown { path, reason });
    };
    let permissions = fs::metadata(&path).map_err(Error::io(&path))?.permissions();
    replace(directory, name, text.as_bytes(), |file| {
        file.set_permissions(permissions)
    })?;
    Ok(())
}

/// The text with its tables replaced, or the reason why not.
fn with_speeds(report: &Report, text: &str) -> Result<String, String> {
    let mut made = String::new();
    let mut rest = text;
    while let Some(begin) = rest.find(BEGIN) {
        let after = &rest[begin + BEGIN.len()..];
        let line = after.find('\n').map_or(after, |end| &after[..end]);
        let asked = line.trim_end().strip_suffix("-->");
        let asked = asked.ok_or_else(|| format!("'{BEGIN}{line}' has no '-->' in its line"))?;
        // Not one that belongs to a later table: what stands between would be lost.
        let own = after.find(BEGIN).map_or(after, |next| &after[..next]);
        let end = own.find(END);
        let end = end.ok_or_else(|| format!("no line '{END}' follows '{BEGIN}{line}' before the next table"))?;
        made += &rest[..begin];
        made += &format!("{BEGIN}{line}\n{}{END}", table(report, asked)?);
        rest = &after[end + END.len()..];
    }
    match made.is_empty() && !text.starts_with(BEGIN) {
        true => Err(format!(
            "no line '{BEGIN}BITS OPERATION… -->' says where a table belongs"
        )),
        false => Ok(made + rest),
    }
}

/// The table that a line asks for, and the sentence below it.
fn table(report: &Report, asked: &str) -> Result<String, String> {
    let mut words = asked.split_whitespace();
    let bits: usize = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
    let columns: Vec<&Group> = words.map(|word| column(report, word, bits)).collect::<Result<_, _>>()?;
    let Some(first) = columns.first() else {
        return Err(format!("'{BEGIN}{asked}-->' needs a key size and names of operations"));
    };
    let rows = columns.iter().flat_map(|group| &group.rows);
    let measured = rows.filter(|row| row.figures.is_some()).map(|row| row.engine.as_str());
    let mut engines = distinct(measured);
    let speed = |group: &Group, engine: &str| -> Option<f64> { Some(figures(group, engine)?.1) };
    engines.sort_by(|one, other| {
        let (one, other) = (speed(first, one), speed(first, other));
        other.partial_cmp(&one).unwrap_or(Ordering::Equal)
    });
    let titles = columns.iter().map(|group| {
        format!(
            " {}, {} |",
            title_without(&group.job, &[Dimension::Bits]),
            names::unit(&group.job)
        )
    });
    let mut table = format!(
        "| engine |{}\n|---|{}\n",
        titles.collect::<String>(),
        "---:|".repeat(columns.len())
    );
    for engine in engines {
        table += &format!("| {} |", name(&columns, engine));
        for group in &columns {
            let text = figures(group, engine).map_or("–".to_owned(), |(text, _)| match names::is_own(engine) {
                true => format!("**{}** {}", text.0, text.1),
                false => format!("{} {}", text.0, text.1),
            });
            table += &format!(" {text} |");
        }
        table += "\n";
    }
    let sessions = &report.sessions;
    let machine = as_markdown(&sessions.first().map(words::machine).unwrap_or_default());
    let date = words::date(report.created_unix_ms);
    let day = date.split_whitespace().next().unwrap_or_default();
    let confidence = number::percent(first.confidence);
    let circumstances = format!(
        "Keys of {bits} bits; intervals of {confidence}. `{}`, {day}, rsalab {}, {machine}.",
        report.command.replace('`', "'"),
        as_markdown(&report.program_version),
    );
    Ok(format!("{table}\n{}\n", wrapped(&circumstances)))
}

/// The words in lines of 120 characters at most, where they are shorter.
fn wrapped(text: &str) -> String {
    const WIDTH: usize = 120;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

/// The group of an operation at a size: the first, if there are several.
fn column<'a>(report: &'a Report, op: &str, bits: usize) -> Result<&'a Group, String> {
    let op: Op = op.parse().map_err(|_| format!("'{op}' is no operation"))?;
    let mut groups = report.groups.iter();
    groups
        .find(|group| group.job.op == op && group.job.bits == bits)
        .ok_or_else(|| format!("the study did not measure {op} with keys of {bits} bits"))
}

/// A speed with its interval in words, and the speed as a number.
fn figures(group: &Group, engine: &str) -> Option<((String, String), f64)> {
    let row = group.rows.iter().find(|row| row.engine == engine)?;
    let speed = names::speed(&group.job, &row.figures.as_ref()?.ops_per_s);
    let text = (number::significant(speed.value), number::interval(&speed));
    Some((text, speed.value))
}

/// The engine, its version, and the protections that it goes without.
fn name(columns: &[&Group], engine: &str) -> String {
    let rows = || {
        let rows = columns.iter().flat_map(|group| &group.rows);
        rows.filter(|row| row.engine == engine)
    };
    let version = as_markdown(rows().find_map(|row| row.engine_version.as_deref()).unwrap_or_default());
    let ledgers = || rows().filter_map(|row: &Row| row.ledger.as_ref());
    let lacks = [
        (ledgers().any(|ledger| ledger.blinding == Some(false)), "blinding"),
        (ledgers().any(|ledger| ledger.result_check == Some(false)), "check"),
    ];
    let lacks: Vec<&str> = lacks
        .iter()
        .filter(|(lacks, _)| *lacks)
        .map(|(_, what)| *what)
        .collect();
    let name = match names::is_own(engine) {
        true => format!("**{}**", as_code(engine)),
        false => as_code(engine),
    };
    match lacks.is_empty() {
        true => format!("{name} {version}"),
        false => format!("{name} {version}, without {}", lacks.join(" and ")),
    }
}

/// A name as code, which ends in its line and its cell: it may come from the results of a stranger.
fn as_code(name: &str) -> String {
    let ends = |sign: char| sign.is_control() || matches!(sign, '`' | '|');
    format!("`{}`", name.replace(ends, " "))
}
