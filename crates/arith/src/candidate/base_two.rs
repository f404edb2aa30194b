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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels;
    use crate::model::any_modulus;
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};
    use std::cell::RefCell;

    fn bytes(n: &BigUint, len: usize) -> Vec<u8> {
        let digits = n.to_bytes_be();
        [vec![0; len - digits.len()], digits].concat()
    }

    /// Lengths with and without room to double, one block and several, full limbs and not.
    const BITS: [usize; 13] = [64, 127, 250, 256, 257, 384, 508, 512, 521, 768, 1024, 1030, 1536];

    #[test]
    fn candidates_of_any_kind_agree_with_the_model() {
        for kernel in kernels().iter().filter(|k| k.available.is_ok()) {
            let kernel = Kernel::named(kernel.name).unwrap();
            for bits in BITS {
                let tester = RefCell::new(PreTester::new(kernel, bits));
                let mut runner = TestRunner::new(Config {
                    cases: 2,
                    failure_persistence: None,
                    ..Config::default()
                });
                let batch = prop::collection::vec(any_modulus(bits), 1..20);
                runner
                    .run(&batch, |candidates| {
                        let len = bits.div_ceil(8);
                        let all: Vec<u8> = candidates.iter().flat_map(|w| bytes(w, len)).collect();
                        let mut passed = vec![false; candidates.len()];
                        tester.borrow_mut().test(&all, &mut passed).unwrap();
                        for (w, passed) in candidates.iter().zip(passed) {
                            let power = BigUint::from(2u8).modpow(&(w >> 1), w);
                            let passes = power == BigUint::from(1u8) || &power + 1u8 == *w;
                            prop_assert_eq!(passed, passes, "{}", w);
                        }
                        Ok(())
                    })
                    .unwrap();
            }
        }
    }

    #[test]
    fn primes_pass_and_their_products_do_not() {
        // The largest primes below powers of two: 2^k - c.
        let primes = [
            (64, 59u32),
            (127, 1),
            (256, 189),
            (384, 317),
            (512, 569),
            (521, 1),
            (1024, 105),
        ];
        for kernel in kernels().iter().filter(|k| k.available.is_ok()) {
            let kernel = Kernel::named(kernel.name).unwrap();
            for (bits, c) in primes {
                let prime = (BigUint::from(1u8) << bits) - c;
                let mut tester = PreTester::new(kernel, bits);
                let lanes = tester.lanes();
                let composite = &prime - 2u8;
                for place in 0..=lanes {
                    let batch: Vec<u8> = (0..=lanes)
                        .flat_map(|at| {
                            let w = if at == place { &prime } else { &composite };
                            bytes(w, bits.div_ceil(8))
                        })
                        .collect();
                    let mut passed = vec![false; lanes + 1];
                    tester.test(&batch, &mut passed).unwrap();
                    for (at, passed) in passed.into_iter().enumerate() {
                        assert_eq!(passed, at == place, "{} {bits} {at}", kernel.name());
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let mut tester = PreTester::new(Kernel::auto(), 128);
        let mut passed = [true];
        let mut w = [0xff; 16];
        assert!(tester.test(&w[..15], &mut passed).is_err());
        w[15] = 0xfe;
        assert!(tester.test(&w, &mut passed).is_err());
        w[15] = 0xff;
        w[0] = 0x7f;
        assert!(tester.test(&w, &mut passed).is_err());
        assert_eq!(passed, [true]);
        tester.test(&[], &mut []).unwrap();
    }
}
