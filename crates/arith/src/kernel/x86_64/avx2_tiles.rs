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
use super::generated::tiles::{Constants, High, Start, Step, Tile};
use super::tile_plan::{Tiles, constants, tiles};
use crate::kernel::doubles::Vector;
use crate::kernel::mont47::form::Form;
use crate::kernel::mont47x2::operand::{Carries, Factors, Multiplication, Pair};
use std::arch::naked_asm;

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
        let calls = |squares: bool| {
            let Tiles { low, high } = tiles(N, form.digits / 2, squares, form.is_joined());
            let calls = |tiles: Vec<(Tile, Step<usize>)>| {
                let calls = tiles.into_iter().map(|(tile, step)| Call { step, code: code(tile) });
                calls.collect()
            };
            Calls {
                low: calls(low),
                high: calls(high),
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
