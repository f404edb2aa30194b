//! Private operations under many keys of one size in one batch: each item has its own key.

use crate::batch;
use crate::declassify::declassify;
use crate::power::crt::CrtParts;
use crate::power::multi_key::{Keys, LaneGroup, SizedKey};
use crate::{CheckedPrivateKey, Error, Kernel, Status};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Private keys of one size, prepared to share the lanes of a kernel: with CRT, blinded, checked, in constant time as
/// [`PrivateContext`](crate::PrivateContext) is. Which key an item has is not a secret. Shared by any number of
/// threads; wiped on drop.
pub struct MultiKeyContext {
    kernel: Kernel,
    bits: usize,
    keys: Box<dyn Keys>,
}

/// One thread's lanes, working memory and blinding for a [`MultiKeyContext`]. Wiped on drop.
pub struct MultiKeyRunner<'keys> {
    len: usize,
    lanes: Box<dyn LaneGroup + 'keys>,
}

impl MultiKeyContext {
    /// Prepares keys, at least one.
    ///
    /// # Errors
    /// [`Error::MixedSizes`] unless all keys have equally many primes, and equally many bits in their moduli and in
    /// their longest primes.
    pub fn new(keys: &[&CheckedPrivateKey], kernel: Kernel) -> Result<Self, Error> {
        let prepared: Vec<_> = keys
            .iter()
            .map(|key| SizedKey {
                parts: CrtParts::new(&key.public().modulus(), key),
                e: key.public().exponent(),
            })
            .collect();
        let sizes = |key: &SizedKey| {
            let parts = &key.parts;
            (parts.modulus.bits(), parts.prime_bits(), parts.primes())
        };
        let Some(first) = prepared.first().map(sizes) else {
            return Err(Error::MixedSizes);
        };
        if prepared.iter().any(|key| sizes(key) != first) {
            return Err(Error::MixedSizes);
        }
        Ok(Self {
            kernel,
            bits: first.0,
            keys: kernel.multi_key(&prepared),
        })
    }

    /// Length of every n, in bits.
    pub fn modulus_bits(&self) -> usize {
        self.bits
    }

    /// Length of every n, and of each input and output, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// A runner for one thread.
    pub fn runner(&self) -> MultiKeyRunner<'_> {
        MultiKeyRunner {
            len: self.modulus_len(),
            lanes: self.keys.lanes(true),
        }
    }

    /// Says of each key, by its place, if it does what it is for: of a number that is raised to its d, and that to its
    /// e, the first must differ from the number, and the second be it. For keys that are new, and numbers that nobody
    /// else has seen: there is no blinding, which protects against inputs of others', and no result is given out.
    /// Otherwise in constant time.
    ///
    /// # Errors
    /// [`Error::Length`] unless there is one number of [`modulus_len`](Self::modulus_len) bytes for each key.
    pub fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let len = self.modulus_len();
        let mut outputs = Zeroizing::new(vec![0; inputs.len()]);
        let mut status = vec![Status::Done; passed.len()];
        let places: Vec<usize> = (0..self.keys.count()).collect();
        MultiKeyRunner {
            len,
            lanes: self.keys.lanes(false),
        }
        .apply(&places, inputs, &mut outputs, &mut status)?;
        let results = inputs.chunks_exact(len).zip(outputs.chunks_exact(len));
        for ((passed, status), (input, output)) in passed.iter_mut().zip(status).zip(results) {
            *passed = status == Status::Done && !declassify(input.ct_eq(output));
        }
        Ok(())
    }
}

impl MultiKeyRunner<'_> {
    /// Raises every input to the d of its own key: `keys` names, for each entry of `status`, the index of a key.
    /// Layout, statuses and promises are those of [`PrivateContext::apply`](crate::PrivateContext::apply).
    ///
    /// # Errors
    /// [`Error::Length`] if the buffers disagree, [`Error::OutOfRange`] if there is no such key, both before anything
    /// is written; [`Error::Randomness`]: the outputs are all zero then, and `status` means nothing.
    pub fn apply(
        &mut self,
        keys: &[usize],
        inputs: &[u8],
        outputs: &mut [u8],
        status: &mut [Status],
    ) -> Result<(), Error> {
        batch::check_layout(self.len, inputs, outputs, status)?;
        if keys.len() != status.len() {
            return Err(Error::Length {
                what: "keys",
                expected: status.len(),
                got: keys.len(),
            });
        }
        let step = self.lanes.begin(keys)?;
        let applied = keys
            .chunks(step)
            .zip(inputs.chunks(step * self.len))
            .zip(outputs.chunks_mut(step * self.len))
            .zip(status.chunks_mut(step))
            .try_for_each(|(((keys, inputs), outputs), status)| self.lanes.step(keys, inputs, outputs, status));
        if applied.is_err() {
            outputs.fill(0);
        }
        applied
    }
}
