//! Text in a CSV file that a spreadsheet shows, and does not work out.

use std::borrow::Cow;

/// The signs that make a spreadsheet take a field for a formula (OWASP, "CSV Injection").
const BEGINNINGS: [char; 11] = [
    '=', '+', '-', '@', '\t', '\r', '\n', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// The text of a field, with an apostrophe before one that a spreadsheet would take for a formula: titles, reasons and
/// names of CPUs may be those of a stranger's study. A number stays one.
pub(crate) fn inert(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(BEGINNINGS) && text.parse::<f64>().is_err();
    match is_formula {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_text_and_all_else_stays() {
        for (text, expected) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-2+3", "'-2+3"),
            ("\t=1", "'\t=1"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("-2.5", "-2.5"),
            ("a = b", "a = b"),
            ("", ""),
        ] {
            assert_eq!(inert(text), expected);
        }
    }
}
