//! Factors that moduli share, of all of them at once.

use std::convert::Infallible;

use crate::subset::{Product, Subset};

/// For each modulus (big-endian bytes) what it shares with the product of all others: `None` where that is 1, the
/// modulus itself where another one is equal or both its primes are elsewhere. Moduli of 0 and 1 are left out.
///
/// Runs on up to `threads` threads; `progress` is called on this one, with the share of the work that is done. Takes
/// about 12 times the memory of all moduli for each doubling of their number, and variable time: moduli are public.
/// [`Subset`] takes less.
pub fn shared_factors<M: AsRef<[u8]>>(
    moduli: &[M],
    threads: usize,
    progress: &mut dyn FnMut(f64),
) -> Vec<Option<Vec<u8>>> {
    let subset = Subset::grow(moduli, threads, Vec::new(), &mut |share| progress(GROWING * share));
    let found = subset.and_then(|subset| {
        let others: [Result<Product, Infallible>; 0] = [];
        subset.shared_factors(others, &mut |share| progress(GROWING + (1.0 - GROWING) * share))
    });
    match found {
        Ok(found) => found,
        Err(never) => match never {},
    }
}

/// The part of the time that a tree takes to grow.
const GROWING: f64 = 0.45;
