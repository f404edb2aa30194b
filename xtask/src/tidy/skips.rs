//! A test that cannot run here says `SKIPPED: ` and why: `cargo xtask test` counts no other spelling.

use super::{finding::Finding, source::SourceFile};

/// The word that [`run_tests`](crate::run_tests) looks for.
const WORD: &str = "SKIPPED";

/// Applies the rule to the string literals of Rust files.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        for (number, line) in file.text.lines().enumerate() {
            let mut begins = line.match_indices('"').map(|(at, _)| &line[at + 1..]);
            if begins.any(is_misspelt) {
                let message = format!("what is not tested here is said with {WORD} in capitals, or nobody counts it");
                findings.push(Finding::new(&file.path, number + 1, message));
            }
        }
    }
    findings
}

/// Returns whether a text begins with the word and a colon, not in capitals.
fn is_misspelt(text: &str) -> bool {
    let Some((word, _)) = text.split_once(':') else {
        return false;
    };
    word.eq_ignore_ascii_case(WORD) && word != WORD
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<Option<usize>> {
        let file = SourceFile {
            path: path.into(),
            text: text.into(),
        };
        check(&[file]).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_word_that_is_not_counted_is_found() {
        // Written so that this file itself keeps the rule.
        let says = |word: &str| format!("fn f() {{\n    eprintln!(\"{word}: no such CPU\");\n}}\n");
        let lower = WORD.to_lowercase();
        assert_eq!(lines("a/src/lib.rs", &says(&lower)), [Some(2)]);
        assert_eq!(lines("a/tests/a.rs", &says("Skipped")), [Some(2)]);
        assert_eq!(lines("a/src/lib.rs", &says(WORD)), []);
        // The word alone, another word, and a document.
        assert_eq!(
            lines("a/src/lib.rs", &format!("let a = [\"{lower}\", \"why: {lower}\"];\n")),
            []
        );
        assert_eq!(lines("a.md", &says(&lower)), []);
    }
}
