//! `rsalab key`: what a key is, its public half, and the same key in another format.

mod check;
mod dkim;

use zeroize::Zeroizing;

use super::{inputs::Destination, key_writer::KeyWriter};
use crate::{
    arguments::{Key, KeyConvert, KeyFormat, KeyPublic},
    exit::{Class, Failure, Result},
    files::Privacy,
    keys,
    output::Log,
    passwords,
};

/// Does what was typed.
pub(crate) fn run(arguments: &Key, log: Log) -> Result<()> {
    match arguments {
        Key::Check(arguments) => check::run(arguments, log),
        Key::Public(arguments) => public(arguments, log),
        Key::Convert(arguments) => convert(arguments, log),
    }
}

fn public(arguments: &KeyPublic, log: Log) -> Result<()> {
    let format = arguments.format.format;
    let out = Destination::of(arguments.out.path())?;
    refuse_set(format)?;
    let loaded = keys::public(&arguments.file, &arguments.reading, log)?;
    let writer = KeyWriter::new(format, None).of(&loaded);
    writer.note_what_is_lost(log);
    let bytes = match format {
        KeyFormat::Dkim => dkim::record(&loaded, log)?,
        _ => writer.public(&loaded.key)?,
    };
    if matches!(format, KeyFormat::Pkcs8Der | KeyFormat::Pkcs1Der) {
        out.check_terminal("the key")?;
    }
    out.write(&with_line_end(&bytes, format), Privacy::Public)
}

fn convert(arguments: &KeyConvert, log: Log) -> Result<()> {
    let format = arguments.format.format;
    let out = Destination::of(Some(&arguments.out))?;
    format.check_private()?;
    let is_encrypted = format == KeyFormat::Pkcs8Encrypted;
    if arguments.new_password_file.is_some() && !is_encrypted {
        return Err(passwords::not_of(format));
    }
    refuse_set(format)?;
    let loaded = keys::private(&arguments.file, &arguments.reading, log)?;
    let password = match (&arguments.new_password_file, is_encrypted) {
        (Some(path), _) => Some(passwords::new_from_file(path)?),
        (None, true) => Some(passwords::new_one("--new-password-file")?),
        (None, false) => None,
    };
    let writer = KeyWriter::new(format, password).of(&loaded);
    writer.note_what_is_lost_of_private(log);
    let bytes = writer.private(&loaded.key)?;
    out.write(&with_line_end(&bytes, format), Privacy::Private)?;
    if let Destination::File(path) = out {
        log.note(format_args!(
            "{} is in {}, readable by its owner only",
            arguments.file.display(),
            path.display()
        ));
    }
    Ok(())
}

/// In a file, JSON on one line ends with a line feed.
fn with_line_end(bytes: &[u8], format: KeyFormat) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(match format {
        KeyFormat::Jwk => [bytes, b"\n"].concat(),
        _ => bytes.to_vec(),
    })
}

fn refuse_set(format: KeyFormat) -> Result<()> {
    match format {
        KeyFormat::JwkSet => {
            Err(Failure::new(Class::Usage, "--format jwk-set is for many keys").advice("take --format jwk"))
        }
        _ => Ok(()),
    }
}
