//! The product of many numbers mod n, on public data.
//!
//! ```text
//! each lane: a = 1; for each of its numbers b: a = a b / R
//! then:      the lanes' products multiplied together, a division by R each, and times R^(divisions)
//! ```
//!
//! Numbers that differ in their last bytes alone, such as encodings of digests, are made digits of once, and after that
//! their ends. A lane that has no number for a step takes R mod n, which changes nothing. So N numbers cost N / lanes
//! multiplications of a vector, and some 2 log2 N more for the power of R.

use crate::kernel::LaneKernel;
use crate::limbs::Modulus;

/// The product of numbers mod n, whatever the kernel.
pub(crate) trait Product: Send + Sync {
    /// Numbers that one call of [`take`](Self::take) takes.
    fn items(&self) -> usize;
    /// Words of the state, which is memory of one thread.
    fn state_words(&self) -> usize;
    /// Sets the state for no numbers.
    fn begin(&self, state: &mut [u64]);
    /// Takes big-endian numbers below the modulus, at most [`items`](Self::items).
    fn take(&self, numbers: &[&[u8]], state: &mut [u64]);
    /// Makes ready for numbers that differ from this one in their last bytes alone.
    fn begin_alike(&self, number: &[u8], state: &mut [u64]);
    /// Takes numbers below the modulus of which [`begin_alike`](Self::begin_alike) had one, at most
    /// [`items`](Self::items), and after fewer than that no more: the end of `number` is overwritten with that of each.
    /// Endings have one length.
    fn take_endings(&self, number: &mut [u8], endings: &[&[u8]], state: &mut [u64]);
    /// Writes the product, below the modulus, of the `count` numbers that were taken.
    fn finish(&self, count: u64, state: &mut [u64], product: &mut [u64]);
}

/// A product with one kernel, n the same in every lane.
pub(crate) struct LaneProduct<K: LaneKernel> {
    kernel: K,
    moduli: K::Moduli,
    /// R mod n in every lane.
    one: Vec<u64>,
    limbs: usize,
}

impl<K: LaneKernel> LaneProduct<K> {
    pub(crate) fn new(kernel: K, modulus: &Modulus) -> Self {
        let moduli = kernel.prepare(&vec![modulus; K::LANES]);
        let mut one = vec![0; K::words(modulus.limbs())];
        kernel.one(&moduli, &mut one);
        Self {
            kernel,
            moduli,
            one,
            limbs: modulus.limbs(),
        }
    }

    /// The parts of a state: the product, a factor, working memory.
    fn parts<'a>(&self, state: &'a mut [u64]) -> [&'a mut [u64]; 3] {
        let words = K::words(self.limbs);
        let (product, rest) = state.split_at_mut(words);
        let (factor, working) = rest.split_at_mut(words);
        [product, factor, working]
    }
}

impl<K: LaneKernel> Product for LaneProduct<K> {
    fn items(&self) -> usize {
        K::LANES
    }

    fn state_words(&self) -> usize {
        2 * K::words(self.limbs) + K::working_words(self.limbs).max(self.limbs)
    }

    fn begin(&self, state: &mut [u64]) {
        let [product, ..] = self.parts(state);
        product.fill(0);
        for lane in 0..K::LANES {
            self.kernel.load(&self.moduli, lane, &[1], product);
        }
    }

    fn take(&self, numbers: &[&[u8]], state: &mut [u64]) {
        let [product, factor, working] = self.parts(state);
        if numbers.len() < K::LANES {
            factor.copy_from_slice(&self.one);
        }
        for (lane, number) in numbers.iter().enumerate() {
            let limbs = &mut working[..self.limbs];
            self.kernel.load_bytes(&self.moduli, lane, number, limbs, factor);
        }
        self.kernel.mul(&self.moduli, product, factor, working);
    }

    fn begin_alike(&self, number: &[u8], state: &mut [u64]) {
        let [_, factor, working] = self.parts(state);
        for lane in 0..K::LANES {
            let limbs = &mut working[..self.limbs];
            self.kernel.load_bytes(&self.moduli, lane, number, limbs, factor);
        }
    }

    fn take_endings(&self, number: &mut [u8], endings: &[&[u8]], state: &mut [u64]) {
        let [product, factor, working] = self.parts(state);
        let are_all = endings.len() == K::LANES;
        if !are_all {
            factor.copy_from_slice(&self.one);
        }
        for (lane, ending) in endings.iter().enumerate() {
            let (limbs, len) = (&mut working[..self.limbs], ending.len());
            let at = number.len() - len;
            overwrite(&mut number[at..], ending);
            match are_all {
                true => self.kernel.load_ending(&self.moduli, lane, number, len, limbs, factor),
                false => self.kernel.load_bytes(&self.moduli, lane, number, limbs, factor),
            }
        }
        self.kernel.mul(&self.moduli, product, factor, working);
    }

    fn finish(&self, count: u64, state: &mut [u64], to: &mut [u64]) {
        let [product, factor, working] = self.parts(state);
        for lane in 1..K::LANES {
            factor.copy_from_slice(&self.one);
            self.kernel.copy_lane(factor, 0, product, lane);
            self.kernel.mul(&self.moduli, product, factor, working);
        }
        // Divisions by R so far, and the one by which the power of R is multiplied.
        let divisions = count + K::LANES as u64;
        // w(i) = R^(i + 1): a product of two of them is w(i + j), and w(0) is `one`.
        let mut step = self.one.clone();
        self.kernel.enter(&self.moduli, &mut step, working);
        factor.copy_from_slice(&self.one);
        for bit in (0..u64::BITS - (divisions - 1).leading_zeros()).rev() {
            self.kernel.sqr(&self.moduli, factor, 1, working);
            if (divisions - 1) >> bit & 1 == 1 {
                self.kernel.mul(&self.moduli, factor, &step, working);
            }
        }
        self.kernel.mul(&self.moduli, product, factor, working);
        self.kernel.store(&self.moduli, 0, product, to);
    }
}

/// Copies an ending, mostly a digest of SHA-256, whose length the compiler is told then.
#[inline]
fn overwrite(end: &mut [u8], ending: &[u8]) {
    match (<&mut [u8; 32]>::try_from(&mut *end), <&[u8; 32]>::try_from(ending)) {
        (Ok(end), Ok(ending)) => *end = *ending,
        _ => end.copy_from_slice(ending),
    }
}
