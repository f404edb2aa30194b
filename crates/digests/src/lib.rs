//! SHA-256 and SHA-224 (FIPS 180-4) of many messages at once, in the lanes of vector registers.
//!
//! ```text
//! messages, each of some parts ── a block of 64 bytes of each ── lanes: rounds ── after its last block: its digest
//! ```
//!
//! One compression function is a chain of 64 rounds, and most of the CPU waits for it; sixteen of sixteen messages fill
//! the CPU. Messages of different lengths are taken in the order of their lengths. What does not fill the lanes goes to
//! the crate `sha2`, one message after the other.
//!
//! ```
//! use rsalab_digests::{Function, Kernel};
//!
//! let messages: [&[u8]; 2] = [b"abc", b""];
//! let mut beginnings = [[0; 4]; 2];
//! Kernel::best().digests(
//!     Function::Sha256,
//!     messages.len(),
//!     |place| [messages[place]],
//!     |place, digest| beginnings[place].copy_from_slice(&digest[..4]),
//! );
//! assert_eq!(beginnings, [[0xba, 0x78, 0x16, 0xbf], [0xe3, 0xb0, 0xc4, 0x42]]);
//! ```

mod alone;
mod block;
mod choice;
mod constants;
mod kernel;
mod mask;
mod messages;

pub use choice::Kernel;

/// A hash function whose compression function is that of SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// SHA-224.
    Sha224,
    /// SHA-256.
    Sha256,
}

impl Function {
    /// Bytes of a digest.
    pub const fn digest_len(self) -> usize {
        match self {
            Function::Sha224 => 28,
            Function::Sha256 => 32,
        }
    }
}
