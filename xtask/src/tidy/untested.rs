//! A target that says `test = false` has no test that would then never run.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Target};

use super::{finding::Finding, source::SourceFile};

/// A target that `cargo test` passes by.
#[derive(Debug)]
enum Untested {
    /// The root of a program.
    Program(PathBuf),
    /// A library's `src`, but for its programs.
    Library { src: PathBuf },
}

impl Untested {
    fn of(target: &Target, root: &Path) -> Option<Untested> {
        let path = target.src_path.as_std_path();
        let path = path.strip_prefix(root).unwrap_or(path);
        if target.test {
            None
        } else if target.is_bin() {
            Some(Untested::Program(path.to_owned()))
        } else if target.is_lib() {
            let src = path.parent()?.to_owned();
            Some(Untested::Library { src })
        } else {
            None
        }
    }

    fn has(&self, path: &Path) -> bool {
        match self {
            Untested::Program(program) => path == program,
            Untested::Library { src } => path
                .strip_prefix(src)
                .is_ok_and(|inside| inside != Path::new("main.rs") && !inside.starts_with("bin")),
        }
    }
}

/// Applies the rule to every library and program of the workspace.
pub(crate) fn check(metadata: &Metadata, root: &Path, files: &[SourceFile]) -> Vec<Finding> {
    let untested: Vec<Untested> = metadata
        .packages
        .iter()
        .flat_map(|package| &package.targets)
        .filter_map(|target| Untested::of(target, root))
        .collect();
    tests_in(&untested, files)
}

fn tests_in(untested: &[Untested], files: &[SourceFile]) -> Vec<Finding> {
    files
        .iter()
        .filter(|file| file.has_extension("rs"))
        .filter(|file| untested.iter().any(|target| target.has(&file.path)))
        .flat_map(|file| {
            let names = file.identifiers().unwrap_or_default();
            names
                .into_iter()
                .filter(|(name, _)| name == "test" || name == "proptest")
                .map(|(_, line)| Finding::new(&file.path, line, "a test where Cargo.toml says `test = false`"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_would_never_run_is_found() {
        let file = |path: &str| SourceFile {
            path: path.into(),
            text: "#[cfg(test)]\nmod tests { #[test]\nfn f() {} }".to_owned(),
        };
        let files = [
            file("a/src/lib.rs"),
            file("a/src/deep/in.rs"),
            file("a/src/main.rs"),
            file("a/src/bin/other.rs"),
            file("a/tests/b.rs"),
        ];
        let library = Untested::Library { src: "a/src".into() };
        let lines = |untested: &[Untested]| -> Vec<(PathBuf, Option<usize>)> {
            tests_in(untested, &files)
                .into_iter()
                .map(|finding| (finding.path, finding.line))
                .collect()
        };
        assert_eq!(
            lines(&[library]),
            [
                ("a/src/lib.rs".into(), Some(1)),
                ("a/src/lib.rs".into(), Some(2)),
                ("a/src/deep/in.rs".into(), Some(1)),
                ("a/src/deep/in.rs".into(), Some(2)),
            ]
        );
        assert_eq!(lines(&[Untested::Program("a/src/main.rs".into())]).len(), 2);
        assert_eq!(lines(&[]), []);
    }
}
