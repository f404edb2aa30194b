//! A first test of candidates, which hardly any composite passes and which costs squarings alone: is 2^((w-1)/2) = ±1 mod w?

use super::Tester;
use crate::kernel::{Doublings, LaneKernel};
use crate::limbs::aligned::Aligned;
use crate::limbs::{Nat, words};
use crate::{Error, Kernel};
use subtle::Choice;
use zeroize::Zeroizing;

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

    /// Whether each candidate w, big-endian, passes. Every odd prime does, for there 2^((w-1)/2) is the Legendre symbol
    /// (Euler's criterion). The base is no secret and not random: passing is no round of the Miller–Rabin test.
    ///
    /// Time depends on lengths and on the verdicts, on nothing else about the candidates.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::OutOfRange`] unless every candidate is odd and of the tester's length in bits. `passed` is
    /// untouched then.
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
        for (w, passed) in candidates
            .chunks(lanes * self.len)
            .zip(passed.chunks_mut(lanes))
        {
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

/// The test over any kernel.
pub(crate) trait PowerOfTwo: Send {
    fn lanes(&self) -> usize;
    /// Puts a candidate into a lane.
    fn load(&mut self, lane: usize, candidate: &[u64]);
    /// Tests all lanes and reports the first ones.
    fn test(&mut self, passed: &mut [bool]);
}

/// [`PowerOfTwo`] with one kernel, STREAMS values at a time.
///
/// A value V stands for V / R. So a single bit, V = 2^j with j below the bits of n, stands for 2^(j - r) where R = 2^r: it
/// is in Montgomery form without entering it, and the power of two is a negative one. So we take (w-1)/2 negative,
/// which changes ±1 to ±1: with k bits in w, split -(w-1)/2 = -2^(k-1) + m into its top digit and t bits,
/// -2^(k-1) + m = 2^t ((m >> t) - 2^(k-1-t)) + (m mod 2^t). Then V = 2^j, j = r + (m >> t) - 2^(k-1-t), is squared t times
/// and doubled wherever m has a bit.
pub(crate) struct Squarings<K: LaneKernel, const STREAMS: usize> {
    kernel: K,
    bits: usize,
    steps: usize,
    streams: [Stream<K>; STREAMS],
    number: Nat,
}

struct Stream<K: LaneKernel> {
    moduli: K::Moduli,
    n: Vec<Nat>,
    value: Aligned,
    doublings: Zeroizing<Vec<u8>>,
    working: Aligned,
}

/// The squarings of candidates of `bits` bits in `limbs` limbs; none where the kernel has no room to double, or no power
/// of two to start from.
fn steps<K: LaneKernel>(limbs: usize, bits: usize) -> Option<usize> {
    let r = K::r_bits(limbs);
    // The top digit's bits: as many as numbers of r bits have places for.
    let top = r.ilog2() as usize;
    // m >> t is at most half of 2^top, and j must not exceed the bits of w.
    let fits = K::can_double(limbs, bits) && r - bits <= 1 << (top - 1) && top + 1 < bits;
    fits.then(|| bits - 1 - top)
}

/// The test for candidates of `bits` bits in `limbs` limbs, if `kernel` has room to double.
pub(crate) fn power_of_two<K: LaneKernel>(
    kernel: K,
    limbs: usize,
    bits: usize,
) -> Option<Box<dyn PowerOfTwo>> {
    let steps = steps::<K>(limbs, bits)?;
    Some(match K::streams(limbs) {
        2 => Box::new(Squarings::<K, 2>::new(kernel, limbs, bits, steps)),
        _ => Box::new(Squarings::<K, 1>::new(kernel, limbs, bits, steps)),
    })
}

impl<K: LaneKernel, const STREAMS: usize> Squarings<K, STREAMS> {
    fn new(kernel: K, limbs: usize, bits: usize, steps: usize) -> Self {
        let stream = || Stream {
            moduli: kernel.moduli(limbs),
            n: vec![Nat::zero(limbs); K::LANES],
            value: Aligned::zero(K::words(limbs)),
            doublings: Zeroizing::new(vec![0; steps * K::LANES]),
            working: Aligned::zero(K::working_words(limbs)),
        };
        Self {
            kernel,
            bits,
            steps,
            streams: std::array::from_fn(|_| stream()),
            number: Nat::zero(limbs),
        }
    }
}

impl<K: LaneKernel, const STREAMS: usize> PowerOfTwo for Squarings<K, STREAMS> {
    fn lanes(&self) -> usize {
        STREAMS * K::LANES
    }

    fn load(&mut self, lane: usize, candidate: &[u64]) {
        let (stream, lane) = (&mut self.streams[lane / K::LANES], lane % K::LANES);
        stream.n[lane].copy_from_slice(candidate);
        // m = 2^(k-1) - (w >> 1): of k - 1 bits, all others inverted, and one more.
        let m = &mut self.number;
        for (i, m) in m.iter_mut().enumerate() {
            let above = candidate.get(i + 1).copied().unwrap_or(0);
            *m = !(candidate[i] >> 1 | above << 63);
        }
        words::add_carry(m, Choice::from(1));
        for (i, m) in m.iter_mut().enumerate() {
            let kept = (self.bits - 1).saturating_sub(64 * i).min(64);
            *m &= u64::MAX.checked_shr(64 - kept as u32).unwrap_or(0);
        }
        // From the lowest bit up, a limb at a time.
        let bits = stream.doublings.chunks_exact_mut(K::LANES).rev();
        let limbs = m
            .iter()
            .flat_map(|&limb| (0..64).map(move |at| limb >> at & 1));
        for (bits, bit) in bits.zip(limbs) {
            bits[lane] = bit as u8;
        }
        let top = self.bits - 1 - self.steps;
        let high = (0..top).fold(0, |high, i| high | words::bit(m, self.steps + i) << i);
        let j = (K::r_bits(candidate.len()) - (1 << top)) as u64 + high;
        for (i, limb) in (0u64..).zip(m.iter_mut()) {
            *limb = words::mask(words::is_zero(&[j >> 6 ^ i])) & 1 << (j & 63);
        }
        self.kernel.load(&stream.moduli, lane, m, &mut stream.value);
    }

    fn test(&mut self, passed: &mut [bool]) {
        let Self {
            kernel,
            bits,
            streams,
            number,
            ..
        } = self;
        for stream in streams.iter_mut() {
            let Stream {
                moduli, n, working, ..
            } = stream;
            kernel.set_moduli_to_square(moduli, n, *bits, working);
        }
        kernel.square_and_double(streams.each_mut().map(|stream| Doublings {
            moduli: &stream.moduli,
            value: &mut stream.value,
            bits: &stream.doublings,
            working: &mut stream.working,
        }));
        let mut passed = passed.iter_mut();
        for stream in streams {
            let Stream {
                moduli,
                n,
                value,
                working,
                ..
            } = stream;
            kernel.leave(moduli, value, working);
            for (lane, (n, passed)) in n.iter().zip(&mut passed).enumerate() {
                kernel.store(moduli, lane, value, number);
                let one = words::is_word(number, 1);
                words::add_carry(number, Choice::from(1));
                *passed = (one | words::is_equal(number, n)).into();
            }
        }
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

    /// Lengths with and without room to double, one tile and several, full limbs and not.
    const BITS: [usize; 13] = [
        64, 127, 250, 256, 257, 384, 508, 512, 521, 768, 1024, 1030, 1536,
    ];

    #[test]
    fn candidates_of_any_kind_agree_with_the_model() {
        for kernel in kernels().iter().filter(|k| k.available.is_ok()) {
            let kernel = Kernel::named(kernel.name).unwrap();
            for bits in BITS {
                let tester = RefCell::new(PreTester::new(kernel, bits));
                let mut runner = TestRunner::new(Config {
                    cases: 4,
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
