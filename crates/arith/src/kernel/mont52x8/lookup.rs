//! Looking a table up in constant time.

use super::blocks::{LARGE, SMALL, for_each_row};
use crate::kernel::lanes::{Lanes, Vec8};

/// Puts the vecs of entry `digits[lane]` into each lane of `selected`, for one window or for two at once: all entries
/// pass by whole, and each is chosen in the lanes whose digit it is. To read the table takes longer than to choose, so
/// that a second window costs less than the first. Entries are as long as each of `selected`, a multiple of [`SMALL`].
#[inline(always)]
pub(super) fn look_up<V: Lanes, const WINDOWS: usize>(
    token: V::Token,
    table: &[Vec8],
    digits: [&[u8]; WINDOWS],
    mut selected: [&mut [Vec8]; WINDOWS],
) {
    let mut all_wanted = [V::splat(token, 0); WINDOWS];
    for (all_wanted, digits) in all_wanted.iter_mut().zip(digits) {
        *all_wanted = wanted::<V>(token, digits.first_chunk().expect("a digit for each lane"));
    }
    let wanted = all_wanted;
    let stride = selected[0].len();
    let mut at = 0;
    while at + LARGE <= stride {
        pick::<V, LARGE, WINDOWS>(token, (table, at), &wanted, &mut selected);
        at += LARGE;
    }
    if at < stride {
        pick::<V, SMALL, WINDOWS>(token, (table, at), &wanted, &mut selected);
    }
}

/// A digit for each lane, in vecs: as many as the compiler knows, which makes loads and stores under masks of a loop
/// over any number.
#[inline(always)]
fn wanted<V: Lanes>(token: V::Token, digits: &[u8; 8]) -> V {
    let mut vec = [0; 8];
    for (word, &digit) in vec.iter_mut().zip(digits) {
        *word = u64::from(digit);
    }
    V::load(token, &vec)
}

/// [`look_up`] of VECS vecs from `at` on, held in registers while the entries pass by.
#[inline(always)]
fn pick<V: Lanes, const VECS: usize, const WINDOWS: usize>(
    token: V::Token,
    (table, at): (&[Vec8], usize),
    wanted: &[V; WINDOWS],
    selected: &mut [&mut [Vec8]; WINDOWS],
) {
    let mut picked = [[V::splat(token, 0); VECS]; WINDOWS];
    for (number, entry) in (0..).zip(table.chunks_exact(selected[0].len())) {
        let entry: &[Vec8; VECS] = entry[at..].first_chunk().expect("a block fits");
        let number = V::splat(token, number);
        let mut here = [wanted[0].equal_bits(number); WINDOWS];
        for window in 1..WINDOWS {
            here[window] = wanted[window].equal_bits(number);
        }
        for_each_row!(vec < VECS => {
            let value = V::load(token, &entry[vec]);
            for window in 0..WINDOWS {
                picked[window][vec] = picked[window][vec].choose(value, here[window]);
            }
        });
    }
    for (picked, selected) in picked.into_iter().zip(selected) {
        let selected: &mut [Vec8; VECS] = selected[at..].first_chunk_mut().expect("a block fits");
        for_each_row!(vec < VECS => { picked[vec].store(&mut selected[vec]); });
    }
}
