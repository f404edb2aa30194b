//! Libraries that multiply.

use std::{error::Error, ffi::c_int};

use dashu_int::UBig;
use gmp_mpfr_sys::gmp;
use libloading::Library as Loaded;

/// Writes a product to as many limbs as both factors have.
type Multiply<'a> = Box<dyn FnMut(&mut [u64]) + 'a>;

/// Something that multiplies two numbers of as many limbs, once or more often.
pub(crate) struct Library<'a> {
    pub(crate) name: &'static str,
    pub(crate) multiply: Multiply<'a>,
    /// Rounds that it takes part in: the slowest one is not in all of them, and in none of the longest.
    pub(crate) rounds: usize,
}

/// GMP, dashu, and FLINT where it was loaded: to multiply these numbers, in so many rounds.
pub(crate) fn libraries<'a>(a: &'a [u64], b: &'a [u64], rounds: usize, flint: Option<&'a Flint>) -> Vec<Library<'a>> {
    assert_eq!(a.len(), b.len(), "numbers of one length");
    let limbs = a.len() as i64;
    let (first, second) = (UBig::from_words(a), UBig::from_words(b));
    let mut all = vec![
        Library {
            name: "GMP",
            multiply: Box::new(move |out| {
                assert_eq!(out.len(), 2 * a.len());
                // SAFETY: both factors have as many limbs as is said, the result has room for those of both.
                unsafe { gmp::mpn_mul(out.as_mut_ptr(), a.as_ptr(), limbs, b.as_ptr(), limbs) };
            }),
            rounds,
        },
        Library {
            name: "dashu",
            multiply: Box::new(move |out| {
                let product = &first * &second;
                let (low, high) = out.split_at_mut(product.as_words().len());
                low.copy_from_slice(product.as_words());
                high.fill(0);
            }),
            rounds: rounds.min((1 << 26) / a.len() / 8),
        },
    ];
    all.extend(flint.map(|flint| Library {
        name: "FLINT",
        multiply: Box::new(move |out| flint.multiply(a, b, out)),
        rounds,
    }));
    all
}

/// FLINT's products by transforms in doubles (`fft_small`), from a shared library.
pub(crate) struct Flint {
    multiply: unsafe extern "C" fn(*mut u64, *const u64, i64, *const u64, i64),
    /// Kept as long as its function is.
    _library: Loaded,
}

impl Flint {
    /// Loads the library, and has it use so many threads.
    pub(crate) fn load(path: &str, threads: usize) -> Result<Flint, Box<dyn Error>> {
        // SAFETY: FLINT has no initialiser that asks for anything.
        let library = unsafe { Loaded::new(path) }?;
        // SAFETY: these are FLINT's functions, of these types since 3.0. The second is only there where `fft_small` is.
        let multiply = unsafe {
            let set_threads = library.get::<unsafe extern "C" fn(c_int)>(b"flint_set_num_threads")?;
            set_threads(c_int::try_from(threads)?);
            *library.get(b"mpn_mul_default_mpn_ctx").map_err(
                |_| "this FLINT was built without its module fft_small: CFLAGS='-O3 -march=x86-64-v3' has it",
            )?
        };
        Ok(Flint {
            multiply,
            _library: library,
        })
    }

    fn multiply(&self, a: &[u64], b: &[u64], out: &mut [u64]) {
        assert!(!b.is_empty() && a.len() >= b.len() && out.len() == a.len() + b.len());
        // SAFETY: the factors have as many limbs as is said, the result has room for those of both.
        unsafe { (self.multiply)(out.as_mut_ptr(), a.as_ptr(), a.len() as i64, b.as_ptr(), b.len() as i64) };
    }
}
