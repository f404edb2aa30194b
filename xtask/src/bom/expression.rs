//! The licence of several components as one SPDX expression.

use std::collections::BTreeSet;

/// An expression as SPDX writes it today: old packages of crates write `MIT/Apache-2.0`, and `LGPL-3.0+`.
pub(super) fn spdx(licence: &str) -> String {
    let alternatives = licence.replace('/', " OR ");
    let words = alternatives.split(' ').map(|word| match word.strip_suffix('+') {
        Some(name) if name.contains("GPL") => format!("{name}-or-later"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The expression of a whole: each clause of its components' expressions once, joined with AND.
pub(super) fn of<'a>(licences: impl IntoIterator<Item = &'a str>) -> String {
    let mut clauses: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for licence in licences {
        for clause in split(licence, " AND ") {
            // The order of alternatives means nothing.
            let alternatives = split(without_parentheses(clause), " OR ");
            clauses.insert(alternatives.into_iter().map(str::to_owned).collect());
        }
    }
    let written = clauses.iter().map(|alternatives| {
        let text = alternatives.iter().cloned().collect::<Vec<_>>().join(" OR ");
        match alternatives.len() > 1 && clauses.len() > 1 {
            true => format!("({text})"),
            false => text,
        }
    });
    written.collect::<Vec<_>>().join(" AND ")
}

/// The parts of an expression between operators that stand in no parentheses.
fn split<'a>(expression: &'a str, operator: &str) -> Vec<&'a str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, byte) in expression.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ if depth == 0 && at >= start && expression[at..].starts_with(operator) => {
                parts.push(expression[start..at].trim());
                start = at + operator.len();
            }
            _ => {}
        }
    }
    parts.push(expression[start..].trim());
    parts
}

/// A clause without the parentheses around all of it.
fn without_parentheses(clause: &str) -> &str {
    match clause.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) if !inner.contains(['(', ')']) => inner,
        _ => clause,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_stand_once_whatever_their_order() {
        let rows: [(&[&str], &str); 5] = [
            (&["MIT OR Apache-2.0"], "Apache-2.0 OR MIT"),
            (
                &["MIT OR Apache-2.0", "Apache-2.0 OR MIT", "ISC"],
                "(Apache-2.0 OR MIT) AND ISC",
            ),
            (
                &["ISC AND (Apache-2.0 OR ISC) AND MIT", "MIT"],
                "(Apache-2.0 OR ISC) AND ISC AND MIT",
            ),
            (
                &["GPL-3.0-or-later WITH GCC-exception-3.1", "0BSD"],
                "0BSD AND GPL-3.0-or-later WITH GCC-exception-3.1",
            ),
            (&["MIT OR (ISC AND Zlib)", "MIT"], "((ISC AND Zlib) OR MIT) AND MIT"),
        ];
        for (licences, expected) in rows {
            assert_eq!(of(licences.iter().copied()), expected, "{licences:?}");
        }
    }

    #[test]
    fn old_spellings_become_expressions() {
        assert_eq!(spdx("MIT/Apache-2.0"), "MIT OR Apache-2.0");
        assert_eq!(spdx("LGPL-3.0+"), "LGPL-3.0-or-later");
        assert_eq!(spdx("(MIT OR ISC) AND Zlib"), "(MIT OR ISC) AND Zlib");
    }
}
