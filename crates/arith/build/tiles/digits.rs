//! Digits out of columns.

use super::{DIGIT, FIRST_LOW, Function, VECTOR};
use crate::agreed::tiles::Constants;
use std::fmt::Write;
use std::mem::offset_of;
use std::ops::Range;

/// The carry out of a pair of columns is in this register or the next one, by turns.
const CARRIES: usize = DIGIT + 1;
const TEMPORARY: usize = DIGIT;

impl Function {
    /// The columns in ascending order.
    fn ascending(&self, columns: Range<usize>) -> Vec<usize> {
        match self.reversed {
            false => columns.collect(),
            true => columns.rev().collect(),
        }
    }

    /// The high part less the origin, and both sums of one number.
    fn complete(&mut self, k: usize) {
        let low = FIRST_LOW + k;
        put!(self, "vsubpd ymm{k}, ymm{k}, {}", constant!(origin));
        if self.numbers == 1 {
            for register in [k, low] {
                put!(self, "vperm2f128 ymm{TEMPORARY}, ymm{register}, ymm{register}, 1");
                put!(self, "vaddpd ymm{register}, ymm{register}, ymm{TEMPORARY}");
            }
        }
    }

    /// carry = x / 2^W, rounded to an integer.
    fn round(&mut self, carry: usize, x: usize) {
        let integer = constant!(integer);
        put!(self, "vmovapd ymm{carry}, {}", constant!(inverse_radix));
        put!(self, "vfmadd213pd ymm{carry}, ymm{x}, {integer}");
        put!(self, "vsubpd ymm{carry}, ymm{carry}, {integer}");
    }

    /// The low part of column k becomes its digits. `below` are the high part and the carry of the column below.
    fn column_digits(&mut self, k: usize, below: (usize, usize), carry: usize) {
        let low = FIRST_LOW + k;
        let (below_high, below_carry) = below;
        put!(self, "vshufpd ymm{TEMPORARY}, ymm{below_high}, ymm{k}, 5");
        put!(
            self,
            "vfmadd231pd ymm{low}, ymm{TEMPORARY}, {}",
            constant!(inverse_radix)
        );
        self.round(carry, low);
        put!(self, "vfmadd231pd ymm{low}, ymm{carry}, {}", constant!(minus_radix));
        put!(self, "vshufpd ymm{TEMPORARY}, ymm{below_carry}, ymm{carry}, 5");
        put!(self, "vaddpd ymm{low}, ymm{low}, ymm{TEMPORARY}");
    }

    /// Every column's low part becomes its digits. What the column below leaves is read from r11, where it is not in
    /// ymm15 and ymm13 already, and what the highest one leaves goes there.
    fn all_digits(&mut self, columns: Range<usize>, is_read: bool, mut each: impl FnMut(&mut Self, usize, usize)) {
        let (mut high, mut carry) = (DIGIT + 3, CARRIES);
        if is_read {
            put!(self, "vmovupd ymm{high}, [r11]");
            put!(self, "vmovupd ymm{carry}, [r11 + {VECTOR}]");
        }
        for (place, k) in self.ascending(columns).into_iter().enumerate() {
            self.complete(k);
            let next = CARRIES + (place + 1) % 2;
            self.column_digits(k, (high, carry), next);
            each(self, place, FIRST_LOW + k);
            (high, carry) = (k, next);
        }
        put!(self, "vmovupd [r11], ymm{high}");
        put!(self, "vmovupd [r11 + {VECTOR}], ymm{carry}");
    }

    /// All digits, to r8.
    pub(super) fn digits(&mut self, columns: Range<usize>, is_read: bool) {
        self.all_digits(columns, is_read, |f, place, register| {
            let (pair, size) = (f.pair(), if f.numbers == 1 { "xmm" } else { "ymm" });
            put!(f, "vmovupd [r8 + {}], {size}{register}", pair * place);
        });
    }

    /// All digits stay where they are; those of one number, whose halves will be summed, in one half.
    pub(super) fn digits_in_registers(&mut self, columns: usize) {
        self.all_digits(0..columns, true, |f, _, register| {
            if f.numbers == 1 {
                put!(f, "vmovapd xmm{register}, xmm{register}");
            }
        });
    }

    /// The lower half, tau at r9 and q n together, is a multiple of R: its top digits, which are in column k, say
    /// which.
    pub(super) fn carry_of_the_lower_half(&mut self, k: usize) {
        let (low, high, carry) = (FIRST_LOW + k, DIGIT + 3, CARRIES);
        self.complete(k);
        if self.numbers == 1 {
            put!(self, "vbroadcastf128 ymm{TEMPORARY}, [r9]");
            put!(self, "vaddpd ymm{low}, ymm{low}, ymm{TEMPORARY}");
        } else {
            put!(self, "vaddpd ymm{low}, ymm{low}, [r9]");
        }
        put!(self, "vxorpd xmm{TEMPORARY}, xmm{TEMPORARY}, xmm{TEMPORARY}");
        put!(self, "vshufpd ymm{TEMPORARY}, ymm{TEMPORARY}, ymm{k}, 5");
        put!(
            self,
            "vfmadd231pd ymm{low}, ymm{TEMPORARY}, {}",
            constant!(inverse_radix)
        );
        self.round(carry, low);
        put!(self, "vaddpd ymm{carry}, ymm{carry}, [r11 + {VECTOR}]");
        put!(self, "vaddpd ymm{high}, ymm{k}, [r11]");
    }
}
