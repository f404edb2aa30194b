//! SARIF 2.1.0 (OASIS 2020), as code scanning reads it: a result for each finding, at its first place, with the others
//! related to it.

use rsalab_rsa::format::Place;
use serde_json::{Value, json};

use crate::{
    finding::{Finding, Location, Report},
    rule::{RULES, Severity},
};

/// Related places of a result: forges refuse more.
const MOST_PLACES: usize = 100;

/// The report as SARIF; `version` is that of the program.
pub fn sarif(report: &Report, version: &str) -> String {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.id,
                "shortDescription": { "text": rule.title },
                "fullDescription": { "text": format!("{} (source: {})", rule.title, rule.source) },
                "help": { "text": rule.remedy },
                "defaultConfiguration": { "level": level(rule.severity) },
                // GitHub sorts by this number.
                "properties": { "security-severity": score(rule.severity), "tags": ["security", "cryptography"] },
            })
        })
        .collect();
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "rsalab audit",
                "version": version,
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{sarif:#}\n")
}

fn result(finding: &Finding) -> Value {
    let mut places = finding.places.iter().take(MOST_PLACES).map(location);
    let first: Vec<Value> = places.by_ref().take(1).collect();
    let others: Vec<Value> = places.collect();
    let keys: Vec<&str> = finding.keys.iter().map(|key| key.fingerprint.as_str()).collect();
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.iter().position(|rule| rule == finding.rule),
        "level": level(finding.severity),
        "message": { "text": format!("{}; {}", finding.what, finding.rule.remedy) },
        "locations": first,
        "relatedLocations": others,
    });
    if !keys.is_empty() {
        // The same key in another place is the same result.
        result["partialFingerprints"] = json!({ "rsalabKey/v1": keys.join(",") });
    }
    result
}

fn location(location: &Location) -> Value {
    let mut physical = json!({ "artifactLocation": { "uri": uri(&location.file) } });
    if let Place::Line(line) = location.place {
        physical["region"] = json!({ "startLine": line });
    }
    json!({ "physicalLocation": physical, "message": { "text": location.in_words() } })
}

/// A name of a file as a relative reference (RFC 3986).
fn uri(file: &str) -> String {
    let mut uri = String::with_capacity(file.len());
    if file.starts_with('/') {
        uri += "file://";
    }
    for byte in file.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => uri.push(byte.into()),
            _ => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium => "warning",
        Severity::Low => "note",
    }
}

/// A number of the scale of CVSS, as text.
fn score(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.0",
        Severity::Low => "2.0",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_references() {
        assert_eq!(uri("keys/a b.pem"), "keys/a%20b.pem");
        assert_eq!(uri("/srv/ä.pem"), "file:///srv/%C3%A4.pem");
        assert_eq!(uri("keys.tar:a.pem"), "keys.tar%3Aa.pem");
    }
}
