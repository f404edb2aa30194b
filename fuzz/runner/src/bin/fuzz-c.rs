//! libFuzzer over one target, which RSALAB_FUZZ_TARGET names: of the C library's entry points. `scripts/fuzz.sh`
//! calls it.
#![no_main]

use rsalab_fuzz_c::TARGETS;
use rsalab_fuzz_runner::named;

libfuzzer_sys::fuzz_target!(init: { named(TARGETS); }, |bytes: &[u8]| {
    (named(TARGETS).run)(bytes);
});
