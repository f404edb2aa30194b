//! Comments and documents wrap at one width, that of the code (`rustfmt.toml`), which rustfmt does not hold them to.

use super::{finding::Finding, source::SourceFile};

/// Characters of a line of a comment or of a document. Rows of tables, code in documents, and a word that is longer do
/// not wrap.
const WIDTH: usize = 120;

/// What begins a comment, of the files that have code; documents are prose all over.
#[derive(Clone, Copy)]
enum Language {
    Rust,
    Shell,
    Markdown,
}

impl Language {
    fn of(file: &SourceFile) -> Option<Self> {
        let is = |extension| file.has_extension(extension);
        match () {
            () if is("rs") => Some(Self::Rust),
            () if is("sh") => Some(Self::Shell),
            () if is("md") && !file.path.starts_with("docs/results") => Some(Self::Markdown),
            () => None,
        }
    }

    /// The text of a line of prose.
    fn prose(self, line: &str) -> Option<&str> {
        let line = line.trim_start();
        let (begins, more): (_, &[char]) = match self {
            Self::Markdown => return Some(line),
            Self::Rust => ("//", &['/', '!']),
            Self::Shell => ("#", &['#', '!']),
        };
        Some(line.strip_prefix(begins)?.trim_start_matches(more).trim_start())
    }
}

/// Applies the rule to the comments of Rust files and of scripts, and to the Markdown that people wrote.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let Some(language) = Language::of(file) else {
            continue;
        };
        let mut is_code = false;
        for (number, line) in file.text.lines().enumerate() {
            let Some(prose) = language.prose(line) else {
                continue;
            };
            if prose.starts_with("```") {
                is_code = !is_code;
            }
            if !is_code && line.chars().count() > WIDTH && wraps(prose) {
                let message = format!("wrap this line: it has more than {WIDTH} characters");
                findings.push(Finding::new(&file.path, number + 1, message));
            }
        }
    }
    findings
}

/// Returns whether a text can be continued on the next line: no row of a table, no heading, no picture, and no single
/// word.
fn wraps(prose: &str) -> bool {
    let is_structure = prose.starts_with(['|', '#', '<']) || (prose.starts_with('[') && prose.contains("]: "));
    // Two spaces within: columns that somebody aligned.
    !is_structure && prose.contains(' ') && !prose.contains("  ")
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
    fn what_can_wrap_is_found() {
        let long = "word ".repeat(30);
        assert_eq!(lines("a.md", &format!("short\n{long}\n")), [Some(2)]);
        assert_eq!(
            lines("a/src/lib.rs", &format!("/// {long}\nfn a() {{}}\n    // {long}\n")),
            [Some(1), Some(3)]
        );
        assert_eq!(lines("a.sh", &format!("#!/bin/sh\n# {long}\n{long}\n")), [Some(2)]);
        assert_eq!(lines("a/src/lib.rs", &format!("let a = \"{long}\";\n")), []);
        assert_eq!(
            lines(
                "a.md",
                &format!("```text\n{long}\n```\n| {long} |\n# {long}\n{}\n", "w".repeat(200))
            ),
            []
        );
        assert_eq!(lines("docs/results/a.md", &long), []);
    }
}
