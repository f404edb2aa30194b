//! Documents that stay true as files move.

use std::path::{Component, Path, PathBuf};

use super::{finding::Finding, layers::Crate, source::SourceFile};

/// Applies the rules about documents.
pub(crate) fn check(root: &Path, crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("md")) {
        for (target, line) in links(&file.text) {
            if !leads_somewhere(root, &file.path, &target) {
                findings.push(Finding::new(
                    &file.path,
                    line,
                    format!("the link {target} leads nowhere"),
                ));
            }
        }
    }
    if let Some(map) = files
        .iter()
        .find(|file| file.path == Path::new("ARCHITECTURE.md"))
    {
        for member in crates {
            let folder = member.folder.display().to_string();
            if !map.text.contains(&format!("`{folder}`")) {
                findings.push(Finding::new(
                    &map.path,
                    None,
                    format!("does not say what `{folder}` is"),
                ));
            }
        }
    } else {
        findings.push(Finding::new("ARCHITECTURE.md", None, "is missing"));
    }
    findings
}

/// Targets of `[text](target)` outside code blocks, with their lines.
fn links(text: &str) -> Vec<(String, usize)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            if let Some((target, _)) = part.split_once(')') {
                links.push((target.to_owned(), number + 1));
            }
        }
    }
    links
}

fn leads_somewhere(root: &Path, from: &Path, target: &str) -> bool {
    let path = target.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return true;
    }
    let joined = from.parent().unwrap_or(Path::new("")).join(path);
    let mut normal = PathBuf::new();
    for part in joined.components() {
        match part {
            // A link out of the repository leads nowhere for whoever clones it.
            Component::ParentDir if !normal.pop() => return false,
            Component::ParentDir | Component::CurDir => {}
            part => normal.push(part),
        }
    }
    root.join(normal).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_outside_code_only() {
        let text =
            "see [a](a.md) and [b](b.md#part)\n```\n[c](c.md)\n```\n[d](https://example.org)\n";
        assert_eq!(
            links(text),
            [
                ("a.md".into(), 1),
                ("b.md#part".into(), 1),
                ("https://example.org".into(), 5)
            ]
        );
    }

    #[test]
    fn broken_links_are_found() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("docs")).unwrap();
        std::fs::write(root.path().join("README.md"), "").unwrap();
        let from = Path::new("docs/guide.md");
        assert!(leads_somewhere(root.path(), from, "../README.md#use"));
        assert!(leads_somewhere(root.path(), from, "#part"));
        assert!(!leads_somewhere(root.path(), from, "README.md"));
        assert!(!leads_somewhere(root.path(), from, "../../outside.md"));
    }
}
