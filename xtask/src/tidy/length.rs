//! A file that nobody has to scroll through.

use super::{finding::Finding, source::SourceFile};

/// Lines of a Rust file outside tests. A longer one holds two subjects: each deserves a file with its name.
const LIMIT: usize = 500;

/// Applies the rule to every Rust file outside the folders of tests.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.has_extension("rs") && !file.is_test())
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > LIMIT).then(|| {
                let message = format!("{lines} lines; more than {LIMIT} are two files");
                Finding::new(&file.path, None, message)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_is_found_and_a_long_test_is_not() {
        let file = |path: &str, lines: usize| SourceFile {
            path: path.into(),
            text: "\n".repeat(lines),
        };
        let files = [
            file("a/src/short.rs", LIMIT),
            file("a/src/long.rs", LIMIT + 1),
            file("a/src/long/tests.rs", LIMIT + 1),
            file("a/tests/long.rs", LIMIT + 1),
        ];
        assert_eq!(check(&files).len(), 1);
    }
}
