//! Names that a user gives to keys, a line each: their files are called so, and the formats that have room for a name
//! carry it.

use std::collections::{BTreeMap, HashSet};

use crate::{
    arguments::Keygen,
    commands::{
        inputs::{holds_key, lines},
        key_writer::KeyWriter,
    },
    exit::{Class, Failure, Result},
    files,
};

/// The longest list of names.
const MOST_LIST: u64 = 64 << 20;
/// The most bytes of a name: a tar archive takes 100 with what is added to it.
const MOST_BYTES: usize = 80;

/// The names of keys, in the order of their numbers.
pub(super) fn read(arguments: &Keygen, writer: &KeyWriter) -> Result<Option<Vec<String>>> {
    let Some(path) = &arguments.names else {
        return Ok(None);
    };
    let shown = files::name(Some(path));
    let refused = |what: String, advice: &str| Err(Failure::new(Class::Input, what).advice(advice));
    let bytes = files::read(Some(path), MOST_LIST).map_err(|failure| failure.or_advice("make fewer keys at once"))?;
    // The names would be in messages.
    if holds_key(&bytes) {
        return refused(format!("{shown} holds a key, not names"), "write a name on each line");
    }
    let mut names: Vec<String> = Vec::new();
    let mut taken: BTreeMap<String, usize> = BTreeMap::new();
    for (number, line) in lines(&bytes) {
        // No name ends in a carriage return.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let Some(name) = plain(line) else {
            return refused(
                format!("line {number} of {shown} is not a name that a file can have everywhere"),
                "take names of up to 80 bytes without '/' and control characters that begin with neither '.' nor '-'",
            );
        };
        // The files of two names may be called the same, such as 'a.pub' and the public half of 'a'.
        let (ending, public_ending) = writer.endings();
        let mut of_name = HashSet::from([format!("{name}{ending}")]);
        if arguments.public {
            of_name.insert(format!("{name}{public_ending}"));
        }
        for file in of_name {
            if let Some(before) = taken.insert(file, number) {
                return refused(
                    format!("lines {before} and {number} of {shown} give one file to two keys"),
                    "name each key once",
                );
            }
        }
        names.push(name);
    }
    if names.is_empty() {
        return refused(format!("{shown} has no names"), "write a name on each line");
    }
    match arguments.count {
        Some(count) if count != names.len() as u64 => {
            let what = format!("{shown} has {} names, and --count asks for {count} keys", names.len());
            Err(Failure::new(Class::Usage, what).advice("leave out --count: as many keys are made as there are names"))
        }
        _ => Ok(Some(names)),
    }
}

/// The name in a line, if it is one that a file can have.
fn plain(line: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(line).ok()?;
    let is_plain = name.len() <= MOST_BYTES
        && !name.starts_with(['.', '-'])
        && name.trim() == name
        && !name.chars().any(|letter| letter == '/' || letter.is_control())
        && name != "manifest.jsonl";
    is_plain.then(|| name.to_owned())
}
