//! The page on kernels describes every kernel of `arith`'s table, and no other; each kernel's module opens with its
//! formula, its bounds and its schedule.

use std::{collections::BTreeSet, path::Path};

use super::{finding::Finding, source::SourceFile};

const TABLE: &str = "crates/arith/src/kernel/table.rs";
const PAGE: &str = "docs/src/how-to/choose-a-kernel.md";

/// The names of the table's rows.
fn rows(table: &str) -> BTreeSet<&str> {
    let names = table.lines().filter_map(|line| line.trim().strip_suffix(':'));
    names.filter(|name| name.starts_with("mont")).collect()
}

/// The kernels in the first cells of the page's rows.
fn described(page: &str) -> BTreeSet<&str> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| `mont"));
    let first = cells.filter_map(|cells| cells.split(" |").next());
    first
        .flat_map(|cell| cell.split("`, `mont"))
        .map(|name| name.trim_end_matches('`'))
        .collect()
}

/// Applies the rule.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let text = |path: &str| files.iter().find(|file| file.path == Path::new(path));
    let (Some(table), Some(page)) = (text(TABLE), text(PAGE)) else {
        return vec![Finding::new(TABLE, None, format!("this or {PAGE} is missing"))];
    };
    let rows = rows(&table.text);
    let rows: BTreeSet<&str> = rows.iter().filter_map(|name| name.strip_prefix("mont")).collect();
    let described = described(&page.text);
    let missing = rows.difference(&described).map(|name| (name, "is not described"));
    let unknown = described.difference(&rows).map(|name| (name, "is no kernel"));
    let wrong = missing.chain(unknown);
    let wrong = wrong.map(|(name, what)| Finding::new(PAGE, None, format!("mont{name} {what}")));
    wrong.chain(undocumented(files)).collect()
}

/// Kernels' modules whose documentation lacks a part.
fn undocumented(files: &[SourceFile]) -> impl Iterator<Item = Finding> {
    let folder = Path::new(TABLE).parent().unwrap_or(Path::new(""));
    let modules = files.iter().filter(move |file| {
        let inside = file.path.strip_prefix(folder).unwrap_or(Path::new(""));
        let is_module = inside.components().count() == 1 || inside.ends_with("mod.rs");
        is_module && inside.to_string_lossy().starts_with("mont") && file.has_extension("rs")
    });
    modules.flat_map(|file| {
        let documentation: String = file.text.lines().take_while(|line| line.starts_with("//!")).collect();
        ["//! formula", "//! # Bounds", "//! # Schedule"]
            .into_iter()
            .filter(move |part| !documentation.contains(part))
            .map(|part| Finding::new(&file.path, None, format!("the module's documentation has no `{part}`")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_not_described_is_found_and_one_that_is_not_there() {
        let files = |table: &str, page: &str| {
            [(TABLE, table), (PAGE, page)].map(|(path, text)| SourceFile {
                path: path.into(),
                text: text.to_owned(),
            })
        };
        let table = "rows! {\n    mont1x1_a:\n        dispatch {}\n    mont2x2_b:\n";
        let findings = |page: &str| check(&files(table, page)).len();
        assert_eq!(findings("| `mont1x1_a`, `mont2x2_b` | both | nothing |\n"), 0);
        assert_eq!(findings("| `mont1x1_a` | one | nothing |\n"), 1);
        assert_eq!(
            findings("| `mont1x1_a` | `mont2x2_b` |\n| `mont2x2_b`, `mont3x3_c` | |\n"),
            1
        );
        assert_eq!(check(&[]).len(), 1);
    }

    #[test]
    fn a_module_without_bounds_is_found() {
        let file = |path: &str, text: &str| SourceFile {
            path: format!("crates/arith/src/kernel/{path}").into(),
            text: text.to_owned(),
        };
        let whole = "//! A kernel.\n//!\n//! formula     a b\n//! # Bounds\n//! # Schedule\n";
        let part = "//! A kernel.\n//! formula     a b\n//! # Schedule\n\n/// # Bounds\n";
        let files = [
            file("mont1x1.rs", part),
            file("mont2x2/mod.rs", whole),
            file("mont2x2/other.rs", part),
        ];
        assert_eq!(undocumented(&files).count(), 1);
    }
}
