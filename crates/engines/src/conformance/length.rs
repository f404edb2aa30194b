//! How much of the suite the environment asks for. Tests of the crate `gpu`, which lies below this one, read this file,
//! too.

use std::ffi::OsStr;

/// Returns whether `RSALAB_CONFORMANCE` asks for everything: it is `full`, and not `quick` or unset.
///
/// # Panics
/// If it is anything else: a word that is misspelt would leave most out without a failure.
pub(crate) fn is_full() -> bool {
    asks_for_all(std::env::var_os("RSALAB_CONFORMANCE").as_deref())
}

fn asks_for_all(wish: Option<&OsStr>) -> bool {
    match wish.map(OsStr::to_str) {
        None | Some(Some("quick")) => false,
        Some(Some("full")) => true,
        Some(_) => panic!("RSALAB_CONFORMANCE is full or quick, or not set at all; it is {wish:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_and_two_words_are_understood() {
        assert!(asks_for_all(Some("full".as_ref())));
        assert!(!asks_for_all(Some("quick".as_ref())));
        assert!(!asks_for_all(None));
    }

    #[test]
    #[should_panic(expected = "full or quick")]
    fn a_word_that_is_misspelt_is_refused() {
        asks_for_all(Some("Full".as_ref()));
    }
}
