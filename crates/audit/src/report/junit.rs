//! JUnit XML: a test case for each file, which fails with the findings at or above a severity, if there is one, and is
//! passed otherwise.

use std::collections::BTreeMap;

use crate::{
    finding::{Finding, Report},
    rule::Severity,
};

/// The report as JUnit XML; findings below `least` fail no file, without it none does, and they are in its output.
pub fn junit(report: &Report, least: Option<Severity>) -> String {
    let fails = |finding: &Finding| least.is_some_and(|least| finding.severity >= least);
    let mut of_file: BTreeMap<&str, Vec<(&Finding, String)>> = BTreeMap::new();
    for finding in &report.findings {
        for place in &finding.places {
            of_file
                .entry(&place.file)
                .or_default()
                .push((finding, place.in_words()));
        }
    }
    let is_failed = |file: &str| {
        let findings = of_file.get(file).map(Vec::as_slice).unwrap_or_default();
        findings.iter().any(|(finding, _)| fails(finding))
    };
    let failures = report.files.iter().filter(|file| is_failed(file)).count();
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let counts = format!(
        "tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"",
        report.files.len()
    );
    xml += &format!("<testsuites {counts}>\n<testsuite name=\"rsalab audit\" {counts}>\n");
    for file in &report.files {
        let name = escaped(file);
        let findings = of_file.get(&**file).map(Vec::as_slice).unwrap_or_default();
        if findings.is_empty() {
            xml += &format!("<testcase classname=\"rsalab.audit\" name=\"{name}\"/>\n");
            continue;
        }
        xml += &format!("<testcase classname=\"rsalab.audit\" name=\"{name}\">\n");
        let (failing, others): (Vec<_>, Vec<_>) = findings.iter().partition(|(finding, _)| fails(finding));
        if let Some((first, _)) = failing.first() {
            let text: String = failing
                .iter()
                .map(|(finding, place)| sentence(finding, place))
                .collect();
            xml += &format!(
                "<failure type=\"{}\" message=\"{}\">{}</failure>\n",
                first.rule.id,
                escaped(&first.what),
                escaped(&text)
            );
        }
        if !others.is_empty() {
            let text: String = others.iter().map(|(finding, place)| sentence(finding, place)).collect();
            xml += &format!("<system-out>{}</system-out>\n", escaped(&text));
        }
        xml += "</testcase>\n";
    }
    xml + "</testsuite>\n</testsuites>\n"
}

fn sentence(finding: &Finding, place: &str) -> String {
    let others = match finding.places.len() {
        1 => String::new(),
        places => format!(" ({} other places)", places - 1),
    };
    format!(
        "{}: {} ({}): {}{others}; {}\n",
        place, finding.rule.id, finding.severity, finding.what, finding.rule.remedy
    )
}

/// Text in XML 1.0, which has no control characters.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\n' | '\t' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            character if character.is_control() => escaped.push('\u{fffd}'),
            character => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_of_xml_is_replaced() {
        assert_eq!(escaped("a<\"&\u{1b}\u{0}>"), "a&lt;&quot;&amp;\u{fffd}\u{fffd}&gt;");
    }
}
