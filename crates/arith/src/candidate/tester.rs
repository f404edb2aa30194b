//! Rounds of the Miller–Rabin test, one candidate in each lane.

use super::rounds::StrongTest;
use crate::declassify::declassify;
use crate::limbs::{Nat, words};
use crate::{Error, Kernel};
use subtle::Choice;

/// Rounds of the strong probable-prime (Miller–Rabin) test on batches of candidates of one length, with all their
/// working memory, which is wiped on drop.
pub struct Tester {
    kernel: Kernel,
    len: usize,
    test: Box<dyn StrongTest>,
    candidate: Nat,
    base: Nat,
}

impl Tester {
    /// For candidates of `len` bytes.
    pub fn new(kernel: Kernel, len: usize) -> Self {
        let zero = Nat::zero(len.div_ceil(8).max(1));
        Self {
            kernel,
            len,
            test: kernel.strong_test(zero.len()),
            candidate: zero.clone(),
            base: zero,
        }
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// One round for each candidate w with its own base b (FIPS 186-5, B.3.1, steps 4.3 to 4.7): `passed` says whether
    /// w is a strong probable prime to base b.
    ///
    /// `candidates` and `bases` hold one big-endian number of the tester's length for each entry of `passed`.
    /// Candidates of a batch may differ in bit length; bit lengths are not secret.
    ///
    /// Time depends on lengths, on the verdicts, and where 2^18 divides w - 1 (one candidate in 2^17) on that power of
    /// two; on nothing else about candidates and bases.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::OutOfRange`] unless every candidate is odd and above 4 and every base has
    /// 1 < b < w - 1. `passed` is untouched then.
    pub fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let expected = passed.len() * self.len;
        for (what, got) in [("candidates", candidates.len()), ("bases", bases.len())] {
            if got != expected {
                return Err(Error::Length { what, expected, got });
            }
        }
        let stride = self.len.max(1);
        for (w, b) in candidates.chunks_exact(stride).zip(bases.chunks_exact(stride)) {
            self.check_range(w, b)?;
        }
        let lanes = self.test.lanes();
        for ((w, b), passed) in candidates
            .chunks(lanes * stride)
            .zip(bases.chunks(lanes * stride))
            .zip(passed.chunks_mut(lanes))
        {
            for lane in 0..lanes {
                // Idle lanes repeat the last candidate.
                let at = stride * lane.min(passed.len() - 1);
                words::read_be(&mut self.candidate, &w[at..at + stride]);
                words::read_be(&mut self.base, &b[at..at + stride]);
                self.test.load(lane, &self.candidate, &self.base);
            }
            self.test.round(passed);
        }
        Ok(())
    }

    fn check_range(&mut self, w: &[u8], b: &[u8]) -> Result<(), Error> {
        words::read_be(&mut self.candidate, w);
        words::read_be(&mut self.base, b);
        let (w, b) = (&mut self.candidate, &self.base);
        let small = words::is_word(w, 1) | words::is_word(w, 3);
        if declassify(small | Choice::from(!w[0] as u8 & 1)) {
            return Err(Error::OutOfRange {
                what: "a candidate, which must be odd and above 4,",
            });
        }
        // w is odd: this is w - 1.
        w[0] &= !1;
        let low = words::is_word(b, 0) | words::is_word(b, 1);
        if declassify(low | !words::is_less(b, w)) {
            return Err(Error::OutOfRange {
                what: "a base, which must be above 1 and below its candidate less 1,",
            });
        }
        Ok(())
    }
}
