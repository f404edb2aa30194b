//! Excerpts of files in the documents are what the files have today.
//!
//! A page shows configurations and programs that are tested elsewhere. It has their text itself, so that it can be read
//! on a repository's host as in the book:
//!
//! ````text
//! <!-- file: integrations/openssl-provider/scripts/servers.sh, nginx -->
//! ```text
//! worker_processes 2;
//! ```
//! ````
//!
//! The path is relative to the root of the repository. After a comma may stand the name of a part, which is what the
//! file has between lines that say `ANCHOR: nginx` and `ANCHOR_END: nginx`.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use super::{finding::Finding, source::SourceFile};

const MARK: &str = "<!-- file: ";
const MARK_END: &str = " -->\n";
const FENCE: &str = "```";
/// The book's own way, which a repository's host shows as it stands.
const INCLUDE: &str = "{{#include";

/// Applies the rule to every document.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for page in files.iter().filter(|file| file.has_extension("md")) {
        if page.text.contains(INCLUDE) {
            let message = format!(
                "has {INCLUDE} …}}}}, which only the book resolves: write <!-- file: PATH --> and a code block"
            );
            findings.push(Finding::new(&page.path, None, message));
        }
        match renewed(&page.text, files) {
            Ok(text) if text == page.text => {}
            Ok(_) => findings.push(Finding::new(
                &page.path,
                None,
                "an excerpt is not what its file has today: cargo xtask documents",
            )),
            Err(fault) => findings.push(Finding::new(&page.path, None, fault)),
        }
    }
    findings
}

/// Writes the excerpts of today into every document.
pub(crate) fn write(root: &Path, files: &[SourceFile]) -> Result<()> {
    for page in files.iter().filter(|file| file.has_extension("md")) {
        let text = renewed(&page.text, files).map_err(|fault| anyhow::anyhow!("{}: {fault}", page.path.display()))?;
        if text != page.text {
            fs::write(root.join(&page.path), text).with_context(|| format!("writing {}", page.path.display()))?;
            println!("{}", page.path.display());
        }
    }
    Ok(())
}

/// A page with the excerpts of today; or what is wrong with one.
fn renewed(page: &str, files: &[SourceFile]) -> Result<String, String> {
    let mut text = String::with_capacity(page.len());
    let mut rest = page;
    while let Some(at) = rest.find(MARK) {
        let (before, marked) = rest.split_at(at);
        let is_whole = marked.find(MARK_END).map(|end| marked.split_at(end + MARK_END.len()));
        // A mark in the middle of a line is text about marks.
        let (Some((mark, after)), true) = (is_whole, before.is_empty() || before.ends_with('\n')) else {
            let (passed, left) = rest.split_at(at + MARK.len());
            text += passed;
            rest = left;
            continue;
        };
        let name = &mark[MARK.len()..mark.len() - MARK_END.len()];
        let fault = || format!("no code block follows the mark of {name}");
        let (opening, body) = after.split_once('\n').ok_or_else(fault)?;
        if !opening.starts_with(FENCE) {
            return Err(fault());
        }
        let end = match body.starts_with(FENCE) {
            true => 0,
            false => body.find(&format!("\n{FENCE}")).ok_or_else(fault)? + 1,
        };
        text += before;
        text += mark;
        text += opening;
        text += "\n";
        text += &excerpt(name, files)?;
        rest = &body[end..];
    }
    Ok(text + rest)
}

/// Returns what a file, or a part of one, has today: whole lines.
fn excerpt(name: &str, files: &[SourceFile]) -> Result<String, String> {
    let (path, part) = name
        .split_once(", ")
        .map_or((name, None), |(path, part)| (path, Some(part)));
    let file = files
        .iter()
        .find(|file| file.path == Path::new(path))
        .ok_or_else(|| format!("an excerpt names {path}, which is not there"))?;
    let is_mark = |line: &str| line.contains("ANCHOR: ") || line.contains("ANCHOR_END: ");
    let lines: Vec<&str> = match part {
        None => file.text.lines().collect(),
        Some(part) => {
            let named = |line: &str, mark: &str| line.split_once(mark).is_some_and(|(_, name)| name.trim() == part);
            let mut lines = file.text.lines();
            lines
                .find(|line| named(line, "ANCHOR: "))
                .ok_or_else(|| format!("{path} has no part {part}"))?;
            let lines: Vec<&str> = lines.collect();
            let end = lines
                .iter()
                .position(|line| named(line, "ANCHOR_END: "))
                .ok_or_else(|| format!("the part {part} of {path} does not end"))?;
            lines[..end].to_vec()
        }
    };
    let shown = lines.into_iter().filter(|line| !is_mark(line));
    Ok(shown.map(|line| format!("{line}\n")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    fn messages(files: &[SourceFile]) -> Vec<String> {
        check(files).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn an_excerpt_that_is_out_of_date_is_found_and_renewed() {
        let config = file("a.cnf", "one\n# ANCHOR: x\ntwo\n# ANCHOR_END: x\nthree\n");
        let page = "Whole:\n\n<!-- file: a.cnf -->\n```ini\nold\n```\n\nA part:\n\n<!-- file: a.cnf, x -->\n```ini\n```\nend\n";
        let files = [file("docs/page.md", page), config];
        assert_eq!(messages(&files).len(), 1);
        let new = renewed(page, &files).unwrap();
        assert_eq!(
            new,
            "Whole:\n\n<!-- file: a.cnf -->\n```ini\none\ntwo\nthree\n```\n\nA part:\n\n<!-- file: a.cnf, x -->\n```ini\ntwo\n```\nend\n"
        );
        let [_, config] = files;
        assert_eq!(messages(&[file("docs/page.md", &new), config]), [""; 0]);
    }

    #[test]
    fn what_cannot_be_shown_is_found() {
        let config = || file("a.cnf", "one\n# ANCHOR: x\ntwo\n");
        for page in [
            "<!-- file: b.cnf -->\n```\n```\n",
            "<!-- file: a.cnf, y -->\n```\n```\n",
            "<!-- file: a.cnf, x -->\n```\n```\n",
            "<!-- file: a.cnf -->\nno block\n",
            "<!-- file: a.cnf -->\n```\nno end\n",
            "```ini\n{{#include ../a.cnf}}\n```\n",
        ] {
            assert_eq!(messages(&[file("page.md", page), config()]).len(), 1, "{page}");
        }
        let about = "The mark `<!-- file: PATH -->` names a file.\n";
        assert_eq!(messages(&[file("page.md", about), config()]), [""; 0]);
    }
}
