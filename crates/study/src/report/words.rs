//! Sentences that more than one format of the report contains.

use rsalab_engines::{
    Ledger,
    ledger::{ClockOwner, ThreadOwner},
};

use super::{
    group::{Group, Row},
    model::{Report, Session},
    names,
    review::TableCell,
};
use crate::number;

/// The sentences on what threads gain.
pub(super) const SCALING: &str = "Speed-up is the speed on several threads divided by that on one, over the rounds that \
    both have; efficiency is the speed-up of each thread. By Amdahl's law a share of the work is done in turn; the \
    Universal Scalability Law adds what threads cost each other. Both are fitted to counts that the CPUs run at once, \
    weighted by their intervals.";

/// The sentence below an overview.
pub(super) const OVERVIEW: &str = "A star marks conditions that are not those of the first engine: the tables further down \
                                   say which, and have the intervals. A number in brackets is the reason why there is no speed.";

/// How far the study has come.
pub(super) fn status(report: &Report) -> String {
    let cells: usize = report.counts.values().sum();
    let counts: Vec<String> = report
        .counts
        .iter()
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    let cells = number::counted(cells, "cell");
    match report.is_complete {
        true => format!("Complete: {cells}, {}.", counts.join(", ")),
        false => format!(
            "Not complete: {cells}, {}. 'rsalab resume' goes on with it.",
            counts.join(", ")
        ),
    }
}

/// Where chance decides: the adjusted speed and ratio, or why there is none.
pub(super) fn adjusted(group: &Group, row: &Row) -> Vec<String> {
    let mut words = Vec::new();
    if let Some(corrected) = &row.adjusted {
        let speed = names::speed(&group.job, &corrected.ops_per_s);
        words.push(format!(
            "adjusted speed, at {} primality tests each: {}",
            number::significant(corrected.tests_per_op),
            number::with_interval(&speed)
        ));
    }
    if let Some(ratio) = &row.ratio {
        let corrected = ratio.adjusted.iter();
        words.extend(corrected.map(|corrected| format!("adjusted ratio: {}", number::with_interval(corrected))));
        let raw = ratio.uncorrected.iter();
        words.extend(raw.map(|reason| format!("the ratio is raw: {reason}")));
    }
    words
}

/// Our number in a cell of an article's table, or why there is none.
pub(super) fn ours(cell: &TableCell) -> String {
    match (&cell.ours, &cell.reason) {
        (Some(estimate), _) if estimate.confidence > 0.0 => number::with_interval(estimate),
        // A count, or ticks of one call: every digit is known.
        (Some(estimate), _) if estimate.value.fract() == 0.0 => number::as_printed(estimate.value),
        (Some(estimate), _) => number::significant(estimate.value),
        (None, Some(reason)) => reason.clone(),
        (None, None) => "–".to_owned(),
    }
}

/// The conditions of a figure, one by one, without what was prepared beforehand.
pub(super) fn conditions(ledger: &Ledger) -> Vec<String> {
    let stated = |fact: Option<bool>, yes: &str, no: &str| fact.map(|is| if is { yes } else { no }.to_owned());
    let mut parts: Vec<String> = [
        stated(ledger.crt, "CRT", "no CRT"),
        stated(ledger.blinding, "blinded", "not blinded"),
        stated(ledger.result_check, "result checked", "result not checked"),
        stated(ledger.constant_time, "constant time claimed", "variable time"),
        ledger.rounds.as_ref().map(|rounds| format!("primality: {rounds}")),
        ledger.sieve.as_ref().map(|sieve| format!("sieve: {sieve}")),
        ledger.exponent.map(|exponent| format!("e = {exponent}")),
        ledger.padding.clone(),
    ]
    .into_iter()
    .flatten()
    .collect();
    if ledger.lanes > 1 {
        parts.push(number::counted(ledger.lanes, "lane"));
    }
    if ledger.threads == ThreadOwner::Engine {
        parts.push("its own threads".to_owned());
    }
    if ledger.clock == ClockOwner::Engine {
        parts.push("its own clock".to_owned());
    }
    parts
}

/// The conditions that all engines of a group share.
pub(super) fn shared_conditions(group: &Group) -> Vec<String> {
    let mut ledgers = group.rows.iter().filter_map(|row| row.ledger.as_ref()).map(conditions);
    let first = ledgers.next().unwrap_or_default();
    ledgers.fold(first, |shared, parts| {
        shared.into_iter().filter(|part| parts.contains(part)).collect()
    })
}

/// The facts that decide about speed, as far as they are known: `AMD EPYC, Zen 4, Genoa (family 25 model 17), 2 CPUs on
/// 2 cores, 23.5 GiB`.
pub(crate) fn machine(session: &Session) -> String {
    const SHOWN: [&str; 5] = ["CPU", "microarchitecture", "CPUs", "memory", "operating system"];
    let shown = SHOWN.iter().filter_map(|name| session.fact(name));
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns whether a session ran on another machine than the first one, as far as figures are concerned.
pub(super) fn machine_changed(report: &Report, session: &Session) -> bool {
    const LASTING: [&str; 6] = ["CPU", "revision", "instruction sets", "CPUs", "memory", "built with"];
    let lasting = |session: &Session| -> Vec<String> {
        let rows = session
            .machine
            .iter()
            .filter(|(name, _)| LASTING.contains(&name.as_str()));
        rows.map(|(_, value)| value.clone()).collect()
    };
    report
        .sessions
        .first()
        .is_some_and(|first| lasting(first) != lasting(session))
}

/// The sessions, each in a line.
pub(super) fn sessions(report: &Report) -> Vec<String> {
    let line = |session: &Session| {
        let mut line = format!("Session {}: began {}", session.number, date(session.started_unix_ms));
        line += &end(session);
        if let Some(drift) = &session.drift {
            line += &format!("; {}", drift.words());
        }
        if machine_changed(report, session) {
            line += "; on another machine than the first, so that its figures mix two machines";
        }
        line
    };
    report.sessions.iter().map(line).collect()
}

/// How a session ended, and after how long; when, where the clock was set back in between.
fn end(session: &Session) -> String {
    let Some(ended) = session.ended_unix_ms else {
        return ", killed".to_owned();
    };
    let lasted = ended.checked_sub(session.started_unix_ms).filter(|ms| *ms >= 0);
    match lasted {
        Some(ms) => format!(
            ", {} after {} s",
            session.ending,
            number::significant(ms as f64 / 1000.0)
        ),
        None => format!(
            ", {} at {}, by a clock that was set back meanwhile",
            session.ending,
            date(ended)
        ),
    }
}

/// Warnings about the machine, with the session where there are several.
pub(super) fn warnings(report: &Report) -> Vec<String> {
    let is_alone = report.sessions.len() == 1;
    let of_session = |session: &Session| {
        let number = session.number;
        let said = |warning: &String| match is_alone {
            true => warning.clone(),
            false => format!("Session {number}: {warning}"),
        };
        session.warnings.iter().map(said).collect::<Vec<_>>()
    };
    let drift = report.drift.iter().filter_map(|drift| drift.warning());
    let sessions = report.sessions.iter().flat_map(of_session);
    report.incomplete.iter().cloned().chain(sessions).chain(drift).collect()
}

/// A moment as `2026-11-21 01:15 UTC`.
pub(crate) fn date(unix_ms: i64) -> String {
    match jiff::Timestamp::from_millisecond(unix_ms) {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        // Far outside of the calendar: only a damaged store says so.
        Err(_) => format!("{unix_ms} ms after 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        assert_eq!(date(1_795_223_727_000), "2026-11-21 01:15 UTC");
        assert_eq!(date(i64::MAX), format!("{} ms after 1970", i64::MAX));
    }

    #[test]
    fn a_session_lasts_no_time_below_zero() {
        let of = |started_unix_ms: i64, ended_unix_ms: Option<i64>| {
            end(&Session {
                number: 1,
                started_unix_ms,
                ended_unix_ms,
                ending: "complete".to_owned(),
                program_version: "1".to_owned(),
                warnings: Vec::new(),
                machine: Vec::new(),
                drift: None,
            })
        };
        assert_eq!(of(1_000, Some(13_500)), ", complete after 12.50 s");
        assert_eq!(of(1_000, None), ", killed");
        let set_back = ", complete at 1970-01-01 00:00 UTC, by a clock that was set back meanwhile";
        assert_eq!(of(3_600_000, Some(1_000)), set_back);
        assert_eq!(of(i64::MAX, Some(1_000)), set_back);
        assert!(of(-2, Some(i64::MAX)).contains("set back"));
    }

    #[test]
    fn conditions_say_what_was_not_done_too() {
        let ledger = Ledger {
            crt: Some(true),
            blinding: Some(false),
            result_check: Some(false),
            constant_time: None,
            rounds: None,
            sieve: None,
            exponent: Some(rsalab_engines::Exponent::Fixed(3)),
            primes: None,
            keys: None,
            padding: None,
            setup: "contexts".to_owned(),
            lanes: 8,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Engine,
        };
        assert_eq!(
            conditions(&ledger).join(", "),
            "CRT, not blinded, result not checked, e = 3, 8 lanes, its own clock"
        );
    }
}
