//! The values in scope of a formula or a template.

use std::collections::BTreeMap;

use rsalab_measure::Estimate;

use super::data::Set;

/// Words and measured values by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    pub(super) words: BTreeMap<String, String>,
    pub(super) quantities: BTreeMap<String, Estimate>,
    /// `true` if a claim is judged by what is asked: then a cell that was measured on a busy machine has no value.
    pub(super) judges: bool,
}

impl Scope {
    pub(super) fn set(&mut self, name: &str, word: impl Into<String>) {
        self.words.insert(name.to_owned(), word.into());
    }

    pub(super) fn with(&self, set: &Set) -> Scope {
        let mut scope = self.clone();
        set.iter().for_each(|(name, word)| scope.set(name, &word.0));
        scope
    }

    pub(super) fn word(&self, name: &str) -> &str {
        self.words.get(name).map_or("", String::as_str)
    }

    /// A formula with its `{NAME}`s replaced.
    pub(super) fn formula(&self, text: &str) -> String {
        filled(text, &|name| self.words.get(name).map(|word| self.formula(word)))
    }
}

/// # Panics
/// If a name is not known: templates are parts of this program.
pub(super) fn filled(template: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, from)) = rest.split_once('{') {
        let (name, after) = from
            .split_once('}')
            .unwrap_or_else(|| panic!("'{template}' has an open brace"));
        text += before;
        text += &value(name).unwrap_or_else(|| panic!("'{name}' of '{template}' is not known"));
        rest = after;
    }
    text + rest
}
