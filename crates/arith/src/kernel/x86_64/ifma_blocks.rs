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
//! after the other takes 22.4. A look-up stands beside the rows of the last partial reduction of a square: for each ten
//! steps two vectors of all entries, which are loaded whole; of two neighbours one is kept in each lane by a bit of the
//! entry's number, of two pairs one by the next bit, and so forth, by moves under masks. Between operations of a power
//! the last ten columns are left: they become digits beside the next one's lowest block, so that nothing waits for the
//! chain of their carries.

use super::have_ifma::HaveIfma;
use crate::kernel::lanes::Vec8;
use crate::kernel::tens::{self, BLOCK, ENTRIES, Factors, Operation, Power, Powers, WIDTH};
use code::*;

/// Ten digits, the columns of their products, and a sum: ten digits and the mask of its highest bit.
pub(super) type Ten = [Vec8; BLOCK];
pub(super) type Columns = [Vec8; 2 * BLOCK];
pub(super) type Sum = [Vec8; BLOCK + 1];

/// Vecs of an entry that are looked up beside ten rows.
pub(super) const LOOKED_UP: usize = BLOCK / WIDTH;

/// Vecs of all entries that are looked up: see `build/blocks/tiles.rs`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct LookUp {
    /// The first entry's.
    entries: *const Vec8,
    found: *mut Vec8,
    masks: *const Vec8,
    /// Bytes of an entry.
    entry: usize,
}

/// Functions that the build has written.
pub(super) mod code {
    use super::{Columns, LookUp, Sum, Ten, Vec8};
    use std::arch::naked_asm;

    /// One of the functions that the build has written.
    macro_rules! code {
        ($name:ident($($argument:ty),* $(,)?)) => {
            /// # Safety
            /// AVX-512 F, VL and IFMA; memory as the build script's module says.
            #[unsafe(naked)]
            pub(in super::super) unsafe extern "sysv64" fn $name($(_: $argument),*) {
                naked_asm!(include_str!(concat!(env!("OUT_DIR"), "/block_", stringify!($name), ".s")), options(raw))
            }
        };
    }

    code!(square(*mut Columns, *const Ten));
    code!(square_lowest(*mut Columns, *const Ten));
    code!(square_lowest_and_carry(*mut Columns, *const Ten, *mut Ten));
    code!(square_and_sum(*mut Columns, *const Ten, *mut Sum, *const Ten));
    code!(square_pair(*mut Columns, *const Sum, *const Columns, *const Columns, *const Ten, *const Ten));
    code!(sum(*mut Sum, *const Ten, *const Ten));
    code!(product(*mut Columns, *const Ten, *const Ten));
    code!(product_lowest(*mut Columns, *const Ten, *const Ten));
    code!(product_lowest_and_carry(*mut Columns, *const Ten, *const Ten, *mut Ten));
    code!(product_and_sums(*mut Columns, *const Ten, *const Ten, *mut Sum, *const Ten, *const Ten));
    code!(product_pair(*mut Columns, *const Sum, *const Columns, *const Columns, *const Ten, *const Ten));
    code!(rows(*mut Vec8, *const Vec8, *const Vec8, usize));
    code!(rows_and_carry(*mut Vec8, *const Vec8, *const Vec8, usize));
    code!(rows_and_look_up(*mut Vec8, *const Vec8, *const Vec8, usize, *const LookUp));
    code!(reduce(*mut Vec8, *const Vec8, *const Vec8, *const Vec8, usize));
    code!(reduce_and_double(*mut Vec8, *const Vec8, *const Vec8, *const Vec8, usize, *const Vec8));
    code!(reduce_and_leave(*mut Vec8, *const Vec8, *const Vec8, *const Vec8, usize));
    code!(digits(*mut Ten));
    code!(masks(*mut Vec8, *const [u8; 8]));
    code!(ten_square(*mut Columns, *mut Ten, *mut Ten, *const Vec8));
    code!(ten_square_and_look_up(*mut Columns, *mut Ten, *mut Ten, *const Vec8, *const Vec8, *mut Vec8));
    code!(ten_product(*mut Columns, *mut Ten, *mut Ten, *mut Vec8, *const Ten, *const [u8; 8]));
}

/// Does the operation.
#[inline(never)]
pub(super) fn run(_: HaveIfma, operation: Operation<'_>) {
    let Operation {
        factors,
        a,
        n,
        n0,
        inverse,
        working,
        double,
    } = operation;
    let digits = a.len();
    assert!(tens::fit(digits) && n.len() == digits && inverse.len() == digits);
    let memory = Memory::new(digits, working);
    let lowest = match factors {
        // SAFETY: the token proves the instructions, and memory is as long as has been asserted.
        Factors::Square => unsafe { memory.square(a.as_mut_ptr(), false) },
        Factors::Product(b) => {
            assert_eq!(b.len(), digits);
            // SAFETY: likewise.
            unsafe { memory.product(a.as_mut_ptr(), b.as_ptr(), false) }
        }
        Factors::Columns => memory.columns,
    };
    // SAFETY: likewise.
    unsafe {
        memory.reduce_partially(lowest, inverse.as_ptr(), None);
        let last = memory.columns.add(digits - BLOCK);
        match double {
            None => reduce(a.as_mut_ptr(), last, n.as_ptr(), n0, memory.blocks - 1),
            Some(double) => reduce_and_double(a.as_mut_ptr(), last, n.as_ptr(), n0, memory.blocks - 1, double),
        }
    }
}

/// Takes the power. Between operations the last ten columns of the value are left, and become digits beside the next
/// one's lowest block, which does not need them.
#[inline(never)]
pub(super) fn power(_: HaveIfma, powers: Powers<'_, 1>) {
    let Powers {
        powers: [power],
        working,
    } = powers;
    let Power {
        value,
        n,
        n0,
        inverse,
        table,
        digits: windows,
    } = power;
    let length = value.len();
    assert!(tens::fit(length) && working.len() >= tens::working_of_power(length));
    assert!(n.len() == length && inverse.len() == length && table.len() == length * ENTRIES);
    let (working, rest) = working.split_at_mut(tens::working(length));
    let memory = Memory::new(length, working);
    let selected = rest.as_mut_ptr();
    let masked = selected.wrapping_add(length);
    let entry = size_of_val(value);
    let (value, inverse) = (value.as_mut_ptr(), inverse.as_ptr());
    // SAFETY: the token proves the instructions; everything is as long as has been asserted, behind what is looked up
    // there is a vec of masks, and five squarings look up twice as many vecs as there are digits in five blocks.
    unsafe {
        let last_ten: *mut Ten = value.add(length - BLOCK).cast();
        let reduce = || {
            let last = memory.columns.add(length - BLOCK);
            reduce_and_leave(value, last, n.as_ptr(), n0, memory.blocks - 1);
        };
        for window in windows {
            masks(masked, window);
            let mut look_up = LookUp {
                entries: table.as_ptr(),
                found: selected,
                masks: masked,
                entry,
            };
            for _ in 0..WIDTH {
                let lowest = memory.square(value, true);
                memory.reduce_partially(lowest, inverse, Some(&look_up));
                let looked_up = LOOKED_UP * memory.blocks;
                look_up.entries = look_up.entries.add(looked_up);
                look_up.found = look_up.found.add(looked_up);
                reduce();
            }
            let lowest = memory.product(value, selected, true);
            memory.reduce_partially(lowest, inverse, None);
            reduce();
        }
        // If there is no window, these are digits, and stay.
        digits(last_ten);
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
    /// Of numbers of so many digits.
    fn new(digits: usize, working: &mut [Vec8]) -> Self {
        assert!(working.len() >= tens::working(digits));
        let columns = working.as_mut_ptr();
        Self {
            blocks: digits / BLOCK,
            columns,
            // Behind the columns there is as much again, and then two sums.
            of_blocks: columns.wrapping_add(2 * digits),
            sums: columns.wrapping_add(4 * digits).cast(),
        }
    }

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
        unsafe { memory.add(2 * BLOCK * block).cast() }
    }

    /// For each pair of blocks, `multiply` adds what they make with each other, where it has not been prepared for the
    /// first pair; returns the lowest ten columns, in digits.
    ///
    /// # Safety
    /// The columns of all blocks with themselves are there, and `multiply` reads and writes what it gets alone.
    unsafe fn add_pairs(self, mut multiply: impl FnMut(usize, usize, Pair)) -> *const Vec8 {
        // From here on up, nothing has been added to the columns of blocks.
        let mut end = BLOCK;
        for i in 0..self.blocks {
            for j in i + 1..self.blocks {
                let first = BLOCK * (i + j);
                // SAFETY: all of them are below twice the digits.
                unsafe {
                    let there = |at: usize| -> *const Ten {
                        let is_last = at >= 2 * BLOCK * (self.blocks - 1);
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
                        there: [there(first), there(first + BLOCK)],
                    };
                    multiply(i, j, pair);
                }
                end = end.max(first + 2 * BLOCK);
            }
        }
        self.of_blocks
    }

    /// The columns of a^2; if so, the last ten of a are columns that become digits.
    ///
    /// # Safety
    /// A CPU with the instructions; `a` has so many blocks.
    unsafe fn square(self, a: *mut Vec8, has_columns: bool) -> *const Vec8 {
        // SAFETY: by the caller; there are two blocks at least.
        unsafe {
            let ten = |block: usize| a.add(BLOCK * block).cast::<Ten>();
            match has_columns {
                true => square_lowest_and_carry(self.of_block(0), ten(0), ten(self.blocks - 1)),
                false => square_lowest(self.of_block(0), ten(0)),
            }
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

    /// The columns of a b; if so, the last ten of a are columns that become digits.
    ///
    /// # Safety
    /// A CPU with the instructions; `a` and `b` have so many blocks.
    unsafe fn product(self, a: *mut Vec8, b: *const Vec8, has_columns: bool) -> *const Vec8 {
        // SAFETY: by the caller; there are two blocks at least.
        unsafe {
            let ten_of_a = |block: usize| a.add(BLOCK * block).cast::<Ten>();
            let ten_of_b = |block: usize| b.add(BLOCK * block).cast::<Ten>();
            let (a, b) = (ten_of_a, ten_of_b);
            match has_columns {
                true => product_lowest_and_carry(self.of_block(0), a(0), b(0), a(self.blocks - 1)),
                false => product_lowest(self.of_block(0), a(0), b(0)),
            }
            product_and_sums(self.of_block(1), a(1), b(1), self.sums, a(0), b(0));
            for block in 2..self.blocks {
                product(self.of_block(block), a(block), b(block));
            }
            self.add_pairs(|i, j, pair| {
                let Pair { to, of_blocks, there } = pair;
                if (i, j) != (0, 1) {
                    sum(self.sums, a(i), a(j));
                    sum(self.sums.add(1), b(i), b(j));
                }
                product_pair(to, self.sums, of_blocks[0], of_blocks[1], there[0], there[1]);
            })
        }
    }

    /// Takes away all columns but those of the last block and above, ten at a time, and looks up meanwhile. `lowest`
    /// are the first ten.
    ///
    /// # Safety
    /// A CPU with the instructions; `inverse` has so many blocks; what is looked up is in memory that nothing else
    /// uses.
    unsafe fn reduce_partially(self, lowest: *const Vec8, inverse: *const Vec8, look_up: Option<&LookUp>) {
        // SAFETY: by the caller.
        unsafe {
            let mut ten = lowest;
            for block in 1..self.blocks - 1 {
                let onto = self.columns.add(BLOCK * block);
                rows_and_carry(onto, ten, inverse, self.blocks);
                ten = onto;
            }
            let onto = self.columns.add(BLOCK * (self.blocks - 1));
            match look_up {
                None => rows(onto, ten, inverse, self.blocks),
                Some(look_up) => rows_and_look_up(onto, ten, inverse, self.blocks, look_up),
            }
        }
    }
}

/// Places for the product of a pair of blocks: where the columns go, those of both blocks, and what is there.
struct Pair {
    to: *mut Columns,
    of_blocks: [*mut Columns; 2],
    there: [*const Ten; 2],
}
