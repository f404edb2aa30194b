//! Products of 64-bit limbs with BMI2 and ADX: `mulx`, which leaves the flags alone, and two chains of carries side by
//! side.
//!
//! ```text
//! a = a' + 2^(512 k) a", of which a" has fewer than eight limbs, and b, n likewise
//! mul     a' times blocks of b', each with a" times the same block after it, limb by limb of a"; then rows of b" times a
//! redc    eight digits of the quotient at a time times n', then times n"; rows of n for the last digits
//! sqr     triangles and blocks above the diagonal of a', rows of a" above its own; then 2 t + the squares
//! ```
//!
//! Blocks and rows are those of [`super::adx_blocks`]; eight limbs alone are [`super::adx512`]. Numbers of fewer are
//! left to [`Portable`].

use super::adx_blocks::{self, BLOCK};
use super::adx512;
use crate::limbs::montgomery::{Odd, Portable, Products, mul_then_reduce, select_by_masks, sqr_then_reduce};
use crate::limbs::words::{self, adc, mac};
use subtle::Choice;

/// The proof that this CPU has BMI2 and ADX, and AVX2 for look-ups, as all with ADX do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HaveAdx(());

impl HaveAdx {
    /// Asks the CPU.
    pub(crate) fn check() -> Option<Self> {
        let have =
            is_x86_feature_detected!("bmi2") && is_x86_feature_detected!("adx") && is_x86_feature_detected!("avx2");
        have.then_some(Self(()))
    }

    /// t += a b + top, which belongs at the place of the last block of t; returns what is carried out of t.
    fn mul_add(self, t: &mut [u64], a: &[u64], b: &[u64; BLOCK], top: u64) -> u64 {
        let blocks = a.len() / BLOCK;
        assert!(blocks > 0 && a.len() == BLOCK * blocks && t.len() == a.len() + BLOCK);
        // SAFETY: a `HaveAdx` proves the instructions; a has so many blocks, and t one more.
        unsafe { adx_blocks::mul_add(t.as_mut_ptr(), a.as_ptr(), blocks, b, top) }
    }

    /// t += digit a, which are equally long; returns the limb that is carried out of t.
    fn add_row(self, t: &mut [u64], a: &[u64], digit: u64) -> u64 {
        assert_eq!(t.len(), a.len());
        let (blocks, rest) = a.as_chunks::<BLOCK>();
        let mut carry = 0;
        if !blocks.is_empty() {
            // SAFETY: a `HaveAdx` proves the instructions; a has so many blocks, and t is as long.
            carry = unsafe { adx_blocks::add_row(t.as_mut_ptr(), a.as_ptr(), blocks.len(), digit) };
        }
        for (t, &a) in t[a.len() - rest.len()..].iter_mut().zip(rest) {
            (*t, carry) = mac(a, digit, *t, carry);
        }
        carry
    }

    /// t += block * a, from the place on where a begins, with a carry in at the place of the block's length, and one
    /// out at the end.
    fn add_columns(self, t: &mut [u64], a: &[u64], block: &[u64; BLOCK], carry: u64) -> u64 {
        let mut carry = carry != 0;
        for (j, &a) in a.iter().enumerate() {
            let row = self.add_row(&mut t[j..j + BLOCK], block, a);
            (t[j + BLOCK], carry) = adc(t[j + BLOCK], row, carry);
        }
        u64::from(carry)
    }
}

/// Limbs in whole blocks, of so many.
fn whole(limbs: usize) -> usize {
    limbs / BLOCK * BLOCK
}

impl Products for HaveAdx {
    fn mul(self, t: &mut [u64], a: &[u64], b: &[u64]) {
        let (limbs, whole) = (a.len(), whole(a.len()));
        if whole == 0 {
            return Portable.mul(t, a, b);
        }
        assert!(b.len() == limbs && t.len() == 2 * limbs);
        t.fill(0);
        let (low, high) = a.split_at(whole);
        for (i, block) in (0..).step_by(BLOCK).zip(b.as_chunks().0) {
            let carry = self.mul_add(&mut t[i..i + whole + BLOCK], low, block, 0);
            self.add_columns(&mut t[i + whole..], high, block, carry);
        }
        for (j, &digit) in (whole..).zip(&b[whole..]) {
            t[j + limbs] = self.add_row(&mut t[j..j + limbs], a, digit);
        }
    }

    fn sqr(self, t: &mut [u64], a: &[u64]) {
        let whole = whole(a.len());
        if whole == 0 {
            return Portable.sqr(t, a);
        }
        assert_eq!(t.len(), 2 * a.len());
        let (low, high) = t.split_at_mut(2 * whole);
        let (squares, a_blocks) = (low.as_chunks_mut().0, a.as_chunks().0);
        for (square, a) in squares.iter_mut().zip(a_blocks) {
            // SAFETY: a `HaveAdx` proves the instructions.
            unsafe { adx_blocks::triangle(square, a) };
        }
        let mut top = 0;
        for (i, left) in a_blocks.iter().enumerate() {
            let right = &a[BLOCK * (i + 1)..whole];
            if !right.is_empty() {
                let t = &mut low[BLOCK * (2 * i + 1)..][..right.len() + BLOCK];
                top = self.mul_add(t, right, left, top);
            }
        }
        words::add_carry(&mut low[2 * whole - BLOCK..], Choice::from(top as u8));
        high.fill(0);
        for (j, &digit) in (whole..).zip(&a[whole..]) {
            t[2 * j] = self.add_row(&mut t[j..2 * j], &a[..j], digit);
        }
        // SAFETY: a `HaveAdx` proves the instructions; t has two limbs for each of a, which has so many blocks.
        let carries = unsafe { adx_blocks::double_and_add_squares(t.as_mut_ptr(), a.as_ptr(), a_blocks.len()) };
        let (mut doubled, mut squared) = (carries & 1 != 0, carries >> 8);
        for (pair, &a) in t[2 * whole..].as_chunks_mut::<2>().0.iter_mut().zip(&a[whole..]) {
            let (low, carry) = adc(pair[0], pair[0], doubled);
            let (high, carry) = adc(pair[1], pair[1], carry);
            doubled = carry;
            let (low, square) = mac(a, a, low, squared);
            let (high, carry) = adc(high, square, false);
            (*pair, squared) = ([low, high], u64::from(carry));
        }
    }

    fn redc(self, t: &mut [u64], n: &[u64], n0: u64) -> u64 {
        let (limbs, whole) = (n.len(), whole(n.len()));
        if whole == 0 {
            return Portable.redc(t, n, n0);
        }
        assert_eq!(t.len(), 2 * limbs);
        let (low, high) = n.split_at(whole);
        let blocks = whole / BLOCK;
        // What is carried out at `limbs` above the digit of the quotient that is next.
        let mut top = 0;
        for i in (0..whole).step_by(BLOCK) {
            let last = if high.is_empty() { top } else { 0 };
            let block = &mut t[i..i + whole + BLOCK];
            // SAFETY: a `HaveAdx` proves the instructions; n has so many blocks and more, and t one more.
            let carry = unsafe { adx_blocks::reduce(block.as_mut_ptr(), low.as_ptr(), blocks, n0, last) };
            if high.is_empty() {
                top = carry;
                continue;
            }
            let (quotient, above) = t[i..].split_at_mut(BLOCK);
            let quotient = quotient.as_chunks().0;
            let carry = self.add_columns(&mut above[whole - BLOCK..], high, &quotient[0], carry);
            let above = words::add_carry(&mut t[i + limbs..][..BLOCK], Choice::from(top as u8));
            // At most one of them: t is below R², and so is what was added, up to here.
            top = carry + u64::from(above.unwrap_u8());
        }
        let mut top = top != 0;
        for j in whole..limbs {
            let digit = t[j].wrapping_mul(n0);
            let row = self.add_row(&mut t[j..j + limbs], n, digit);
            (t[j + limbs], top) = adc(t[j + limbs], row, top);
        }
        u64::from(top)
    }

    fn montgomery_mul(self, (n, n0): Odd<'_>, a: &mut [u64], b: &[u64], t: &mut [u64]) {
        match (a.try_into(), b.try_into(), n.try_into()) {
            // SAFETY: a `HaveAdx` proves the instructions; `a` is borrowed alone.
            (Ok(a), Ok(b), Ok(n)) => unsafe { adx512::mul(a, b, n, n0) },
            _ => mul_then_reduce(self, (n, n0), a, b, t),
        }
    }

    fn montgomery_sqr(self, (n, n0): Odd<'_>, a: &mut [u64], times: usize, t: &mut [u64]) {
        match (a.try_into(), n.try_into()) {
            // SAFETY: a `HaveAdx` proves the instructions; `a` is borrowed alone.
            (Ok(a), Ok(n)) if times > 0 => unsafe { adx512::sqr(a, n, n0, times) },
            _ => sqr_then_reduce(self, (n, n0), a, times, t),
        }
    }

    fn select(self, table: &[u64], digit: u8, value: &mut [u64]) {
        // SAFETY: a `HaveAdx` proves the instructions.
        unsafe { select(table, digit, value) }
    }
}

/// [`Products::select`] in registers of 256 bits.
#[target_feature(enable = "avx2")]
fn select(table: &[u64], digit: u8, value: &mut [u64]) {
    select_by_masks(table, digit, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs::montgomery::tests::agree_with_rows;

    #[test]
    fn blocks_agree_with_rows() {
        match HaveAdx::check() {
            Some(token) => agree_with_rows(token),
            None => eprintln!("SKIPPED: this CPU has no BMI2 and ADX"),
        }
    }
}
