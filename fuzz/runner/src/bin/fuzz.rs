//! libFuzzer over one target, which RSALAB_FUZZ_TARGET names: of parsers, decoders and kernels. `scripts/fuzz.sh` calls
//! it.
#![no_main]

use std::{alloc::System, panic};

use cap::Cap;
use rsalab_fuzz::TARGETS;
use rsalab_fuzz_runner::named;

/// Memory that a target may take for one input, beyond what it had (SECURITY.md): what asks for more gets none, and the
/// program ends.
const MOST: usize = 50_000_000;

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// A panic says where it was, which takes more.
fn lift_limit_at_panics() {
    let say = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        ALLOCATOR.set_limit(usize::MAX).expect("it is more than is taken");
        say(info);
    }));
}

libfuzzer_sys::fuzz_target!(init: { named(TARGETS); lift_limit_at_panics(); }, |bytes: &[u8]| {
    ALLOCATOR.set_limit(ALLOCATOR.allocated() + MOST).expect("it is more than is taken");
    (named(TARGETS).run)(bytes);
});
