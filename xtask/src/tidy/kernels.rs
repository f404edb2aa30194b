//! The page on kernels describes every kernel of `arith`'s table, and no other.

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
    wrong
        .map(|(name, what)| Finding::new(PAGE, None, format!("mont{name} {what}")))
        .collect()
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
}
