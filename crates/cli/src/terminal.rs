//! Terminals: their width, so that no line breaks inside a word, and colours of verdicts.
//!
//! Where nobody watches (a pipe, a file), lines are as long as they are, and have no colours.

use std::{
    borrow::Cow,
    env,
    fmt::Display,
    io::{self, IsTerminal, Write},
    os::fd::AsFd,
};

use terminal_size::{Width, terminal_size_of};

/// Columns of a terminal that are not worth filling one by one.
const LEAST_WIDTH: usize = 20;

/// How wide the terminal is that is written to; none if it is no terminal.
pub(crate) fn width(stream: impl AsFd) -> Option<usize> {
    let (Width(columns), _) = terminal_size_of(stream)?;
    Some(usize::from(columns).max(LEAST_WIDTH))
}

/// Returns whether verdicts on standard output are coloured: on a terminal that can, unless NO_COLOR says otherwise
/// (no-color.org).
pub(crate) fn has_colours() -> bool {
    let is_set = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    io::stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// The word of a verdict in its colour: green if all is well, yellow if something is to be looked at, red if it is not.
pub(crate) fn coloured(word: &str) -> Cow<'_, str> {
    let colour = match word {
        "OK" | "accepted" | "good" => 32,
        "weak" | "unsupported" | "medium" => 33,
        "FAILED" | "not verified" | "wrong" | "unreadable" | "high" | "critical" => 31,
        _ => return Cow::Borrowed(word),
    };
    Cow::Owned(format!("\u{1b}[{colour}m{word}\u{1b}[0m"))
}

/// Prints on standard error what even a quiet program must print. A failure to do so cannot be reported anywhere.
pub(crate) fn error_line(line: impl Display) {
    let line = line.to_string();
    let line = match width(io::stderr()) {
        Some(width) => wrapped(&line, width),
        None => line,
    };
    let _ = writeln!(io::stderr(), "{line}");
}

/// A text whose lines have so many characters at most, broken between words; lines that continue one are indented. A
/// word that is longer has a line of its own.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (content, end) = match line.strip_suffix('\n') {
            Some(content) => (content, "\n"),
            None => (line, ""),
        };
        wrapped += &broken(content, width, "  ").join("\n");
        wrapped += end;
    }
    wrapped
}

/// The lines of one line, of so many characters each, where words allow it.
pub(crate) fn broken(line: &str, width: usize, indent: &str) -> Vec<String> {
    if line.chars().count() <= width {
        return vec![line.to_owned()];
    }
    let mut lines = Vec::new();
    // Spaces at the beginning are those of its other lines too.
    let content = line.trim_start_matches(' ');
    let (start, content) = line.split_at(line.len() - content.len());
    let mut current = start.to_owned();
    for (place, word) in content.split(' ').enumerate() {
        let word_len = word.chars().count();
        if place > 0 && current.chars().count() + 1 + word_len > width {
            lines.push(std::mem::take(&mut current));
            // What is longer than a line begins at its left.
            if start.len() + indent.len() + word_len <= width {
                current = [start, indent].concat();
            }
        } else if place > 0 {
            current.push(' ');
        }
        current += word;
    }
    lines.push(current);
    lines.iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_nowhere_else() {
        let text = "the signature of message.txt is wrong\nshort\n  indented words are here\n";
        assert_eq!(
            wrapped(text, 20),
            "the signature of\n  message.txt is\n  wrong\nshort\n  indented words are\n    here\n"
        );
        let path = "report: /a/path/that/is/longer/than/any/line/report.html";
        assert_eq!(
            wrapped(path, 20),
            "report:\n/a/path/that/is/longer/than/any/line/report.html"
        );
        for width in 1..60 {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&wrapped(text, width)), words(text));
            let fits = |line: &str| line.chars().count() <= width || words(line).len() == 1;
            assert!(wrapped(text, width).lines().all(fits), "{width}");
        }
    }

    #[test]
    fn verdicts_have_colours_and_other_words_have_none() {
        assert_eq!(coloured("good"), "\u{1b}[32mgood\u{1b}[0m");
        assert_eq!(coloured("wrong"), "\u{1b}[31mwrong\u{1b}[0m");
        assert_eq!(coloured("own"), "own");
    }
}
