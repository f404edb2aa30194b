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
};

/// A password, wiped when it is dropped.
pub(crate) type Password = Zeroizing<Vec<u8>>;

/// The longest password that is taken from a file.
const MOST: u64 = 1 << 16;

/// The first line of a file.
pub(crate) fn from_file(path: &Path) -> Result<Password> {
    let bytes =
        Zeroizing::new(files::read(Some(path), MOST).map_err(|failure| {
            failure.or_advice("name a file whose first line is the password")
        })?);
    let line = bytes
        .split(|&byte| byte == b'\n')
        .next()
        .unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() {
        let what = format!("the first line of {} is empty", path.display());
        return Err(Failure::new(Class::Input, what).advice("write the password there"));
    }
    Ok(Zeroizing::new(line.to_vec()))
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
