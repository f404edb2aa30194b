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
use crate::kernel::doubles::Vector;
use crate::kernel::mont47::form::Form;
use crate::kernel::mont47x2::operand::{Carries, Factors, Multiplication, Pair};
use std::arch::naked_asm;
use std::ops::Range;

/// What the first column of a tile takes in the first row, in bytes from where it starts; and rows.
#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Step {
    pairs: usize,
    b: usize,
    /// The first factor itself in a square, where b is its double: the pair of the first row that does not reach all
    /// columns.
    plain: usize,
    /// Rows that reach all columns.
    rows: usize,
    modulus_pairs: usize,
    quotient: usize,
    quotient_rows: usize,
    /// The lowest pair of the tile.
    out: usize,
}

/// Where everything starts.
#[repr(C)]
struct Starts {
    pairs: *const Vector<4>,
    moved: *const Vector<4>,
    b: *const u64,
    plain: *const u64,
    modulus_pairs: *const Vector<4>,
    modulus_moved: *const Vector<4>,
    quotient: *const u64,
    out: *mut u64,
    below: *mut Below,
    sum_below: *mut Below,
    tau: *const u64,
}

/// What a pair of columns leaves for the one above: the high parts, multiples of 2^W, and what was carried.
type Below = [Vector<4>; 2];

/// What the code finds in memory, in vectors.
#[repr(C, align(32))]
struct Constants([[f64; 4]; 10]);

impl Constants {
    const fn new(width: i32) -> Self {
        const fn power(exponent: i32) -> f64 {
            f64::from_bits(((1023 + exponent) as u64) << 52)
        }
        Self([
            [1.5 * power(width + 52); 4],
            [power(-width); 4],
            [-power(width); 4],
            [1.5 * power(52); 4],
            [1.0, 2.0, 1.0, 2.0],
            [1.0, 2.0, 0.0, 0.0],
            [2.0, 2.0, 1.0, 2.0],
            [1.0, 0.0, 1.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [1.0, 0.0, 2.0, 2.0],
        ])
    }

    fn of(form: Form) -> &'static Self {
        &CONSTANTS[form.width - NARROWEST]
    }
}

/// The least width of digits.
const NARROWEST: usize = 44;

static CONSTANTS: [Constants; 4] = [
    Constants::new(44),
    Constants::new(45),
    Constants::new(46),
    Constants::new(47),
];

/// # Safety
/// The CPU has AVX2 and FMA, and everything that the tile reaches is there.
type Code = unsafe extern "sysv64" fn(&Step, &Starts, &Constants);

/// Which function.
#[derive(Clone, Copy)]
struct Tile {
    numbers: usize,
    columns: usize,
    squares: bool,
    high: Option<High>,
}

#[derive(Clone, Copy)]
struct High {
    is_lowest: bool,
    is_joined: bool,
}

/// One of the files that the build has written.
macro_rules! code {
    ($name:expr) => {{
        /// # Safety
        /// That of [`Code`].
        #[unsafe(naked)]
        unsafe extern "sysv64" fn code(_: &Step, _: &Starts, _: &Constants) {
            naked_asm!(include_str!(concat!(env!("OUT_DIR"), "/", $name, ".s")), options(raw))
        }
        code
    }};
}

fn code(tile: Tile) -> Code {
    include!(concat!(env!("OUT_DIR"), "/tiles.rs"))
}

/// Pairs of columns in the largest tile.
const LARGEST_TILE: usize = 6;

/// How the columns of numbers of so many pairs are cut into tiles.
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
    step: Step,
    code: Code,
}

/// What is called for a product, one after the other.
#[derive(Clone)]
struct Calls {
    low: Vec<Call>,
    high: Vec<Call>,
}

/// How numbers of one length are multiplied.
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
        let constants = Constants::of(modulus.form);
        let (out, q) = (out.as_mut_ptr().cast::<u64>(), q.as_mut_ptr().cast::<u64>());
        *carries = Carries::default();
        let [below, below_of_q, sum_below] = carries;
        let mut starts = Starts {
            pairs: a.pairs.as_ptr(),
            moved: a.moved.as_ptr(),
            b: twice.unwrap_or(b).as_ptr().cast(),
            plain: b.as_ptr().cast(),
            modulus_pairs: modulus.n.pairs.as_ptr(),
            modulus_moved: modulus.n.moved.as_ptr(),
            quotient: q,
            out,
            below,
            sum_below,
            tau: out.wrapping_add(2 * N * (pairs - 1)),
        };
        let of_q = Starts {
            pairs: modulus.inverse.pairs.as_ptr(),
            moved: modulus.inverse.moved.as_ptr(),
            b: out,
            out: q,
            below: below_of_q,
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
