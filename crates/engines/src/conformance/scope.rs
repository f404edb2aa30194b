//! How much of the suite is run.

use super::length::is_full;

/// How much of the suite is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Sizes of the modulus, with the number of random inputs to each operation that takes some.
    pub sizes: Vec<(usize, usize)>,
    /// Sizes of the modulus, with the number of keys and of prime pairs to be made.
    pub keys: Vec<(usize, usize)>,
    /// Threads of the random inputs; with 1, nothing is tried on several.
    pub threads: usize,
    /// One of the engine's variants, or none for its default.
    pub variant: Option<String>,
    /// Without blinding and without the check of the result; our own engine only.
    pub bare: bool,
}

impl Scope {
    /// The sizes at which all engines must agree.
    pub const BITS: [usize; 6] = [768, 1024, 2048, 3072, 4096, 6144];

    /// Everything: 1,000 random inputs at each size. Minutes, for a slow engine.
    pub fn full() -> Self {
        Scope {
            sizes: Self::BITS.map(|bits| (bits, 1000)).to_vec(),
            keys: vec![(768, 20), (1024, 20), (2048, 10), (3072, 2), (4096, 1)],
            threads: 2,
            variant: None,
            bare: false,
        }
    }

    /// [`Scope::full`] where the environment says `RSALAB_CONFORMANCE=full`, else [`Scope::quick`].
    ///
    /// # Panics
    /// If `RSALAB_CONFORMANCE` is neither `full` nor `quick` nor unset.
    pub fn of_the_environment() -> Self {
        match Self::is_full_asked_for() {
            true => Scope::full(),
            false => Scope::quick(),
        }
    }

    /// Returns whether the environment says `RSALAB_CONFORMANCE=full`.
    ///
    /// # Panics
    /// If `RSALAB_CONFORMANCE` is neither `full` nor `quick` nor unset.
    pub fn is_full_asked_for() -> bool {
        is_full()
    }

    /// Every size and every edge, but few inputs where they take long: seconds.
    pub fn quick() -> Self {
        let counts = [64, 32, 8, 3, 2, 1];
        Scope {
            sizes: Self::BITS.into_iter().zip(counts).collect(),
            keys: vec![(768, 3), (1024, 2)],
            ..Scope::full()
        }
    }
}
