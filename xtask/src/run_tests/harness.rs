//! The lines of Rust's test harness.

/// A line `test NAME ... RESULT`.
#[derive(Debug, PartialEq)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) result: TestResult,
    /// As the harness measured it.
    pub(super) seconds: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestResult {
    Passed,
    Failed,
    Ignored,
}

impl Test {
    pub(super) fn of(line: &str) -> Option<Test> {
        let (name, rest) = line.trim_end().strip_prefix("test ")?.split_once(" ... ")?;
        let (word, rest) = rest.split_once([' ', ',']).unwrap_or((rest, ""));
        let result = match word {
            "ok" => TestResult::Passed,
            "FAILED" => TestResult::Failed,
            "ignored" => TestResult::Ignored,
            _ => return None,
        };
        let seconds = rest.strip_prefix('<').and_then(|rest| rest.strip_suffix("s>"));
        Some(Test {
            name: name.to_owned(),
            result,
            seconds: seconds.and_then(|seconds| seconds.parse().ok()),
        })
    }
}

/// The count in the harness's first line, `running 12 tests`.
pub(super) fn tests(line: &str) -> Option<usize> {
    let mut words = line.split_whitespace();
    let (first, count, last) = (words.next()?, words.next()?, words.next()?);
    let is_it = first == "running" && ["test", "tests"].contains(&last) && words.next().is_none();
    count.parse().ok().filter(|_| is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_says_how_many_tests_it_runs() {
        assert_eq!(tests("running 12 tests\n"), Some(12));
        assert_eq!(tests("running 1 test\n"), Some(1));
        assert_eq!(tests("running 12 tests of mine\n"), None);
        assert_eq!(tests("running\n"), None);
    }

    #[test]
    fn lines_of_tests_are_read() {
        let test = |name: &str, result, seconds| {
            Some(Test {
                name: name.to_owned(),
                result,
                seconds,
            })
        };
        assert_eq!(
            Test::of("test a::b ... ok <1.250s>\n"),
            test("a::b", TestResult::Passed, Some(1.25))
        );
        assert_eq!(
            Test::of("test a ... FAILED <0.001s>"),
            test("a", TestResult::Failed, Some(0.001))
        );
        assert_eq!(Test::of("test a ... ok"), test("a", TestResult::Passed, None));
        assert_eq!(
            Test::of("test a ... ignored, long: of it"),
            test("a", TestResult::Ignored, None)
        );
        assert_eq!(
            Test::of("test a - should panic ... ok"),
            test("a - should panic", TestResult::Passed, None)
        );
        assert_eq!(Test::of("test result: ok. 1 passed"), None);
        assert_eq!(Test::of("test a has been running for over 60 seconds"), None);
    }
}
