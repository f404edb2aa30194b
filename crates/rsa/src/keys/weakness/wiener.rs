//! Wiener's attack (1990): a private exponent below n^(1/4) / 3 is the denominator of a convergent of e / n.
//!
//! ```text
//! e d = 1 + k φ / g      so that k / d is close to e / n
//! for each convergent k / d: φ = (e d − 1) / k, if that is whole; p + q = n − φ + 1; are p and q whole?
//! ```
//!
//! Only a public exponent about as long as the modulus can belong to such a d, so that hardly any key is tried. All of
//! it is public, and the time is variable.

use num_bigint::BigUint;
use rsalab_arith::integer::bits_vartime;

use crate::keys::square::is_square;

/// Returns whether the attack finds the private exponent of a modulus and a public exponent, both big-endian.
pub(super) fn finds_vartime(n: &[u8], e: &[u8]) -> bool {
    // e d > φ / g, with a g that nobody makes long.
    if 4 * bits_vartime(e) < 3 * bits_vartime(n).saturating_sub(64) {
        return false;
    }
    let (n, e) = (BigUint::from_bytes_be(n), BigUint::from_bytes_be(e));
    let one = BigUint::from(1_u8);
    let (mut above, mut below) = (e.clone(), n.clone());
    // Numerators and denominators of the last two convergents.
    let (mut k0, mut k1) = (BigUint::ZERO, one.clone());
    let (mut d0, mut d1) = (one.clone(), BigUint::ZERO);
    while below != BigUint::ZERO && 3 * d1.bits() <= n.bits() {
        let quotient = &above / &below;
        let rest = &above - &quotient * &below;
        (above, below) = (below, rest);
        let (k, d) = (&quotient * &k1 + &k0, &quotient * &d1 + &d0);
        (k0, k1, d0, d1) = (k1, k, d1, d);
        // The denominator is d times what p − 1 and q − 1 share (Wiener, section 4).
        if k1 != BigUint::ZERO && is_exponent(&n, &e, &k1, &d1) {
            return true;
        }
    }
    false
}

/// Returns whether φ = ⌊e d / k⌋ factors n.
fn is_exponent(n: &BigUint, e: &BigUint, k: &BigUint, d: &BigUint) -> bool {
    let phi = e * d / k;
    if phi >= *n || phi == BigUint::ZERO {
        return false;
    }
    let sum = n - phi + 1_u8;
    if sum.bit(0) {
        return false;
    }
    let half = sum >> 1;
    let square = &half * &half;
    square >= *n && is_square(&(square - n))
}
