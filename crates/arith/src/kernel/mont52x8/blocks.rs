//! The arithmetic on columns. Schedule and bounds stand in the [module above](super).

use crate::kernel::lanes::{DIGIT_MASK, Lanes, Vec8};
use crate::kernel::tens;
use std::hint::black_box;

/// Rows of a large block.
pub(super) const LARGE: usize = tens::BLOCK;
/// Rows of a small block, for what is left over.
pub(super) const SMALL: usize = 5;

/// Expands a block once for each row 0..10 that the block has, with its number a constant, because LLVM will not unroll
/// two nested loops this long, and an array of registers must be indexed by constants only.
macro_rules! for_each_row {
    ($row:ident < $rows:expr => $body:block) => {
        for_each_row!(@ $row, $rows, $body, 0 1 2 3 4 5 6 7 8 9)
    };
    (@ $row:ident, $rows:expr, $body:block, $($number:literal)*) => {
        $(if $number < $rows {
            let $row: usize = $number;
            $body
        })*
    };
}
pub(super) use for_each_row;

/// Rows `m` times the digit `x`, onto the window of columns that starts with the first row's low product and the column
/// `top` above it. Then the window moves one column up: out goes its lowest, in comes `top`.
#[inline(always)]
fn step<V: Lanes, const ROWS: usize>(window: &mut [V; ROWS], top: V, m: &[V; ROWS], x: V) -> V {
    let lowest = window[0].add_low(m[0], x);
    for_each_row!(row < ROWS => {
        let (column, low) = if row + 1 < ROWS {
            (window[row + 1], Some(m[row + 1]))
        } else {
            (top, None)
        };
        let column = low.map_or(column, |low| column.add_low(low, x));
        window[row] = column.add_high(m[row], x);
    });
    lowest
}

#[inline(always)]
fn load<V: Lanes, const ROWS: usize>(token: V::Token, vecs: &[Vec8]) -> [V; ROWS] {
    let vecs = vecs.first_chunk::<ROWS>().expect("a block fits");
    let mut values = [V::splat(token, 0); ROWS];
    for_each_row!(row < ROWS => { values[row] = V::load(token, &vecs[row]); });
    values
}

#[inline(always)]
fn store<V: Lanes, const ROWS: usize>(values: [V; ROWS], vecs: &mut [Vec8]) {
    let vecs = vecs.first_chunk_mut::<ROWS>().expect("a block fits");
    for_each_row!(row < ROWS => { values[row].store(&mut vecs[row]); });
}

/// The columns that are initialised before rows are added to them.
mod columns {
    /// None: whatever is in memory is taken for zero.
    pub(super) const NONE: u8 = 0;
    /// As many as the other factor has digits; those above are taken for zero.
    pub(super) const LOWER: u8 = 1;
    /// All that the rows reach.
    pub(super) const ALL: u8 = 2;
}

/// t += m x, for ROWS digits m, where the columns of `t` are initialised as INITIALISED says.
#[inline(always)]
fn add_rows<V: Lanes, const ROWS: usize, const INITIALISED: u8>(
    token: V::Token,
    t: &mut [Vec8],
    m: &[V; ROWS],
    x: &[Vec8],
) {
    let zero = V::splat(token, 0);
    let mut window = if INITIALISED == columns::NONE {
        [zero; ROWS]
    } else {
        load(token, t)
    };
    let t = &mut t[..x.len() + ROWS];
    let initialised = match INITIALISED {
        columns::NONE => 0,
        columns::LOWER => x.len() - ROWS,
        _ => x.len(),
    };
    for j in 0..initialised {
        let top = V::load(token, &t[j + ROWS]);
        step(&mut window, top, m, V::load(token, &x[j])).store(&mut t[j]);
    }
    for j in initialised..x.len() {
        step(&mut window, zero, m, V::load(token, &x[j])).store(&mut t[j]);
    }
    store(window, &mut t[x.len()..]);
}

/// t = a b, its lowest columns normalised.
#[inline(always)]
pub(super) fn product<V: Lanes>(token: V::Token, t: &mut [Vec8], a: &[Vec8], b: &[Vec8]) {
    let large = a.len() - a.len() % LARGE;
    if large == 0 {
        return add_rows::<V, SMALL, { columns::NONE }>(token, t, &load(token, b), a);
    }
    add_rows::<V, LARGE, { columns::NONE }>(token, t, &load(token, b), a);
    normalise_lowest::<V>(token, t, a.len());
    for row in (LARGE..large).step_by(LARGE) {
        add_rows::<V, LARGE, { columns::LOWER }>(token, &mut t[row..], &load(token, &b[row..]), a);
    }
    if large < a.len() {
        add_rows::<V, SMALL, { columns::LOWER }>(token, &mut t[large..], &load(token, &b[large..]), a);
    }
}

/// t += a b, and the lowest columns are normalised again.
#[inline(always)]
pub(super) fn add_product<V: Lanes>(token: V::Token, t: &mut [Vec8], a: &[Vec8], b: &[Vec8]) {
    let large = a.len() - a.len() % LARGE;
    for row in (0..large).step_by(LARGE) {
        add_rows::<V, LARGE, { columns::ALL }>(token, &mut t[row..], &load(token, &b[row..]), a);
    }
    if large < a.len() {
        add_rows::<V, SMALL, { columns::ALL }>(token, &mut t[large..], &load(token, &b[large..]), a);
    }
    normalise_lowest::<V>(token, t, a.len());
}

/// t += the products of digits of `a`, one or both of them among its first ROWS, as often as the square has them; the
/// lowest 2 ROWS columns are complete then. The columns of `t` are initialised as INITIALISED says.
#[inline(always)]
fn add_square_rows<V: Lanes, const ROWS: usize, const INITIALISED: u8>(token: V::Token, t: &mut [Vec8], a: &[Vec8]) {
    let zero = V::splat(token, 0);
    let m: [V; ROWS] = load(token, a);
    let (block, rest) = t.split_at_mut(ROWS);
    let x = &a[ROWS..];
    // Products of unequal digits first, once each ...
    let mut columns = [zero; 2 * LARGE];
    if INITIALISED != columns::NONE {
        let low: [V; ROWS] = load(token, block);
        for_each_row!(row < ROWS => { columns[row] = low[row]; });
    }
    if !x.is_empty() {
        add_rows::<V, ROWS, INITIALISED>(token, rest, &m, x);
        let high: [V; ROWS] = load(token, rest);
        for_each_row!(row < ROWS => { columns[ROWS + row] = high[row]; });
    }
    for_each_row!(row < ROWS => {
        for other in row + 1..ROWS {
            columns[row + other] = columns[row + other].add_low(m[row], m[other]);
            columns[row + other + 1] = columns[row + other + 1].add_high(m[row], m[other]);
        }
    });
    // ... then twice, with the squares. No later row reaches these columns.
    let t = &mut t[..2 * ROWS];
    for_each_row!(row < ROWS => {
        let (low, high) = (columns[2 * row], columns[2 * row + 1]);
        low.add(low).add_low(m[row], m[row]).store(&mut t[2 * row]);
        high.add(high).add_high(m[row], m[row]).store(&mut t[2 * row + 1]);
    });
}

/// t = a^2, its lowest columns normalised.
///
/// Products of unequal digits are taken once and doubled; digits cannot be doubled beforehand, they have no bit to
/// spare.
#[inline(always)]
pub(super) fn square<V: Lanes>(token: V::Token, t: &mut [Vec8], a: &[Vec8]) {
    let small = a.len() % LARGE;
    let first = if small > 0 { SMALL } else { LARGE };
    if small > 0 {
        add_square_rows::<V, SMALL, { columns::NONE }>(token, t, a);
    } else {
        add_square_rows::<V, LARGE, { columns::NONE }>(token, t, a);
    }
    normalise_lowest::<V>(token, t, a.len());
    for row in (first..a.len()).step_by(LARGE) {
        add_square_rows::<V, LARGE, { columns::LOWER }>(token, &mut t[2 * row..], &a[row..]);
    }
}

/// Digits come out of columns by carrying.
pub(super) struct Carry<V: Lanes> {
    carry: V,
    mask: V,
    double: Option<V::Mask>,
}

impl<V: Lanes> Carry<V> {
    /// From the lowest column up; where `double` says so, of twice the columns.
    #[inline(always)]
    pub(super) fn new(token: V::Token, double: Option<V::Mask>) -> Self {
        Self {
            carry: V::splat(token, 0),
            mask: V::splat(token, DIGIT_MASK),
            double,
        }
    }

    /// With something to begin with.
    #[inline(always)]
    pub(super) fn with(self, carry: V) -> Self {
        Self { carry, ..self }
    }

    /// The carry out of the highest column.
    #[inline(always)]
    pub(super) fn above(&self) -> V {
        self.carry
    }

    #[inline(always)]
    pub(super) fn digit(&mut self, column: V) -> V {
        let column = match self.double {
            Some(double) => column.merge(column.add(column), double),
            None => column,
        };
        let sum = column.add(self.carry);
        self.carry = sum.shift_right_digit();
        sum.and(self.mask)
    }
}

/// Makes digits of the first ROWS columns of `t`: what is above 2^52 in them goes up into the next one.
#[inline(always)]
fn normalise<V: Lanes, const ROWS: usize>(token: V::Token, t: &mut [Vec8]) {
    let mut digits = Carry::<V>::new(token, None);
    for_each_row!(row < ROWS => {
        digits.digit(V::load(token, &t[row])).store(&mut t[row]);
    });
    V::load(token, &t[ROWS]).add(digits.carry).store(&mut t[ROWS]);
}

/// [`normalise`]s the columns that are reduced first, of a number of `len` digits. It is done as soon as they are
/// complete: the carry goes from one to the next, and what follows need not wait for it.
#[inline(always)]
fn normalise_lowest<V: Lanes>(token: V::Token, t: &mut [Vec8], len: usize) {
    if len > LARGE && !len.is_multiple_of(LARGE) {
        normalise::<V, SMALL>(token, t);
    } else if len > LARGE {
        normalise::<V, LARGE>(token, t);
    }
}

/// Takes the first ROWS columns of `t`, which are normalised, away, and adds what they are worth above: t / B for
/// B = 2^(52 ROWS), where `inverse` is 1 / B mod n. Nothing waits for a quotient digit here.
#[inline(always)]
fn reduce_partially<V: Lanes, const ROWS: usize>(token: V::Token, t: &mut [Vec8], inverse: &[Vec8]) {
    let low: [V; ROWS] = load(token, t);
    add_rows::<V, ROWS, { columns::ALL }>(token, &mut t[ROWS..], &low, inverse);
}

/// Adds the multiple of n that clears the first ROWS columns of `t`. What is above them is the result, doubled where
/// `double` says so, and goes to `out` in digits.
#[inline(always)]
pub(super) fn reduce_rows<V: Lanes, const ROWS: usize>(
    token: V::Token,
    t: &[Vec8],
    n: &[Vec8],
    n0: V,
    out: &mut [Vec8],
    double: Option<V::Mask>,
) {
    let zero = V::splat(token, 0);
    let t = &t[..n.len() + ROWS];
    let mut columns = [zero; 2 * LARGE];
    let (low, high) = (load::<V, ROWS>(token, t), load::<V, ROWS>(token, &t[ROWS..]));
    for_each_row!(row < ROWS => {
        columns[row] = low[row];
        columns[ROWS + row] = high[row];
    });
    let lowest: &[Vec8; ROWS] = n.first_chunk().expect("a block fits");
    let mut q = [zero; ROWS];
    for_each_row!(row < ROWS => {
        q[row] = zero.add_low(columns[row], n0);
        clear_column(token, &mut columns, row, q[row], lowest);
    });
    let mut window = [zero; ROWS];
    for_each_row!(row < ROWS => { window[row] = columns[ROWS + row]; });
    let mut digits = Carry::<V>::new(token, double);
    for j in ROWS..n.len() {
        let top = V::load(token, &t[j + ROWS]);
        let column = step(&mut window, top, &q, V::load(token, &n[j]));
        digits.digit(column).store(&mut out[j - ROWS]);
    }
    for_each_row!(row < ROWS => { window[row] = digits.digit(window[row]); });
    store(window, &mut out[n.len() - ROWS..]);
}

/// Adds q n to the columns from `row` on, for the `q` that clears column `row`, which is carried and not written.
#[inline(always)]
pub(super) fn clear_column<V: Lanes, const COLUMNS: usize, const DIGITS: usize>(
    token: V::Token,
    columns: &mut [V; COLUMNS],
    row: usize,
    q: V,
    n: &[Vec8; DIGITS],
) {
    // Loaded anew for each row: LLVM would keep all digits in registers, and spill columns that are waited for.
    let n = black_box(n);
    // The low product of q and n's first digit makes the low digit of the column zero, that is, carries 1 unless it
    // is zero already. So does adding 2^52 - 1, which needs no product.
    let carry = columns[row].add(V::splat(token, DIGIT_MASK)).shift_right_digit();
    // The next quotient digit waits for this column: its two products are independent of each other.
    let second = V::load(token, &n[1]);
    let high = columns[row + 1].add(carry).add_high(q, V::load(token, &n[0]));
    columns[row + 1] = V::splat(token, 0).add_low(q, second).add(high);
    columns[row + 2] = columns[row + 2].add_high(q, second);
    for j in 2..DIGITS {
        let n = V::load(token, &n[j]);
        columns[row + j] = columns[row + j].add_low(q, n);
        columns[row + j + 1] = columns[row + j + 1].add_high(q, n);
    }
}

/// 1 / 2^(52 ROWS) mod n for a small and for a large block, in all lanes. A number of one block needs neither, and one
/// without a small block not the first.
pub(super) struct PartialInverses<'a> {
    pub(super) small: &'a [Vec8],
    pub(super) large: &'a [Vec8],
}

/// out = t / R mod n, below t / R + (2 + 2^-200) n, and twice that where `double` says so, for a `t` whose lowest
/// columns are normalised.
#[inline(always)]
pub(super) fn reduce<V: Lanes>(
    token: V::Token,
    t: &mut [Vec8],
    (n, n0): (&[Vec8], &Vec8),
    inverses: PartialInverses<'_>,
    out: &mut [Vec8],
    double: Option<V::Mask>,
) {
    let n0 = V::load(token, n0);
    if n.len() == SMALL {
        return reduce_rows::<V, SMALL>(token, t, n, n0, out, double);
    }
    // A small block comes first: from there on no partial reduction reaches beyond the columns there are.
    let first = n.len() % LARGE;
    if first > 0 {
        reduce_partially::<V, SMALL>(token, t, inverses.small);
    }
    let last = n.len() - LARGE;
    for row in (first..last).step_by(LARGE) {
        if row > 0 {
            normalise::<V, LARGE>(token, &mut t[row..]);
        }
        reduce_partially::<V, LARGE>(token, &mut t[row..], inverses.large);
    }
    reduce_rows::<V, LARGE>(token, &t[last..], n, n0, out, double);
}
