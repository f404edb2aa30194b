//! The tiles that a product is cut into, in the order in which they are called, where each finds what, and constants.
//! The test that certifies them (`tests/machine_code/certify/`) compiles this file, too.

use super::generated::tiles::{Constants, High, LARGEST_TILE, Step, Tile};
use std::ops::Range;

/// The constants of digits of so many bits.
pub(crate) const fn constants(width: i32) -> Constants<[f64; 4]> {
    const fn power(exponent: i32) -> f64 {
        f64::from_bits(((1023 + exponent) as u64) << 52)
    }
    Constants {
        origin: [1.5 * power(width + 52); 4],
        inverse_radix: [power(-width); 4],
        minus_radix: [-power(width); 4],
        integer: [1.5 * power(52); 4],
        diagonal: [1.0, 2.0, 1.0, 2.0],
        first_of_one: [1.0, 2.0, 0.0, 0.0],
        second_of_one: [2.0, 2.0, 1.0, 2.0],
        diagonal_reversed: [1.0, 0.0, 1.0, 0.0],
        first_of_one_reversed: [0.0, 0.0, 1.0, 0.0],
        second_of_one_reversed: [1.0, 0.0, 2.0, 2.0],
    }
}

/// The tiles of a product.
pub(crate) struct Tiles {
    /// Below R, in ascending order.
    pub(crate) low: Vec<(Tile, Step<usize>)>,
    /// Above R, in ascending order. The first one has one more pair of columns below, of q n alone.
    pub(crate) high: Vec<(Tile, Step<usize>)>,
}

/// The tiles that multiply or square so many numbers of so many pairs.
pub(crate) fn tiles(numbers: usize, pairs: usize, squares: bool, is_joined: bool) -> Tiles {
    let low = cut(pairs).into_iter();
    // Counted from the top.
    let mut high = cut(pairs + 1);
    high.last_mut().expect("there are columns").end -= 1;
    let high = high.into_iter().rev();
    Tiles {
        low: low.map(|columns| low_tile(numbers, columns, squares)).collect(),
        high: high
            .map(|columns| high_tile(numbers, columns, pairs, squares, is_joined))
            .collect(),
    }
}

/// Tiles of so many pairs of columns. All but the last one are even, as squares want them, and the last one is the
/// largest: what comes next waits for all of them, and its columns fill the time that each of its rows waits for the
/// one before.
fn cut(pairs: usize) -> Vec<Range<usize>> {
    let last = match pairs {
        ..=LARGEST_TILE => pairs,
        _ => LARGEST_TILE - pairs % 2,
    };
    let mut tiles = Vec::new();
    let mut from = 0;
    while from < pairs - last {
        let rest = pairs - last - from;
        let columns = rest.div_ceil(rest.div_ceil(LARGEST_TILE)).next_multiple_of(2);
        tiles.push(from..from + columns);
        from += columns;
    }
    tiles.push(from..pairs);
    tiles
}

/// Bytes of a vector, and of a pair of so many numbers.
const VECTOR: usize = 32;

const fn pair(numbers: usize) -> usize {
    16 * numbers
}

fn low_tile(numbers: usize, columns: Range<usize>, squares: bool) -> (Tile, Step<usize>) {
    let c = columns.start;
    let rows = if squares { c / 2 } else { c };
    let tile = Tile {
        numbers,
        columns: columns.len(),
        squares,
        high: None,
    };
    let step = Step {
        pairs: VECTOR * c,
        plain: pair(numbers) * rows,
        rows,
        out: pair(numbers) * c,
        ..Step::default()
    };
    (tile, step)
}

fn high_tile(
    numbers: usize,
    columns: Range<usize>,
    pairs: usize,
    squares: bool,
    is_joined: bool,
) -> (Tile, Step<usize>) {
    let c = columns.start;
    let rows = if squares { c / 2 } else { c };
    let highest = pair(numbers) * (pairs - 1);
    let tile = Tile {
        numbers,
        columns: columns.len(),
        squares,
        high: Some(High {
            is_lowest: columns.end == pairs,
            is_joined,
        }),
    };
    let step = Step {
        pairs: VECTOR * (pairs - c),
        b: highest,
        plain: highest - pair(numbers) * rows,
        rows,
        modulus_pairs: VECTOR * (pairs - c),
        quotient: highest,
        quotient_rows: c,
        out: pair(numbers) * (pairs - columns.end),
    };
    (tile, step)
}
