//! The sums over all programs.

use std::{collections::BTreeMap, fmt::Write, time::Duration};

use super::{
    harness::TestResult,
    outcome::{Outcome, failure_of_all},
};

const SLOWEST: usize = 10;

/// The slowest tests, what was skipped, what failed, and the totals, in that order: the last line is the verdict.
pub(super) fn of(outcomes: &[Outcome], took: Duration) -> String {
    let mut text = String::new();
    slowest(&mut text, outcomes);
    skipped(&mut text, outcomes);
    failed(&mut text, outcomes);
    let total = |result| outcomes.iter().map(|outcome| outcome.count(result)).sum::<usize>();
    line(
        &mut text,
        format_args!(
            "\ntests: {} passed, {} failed, {} ignored; {} programs, {:.0} s",
            total(TestResult::Passed),
            total(TestResult::Failed),
            total(TestResult::Ignored),
            outcomes.len(),
            took.as_secs_f64()
        ),
    );
    text
}

fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a string takes everything");
}

fn slowest(text: &mut String, outcomes: &[Outcome]) {
    let mut tests: Vec<(f64, &str, &str)> = outcomes
        .iter()
        .flat_map(|outcome| outcome.tests.iter().map(move |test| (outcome, test)))
        .filter_map(|(outcome, test)| Some((test.seconds?, outcome.name.as_str(), test.name.as_str())))
        .collect();
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    if !tests.is_empty() {
        line(text, format_args!("\nthe slowest tests, in seconds:"));
    }
    for (seconds, program, test) in tests.into_iter().take(SLOWEST) {
        line(text, format_args!("{seconds:8.2}  {program}  {test}"));
    }
}

fn skipped(text: &mut String, outcomes: &[Outcome]) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in outcomes.iter().flat_map(|outcome| &outcome.skipped) {
        *counts.entry(reason).or_default() += 1;
    }
    if !counts.is_empty() {
        line(text, format_args!("\nnot tested here:"));
    }
    for (reason, count) in counts {
        let times = if count > 1 {
            format!(" ({count} times)")
        } else {
            String::new()
        };
        line(text, format_args!("  {reason}{times}"));
    }
}

fn failed(text: &mut String, outcomes: &[Outcome]) {
    for outcome in outcomes {
        let Some(reason) = outcome.failure() else { continue };
        line(text, format_args!("\nFAILED: {}, {reason}", outcome.name));
        for test in outcome.tests.iter().filter(|test| test.result == TestResult::Failed) {
            line(text, format_args!("  {}", test.name));
        }
    }
    if let Some(reason) = failure_of_all(outcomes) {
        line(text, format_args!("\nFAILED: {reason}"));
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::super::side_by_side::{Ended, Kind};
    use super::*;

    fn outcome(name: &str, output: &str, code: i32) -> Outcome {
        Outcome::of(Ended {
            name: name.to_owned(),
            kind: Kind::Program {
                threads: 2,
                is_filtered: false,
            },
            status: ExitStatus::from_raw(code << 8),
            output: output.to_owned(),
            took: Duration::ZERO,
        })
    }

    #[test]
    fn the_sums_name_what_was_slow_skipped_and_wrong() {
        let many: String = (0..12).map(|n| format!("test t{n} ... ok <{n}.000s>\n")).collect();
        let outcomes = [
            outcome(
                "one",
                &format!("{many}SKIPPED: no b\nSKIPPED: no b\n\ntest result: ok. 12 passed\n"),
                0,
            ),
            outcome(
                "two",
                "test x ... FAILED <20.500s>\nSKIPPED: no c\n\ntest result: FAILED.\n",
                101,
            ),
        ];
        let text = of(&outcomes, Duration::from_secs(61));
        let slow: Vec<&str> = text.lines().filter(|line| line.contains("0  ")).collect();
        assert_eq!(slow.len(), SLOWEST, "{text}");
        assert_eq!(slow[..2], ["   20.50  two  x", "   11.00  one  t11"]);
        assert!(
            text.contains("\n  SKIPPED: no b (2 times)\n  SKIPPED: no c\n"),
            "{text}"
        );
        assert!(text.contains("\nFAILED: two, exit status: 101\n  x\n"), "{text}");
        assert!(
            text.ends_with("\ntests: 12 passed, 1 failed, 0 ignored; 2 programs, 61 s\n"),
            "{text}"
        );
    }
}
