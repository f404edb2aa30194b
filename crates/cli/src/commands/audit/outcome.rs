//! The findings of an audit: they are printed, written to files, and decide the exit code.

use std::path::Path;

use rsalab_audit::{
    Report,
    report::{json_lines, junit, sarif},
};
use rsalab_study::number;
use serde::Serialize;

use super::shown;
use crate::{
    arguments::FoundOptions,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    output::{self, line},
    steps,
};

/// Fails before the work if a file would be overwritten.
pub(super) fn check(options: &FoundOptions, out: Option<&Path>) -> Result<()> {
    let made = [&options.sarif, &options.junit, &options.secret_primes];
    let made: Vec<&Path> = made.into_iter().filter_map(Option::as_deref).chain(out).collect();
    for (place, path) in made.iter().enumerate() {
        if made[..place].contains(path) {
            let what = format!("{} is named twice, for different files", path.display());
            return Err(Failure::new(Class::Usage, what).advice("name another file for one of them"));
        }
        files::check_absent(path)?;
    }
    Ok(())
}

/// Prints the findings that are not passed over, or writes them to a file, and fails if they are bad enough.
pub(super) fn conclude(mut report: Report, options: &FoundOptions, as_json: bool, out: Option<&Path>) -> Result<()> {
    let all = report.findings.len();
    report
        .findings
        .retain(|finding| !options.ignore.iter().any(|id| id == finding.rule.id));
    let passed_over = all - report.findings.len();
    note_ended(&report, passed_over);
    let written = write(options, &report);
    let text = match as_json {
        true => json_lines(&report),
        false => shown::table(&report, passed_over),
    };
    let printed = match (out, as_json) {
        (Some(path), _) => files::create(&[(path, text.as_bytes(), Privacy::Public)]),
        (None, true) => output::report_lines(&text),
        (None, false) => output::report(&text),
    };
    // Whoever has no report is told that first: the verdict refers to it.
    written.and(printed).and(verdict(options, &report))
}

fn note_ended(report: &Report, passed_over: usize) {
    steps::ended(|| {
        let keys = number::counted(report.summary.keys, "key");
        let findings = number::counted(report.findings.len(), "finding");
        let shared = number::counted(report.shared_primes.len(), "shared prime");
        format!("{keys} examined and compared: {findings}, {passed_over} passed over; {shared}")
    });
}

/// A line of the file of shared primes.
#[derive(Serialize)]
struct Secret<'a> {
    /// In hexadecimal.
    prime: String,
    /// SHA-256 of the SubjectPublicKeyInfo.
    keys: Vec<&'a str>,
    places: Vec<String>,
}

/// Writes the files that were asked for.
fn write(arguments: &FoundOptions, report: &Report) -> Result<()> {
    let create = |path: Option<&Path>, text: &dyn Fn() -> String, privacy| match path {
        Some(path) => files::create(&[(path, text().as_bytes(), privacy)]),
        None => Ok(()),
    };
    let least = arguments.fail_on.severity();
    let sarif = create(
        arguments.sarif.as_deref(),
        &|| sarif(report, env!("CARGO_PKG_VERSION")),
        Privacy::Public,
    );
    let junit = create(arguments.junit.as_deref(), &|| junit(report, least), Privacy::Public);
    let primes = arguments
        .secret_primes
        .as_deref()
        .map_or(Ok(()), |path| write_primes(path, report));
    sarif.and(junit).and(primes)
}

/// Writes the shared primes to a file of their owner's.
fn write_primes(path: &Path, report: &Report) -> Result<()> {
    let secrets = report.shared_primes.iter().map(|shared| {
        zeroize::Zeroizing::new(line(&Secret {
            prime: hex::encode(&*shared.factor),
            keys: shared.keys.iter().map(|key| key.fingerprint.as_str()).collect(),
            places: shared.places.iter().map(rsalab_audit::Location::in_words).collect(),
        }))
    });
    let secrets: Vec<_> = secrets.collect();
    let all = secrets.iter().map(|secret| secret.len()).sum();
    // The room is taken at once: growing would leave copies behind.
    let mut text = zeroize::Zeroizing::new(Vec::with_capacity(all));
    secrets
        .iter()
        .for_each(|secret| text.extend_from_slice(secret.as_bytes()));
    files::create(&[(path, &text, Privacy::Private)])
}

/// Fails if something is as severe as was asked for.
fn verdict(arguments: &FoundOptions, report: &Report) -> Result<()> {
    let Some(least) = arguments.fail_on.severity() else {
        return Ok(());
    };
    let failing = report.findings.iter().filter(|finding| finding.severity >= least);
    let count = failing.clone().count();
    let Some(first) = failing.clone().next() else {
        return Ok(());
    };
    let place = first
        .places
        .first()
        .map(rsalab_audit::Location::in_words)
        .unwrap_or_default();
    let what = format!(
        "{} of severity {least} or worse, the first: {place}: {}",
        number::counted(count, "finding"),
        first.what
    );
    Err(Failure::new(Class::Input, what)
        .advice("the report says what to do; --fail-on and --ignore say what is let pass"))
}
