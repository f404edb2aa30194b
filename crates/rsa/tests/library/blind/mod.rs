//! Blind signatures: the RFC's vectors, every variant and kernel, and what must not be accepted. Rounds with another
//! implementation are in `peers/blind-rsa`.

mod properties;
mod vectors;

use rsalab_rsa::PrivateKey;

use crate::fixed_keys;

fn key(bits: usize) -> PrivateKey {
    key_of_stream(bits, 0)
}

fn key_of_stream(bits: usize, stream: u64) -> PrivateKey {
    fixed_keys::key(22, stream, bits)
}
