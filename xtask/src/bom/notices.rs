//! Notices of third-party software.
//!
//! Licences such as MIT and BSD ask that their text goes with copies in binary form.

use std::collections::BTreeMap;

use super::component::Component;

/// The list of what is in `whole`, then each text of a licence once, with those that have it.
pub(super) fn text(whole: &str, components: &[Component]) -> String {
    let mut text = format!("Third-party software that is linked into {whole}\n\n");
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for component in components {
        let name = format!("{} {}", component.name, component.version);
        text += &format!("{name}: {}", component.licence);
        if let Some(home) = &component.home {
            text += &format!("; {home}");
        }
        text.push('\n');
        for own in &component.texts {
            texts.entry(own).or_default().push(name.clone());
        }
    }
    text += "\nThe Rust standard library, which is part of every such library, is under MIT or Apache-2.0, at your choice: copyright the Rust \
             Project contributors, https://www.rust-lang.org.\n";
    for (licence, names) in texts {
        text += &format!("\n{}\n{}:\n\n{licence}\n", "-".repeat(80), names.join(", "));
    }
    text
}
