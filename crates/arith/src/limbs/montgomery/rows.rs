//! Products row by row (operand scanning), for numbers of any length.

use crate::limbs::words::{self, adc, mac};

/// t = a b; t has as many limbs as both.
pub(super) fn mul(t: &mut [u64], a: &[u64], b: &[u64]) {
    words::mul(t, a, b);
}

/// t = a^2; t has twice the limbs. The rows above the diagonal, doubled, and the squares on it.
pub(super) fn sqr(t: &mut [u64], a: &[u64]) {
    assert_eq!(t.len(), 2 * a.len());
    t.fill(0);
    for i in 0..a.len() {
        t[i + a.len()] = words::add_mul_word(&mut t[2 * i + 1..i + a.len()], &a[i + 1..], a[i]);
    }
    words::double(t);
    let mut carry = false;
    for (pair, &a) in t.chunks_exact_mut(2).zip(a) {
        let (low, high) = mac(a, a, pair[0], u64::from(carry));
        pair[0] = low;
        (pair[1], carry) = adc(pair[1], high, false);
    }
}

/// Adds the multiple of n to t that clears its low half; the high half is then (t + m n) / 2^(64 N). Returns what is
/// carried out of it.
pub(super) fn redc(t: &mut [u64], n: &[u64], n0: u64) -> u64 {
    assert_eq!(t.len(), 2 * n.len());
    let mut top = false;
    for i in 0..n.len() {
        let m = t[i].wrapping_mul(n0);
        let carry = words::add_mul_word(&mut t[i..i + n.len()], n, m);
        (t[i + n.len()], top) = adc(t[i + n.len()], carry, top);
    }
    u64::from(top)
}
