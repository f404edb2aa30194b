//! How much operations of RSA take, in bytes: at least twice of what was measured (NOTES.md). `tests/c/refused.c` of
//! the C library and `tests/refused.c` of the provider, in which operations end well though the system gives nothing,
//! fail where it is too little.

/// For one operation or a few with a key of so many bits, which is made ready for it.
pub const fn operation(bits: usize) -> usize {
    (1 << 16) + 256 * bytes(bits)
}

/// For each item of a batch.
pub const fn item(bits: usize) -> usize {
    2048 + 20 * bytes(bits)
}

/// For each key that a batcher makes ready to share passes.
pub const fn shared_key(bits: usize) -> usize {
    (1 << 16) + 384 * bytes(bits)
}

/// For the generation of keys, of which so many are made by one thread.
pub const fn generation(bits: usize, keys: usize) -> usize {
    let k = bytes(bits);
    (1_usize << 19)
        .saturating_add(k.saturating_mul(k).saturating_mul(48))
        .saturating_add(keys.saturating_mul(8192 + 256 * k))
}

/// For a file of so many bytes, in whatever format.
pub const fn file(len: usize) -> usize {
    (1_usize << 16).saturating_add(len.saturating_mul(8))
}

/// Bytes of a modulus, of at most 16384 bits.
const fn bytes(bits: usize) -> usize {
    let bits = if bits < 16384 { bits } else { 16384 };
    bits.div_ceil(8)
}
