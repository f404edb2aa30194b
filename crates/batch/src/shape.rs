//! The size of a key.

use rsalab_rsa::PrivateKey;

/// The size that keys which share a pass have in common: bits of the modulus, primes, and bits of the longest of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    bits: usize,
    primes: usize,
    prime_bits: usize,
}

impl Shape {
    pub(crate) fn of(key: &PrivateKey) -> Self {
        let others = key.others().iter().map(|other| &other.r[..]);
        let primes = [key.p(), key.q()].into_iter().chain(others);
        Shape {
            bits: key.bits(),
            primes: key.primes(),
            prime_bits: primes.map(bits).max().unwrap_or(0),
        }
    }
}

/// The length of a number, which is big-endian.
fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let number = &number[zeros..];
    number
        .first()
        .map_or(0, |top| 8 * number.len() - top.leading_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_in_bits() {
        for (number, len) in [(&[0, 0][..], 0), (&[0, 1, 0], 9), (&[0x80], 8)] {
            assert_eq!(bits(number), len);
        }
    }
}
