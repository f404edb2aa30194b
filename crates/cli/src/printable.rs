//! Text from elsewhere, such as the name of a file, as one line of the program's output.

/// The text without what would forge a line or command a terminal: control characters, line separators, and characters
/// that are invisible or change the direction of writing are escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        let is_invisible = matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        match character.is_control() || is_invisible {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_forge_lines_or_command_a_terminal() {
        assert_eq!(printable("Übung 1.pem"), "Übung 1.pem");
        assert_eq!(
            printable("a: OK\nb\r\u{1b}[2K\u{9b}1m\u{202e}gpj.exe\u{2028}\u{200b}"),
            "a: OK\\nb\\r\\u{1b}[2K\\u{9b}1m\\u{202e}gpj.exe\\u{2028}\\u{200b}"
        );
    }
}
