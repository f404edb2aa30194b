//! Greatest common divisors in the lanes of AVX-512 IFMA, sixteen at once.
//!
//! The division steps of `gcd`, [`STEPS`] at a time on the lowest digits, in the form that starts at 1/2 (Wuille,
//! libsecp256k1, "The safegcd implementation in libsecp256k1 explained", 2021): without branches, so that every lane
//! does its own. Of b bits (45907 b + 26313) / 19929 steps are enough, and about 2.07 b are needed. Lanes go on until
//! all are done.
//!
//! ```text
//! steps      delta, f, g  ->  delta, matrix of u v q r, |u| + |v| ≤ 2^50, |q| + |r| ≤ 2^50
//! apply      f, g  ->  (u f + v g) / 2^50, (q f + r g) / 2^50
//! ```
//!
//! Numbers are of digits of 52 bits in two's complement, the last of which is the sign: 0 or 2^52 - 1. A factor below
//! zero is multiplied with as a digit, and the number then taken away one digit higher. Two groups of eight lanes go
//! through the steps together: each step waits for the one before it.

use std::arch::x86_64::*;

/// The proof that CPU and operating system offer AVX-512 F, DQ and IFMA.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HaveIfma(());

impl HaveIfma {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512ifma");
        have.then_some(Self(()))
    }
}

/// Lanes of a register, and registers that are worked on together.
const LANES: usize = 8;
const GROUPS: usize = 2;
/// Pairs that are worked on at once.
pub(crate) const TOGETHER: usize = LANES * GROUPS;

const BITS: usize = 52;
/// Steps whose matrix is applied at once: its numbers have a sign, and fit a digit.
const STEPS: u32 = 50;

/// f and g of eight lanes, of as many digits, and -(delta + 1/2).
struct Group {
    f: Vec<__m512i>,
    g: Vec<__m512i>,
    zeta: __m512i,
}

/// u, v, q, r.
type Matrix = [__m512i; 4];

/// gcd(f, g) of up to [`TOGETHER`] pairs, each with an odd f.
pub(crate) fn gcds(_: HaveIfma, pairs: &[(&[u64], &[u64])]) -> Vec<Vec<u64>> {
    assert!(pairs.len() <= TOGETHER, "as many as there are lanes");
    // SAFETY: the token proves the instructions.
    unsafe { of_lanes(pairs) }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn of_lanes(pairs: &[(&[u64], &[u64])]) -> Vec<Vec<u64>> {
    let limbs = pairs.iter().map(|(f, g)| f.len().max(g.len())).max().unwrap_or(0);
    let digits = (64 * limbs).div_ceil(BITS) + 1;
    // A lane without a pair is done.
    let pair = |lane: usize| pairs.get(lane).copied().unwrap_or((&[1], &[]));
    let load = |group: usize, is_f: bool| -> Vec<__m512i> {
        let of = |lane: usize| {
            let (f, g) = pair(LANES * group + lane);
            if is_f { f } else { g }
        };
        (0..digits)
            .map(|i| lanes(std::array::from_fn(|lane| digit(of(lane), i))))
            .collect()
    };
    let mut groups: [Group; GROUPS] = std::array::from_fn(|group| Group {
        f: load(group, true),
        g: load(group, false),
        zeta: _mm512_set1_epi64(-1),
    });
    let mut is_done = [false; GROUPS];
    while is_done != [true; GROUPS] {
        let matrices = steps(&mut groups);
        for ((group, matrix), is_done) in groups.iter_mut().zip(&matrices).zip(&mut is_done) {
            *is_done = apply(group, matrix);
            shorten(group);
        }
    }
    (0..pairs.len())
        .map(|lane| {
            let digits: Vec<u64> = groups[lane / LANES]
                .f
                .iter()
                .map(|&digit| words(digit)[lane % LANES])
                .collect();
            magnitude(&digits)
        })
        .collect()
}

/// Digit i of a number.
fn digit(limbs: &[u64], i: usize) -> u64 {
    let (at, shift) = (BITS * i / 64, BITS * i % 64);
    let limb = |at: usize| limbs.get(at).copied().unwrap_or(0);
    (limb(at) >> shift | limb(at + 1) << 1 << (63 - shift)) & MASK
}

const MASK: u64 = (1 << BITS) - 1;

/// The magnitude of a number in two's complement.
fn magnitude(digits: &[u64]) -> Vec<u64> {
    let is_negative = digits.last().is_some_and(|&sign| sign != 0);
    let mut limbs = vec![0; (BITS * digits.len()).div_ceil(64) + 1];
    let mut carry = u64::from(is_negative);
    for (i, &digit) in digits.iter().enumerate() {
        let digit = if is_negative { !digit & MASK } else { digit } + carry;
        carry = digit >> BITS;
        let (digit, at, shift) = (digit & MASK, BITS * i / 64, BITS * i % 64);
        limbs[at] |= digit << shift;
        limbs[at + 1] |= digit >> 1 >> (63 - shift);
    }
    limbs.truncate(crate::natural::significant(&limbs));
    limbs
}

#[target_feature(enable = "avx512f")]
fn lanes(words: [u64; LANES]) -> __m512i {
    let [a, b, c, d, e, f, g, h] = words.map(u64::cast_signed);
    _mm512_set_epi64(h, g, f, e, d, c, b, a)
}

fn words(register: __m512i) -> [u64; LANES] {
    // SAFETY: both are 64 bytes of integers, in which every pattern is a value.
    unsafe { std::mem::transmute(register) }
}

/// Division steps on the lowest digits of both groups.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn steps(groups: &mut [Group; GROUPS]) -> [Matrix; GROUPS] {
    let (zero, one, ones) = (_mm512_setzero_si512(), _mm512_set1_epi64(1), _mm512_set1_epi64(-1));
    let mut f = [groups[0].f[0], groups[1].f[0]];
    let mut g = [groups[0].g[0], groups[1].g[0]];
    let mut zeta = [groups[0].zeta, groups[1].zeta];
    let (mut u, mut v, mut q, mut r) = ([one; GROUPS], [zero; GROUPS], [zero; GROUPS], [one; GROUPS]);
    for _ in 0..STEPS {
        for i in 0..GROUPS {
            let odd = _mm512_test_epi64_mask(g[i], one);
            // An odd g takes the place of f where delta is above 0.
            let swap = odd & _mm512_movepi64_mask(zeta[i]);
            for (f, g) in [(&mut f[i], &mut g[i]), (&mut u[i], &mut q[i]), (&mut v[i], &mut r[i])] {
                let signed = _mm512_mask_sub_epi64(*f, swap, zero, *f);
                *g = _mm512_mask_add_epi64(*g, odd, *g, signed);
                *f = _mm512_mask_add_epi64(*f, swap, *f, *g);
            }
            zeta[i] = _mm512_add_epi64(_mm512_mask_xor_epi64(zeta[i], swap, zeta[i], ones), ones);
            g[i] = _mm512_srli_epi64::<1>(g[i]);
            u[i] = _mm512_add_epi64(u[i], u[i]);
            v[i] = _mm512_add_epi64(v[i], v[i]);
        }
    }
    (groups[0].zeta, groups[1].zeta) = (zeta[0], zeta[1]);
    std::array::from_fn(|i| [u[i], v[i], q[i], r[i]])
}

/// A row of the matrix.
struct Row {
    u: __m512i,
    v: __m512i,
    /// Lanes in which they are below zero.
    u_sign: __mmask8,
    v_sign: __mmask8,
}

impl Row {
    #[target_feature(enable = "avx512f,avx512dq")]
    fn of(u: __m512i, v: __m512i) -> Self {
        Self {
            u,
            v,
            u_sign: _mm512_movepi64_mask(u),
            v_sign: _mm512_movepi64_mask(v),
        }
    }

    /// The products' part for the column of digits `x` and `y`, and that for the next one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512ifma")]
    fn products(&self, x: __m512i, y: __m512i) -> [__m512i; 2] {
        let zero = _mm512_setzero_si512();
        // The multiplication takes 52 bits of each factor.
        let low = _mm512_madd52lo_epu64(_mm512_madd52lo_epu64(zero, self.u, x), self.v, y);
        let high = _mm512_madd52hi_epu64(_mm512_madd52hi_epu64(zero, self.u, x), self.v, y);
        let high = _mm512_mask_sub_epi64(high, self.u_sign, high, x);
        [low, _mm512_mask_sub_epi64(high, self.v_sign, high, y)]
    }
}

/// A sum of products that is divided by 2^50, digit by digit.
struct Quotient {
    /// What goes to the next column.
    carry: __m512i,
    /// The digit before, whose lowest bits are cut off.
    before: __m512i,
}

impl Quotient {
    /// Takes the products of a column, and gives the digit of the one before.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn column(&mut self, [low, high]: [__m512i; 2]) -> __m512i {
        let mask = _mm512_set1_epi64(MASK.cast_signed());
        let sum = _mm512_add_epi64(self.carry, low);
        self.carry = _mm512_add_epi64(_mm512_srai_epi64::<{ BITS as u32 }>(sum), high);
        let digit = _mm512_and_si512(sum, mask);
        let lower = _mm512_srli_epi64::<STEPS>(self.before);
        let upper = _mm512_and_si512(_mm512_slli_epi64::<{ BITS as u32 - STEPS }>(digit), mask);
        self.before = digit;
        _mm512_or_si512(lower, upper)
    }

    /// The digit of the sign.
    #[target_feature(enable = "avx512f")]
    fn sign(&self) -> __m512i {
        let sign = _mm512_srai_epi64::<63>(_mm512_slli_epi64::<{ 64 - BITS as u32 }>(self.before));
        _mm512_and_si512(sign, _mm512_set1_epi64(MASK.cast_signed()))
    }
}

/// Multiplies by the matrix, divides by 2^50, and returns whether g is 0 in every lane.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn apply(group: &mut Group, &[u, v, q, r]: &Matrix) -> bool {
    let (of_f, of_g) = (Row::of(u, v), Row::of(q, r));
    let zero = _mm512_setzero_si512();
    let start = || Quotient {
        carry: zero,
        before: zero,
    };
    let (mut f, mut g) = (start(), start());
    let mut any = zero;
    let digits = group.f.len();
    for i in 0..digits {
        let (x, y) = (group.f[i], group.g[i]);
        let (below_f, below_g) = (f.column(of_f.products(x, y)), g.column(of_g.products(x, y)));
        if i > 0 {
            group.f[i - 1] = below_f;
            group.g[i - 1] = below_g;
            any = _mm512_or_si512(any, below_g);
        }
    }
    group.f[digits - 1] = f.sign();
    group.g[digits - 1] = g.sign();
    _mm512_test_epi64_mask(any, any) == 0 && _mm512_test_epi64_mask(g.sign(), g.sign()) == 0
}

/// Leaves out digits that say nothing but the sign in all lanes.
#[target_feature(enable = "avx512f")]
fn shorten(group: &mut Group) {
    let is_sign = |number: &[__m512i]| match number {
        [.., below, sign] => _mm512_cmpneq_epi64_mask(*below, *sign) == 0,
        _ => false,
    };
    while group.f.len() > 2 && is_sign(&group.f) && is_sign(&group.g) {
        group.f.pop();
        group.g.pop();
    }
}
