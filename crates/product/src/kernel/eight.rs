//! Eight doubles worked on at once, modulo a prime below 2^50: the type that transforms are written over.
//!
//! A residue is an integer in a double, of either sign, of at most a few times the prime. Bounds are given as multiples
//! of p; they hold for every form. As in `rsalab-arith`, a body is generic and `#[inline(always)]`, and
//! [`Eight::run`] compiles it with the instructions that the form needs.
//!
//! # A product modulo p
//!
//! With p < 2^50, a and w integers, q the integer nearest to (an approximation of) aw/p:
//!
//! ```text
//! h = fl(a w)   l = a w - h, exact by a fused operation   r = (h - q p) + l = a w - q p
//! ```
//!
//! h - qp is an integer of at most |r| + |l|; both are below 2^51, so it is exact in a double, and so is the sum.
//! Only q is approximate. Rounding is done by adding and subtracting M = 1.5 · 2^52, which is right while
//! |aw/p| ≤ 2^51. Let |a| ≤ A p and |w| ≤ W p, with A W ≤ 2, so that |aw/p| ≤ A W 2^50 ≤ 2^51.
//!
//! - [`mul_by`](Doubles::mul_by), where v = fl(w/p) is known and W = 1/2: v is wrong by 2^-55 at most, so that a v is
//!   wrong by A 2^-5; where there is no fused operation its rounding adds A 2^-4 at most (2^-53 of A 2^49). |r| ≤
//!   (1/2 + A/10) p.
//! - [`mul`](Doubles::mul), with u = fl(1/p): h, u and (unfused) h u are each wrong by 2^-53 of their size, together
//!   3 · 2^-53 · A W 2^50 (and terms of 2^-100). |r| ≤ (1/2 + 3AW/8) p.
//! - [`reduce`](Doubles::reduce) is q = the rounded a u, |a| ≤ 8 p: wrong by 2^-49 at most. |r| ≤ 0.501 p.
//!
//! `bounds.rs` runs the transforms on these bounds.

/// Eight doubles in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [f64; 8]);

impl Line {
    /// Eight zeros.
    pub(crate) const ZERO: Self = Self([0.0; 8]);
}

/// 1.5 · 2^52: adding and subtracting it rounds to an integer.
pub(crate) const ROUND: f64 = 6_755_399_441_055_744.0;

/// The longest digit.
pub(crate) const MAX_BITS: u32 = 96;

/// Bits of a digit's lower part; both parts are exact in doubles.
pub(crate) const LOW: u32 = 48;

/// [`Eight::digits`] without vectors, which is given the conversion of integers.
#[inline(always)]
pub(crate) fn digits(limbs: &[u64], bits: u32, line: usize) -> [[u64; 8]; 2] {
    let mut at = line * bits as usize * 8;
    let (mut low, mut high) = ([0; 8], [0; 8]);
    for lane in 0..8 {
        let words = &limbs[at / 64..][..3];
        let shift = at % 64;
        let digit = (u128::from(words[0]) | u128::from(words[1]) << 64) >> shift;
        // In two steps, of which the second is by at most 63 bits.
        let digit = digit | u128::from(words[2]) << 64 << (63 - shift) << 1;
        low[lane] = digit as u64 & ((1 << bits.min(LOW)) - 1);
        high[lane] = (digit >> LOW) as u64 & ((1 << bits.saturating_sub(LOW)) - 1);
        at += bits as usize;
    }
    [low, high]
}

/// A prime, in every lane.
#[derive(Clone, Copy)]
pub(crate) struct Modulus<E> {
    /// p.
    pub(crate) p: E,
    /// 1/p, rounded.
    pub(crate) inverse: E,
    /// [`ROUND`].
    pub(crate) round: E,
}

impl<E: Doubles> Modulus<E> {
    /// Of a prime below 2^50.
    #[inline(always)]
    pub(crate) fn new(token: E::Token, p: u64) -> Self {
        Self {
            p: E::splat(token, p as f64),
            inverse: E::splat(token, 1.0 / p as f64),
            round: E::splat(token, ROUND),
        }
    }
}

/// Some doubles at once. A value can only be made with a [`Token`](Self::Token), so having one proves that this CPU can
/// work on it. All arithmetic rounds to nearest, ties to even.
pub(crate) trait Doubles: Copy + 'static {
    /// The proof that this CPU has the instructions.
    type Token: Copy + Send + Sync + 'static;

    /// One double, in every lane.
    fn splat(token: Self::Token, x: f64) -> Self;
    /// self + b.
    fn add(self, b: Self) -> Self;
    /// self - b.
    fn sub(self, b: Self) -> Self;
    /// self w mod p, where `v` is w/p.
    fn mul_by(self, w: Self, v: Self, modulus: &Modulus<Self>) -> Self;
    /// self b mod p.
    fn mul(self, b: Self, modulus: &Modulus<Self>) -> Self;
    /// self mod p, of either sign: at most 0.501 p for |self| ≤ 8 p.
    fn reduce(self, modulus: &Modulus<Self>) -> Self;
}

/// Eight doubles.
pub(crate) trait Eight: Doubles {
    /// Numbers that fit into a register: eight doubles, or the lower and the upper four. What needs many registers is
    /// done to one after the other.
    type Half: Doubles<Token = Self::Token>;
    /// Of such: 1 or 2.
    const HALVES: usize;
    /// Constants that [`digits`](Self::digits) takes, the same for all lines.
    type Shape: Copy;

    /// Does `work` compiled for this form.
    fn run<W: Work>(token: Self::Token, work: W) -> W::Output;
    /// From memory.
    fn load(token: Self::Token, line: &Line) -> Self;
    /// To memory.
    fn store(self, line: &mut Line);
    /// A half, from memory.
    fn load_half(token: Self::Token, line: &Line, half: usize) -> Self::Half;
    /// A half, to memory.
    fn store_half(half: Self::Half, line: &mut Line, number: usize);
    /// The half of each column, of rows in memory.
    fn load_columns(token: Self::Token, rows: &[Line; 8], half: usize) -> [Self::Half; 8];
    /// The half of each column, to rows in memory.
    fn store_columns(columns: [Self::Half; 8], rows: &mut [Line; 8], half: usize);
    /// self + p where self is negative.
    fn add_if_negative(self, p: Self) -> Self;
    /// Where the bits of eight digits are.
    fn shape(token: Self::Token, bits: u32) -> Self::Shape;
    /// Digits 8 `line` .. 8 `line` + 8 of `bits` bits: the lower [`LOW`] bits of each, and what is above. Panics where
    /// fewer than 128 bytes follow the first bit.
    fn digits(token: Self::Token, limbs: &[u64], bits: u32, line: usize, shape: &Self::Shape) -> [Self; 2];
    /// Doubles that are integers from 0 to 2^52 - 1.
    fn to_integers(self) -> [u64; 8];

    /// self mod p, from 0 to p - 1, for |self| ≤ 8 p.
    #[inline(always)]
    fn canonical(self, modulus: &Modulus<Self>) -> Self {
        self.reduce(modulus).add_if_negative(modulus.p)
    }
}

/// Something to do over any form.
pub(crate) trait Work {
    /// The result.
    type Output;
    /// Does it. Implementations are `#[inline(always)]`.
    fn run<E: Eight>(self, token: E::Token) -> Self::Output;
}
