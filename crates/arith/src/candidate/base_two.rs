//! A first test of candidates, which hardly any composite passes and which costs squarings alone: is 2^((w-1)/2) = ±1
//! mod w?

use super::power_of_two::PowerOfTwo;
use super::tester::Tester;
use crate::limbs::{Nat, words};
use crate::{Error, Kernel};

/// The test of batches of candidates of one length, with all its working memory, which is wiped on drop.
pub struct PreTester {
    len: usize,
    bits: usize,
    test: Test,
    candidate: Nat,
}

enum Test {
    Two(Box<dyn PowerOfTwo>),
    /// For lengths that leave no room to double in.
    Strong(Tester),
}

impl PreTester {
    /// For candidates of exactly `bits` bits, at least 64.
    pub fn new(kernel: Kernel, bits: usize) -> Self {
        let candidate = Nat::zero(bits.div_ceil(64).max(1));
        let len = bits.div_ceil(8);
        Self {
            len,
            bits,
            test: match kernel.power_of_two(candidate.len(), bits) {
                Some(test) => Test::Two(test),
                None => Test::Strong(Tester::new(kernel, len)),
            },
            candidate,
        }
    }

    /// Candidates that are tested at once; batches of a multiple of it are the fastest.
    pub fn lanes(&self) -> usize {
        match &self.test {
            Test::Two(test) => test.lanes(),
            Test::Strong(test) => test.kernel().lanes(),
        }
    }

    /// Says of each candidate w, big-endian, if it passes. Every odd prime does, for there 2^((w-1)/2) is the Legendre
    /// symbol (Euler's criterion). The base is no secret and not random: passing is no round of the Miller–Rabin test.
    ///
    /// Time depends on lengths and on the verdicts, on nothing else about the candidates.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::OutOfRange`] unless every candidate is odd and of the tester's length in bits.
    /// `passed` is untouched then.
    pub fn test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let expected = passed.len() * self.len;
        if candidates.len() != expected {
            return Err(Error::Length {
                what: "candidates",
                expected,
                got: candidates.len(),
            });
        }
        for w in candidates.chunks_exact(self.len) {
            words::read_be(&mut self.candidate, w);
            if self.candidate[0] & 1 == 0 || words::bits_vartime(&self.candidate) != self.bits {
                return Err(Error::OutOfRange {
                    what: "a candidate, which must be odd and of the length asked for,",
                });
            }
        }
        let test = match &mut self.test {
            Test::Two(test) => test,
            Test::Strong(tester) => {
                let mut two = vec![0; self.len];
                two[self.len - 1] = 2;
                return tester.round(candidates, &two.repeat(passed.len()), passed);
            }
        };
        let lanes = test.lanes();
        for (w, passed) in candidates.chunks(lanes * self.len).zip(passed.chunks_mut(lanes)) {
            for lane in 0..lanes {
                // Idle lanes repeat the last candidate.
                let at = self.len * lane.min(passed.len() - 1);
                words::read_be(&mut self.candidate, &w[at..at + self.len]);
                test.load(lane, &self.candidate);
            }
            test.test(passed);
        }
        Ok(())
    }
}
