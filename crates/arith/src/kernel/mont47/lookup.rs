//! Looking a table up in constant time.

use crate::kernel::doubles::{Doubles, Vector, unroll, with_constant};

/// Vectors that are picked at once.
const BLOCK: usize = 8;

/// Puts entry `digits[lane]` into each lane of `value`: all entries pass by whole, and each is merged into the lanes
/// whose digit it is. Entries are as long as `value`.
#[inline(always)]
pub(super) fn look_up<V: Doubles<N>, const N: usize>(
    token: V::Token,
    table: &[Vector<N>],
    digits: &[u8; N],
    value: &mut [Vector<N>],
) {
    let mut wanted = [0; N];
    for (wanted, &digit) in wanted.iter_mut().zip(digits) {
        *wanted = number(digit.into());
    }
    let wanted = V::load(token, &wanted);
    let stride = value.len();
    let whole = stride - stride % BLOCK;
    for at in (0..whole).step_by(BLOCK) {
        pick::<V, N, BLOCK>(token, (table, at), wanted, stride, value);
    }
    with_constant!(stride - whole, BLOCK, M => {
        pick::<V, N, M>(token, (table, whole), wanted, stride, value);
    });
}

/// 2^52 + a digit, as a double: made without a conversion.
fn number(digit: u64) -> u64 {
    ((1u64 << 52) as f64).to_bits() + digit
}

/// [`look_up`] of M vectors from `at` on, held in registers while the entries pass by.
#[inline(always)]
fn pick<V: Doubles<N>, const N: usize, const M: usize>(
    token: V::Token,
    (table, at): (&[Vector<N>], usize),
    wanted: V,
    stride: usize,
    value: &mut [Vector<N>],
) {
    let mut picked = [V::splat(token, 0.0); M];
    for (index, entry) in (0..).zip(table.chunks_exact(stride)) {
        let entry: &[Vector<N>; M] = entry[at..].first_chunk().expect("a block fits");
        let here = wanted.equal(V::splat(token, f64::from_bits(number(index))));
        unroll!(i < M => { picked[i] = picked[i].merge(V::load(token, &entry[i]), here); });
    }
    let value: &mut [Vector<N>; M] = value[at..].first_chunk_mut().expect("a block fits");
    unroll!(i < M => { picked[i].store(&mut value[i]); });
}
