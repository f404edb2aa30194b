//! Constants of moduli that are used once: candidates for primes, whose constants are worth less than a
//! thousandth of the power that they serve if all lanes get theirs at once.

use super::blocks::{Carry, LARGE, SMALL, reduce_rows};
use super::moduli::{Moduli, digits, vec8s, vec8s_mut};
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK, Lanes, Vec8, Work};

/// The inverses for partial reduction, of moduli that have just been put into their lanes.
pub(super) struct SetPartialInverses<'a> {
    pub(super) moduli: &'a mut Moduli,
    pub(super) t: &'a mut [Vec8],
}

impl Work for SetPartialInverses<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self { moduli, t } = self;
        let n = vec8s(&moduli.n);
        if n.len() <= LARGE {
            return;
        }
        // To reduce 1 by the rows of a block is to divide it by what the block is worth.
        let t = &mut t[..n.len() + LARGE];
        t.fill([0; 8]);
        t[0] = [1; 8];
        let n0 = V::load(token, &moduli.n0);
        let large = vec8s_mut(&mut moduli.large_inverse);
        reduce_rows::<V, { LARGE }>(token, t, n, n0, large, None);
        let small = vec8s_mut(&mut moduli.small_inverse);
        reduce_rows::<V, { SMALL }>(token, t, n, n0, small, None);
    }
}

/// R mod n in `one`, and 2^c R mod n in `rr`, where r = c 2^i are the bits of R and c is odd.
pub(super) struct SetForm<'a> {
    pub(super) moduli: &'a mut Moduli,
    /// Bits of the least modulus.
    pub(super) least_bits: usize,
    pub(super) t: &'a mut [Vec8],
}

impl Work for SetForm<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self { moduli, least_bits, t } = self;
        let n = vec8s(&moduli.n);
        let r = digits(moduli.plain[0].len()) * DIGIT_BITS;
        let one = vec8s_mut(&mut moduli.one);
        one.fill([0; 8]);
        let top = least_bits - 1;
        one[top / DIGIT_BITS] = [1 << (top % DIGIT_BITS); 8];
        for _ in top..r {
            double::<V>(token, one, n, t);
        }
        let rr = vec8s_mut(&mut moduli.rr);
        rr.copy_from_slice(one);
        for _ in 0..r >> r.trailing_zeros() {
            double::<V>(token, rr, n, t);
        }
    }
}

/// a = 2 a mod n, for a < n.
#[inline(always)]
fn double<V: Lanes>(token: V::Token, a: &mut [Vec8], n: &[Vec8], t: &mut [Vec8]) {
    let mask = V::splat(token, DIGIT_MASK);
    let mut doubled = Carry::<V>::new(token, None);
    // 2 a - n as 2 a + (R - 1 - n) + 1, which carries out of R unless it is negative.
    let mut less = Carry::<V>::new(token, None).with(V::splat(token, 1));
    for ((a, n), less_n) in a.iter_mut().zip(n).zip(t.iter_mut()) {
        let digit = V::load(token, a);
        let digit = doubled.digit(digit.add(digit));
        digit.store(a);
        let complement = mask.sub(V::load(token, n));
        less.digit(digit.add(complement)).store(less_n);
    }
    let over = less.above().equal_bits(V::splat(token, 1));
    for (a, less_n) in a.iter_mut().zip(t) {
        V::load(token, a).choose(V::load(token, less_n), over).store(a);
    }
}
