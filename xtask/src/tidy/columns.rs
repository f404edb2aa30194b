//! Comments and documents wrap at one width, that of the code (`rustfmt.toml`), which rustfmt does not hold them to.

use super::{finding::Finding, source::SourceFile};

/// Characters of a line of a comment or of a document. Rows of tables, code in documents, and a word that is longer do
/// not wrap.
const WIDTH: usize = 120;

/// Applies the rule to the comments of Rust files and to the Markdown that people wrote.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        let is_markdown = file.has_extension("md") && !file.path.starts_with("docs/results");
        if !is_markdown && !file.has_extension("rs") {
            continue;
        }
        let mut is_code = false;
        for (number, line) in file.text.lines().enumerate() {
            let Some(prose) = prose(line, is_markdown) else {
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

/// The text of a line of Markdown, or of a line of Rust that is a comment.
fn prose(line: &str, is_markdown: bool) -> Option<&str> {
    let line = line.trim_start();
    if is_markdown {
        return Some(line);
    }
    let comment = line.strip_prefix("//")?;
    Some(comment.trim_start_matches(['/', '!']).trim_start())
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
