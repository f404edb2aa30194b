//! Rounds of the Miller–Rabin test, one candidate in each lane.

use crate::exp::{self, Digits, Power, Windows};
use crate::integer::{shift_right, trailing_zeros};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Nat, words};
use crate::{Error, Kernel};
use subtle::Choice;
use zeroize::{Zeroize, ZeroizeOnDrop};

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

    /// One round for each candidate w with its own base b (FIPS 186-5, B.3.1, steps 4.3 to 4.7): `passed` says whether w
    /// is a strong probable prime to base b.
    ///
    /// `candidates` and `bases` hold one big-endian number of the tester's length for each entry of `passed`. Candidates
    /// of a batch may differ in bit length; bit lengths are not secret.
    ///
    /// Time depends on lengths, on the verdicts, and where 2^18 divides w - 1 (one candidate in 2^17) on that power of
    /// two; on nothing else about candidates and bases.
    ///
    /// # Errors
    /// [`Error::Length`]; [`Error::OutOfRange`] unless every candidate is odd and above 4 and every base has
    /// 1 < b < w - 1. `passed` is untouched then.
    pub fn round(
        &mut self,
        candidates: &[u8],
        bases: &[u8],
        passed: &mut [bool],
    ) -> Result<(), Error> {
        let expected = passed.len() * self.len;
        for (what, got) in [("candidates", candidates.len()), ("bases", bases.len())] {
            if got != expected {
                return Err(Error::Length {
                    what,
                    expected,
                    got,
                });
            }
        }
        let stride = self.len.max(1);
        for (w, b) in candidates
            .chunks_exact(stride)
            .zip(bases.chunks_exact(stride))
        {
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
        if w[0] & 1 == 0 || small.into() {
            return Err(Error::OutOfRange {
                what: "a candidate, which must be odd and above 4,",
            });
        }
        // w is odd: this is w - 1.
        w[0] &= !1;
        let low = words::is_word(b, 0) | words::is_word(b, 1);
        if bool::from(low | !words::is_less(b, w)) {
            return Err(Error::OutOfRange {
                what: "a base, which must be above 1 and below its candidate less 1,",
            });
        }
        Ok(())
    }
}

/// One round over any kernel.
pub(crate) trait StrongTest: Send {
    fn lanes(&self) -> usize;
    /// Puts a candidate w and its base, 1 < b < w - 1, into a lane.
    fn load(&mut self, lane: usize, candidate: &[u64], base: &[u64]);
    /// Tests all lanes and reports the first ones.
    fn round(&mut self, passed: &mut [bool]);
}

/// [`StrongTest`] with one kernel.
pub(crate) struct Rounds<K: LaneKernel> {
    kernel: K,
    moduli: K::Moduli,
    /// The candidate of each lane.
    w: Vec<Nat>,
    lanes: Vec<Lane>,
    digits: Digits,
    z: Aligned,
    plain: Aligned,
    number: Nat,
    working: Aligned,
}

/// What is known of a candidate w, with w - 1 = 2^a m.
#[derive(Zeroize, ZeroizeOnDrop)]
struct Lane {
    bits: usize,
    a: u64,
    m: Nat,
    #[zeroize(skip)]
    passed: Choice,
}

/// Squarings that are always done. Each comes with a conversion, so sixteen cost 2 % at 1024 bits.
const SQUARINGS: u64 = 16;

impl<K: LaneKernel> Rounds<K> {
    pub(crate) fn new(kernel: K, limbs: usize) -> Self {
        let lane = || Lane {
            bits: 0,
            a: 0,
            m: Nat::zero(limbs),
            passed: Choice::from(0),
        };
        let value = Aligned::zero(K::words(limbs));
        let windows = Windows::new::<K>(limbs, 64 * limbs);
        Self {
            kernel,
            moduli: kernel.moduli(limbs),
            w: vec![Nat::zero(limbs); K::LANES],
            lanes: (0..K::LANES).map(|_| lane()).collect(),
            digits: Digits::zero(K::LANES, windows),
            z: value.clone(),
            plain: value,
            number: Nat::zero(limbs),
            working: Aligned::zero(windows.working_words::<K>(limbs)),
        }
    }
}

impl<K: LaneKernel> StrongTest for Rounds<K> {
    fn lanes(&self) -> usize {
        K::LANES
    }

    fn load(&mut self, lane: usize, candidate: &[u64], base: &[u64]) {
        self.w[lane].copy_from_slice(candidate);
        let Lane { bits, a, m, passed } = &mut self.lanes[lane];
        *bits = words::bits_vartime(candidate);
        m.copy_from_slice(candidate);
        m[0] &= !1;
        *a = trailing_zeros(m);
        shift_right(m, *a);
        self.digits.set(lane, m);
        self.kernel.load(&self.moduli, lane, base, &mut self.z);
        *passed = Choice::from(0);
    }

    fn round(&mut self, passed: &mut [bool]) {
        let shortest = self.lanes.iter().map(|lane| lane.bits).min().unwrap_or(0);
        self.kernel
            .set_moduli_for_powers(&mut self.moduli, &self.w, shortest, &mut self.working);
        // z = b^m
        self.kernel
            .enter(&self.moduli, &mut self.z, &mut self.working);
        let power = Power {
            moduli: &self.moduli,
            digits: &self.digits,
            value: &mut self.z,
            working: &mut self.working,
        };
        exp::exp(self.kernel, [power]);
        let longest = self.lanes.iter().map(|lane| lane.a).max().unwrap_or(0);
        for squaring in 0..=SQUARINGS.max(longest - 1) {
            if squaring > 0 {
                self.kernel
                    .sqr(&self.moduli, &mut self.z, 1, &mut self.working);
            }
            self.plain.copy_from_slice(&self.z);
            self.kernel
                .leave(&self.moduli, &mut self.plain, &mut self.working);
            for (i, lane) in self.lanes.iter_mut().enumerate() {
                self.kernel
                    .store(&self.moduli, i, &self.plain, &mut self.number);
                // z = 1 counts before the first squaring only, z = w - 1 as long as fewer than a squarings are done.
                let one = words::is_word(&self.number, 1) & Choice::from(u8::from(squaring == 0));
                self.number[0] = self.number[0].wrapping_add(1);
                let minus_one = words::is_equal(&self.number, &self.w[i]);
                let (_, in_time) = words::sbb(squaring, lane.a, false);
                lane.passed |= one | minus_one & Choice::from(u8::from(in_time));
            }
        }
        for (passed, lane) in passed.iter_mut().zip(&self.lanes) {
            *passed = lane.passed.into();
        }
    }
}
