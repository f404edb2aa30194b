//! Random bits, as the library asks for them.

use std::{
    ffi::{c_int, c_void},
    slice,
};

use rand_core::Rng;
use rsalab_engines::EngineError;
use rsalab_rsa::random::WorkerRng;

use super::ffi::{BitSupplier, Status};

/// A generator that the library calls back. The library's own (`ippsPRNGenRDRAND`) is not on every CPU; this one takes
/// no time compared with a primality test.
pub(crate) struct Supplier {
    random: WorkerRng,
    /// `true` if the highest bit but one is set as well, so that a product of two primes has all its bits.
    two_highest: bool,
}

impl Supplier {
    /// The function that the library calls with [`Supplier::parameter`].
    pub(crate) const CALLBACK: BitSupplier = supply;

    /// With a key of the system's.
    pub(crate) fn new(two_highest: bool) -> Result<Self, EngineError> {
        let random = WorkerRng::from_system();
        Ok(Self {
            random: random.map_err(|error| EngineError::library("the system's generator", error))?,
            two_highest,
        })
    }

    pub(crate) fn parameter(&mut self) -> *mut c_void {
        (self as *mut Self).cast()
    }

    /// Fills the lowest `bits` of the words, and the rest with zeros.
    fn fill(&mut self, words: &mut [u32], bits: usize) {
        for word in words.iter_mut() {
            *word = self.random.next_u32();
        }
        if let Some(highest) = words.last_mut()
            && !bits.is_multiple_of(32)
        {
            *highest &= (1 << (bits % 32)) - 1;
        }
        if self.two_highest
            && let Some(second) = bits.checked_sub(2)
        {
            words[second / 32] |= 1 << (second % 32);
        }
    }
}

unsafe extern "C" fn supply(words: *mut u32, bits: c_int, parameter: *mut c_void) -> Status {
    let bits = usize::try_from(bits).unwrap_or(0);
    if bits == 0 {
        return 0;
    }
    // SAFETY: the library hands on the parameter of the call that it serves, which is an exclusively borrowed supplier,
    // and words for as many bits as it asks for.
    unsafe {
        let words = slice::from_raw_parts_mut(words, bits.div_ceil(32));
        (*parameter.cast::<Supplier>()).fill(words, bits);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_bits_are_filled_than_asked_for() {
        for two_highest in [false, true] {
            let mut supplier = Supplier::new(two_highest).unwrap();
            for bits in [1, 2, 31, 32, 33, 64, 100] {
                let mut any = vec![0; usize::div_ceil(bits, 32)];
                for _ in 0..200 {
                    let mut words = vec![u32::MAX; any.len()];
                    supplier.fill(&mut words, bits);
                    if two_highest && bits > 1 {
                        assert!(words[(bits - 2) / 32] >> ((bits - 2) % 32) & 1 == 1);
                    }
                    any.iter_mut().zip(&words).for_each(|(any, word)| *any |= word);
                }
                // Each bit was set once, but for a chance of 2^-193.
                let ones: u32 = any.iter().map(|word| word.count_ones()).sum();
                assert_eq!(ones as usize, bits);
            }
        }
    }
}
