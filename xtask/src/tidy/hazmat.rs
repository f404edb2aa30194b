//! Bare mode stays with those who measure it.
//!
//! Cargo unites the features of a whole build, so that in the workspace everybody sees `hazmat`. The rule reads
//! manifests.

use std::path::Path;

use toml::{Table, Value};

use super::{finding::Finding, source::SourceFile};

/// The feature of `rsalab-arith` and `rsalab-rsa`: operations without blinding and check.
const FEATURE: &str = "hazmat";
/// Crates that measure bare mode, or compare with it, and what is tested under valgrind.
const MEASURING: [&str; 3] = ["crates/engines", "peers", "tracking"];
/// Crates that have the feature: their tests need it, and `hazmat` of the one is made of the other's.
const HAVING: [&str; 2] = ["crates/arith", "crates/rsa"];

/// Fails on a manifest that enables the feature where nobody measures bare mode.
pub(crate) fn check(files: &[SourceFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.path.file_name().is_some_and(|name| name == "Cargo.toml"))
        .filter(|file| !MEASURING.iter().any(|folder| file.path.starts_with(folder)))
        .filter_map(|file| match file.text.parse::<Table>() {
            Ok(manifest) => Some((file, enabling(&file.path, &manifest)?)),
            Err(error) => Some((file, format!("it cannot be read: {error}"))),
        })
        .map(|(file, message)| Finding::new(&file.path, None, message))
        .collect()
}

/// The sentence on a manifest that enables the feature, in a dependency or through a feature of its own.
fn enabling(path: &Path, manifest: &Table) -> Option<String> {
    let has_it = HAVING.iter().any(|folder| path.starts_with(folder));
    let found = manifest.iter().find_map(|(section, value)| match section.as_str() {
        "dev-dependencies" if has_it => None,
        "features" => through_a_feature(value, has_it),
        _ => in_a_dependency(value),
    })?;
    Some(format!(
        "{found} enables {FEATURE}, which is bare mode: only {} may",
        MEASURING.join(", ")
    ))
}

fn through_a_feature(features: &Value, has_it: bool) -> Option<String> {
    let names = |list: &Value, wanted: &dyn Fn(&str) -> bool| {
        let mut names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
        names.any(wanted)
    };
    let is_of_another = |name: &str| name.starts_with("rsalab-") && name.ends_with(&format!("/{FEATURE}"));
    let (feature, _) = features.as_table()?.iter().find(|(feature, enabled)| match has_it {
        true => *feature != FEATURE && names(enabled, &|name| name == FEATURE || is_of_another(name)),
        false => names(enabled, &is_of_another),
    })?;
    Some(format!("the feature {feature}"))
}

/// A dependency on a crate of ours with the feature, in any table of dependencies below a value.
fn in_a_dependency(value: &Value) -> Option<String> {
    value.as_table()?.iter().find_map(|(name, below)| {
        let package = below.get("package").and_then(Value::as_str).unwrap_or(name);
        let features = below.get("features").and_then(Value::as_array).into_iter().flatten();
        let is_enabled = features.filter_map(Value::as_str).any(|feature| feature == FEATURE);
        match package.starts_with("rsalab-") && is_enabled {
            true => Some(format!("the dependency {name}")),
            false => in_a_dependency(below),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let (path, text) = (path.into(), text.to_owned());
        check(&[SourceFile { path, text }]).len()
    }

    const ENABLED: &str = "rsalab-rsa = { workspace = true, features = ['hazmat'] }";

    #[test]
    fn who_measures_bare_mode_may_enable_it_and_nobody_else() {
        for table in [
            "dependencies",
            "dev-dependencies",
            "build-dependencies",
            "target.'cfg(unix)'.dependencies",
            "workspace.dependencies",
        ] {
            let manifest = format!("[{table}]\n{ENABLED}");
            for folder in [
                "crates/batch",
                "integrations/rustls",
                "examples/s2n-tls",
                "crates/enginesque",
            ] {
                assert_eq!(found(&format!("{folder}/Cargo.toml"), &manifest), 1, "{folder} {table}");
            }
            for folder in ["crates/engines", "peers/gmp", "tracking"] {
                assert_eq!(found(&format!("{folder}/Cargo.toml"), &manifest), 0, "{folder} {table}");
            }
        }
        let renamed = "[dependencies.ours]\npackage = 'rsalab-rsa'\nfeatures = ['hazmat']";
        assert_eq!(found("crates/batch/Cargo.toml", renamed), 1);
        let theirs = "[dependencies]\nrsa = { version = '1', features = ['hazmat'] }\nrsalab-rsa.workspace = true";
        assert_eq!(found("crates/batch/Cargo.toml", theirs), 0);
        assert_eq!(found("crates/batch/Cargo.toml", "no manifest"), 1);
    }

    #[test]
    fn a_feature_may_not_hide_it() {
        let through = "[features]\nfast = ['rsalab-rsa/hazmat']";
        assert_eq!(found("crates/batch/Cargo.toml", through), 1);
        assert_eq!(found("crates/rsa/Cargo.toml", "[features]\ndefault = ['hazmat']"), 1);
        assert_eq!(
            found("crates/rsa/Cargo.toml", "[features]\ndefault = ['rsalab-arith/hazmat']"),
            1
        );
        let own = "[features]\nhazmat = ['rsalab-arith/hazmat']\n[dev-dependencies]\n";
        assert_eq!(found("crates/rsa/Cargo.toml", &format!("{own}{ENABLED}")), 0);
    }
}
