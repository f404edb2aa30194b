//! Blocks of ten digits of eight numbers at once with AVX-512 IFMA, for [`tens`](crate::kernel::tens):
//! `build/blocks/` writes the code.
//!
//! ```text
//! square    of ten digits: products of unequal digits once, each column in a register; then every column twice, with
//!           the squares of digits                                                            110 multiplications
//! product   of ten digits: a window of ten columns moves up, a column for each digit of b    200
//! pairs     2 a c = (a + c)^2 - a^2 - c^2, and a d + b c = (a + b)(c + d) - a c - b d, for digits a, b, c, d of blocks
//! rows      columns + ten digits times a number: partial reduction, see mont52x8             20 L
//! reduce    ten digits of the quotient, one after the other, and their multiple of n         20 L
//! ```
//!
//! So a square of L = 10 B digits takes 110 multiplications for each of B (B + 1) / 2 blocks, and a product 200, where
//! the schoolbook takes L^2 + L and 2 L^2 (Karatsuba and Ofman 1962, for each pair of blocks alone: no sum has more
//! than two summands).
//!
//! # Bounds
//!
//! A sum of two blocks of digits is carried into ten digits and a highest bit, which is kept as a mask: (s + c B)^2 =
//! s^2 + 2 c s B + c B^2, where B = 2^520. The last term is 2^52 c in column 19 of 20.
//!
//! Digits of a sum are not the sums of digits, so that a single column of the difference may be negative, if all of it
//! is not: columns are numbers with a sign, and carries are shifted arithmetically. In units of 2^52: a column of two
//! blocks' product is at most 20, with the highest bits of sums 23; a pair adds at most that and takes at most 40 away;
//! B pairs at most reach a column, and B times rows, which add 20. So columns are below 60 B + 20, and twice that where
//! they are doubled: below 2^63 for B <= 16, 160 digits.
//!
//! # Schedule
//!
//! Measured on a Zen 4, whose 512-bit units are half as wide: one multiplication a cycle, and beside it, without cost,
//! up to 0.8 additions, shifts or bitwise operations (but not of three operands: 0.4 each), a load, and a store of what
//! has just been computed for each ten (one of what has lain in a register costs 1.5 cycles; a comparison 1). Columns
//! are multiplied onto in two groups, all low and all high products of a digit: twenty in 20.0 cycles, where one column
//! after the other takes 22.4. A look-up stands beside the rows of the partial reduction, sixteen entries of five
//! vectors for each ten steps; masks come from memory.

use super::have_ifma::HaveIfma;
use crate::kernel::lanes::Vec8;
use crate::kernel::tens::{self, Factors, LookUp, Operation, Part};
use code::*;

/// Digits of a block.
const ROWS: usize = 10;

/// Ten digits, the columns of their products, and a sum: ten digits and the mask of its highest bit.
type Ten = [Vec8; ROWS];
type Columns = [Vec8; 2 * ROWS];
type Sum = [Vec8; ROWS + 1];

/// Functions that the build has written.
mod code {
    use super::{Columns, Part, Sum, Ten, Vec8};
    use std::arch::naked_asm;

    /// One of the functions that the build has written.
    macro_rules! code {
        ($name:ident($($argument:ty),* $(,)?)) => {
            /// # Safety
            /// AVX-512 F, VL and IFMA; memory as the build script's module says.
            #[unsafe(naked)]
            pub(super) unsafe extern "sysv64" fn $name($(_: $argument),*) {
                naked_asm!(include_str!(concat!(env!("OUT_DIR"), "/block_", stringify!($name), ".s")), options(raw))
            }
        };
    }

    code!(square(*mut Columns, *const Ten));
    code!(square_lowest(*mut Columns, *const Ten));
    code!(square_and_sum(*mut Columns, *const Ten, *mut Sum, *const Ten));
    code!(square_pair(*mut Columns, *const Sum, *const Columns, *const Columns, *const Ten, *const Ten));
    code!(sum(*mut Sum, *const Ten, *const Ten));
    code!(product(*mut Columns, *const Ten, *const Ten));
    code!(product_lowest(*mut Columns, *const Ten, *const Ten));
    code!(product_and_sums(*mut Columns, *const Ten, *const Ten, *mut Sum, *const Ten, *const Ten));
    code!(product_pair(*mut Columns, *const Sum, *const Columns, *const Columns, *const Ten, *const Ten));
    code!(rows(*mut Vec8, *const Vec8, *const Vec8, usize));
    code!(rows_and_carry(*mut Vec8, *const Vec8, *const Vec8, usize));
    code!(rows_and_look_up(*mut Vec8, *const Vec8, *const Vec8, usize, *const Part, usize));
    code!(reduce(*mut Vec8, *const Vec8, *const Vec8, *const Vec8, usize));
    code!(reduce_and_double(*mut Vec8, *const Vec8, *const Vec8, *const Vec8, usize, *const Vec8));
}

/// Does the operation.
#[inline(never)]
pub(super) fn run(_: HaveIfma, operation: Operation<'_, '_>) {
    let Operation {
        factors,
        a,
        n,
        n0,
        inverse,
        working,
        double,
        look_up,
    } = operation;
    let digits = a.len();
    assert!(tens::fit(digits) && n.len() == digits && inverse.len() == digits);
    assert!(working.len() >= tens::working(digits));
    let columns = working.as_mut_ptr();
    let memory = Memory {
        blocks: digits / ROWS,
        columns,
        // Behind the columns there is as much again, and then two sums.
        of_blocks: columns.wrapping_add(2 * digits),
        sums: columns.wrapping_add(4 * digits).cast(),
    };
    let lowest = match factors {
        // SAFETY: the token proves the instructions, and memory is as long as has been asserted.
        Factors::Square => unsafe { memory.square(a) },
        Factors::Product(b) => {
            assert_eq!(b.len(), digits);
            // SAFETY: likewise.
            unsafe { memory.product(a, b) }
        }
        Factors::Columns => columns,
    };
    // SAFETY: likewise.
    unsafe {
        memory.reduce_partially(lowest, inverse, look_up);
        let last = columns.add(digits - ROWS);
        match double {
            None => reduce(a.as_mut_ptr(), last, n.as_ptr(), n0, memory.blocks - 1),
            Some(double) => reduce_and_double(a.as_mut_ptr(), last, n.as_ptr(), n0, memory.blocks - 1, double),
        }
    }
}

/// Working memory of a number of some blocks. All of it is initialised.
#[derive(Clone, Copy)]
struct Memory {
    blocks: usize,
    /// Two for each digit.
    columns: *mut Vec8,
    /// Twenty for each block but the last.
    of_blocks: *mut Vec8,
    /// Two sums.
    sums: *mut Sum,
}

impl Memory {
    /// The columns of a block with itself: those of the last one in their place among all columns, where nothing is
    /// added before they have been read for the last time.
    ///
    /// # Safety
    /// There are so many blocks.
    unsafe fn of_block(self, block: usize) -> *mut Columns {
        let memory = if block + 1 < self.blocks {
            self.of_blocks
        } else {
            self.columns
        };
        // SAFETY: by the caller.
        unsafe { memory.add(2 * ROWS * block).cast() }
    }

    /// For each pair of blocks, `multiply` adds what they make with each other, where it has not been prepared for the
    /// first pair; returns the lowest ten columns, in digits.
    ///
    /// # Safety
    /// The columns of all blocks with themselves are there, and `multiply` reads and writes what it gets alone.
    unsafe fn add_pairs(self, mut multiply: impl FnMut(usize, usize, Pair)) -> *const Vec8 {
        // From here on up, nothing has been added to the columns of blocks.
        let mut end = ROWS;
        for i in 0..self.blocks {
            for j in i + 1..self.blocks {
                let first = ROWS * (i + j);
                // SAFETY: all of them are below twice the digits.
                unsafe {
                    let there = |at: usize| -> *const Ten {
                        let is_last = at >= 2 * ROWS * (self.blocks - 1);
                        let memory = if at < end || is_last {
                            self.columns
                        } else {
                            self.of_blocks
                        };
                        memory.add(at).cast()
                    };
                    let pair = Pair {
                        to: self.columns.add(first).cast(),
                        of_blocks: [self.of_block(i), self.of_block(j)],
                        there: [there(first), there(first + ROWS)],
                    };
                    multiply(i, j, pair);
                }
                end = end.max(first + 2 * ROWS);
            }
        }
        self.of_blocks
    }

    /// The columns of a^2.
    ///
    /// # Safety
    /// A CPU with the instructions; `a` has so many blocks.
    unsafe fn square(self, a: &[Vec8]) -> *const Vec8 {
        let ten = |block: usize| a[ROWS * block..][..ROWS].as_ptr().cast::<Ten>();
        // SAFETY: by the caller; there are two blocks at least.
        unsafe {
            square_lowest(self.of_block(0), ten(0));
            square_and_sum(self.of_block(1), ten(1), self.sums, ten(0));
            for block in 2..self.blocks {
                square(self.of_block(block), ten(block));
            }
            self.add_pairs(|i, j, pair| {
                let Pair { to, of_blocks, there } = pair;
                if (i, j) != (0, 1) {
                    sum(self.sums, ten(i), ten(j));
                }
                square_pair(to, self.sums, of_blocks[0], of_blocks[1], there[0], there[1]);
            })
        }
    }

    /// The columns of a b.
    ///
    /// # Safety
    /// A CPU with the instructions; `a` and `b` have so many blocks.
    unsafe fn product(self, a: &[Vec8], b: &[Vec8]) -> *const Vec8 {
        let ten = |of: &[Vec8], block: usize| of[ROWS * block..][..ROWS].as_ptr().cast::<Ten>();
        // SAFETY: by the caller; there are two blocks at least.
        unsafe {
            product_lowest(self.of_block(0), ten(a, 0), ten(b, 0));
            product_and_sums(self.of_block(1), ten(a, 1), ten(b, 1), self.sums, ten(a, 0), ten(b, 0));
            for block in 2..self.blocks {
                product(self.of_block(block), ten(a, block), ten(b, block));
            }
            self.add_pairs(|i, j, pair| {
                let Pair { to, of_blocks, there } = pair;
                if (i, j) != (0, 1) {
                    sum(self.sums, ten(a, i), ten(a, j));
                    sum(self.sums.add(1), ten(b, i), ten(b, j));
                }
                product_pair(to, self.sums, of_blocks[0], of_blocks[1], there[0], there[1]);
            })
        }
    }

    /// Takes away all columns but those of the last block and above, ten at a time. `lowest` are the first ten.
    ///
    /// # Safety
    /// A CPU with the instructions; `inverse` has so many blocks.
    unsafe fn reduce_partially(self, lowest: *const Vec8, inverse: &[Vec8], look_up: Option<&mut LookUp<'_>>) {
        let inverse = inverse.as_ptr();
        // SAFETY: by the caller.
        unsafe {
            let mut ten = lowest;
            for block in 1..self.blocks {
                let onto = self.columns.add(ROWS * block);
                if block + 1 < self.blocks {
                    rows_and_carry(onto, ten, inverse, self.blocks);
                } else {
                    self.last_rows(onto, ten, inverse, look_up);
                    break;
                }
                ten = onto;
            }
        }
    }

    /// The rows of the last partial reduction, beside which a table is looked up.
    ///
    /// # Safety
    /// As of [`reduce_partially`](Self::reduce_partially).
    unsafe fn last_rows(
        self,
        onto: *mut Vec8,
        ten: *const Vec8,
        inverse: *const Vec8,
        look_up: Option<&mut LookUp<'_>>,
    ) {
        let (parts, entry) = look_up.map_or((&[][..], 0), |look_up| look_up.next(self.blocks));
        let looked_up = parts.len();
        if looked_up > 0 {
            // SAFETY: by the caller; what is looked up is borrowed.
            unsafe { rows_and_look_up(onto, ten, inverse, looked_up, parts.as_ptr(), entry) };
        }
        if looked_up < self.blocks {
            let digits = ROWS * looked_up;
            // SAFETY: by the caller.
            unsafe { rows(onto.add(digits), ten, inverse.add(digits), self.blocks - looked_up) };
        }
    }
}

/// Places for the product of a pair of blocks: where the columns go, those of both blocks, and what is there.
struct Pair {
    to: *mut Columns,
    of_blocks: [*mut Columns; 2],
    there: [*const Ten; 2],
}
