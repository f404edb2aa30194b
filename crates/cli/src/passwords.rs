//! Passwords: from the first line of a file, or typed on the terminal.

use std::{
    io::{self, IsTerminal},
    path::Path,
};

use zeroize::Zeroizing;

use crate::{
    arguments::KeyFormat,
    exit::{Class, Failure, Result},
    files,
    printable::printable,
    steps,
};

/// A password, wiped when it is dropped.
pub(crate) type Password = Zeroizing<Vec<u8>>;

/// The longest password that is taken from a file.
const MOST: u64 = 1 << 16;

/// The password of a key that has one already: the first line of a file, as it stands. It may be empty.
pub(crate) fn from_file(path: &Path) -> Result<Password> {
    let bytes = files::read(Some(path), MOST)
        .map_err(|failure| failure.or_advice("name a file whose first line is the password"))?;
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    steps::ended(|| format!("{}: its first line is the password", files::name(Some(path))));
    Ok(Zeroizing::new(line.to_vec()))
}

/// A new password from a file. One that other programs would read otherwise is refused: a key under it could not be
/// opened again.
pub(crate) fn new_from_file(path: &Path) -> Result<Password> {
    let password = from_file(path)?;
    let name = path.display();
    if password.is_empty() {
        let what = format!("the first line of {name} is empty");
        return Err(Failure::new(Class::Input, what).advice("write the password there"));
    }
    match misread(&password) {
        Some(what) => {
            let what = format!("the first line of {name} is no password for a new key: {what}");
            Err(Failure::new(Class::Input, what).advice("save the file as UTF-8 without a mark"))
        }
        None => Ok(password),
    }
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Bytes that an editor has written and nobody types, and that programs do not agree about.
fn misread(password: &[u8]) -> Option<&'static str> {
    if UTF16_MARKS.iter().any(|mark| password.starts_with(mark)) {
        Some("the file is UTF-16, with a byte order mark")
    } else if password.starts_with(UTF8_MARK) {
        Some("it begins with a byte order mark, which counts as part of it")
    } else if password.contains(&0) {
        Some("it has a zero byte in it, as text in UTF-16 has")
    } else {
        None
    }
}

/// A possible reason why a password from a file does not fit.
pub(crate) fn oddity(password: &[u8]) -> Option<&'static str> {
    let ends_white = password.last().is_some_and(u8::is_ascii_whitespace);
    match misread(password) {
        Some(what) => Some(what),
        None if password.is_empty() => Some("it is empty"),
        None if ends_white => Some("it ends with white space, which counts"),
        None => None,
    }
}

/// A new password, asked for twice.
pub(crate) fn new_one(option: &str) -> Result<Password> {
    let password = ask("Password for the keys: ", option)?;
    if password.is_empty() {
        return Err(Failure::new(Class::Usage, "the password is empty"));
    }
    if *ask("The same again: ", option)? != *password {
        return Err(Failure::new(Class::Usage, "the two passwords differ"));
    }
    Ok(password)
}

/// The password of a key that has one already. `option` names a file where nobody can be asked.
pub(crate) fn of_key(path: &Path, option: &str) -> Result<Password> {
    let name = printable(&path.display().to_string());
    ask(&format!("Password of {name}: "), option)
}

/// A password was given for keys of a format without one.
pub(crate) fn not_of(format: KeyFormat) -> Failure {
    let what = format!("keys of the format {} have no password", format.name());
    Failure::new(Class::Usage, what).advice("add --format pkcs8-encrypted")
}

fn ask(prompt: &str, option: &str) -> Result<Password> {
    if !io::stdin().is_terminal() {
        let what = "the password cannot be typed: standard input is no terminal";
        return Err(Failure::new(Class::Usage, what).advice(format!("name a file with {option}")));
    }
    let typed = rpassword::prompt_password(prompt)
        .map(Zeroizing::new)
        .map_err(|error| Failure::io("cannot ask for the password", error))?;
    Ok(Zeroizing::new(typed.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_adds_is_told_from_what_is_typed() {
        let misread: [&[u8]; 5] = [
            b"\xef\xbb\xbfsecret",
            b"\xff\xfes\0e\0",
            b"\xfe\xff\0s\0e",
            b"s\0e\0",
            b"a\0b",
        ];
        for password in misread {
            assert!(super::misread(password).is_some(), "{password:?}");
            assert!(oddity(password).is_some());
        }
        for password in [&b"secret"[..], "Stra\u{df}e".as_bytes(), b"\xe4", b" a b"] {
            assert_eq!(super::misread(password), None, "{password:?}");
            assert_eq!(oddity(password), None);
        }
        assert!(oddity(b"secret ").is_some() && oddity(b"").is_some());
    }
}
