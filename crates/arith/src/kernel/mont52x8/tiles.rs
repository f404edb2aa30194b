//! The arithmetic on columns. See the module above for the schedule and the bounds.

use crate::kernel::lanes::{Cell, DIGIT_MASK, Lanes};

/// Rows of a large tile.
pub(super) const LARGE: usize = 10;
/// Rows of a small tile, for what is left over.
pub(super) const SMALL: usize = 5;

/// Expands a block once for each row 0..10 that the tile has, with its number a constant, because LLVM will not unroll
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
fn load<V: Lanes, const ROWS: usize>(token: V::Token, cells: &[Cell]) -> [V; ROWS] {
    let cells = cells.first_chunk::<ROWS>().expect("a tile fits");
    let mut values = [V::splat(token, 0); ROWS];
    for_each_row!(row < ROWS => { values[row] = V::load(token, &cells[row]); });
    values
}

#[inline(always)]
fn store<V: Lanes, const ROWS: usize>(values: [V; ROWS], cells: &mut [Cell]) {
    let cells = cells.first_chunk_mut::<ROWS>().expect("a tile fits");
    for_each_row!(row < ROWS => { values[row].store(&mut cells[row]); });
}

/// t += m x, for ROWS digits m. In `t`, columns from the length of `x` on are taken for zero; with FRESH all are.
#[inline(always)]
fn add_rows<V: Lanes, const ROWS: usize, const FRESH: bool>(
    token: V::Token,
    t: &mut [Cell],
    m: &[V; ROWS],
    x: &[Cell],
) {
    let zero = V::splat(token, 0);
    let mut window = if FRESH { [zero; ROWS] } else { load(token, t) };
    let t = &mut t[..x.len() + ROWS];
    let held = if FRESH { 0 } else { x.len() - ROWS };
    for j in 0..held {
        let top = V::load(token, &t[j + ROWS]);
        step(&mut window, top, m, V::load(token, &x[j])).store(&mut t[j]);
    }
    for j in held..x.len() {
        step(&mut window, zero, m, V::load(token, &x[j])).store(&mut t[j]);
    }
    store(window, &mut t[x.len()..]);
}

/// t = a b.
#[inline(always)]
pub(super) fn product<V: Lanes>(token: V::Token, t: &mut [Cell], a: &[Cell], b: &[Cell]) {
    let large = a.len() - a.len() % LARGE;
    if large == 0 {
        return add_rows::<V, SMALL, true>(token, t, &load(token, b), a);
    }
    add_rows::<V, LARGE, true>(token, t, &load(token, b), a);
    for row in (LARGE..large).step_by(LARGE) {
        add_rows::<V, LARGE, false>(token, &mut t[row..], &load(token, &b[row..]), a);
    }
    if large < a.len() {
        add_rows::<V, SMALL, false>(token, &mut t[large..], &load(token, &b[large..]), a);
    }
}

/// t += the products of digits of `a`, one or both of them among its first ROWS, as often as the square has them; the
/// lowest 2 ROWS columns are complete then. In `t`, columns from the length of `a` on are taken for zero; with FRESH all
/// are.
#[inline(always)]
fn add_square_rows<V: Lanes, const ROWS: usize, const FRESH: bool>(
    token: V::Token,
    t: &mut [Cell],
    a: &[Cell],
    beside: &mut impl Beside,
) {
    let zero = V::splat(token, 0);
    let m: [V; ROWS] = load(token, a);
    let (tile, rest) = t.split_at_mut(ROWS);
    let x = &a[ROWS..];
    // Products of unequal digits first, once each ...
    let mut columns = [zero; 2 * LARGE];
    if !FRESH {
        let low: [V; ROWS] = load(token, tile);
        for_each_row!(row < ROWS => { columns[row] = low[row]; });
    }
    if !x.is_empty() {
        add_rows::<V, ROWS, FRESH>(token, rest, &m, x);
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
    beside.tick();
}

/// t = a^2, where the columns are not carried yet.
///
/// Products of unequal digits are taken once and doubled; digits cannot be doubled beforehand, they have no bit to spare.
#[inline(always)]
pub(super) fn square<V: Lanes>(
    token: V::Token,
    t: &mut [Cell],
    a: &[Cell],
    beside: &mut impl Beside,
) {
    let small = a.len() % LARGE;
    let first = if small > 0 { SMALL } else { LARGE };
    if small > 0 {
        add_square_rows::<V, SMALL, true>(token, t, a, beside);
    } else {
        add_square_rows::<V, LARGE, true>(token, t, a, beside);
    }
    for row in (first..a.len()).step_by(LARGE) {
        add_square_rows::<V, LARGE, false>(token, &mut t[2 * row..], &a[row..], beside);
    }
}

/// Work done beside a squaring, in the slots that multiplications leave.
pub(super) trait Beside {
    /// Does a bit of it. Called once for each tile of the square and of the reduction.
    fn tick(&mut self);
}

/// Nothing to do.
pub(super) struct Idle;

impl Beside for Idle {
    #[inline(always)]
    fn tick(&mut self) {}
}

/// Digits come out of columns by carrying.
struct Carry<V> {
    carry: V,
    mask: V,
}

impl<V: Lanes> Carry<V> {
    #[inline(always)]
    fn digit(&mut self, column: V) -> V {
        let sum = column.add(self.carry);
        self.carry = sum.shift_right_digit();
        sum.and(self.mask)
    }
}

/// Adds the multiple of n that clears the first ROWS columns of `t`, and carries what is above 2^52 in them on.
///
/// With LAST, what is above them is the result: it goes to `out` instead, in digits.
#[inline(always)]
fn reduce_rows<V: Lanes, const ROWS: usize, const LAST: bool>(
    token: V::Token,
    t: &mut [Cell],
    n: &[Cell],
    n0: V,
    out: &mut [Cell],
    beside: &mut impl Beside,
) {
    let zero = V::splat(token, 0);
    let mask = V::splat(token, DIGIT_MASK);
    let t = &mut t[..n.len() + ROWS];
    let mut columns = [zero; 2 * LARGE];
    let (low, high) = (
        load::<V, ROWS>(token, t),
        load::<V, ROWS>(token, &t[ROWS..]),
    );
    for_each_row!(row < ROWS => {
        columns[row] = low[row];
        columns[ROWS + row] = high[row];
    });
    let lowest: &[Cell; ROWS] = n.first_chunk().expect("a tile fits");
    let mut q = [zero; ROWS];
    for_each_row!(row < ROWS => {
        q[row] = zero.add_low(columns[row], n0);
        // The low product of q and n's first digit makes the low digit of the column zero, that is, carries 1 unless it
        // is zero already. So does adding 2^52 - 1, which needs no product.
        let carry = columns[row].add(mask).shift_right_digit();
        // The next quotient digit waits for this column: its two products are taken beside each other.
        let second = V::load(token, &lowest[1]);
        let high = columns[row + 1].add(carry).add_high(q[row], V::load(token, &lowest[0]));
        columns[row + 1] = zero.add_low(q[row], second).add(high);
        columns[row + 2] = columns[row + 2].add_high(q[row], second);
        for j in 2..ROWS {
            let n = V::load(token, &lowest[j]);
            columns[row + j] = columns[row + j].add_low(q[row], n);
            columns[row + j + 1] = columns[row + j + 1].add_high(q[row], n);
        }
    });
    let mut window = [zero; ROWS];
    for_each_row!(row < ROWS => { window[row] = columns[ROWS + row]; });
    let mut digits = Carry { carry: zero, mask };
    for j in ROWS..n.len() {
        let top = V::load(token, &t[j + ROWS]);
        let column = step(&mut window, top, &q, V::load(token, &n[j]));
        if LAST {
            digits.digit(column).store(&mut out[j - ROWS]);
        } else {
            column.store(&mut t[j]);
        }
    }
    if LAST {
        for_each_row!(row < ROWS => { window[row] = digits.digit(window[row]); });
        store(window, &mut out[n.len() - ROWS..]);
    } else {
        store(window, &mut t[n.len()..]);
    }
    beside.tick();
}

/// out = t / R mod n, below 2 n, for t < 4 n^2.
#[inline(always)]
pub(super) fn reduce<V: Lanes>(
    token: V::Token,
    t: &mut [Cell],
    n: &[Cell],
    n0: &Cell,
    out: &mut [Cell],
    beside: &mut impl Beside,
) {
    let n0 = V::load(token, n0);
    let rest = n.len() % LARGE;
    let last = if rest == 0 {
        n.len() - LARGE
    } else {
        n.len() - rest
    };
    for row in (0..last).step_by(LARGE) {
        reduce_rows::<V, LARGE, false>(token, &mut t[row..], n, n0, out, beside);
    }
    if rest == 0 {
        reduce_rows::<V, LARGE, true>(token, &mut t[last..], n, n0, out, beside);
    } else {
        reduce_rows::<V, SMALL, true>(token, &mut t[last..], n, n0, out, beside);
    }
}
