//! The test to base two over any kernel: is 2^((w-1)/2) = ±1 mod w? It costs squarings and doublings alone.

use crate::declassify::declassify;
use crate::kernel::{Doublings, LaneKernel};
use crate::limbs::aligned::Aligned;
use crate::limbs::{Nat, words};
use subtle::Choice;
use zeroize::Zeroizing;

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
/// A value V stands for V / R. So a single bit, V = 2^j with j below the bits of n, stands for 2^(j - r) where R = 2^r:
/// it is in Montgomery form without entering it, and the power of two is a negative one. So we take (w-1)/2 negative,
/// which changes ±1 to ±1: with k bits in w, split -(w-1)/2 = -2^(k-1) + m into its top digit and t bits, -2^(k-1) +
/// m = 2^t ((m >> t) - 2^(k-1-t)) + (m mod 2^t). Then V = 2^j, j = r + (m >> t) - 2^(k-1-t), is squared t times and
/// doubled wherever m has a bit.
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

/// The squarings of candidates of `bits` bits in `limbs` limbs; none where the kernel has no room to double, or no
/// power of two to start from.
fn steps<K: LaneKernel>(limbs: usize, bits: usize) -> Option<usize> {
    let r = K::r_bits(limbs);
    // The top digit's bits: as many as numbers of r bits have places for.
    let top = r.ilog2() as usize;
    // m >> t is at most half of 2^top, and j must not exceed the bits of w.
    let fits = K::can_double(limbs, bits) && r - bits <= 1 << (top - 1) && top + 1 < bits;
    fits.then(|| bits - 1 - top)
}

/// The test for candidates of `bits` bits in `limbs` limbs, if `kernel` has room to double.
pub(crate) fn power_of_two<K: LaneKernel>(kernel: K, limbs: usize, bits: usize) -> Option<Box<dyn PowerOfTwo>> {
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
        let limbs = m.iter().flat_map(|&limb| (0..64).map(move |at| limb >> at & 1));
        for (bits, bit) in bits.zip(limbs) {
            bits[lane] = bit as u8;
        }
        let top = self.bits - 1 - self.steps;
        let high = (0..top).fold(0, |high, i| high | words::bit(m, self.steps + i) << i);
        let j = (K::r_bits(candidate.len()) - (1 << top)) as u64 + high;
        let power = words::power_of_two(j & 63);
        for (i, limb) in (0u64..).zip(m.iter_mut()) {
            *limb = words::mask(words::is_zero(&[j >> 6 ^ i])) & power;
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
            let Stream { moduli, n, working, .. } = stream;
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
                *passed = declassify(one | words::is_equal(number, n));
            }
        }
    }
}
