//! The table of engines in the documents is the one that the program reads.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{finding::Finding, source::SourceFile};

const TABLE: &str = "crates/engines/engines.toml";
/// The marks around the table in a Markdown file.
const BEGIN: &str = "<!-- engines: written by cargo xtask documents -->\n";
const END: &str = "<!-- /engines -->";

#[derive(Deserialize)]
struct Table {
    engine: Vec<Engine>,
}

#[derive(Deserialize)]
struct Engine {
    name: String,
    summary: String,
    conditions: String,
    licence: String,
}

impl Table {
    fn parse(text: &str) -> Result<Table> {
        toml::from_str(text).with_context(|| format!("{TABLE} cannot be read"))
    }

    fn markdown(&self) -> String {
        let mut table =
            "| engine | what it is | conditions of the private operation | licence |\n|---|---|---|---|\n".to_owned();
        for engine in &self.engine {
            let Engine {
                name,
                summary,
                conditions,
                licence,
            } = engine;
            table += &format!("| `{name}` | {summary} | {conditions} | {licence} |\n");
        }
        table
    }
}

/// `text` with the table of today between the marks; `None` without marks.
fn renewed(text: &str, table: &Table) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}{END}{after}", table.markdown()))
}

/// Applies the rule: one document at least has the table, and every one that has it is up to date.
pub(crate) fn check(files: &[SourceFile]) -> Result<Vec<Finding>> {
    let Some(source) = files.iter().find(|file| file.path == Path::new(TABLE)) else {
        return Ok(vec![Finding::new(TABLE, None, "is missing")]);
    };
    let table = Table::parse(&source.text)?;
    let mut found = false;
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("md")) {
        if let Some(renewed) = renewed(&file.text, &table) {
            found = true;
            if renewed != file.text {
                let message = "the table of engines is not that of engines.toml: cargo xtask documents";
                findings.push(Finding::new(&file.path, None, message));
            }
        }
    }
    if !found {
        findings.push(Finding::new(TABLE, None, "stands in no document"));
    }
    Ok(findings)
}

/// Writes the table of today into every document that has it.
pub(crate) fn write(root: &Path, files: &[SourceFile]) -> Result<()> {
    let table = Table::parse(&fs::read_to_string(root.join(TABLE))?)?;
    for file in files.iter().filter(|file| file.has_extension("md")) {
        if let Some(renewed) = renewed(&file.text, &table)
            && renewed != file.text
        {
            fs::write(root.join(&file.path), renewed).with_context(|| format!("writing {}", file.path.display()))?;
            println!("{}", file.path.display());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(document: &str) -> Vec<SourceFile> {
        let table =
            "[[engine]]\nname = \"a\"\nsummary = \"b\"\nconditions = \"c\"\nlicence = \"MIT\"\nhome = \"built-in\"\n";
        [(TABLE, table), ("docs/engines.md", document)]
            .map(|(path, text)| SourceFile {
                path: path.into(),
                text: text.to_owned(),
            })
            .into()
    }

    #[test]
    fn a_table_that_is_out_of_date_is_found_and_renewed() {
        let old = format!("Engines:\n{BEGIN}| old |\n{END}\nmore");
        assert_eq!(check(&files(&old)).unwrap().len(), 1);
        let table = Table::parse(&files("")[0].text).unwrap();
        let new = renewed(&old, &table).unwrap();
        assert!(new.contains("| `a` | b | c | MIT |\n"), "{new}");
        assert!(new.starts_with("Engines:\n") && new.ends_with("\nmore"), "{new}");
        assert_eq!(check(&files(&new)).unwrap(), []);
    }

    #[test]
    fn a_table_that_stands_nowhere_is_found() {
        assert_eq!(check(&files("no table")).unwrap().len(), 1);
    }
}
