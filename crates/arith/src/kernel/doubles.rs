//! Several doubles worked on at once: the type the kernels on vectors of doubles are written over.
//!
//! It has a portable form ([`Portable`], arrays and a correctly rounded fused multiply-add, for every machine, for
//! valgrind and for tests) and one for each instruction set. As with [`Lanes`](super::lanes::Lanes), a kernel's body is
//! generic and `#[inline(always)]`, and [`Doubles::run`] compiles it with the instructions that the form needs.

use std::hint::black_box;

/// The lanes of a vector in memory: the bits of one double each.
pub(crate) type Vector<const N: usize> = [u64; N];

/// N doubles. A value can only be made with a [`Token`](Self::Token), so having one proves that this CPU can work on
/// it.
///
/// All arithmetic rounds to nearest, ties to even, which is how every thread starts; a result is rounded once.
pub(crate) trait Doubles<const N: usize>: Copy + Send + Sync + 'static {
    /// `true` if the shortest numbers have code of their own, with loops of constant lengths: where rows are in
    /// assembly it gains a tenth, and where they are the compiler's it loses as much.
    const HAS_SHORT: bool = false;
    /// The proof that this CPU has the instructions.
    type Token: Copy + Send + Sync + 'static;
    /// One truth value a lane: all bits of it are set, or none. The compiler does not know that.
    type Mask: Copy;

    /// Does `work` compiled for this form.
    fn run<W: Work<N>>(token: Self::Token, work: W);
    /// The doubles of memory.
    fn load(token: Self::Token, vector: &Vector<N>) -> Self;
    /// One double, in every lane.
    fn splat(token: Self::Token, x: f64) -> Self;
    /// To memory.
    fn store(self, vector: &mut Vector<N>);
    /// self + b.
    fn add(self, b: Self) -> Self;
    /// self - b.
    fn sub(self, b: Self) -> Self;
    /// self b.
    fn mul(self, b: Self) -> Self;
    /// self a + b, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// Columns `from`.. += x times one digit each, of which `y` has as many: the digits in ascending order, or where
    /// REVERSED in descending order.
    #[inline(always)]
    fn add_row<const C: usize, const REVERSED: bool>(
        token: Self::Token,
        columns: &mut Columns<Self, C>,
        from: usize,
        x: Self,
        y: &[Vector<N>],
    ) {
        let y = &y[..C - from];
        unroll!(i < C => {
            if from + i < C {
                let digit = Self::load(token, &y[if REVERSED { y.len() - 1 - i } else { i }]);
                columns.add_product(from + i, x, digit);
            }
        });
    }
    /// A mask of the lanes in which self and b are equal.
    fn equal(self, b: Self) -> Self::Mask;
    /// `b` where the mask is true, `self` elsewhere; both are read whole.
    fn merge(self, b: Self, mask: Self::Mask) -> Self;
}

/// Expands a block once for each number 0..8 below the bound, with the number a constant: an array of registers must be
/// indexed by constants only.
macro_rules! unroll {
    ($i:ident < $bound:expr => $body:block) => {
        unroll!(@ $i, $bound, $body, 0 1 2 3 4 5 6 7)
    };
    (@ $i:ident, $bound:expr, $body:block, $($number:literal)*) => {
        $(if $number < $bound {
            let $i: usize = $number;
            $body
        })*
    };
}
pub(crate) use unroll;

/// Does a block with `$c` as a constant that has the value of `$value`, which is below `$bound` and 8; for 0 only if
/// that is asked for.
///
/// The compiler is kept from making a table of it: a test reads the machine code, and where a table's jumps go is not
/// written there.
macro_rules! with_constant {
    ($value:expr, $bound:expr, $($zero:literal or)? $c:ident => $body:block) => {{
        let value: usize = $value;
        match value {
            0..=2 => with_constant!(@ value, $bound, $c, $body, $($zero)? 1 2),
            3..=5 => with_constant!(@ std::hint::black_box(value), $bound, $c, $body, 3 4 5),
            _ => with_constant!(@ std::hint::black_box(value), $bound, $c, $body, 6 7),
        }
    }};
    (@ $value:expr, $bound:expr, $c:ident, $body:block, $($number:literal)*) => {
        match $value {
            $($number if $number < $bound => {
                const $c: usize = $number;
                $body
            })*
            _ => {}
        }
    };
}
pub(crate) use with_constant;

/// C columns: each is the sum of its two parts less the origin.
#[derive(Clone, Copy)]
pub(crate) struct Columns<V, const C: usize> {
    /// Multiples of 2^W, on top of the origin.
    pub(crate) high: [V; C],
    /// The sums' low parts, the multiples of 2^W left out.
    pub(crate) low: [V; C],
}

impl<V, const C: usize> Columns<V, C> {
    /// Column k += a b.
    #[inline(always)]
    pub(crate) fn add_product<const N: usize>(&mut self, k: usize, a: V, b: V)
    where
        V: Doubles<N>,
    {
        let before = self.high[k];
        let high = a.mul_add(b, before);
        self.high[k] = high;
        self.low[k] = self.low[k].add(a.mul_add(b, before.sub(high)));
    }
}

/// Something to do over any form of N lanes.
pub(crate) trait Work<const N: usize> {
    /// Does it. Implementations are `#[inline(always)]`.
    fn run<V: Doubles<N>>(self, token: V::Token);
}

/// The form every machine has. Where the CPU has no fused multiply-add, its speed is that of a function of the C
/// library, and no promise about time is made for it. It is for tests: its operations are called, since the crate takes
/// longer to compile where they are inlined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Portable<const N: usize>([f64; N]);

impl<const N: usize> Portable<N> {
    #[inline(always)]
    fn zip(self, b: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        Self(std::array::from_fn(|lane| f(self.0[lane], b.0[lane])))
    }
}

impl<const N: usize> Doubles<N> for Portable<N> {
    type Token = ();
    type Mask = Vector<N>;

    fn run<W: Work<N>>((): (), work: W) {
        work.run::<Self>(());
    }

    #[inline(always)]
    fn load((): (), vector: &Vector<N>) -> Self {
        Self(vector.map(f64::from_bits))
    }

    #[inline(always)]
    fn splat((): (), x: f64) -> Self {
        Self([x; N])
    }

    #[inline(always)]
    fn store(self, vector: &mut Vector<N>) {
        *vector = self.0.map(f64::to_bits);
    }

    #[inline(never)]
    fn add(self, b: Self) -> Self {
        self.zip(b, |a, b| a + b)
    }

    #[inline(never)]
    fn sub(self, b: Self) -> Self {
        self.zip(b, |a, b| a - b)
    }

    #[inline(never)]
    fn mul(self, b: Self) -> Self {
        self.zip(b, |a, b| a * b)
    }

    #[inline(never)]
    fn mul_add(self, a: Self, b: Self) -> Self {
        Self(std::array::from_fn(|lane| self.0[lane].mul_add(a.0[lane], b.0[lane])))
    }

    #[inline(never)]
    fn equal(self, b: Self) -> Vector<N> {
        // Of a number that is not zero, it or its negative has the top bit set. Only numbers that are equal bit by bit
        // are compared.
        let mask = std::array::from_fn(|lane| {
            let other = self.0[lane].to_bits() ^ b.0[lane].to_bits();
            ((other | other.wrapping_neg()) >> 63).wrapping_sub(1)
        });
        // A compiler that knows a mask to be all or nothing makes a branch of it.
        black_box(mask)
    }

    #[inline(never)]
    fn merge(self, b: Self, mask: Vector<N>) -> Self {
        Self(std::array::from_fn(|lane| {
            let (old, new) = (self.0[lane].to_bits(), b.0[lane].to_bits());
            f64::from_bits(old ^ (old ^ new) & mask[lane])
        }))
    }
}
