//! `unsafe` lives in few, listed places.

use std::path::Path;

use super::{
    Finding,
    layers::{Crate, Place},
    source::SourceFile,
};

/// Folders and files in which `unsafe` may be written. Everything under `peers/` is FFI and may too.
const ALLOWED: [&str; 19] = [
    "bindings/c/src",
    "crates/arith/src/kernel/aarch64",
    "crates/arith/src/kernel/x86_64",
    "crates/arith/tests/machine_code/main.rs",
    "crates/digests/src/kernel/x86_64",
    "crates/gpu/src/driver/cuda",
    "crates/gpu/src/driver/opencl",
    "crates/measure/src/cycles",
    "crates/measure/src/peak.rs",
    "crates/measure/src/tsc.rs",
    "crates/product/src/kernel/x86_64",
    "crates/reserve",
    "fuzz/c/src",
    "fuzz/provider/src",
    "integrations/openssl-provider/src/ffi",
    "integrations/openssl-provider/src/openssl",
    "integrations/openssl-provider/tests/provider/jobs.rs",
    "integrations/openssl-provider/tests/provider/sigalgs.rs",
    "integrations/openssl-provider/tests/provider/support/crypto.rs",
];

/// Returns whether the compiler itself must forbid it in a crate: where the list has no place for it.
fn must_forbid(member: &Crate) -> bool {
    member.place != Some(Place::Peer)
        && !ALLOWED
            .iter()
            .any(|allowed| Path::new(allowed).starts_with(&member.folder))
}

/// Fails on the keyword outside the list, and on a crate root without the attribute.
pub(crate) fn check(crates: &[Crate], files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.has_extension("rs") && !is_allowed(&file.path))
    {
        match file.identifiers() {
            Ok(identifiers) => findings.extend(
                identifiers
                    .iter()
                    .filter(|(name, _)| name == "unsafe")
                    .map(|&(_, line)| Finding::new(&file.path, line, "`unsafe` may not be written here")),
            ),
            Err(error) => findings.push(Finding::new(&file.path, None, error)),
        }
    }
    for member in crates.iter().filter(|member| must_forbid(member)) {
        let is_root = |file: &&SourceFile| {
            ["src/lib.rs", "src/main.rs"]
                .iter()
                .any(|root| file.path == member.folder.join(root))
        };
        for root in files.iter().filter(is_root) {
            if !root.text.contains("#![forbid(unsafe_code)]") {
                findings.push(Finding::new(
                    &root.path,
                    1,
                    "this crate must say #![forbid(unsafe_code)]",
                ));
            }
        }
    }
    findings
}

fn is_allowed(path: &Path) -> bool {
    path.starts_with("peers")
        || ALLOWED
            .iter()
            .any(|allowed| path.starts_with(allowed) || path.with_extension("") == Path::new(allowed))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: text.to_owned(),
        }
    }

    const BLOCK: &str = "fn f() {\n    unsafe { g() }\n}\n";

    #[test]
    fn unsafe_is_found_outside_its_places_only() {
        let files = [
            file("crates/rsa/src/keys.rs", BLOCK),
            file("crates/arith/src/exp.rs", BLOCK),
            file("crates/arith/src/kernel/x86_64/mul.rs", BLOCK),
            file("crates/measure/src/tsc.rs", BLOCK),
            file("peers/gmp/src/lib.rs", BLOCK),
        ];
        let found: Vec<_> = check(&[], &files).into_iter().map(|f| (f.path, f.line)).collect();
        let expected = ["crates/rsa/src/keys.rs", "crates/arith/src/exp.rs"];
        assert_eq!(found, expected.map(|path| (PathBuf::from(path), Some(2))));
    }

    #[test]
    fn words_in_comments_and_strings_do_not_count() {
        let text = "// unsafe\nconst A: &str = \"unsafe\";\n#![forbid(unsafe_code)]\n";
        assert_eq!(check(&[], &[file("crates/rsa/src/keys.rs", text)]), []);
    }

    #[test]
    fn a_crate_root_without_the_attribute_is_found() {
        let member = Crate {
            name: "rsa".into(),
            folder: "crates/rsa".into(),
            place: Some(Place::Layer(1)),
            imports: vec![],
        };
        assert_eq!(
            check(&[member], &[file("crates/rsa/src/lib.rs", "//! Keys.\n")]).len(),
            1
        );
    }
}
