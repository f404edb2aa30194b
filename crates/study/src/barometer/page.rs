//! The page that lists entries, by CPU.

use std::collections::BTreeMap;

use rsalab_engines::Op;

use super::entry::{Cell, Entry, Group};
use crate::{compare::CONFIDENCE, number};

/// Markdown: a table for each CPU, of one thread's private operations and signatures, and of all that a file has more
/// the number of its cells. `entries` are verified, each with the name of its file.
pub fn markdown(entries: &[(String, Entry)]) -> String {
    let mut text = "# Barometer\n\nWritten by `rsalab barometer page`; the [book's page](../../src/reference/barometer.md) \
                    says what an entry is, and what its\nverification cannot prove. Speeds are operations a second, with \
                    intervals.\n"
        .to_owned();
    if entries.is_empty() {
        text += "\nThere is no entry yet.\n";
    }
    let mut by_cpu: BTreeMap<&str, Vec<&(String, Entry)>> = BTreeMap::new();
    for entry in entries {
        by_cpu.entry(entry.1.cpu.as_str()).or_default().push(entry);
    }
    for (cpu, entries) in by_cpu {
        text += &format!("\n## {}\n", plain(cpu));
        for (name, entry) in entries {
            text += &of_entry(name, entry);
        }
    }
    text
}

fn of_entry(name: &str, entry: &Entry) -> String {
    let cells: usize = entry.groups.iter().map(|group| group.cells.len()).sum();
    let machine = entry.sessions.first().map(|session| &session.machine);
    let virtual_machine = machine.and_then(|machine| machine.hypervisor.as_deref());
    let mut text = format!(
        "\n[{}]({}): {}, {}, {}, rsalab {}{}.\n\n",
        plain(name),
        target(name),
        plain(&entry.title),
        number::counted(entry.sessions.len(), "session"),
        number::counted(cells, "cell"),
        plain(&entry.program.version),
        virtual_machine.map_or_else(String::new, |hypervisor| format!(", under {}", plain(hypervisor))),
    );
    let is_shown = |group: &&Group| matches!(group.job.op, Op::Private | Op::Sign) && group.job.threads == 1;
    let rows: Vec<(&Group, &Cell)> = entry
        .groups
        .iter()
        .filter(is_shown)
        .flat_map(|group| group.cells.iter().map(move |cell| (group, cell)))
        .collect();
    if rows.is_empty() {
        return text;
    }
    text += "| operation | engine | version | a second | interval |\n|---|---|---|---:|---|\n";
    for (group, cell) in rows {
        // A plan may ask for another one than the usual.
        let confidence = match group.confidence == CONFIDENCE {
            true => String::new(),
            false => format!(" ({})", number::percent(group.confidence)),
        };
        text += &format!(
            "| {} | `{}` | {} | {} | {} to {}{confidence} |\n",
            plain(&crate::plan::title(&group.job)),
            plain(&cell.engine),
            plain(&cell.info.version),
            number::significant(cell.stated.ops_per_s),
            number::significant(cell.stated.ops_per_s_low),
            number::significant(cell.stated.ops_per_s_high),
        );
    }
    text
}

/// The target of a link to a file: every byte that may mean something else in a path is encoded (RFC 3986, section
/// 2.3).
fn target(name: &str) -> String {
    let encoded = |byte: u8| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(encoded).collect()
}

/// Text that somebody sent, without markup.
fn plain(text: &str) -> String {
    let is_plain = |c: &char| c.is_alphanumeric() || " ,.:;+-_/()=#@®™".contains(*c);
    text.chars().filter(is_plain).take(160).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_file_puts_nothing_into_the_page() {
        assert_eq!(target("zen4-peers.json.gz"), "zen4-peers.json.gz");
        assert_eq!(target("a b](x).gz"), "a%20b%5D%28x%29.gz");
        assert_eq!(plain("a b](<b>x</b>).gz"), "a b(bx/b).gz");
    }
}
