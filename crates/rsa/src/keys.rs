//! RSA keys, validated when they are built.
//!
//! Every integer is big-endian. With `bits` the length of the modulus, `k = ceil(bits / 8)` and
//! `h = ceil(ceil(bits / 2) / 8)`: the modulus and the private exponent take `k` bytes, everything modulo a prime takes
//! `h` bytes, the public exponent as few as it needs. These lengths are fixed by the size of the key alone.

mod check;
mod private;
mod public;
mod weakness;

pub use private::PrivateKey;
pub use public::PublicKey;
pub use rsalab_arith::PrivateParts;
pub use weakness::Weakness;

use zeroize::Zeroizing;

/// The shortest modulus, in bits. Anything below 2048 is for study only.
pub const MIN_BITS: usize = 512;

/// The longest modulus, in bits.
pub const MAX_BITS: usize = 16384;

/// Bytes of a modulus of `bits` bits, and of its blocks.
pub const fn modulus_len(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// Bytes of a prime of a key of `bits` bits.
pub const fn prime_len(bits: usize) -> usize {
    bits.div_ceil(2).div_ceil(8)
}

fn without_leading_zeros(bytes: &[u8]) -> &[u8] {
    let start = bytes
        .iter()
        .position(|&byte| byte != 0)
        .unwrap_or(bytes.len());
    &bytes[start..]
}

/// The integer in exactly `len` bytes, or none if it does not fit. Its value does not show in the time.
fn with_length(bytes: &[u8], len: usize) -> Option<Zeroizing<Vec<u8>>> {
    let mut fixed = Zeroizing::new(vec![0; len]);
    let excess = bytes.len().saturating_sub(len);
    let overflow = bytes[..excess].iter().fold(0, |seen, byte| seen | byte);
    let kept = &bytes[excess..];
    fixed[len - kept.len()..].copy_from_slice(kept);
    (overflow == 0).then_some(fixed)
}
