//! `rsalab audit`: what is wrong with many keys.

mod follow;
mod shown;

use std::{path::Path, time::Duration};

use rsalab_audit::{
    Audit as Audited, Estimate, Inventory, Options, Report, Severity,
    report::{json_lines, junit, sarif},
};
use rsalab_rsa::format::Limits;
use rsalab_study::number;
use serde::Serialize;

use self::follow::Follow;
use crate::{
    arguments::Audit,
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    lists,
    output::{self, Log, line},
    passwords, steps,
};

/// Finds what is wrong, reports it, and fails if it is bad enough.
pub(crate) fn run(arguments: &Audit, log: Log) -> Result<()> {
    if arguments.rules {
        return shown::rules(arguments.json.json);
    }
    check(arguments)?;
    let password = arguments
        .password_file
        .as_deref()
        .map(passwords::from_file)
        .transpose()?;
    let lists = lists::open(&arguments.blocklist)?;
    let options = Options {
        password: password.as_ref().map(|password| &password[..]),
        limits: match arguments.large_keys {
            true => Limits::NONE,
            false => Limits::QUICK,
        },
        rounds: arguments.rounds,
        threads: arguments.threads.count(),
        lists: Some(&lists),
        column: arguments.column.as_deref(),
        memory: arguments.memory,
    };
    let inventory = Inventory::of(&arguments.paths);
    let audit = Audited::new(&options);
    let estimate = audit.estimate(&inventory);
    let said = what_it_takes(&inventory, estimate.as_ref());
    if arguments.estimate {
        return output::report(&format!("{said}\n"));
    }
    log.note(said);
    let mut follow = Follow::new(log, &inventory);
    let mut report = audit.run(&inventory, &mut |progress| follow.show(progress));
    follow.finish();
    let passed_over = report.findings.len();
    report
        .findings
        .retain(|finding| !arguments.ignore.iter().any(|id| id == finding.rule.id));
    let passed_over = passed_over - report.findings.len();
    note_ended(&report, passed_over);
    write(arguments, &report)?;
    let printed = match arguments.json.json {
        true => output::report_lines(&json_lines(&report)),
        false => output::report(&shown::table(&report, passed_over)),
    };
    verdict(arguments, &report).and(printed)
}

/// Fails before the work if something is not there, or would be overwritten.
fn check(arguments: &Audit) -> Result<()> {
    let dashes = arguments
        .paths
        .iter()
        .chain(&arguments.password_file)
        .filter(|path| files::is_dash(path));
    if dashes.count() > 1 {
        let what = "two things cannot both be standard input";
        return Err(Failure::new(Class::Usage, what).advice("name a file for one of them"));
    }
    for path in arguments.paths.iter().filter(|path| !files::is_dash(path)) {
        path.metadata().map_err(|error| {
            let what = format!("cannot read {}", path.display());
            Failure::io(what, error)
        })?;
    }
    let made = [&arguments.sarif, &arguments.junit, &arguments.secret_primes];
    made.into_iter()
        .flatten()
        .try_for_each(|path| files::check_absent(path))
}

/// The time and memory that it will take, in words: honest, as it was sampled.
fn what_it_takes(inventory: &Inventory, estimate: Option<&Estimate>) -> String {
    let files = number::counted(inventory.files(), "file");
    let size = match inventory.is_open_ended() {
        true => "of a length that is not known yet".to_owned(),
        false => format!("of {}", bytes(inventory.bytes())),
    };
    match estimate {
        None => format!("{files} {size}"),
        Some(estimate) => format!(
            "{files} {size}: about {} keys, {} to examine them, {} to search for shared primes, {} of memory; from a sample",
            number::whole(rounded(estimate.keys)),
            wait(estimate.keys_time),
            wait(estimate.shared_time),
            bytes(estimate.memory)
        ),
    }
}

/// Two digits of a number: a sample tells no more.
fn rounded(count: u64) -> u64 {
    let unit = 10_u64.pow(count.checked_ilog10().unwrap_or(0).saturating_sub(1));
    count.div_ceil(unit) * unit
}

fn wait(time: Duration) -> String {
    match time.as_secs() {
        0 => "less than a second".to_owned(),
        _ => number::wait(time),
    }
}

fn bytes(count: u64) -> String {
    match count {
        0..10_000 => number::counted(usize::try_from(count).unwrap_or(0), "byte"),
        10_000..10_000_000 => format!("{} KB", count / 1000),
        10_000_000..10_000_000_000 => format!("{} MB", count / 1_000_000),
        _ => format!("{} GB", count / 1_000_000_000),
    }
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
fn write(arguments: &Audit, report: &Report) -> Result<()> {
    let create = |path: Option<&Path>, text: &dyn Fn() -> String, privacy| match path {
        Some(path) => files::create(&[(path, text().as_bytes(), privacy)]),
        None => Ok(()),
    };
    let least = arguments.fail_on.severity().unwrap_or(Severity::Critical);
    create(
        arguments.sarif.as_deref(),
        &|| sarif(report, env!("CARGO_PKG_VERSION")),
        Privacy::Public,
    )?;
    create(arguments.junit.as_deref(), &|| junit(report, least), Privacy::Public)?;
    let Some(path) = &arguments.secret_primes else {
        return Ok(());
    };
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
fn verdict(arguments: &Audit, report: &Report) -> Result<()> {
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
