//! Big-endian bytes to GMP's limbs and back.
//!
//! `mpz_import` and `mpz_export` do the same byte by byte where a number is not a whole number of limbs, or not
//! aligned: 5 % of a private operation of 1024 bits.

use gmp_mpfr_sys::gmp::limb_t;

/// Bytes of a limb.
pub(crate) const LIMB_BYTES: usize = size_of::<limb_t>();

/// The limbs of a number, the lowest first; as many as the bytes take.
pub(crate) fn from_bytes(bytes: &[u8]) -> impl Iterator<Item = limb_t> + '_ {
    bytes.rchunks(LIMB_BYTES).map(|chunk| {
        let mut limb = [0; LIMB_BYTES];
        limb[LIMB_BYTES - chunk.len()..].copy_from_slice(chunk);
        limb_t::from_be_bytes(limb)
    })
}

/// Writes the low limbs of a number, filled up with zeros. Limbs, or their bytes, beyond the length are left out.
pub(crate) fn to_bytes(limbs: &[limb_t], bytes: &mut [u8]) {
    bytes.fill(0);
    for (chunk, limb) in bytes.rchunks_mut(LIMB_BYTES).zip(limbs) {
        let limb = limb.to_be_bytes();
        chunk.copy_from_slice(&limb[LIMB_BYTES - chunk.len()..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_every_length_come_back() {
        let bytes: Vec<u8> = (1..=40).collect();
        for length in 0..=bytes.len() {
            let limbs: Vec<limb_t> = from_bytes(&bytes[..length]).collect();
            assert_eq!(limbs.len(), length.div_ceil(LIMB_BYTES));
            let mut back = vec![0xFF; length];
            to_bytes(&limbs, &mut back);
            assert_eq!(back, bytes[..length]);
        }
    }

    #[test]
    fn the_lowest_limb_comes_first_and_zeros_fill_up() {
        let limbs: Vec<limb_t> = from_bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 2]).collect();
        assert_eq!(limbs, [2, 1]);
        let mut bytes = [0xFF; 20];
        to_bytes(&limbs, &mut bytes);
        assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
    }
}
