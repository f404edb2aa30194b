//! A modulus whose primes are close: Fermat's method.
//!
//! ```text
//! n = p q = a² − b²   with   a = (p + q) / 2,   b = |p − q| / 2
//! for a = ⌈√n⌉, ⌈√n⌉ + 1, …: if a² − n is a square b², the primes are a + b and a − b
//! ```
//!
//! The method takes about (p − q)² / (8 √n) steps, so that our [`STEPS`] find primes whose distance is below
//! 2^(bits/4 + 9.5) in a modulus of `bits` bits. Random primes differ by about 2^(bits/2 − 1): for them it never ends.
//! What generators in the field were found to make are a prime and the next one, which take one step (Böck, "Fermat
//! Factorization in the Wild", 2023; CVE-2022-26320).
//!
//! Where a² − n is no square modulo a small number ([`FILTER`]), it is none. Which steps that leaves repeats after so
//! many steps as the number is, so that a word has the steps of 64, and a few words those of all blocks of 64: the
//! words of each small number are joined to those of all, until two steps in a million are left, of which the root is
//! taken. Moduli are public, and the time is variable.

use num_bigint::BigUint;

use crate::keys::square::{FILTER, is_square, residues, squares};

/// Steps after which the primes are taken for far enough apart.
pub(super) const STEPS: u32 = 1 << 16;

/// Words of a bit for each step.
const BLOCKS: usize = STEPS as usize / 64;

/// How many steps Fermat's method takes to factor an odd `n`, big-endian, if it takes at most [`STEPS`]. A square takes
/// one.
pub(super) fn fermat_steps_vartime(n: &[u8]) -> Option<u32> {
    let n = BigUint::from_bytes_be(n);
    let root = n.sqrt();
    let first = match &root * &root == n {
        true => root,
        false => root + 1_u32,
    };
    let mut left = [u64::MAX; BLOCKS];
    for ((modulus, n), a) in FILTER.into_iter().zip(residues(&n)).zip(residues(&first)) {
        let may_be = blocks(modulus, n, a);
        for left in left.chunks_mut(modulus as usize) {
            for (left, may_be) in left.iter_mut().zip(&may_be) {
                *left &= may_be;
            }
        }
    }
    let steps = (0..).zip(left).flat_map(|(block, mut left)| {
        let next = move || {
            let step = left.trailing_zeros();
            left &= left.checked_sub(1)?;
            Some(64 * block + step)
        };
        std::iter::from_fn(next)
    });
    let mut steps = steps.filter(|step| {
        let a = &first + step;
        is_square(&(&a * &a - &n))
    });
    steps.next().map(|step| step + 1)
}

/// Steps that may lead to a square, modulo a small number: a bit each, in words of 64 steps, which repeat after as many
/// words as the number is. Of n and the first a, modulo the number.
fn blocks(modulus: u64, n: u64, a: u64) -> Vec<u64> {
    let squares = squares(modulus);
    let bit = |a: u64| squares >> ((a * a + modulus - n) % modulus) & 1;
    let period = (0..modulus).fold(0, |period, a| period | u128::from(bit(a)) << a);
    let mut bits = period;
    let mut len = modulus;
    while len < 128 {
        bits |= bits << len;
        len *= 2;
    }
    (0..modulus)
        .map(|block| (bits >> ((a + 64 * block) % modulus)) as u64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_bits_of_their_steps() {
        for modulus in FILTER {
            let words = blocks(modulus, 5, 3);
            for block in [0, 1, 10, BLOCKS - 1] {
                let word = words[block % words.len()];
                for step in 0..64 {
                    let a = 3 + 64 * block as u64 + step;
                    let value = (a * a + 5 * modulus - 5) % modulus;
                    let expected = (0..modulus).any(|root| root * root % modulus == value);
                    assert_eq!(word >> step & 1 == 1, expected, "{modulus} {a}");
                }
            }
        }
    }

    #[test]
    fn steps_are_those_of_the_method() {
        // 5959 = 59 · 101: ⌈√n⌉ = 78, and 80² − n = 21², the third. 3 · 3 at once; 3 · 1009 at 506, from 56 on.
        for (n, steps) in [(5959_u32, 3), (9, 1), (3 * 1009, 506 - 56 + 1)] {
            assert_eq!(fermat_steps_vartime(&n.to_be_bytes()), Some(steps), "{n}");
        }
        // The last step, and the one after it: 2 a (steps − 1) < b² < 2 a steps − steps².
        for (steps, found) in [(STEPS, Some(STEPS)), (STEPS + 1, None)] {
            let a: BigUint = BigUint::from(5_u8) << 200;
            let b: BigUint = (&a * 2_u8 * (steps - 1)).sqrt() + 1_u8;
            let b = &b + u32::from(!b.bit(0));
            let n: BigUint = &a * &a - &b * &b;
            assert_eq!(fermat_steps_vartime(&n.to_bytes_be()), found, "{steps}");
        }
    }
}
