//! A program's output, read.

use std::{fmt, time::Duration};

use super::{
    harness::{Test, TestResult},
    side_by_side::{Ended, Kind},
};

/// The outcome of a program.
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) output: String,
    pub(super) tests: Vec<Test>,
    /// Lines that say what could not be tested here.
    pub(super) skipped: Vec<String>,
    took: Duration,
    failure: Option<String>,
    kind: Kind,
}

/// The reason why programs of which each passed fail together: a filter was given that fits no test of any.
pub(super) fn failure_of_all(outcomes: &[Outcome]) -> Option<&'static str> {
    // No filter is given to examples in documentation.
    let mut programs = outcomes.iter().filter(|outcome| outcome.kind != Kind::Doctests);
    let none = !programs.any(Outcome::ran_one);
    none.then_some("no program ran a test: the filter fits none")
}

impl Outcome {
    pub(super) fn of(ended: Ended) -> Outcome {
        let tests: Vec<Test> = ended.output.lines().filter_map(Test::of).collect();
        let skipped = ended.output.lines().map(str::trim);
        let skipped = skipped
            .filter(|line| line.starts_with("SKIPPED"))
            .map(str::to_owned)
            .collect();
        let mut outcome = Outcome {
            name: ended.name,
            output: ended.output,
            tests,
            skipped,
            took: ended.took,
            failure: None,
            kind: ended.kind,
        };
        if !ended.status.success() {
            outcome.failure = Some(ended.status.to_string());
        } else if !outcome.output.contains("\ntest result: ok.") {
            outcome.failure = Some("it ended without a result".to_owned());
        } else if !outcome.ran_one() && outcome.kind.must_run_tests() {
            outcome.failure = Some("it ran no test".to_owned());
        }
        outcome
    }

    fn ran_one(&self) -> bool {
        self.tests.iter().any(|test| test.result != TestResult::Ignored)
    }

    /// The reason why it did not pass.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    pub(super) fn count(&self, result: TestResult) -> usize {
        self.tests.iter().filter(|test| test.result == result).count()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (passed, ignored) = (self.count(TestResult::Passed), self.count(TestResult::Ignored));
        let seconds = self.took.as_secs_f64();
        write!(f, "{}: {passed} passed, {ignored} ignored, {seconds:.1} s", self.name)?;
        match &self.failure {
            Some(reason) => write!(f, ": FAILED, {reason}"),
            None => Ok(()),
        }
    }
}

impl Kind {
    /// Returns whether a job without a test is a mistake: a target that should say `test = false`.
    fn must_run_tests(self) -> bool {
        matches!(self, Kind::Program { is_filtered: false, .. })
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::*;

    const WHOLE: Kind = Kind::Program {
        threads: 2,
        is_filtered: false,
    };
    const PART: Kind = Kind::Program {
        threads: 2,
        is_filtered: true,
    };

    fn outcome(output: &str, code: i32, kind: Kind) -> Outcome {
        Outcome::of(Ended {
            name: "a".to_owned(),
            kind,
            status: ExitStatus::from_raw(code << 8),
            output: output.to_owned(),
            took: Duration::from_millis(1500),
        })
    }

    #[test]
    fn a_program_passes_if_it_ran_tests_and_said_so() {
        let good = "running 2 tests\ntest a ... ok <0.100s>\ntest b ... ignored\n  SKIPPED: no c here\n\n\
                    test result: ok. 1 passed\n";
        let passed = outcome(good, 0, WHOLE);
        assert_eq!(passed.failure(), None);
        assert_eq!(passed.skipped, ["SKIPPED: no c here"]);
        assert_eq!(passed.to_string(), "a: 1 passed, 1 ignored, 1.5 s");
        assert!(outcome(good, 101, WHOLE).failure().is_some());
        let cut = outcome("running 2 tests\ntest a ... ok <0.100s>\n", 0, WHOLE);
        assert_eq!(cut.failure(), Some("it ended without a result"));
    }

    #[test]
    fn a_program_that_ran_no_test_fails_unless_a_part_was_asked_for() {
        for none in [
            "running 0 tests\n\ntest result: ok. 0 passed\n",
            "running 1 test\ntest a ... ignored\n\ntest result: ok. 0 passed\n",
        ] {
            assert_eq!(outcome(none, 0, WHOLE).failure(), Some("it ran no test"));
            assert_eq!(outcome(none, 0, PART).failure(), None);
            assert_eq!(outcome(none, 0, Kind::Doctests).failure(), None);
        }
    }

    #[test]
    fn a_filter_that_fits_no_test_of_any_program_fails() {
        let none = "running 0 tests\n\ntest result: ok. 0 passed\n";
        let one = "running 1 test\ntest a ... ok <0.100s>\n\ntest result: ok. 1 passed\n";
        assert_eq!(failure_of_all(&[outcome(none, 0, PART), outcome(one, 0, PART)]), None);
        assert!(failure_of_all(&[outcome(none, 0, PART), outcome(none, 0, PART)]).is_some());
        // The filter is not theirs.
        assert!(failure_of_all(&[outcome(one, 0, Kind::Doctests), outcome(none, 0, PART)]).is_some());
    }
}
