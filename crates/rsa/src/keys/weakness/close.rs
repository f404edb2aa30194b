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
//! A square is a square modulo everything, and modulo the numbers of [`FILTER`] together two numbers in a million are.
//! Only those have their root taken. Which steps may be squares modulo a small number repeats after so many steps, so
//! that 64 steps cost a look-up for each small number, until none is left. Moduli are public, and the time is variable.

use num_bigint::BigUint;

use crate::keys::square::is_square;

/// Steps after which the primes are taken for far enough apart.
pub(super) const STEPS: u32 = 1 << 16;

/// Moduli by which a² − n is filtered: small enough for a set of residues in a word, and with no factor in common.
const FILTER: [u64; 16] = [64, 63, 55, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61];

/// How many steps Fermat's method takes to factor an odd `n`, big-endian, if it takes at most [`STEPS`]. A square takes
/// one.
pub(super) fn fermat_steps_vartime(n: &[u8]) -> Option<u32> {
    let n = BigUint::from_bytes_be(n);
    let root = n.sqrt();
    let first = match &root * &root == n {
        true => root,
        false => root + 1_u32,
    };
    let filter = FILTER.map(|modulus| Residues::of(modulus, word(&n % modulus), word(&first % modulus)));
    (0..STEPS / 64)
        .find_map(|block| {
            let begin = 64 * block;
            let mut left = u64::MAX;
            for residues in &filter {
                left &= residues.may_be_squares(begin as usize);
                if left == 0 {
                    return None;
                }
            }
            (0..64)
                .filter(|step| left >> step & 1 == 1)
                .map(|step| begin + step)
                .find(|&step| {
                    let a = &first + step;
                    is_square(&(&a * &a - &n))
                })
        })
        .map(|step| step + 1)
}

/// Steps that may lead to a square, modulo a small number.
struct Residues {
    /// Of each step of a period, it and the 63 after it: a bit is set where a² − n is a square modulo the number.
    windows: Vec<u64>,
}

impl Residues {
    /// Of n and the first a, modulo the number.
    fn of(modulus: u64, n: u64, a: u64) -> Residues {
        let squares = squares(modulus);
        let bit = |step: u64| u64::from(may_be_square(modulus, squares, n, a + step));
        let mut window = (0..64).fold(0, |window, step| window | bit(step) << step);
        let windows = (0..modulus).map(|step| {
            let this = window;
            window = window >> 1 | bit(step + 64) << 63;
            this
        });
        Residues {
            windows: windows.collect(),
        }
    }

    /// The bits of 64 steps from this one on.
    fn may_be_squares(&self, step: usize) -> u64 {
        self.windows[step % self.windows.len()]
    }
}

/// The squares modulo a number of at most 64: bit x is set if x is one.
fn squares(modulus: u64) -> u64 {
    (0..modulus).fold(0, |set, x| set | 1 << (x * x % modulus))
}

/// Returns whether a² − n is a square modulo a number.
fn may_be_square(modulus: u64, squares: u64, n: u64, a: u64) -> bool {
    let a = a % modulus;
    squares >> ((a * a + modulus - n) % modulus) & 1 == 1
}

/// A number below a small one.
fn word(small: BigUint) -> u64 {
    small.iter_u64_digits().next().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_passes_every_square_and_hardly_anything_else() {
        // a = 0 and n = −x: a² − n = x.
        let filter = FILTER.map(|modulus| (modulus, squares(modulus)));
        let passes = |x: u64| {
            let mut each = filter.iter();
            each.all(|&(modulus, squares)| may_be_square(modulus, squares, (modulus - x % modulus) % modulus, 0))
        };
        assert!((0..100_000).all(|root: u64| passes(root * root)));
        let others = (0..1_000_000_u64)
            .map(|x| (1 << 40) + x)
            .filter(|&x| x.isqrt() * x.isqrt() != x && passes(x))
            .count();
        assert!(others < 30, "{others} of a million");
    }

    #[test]
    fn windows_have_the_bits_of_their_steps() {
        for modulus in FILTER {
            let residues = Residues::of(modulus, 5, 3);
            for begin in [0, 64, 640, 65_472] {
                let window = residues.may_be_squares(begin);
                for step in 0..64 {
                    let a = 3 + begin as u64 + step;
                    let expected = may_be_square(modulus, squares(modulus), 5, a);
                    assert_eq!(window >> step & 1 == 1, expected, "{modulus} {a}");
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
    }
}
