//! Numbers as polynomials: digits of b bits, reduced modulo a prime, and back.

use crate::{
    field::{Factor, Field, PRIMES},
    kernel::{Eight, Line, Modulus},
};

/// The longest digit.
pub(crate) const MAX_BITS: u32 = 96;

/// Bits of a digit's lower part; both parts are exact in doubles.
const LOW: u32 = 48;

/// Digit `i`, of `bits` bits.
#[inline(always)]
fn digit(limbs: &[u64], i: usize, bits: u32) -> u128 {
    let at = i * bits as usize;
    let (word, shift) = (at / 64, at % 64);
    let limb = |k: usize| u128::from(limbs.get(word + k).copied().unwrap_or(0));
    let mut digit = (limb(0) | limb(1) << 64) >> shift;
    if shift > 0 {
        digit |= limb(2) << (128 - shift);
    }
    digit & ((1 << bits) - 1)
}

/// The digits of a number, modulo the prime: at most 0.8 p. They must be no more than `out` has room for.
#[inline(always)]
pub(crate) fn read<E: Eight>(
    token: E::Token,
    limbs: &[u64],
    bits: u32,
    field: Field,
    modulus: &Modulus<E>,
    out: &mut [Line],
) {
    let lines = (limbs.len() * 64).div_ceil(bits as usize).div_ceil(8);
    let (used, rest) = out.split_at_mut(lines.min(out.len()));
    let shift = field.factor((1 << LOW) % field.p);
    let (w, v) = (E::splat(token, shift.w), E::splat(token, shift.v));
    for (i, line) in used.iter_mut().enumerate() {
        let mut low = [0; 8];
        let mut high = [0; 8];
        for lane in 0..8 {
            let digit = digit(limbs, 8 * i + lane, bits);
            low[lane] = digit as u64 & ((1 << LOW) - 1);
            high[lane] = (digit >> LOW) as u64;
        }
        let low = E::from_integers(token, &low);
        let high = E::from_integers(token, &high);
        low.add(high.mul_by(w, v, modulus)).store(line);
    }
    rest.fill(Line::ZERO);
}

/// What recombination takes: 1/p_i modulo p_j for i < j.
fn inverses(count: usize) -> [[Factor; 4]; 4] {
    let mut inverses = [[Factor::default(); 4]; 4];
    for j in 0..count {
        for i in 0..j {
            inverses[i][j] = PRIMES[j].factor(PRIMES[j].invert(PRIMES[i].p));
        }
    }
    inverses
}

/// A sum of words: 256 bits.
type Wide = [u64; 4];

#[inline(always)]
fn add(a: Wide, b: Wide) -> Wide {
    let mut carry = false;
    let mut sum = [0; 4];
    for i in 0..4 {
        let (x, c1) = a[i].overflowing_add(b[i]);
        let (x, c2) = x.overflowing_add(u64::from(carry));
        sum[i] = x;
        carry = c1 | c2;
    }
    sum
}

/// a b + c.
#[inline(always)]
fn mul_add(a: Wide, b: u64, c: u64) -> Wide {
    let mut carry = u128::from(c);
    let mut product = [0; 4];
    for i in 0..4 {
        carry += u128::from(a[i]) * u128::from(b);
        product[i] = carry as u64;
        carry >>= 64;
    }
    product
}

/// a >> bits, for bits from 1 to 127.
#[inline(always)]
fn shift_right(a: Wide, bits: u32) -> Wide {
    let [a, bits] = if bits >= 64 {
        [[a[1], a[2], a[3], 0], [u64::from(bits - 64); 4]]
    } else {
        [a, [u64::from(bits); 4]]
    };
    let bits = bits[0] as u32;
    std::array::from_fn(|i| {
        let next = a.get(i + 1).copied().unwrap_or(0);
        ((u128::from(a[i]) | u128::from(next) << 64) >> bits) as u64
    })
}

/// The sum of c_i 2^(b i), where coefficient c_i has the residues `residues[..][i]` (at most 4 p) and is below the
/// product of the primes: b limbs for each 64 coefficients. Returns what is above them.
///
/// The digits to mixed radix p0, p1, p2 … are v0 = r0, v1 = (r1 - v0)/p0, v2 = ((r2 - v0)/p0 - v1)/p1, …
#[inline(always)]
pub(crate) fn recombine<E: Eight, const P: usize>(
    token: E::Token,
    residues: [&[Line]; P],
    bits: u32,
    out: &mut [u64],
) -> Wide {
    let inverses = inverses(P);
    let moduli: [Modulus<E>; P] = std::array::from_fn(|i| Modulus::new(token, PRIMES[i].p));
    let mut sum: Wide = [0; 4];
    let mut out = out.iter_mut();
    let (mut buffer, mut filled) = (0_u128, 0);
    let mut lines = residues.map(|residues| residues.iter());
    while let Some(first) = lines[0].next() {
        let mut v = [E::load(token, first).reduce(&moduli[0]); P];
        for j in 1..P {
            let line = lines[j].next().expect("as many residues of each prime");
            v[j] = E::load(token, line).reduce(&moduli[j]);
        }
        let mut digits = [[0_u64; 8]; P];
        for j in 0..P {
            for k in 0..j {
                let factor = inverses[k][j];
                let (w, u) = (E::splat(token, factor.w), E::splat(token, factor.v));
                v[j] = v[j].sub(v[k]).mul_by(w, u, &moduli[j]);
            }
            v[j] = v[j].canonical(&moduli[j]);
            digits[j] = v[j].to_integers();
        }
        for lane in 0..8 {
            let mut value = [0; 4];
            for (field, digits) in PRIMES[..P].iter().zip(&digits).rev() {
                value = mul_add(value, field.p, digits[lane]);
            }
            sum = add(sum, value);
            // At most 63 bits wait, so that two limbs at most become full.
            let low = u128::from(sum[0]) | u128::from(sum[1]) << 64;
            let low = low & ((1 << bits) - 1);
            sum = shift_right(sum, bits);
            if bits > 64 {
                buffer |= u128::from(low as u64) << filled;
                *out.next().expect("b limbs for 64 coefficients") = buffer as u64;
                buffer = (buffer >> 64) | (low >> 64) << filled;
                filled += bits - 64;
            } else {
                buffer |= low << filled;
                filled += bits;
            }
            if filled >= 64 {
                *out.next().expect("b limbs for 64 coefficients") = buffer as u64;
                buffer >>= 64;
                filled -= 64;
            }
        }
    }
    debug_assert_eq!(filled, 0);
    sum
}
