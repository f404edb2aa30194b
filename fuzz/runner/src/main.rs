//! libFuzzer over one target, which RSALAB_FUZZ_TARGET names. With RSALAB_FUZZ_SEEDS, a folder, it
//! writes the target's seeds there and ends. `scripts/fuzz.sh` calls both.
#![no_main]

use std::sync::OnceLock;

use rsalab_fuzz::{Target, target};

/// The target that the environment names.
fn named() -> &'static Target {
    static NAMED: OnceLock<&Target> = OnceLock::new();
    NAMED.get_or_init(|| {
        let name = std::env::var("RSALAB_FUZZ_TARGET").expect("RSALAB_FUZZ_TARGET names a target");
        let named = target(&name).unwrap_or_else(|| panic!("there is no target {name}"));
        if let Ok(folder) = std::env::var("RSALAB_FUZZ_SEEDS") {
            for (number, seed) in (named.seeds)().iter().enumerate() {
                std::fs::write(format!("{folder}/seed-{number}"), seed).expect("the folder is there");
            }
            std::process::exit(0);
        }
        named
    })
}

libfuzzer_sys::fuzz_target!(init: { named(); }, |bytes: &[u8]| {
    (named().run)(bytes);
});
