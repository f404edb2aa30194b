//! The form of the moduli of CVE-2017-15361 ("ROCA").
//!
//! The library made its primes as p = k M + (65537^a mod M), where M is the product of the first 39 primes or, for
//! longer keys, of more (Nemec, Sys, Svenda, Klinec, Matyas: The Return of Coppersmith's Attack, CCS 2017, section
//! 2.1). So n mod M is a power of 65537 as well:
//!
//! ```text
//! for each odd prime r up to 167: n ≡ 65537^(x_r) mod r for some x_r, known modulo the order of 65537
//! for each two of them:           x_r ≡ x_s modulo the greatest common divisor of their orders
//! ```
//!
//! The second line holds exactly if one x serves all r (the Chinese remainder theorem for moduli that are not coprime),
//! so that both together decide whether n mod M is a power of 65537. One in 2^154 of the numbers prime to M is such a
//! power (2^61.1 of 2^216.0; a test counts them): no other modulus is taken for one. The first line alone would let one
//! in 2^27.8 through.
//!
//! Moduli are public, and the time is variable: a sound modulus is let go after a few primes.

/// The base of the powers.
const BASE: u64 = 65537;

/// The largest of the first 39 primes: those of M for the shortest keys, which divide M for all others.
const LARGEST: u64 = 167;

/// Returns whether `n`, big-endian and odd, is a power of 65537 modulo the product of the first 39 primes.
pub(super) fn has_form_vartime(n: &[u8]) -> bool {
    let mut logarithms: Vec<Logarithm> = Vec::new();
    for prime in (3..=LARGEST).step_by(2).filter(|&odd| is_prime(odd)) {
        let Some(logarithm) = Logarithm::of(remainder(n, prime), prime) else {
            return false;
        };
        if !logarithms.iter().all(|other| other.agrees_with(&logarithm)) {
            return false;
        }
        logarithms.push(logarithm);
    }
    true
}

/// An exponent of 65537 modulo a prime.
struct Logarithm {
    exponent: u64,
    /// The order of 65537: the exponent is known modulo it.
    order: u64,
}

impl Logarithm {
    /// Of a value modulo a small prime; none if it is no power of 65537.
    fn of(value: u64, prime: u64) -> Option<Logarithm> {
        let (mut exponent, mut order, mut power) = (None, 0, 1);
        loop {
            if power == value {
                exponent = Some(order);
            }
            power = power * BASE % prime;
            order += 1;
            if power == 1 {
                return exponent.map(|exponent| Logarithm { exponent, order });
            }
        }
    }

    /// Returns whether one exponent can be both.
    fn agrees_with(&self, other: &Logarithm) -> bool {
        let common = gcd(self.order, other.order);
        self.exponent % common == other.exponent % common
    }
}

/// The remainder of `n`, big-endian, by a modulus below 2^32: 32 bits a step.
fn remainder(n: &[u8], modulus: u64) -> u64 {
    n.rchunks(4).rev().fold(0, |rest, bytes| {
        let word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        (rest << 32 | word) % modulus
    })
}

fn is_prime(odd: u64) -> bool {
    (3..)
        .step_by(2)
        .take_while(|divisor| divisor * divisor <= odd)
        .all(|divisor| !odd.is_multiple_of(divisor))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn primes() -> Vec<u64> {
        (3..=LARGEST).step_by(2).filter(|&odd| is_prime(odd)).collect()
    }

    /// The number with these residues modulo the primes (Chinese remainder theorem, one prime after the other).
    fn combined(residues: impl Fn(u64) -> u64) -> num_bigint::BigUint {
        let (mut value, mut modulus) = (num_bigint::BigUint::from(1_u8), num_bigint::BigUint::from(2_u8));
        for prime in primes() {
            while &value % prime != num_bigint::BigUint::from(residues(prime)) {
                value += &modulus;
            }
            modulus *= prime;
        }
        value
    }

    fn power(exponent: u64, prime: u64) -> u64 {
        (0..exponent).fold(1, |power, _| power * BASE % prime)
    }

    /// There are as many powers as the least common multiple of the orders says.
    #[test]
    fn powers_are_one_in_2_to_the_154() {
        assert_eq!(primes().len() + 1, 39);
        let orders = primes().into_iter().map(|prime| {
            let logarithm = Logarithm::of(1, prime).expect("1 is a power");
            assert_eq!(power(logarithm.order, prime), 1);
            logarithm.order
        });
        let multiple = orders.fold(1_u128, |multiple, order| {
            multiple / u128::from(gcd((multiple % u128::from(order)) as u64, order)) * u128::from(order)
        });
        let bits = (multiple as f64).log2();
        assert!((61.0..61.2).contains(&bits), "{bits}");
        let units: f64 = primes().iter().map(|&prime| ((prime - 1) as f64).log2()).sum();
        assert!((215.9..216.1).contains(&units), "{units}");
    }

    #[test]
    fn a_power_of_all_primes_together_is_found_and_one_of_each_alone_is_not() {
        for exponent in [0, 1, 2, 1000, 1234] {
            let n = combined(|prime| power(exponent, prime));
            assert!(has_form_vartime(&n.to_bytes_be()), "{exponent}");
        }
        // A power of 65537 modulo each prime, but not of one exponent: 1 modulo 5 (order 4) and −1 modulo all others of
        // an even order.
        let n = combined(|prime| {
            let order = Logarithm::of(1, prime).expect("1 is a power").order;
            match prime > 5 && order.is_multiple_of(2) {
                true => power(order / 2, prime),
                false => 1,
            }
        });
        assert!(!has_form_vartime(&n.to_bytes_be()));
        assert!(
            primes()
                .into_iter()
                .all(|prime| { Logarithm::of(remainder(&n.to_bytes_be(), prime), prime).is_some() })
        );
        // A multiple of a prime is no power.
        let n = combined(|prime| u64::from(prime != 167));
        assert!(!has_form_vartime(&n.to_bytes_be()));
    }
}
