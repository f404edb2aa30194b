//! A script that removes its files at its end removes them when it is stopped, too: dash, Debian's `sh`, runs a trap of
//! `EXIT` for no signal that ends it.

use super::{finding::Finding, source::SourceFile};

/// The signals that stop a script.
const SIGNALS: [&str; 2] = ["INT", "TERM"];

/// Applies the rule to every script.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.has_extension("sh"))
        .filter(|file| traps(&file.text, "EXIT") && !SIGNALS.iter().all(|signal| traps(&file.text, signal)))
        .map(|file| {
            let message = "leaves its files when it is stopped: trap 'exit 130' INT TERM, besides EXIT";
            Finding::new(&file.path, None, message)
        })
        .collect()
}

/// Returns whether a line of a script sets a trap for a signal.
fn traps(text: &str, signal: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| line.starts_with("trap ") && line.split(' ').any(|word| word == signal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        let file = SourceFile {
            path: path.into(),
            text: text.into(),
        };
        check(&[file]).len()
    }

    #[test]
    fn a_script_that_is_left_as_it_stands_by_a_signal_is_found() {
        let end = "work=$(mktemp -d)\ntrap 'rm -rf \"$work\"' EXIT\n";
        assert_eq!(count("scripts/a.sh", end), 1);
        assert_eq!(count("scripts/a.sh", &format!("{end}trap 'exit 130' INT\n")), 1);
        assert_eq!(count("scripts/a.sh", &format!("{end}trap 'exit 130' INT TERM\n")), 0);
        assert_eq!(count("scripts/a.sh", "echo no files\n"), 0);
        assert_eq!(count("docs/a.md", end), 0);
    }
}
