//! The password that encrypted keys are read with: from a file, or asked for on the terminal.

use std::io::{self, IsTerminal};

use zeroize::Zeroizing;

use crate::{
    arguments::{KeyFormat, Keygen},
    exit::{Class, Failure},
    files,
};

/// The longest password that is taken from a file.
const MOST: u64 = 1 << 16;

/// The password, where the format takes one.
pub(super) fn of(arguments: &Keygen) -> Result<Option<Zeroizing<Vec<u8>>>, Failure> {
    let is_wanted = arguments.format == KeyFormat::Pkcs8Encrypted;
    match (&arguments.password_file, is_wanted) {
        (None, false) => Ok(None),
        (Some(_), false) => {
            let what = format!(
                "keys of the format {} have no password",
                arguments.format.name()
            );
            Err(Failure::new(Class::Usage, what).advice("add --format pkcs8-encrypted"))
        }
        (Some(path), true) => {
            let bytes = Zeroizing::new(files::read(Some(path), MOST)?);
            let line = bytes
                .split(|&byte| byte == b'\n')
                .next()
                .unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                let what = format!("the first line of {} is empty", path.display());
                return Err(Failure::new(Class::Input, what).advice("write the password there"));
            }
            Ok(Some(Zeroizing::new(line.to_vec())))
        }
        (None, true) => asked().map(Some),
    }
}

fn asked() -> Result<Zeroizing<Vec<u8>>, Failure> {
    if !io::stdin().is_terminal() {
        let what = "there is no terminal to ask for the password on";
        return Err(Failure::new(Class::Usage, what).advice("name a file with --password-file"));
    }
    let ask = |prompt| {
        rpassword::prompt_password(prompt)
            .map(Zeroizing::new)
            .map_err(|error| Failure::io("cannot ask for the password", error))
    };
    let password = ask("Password for the keys: ")?;
    if password.is_empty() {
        return Err(Failure::new(Class::Usage, "the password is empty"));
    }
    if *ask("The same again: ")? != *password {
        return Err(Failure::new(Class::Usage, "the two passwords differ"));
    }
    Ok(Zeroizing::new(password.as_bytes().to_vec()))
}
