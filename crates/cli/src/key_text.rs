//! The text of a key in the command line, where the name of a file belongs. It is in nothing that is printed.

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::Path,
};

use rsalab_rsa::format::is_key_text;

use crate::exit::{Class, Failure, Result};

/// The option whose value may be any text, even that of a key: but for these commands, which take a file there.
const TEXT: &str = "--text";
const TEXT_IS_A_FILE: [&str; 2] = ["study", "slurm"];

/// Refuses a command line with the text of a key in it.
pub(crate) fn refuse(words: &[OsString]) -> Result<()> {
    let command = words.iter().find(|word| !word.as_bytes().starts_with(b"-"));
    let takes_text = !command.is_some_and(|command| TEXT_IS_A_FILE.iter().any(|one| command == one));
    for (place, word) in words.iter().enumerate() {
        let before = place.checked_sub(1).and_then(|before| words[before].to_str());
        let (option, value) = parts(word, before);
        let is_text = takes_text && option.as_deref() == Some(TEXT);
        if !is_text && is_key(value) {
            let what = match option {
                Some(option) => {
                    format!("the value of {option} is the text of a key, not the name of a file")
                }
                None => format!("word {} is the text of a key, not the name of a file", place + 1),
            };
            return Err(Failure::new(Class::Usage, what).advice(
                "write it to a file that nobody else may read, and name that, or '-' and give it to standard input: others can read the words of a command",
            ));
        }
    }
    Ok(())
}

/// The failure of a command line that cannot be read, if it holds the text of a key anywhere: what is wrong would
/// repeat it.
pub(crate) fn unreadable(words: &[OsString]) -> Option<Failure> {
    words.iter().any(|word| is_key_text(word.as_bytes())).then(|| {
        let what = "this command line is wrong, and holds the text of a key, so that it is not repeated";
        Failure::new(Class::Usage, what)
            .advice("a value that begins with a hyphen is written as --text=VALUE; '--help' lists the options")
    })
}

/// The option that a word belongs to, if it is a value, and the value.
fn parts<'a>(word: &'a OsString, before: Option<&str>) -> (Option<String>, &'a [u8]) {
    let is_option = |name: &str| {
        name.len() < 30
            && name.starts_with("--")
            && name[2..].bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
            && name.len() > 2
    };
    let bytes = word.as_bytes();
    let equals = bytes.iter().position(|&byte| byte == b'=');
    let own = equals.and_then(|end| std::str::from_utf8(&bytes[..end]).ok());
    match (own.filter(|own| is_option(own)), equals) {
        (Some(own), Some(end)) => (Some(own.to_owned()), &bytes[end + 1..]),
        _ => (before.filter(|before| is_option(before)).map(str::to_owned), bytes),
    }
}

/// Returns whether a word is the text of a key, or a part of one. The name of a file that is there, or could be made,
/// is a name, whatever it looks like.
pub(crate) fn is_key(word: &[u8]) -> bool {
    let path = Path::new(OsStr::from_bytes(word));
    let is_place = || {
        path.parent()
            .is_some_and(|folder| !folder.as_os_str().is_empty() && folder.is_dir())
    };
    (is_key_text(word) && !path.exists()) || (is_base64(word) && !is_place())
}

/// Returns whether a word may be some lines of base64: longer than a name, of its characters alone, and of all kinds of
/// them.
fn is_base64(word: &[u8]) -> bool {
    const LEAST: usize = 200;
    let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_= \r\n\t".contains(byte);
    let kinds = [u8::is_ascii_uppercase, u8::is_ascii_lowercase, u8::is_ascii_digit];
    word.len() >= LEAST && word.iter().all(is_base64) && kinds.iter().all(|is_kind| word.iter().any(is_kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(words: &[&str]) -> Option<String> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        refuse(&words).err().map(|failure| failure.to_string())
    }

    #[test]
    fn the_text_of_a_key_is_refused_and_its_place_is_named() {
        let key = "-----BEGIN PRIVATE KEY----- MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj";
        for (words, place) in [
            (&["sign", "--key", key][..], "value of --key"),
            (&["sign", &format!("--key={key}")], "value of --key"),
            (&["key", "public", key], "word 3"),
            (&["key", "public", &"Tf/Tl+a0/".repeat(30)], "word 3"),
            (&["text-encrypt", "--text", "x", "--key", key], "value of --key"),
            (&["-v", "study", "--print-plan", "--text", key], "value of --text"),
            (
                &["slurm", "study", "--parts", "2", "--", &format!("--text={key}")],
                "value of --text",
            ),
        ] {
            let said = said(words).expect("it is a key");
            assert!(said.contains(place) && !said.contains("MIIE"), "{said}");
        }
        assert_eq!(said(&["text-encrypt", "--text", key, "--key", "key.pem"]), None);
        let folder = tempfile::tempdir().expect("a folder for the test");
        let long = folder.path().join("A0a".repeat(80));
        assert_eq!(said(&["keygen", "--out", long.to_str().expect("text")]), None);
        assert_eq!(said(&["keygen", "--insecure-seed", &"30".repeat(32)]), None);
    }
}
