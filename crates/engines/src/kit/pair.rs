//! Two primes fit for a key, from an engine that makes primes one by one.

use num_bigint::BigUint;

use crate::engine::EngineError;

/// Draws primes until two are fit for a key (FIPS 186-5 A.1.3, steps 4.4 and 5.5): each coprime to the exponent after
/// one is taken away, and the two further apart than 2^(bits − 100).
///
/// `draw` fills the buffer that it is given with a prime of `prime_bits` bits, big-endian, so large that a product of
/// two has twice as many. Variable time: the keys of a study are no secrets.
///
/// # Errors
/// Those of `draw`.
pub fn fit_pair(
    prime_bits: usize,
    exponent: u64,
    p: &mut [u8],
    q: &mut [u8],
    mut draw: impl FnMut(&mut [u8]) -> Result<(), EngineError>,
) -> Result<(), EngineError> {
    let mut draw_coprime = |prime: &mut [u8]| -> Result<(), EngineError> {
        loop {
            draw(prime)?;
            // gcd(p − 1, e) from p mod e: an exponent of 65537 refuses one prime in 65536.
            let less_one = (modulo(prime, exponent) + exponent - 1) % exponent;
            if gcd(less_one, exponent) == 1 {
                return Ok(());
            }
        }
    };
    draw_coprime(p)?;
    loop {
        draw_coprime(q)?;
        if distance_bits(p, q) > prime_bits.saturating_sub(100) as u64 {
            return Ok(());
        }
    }
}

/// A big-endian number modulo a word.
fn modulo(bytes: &[u8], word: u64) -> u64 {
    let word = u128::from(word);
    let remainder = bytes
        .iter()
        .fold(0, |remainder, byte| (remainder << 8 | u128::from(*byte)) % word);
    u64::try_from(remainder).expect("it is smaller than the word")
}

/// Euclid's algorithm, on the public exponent and a residue.
fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn distance_bits(p: &[u8], q: &[u8]) -> u64 {
    let (p, q) = (BigUint::from_bytes_be(p), BigUint::from_bytes_be(q));
    (if p > q { p - q } else { q - p }).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pair that comes of numbers drawn one after another.
    fn pair(prime_bits: usize, exponent: u64, drawn: &[u128]) -> (u128, u128, usize) {
        let (mut p, mut q) = ([0; 16], [0; 16]);
        let mut left = drawn.iter();
        fit_pair(prime_bits, exponent, &mut p, &mut q, |prime| {
            prime.copy_from_slice(&left.next().expect("enough").to_be_bytes());
            Ok(())
        })
        .unwrap();
        (u128::from_be_bytes(p), u128::from_be_bytes(q), left.as_slice().len())
    }

    #[test]
    fn a_prime_that_the_exponent_divides_after_one_is_taken_away_is_drawn_again() {
        // 7 and 13 are 1 modulo 3; 5 and 11 are not.
        assert_eq!(pair(4, 3, &[7, 13, 5, 7, 11, 17]), (5, 11, 1));
        // 9 = 3²: a common factor is enough.
        assert_eq!(pair(4, 9, &[7, 5, 13, 11]), (5, 11, 0));
    }

    #[test]
    fn primes_too_close_are_drawn_again() {
        let p = (1 << 120) + 1;
        // 2^20 apart is 21 bits: more than 120 − 100.
        assert_eq!(
            pair(120, 65537, &[p, p, p + (1 << 19), p + (1 << 20), 1]),
            (p, p + (1 << 20), 1)
        );
        assert_eq!(
            pair(120, 65537, &[p, p - 2 + (1 << 20), p - (1 << 20)]),
            (p, p - (1 << 20), 0)
        );
    }

    #[test]
    fn an_error_ends_the_search() {
        let error = EngineError::Key("no".to_owned());
        let failed = fit_pair(4, 3, &mut [0], &mut [0], |_| Err(error.clone()));
        assert_eq!(failed, Err(error));
    }

    #[test]
    fn a_long_number_is_reduced_by_a_long_word() {
        let bytes: Vec<u8> = (1..=40).collect();
        for word in [1, 3, 65537, u64::MAX] {
            let expected = BigUint::from_bytes_be(&bytes) % word;
            assert_eq!(BigUint::from(modulo(&bytes, word)), expected);
        }
    }
}
