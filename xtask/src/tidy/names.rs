//! Names that say something, and names that stay where they belong.

use std::path::Path;

use super::{finding::Finding, source::SourceFile};

/// File and folder names that hide what is inside.
const VAGUE: [&str; 5] = ["common", "util", "utils", "helpers", "misc"];

/// Marks of work left undone. Written so that this file does not find itself.
const UNFINISHED: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];

/// Macros of work left undone.
const UNFINISHED_MACROS: [&str; 2] = ["todo", "unimplemented"];

/// Applies the rules about names.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if file.path.iter().any(|part| {
            VAGUE
                .iter()
                .any(|vague| Path::new(part).file_stem() == Some(vague.as_ref()))
        }) {
            findings.push(Finding::new(
                &file.path,
                None,
                "a name that does not say what is inside",
            ));
        }
        if !file.has_extension("rs") {
            continue;
        }
        for (number, line) in file.text.lines().enumerate() {
            if let Some(mark) = UNFINISHED.iter().find(|mark| line.contains(**mark)) {
                findings.push(Finding::new(&file.path, number + 1, format!("unfinished: {mark}")));
            }
        }
        // A file that is not Rust is reported by the rule on `unsafe`.
        for (name, line) in file.identifiers().unwrap_or_default() {
            if UNFINISHED_MACROS.contains(&name.as_str()) {
                findings.push(Finding::new(&file.path, line, format!("unfinished: {name}!")));
            }
        }
    }
    findings
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

    #[test]
    fn vague_names_and_unfinished_work_are_found() {
        let unfinished = format!("// {}: later\nfn f() {{ todo!() }}\n", UNFINISHED[0]);
        assert_eq!(check(&[file("crates/rsa/src/utils.rs", "")]).len(), 1);
        assert_eq!(check(&[file("crates/rsa/src/common/keys.rs", "")]).len(), 1);
        assert_eq!(check(&[file("crates/rsa/src/keys.rs", &unfinished)]).len(), 2);
    }
}
