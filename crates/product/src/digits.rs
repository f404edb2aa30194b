//! Numbers as polynomials: digits of b bits, reduced modulo a prime, and back.

use crate::{
    field::{Factor, Field, INVERSES, PRIMES},
    kernel::{Eight, LOW, Line, Modulus},
    twist::times,
};

/// Zeros after a number, so that its last digits can be read in the manner of others.
const PADDING: usize = 16;

/// The digits of a number, modulo a prime.
pub(crate) struct Reader<'a, E: Eight> {
    token: E::Token,
    limbs: &'a [u64],
    /// The end of the number, from a limb at which lines `inside` .. begin, and zeros.
    padded: Vec<u64>,
    inside: usize,
    lines: usize,
    bits: u32,
    shape: E::Shape,
    /// 2^[`LOW`].
    shift: Factor,
}

impl<'a, E: Eight> Reader<'a, E> {
    /// Digits of so many bits.
    #[inline(always)]
    pub(crate) fn new(token: E::Token, limbs: &'a [u64], bits: u32, field: Field) -> Self {
        let per_line = bits as usize;
        let lines = (8 * limbs.len()).div_ceil(per_line);
        // Eight lines begin at a limb. The last whole eight of which so many bytes follow.
        let inside = (8 * limbs.len()).saturating_sub(8 * PADDING + 7 * per_line) / per_line / 8 * 8;
        let mut padded = limbs[inside / 8 * per_line..].to_vec();
        padded.resize(padded.len() + PADDING, 0);
        Self {
            token,
            limbs,
            padded,
            inside,
            lines,
            bits,
            shape: E::shape(token, bits),
            shift: field.factor((1 << LOW) % field.p),
        }
    }

    /// Lines that are not zeros.
    pub(crate) fn lines(&self) -> usize {
        self.lines
    }

    /// Line `i`: at most 0.8 p.
    #[inline(always)]
    pub(crate) fn line(&self, i: usize, modulus: &Modulus<E>) -> E {
        let token = self.token;
        let [low, high] = if i < self.inside {
            E::digits(token, self.limbs, self.bits, i, &self.shape)
        } else if i < self.lines {
            E::digits(token, &self.padded, self.bits, i - self.inside, &self.shape)
        } else {
            return E::splat(token, 0.0);
        };
        low.add(times(token, high, self.shift, modulus))
    }
}

/// a + b, of which the sum has as many words.
#[inline(always)]
fn add<const P: usize>(a: [u64; P], b: [u64; P]) -> [u64; P] {
    let mut carry = false;
    let mut sum = [0; P];
    for i in 0..P {
        let (x, c1) = a[i].overflowing_add(b[i]);
        let (x, c2) = x.overflowing_add(u64::from(carry));
        sum[i] = x;
        carry = c1 | c2;
    }
    sum
}

/// v0 + p0 (v1 + p1 (v2 + …)): below the product of the primes, which has fewer bits than P words.
#[inline(always)]
fn value<const P: usize>(digits: &[[u64; 8]; P], lane: usize) -> [u64; P] {
    let mut value = [0; P];
    value[0] = digits[P - 1][lane];
    for i in (0..P - 1).rev() {
        let mut carry = digits[i][lane];
        // So far it has P - 1 - i words.
        for word in &mut value[..P - 1 - i] {
            let wide = u128::from(*word) * u128::from(PRIMES[i].p) + u128::from(carry);
            *word = wide as u64;
            carry = (wide >> 64) as u64;
        }
        value[P - 1 - i] = carry;
    }
    value
}

/// Limbs made of words of fewer bits.
struct Bits<'a> {
    out: std::slice::IterMut<'a, u64>,
    buffer: u64,
    filled: u32,
}

impl Bits<'_> {
    #[inline(always)]
    fn limb(&mut self, limb: u64) {
        *self.out.next().expect("b limbs for 64 coefficients") = limb;
    }

    /// The lowest 64 bits of a digit.
    #[inline(always)]
    fn push_limb(&mut self, limb: u64) {
        self.limb(self.buffer | limb << self.filled);
        self.buffer = limb >> 1 >> (63 - self.filled);
    }

    /// A word below 2^bits, for fewer than 64 bits.
    #[inline(always)]
    fn push(&mut self, word: u64, bits: u32) {
        self.buffer |= word << self.filled;
        self.filled += bits;
        if self.filled >= 64 {
            self.limb(self.buffer);
            self.filled -= 64;
            // Bits of `word` that had no room: as many as are now filled.
            self.buffer = word >> 1 >> (bits - 1 - self.filled);
        }
    }
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
) -> [u64; P] {
    if bits > 64 {
        recombine_digits::<E, P, true>(token, residues, bits, out)
    } else {
        recombine_digits::<E, P, false>(token, residues, bits, out)
    }
}

/// [`recombine`], `LONG` where there are more than 64 bits in a digit.
#[inline(always)]
fn recombine_digits<E: Eight, const P: usize, const LONG: bool>(
    token: E::Token,
    residues: [&[Line]; P],
    bits: u32,
    out: &mut [u64],
) -> [u64; P] {
    let mut moduli = [Modulus::<E>::new(token, PRIMES[0].p); P];
    for (modulus, field) in moduli.iter_mut().zip(PRIMES) {
        *modulus = Modulus::new(token, field.p);
    }
    let mut sum = [0; P];
    let mut out = Bits {
        out: out.iter_mut(),
        buffer: 0,
        filled: 0,
    };
    let rest = if LONG { bits - 64 } else { bits };
    let mask = u64::MAX >> (64 - rest);
    for (at, first) in residues[0].iter().enumerate() {
        let mut v = [E::load(token, first).reduce(&moduli[0]); P];
        for j in 1..P {
            v[j] = E::load(token, &residues[j][at]).reduce(&moduli[j]);
        }
        let mut digits = [[0_u64; 8]; P];
        for j in 0..P {
            for k in 0..j {
                v[j] = times(token, v[j].sub(v[k]), INVERSES[k][j], &moduli[j]);
            }
            v[j] = v[j].canonical(&moduli[j]);
            digits[j] = v[j].to_integers();
        }
        for lane in 0..8 {
            sum = add(sum, value(&digits, lane));
            let (low, high) = if LONG { (Some(sum[0]), 1) } else { (None, 0) };
            if let Some(low) = low {
                out.push_limb(low);
            }
            // sum >> bits, and its lowest `rest` bits but for that limb. Where these are 64, they are pushed whole.
            let word = sum[high] & mask;
            let mut shifted = [0; P];
            if rest == 64 {
                out.push_limb(word);
                shifted[..P - 1].copy_from_slice(&sum[1..]);
            } else {
                out.push(word, rest);
                for i in 0..P - high {
                    let next = sum.get(high + i + 1).copied().unwrap_or(0);
                    shifted[i] = sum[high + i] >> rest | next << (64 - rest);
                }
            }
            sum = shifted;
        }
    }
    debug_assert_eq!(out.filled, 0);
    sum
}
