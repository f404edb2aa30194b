//! Rounds of the Miller–Rabin test over any kernel, one candidate in each lane.

use crate::declassify::{declassify, declassify_usize};
use crate::exp::{self, Digits, Power, Windows};
use crate::integer::{shift_right, trailing_zeros};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Nat, words};
use subtle::Choice;
use zeroize::{Zeroize, ZeroizeOnDrop};

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

/// The state of a candidate w, with w - 1 = 2^a m.
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
        self.kernel.enter(&self.moduli, &mut self.z, &mut self.working);
        let power = Power {
            moduli: &self.moduli,
            digits: &self.digits,
            value: &mut self.z,
            working: &mut self.working,
        };
        exp::exp(self.kernel, [power]);
        let squarings = self.lanes.iter().fold(SQUARINGS, |most, lane| larger(most, lane.a - 1));
        for squaring in 0..=declassify_usize(squarings as usize) as u64 {
            if squaring > 0 {
                self.kernel.sqr(&self.moduli, &mut self.z, 1, &mut self.working);
            }
            self.plain.copy_from_slice(&self.z);
            self.kernel.leave(&self.moduli, &mut self.plain, &mut self.working);
            for (i, lane) in self.lanes.iter_mut().enumerate() {
                self.kernel.store(&self.moduli, i, &self.plain, &mut self.number);
                // z = 1 counts before the first squaring only, z = w - 1 as long as fewer than a squarings are done.
                let one = words::is_word(&self.number, 1) & Choice::from(u8::from(squaring == 0));
                self.number[0] = self.number[0].wrapping_add(1);
                let minus_one = words::is_equal(&self.number, &self.w[i]);
                let (_, in_time) = words::sbb(squaring, lane.a, false);
                lane.passed |= one | minus_one & Choice::from(u8::from(in_time));
            }
        }
        for (passed, lane) in passed.iter_mut().zip(&self.lanes) {
            *passed = declassify(lane.passed);
        }
    }
}

/// The larger of two secrets. `max` is a branch in some builds.
fn larger(a: u64, b: u64) -> u64 {
    let (_, is_less) = words::sbb(a, b, false);
    a ^ words::mask(Choice::from(u8::from(is_less))) & (a ^ b)
}
