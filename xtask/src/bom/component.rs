//! A piece of software by others, and the program that it is part of.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context, Result};

/// A piece of software by others that is part of a program.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) version: String,
    /// An SPDX expression.
    pub(super) licence: String,
    /// Where it is from: a package URL, which no other version of it has.
    pub(super) purl: String,
    pub(super) home: Option<String>,
    /// The SHA-256 of its archive in the registry, in hexadecimal digits.
    pub(super) checksum: Option<String>,
    /// The texts of its licence.
    pub(super) texts: BTreeSet<String>,
}

/// A file of a wheel, and what of others is in it.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) file: String,
    pub(super) components: Vec<Component>,
}

/// A part of a package URL, percent-encoded.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_~".contains(&byte);
    text.bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect()
}

/// The licence whose text is the same everywhere.
pub(super) const APACHE: &str = "Apache License 2.0, https://www.apache.org/licenses/LICENSE-2.0";

/// The text of a licence in a file. Of Apache 2.0 its name is enough.
pub(super) fn licence_text(path: &Path) -> Result<String> {
    // A longer file holds other licences as well, as that of AWS-LC does.
    const LENGTH_OF_APACHE: usize = 13_000;
    let text = fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let is_apache = text.contains("Apache License") && text.contains("Version 2.0, January 2004");
    Ok(match is_apache && text.len() < LENGTH_OF_APACHE {
        true => APACHE.to_owned(),
        false => text.trim().replace("\r\n", "\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_urls_keep_what_debian_writes_into_versions() {
        assert_eq!(encoded("2:6.2.1+dfsg1-1.1~b"), "2%3A6.2.1%2Bdfsg1-1.1~b");
    }
}
