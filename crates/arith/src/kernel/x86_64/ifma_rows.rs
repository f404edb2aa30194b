//! Montgomery arithmetic on one number or two at once with AVX-512 IFMA, digit by digit: a digit of b and one of the
//! quotient in all places of a vector, times all of the other factor. For the lengths of `LENGTHS`; `build/rows/`
//! writes the code.
//!
//! ```text
//! formula   a b / R mod n, below a b / R + 2 n; R = 2^(52 d)
//! m n       a multiple of n that is -1 mod 2^52; n' = (m n + 1) / 2^52 is as long as n
//! multiply  s = 0; for each digit of b: s += digit · a; q = s mod 2^52; s = floor(s / 2^52) + q n'
//!           for the last one                          q = -s / n mod 2^52; s = (s + q n) / 2^52
//! square    digit by digit of 2 a, times what lies above it in a; and the squares of the digits
//! ```
//!
//! (s + q m n) / 2^52 = floor(s / 2^52) + q n', as s = q mod 2^52: so the digit of the quotient is the lowest one of
//! the sum, without a multiplication (Orup, "Simplifying quotient determination in high-radix modular multiplication",
//! 1995). Results would be as long as m n; the last digit is one of n itself and makes them short again.
//!
//! # Bounds
//!
//! R = 2^(52 d) >= 16 · 2^(64 N) for numbers of N limbs. The quotient's digits but the last are below R / 2^52
//! together, and m n below 2^52 n; the last one takes less than R n / R: a result is below a b / R + 2 n, as elsewhere
//! in [`mont52x2`](crate::kernel::mont52x2). A place takes at most four products, each below 2^52, in each of d <= 48
//! rows, two more of the diagonal, and carries: below 2^60.
//!
//! # Schedule
//!
//! s moves down by a place for each digit, in registers. All four kinds of products, low and high digits of those with
//! a and with n', then come to the same places: high digits wait until s has moved. What does not depend on the newest
//! digit of the quotient is summed apart, so that the next one waits for three steps only: a move, an addition, a
//! multiplication.
//!
//! Straight lines and loops over public counts; no branch, no address and no mask over memory depends on a digit.
//! General registers hold pointers, counts and immediates; the carries of a result are found in masks.

use super::generated::rows::{Constants, WORKING_VECTORS};
use super::have_ifma::HaveIfma;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::kernel::mont52x2::layout::{DIGITS, Words};
use crate::kernel::mont52x2::rows::{self, Rows, SquareAndMultiply, VECTOR};
use std::arch::naked_asm;
use std::ptr;

static CONSTANTS: Constants<[u64; VECTOR]> = Constants {
    shifts: [DIGIT_BITS as u64, 64, 64, 64, 64, 64, 64, 64],
    largest_digit: [DIGIT_MASK; VECTOR],
    lower_pairs: [0, 8, 1, 9, 2, 10, 3, 11],
    upper_pairs: [4, 12, 5, 13, 6, 14, 7, 15],
};

/// a, b or null, the moduli, how many squarings, working memory, constants.
type Code = unsafe extern "sysv64" fn(*mut u64, *const u64, *const u64, usize, *mut u64, &Constants<[u64; VECTOR]>);

/// The code for one length, for one number and for two.
#[derive(Clone, Copy)]
struct Length {
    digits: usize,
    code: [Code; 2],
}

/// One of the files that the build has written.
macro_rules! code {
    ($name:expr) => {{
        /// # Safety
        /// AVX-512 F, VL, DQ, BW, IFMA; memory as the build script's module says.
        #[unsafe(naked)]
        unsafe extern "sysv64" fn code(
            _: *mut u64,
            _: *const u64,
            _: *const u64,
            _: usize,
            _: *mut u64,
            _: &Constants<[u64; VECTOR]>,
        ) {
            naked_asm!(include_str!(concat!(env!("OUT_DIR"), "/", $name, ".s")), options(raw))
        }
        code
    }};
}

/// The shortest first.
static LENGTHS: &[Length] = include!(concat!(env!("OUT_DIR"), "/lengths.rs"));

impl Length {
    /// The shortest one for numbers of `limbs` limbs.
    fn of(limbs: usize) -> Option<&'static Self> {
        let digits = rows::digits(limbs);
        let length = LENGTHS.iter().find(|length| length.digits >= digits)?;
        // Not where a value would need a quad more.
        let quads = |digits: usize| digits.div_ceil(DIGITS);
        (quads(length.digits) == quads(digits)).then_some(length)
    }
}

impl Length {
    /// a = a^(2^times) b mod n, each product divided by R; one product at least.
    ///
    /// # Safety
    /// `code` is the one for N numbers.
    unsafe fn run<const N: usize>(&self, _: HaveIfma, code: Code, operation: SquareAndMultiply<'_, N>) {
        let SquareAndMultiply {
            moduli,
            a,
            times,
            b,
            working,
        } = operation;
        let working = working.as_flattened_mut().as_flattened_mut();
        let start = working.as_ptr().align_offset(align_of_val(&CONSTANTS));
        let vectors = N * WORKING_VECTORS * rows::vectors(self.digits);
        let working = &mut working[start..][..vectors * VECTOR];
        assert_eq!(a.len(), self.digits.div_ceil(DIGITS));
        assert!(times > 0 || b.is_some());
        assert!(b.is_none_or(|b| b.len() == a.len()));
        assert!(moduli.len() >= N * rows::modulus_words(self.digits));
        assert!(moduli.as_ptr().cast::<Constants<[u64; VECTOR]>>().is_aligned());
        // SAFETY: the token proves the instructions; memory is as long as the code wants it, and on the borders.
        unsafe {
            code(
                a.as_mut_ptr().cast(),
                b.map_or(ptr::null(), <[_]>::as_ptr).cast(),
                moduli.as_ptr(),
                times,
                working.as_mut_ptr(),
                &CONSTANTS,
            )
        }
    }
}

/// Defines the rows of N numbers by the code for as many.
macro_rules! rows_of {
    ($(#[$doc:meta])* $rows:ident, $numbers:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub(crate) struct $rows(&'static Length);

        impl Rows<$numbers> for $rows {
            type Token = HaveIfma;

            fn of(limbs: usize) -> Option<Self> {
                Length::of(limbs).map(Self)
            }

            fn digits(self) -> usize {
                self.0.digits
            }

            fn square_and_multiply(self, token: HaveIfma, operation: SquareAndMultiply<'_, $numbers>) {
                let code = self.0.code[$numbers - 1];
                // SAFETY: the code is for so many numbers.
                unsafe { self.0.run(token, code, operation) }
            }
        }
    };
}

rows_of! {
    /// Of one number.
    One, 1
}
rows_of! {
    /// Of two numbers, whose rows take turns.
    Two, 2
}

/// Of the first of two numbers, by the code for one, which finds its quads side by side in a copy.
#[derive(Clone, Copy)]
pub(crate) struct FirstOfTwo(One);

impl Rows<2> for FirstOfTwo {
    type Token = HaveIfma;

    fn of(limbs: usize) -> Option<Self> {
        One::of(limbs).map(Self)
    }

    fn digits(self) -> usize {
        self.0.digits()
    }

    fn square_and_multiply(self, token: HaveIfma, operation: SquareAndMultiply<'_, 2>) {
        let SquareAndMultiply {
            moduli,
            a,
            times,
            b,
            working,
        } = operation;
        let (copies, working) = working.as_flattened_mut().split_at_mut(2 * a.len());
        let (first_a, first_b) = copies.as_chunks_mut().0.split_at_mut(a.len());
        copy_first(first_a, a);
        let b = b.map(|b| {
            copy_first(first_b, b);
            &*first_b
        });
        let alone = SquareAndMultiply {
            moduli,
            a: &mut *first_a,
            times,
            b,
            working: working.as_chunks_mut().0,
        };
        self.0.square_and_multiply(token, alone);
        for (quad, [first]) in a.iter_mut().zip(first_a) {
            quad[0] = *first;
        }
    }
}

fn copy_first(to: &mut [Words<1>], from: &[Words<2>]) {
    for (to, [first, _]) in to.iter_mut().zip(from) {
        *to = [*first];
    }
}
