//! Base64 as texts have it, in lines of any length.

use base64ct::{Base64, Encoding};
use zeroize::Zeroizing;

/// Decodes base64 with any white space in it.
pub(super) fn from_base64(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // The room is taken at once: growing would leave copies of the key behind.
    let mut digits = Zeroizing::new(Vec::with_capacity(text.len()));
    for line in text.split(u8::is_ascii_whitespace) {
        digits.extend_from_slice(line);
    }
    let mut bytes = Zeroizing::new(vec![0; digits.len()]);
    let len = Base64::decode(&digits[..], &mut bytes).ok()?.len();
    bytes.truncate(len);
    Some(bytes)
}
