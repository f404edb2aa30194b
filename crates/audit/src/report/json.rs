//! JSON lines: one for each finding, and one for the numbers of the audit.

use rsalab_rsa::format::Place;
use serde::Serialize;

use crate::{
    finding::{Finding, Location, Report},
    rule::Severity,
};

#[derive(Serialize)]
struct Line<'a> {
    finding: &'a str,
    severity: Severity,
    what: &'a str,
    places: Vec<Where<'a>>,
    /// SHA-256 of the SubjectPublicKeyInfo.
    keys: Vec<Key<'a>>,
    remedy: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
struct Key<'a> {
    fingerprint: &'a str,
    bits: usize,
}

/// The members of `rsalab key check` have the same names.
#[derive(Serialize)]
struct Where<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
}

#[derive(Serialize)]
struct Numbers {
    files: usize,
    without_keys: usize,
    keys: usize,
    private: usize,
    moduli: usize,
    foreign: usize,
    critical: usize,
    high: usize,
    medium: usize,
    low: usize,
}

#[derive(Serialize)]
struct Last {
    summary: Numbers,
}

/// The report as JSON lines.
///
/// # Panics
///
/// Never: all of it is text and numbers.
pub fn json_lines(report: &Report) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        text += &serde_json::to_string(&line(finding)).expect("text and numbers");
        text.push('\n');
    }
    let counts = report.by_severity();
    let count = |severity| counts.get(&severity).copied().unwrap_or(0);
    let summary = &report.summary;
    let last = Last {
        summary: Numbers {
            files: summary.files,
            without_keys: summary.without_keys,
            keys: summary.keys,
            private: summary.private,
            moduli: summary.moduli,
            foreign: summary.foreign,
            critical: count(Severity::Critical),
            high: count(Severity::High),
            medium: count(Severity::Medium),
            low: count(Severity::Low),
        },
    };
    text += &serde_json::to_string(&last).expect("text and numbers");
    text.push('\n');
    text
}

fn line(finding: &Finding) -> Line<'_> {
    Line {
        finding: finding.rule.id,
        severity: finding.severity,
        what: &finding.what,
        places: finding.places.iter().map(place).collect(),
        keys: finding
            .keys
            .iter()
            .map(|key| Key {
                fingerprint: &key.fingerprint,
                bits: key.bits,
            })
            .collect(),
        remedy: finding.rule.remedy,
        source: finding.rule.source,
    }
}

fn place(location: &Location) -> Where<'_> {
    let mut found = Where {
        file: &location.file,
        key: None,
        line: None,
        block: None,
        row: None,
    };
    match location.place {
        Place::Key(number) => found.key = Some(number),
        Place::Line(number) => found.line = Some(number),
        Place::Block(number) => found.block = Some(number),
        Place::Row(number) => found.row = Some(number),
        _ => {}
    }
    found
}
