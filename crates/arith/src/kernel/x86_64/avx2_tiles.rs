//! The tiles of [`mont47x2`](crate::kernel::mont47x2) with AVX2 and FMA: `build/tiles/` writes the code, a function for
//! each number of columns, which all lengths share.
//!
//! In assembly for the reason that rows of [`avx2fma`](super::avx2fma) are, and as whole tiles because the compiler
//! keeps the addresses of all tiles of an operation at once, and has no registers left for them: loops over rows alone
//! were a third slower on a Zen 3.
//!
//! # Time
//!
//! Straight lines and loops over public counts; no branch and no address depends on a digit, and none is in a general
//! register.

use super::avx2fma::HaveAvx2Fma;
use super::generated::tiles::{Constants, High, LARGEST_TILE, Start, Step, Tile};
use crate::kernel::doubles::Vector;
use crate::kernel::mont47::form::Form;
use crate::kernel::mont47x2::operand::{Carries, Factors, Multiplication, Pair};
use std::arch::naked_asm;
use std::ops::Range;

/// The constants of digits of so many bits.
const fn constants(width: i32) -> Constants<[f64; 4]> {
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

/// The least width of digits.
const NARROWEST: usize = 44;

static CONSTANTS: [Constants<[f64; 4]>; 4] = [constants(44), constants(45), constants(46), constants(47)];

/// # Safety
/// The CPU has AVX2 and FMA, and everything that the tile reaches is there.
type Code = unsafe extern "sysv64" fn(&Step<usize>, &Start<*mut u64>, &Constants<[f64; 4]>);

/// One of the files that the build has written.
macro_rules! code {
    ($name:expr) => {{
        /// # Safety
        /// As for [`Code`].
        #[unsafe(naked)]
        unsafe extern "sysv64" fn code(_: &Step<usize>, _: &Start<*mut u64>, _: &Constants<[f64; 4]>) {
            naked_asm!(include_str!(concat!(env!("OUT_DIR"), "/", $name, ".s")), options(raw))
        }
        code
    }};
}

fn code(tile: Tile) -> Code {
    include!(concat!(env!("OUT_DIR"), "/tiles.rs"))
}

/// The tiles that the columns of numbers of so many pairs are cut into.
struct Tiles {
    /// Below R, in ascending order.
    low: Vec<Range<usize>>,
    /// Above R, counted from the top. The last one has one more pair of columns below, of q n alone.
    high: Vec<Range<usize>>,
}

impl Tiles {
    fn new(pairs: usize) -> Self {
        let mut high = cut(pairs + 1);
        high.last_mut().expect("there are columns").end -= 1;
        Self { low: cut(pairs), high }
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

/// A tile and its code.
#[derive(Clone, Copy)]
struct Call {
    step: Step<usize>,
    code: Code,
}

/// The calls of a product, one after the other.
#[derive(Clone)]
struct Calls {
    low: Vec<Call>,
    high: Vec<Call>,
}

/// The calls that multiply numbers of one length.
#[derive(Clone)]
pub(crate) struct Plan {
    numbers: usize,
    form: Form,
    product: Calls,
    square: Calls,
}

impl Plan {
    /// For N numbers of a form with an even number of digits.
    pub(super) fn new<const N: usize>(form: Form) -> Self {
        let (pairs, is_joined) = (form.digits / 2, form.is_joined());
        let tiles = Tiles::new(pairs);
        let calls = |squares: bool| {
            let low = tiles.low.iter();
            let high = tiles.high.iter().rev();
            Calls {
                low: low.map(|columns| low_call::<N>(columns.clone(), squares)).collect(),
                high: high
                    .map(|columns| high_call::<N>(columns.clone(), pairs, squares, is_joined))
                    .collect(),
            }
        };
        Self {
            numbers: N,
            form,
            product: calls(false),
            square: calls(true),
        }
    }

    /// out = the product of the factors / R mod n.
    // Apart from the code that has numbers in registers: what goes to general registers here are pointers.
    #[inline(never)]
    pub(super) fn multiply<const N: usize>(&self, _: HaveAvx2Fma, multiplication: Multiplication<'_, N>) {
        let Multiplication {
            factors: Factors { a, b, twice },
            modulus,
            out,
            q,
            carries,
        } = multiplication;
        assert!(self.numbers == N && modulus.form == self.form);
        let pairs = self.form.digits / 2;
        assert!(b.len() == pairs && out.len() == pairs && q.len() == pairs);
        assert!(twice.is_none_or(|twice| twice.len() == pairs));
        for operand in [a, modulus.n, modulus.inverse] {
            assert!(operand.pairs.len() == pairs + 1);
            assert!(operand.moved.len() == (N - 1) * (pairs + 1));
        }
        let constants = &CONSTANTS[modulus.form.width - NARROWEST];
        let (out, q) = (out.as_mut_ptr().cast::<u64>(), q.as_mut_ptr().cast::<u64>());
        // What is read alone is never written through these.
        let vectors = |vectors: &[Vector<4>]| vectors.as_ptr().cast_mut().cast();
        let pairs_of = |pairs: &[Pair<N>]| pairs.as_ptr().cast_mut().cast();
        *carries = Carries::default();
        let [below, below_of_q, sum_below] = carries;
        let mut starts = Start {
            pairs: vectors(a.pairs),
            moved: vectors(a.moved),
            b: pairs_of(twice.unwrap_or(b)),
            plain: pairs_of(b),
            modulus_pairs: vectors(modulus.n.pairs),
            modulus_moved: vectors(modulus.n.moved),
            quotient: q,
            out,
            below: below.as_mut_ptr().cast(),
            sum_below: sum_below.as_mut_ptr().cast(),
            tau: out.wrapping_add(2 * N * (pairs - 1)),
        };
        let of_q = Start {
            pairs: vectors(modulus.inverse.pairs),
            moved: vectors(modulus.inverse.moved),
            b: out,
            out: q,
            below: below_of_q.as_mut_ptr().cast(),
            ..starts
        };
        let calls = if twice.is_some() { &self.square } else { &self.product };
        // SAFETY: the token proves the instructions. The plan's tiles reach all of these numbers and nothing else, and
        // their lengths were checked.
        unsafe {
            for Call { step, code } in &calls.low {
                code(step, &starts, constants);
            }
            for Call { step, code } in &self.product.low {
                code(step, &of_q, constants);
            }
            if modulus.form.is_joined() {
                starts.sum_below = starts.below;
            }
            for Call { step, code } in &calls.high {
                code(step, &starts, constants);
            }
        }
    }
}

const VECTOR: usize = size_of::<Vector<4>>();

fn low_call<const N: usize>(columns: Range<usize>, squares: bool) -> Call {
    let c = columns.start;
    let rows = if squares { c / 2 } else { c };
    Call {
        step: Step {
            pairs: VECTOR * c,
            plain: size_of::<Pair<N>>() * rows,
            rows,
            out: size_of::<Pair<N>>() * c,
            ..Step::default()
        },
        code: code(Tile {
            numbers: N,
            columns: columns.len(),
            squares,
            high: None,
        }),
    }
}

fn high_call<const N: usize>(columns: Range<usize>, pairs: usize, squares: bool, is_joined: bool) -> Call {
    let c = columns.start;
    let rows = if squares { c / 2 } else { c };
    let highest = size_of::<Pair<N>>() * (pairs - 1);
    Call {
        step: Step {
            pairs: VECTOR * (pairs - c),
            b: highest,
            plain: highest - size_of::<Pair<N>>() * rows,
            rows,
            modulus_pairs: VECTOR * (pairs - c),
            quotient: highest,
            quotient_rows: c,
            out: size_of::<Pair<N>>() * (pairs - columns.end),
        },
        code: code(Tile {
            numbers: N,
            columns: columns.len(),
            squares,
            high: Some(High {
                is_lowest: columns.end == pairs,
                is_joined,
            }),
        }),
    }
}
