//! The places where results of secrets become public, visibly: every such value passes through one of these
//! functions.
//!
//! A caller must learn whether a key was refused, a result withheld, a candidate passed, or a ciphertext opened; that
//! is what it asked for. Nothing else that depends on a secret decides a branch or an address in this crate.
//! `rsalab-tracking` runs the operations with secrets that valgrind takes for undefined; with the feature `tracking`
//! these functions tell valgrind, through a hook, that their result is defined, so that it reports every other use.

use subtle::Choice;

/// A verdict, made public.
pub fn declassify(verdict: Choice) -> bool {
    let mut byte = [verdict.unwrap_u8()];
    mark_public(&mut byte);
    byte[0] == 1
}

/// A length or a place, made public.
pub fn declassify_usize(number: usize) -> usize {
    let mut bytes = number.to_ne_bytes();
    mark_public(&mut bytes);
    usize::from_ne_bytes(bytes)
}

/// A function that [`declassify`] and [`declassify_usize`] hand their bytes to before they read them back; it changes
/// none of them.
#[cfg(feature = "tracking")]
pub static HOOK: std::sync::OnceLock<fn(&mut [u8])> = std::sync::OnceLock::new();

#[cfg(feature = "tracking")]
fn mark_public(bytes: &mut [u8]) {
    if let Some(hook) = HOOK.get() {
        hook(bytes);
    }
}

#[cfg(not(feature = "tracking"))]
#[inline(always)]
fn mark_public(_: &mut [u8]) {}
