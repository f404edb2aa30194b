//! The fault of JSON that is not what it should be, without anything of it: who mistakes one file for another may have
//! named one with a secret.

use serde_json::error::Category;

/// The fault and its place. Of what is in the text, only the names of members that a format has are said.
pub(crate) fn fault(error: &serde_json::Error) -> String {
    let place = format!("line {}, column {}", error.line(), error.column());
    match error.classify() {
        Category::Eof => format!("its JSON ends too early, at {place}"),
        Category::Syntax | Category::Io => format!("it is not JSON at {place}"),
        Category::Data => {
            let text = error.to_string();
            let missing = text
                .strip_prefix("missing field `")
                .and_then(|rest| rest.split('`').next());
            match missing {
                Some(name) => format!("the member '{name}' is missing before {place}"),
                None => format!("the value before {place} has another type than its member takes"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "it is only read")]
    struct Format {
        count: u32,
        kind: Kind,
    }

    #[derive(Debug, Deserialize)]
    enum Kind {
        One,
    }

    #[test]
    fn a_fault_has_its_place_and_nothing_of_the_text() {
        for (text, expected) in [
            (
                r#"{"count": 1, "kind""#,
                "its JSON ends too early, at line 1, column 19",
            ),
            ("secret", "it is not JSON at line 1, column 1"),
            (
                r#"{"count": 1}"#,
                "the member 'kind' is missing before line 1, column 12",
            ),
            (
                r#""secret""#,
                "the value before line 1, column 8 has another type than its member takes",
            ),
            (
                r#"{"count": "secret"}"#,
                "the value before line 1, column 18 has another type than its member takes",
            ),
            (
                r#"{"secret": 1}"#,
                "the value before line 1, column 9 has another type than its member takes",
            ),
            (
                r#"{"count": 1, "kind": "secret"}"#,
                "the value before line 1, column 29 has another type than its member takes",
            ),
        ] {
            let error = serde_json::from_str::<Format>(text).expect_err(text);
            assert_eq!(fault(&error), expected, "{text}");
        }
    }
}
