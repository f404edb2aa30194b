//! Products of numbers cut into blocks of `B` limbs, each block's columns written out in full.
//!
//! Column k of a product gathers every a_i b_j with i + j = k (product scanning; Comba 1990). A column keeps two sums,
//! of the low and of the high halves of its products, each in 128 bits: the high sum is simply the next column's start.
//! Three-word accumulators need one addition fewer, but LLVM gathers their carries into vectors and loses more.
//!
//! Blocks of a longer number are combined as limbs are in the schoolbook method. A block step adds to a window of two
//! blocks, and its carry belongs one block above: the next step, whose window lies one block higher, takes it in at its
//! column B.
//!
//! The routines are never inlined: one copy of each is all that fits the instruction cache.

use std::hint::black_box;

/// Does `$body` for each column of the largest block, with `$k` a constant. LLVM does not unroll nested loops this
/// deep.
macro_rules! for_each_column {
    ($k:ident => $body:expr) => {
        for_each_column!($k => $body;
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30)
    };
    ($k:ident => $body:expr; $($value:literal)*) => {
        $({
            const $k: usize = $value;
            $body;
        })*
    };
}

/// The sums of a column's low and high halves.
#[derive(Clone, Copy, Default)]
struct Column {
    low: u128,
    high: u128,
}

impl Column {
    #[inline(always)]
    fn add_product(&mut self, a: u64, b: u64) {
        let product = u128::from(a) * u128::from(b);
        self.low += u128::from(product as u64);
        self.high += product >> 64;
    }

    /// Every a_i b_j with i + j = K.
    #[inline(always)]
    fn add_products<const K: usize, const B: usize>(&mut self, a: &[u64; B], b: &[u64; B]) {
        for i in (K + 1).saturating_sub(B)..B.min(K + 1) {
            self.add_product(a[i], b[K - i]);
        }
    }

    /// Every a_i a_j with i + j = K and i < j.
    #[inline(always)]
    fn add_pairs<const K: usize, const B: usize>(&mut self, a: &[u64; B]) {
        for i in (K + 1).saturating_sub(B)..K.div_ceil(2) {
            self.add_product(a[i], a[K - i]);
        }
    }

    /// Every a_i b_j with i + j = K and j > 0, for K < B.
    #[inline(always)]
    fn add_products_but_last<const K: usize, const B: usize>(&mut self, a: &[u64; B], b: &[u64; B]) {
        for i in 0..K {
            self.add_product(a[i], b[K - i]);
        }
    }

    /// The column's limb, and the next column.
    #[inline(always)]
    fn finish(self) -> (u64, Self) {
        let low = (self.low >> 64) + self.high;
        (self.low as u64, Self { low, high: 0 })
    }

    /// [`finish`](Self::finish), fenced in large blocks: there LLVM would add this column's high halves straight into
    /// the next one's sum, and keep all of them waiting in memory.
    #[inline(always)]
    fn finish_apart<const B: usize>(self) -> (u64, Self) {
        let (limb, Self { low, high }) = self.finish();
        let low = if B >= 16 { black_box(low) } else { low };
        (limb, Self { low, high })
    }
}

/// The limbs, fenced in large blocks: LLVM must fetch them anew for each column, not keep copies of them all in
/// its own stack frame, whose addresses make longer instructions.
#[inline(always)]
fn reload<const B: usize>(a: &[u64; B]) -> &[u64; B] {
    if B >= 16 { black_box(a) } else { a }
}

/// t = a b; t has 2 B limbs.
#[inline(never)]
pub(super) fn mul<const B: usize>(t: &mut [u64], a: &[u64; B], b: &[u64; B]) {
    let t = &mut t[..2 * B];
    let mut column = Column::default();
    for_each_column!(K => if K < 2 * B - 1 {
        column.add_products::<K, B>(reload(a), reload(b));
        (t[K], column) = column.finish();
    });
    t[2 * B - 1] = column.low as u64;
}

/// t = t + a b + carry 2^(64 B); t has 2 B limbs. Returns what is carried out of it.
#[inline(never)]
pub(super) fn mul_add<const B: usize>(t: &mut [u64], a: &[u64; B], b: &[u64; B], carry: u64) -> u64 {
    let t = &mut t[..2 * B];
    let mut column = Column::default();
    for_each_column!(K => if K < 2 * B - 1 {
        column.low += u128::from(t[K]);
        if K == B {
            column.low += u128::from(carry);
        }
        column.add_products::<K, B>(reload(a), reload(b));
        (t[K], column) = column.finish();
    });
    column.low += u128::from(t[2 * B - 1]);
    (t[2 * B - 1], column) = column.finish();
    column.low as u64
}

/// t = 2 t + a^2 + carry, or a^2 + carry unless `DOUBLE`; t has 2 B limbs. Returns what is carried out of it.
///
/// Off the diagonal each product counts twice, so half the products of a multiplication do.
#[inline(never)]
pub(super) fn sqr<const B: usize, const DOUBLE: bool>(t: &mut [u64], a: &[u64; B], carry: u64) -> u64 {
    let t = &mut t[..2 * B];
    let mut column = Column {
        low: u128::from(carry),
        high: 0,
    };
    for_each_column!(K => if K < 2 * B - 1 {
        let mut pairs = Column { low: if DOUBLE { u128::from(t[K]) } else { 0 }, high: 0 };
        pairs.add_pairs::<K, B>(a);
        column.low += 2 * pairs.low;
        column.high = 2 * pairs.high;
        if K & 1 == 0 {
            column.add_product(a[K / 2], a[K / 2]);
        }
        (t[K], column) = column.finish();
    });
    if DOUBLE {
        column.low += 2 * u128::from(t[2 * B - 1]);
    }
    (t[2 * B - 1], column) = column.finish();
    column.low as u64
}

/// Finds the m of B limbs with t + m n = 0 mod 2^(64 B), for n0 = -n^-1 mod 2^64; puts m in the low half of t and adds
/// the high half of t + m n in the high half. Returns what is carried out of it.
///
/// Montgomery's reduction in product-scanning form (Dusse and Kaliski 1990; Koc, Acar and Kaliski 1996).
#[inline(never)]
pub(super) fn redc<const B: usize>(t: &mut [u64], n: &[u64; B], n0: u64) -> u64 {
    let (m, high) = t[..2 * B].split_at_mut(B);
    let m: &mut [u64; B] = m.try_into().expect("B limbs");
    let mut column = Column::default();
    for_each_column!(K => if K < B {
        column.low += u128::from(m[K]);
        column.add_products_but_last::<K, B>(m, n);
        m[K] = (column.low as u64).wrapping_mul(n0);
        column.add_product(m[K], n[0]);
        (_, column) = column.finish_apart::<B>();
    } else if K < 2 * B - 1 {
        column.low += u128::from(high[K - B]);
        column.add_products::<K, B>(m, n);
        (high[K - B], column) = column.finish_apart::<B>();
    });
    column.low += u128::from(high[B - 1]);
    (high[B - 1], column) = column.finish_apart::<B>();
    column.low as u64
}
