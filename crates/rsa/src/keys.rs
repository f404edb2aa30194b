//! RSA keys, validated when they are built.
//!
//! Every integer is big-endian. With `bits` the length of the modulus, `k = ceil(bits / 8)` and
//! `h = ceil(ceil(bits / 2) / 8)`: the modulus and the private exponent take `k` bytes, everything modulo a prime takes
//! `h` bytes, the public exponent as few as it needs. These lengths are fixed by the size of the key alone.
//!
//! A multi-prime key (RFC 8017, section 3.2) has three to five primes; there, `h` is the length of the longest one.

mod private;
mod public;
mod square;
mod weakness;
mod xz;

pub use private::PrivateKey;
pub use public::PublicKey;
pub use rsalab_arith::{OtherPrime, PrivateParts};
pub(crate) use square::{SQUARE, is_square_vartime};
pub use weakness::Weakness;

/// The shortest modulus, in bits. Anything below 2048 is for study only.
pub const MIN_BITS: usize = 256;

/// The longest modulus, in bits.
pub const MAX_BITS: usize = 16384;

/// Bytes of a modulus of `bits` bits, and of its blocks.
pub const fn modulus_len(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// The most primes that a key may have.
pub const MAX_PRIMES: usize = rsalab_arith::CheckedPrivateKey::MAX_PRIMES;

/// The most primes that a key of `bits` bits is generated with. A prime must not be so short that the elliptic-curve
/// method finds it sooner than the number field sieve factors the modulus; the limits are those of OpenSSL.
pub const fn most_primes(bits: usize) -> usize {
    match bits {
        0..1024 => 2,
        1024..4096 => 3,
        4096..8192 => 4,
        _ => 5,
    }
}

/// Bytes of a prime of a key of `bits` bits and two primes.
pub const fn prime_len(bits: usize) -> usize {
    bits.div_ceil(2).div_ceil(8)
}
