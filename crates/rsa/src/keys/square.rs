//! Squares, which are no modulus: anybody computes the root.

use num_bigint::BigUint;

/// The fault of a modulus p p.
pub(crate) const SQUARE: &str =
    "its modulus is a square, whose root anybody computes, and not the product of two different primes";

/// Returns whether a number, big-endian, is a square.
pub(crate) fn is_square_vartime(n: &[u8]) -> bool {
    is_square(&BigUint::from_bytes_be(n))
}

/// Returns whether a number is a square, in variable time.
pub(super) fn is_square(n: &BigUint) -> bool {
    let root = n.sqrt();
    &root * &root == *n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_told_from_their_neighbours() {
        assert!(is_square_vartime(&(1_u32 << 20).to_be_bytes()));
        assert!(!is_square_vartime(&((1_u32 << 20) + 1).to_be_bytes()));
    }
}
