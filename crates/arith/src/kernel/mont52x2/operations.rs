//! What the kernel does with the instructions of one form.

use super::carries::carry_all;
use super::moduli::{Lane, Moduli};
use super::quad::{DIGITS, Quad, Shifted, Words, Work};
use crate::kernel::doubles::unroll;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use std::hint::black_box;

/// Quads of working memory for one number of `width` quads.
pub(super) fn working_quads(width: usize) -> usize {
    // The factor against the columns, with a quad below and one above it; products; what reduces them.
    DIGITS * (width + 2) + 2 * width + 2 * width
}

/// One number's share of the working memory.
struct Stream<'a> {
    lane: &'a Lane,
    /// One factor against the columns, behind a quad of zeros.
    shifted: &'a mut [Shifted],
    /// The columns of the product.
    product: &'a mut [Words],
    /// The columns of what is added to reduce it.
    reduction: &'a mut [Words],
    /// What the columns below have carried.
    carry: u64,
}

impl<'a> Stream<'a> {
    #[inline(always)]
    fn new(lane: &'a Lane, working: &'a mut [Words], width: usize) -> Self {
        let (shifted, working) = working.split_at_mut(DIGITS * (width + 2));
        let (product, reduction) = working.split_at_mut(2 * width);
        Self {
            lane,
            shifted: shifted.as_chunks_mut().0,
            product,
            reduction: &mut reduction[..2 * width],
            carry: 0,
        }
    }

    /// That of a number that is not there.
    #[inline(always)]
    fn empty(lane: &'a Lane) -> Self {
        Self {
            lane,
            shifted: &mut [],
            product: &mut [],
            reduction: &mut [],
            carry: 0,
        }
    }

    /// Begins a product of `a`.
    #[inline(always)]
    fn start<V: Quad>(&mut self, token: V::Token, a: &[Words]) {
        let zero = V::splat(token, 0);
        let mut below = zero;
        zero.store(&mut self.shifted[0][0]);
        for i in 0..=a.len() {
            let here = if i < a.len() {
                V::load(token, &a[i])
            } else {
                zero
            };
            let shifted = &mut self.shifted[i + 1];
            here.store(&mut shifted[0]);
            here.move_up::<1>(below).store(&mut shifted[1]);
            here.move_up::<2>(below).store(&mut shifted[2]);
            here.move_up::<3>(below).store(&mut shifted[3]);
            below = here;
        }
        for i in 0..self.product.len() {
            zero.store(&mut self.product[i]);
            zero.store(&mut self.reduction[i]);
        }
        self.carry = 0;
    }

    /// Adds the products with a quad of the other factor, the `row`th.
    #[inline(always)]
    fn multiply<V: Quad>(&mut self, token: V::Token, row: usize, b: &Words, width: usize) {
        let digits = splat_each::<V>(token, b);
        let columns = &mut self.product[row..][..width + 1];
        V::add_rows(token, columns, &self.shifted[..width + 2], &digits);
    }

    /// Adds the products of the `row`th quad of `a` with itself and what lies above it, and completes the two quads of the square that
    /// have all of theirs then.
    #[inline(always)]
    fn square<V: Quad>(&mut self, token: V::Token, row: usize, a: &[Words], width: usize) {
        let zero = V::splat(token, 0);
        let digits = splat_each::<V>(token, &a[row]);
        let [d0, d1, d2, d3] = digits;
        // Where a place's digit is the row's own or one below it, it is left out.
        let x = load_each::<V>(token, &self.shifted[row + 1]);
        let even = V::load(token, &self.product[2 * row])
            .add_low_at::<0b1110>(x[0], d0)
            .add_low_at::<0b1000>(x[1], d1)
            .add(zero.add_high_at::<0b1100>(x[1], d0));
        let x = load_each::<V>(token, &self.shifted[row + 2]);
        let odd = V::load(token, &self.product[2 * row + 1])
            .add_low(x[0], d0)
            .add_low(x[1], d1)
            .add_low_at::<0b1110>(x[2], d2)
            .add_low_at::<0b1000>(x[3], d3);
        let odd = zero
            .add_high(x[1], d0)
            .add_high(x[2], d1)
            .add_high_at::<0b1100>(x[3], d2)
            .add(odd);
        for (half, sum) in [even, odd].into_iter().enumerate() {
            let [a, b] = [a[row][2 * half], a[row][2 * half + 1]];
            let digits = V::pairs(token, &[a, b]);
            sum.add(sum)
                .add_low_at::<0b0101>(digits, digits)
                .add_high_at::<0b1010>(digits, digits)
                .store(&mut self.product[2 * row + half]);
        }
        if let Some(above) = (width - row).checked_sub(1) {
            let columns = &mut self.product[2 * row + 2..][..above];
            V::add_rows(
                token,
                columns,
                &self.shifted[row + 2..][..above + 1],
                &digits,
            );
        }
    }

    /// The columns of a quad whose turn it is, with the products of the digits below it: digits of `quad` are the last ones to come in.
    #[inline(always)]
    fn columns<V: Quad>(&self, token: V::Token, at: usize, quad: Option<&[V; 4]>) -> Words {
        let sum = V::load(token, &self.product[at]).add(V::load(token, &self.reduction[at]));
        let Some(&[d0, d1, d2, d3]) = quad else {
            return sum.words();
        };
        let x = load_each::<V>(token, &self.lane.inverse()[0]);
        let zero = V::splat(token, 0);
        let low = sum.add_low(x[0], d0).add_low(x[1], d1);
        let lower = zero.add_low(x[2], d2).add_low(x[3], d3);
        let high = zero
            .add_high(x[1], d0)
            .add_high(x[2], d1)
            .add_high(x[3], d2);
        low.add(lower).add(high).words()
    }

    /// Digits, and what they carry.
    #[inline(always)]
    fn digits(&mut self, columns: Words) -> Words {
        let mut digits = [0; DIGITS];
        unroll!(i < DIGITS => {
            let sum = columns[i] + self.carry;
            self.carry = sum >> DIGIT_BITS;
            digits[i] = sum & DIGIT_MASK;
        });
        digits
    }

    /// The digits q for which these columns and q n are a multiple of 2^208; what both carry.
    #[inline(always)]
    fn quotient(&mut self, columns: Words) -> Words {
        let n = &self.lane.n()[0][0];
        let n0 = *self.lane.n0;
        let low = |n: u64, q: u64| n.wrapping_mul(q) & DIGIT_MASK;
        let high = |n: u64, q: u64| {
            (u128::from(n << (64 - DIGIT_BITS)).wrapping_mul(u128::from(q)) >> 64) as u64
        };
        let mut q = [0; DIGITS];
        let mut carry = self.carry;
        unroll!(i < DIGITS => {
            let mut sum = columns[i];
            unroll!(j < DIGITS => {
                if j < i {
                    sum += high(n[i - 1 - j], q[j]) + low(n[i - j], q[j]);
                }
            });
            // Last what came last.
            sum += carry;
            q[i] = low(n0, sum);
            // Its product clears the low digit, and so carries 1 unless that is zero already.
            carry = (sum >> DIGIT_BITS) + (((sum & DIGIT_MASK) + DIGIT_MASK) >> DIGIT_BITS);
        });
        self.carry = carry;
        q
    }

    /// Adds what the digits taken away at `below` are worth, but for the quad that [`columns`](Self::columns) takes them into.
    #[inline(always)]
    fn reduce_partially<V: Quad>(
        &mut self,
        token: V::Token,
        below: usize,
        quad: &[V; 4],
        width: usize,
    ) {
        let columns = &mut self.reduction[below + 2..][..width];
        V::add_rows(token, columns, &self.lane.inverse()[..width + 1], quad);
    }

    /// Adds the last quotient times n, and carries the upper half into `out`.
    #[inline(always)]
    fn finish<V: Quad>(&mut self, token: V::Token, q: &[V; 4], out: &mut [Words]) {
        let width = out.len();
        let columns = &mut self.reduction[width..][..width];
        V::add_rows(token, columns, &self.lane.n()[..width + 1], q);
        let product = &self.product[width..][..width];
        let mut carry = V::lowest(token, self.carry);
        for ((out, column), product) in out.iter_mut().zip(columns).zip(product) {
            V::load(token, column)
                .add(V::load(token, product))
                .add(carry)
                .store(out);
            carry = V::splat(token, 0);
        }
        carry_all::<V>(token, out);
    }
}

/// Each digit in all places of a vector. Written out, as everything on vectors is: a closure that the compiler does not inline is compiled
/// without the instructions.
#[inline(always)]
fn splat_each<V: Quad>(token: V::Token, digits: &Words) -> [V; DIGITS] {
    let mut vectors = [V::splat(token, digits[0]); DIGITS];
    unroll!(i < DIGITS => { vectors[i] = V::splat(token, digits[i]); });
    vectors
}

#[inline(always)]
fn load_each<V: Quad>(token: V::Token, shifted: &Shifted) -> [V; DIGITS] {
    let mut vectors = [V::load(token, &shifted[0]); DIGITS];
    unroll!(i < DIGITS => { vectors[i] = V::load(token, &shifted[i]); });
    vectors
}

/// Factors of a product.
#[derive(Clone, Copy)]
enum Factor<'a> {
    Itself,
    Other(&'a [Words]),
}

/// Does a block once for each quad: written out where the number of quads is a constant, a loop where it is not.
macro_rules! for_each_quad {
    ($known:expr, $i:ident < $count:expr => $body:block) => {
        if $known {
            unroll!($i < $count => $body);
        } else {
            for $i in 0..$count {
                $body
            }
        }
    };
}

/// Does a block for each of one number or two.
macro_rules! for_each_number {
    ($i:ident < $count:expr => $body:block) => {{
        {
            let $i: usize = 0;
            $body
        }
        if $count > 1 {
            let $i: usize = 1;
            $body
        }
    }};
}

/// a = a b / R mod n for N numbers of `width` quads. WIDTH is the width too, or 0 for any.
#[inline(always)]
fn montgomery<V: Quad, const N: usize, const WIDTH: usize>(
    token: V::Token,
    moduli: &Moduli<N>,
    a: &mut [Words],
    factor: Factor<'_>,
    working: &mut [Words],
) {
    let width = if WIDTH > 0 { WIDTH } else { a.len() / N };
    let (first, second) = working.split_at_mut(working_quads(width));
    // Made one by one: what a closure makes comes back through memory, with lengths that the compiler does not know.
    let mut streams = [
        Stream::new(&moduli.lanes[0], first, width),
        match N {
            1 => Stream::empty(&moduli.lanes[0]),
            _ => Stream::new(&moduli.lanes[N - 1], second, width),
        },
    ];
    let quads_of = |i: usize| i * width..(i + 1) * width;
    macro_rules! row {
        ($row:expr) => {
            for_each_number!(i < N => {
                match factor {
                    Factor::Itself => streams[i].square::<V>(token, $row, &a[quads_of(i)], width),
                    Factor::Other(b) => streams[i].multiply::<V>(token, $row, &b[quads_of(i)][$row], width),
                }
            })
        };
    }
    for_each_number!(i < N => { streams[i].start::<V>(token, &a[quads_of(i)]); });
    row!(0);
    let mut digits = [[V::splat(token, 0); DIGITS]; 2];
    // What must wait for the digits before comes first, then what fills the time until the next ones are there.
    for_each_quad!(WIDTH > 0, at < width => {
        let mut columns = [[0; DIGITS]; 2];
        for_each_number!(i < N => { columns[i] = streams[i].columns::<V>(token, at, (at > 0).then_some(&digits[i])); });
        if at > 0 {
            for_each_number!(i < N => { streams[i].reduce_partially::<V>(token, at - 1, &digits[i], width); });
        }
        let is_last = at + 1 == width;
        for_each_number!(i < N => {
            columns[i] = if is_last { streams[i].quotient(columns[i]) } else { streams[i].digits(columns[i]) };
        });
        if !is_last {
            row!(at + 1);
        }
        for_each_number!(i < N => { digits[i] = splat_each::<V>(token, &columns[i]); });
    });
    for_each_number!(i < N => { streams[i].finish::<V>(token, &digits[i], &mut a[quads_of(i)]); });
}

/// [`montgomery`] with the code for this width.
#[inline(always)]
fn montgomery_of_any_width<V: Quad, const N: usize>(
    token: V::Token,
    moduli: &Moduli<N>,
    a: &mut [Words],
    factor: Factor<'_>,
    working: &mut [Words],
) {
    match a.len() / N {
        3 => montgomery::<V, N, 3>(token, moduli, a, factor, working),
        4 => montgomery::<V, N, 4>(token, moduli, a, factor, working),
        5 => montgomery::<V, N, 5>(token, moduli, a, factor, working),
        _ => montgomery::<V, N, 0>(token, moduli, a, factor, working),
    }
}

/// a = a b / R mod n.
pub(super) struct Multiply<'a, const N: usize> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) a: &'a mut [Words],
    pub(super) b: &'a [Words],
    pub(super) working: &'a mut [Words],
}

impl<const N: usize> Work for Multiply<'_, N> {
    #[inline(always)]
    fn run<V: Quad>(self, token: V::Token) {
        montgomery_of_any_width::<V, N>(
            token,
            self.moduli,
            self.a,
            Factor::Other(self.b),
            self.working,
        );
    }
}

/// a = a^2 / R mod n, `times` times over.
pub(super) struct Square<'a, const N: usize> {
    pub(super) moduli: &'a Moduli<N>,
    pub(super) a: &'a mut [Words],
    pub(super) times: usize,
    pub(super) working: &'a mut [Words],
}

impl<const N: usize> Work for Square<'_, N> {
    #[inline(always)]
    fn run<V: Quad>(self, token: V::Token) {
        for _ in 0..self.times {
            montgomery_of_any_width::<V, N>(
                token,
                self.moduli,
                self.a,
                Factor::Itself,
                self.working,
            );
        }
    }
}

/// a = a + b, for N numbers each.
pub(super) struct Add<'a, const N: usize> {
    pub(super) a: &'a mut [Words],
    pub(super) b: &'a [Words],
}

impl<const N: usize> Work for Add<'_, N> {
    #[inline(always)]
    fn run<V: Quad>(self, token: V::Token) {
        let width = self.a.len() / N;
        for (a, b) in self
            .a
            .chunks_exact_mut(width)
            .zip(self.b.chunks_exact(width))
        {
            for (a, b) in a.iter_mut().zip(b) {
                V::load(token, a).add(V::load(token, b)).store(a);
            }
            carry_all::<V>(token, a);
        }
    }
}

/// Looks entry `digits[lane]` of the table up for each number: all entries pass by, under masks.
pub(super) struct Select<'a, const N: usize> {
    pub(super) table: &'a [Words],
    pub(super) digits: &'a [u8],
    pub(super) value: &'a mut [Words],
}

/// Quads that are looked up at once, in registers.
const STRIP: usize = 5;

impl<const N: usize> Work for Select<'_, N> {
    #[inline(always)]
    fn run<V: Quad>(self, token: V::Token) {
        let stride = self.value.len();
        let width = stride / N;
        for (lane, &wanted) in self.digits.iter().enumerate() {
            let lane = lane * width..(lane + 1) * width;
            let mut at = lane.start;
            while at < lane.end {
                let len = STRIP.min(lane.end - at);
                let mut picked = [V::splat(token, 0); STRIP];
                for (index, entry) in (0u64..).zip(self.table.chunks_exact(stride)) {
                    let is_wanted = (index ^ u64::from(wanted)).wrapping_sub(1).cast_signed() >> 63;
                    // Past this point the compiler cannot know that a mask is all or nothing.
                    let mask = V::splat(token, black_box(is_wanted).cast_unsigned());
                    let entry = &entry[at..][..len];
                    unroll!(i < STRIP => {
                        if i < len {
                            picked[i] = picked[i].or(V::load(token, &entry[i]).and(mask));
                        }
                    });
                }
                unroll!(i < STRIP => {
                    if i < len {
                        picked[i].store(&mut self.value[at + i]);
                    }
                });
                at += len;
            }
        }
    }
}
