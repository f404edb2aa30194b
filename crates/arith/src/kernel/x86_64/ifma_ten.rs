//! Powers of two numbers of ten digits of eight lanes at once with AVX-512 IFMA, for [`tens`](crate::kernel::tens):
//! `build/blocks/ten.rs` writes the code.
//!
//! ```text
//! square    columns = a^2, see ifma_blocks                                                  110 multiplications
//! product   columns = a b                                                                   200
//! reduce    ten digits q of the quotient, one after the other: columns + q n                200
//! ```
//!
//! One function does a square or a product and its reduction. The result's ten columns are left: they become digits
//! beside the other number's square or product, so that nothing waits for the chain of their carries. A table's entries
//! are looked up beside reductions of squares, two vectors of all of them each time, and the masks by which they are
//! chosen are made beside the reduction of a product.
//!
//! # Bounds
//!
//! In units of 2^52: a column of a square or a product is at most 20, a reduction adds 20, and the carry into it is at
//! most 1: below 2^58. Nothing is negative. The result is below a b / R + n < 3 n, as in
//! [`mont52x8`](crate::kernel::mont52x8), and has ten digits.

use super::have_ifma::HaveIfma;
use super::ifma_blocks::code::{digits, masks, ten_product, ten_square, ten_square_and_look_up};
use super::ifma_blocks::{Columns, LOOKED_UP, Ten};
use crate::kernel::lanes::Vec8;
use crate::kernel::tens::{BLOCK, ENTRIES, Powers, TWO_TENS, Table, WIDTH};
use std::ptr;

/// The modulus of an operation, with what belongs to it: see `build/blocks/ten.rs`.
#[repr(C)]
struct Under {
    n: Ten,
    /// -1 / n mod 2^52.
    inverse: Vec8,
    masks: Vec8,
}

/// One of two powers.
#[repr(C)]
struct Stream {
    value: Ten,
    under: Under,
    selected: Ten,
}

/// Memory that is written and read again and again, together: a load whose address agrees with that of a store before
/// it in the lower twelve bits waits for it.
#[repr(C)]
struct Memory {
    columns: Columns,
    streams: [Stream; 2],
}

const _: () = assert!(size_of::<Memory>() == size_of::<[Vec8; TWO_TENS]>());

impl Memory {
    /// In working memory, with two moduli.
    fn new<'a>(working: &'a mut [Vec8], moduli: [(&[Vec8], &Vec8); 2]) -> &'a mut Self {
        assert!(working.len() >= TWO_TENS);
        // SAFETY: working memory is as long, and a `Memory` is made of initialised vecs alone.
        let memory: &mut Self = unsafe { &mut *working.as_mut_ptr().cast() };
        for (stream, (n, n0)) in memory.streams.iter_mut().zip(moduli) {
            stream.under.n.copy_from_slice(n);
            stream.under.inverse = *n0;
        }
        memory
    }
}

impl Under {
    fn as_vecs(&mut self) -> *mut Vec8 {
        ptr::from_mut(self).cast()
    }
}

/// A number for each lane, of which masks are made that nobody uses.
const ANY: [u8; 8] = [0; 8];

/// Fills both tables, from their first two entries.
#[inline(never)]
pub(super) fn tables(_: HaveIfma, mut tables: [Table<'_>; 2], working: &mut [Vec8]) {
    let Memory { columns, streams } = Memory::new(working, tables.each_ref().map(|table| (table.n, table.n0)));
    let under = streams.each_mut().map(|stream| stream.under.as_vecs());
    for Table { entries, .. } in &tables {
        assert_eq!(entries.len(), ENTRIES * BLOCK);
    }
    let tables = tables.each_mut().map(|table| table.entries.as_mut_ptr().cast::<Ten>());
    for entry in 2..ENTRIES {
        let is_square = entry % 2 == 0;
        let from = if is_square { entry / 2 } else { entry - 1 };
        for this in [0, 1] {
            // SAFETY: the token proves the instructions; tables are as long as has been asserted. The other number is
            // that of the step before: its columns become digits here, before it is copied.
            unsafe {
                let value = tables[this].add(entry);
                let other = tables[1 - this].add(entry - 1 + this);
                ptr::copy_nonoverlapping(tables[this].add(from), value, 1);
                match is_square {
                    true => ten_square(columns, value, other, under[this]),
                    false => ten_product(columns, value, other, under[this], tables[this].add(1), &ANY),
                }
            }
        }
    }
    // SAFETY: likewise.
    unsafe { digits(tables[1].add(ENTRIES - 1)) };
}

/// Pointers to one of two powers, in memory.
struct At<'a> {
    value: *mut Ten,
    under: *mut Vec8,
    selected: *mut Ten,
    table: *const Vec8,
    windows: &'a [[u8; 8]],
}

/// Takes both powers.
#[inline(never)]
pub(super) fn powers(_: HaveIfma, powers: Powers<'_, 2>) {
    let Powers { powers, working } = powers;
    let windows = powers[0].digits.len();
    for power in &powers {
        let lengths = [power.value.len(), power.n.len(), power.table.len(), power.digits.len()];
        assert_eq!(lengths, [BLOCK, BLOCK, ENTRIES * BLOCK, windows]);
    }
    if windows == 0 {
        return;
    }
    let Memory { columns, streams } = Memory::new(working, powers.each_ref().map(|power| (power.n, power.n0)));
    let mut streams = streams.iter_mut().zip(&powers).map(|(stream, power)| {
        stream.value.copy_from_slice(power.value);
        // SAFETY: the token proves the instructions.
        unsafe { masks(&mut stream.under.masks, &power.digits[0]) };
        At {
            value: &mut stream.value,
            under: stream.under.as_vecs(),
            selected: &mut stream.selected,
            table: power.table.as_ptr(),
            windows: power.digits,
        }
    });
    let (Some(one), Some(two)) = (streams.next(), streams.next()) else {
        unreachable!("there are two");
    };
    drop(streams);
    for window in 0..windows {
        for squaring in 0..WIDTH {
            let vec = LOOKED_UP * squaring;
            for (this, other) in [(&one, &two), (&two, &one)] {
                // SAFETY: the token proves the instructions; the table is as long as has been asserted, and everything
                // else is in working memory. The first time, the other's columns are digits, and stay.
                unsafe {
                    let (first, found) = (this.table.add(vec), this.selected.cast::<Vec8>().add(vec));
                    ten_square_and_look_up(columns, this.value, other.value, this.under, first, found);
                }
            }
        }
        // Behind the last window, masks are made of it once more.
        let next = (window + 1).min(windows - 1);
        for (this, other) in [(&one, &two), (&two, &one)] {
            // SAFETY: likewise.
            unsafe {
                ten_product(
                    columns,
                    this.value,
                    other.value,
                    this.under,
                    this.selected,
                    &this.windows[next],
                );
            }
        }
    }
    for (At { value, .. }, power) in [one, two].into_iter().zip(powers) {
        // SAFETY: likewise.
        unsafe {
            digits(value);
            power.value.copy_from_slice(&*value);
        }
    }
}
