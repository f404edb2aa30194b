//! Columns of a transform: what it is taken modulo, and the factors between columns and rows.

use once_cell::race::OnceBox;

use crate::{
    field::{Factor, Field, MAX_LOG},
    kernel::{Eight, Line, Modulus},
    table::{MAX_INNER_LOG, Table},
};

/// A prime and its table, for transforms of one length.
#[derive(Clone, Copy)]
pub(crate) struct Cyclic {
    /// The prime's number.
    pub(crate) prime: usize,
    pub(crate) field: Field,
    pub(crate) table: &'static Table,
    /// 1, 3 or 5.
    pub(crate) m: usize,
    /// k, at least 6.
    pub(crate) log: u32,
}

/// Lines of columns whose factors are made at once from one.
pub(crate) const AT_ONCE: usize = 4;

/// The factors r^s of a row, for some lines of columns after the other.
#[derive(Clone, Copy)]
pub(crate) struct Twist {
    /// r^s for the eight columns of the next line.
    factors: Line,
    /// r^8, r^16, r^24, r^32: one product after the other would have to wait.
    steps: [Factor; AT_ONCE],
}

impl Twist {
    /// From the first column on, for this r.
    fn new(field: Field, r: u64) -> Self {
        let mut power = 1;
        let mut next = |r: u64| {
            let this = power;
            power = field.mul(power, r);
            this
        };
        let factors = Line(std::array::from_fn(|_| field.centred(next(r))));
        let eight = next(1);
        let mut step = 1;
        let steps = std::array::from_fn(|_| {
            step = field.mul(step, eight);
            field.factor(step)
        });
        Self { factors, steps }
    }

    /// The factors of the next lines (of at most 0.6).
    #[inline(always)]
    pub(crate) fn next<E: Eight>(&mut self, token: E::Token, modulus: &Modulus<E>) -> [E; AT_ONCE] {
        let first = E::load(token, &self.factors);
        let [a, b, c, d] = self.steps;
        let factors = [
            first,
            times(token, first, a, modulus),
            times(token, first, b, modulus),
            times(token, first, c, modulus),
        ];
        times(token, first, d, modulus).store(&mut self.factors);
        factors
    }
}

/// x times a factor.
#[inline(always)]
pub(crate) fn times<E: Eight>(token: E::Token, x: E, factor: Factor, modulus: &Modulus<E>) -> E {
    x.mul_by(E::splat(token, factor.w), E::splat(token, factor.v), modulus)
}

/// Bits of `i` in reverse, of `log`.
fn reverse(i: usize, log: u32) -> u64 {
    (i as u64).reverse_bits() >> (64 - log)
}

/// For rows of 2^16 residues.
pub(crate) fn twists(cyclic: &Cyclic, inverse: bool) -> Vec<Twist> {
    let field = cyclic.field;
    let root = root(field, 1 << cyclic.log, inverse);
    let log = cyclic.log - MAX_INNER_LOG;
    let twist = |row| Twist::new(field, field.pow(root, reverse(row, log)));
    (0..1 << log).map(twist).collect()
}

/// For three or five rows, but the first, whose factors are 1: made once for each length.
pub(crate) fn odd_twists(cyclic: &Cyclic, inverse: bool) -> [Twist; 4] {
    static TWISTS: [OnceBox<[Twist; 4]>; 16 * (MAX_LOG as usize + 1)] =
        [const { OnceBox::new() }; 16 * (MAX_LOG as usize + 1)];
    let direction = 2 * usize::from(cyclic.m == 5) + usize::from(inverse);
    let place = &TWISTS[(cyclic.log as usize * 4 + direction) * 4 + cyclic.prime];
    *place.get_or_init(|| {
        let field = cyclic.field;
        let root = root(field, (cyclic.m as u64) << cyclic.log, inverse);
        let twist = |row: usize| Twist::new(field, field.pow(root, row as u64 + 1));
        Box::new(std::array::from_fn(twist))
    })
}

fn root(field: Field, order: u64, inverse: bool) -> u64 {
    let root = field.root(order);
    if inverse { field.invert(root) } else { root }
}
