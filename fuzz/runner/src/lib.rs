//! The common part of the three programs: the target that the environment names, and its seeds.

use std::sync::OnceLock;

use rsalab_fuzz::Target;

/// The one of these targets that RSALAB_FUZZ_TARGET names. With RSALAB_FUZZ_SEEDS, a folder, its seeds are written
/// there, and the program ends.
///
/// # Panics
/// If there is none.
pub fn named(targets: &'static [Target]) -> &'static Target {
    static NAMED: OnceLock<&Target> = OnceLock::new();
    NAMED.get_or_init(|| {
        let name = std::env::var("RSALAB_FUZZ_TARGET").expect("RSALAB_FUZZ_TARGET names a target");
        let named = targets.iter().find(|target| target.name == name);
        let named = named.unwrap_or_else(|| panic!("there is no target {name}"));
        if let Ok(folder) = std::env::var("RSALAB_FUZZ_SEEDS") {
            for (number, seed) in (named.seeds)().iter().enumerate() {
                std::fs::write(format!("{folder}/seed-{number}"), seed).expect("the folder is there");
            }
            std::process::exit(0);
        }
        named
    })
}
