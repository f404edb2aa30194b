//! Findings, as people read them.

use rsalab_audit::{Finding, Location, RULES, Report, Rule, Severity};
use rsalab_study::number;
use serde::Serialize;

use crate::{exit::Result, output, printable::printable, table::Table};

/// Places of a finding that are named.
const MOST_PLACES: usize = 6;

/// The findings, what to do about each kind, and the numbers of the audit.
pub(super) fn table(report: &Report, passed_over: usize) -> String {
    let findings = Table::of(&report.findings)
        .verdict("severity", |finding| finding.severity.name().to_owned())
        .left("finding", |finding| finding.rule.id.to_owned())
        .left("where", places)
        .left("what", |finding| finding.what.clone())
        .render();
    let mut remedies = String::new();
    for rule in RULES
        .iter()
        .filter(|rule| report.findings.iter().any(|finding| finding.rule == *rule))
    {
        remedies += &format!("{}: {}\n  to do: {}\n", rule.id, rule.title, rule.remedy);
        if rule.source != "-" {
            remedies += &format!("  source: {}\n", rule.source);
        }
    }
    let numbers = numbers(report, passed_over);
    match report.findings.is_empty() {
        true => numbers,
        false => [findings, remedies, numbers].join("\n"),
    }
}

fn places(finding: &Finding) -> String {
    let named: Vec<String> = finding
        .places
        .iter()
        .take(MOST_PLACES)
        .map(Location::in_words)
        .collect();
    let more = finding.places.len() - named.len();
    let named = printable(&named.join("; "));
    match more {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

fn numbers(report: &Report, passed_over: usize) -> String {
    let summary = &report.summary;
    let mut text = format!(
        "{}, {} ({} private), {} different {}",
        number::counted(summary.files, "file"),
        number::counted(summary.keys, "RSA key"),
        number::whole(summary.private as u64),
        number::whole(summary.moduli as u64),
        match summary.moduli {
            1 => "modulus",
            _ => "moduli",
        }
    );
    for (count, one, several) in [
        (summary.foreign, "key of another algorithm", "keys of other algorithms"),
        (summary.without_keys, "file without a key", "files without a key"),
        (passed_over, "finding passed over", "findings passed over"),
    ] {
        match count {
            0 => {}
            1 => text += &format!(", 1 {one}"),
            _ => text += &format!(", {} {several}", number::whole(count as u64)),
        }
    }
    let counts = report.by_severity();
    let counts = Severity::ALL
        .iter()
        .rev()
        .filter_map(|severity| Some((severity, counts.get(severity)?)));
    let counts: Vec<String> = counts
        .map(|(severity, count)| format!("{} {severity}", number::whole(*count as u64)))
        .collect();
    match counts.is_empty() {
        true => format!("{text}: nothing found\n"),
        false => format!("{text}: {}\n", counts.join(", ")),
    }
}

/// A rule, for programs.
#[derive(Serialize)]
struct Row {
    finding: &'static str,
    severity: Severity,
    title: &'static str,
    remedy: &'static str,
    source: &'static str,
}

/// Prints the rules.
pub(super) fn rules(as_json: bool) -> Result<()> {
    if as_json {
        let row = |rule: &Rule| Row {
            finding: rule.id,
            severity: rule.severity,
            title: rule.title,
            remedy: rule.remedy,
            source: rule.source,
        };
        let rows: Vec<Row> = RULES.iter().map(row).collect();
        return output::json(&rows);
    }
    let table = Table::of(RULES)
        .left("finding", |rule| rule.id.to_owned())
        .verdict("severity", |rule| rule.severity.name().to_owned())
        .left("what", |rule| rule.title.to_owned())
        .left("to do", |rule| rule.remedy.to_owned())
        .left("source", |rule| rule.source.to_owned());
    output::report(&table.render())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of findings in the book is what the catalogue says: `UPDATE_DOCUMENTS=1` writes it anew.
    #[test]
    fn the_page_of_audits_has_each_finding() {
        const BEGIN: &str = "<!-- findings: begin. From the program's catalogue: UPDATE_DOCUMENTS=1 cargo test -p \
                             rsalab --bin rsalab audits -->\n";
        const END: &str = "<!-- findings: end -->";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/reference/audit.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        let mut table = "| finding | severity | what | to do | source |\n|---|---|---|---|---|\n".to_owned();
        for rule in RULES {
            table += &format!(
                "| `{}` | {} | {} | {} | {} |\n",
                rule.id, rule.severity, rule.title, rule.remedy, rule.source
            );
        }
        let (before, rest) = page.split_once(BEGIN).expect("the page has the table");
        let (_, after) = rest.split_once(END).expect("the table ends");
        let expected = format!("{before}{BEGIN}{table}{END}{after}");
        if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
            std::fs::write(path, &expected).expect("the page can be written");
        }
        assert_eq!(page, expected, "UPDATE_DOCUMENTS=1 writes it anew");
    }
}
