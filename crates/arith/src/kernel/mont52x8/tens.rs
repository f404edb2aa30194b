//! Operations on numbers of two and more blocks of ten digits, which a form of the lanes may have code of its own for:
//! `x86_64/ifma_blocks.rs`, where formulas, bounds and schedule stand.

use super::blocks::LARGE;
use crate::kernel::lanes::Vec8;
use std::marker::PhantomData;
use std::ptr;

/// What the columns are of that are reduced.
pub(crate) enum Factors<'a> {
    /// a^2.
    Square,
    /// a b.
    Product(&'a [Vec8]),
    /// Whatever is in the first columns of working memory, the lowest ten of them digits.
    Columns,
}

/// a = the columns / R mod n.
pub(crate) struct Operation<'a, 't> {
    pub(crate) factors: Factors<'a>,
    /// L digits.
    pub(crate) a: &'a mut [Vec8],
    pub(crate) n: &'a [Vec8],
    /// -1 / n mod 2^52.
    pub(crate) n0: &'a Vec8,
    /// 2^-520 mod n.
    pub(crate) inverse: &'a [Vec8],
    /// Of [`working`] vecs.
    pub(crate) working: &'a mut [Vec8],
    /// All bits set in the lanes in which the result is doubled.
    pub(crate) double: Option<&'a Vec8>,
    /// What is looked up meanwhile.
    pub(crate) look_up: Option<&'a mut LookUp<'t>>,
}

/// Sixteen entries of a table, five vecs of each, that are looked up in all lanes. Pointers are to whole slices.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Part {
    /// What has been found among entries before.
    found: *const Vec8,
    /// Where it goes.
    selected: *mut Vec8,
    /// The first entry's vecs, and its mask.
    entries: *const Vec8,
    masks: *const Vec8,
}

/// Parts of a table, at most.
const MOST_PARTS: usize = 48;

/// A table that is looked up part by part.
pub(crate) struct LookUp<'t> {
    parts: [Part; MOST_PARTS],
    count: usize,
    done: usize,
    /// Bytes of an entry.
    entry: usize,
    borrowed: PhantomData<(&'t mut [Vec8], &'t [Vec8])>,
}

impl<'t> LookUp<'t> {
    /// Entries and vecs of a part.
    pub(crate) const ENTRIES: usize = 16;
    const VECS: usize = 5;
    /// Parts of a table of `entries` entries of so many digits, if it can be looked up so.
    pub(crate) fn parts(entries: usize, digits: usize) -> Option<usize> {
        let is_whole = entries.is_multiple_of(Self::ENTRIES) && digits.is_multiple_of(Self::VECS);
        let parts = entries / Self::ENTRIES * (digits / Self::VECS);
        (is_whole && parts <= MOST_PARTS).then_some(parts)
    }

    /// `masks` have, for each entry, all bits set in the lanes that want it.
    #[inline(always)]
    pub(crate) fn new(table: &'t [Vec8], masks: &'t [Vec8], selected: &'t mut [Vec8]) -> Self {
        static NOTHING: [Vec8; LookUp::VECS] = [[0; 8]; LookUp::VECS];
        let digits = selected.len();
        let count = Self::parts(masks.len(), digits).expect("such tables are looked up so");
        assert_eq!(table.len(), digits * masks.len());
        let selected = selected.as_mut_ptr();
        let none = Part {
            found: ptr::null(),
            selected,
            entries: ptr::null(),
            masks: ptr::null(),
        };
        let mut parts = [none; MOST_PARTS];
        let (mut vec, mut entry) = (0, 0);
        for part in &mut parts[..count] {
            let selected = selected.wrapping_add(vec);
            *part = Part {
                found: if entry == 0 { NOTHING.as_ptr() } else { selected },
                selected,
                entries: table.as_ptr().wrapping_add(entry * digits + vec),
                masks: masks.as_ptr().wrapping_add(entry),
            };
            entry += Self::ENTRIES;
            if entry == masks.len() {
                (vec, entry) = (vec + Self::VECS, 0);
            }
        }
        Self {
            parts,
            count,
            done: 0,
            entry: size_of_val(&table[..digits]),
            borrowed: PhantomData,
        }
    }

    /// The next parts, of so many at most, and the bytes of an entry. They are taken for done.
    #[inline(always)]
    pub(crate) fn next(&mut self, most: usize) -> (&[Part], usize) {
        let first = self.done;
        self.done = self.count.min(first + most);
        (&self.parts[first..self.done], self.entry)
    }
}

/// The longest numbers whose columns, with signs and doubled, have room in a word.
const LONGEST: usize = 160;

/// `true` if numbers of so many digits are worked on in blocks of ten alone.
pub(crate) fn fit(digits: usize) -> bool {
    digits > LARGE && digits <= LONGEST && digits.is_multiple_of(LARGE)
}

/// Vecs of working memory that an operation needs: columns, the columns of blocks, and two sums of blocks.
pub(crate) fn working(digits: usize) -> usize {
    4 * digits + 2 * (LARGE + 1)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::kernel::lanes::{DIGIT_MASK, Portable};
    use crate::kernel::mont52x8::Mont52x8;
    use crate::kernel::mont52x8::moduli::{Moduli, vec8s_mut};
    use crate::kernel::x86_64::ifma512::{HaveIfma, Zmm};
    use crate::kernel::{Doublings, FixedWindow, LaneKernel, exp_fixed_window};

    type Blocks = Mont52x8<Zmm>;
    type Model = Mont52x8<Portable>;
    /// By the model or not, a value, and working memory.
    type Operate<'a> = &'a mut dyn FnMut(bool, &mut [u64], &mut [u64]);

    /// Random digits, and in some lanes the least and the greatest, or runs of both.
    fn digits(state: &mut u64, count: usize) -> Vec<u64> {
        let mut next = || {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            *state >> 12
        };
        let mut words: Vec<u64> = (0..8 * count).map(|_| next()).collect();
        let pattern = next();
        for (digit, vec) in vec8s_mut(&mut words).iter_mut().enumerate() {
            (vec[0], vec[1]) = (0, DIGIT_MASK);
            vec[2] = if pattern >> (digit % 48) & 1 == 0 {
                0
            } else {
                DIGIT_MASK
            };
            vec[3] = if (digit / LARGE).is_multiple_of(2) {
                DIGIT_MASK
            } else {
                0
            };
            vec[4] = if digit % LARGE == LARGE - 1 { DIGIT_MASK } else { 1 };
        }
        words
    }

    /// The code and the compiled blocks leave the same digits, whatever the moduli are: they compute the same number.
    #[test]
    fn blocks_leave_the_digits_of_the_model() {
        let Some(token) = HaveIfma::check() else {
            return eprintln!("skipped: no AVX-512 IFMA");
        };
        let mut state = 1;
        for limbs in [16, 24, 32, 64, 128] {
            assert!(fit(Blocks::words(limbs) / 8));
            for _ in 0..1000 / limbs {
                agree_once(token, limbs, &mut state);
            }
        }
    }

    fn agree_once(token: HaveIfma, limbs: usize, state: &mut u64) {
        let (blocks, model) = (Blocks::new(token), Model::new(()));
        let count = Blocks::words(limbs) / 8;
        let mut moduli: Moduli = blocks.moduli(limbs);
        for constant in [
            &mut moduli.n,
            &mut moduli.rr,
            &mut moduli.high_rr,
            &mut moduli.large_inverse,
        ] {
            constant.copy_from_slice(&digits(state, count));
        }
        moduli.n0.copy_from_slice(&digits(state, 1));
        let moduli = &moduli;
        let (a, b) = (digits(state, count), digits(state, count));
        let mut working = vec![0xbeef; Blocks::working_words(limbs).max(Model::working_words(limbs))];
        let mut results = [a.clone(), a.clone()];
        let mut both = |what: &str, operate: Operate<'_>| {
            for (result, is_model) in results.iter_mut().zip([false, true]) {
                operate(is_model, result, &mut working);
            }
            assert!(results[0] == results[1], "{what} of {count} digits");
        };
        both("squares", &mut |is_model, a, t| match is_model {
            false => blocks.sqr(moduli, a, 2, t),
            true => model.sqr(moduli, a, 2, t),
        });
        both("a product", &mut |is_model, a, t| match is_model {
            false => blocks.mul(moduli, a, &b, t),
            true => model.mul(moduli, a, &b, t),
        });
        both("a long number", &mut |is_model, a, t| match is_model {
            false => blocks.enter_wide(moduli, a, &mut b.clone(), t),
            true => model.enter_wide(moduli, a, &mut b.clone(), t),
        });
        let bits: Vec<u8> = (0..24).map(|lane| (*state >> lane & 1) as u8).collect();
        both("doublings", &mut |is_model, value, working| {
            let power = Doublings {
                moduli,
                value,
                bits: &bits,
                working,
            };
            match is_model {
                false => blocks.square_and_double([power]),
                true => model.square_and_double([power]),
            }
        });
        for width in [4, 5] {
            let table = digits(state, count << width);
            let windows: Vec<u8> = (0..24).map(|lane| (*state >> lane) as u8 % (1 << width)).collect();
            both("windows", &mut |is_model, value, working| {
                let power = FixedWindow {
                    moduli,
                    value,
                    table: &table,
                    digits: &windows,
                    selected: &mut vec![0xdead; 8 * count],
                    working,
                };
                match is_model {
                    false => blocks.exp_fixed_window([power], width),
                    true => exp_fixed_window(model, power, width),
                }
            });
        }
    }
}
