//! Numbers for operations, and encodings as they come out of them.

use super::{KEY_LEN, short};

/// A length, a modulus, and blocks; or a length, an exponent and a modulus.
pub fn numbers() -> Vec<Vec<u8>> {
    let n = short().public().n();
    let block = [&[0][..], &vec![0x5a; n.len() - 1]].concat();
    vec![
        [&[n.len() as u8][..], n, &block, &block].concat(),
        [&[n.len() as u8][..], n, &block.repeat(9)].concat(),
        [&[64][..], &[0xff; 64], &[0xff; 63], &[0xfe]].concat(),
        [&[3, 1, 0, 1][..], n].concat(),
        [&[0x7f; KEY_LEN][..], &[0; KEY_LEN], &[1; KEY_LEN]].concat(),
    ]
}

/// Encodings as they come out of a power.
pub fn encodings() -> Vec<Vec<u8>> {
    let pkcs1 = [&[0, 2][..], &[0x5a; 20], &[0], b"a message"].concat();
    let signed = [&[0, 1][..], &[0xff; KEY_LEN - 54], &[0, 0x30, 0x31]].concat();
    vec![
        pkcs1,
        signed,
        vec![0; KEY_LEN],
        vec![0xff; KEY_LEN],
        vec![0x5a; KEY_LEN],
    ]
}
