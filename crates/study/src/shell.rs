//! Words as a shell reads them back.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::Path};

/// A path as the only operand of a command: a name that begins with a minus would be read as an option.
pub fn operand(path: &Path) -> String {
    let begins_with_minus = path.as_os_str().as_bytes().starts_with(b"-");
    let separator = if begins_with_minus { "-- " } else { "" };
    separator.to_owned() + &quoted(path.as_os_str())
}

/// A word.
pub fn quoted(word: &OsStr) -> String {
    let is_plain = |word: &&str| !word.chars().any(char::is_control);
    match word.to_str().filter(is_plain).map(shlex::try_quote) {
        Some(Ok(quoted)) => quoted.into_owned(),
        // What no terminal can show goes by its bytes, in the quotes of bash, zsh, ksh and POSIX.1-2024.
        _ => format!("$'{}'", word.as_bytes().escape_ascii()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_paths_back() {
        for (path, expected) in [
            ("results/quick-1", "results/quick-1"),
            ("my study", "'my study'"),
            ("-my", "-- -my"),
            ("a\nb", r"$'a\nb'"),
        ] {
            assert_eq!(operand(Path::new(path)), expected);
        }
        let not_text = Path::new(OsStr::from_bytes(b"it's \xff"));
        assert_eq!(operand(not_text), r"$'it\'s \xff'");
    }
}
