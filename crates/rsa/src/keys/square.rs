//! Squares, which are no modulus: anybody computes the root.
//!
//! A square is a square modulo everything, and modulo the numbers of [`FILTER`] together two numbers in a million are.
//! Only those have their root taken.

use num_bigint::BigUint;

/// The fault of a modulus p p.
pub(crate) const SQUARE: &str =
    "its modulus is a square, whose root anybody computes, and not the product of two different primes";

/// Moduli by which squares are filtered: small enough for a set of residues in a word, and with no factor in common.
pub(super) const FILTER: [u64; 16] = [64, 63, 55, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61];

/// Moduli whose product fits a word, as that of the others does.
const FIRST: usize = 12;

/// The residues of a number modulo those of [`FILTER`].
pub(super) fn residues(n: &BigUint) -> [u64; FILTER.len()] {
    let (first, others) = FILTER.split_at(FIRST);
    let [first, others] = [first, others].map(|moduli| word(&(n % moduli.iter().product::<u64>())));
    std::array::from_fn(|place| if place < FIRST { first } else { others } % FILTER[place])
}

/// The squares modulo a number of at most 64: bit x is set if x is one.
pub(super) fn squares(modulus: u64) -> u64 {
    (0..modulus).fold(0, |set, x| set | 1 << (x * x % modulus))
}

/// Returns whether a number, big-endian, is a square.
pub(crate) fn is_square_vartime(n: &[u8]) -> bool {
    is_square(&BigUint::from_bytes_be(n))
}

/// Returns whether a number is a square, in variable time.
pub(super) fn is_square(n: &BigUint) -> bool {
    if !may_be_square(n) {
        return false;
    }
    let root = n.sqrt();
    &root * &root == *n
}

fn may_be_square(n: &BigUint) -> bool {
    let mut each = FILTER.into_iter().zip(residues(n));
    each.all(|(modulus, residue)| squares(modulus) >> residue & 1 == 1)
}

/// A number below 2^64.
fn word(small: &BigUint) -> u64 {
    small.iter_u64_digits().next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_told_from_their_neighbours() {
        assert!(is_square_vartime(&(1_u32 << 20).to_be_bytes()));
        assert!(!is_square_vartime(&((1_u32 << 20) + 1).to_be_bytes()));
        // One that is a square modulo 64 · 63 · 55 ..., and none.
        let root = (BigUint::from(3_u8) << 500) + 12_345_u32;
        let step: BigUint = FILTER.into_iter().map(BigUint::from).product();
        assert!(is_square(&(&root * &root)));
        assert!(may_be_square(&(&root * &root + &step)) && !is_square(&(&root * &root + &step)));
    }

    #[test]
    fn residues_are_those_of_the_number() {
        let n = (BigUint::from(7_u8) << 700) + u64::MAX;
        for (modulus, residue) in FILTER.into_iter().zip(residues(&n)) {
            assert_eq!(&n % modulus, BigUint::from(residue), "{modulus}");
        }
    }

    #[test]
    fn the_filter_passes_every_square_and_hardly_anything_else() {
        assert!((0..100_000_u64).all(|root| may_be_square(&BigUint::from(root * root))));
        let others = (0..1_000_000_u64)
            .map(|x| (1 << 40) + x)
            .filter(|&x| x.isqrt() * x.isqrt() != x && may_be_square(&BigUint::from(x)))
            .count();
        assert!(others < 30, "{others} of a million");
    }
}
