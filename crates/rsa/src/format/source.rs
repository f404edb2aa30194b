//! Sources of keys, files and pipes: how much of one is read, which depends on whether it may hold several.

use std::io::Read;

use zeroize::Zeroizing;

use super::{
    authorized_keys,
    input::{MAX_FILE_LEN, MAX_SET_LEN},
};

/// Reads what may be a key, or several, from a file or a pipe, and no more of it than tells that it is too large to be
/// that.
pub fn read(mut source: impl Read) -> std::io::Result<Zeroizing<Vec<u8>>> {
    // The capacity is taken at once: growing would leave copies of the key behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(MAX_FILE_LEN + 1));
    let mut most = MAX_FILE_LEN;
    loop {
        let missing = (most + 1 - bytes.len()) as u64;
        source.by_ref().take(missing).read_to_end(&mut bytes)?;
        if bytes.len() <= most || most >= MAX_SET_LEN || !may_be_several(&bytes) {
            return Ok(bytes);
        }
        most = (4 * most).min(MAX_SET_LEN);
        let mut longer = Zeroizing::new(Vec::with_capacity(most + 1));
        longer.extend_from_slice(&bytes);
        bytes = longer;
    }
}

/// Returns whether bytes begin as the formats do that hold several keys.
pub(super) fn may_be_several(bytes: &[u8]) -> bool {
    is_json(bytes) || authorized_keys::is(bytes)
}

/// An object, or a list of objects.
pub(super) fn is_json(bytes: &[u8]) -> bool {
    let text = bytes.trim_ascii_start();
    let inside = text.strip_prefix(b"[").map(<[u8]>::trim_ascii_start);
    text.starts_with(b"{") || inside.is_some_and(|inside| inside.starts_with(b"{") || inside.starts_with(b"]"))
}
