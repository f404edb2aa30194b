//! Lengths of messages for other keys than those of an article.

/// Bits of a message that belongs to a modulus of `of` bits, with another modulus: as many where they fit, or as many
/// in proportion.
pub(crate) fn scaled_message(message: usize, of: usize, modulus: usize) -> usize {
    match message < modulus {
        true => message,
        false => message * modulus / of.max(message + 1),
    }
}
