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
}

impl Outcome {
    pub(super) fn of(ended: Ended) -> Outcome {
        let tests: Vec<Test> = ended.output.lines().filter_map(Test::of).collect();
        let skipped = ended.output.lines().map(str::trim);
        let skipped = skipped
            .filter(|line| line.starts_with("SKIPPED"))
            .map(str::to_owned)
            .collect();
        let ran_none = !tests.iter().any(|test| test.result != TestResult::Ignored);
        let failure = if !ended.status.success() {
            Some(ended.status.to_string())
        } else if !ended.output.contains("\ntest result: ok.") {
            Some("it ended without a result".to_owned())
        } else if ran_none && ended.kind.must_run_tests() {
            Some("it ran no test".to_owned())
        } else {
            None
        };
        Outcome {
            name: ended.name,
            output: ended.output,
            tests,
            skipped,
            took: ended.took,
            failure,
        }
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
}
