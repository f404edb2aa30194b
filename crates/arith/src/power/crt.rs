//! x^d mod n by two half-length powers (Quisquater and Couvreur 1982) and Garner's recombination (RFC 8017, 5.1.2).

use super::Raise;
use crate::CheckedPrivateKey;
use crate::exp::{self, Digits, Power, Windows};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, Nat, limbs_for_bits, words};

/// The CRT parameters in limb form. Both primes have the same number of limbs, the longer one's.
pub(crate) struct CrtParts {
    pub(crate) modulus: Modulus,
    pub(crate) p: Modulus,
    pub(crate) q: Modulus,
    pub(crate) dp: Nat,
    pub(crate) dq: Nat,
    pub(crate) qinv: Nat,
}

impl CrtParts {
    pub(crate) fn new(modulus: &Modulus, key: &CheckedPrivateKey) -> Self {
        let parts = key.parts();
        let (p, q) = (Nat::from_be(parts.p), Nat::from_be(parts.q));
        let (p_bits, q_bits) = (words::bits_vartime(&p), words::bits_vartime(&q));
        let half = limbs_for_bits(p_bits.max(q_bits));
        let sized = |part| Nat::from_be(part).resized(half);
        Self {
            modulus: modulus.clone(),
            p: Modulus::new(&p, p_bits, half),
            q: Modulus::new(&q, q_bits, half),
            dp: sized(parts.dp),
            dq: sized(parts.dq),
            qinv: sized(parts.qinv),
        }
    }

    /// Length of the longer prime, in bits.
    pub(crate) fn prime_bits(&self) -> usize {
        self.p.bits().max(self.q.bits())
    }
}

/// The private power with one kernel: each number fills two lanes, p and q, or two passes of a one-lane kernel.
#[derive(Clone)]
pub(crate) struct CrtPower<K: LaneKernel> {
    kernel: K,
    passes: Vec<Pass<K>>,
    /// p and q of each item.
    primes: Vec<[Nat; 2]>,
    limbs: usize,
    half: usize,
    windows: Windows,
}

/// One exponentiation over all lanes.
#[derive(Clone)]
struct Pass<K: LaneKernel> {
    moduli: K::Moduli,
    digits: Digits,
    /// What a power is multiplied with to leave Montgomery form: q^-1 in lanes of p, which recombination asks for, and 1
    /// in lanes of q.
    leave: Aligned,
    /// q^-1 R mod p in lanes of p.
    qinv: Aligned,
}

impl<K: LaneKernel> Pass<K> {
    fn power<'a>(&'a self, (value, working): (&'a mut [u64], &'a mut [u64])) -> Power<'a, K> {
        Power {
            moduli: &self.moduli,
            digits: &self.digits,
            value,
            working,
        }
    }
}

impl<K: LaneKernel> CrtPower<K> {
    pub(crate) fn new(kernel: K, parts: &CrtParts) -> Self {
        let half = parts.p.limbs();
        let windows = Windows::new::<K>(half, parts.prime_bits());
        let mut unit = Nat::zero(half);
        unit[0] = 1;
        let halves = [
            (&parts.p, &parts.dp[..], &parts.qinv),
            (&parts.q, &parts.dq[..], &unit),
        ];
        let streams = K::streams(half);
        let items = (streams * K::LANES).div_ceil(2);
        let halves: Vec<_> = halves.into_iter().cycle().take(2 * items).collect();
        let passes = halves.chunks_exact(K::LANES).map(|lanes| {
            let moduli: Vec<_> = lanes.iter().map(|(modulus, ..)| *modulus).collect();
            let exponents: Vec<_> = lanes.iter().map(|(_, exponent, _)| *exponent).collect();
            let moduli = kernel.prepare(&moduli);
            let mut leave = Aligned::zero(K::words(half));
            for (lane, (.., factor)) in lanes.iter().enumerate() {
                kernel.load(&moduli, lane, factor, &mut leave);
            }
            let mut qinv = leave.clone();
            kernel.enter(
                &moduli,
                &mut qinv,
                &mut Aligned::zero(K::working_words(half)),
            );
            Pass {
                moduli,
                digits: Digits::new(&exponents, windows),
                leave,
                qinv,
            }
        });
        Self {
            kernel,
            passes: passes.collect(),
            primes: vec![[parts.p.n(), parts.q.n()].map(Nat::from_limbs); items],
            limbs: parts.modulus.limbs(),
            half,
            windows,
        }
    }

    /// Words that one stream works on: its value, and the working memory of an exponentiation.
    fn stream_words(&self) -> usize {
        K::words(self.half) + self.windows.working_words::<K>(self.half)
    }

    fn stream<'a>(&self, memory: &'a mut [u64], stream: usize) -> (&'a mut [u64], &'a mut [u64]) {
        let words = self.stream_words();
        memory[stream * words..][..words].split_at_mut(K::words(self.half))
    }

    /// Takes the powers of as many passes as there are streams, or fewer.
    fn power(&self, passes: &[Pass<K>], memory: &mut [u64]) {
        let words = K::words(self.half);
        let mut streams = memory.chunks_exact_mut(self.stream_words());
        let powers = passes
            .iter()
            .zip(&mut streams)
            .map(|(pass, stream)| pass.power(stream.split_at_mut(words)));
        let mut powers = powers.fuse();
        match (powers.next(), powers.next()) {
            (Some(one), Some(two)) => exp::exp(self.kernel, [one, two]),
            (Some(one), None) => exp::exp(self.kernel, [one]),
            (None, _) => {}
        }
    }

    /// Puts the first key of `from`, which is of the same size, into the lanes of one item.
    pub(crate) fn gather(&mut self, item: usize, from: &Self) {
        for half in 0..2 {
            let (to_lane, from_lane) = ((2 * item + half) % K::LANES, half % K::LANES);
            let (to, from) = (
                &mut self.passes[(2 * item + half) / K::LANES],
                &from.passes[half / K::LANES],
            );
            self.kernel
                .copy_modulus(&mut to.moduli, to_lane, &from.moduli, from_lane);
            to.digits.copy_lane(to_lane, &from.digits, from_lane);
            self.kernel
                .copy_lane(&mut to.leave, to_lane, &from.leave, from_lane);
            self.kernel
                .copy_lane(&mut to.qinv, to_lane, &from.qinv, from_lane);
        }
        for (to, from) in self.primes[item].iter_mut().zip(&from.primes[0]) {
            to.copy_from_slice(from);
        }
    }
}

/// t = m2 + q h, where h = m1 q^-1 - m2 q^-1 mod p, and `h` comes as the first of these. `t` has as many limbs as p and q
/// together.
fn recombine([p, q]: &[Nat; 2], h: &mut [u64], (m2, m2_qinv): (&[u64], &[u64]), t: &mut [u64]) {
    let borrow = words::sub_assign(h, m2_qinv);
    words::add_if(h, p, borrow);
    words::mul(t, h, q);
    let (low, high) = t.split_at_mut(m2.len());
    let carry = words::add_assign(low, m2);
    words::add_carry(high, carry);
}

impl<K: LaneKernel> Raise for CrtPower<K> {
    fn kernel(&self) -> &'static str {
        K::NAME
    }

    fn items(&self) -> usize {
        self.primes.len()
    }

    fn working_words(&self) -> usize {
        K::streams(self.half) * self.stream_words() + (3 * self.items() + 2) * self.half
    }

    fn raise(&self, values: &mut [u64], working: &mut [u64]) {
        let (kernel, half) = (self.kernel, self.half);
        let halves_used = 2 * values.len() / self.limbs;
        let streams = K::streams(half);
        // What lanes work on comes first: it stays on cache lines.
        let (memory, scalars) = working.split_at_mut(streams * self.stream_words());
        let (halves, scalars) = scalars.split_at_mut(2 * self.items() * half);
        let (products, t) = scalars.split_at_mut(self.items() * half);
        // Half 2 i is item i's of p, half 2 i + 1 its of q; each pass has as many halves as there are lanes.
        let lanes =
            |pass: usize| (pass * K::LANES..halves_used.min((pass + 1) * K::LANES)).zip(0..);
        let used = halves_used.div_ceil(K::LANES);
        for first in (0..used).step_by(streams) {
            let together = first..used.min(first + streams);
            let memory_of = || together.clone().zip(0..);
            for (pass, stream) in memory_of() {
                let (value, working) = self.stream(memory, stream);
                let (high, working) = working.split_at_mut(value.len());
                value.fill(0);
                high.fill(0);
                for (i, lane) in lanes(pass) {
                    let x = &values[i / 2 * self.limbs..][..self.limbs];
                    let (x_low, x_high) = x.split_at(half.min(self.limbs));
                    kernel.load(&self.passes[pass].moduli, lane, x_low, value);
                    kernel.load(&self.passes[pass].moduli, lane, x_high, high);
                }
                kernel.enter_wide(&self.passes[pass].moduli, value, high, working);
            }
            self.power(&self.passes[together.clone()], memory);
            for (pass, stream) in memory_of() {
                let (value, working) = self.stream(memory, stream);
                let Pass { moduli, leave, .. } = &self.passes[pass];
                kernel.mul(moduli, value, leave, working);
                for (i, lane) in lanes(pass) {
                    kernel.store(moduli, lane, value, &mut halves[i * half..][..half]);
                }
            }
        }
        // Lanes of p go on, with what those of q found.
        let (value, working) = self.stream(memory, 0);
        for (pass, Pass { moduli, qinv, .. }) in self.passes[..used].iter().enumerate() {
            let lanes_of_p = || lanes(pass).filter(|(i, _)| i % 2 == 0);
            if lanes_of_p().next().is_none() {
                continue;
            }
            value.fill(0);
            for (i, lane) in lanes_of_p() {
                let m2 = &halves[(i + 1) * half..][..half];
                kernel.load(moduli, lane, m2, value);
            }
            kernel.mul(moduli, value, qinv, working);
            for (i, lane) in lanes_of_p() {
                let product = &mut products[i / 2 * half..][..half];
                kernel.store(moduli, lane, value, product);
            }
        }
        let t = &mut t[..2 * half];
        for (((m, halves), m2_qinv), primes) in values
            .chunks_exact_mut(self.limbs)
            .zip(halves.chunks_exact_mut(2 * half))
            .zip(products.chunks_exact(half))
            .zip(&self.primes)
        {
            let (m1_qinv, m2) = halves.split_at_mut(half);
            recombine(primes, m1_qinv, (m2, m2_qinv), t);
            m.copy_from_slice(&t[..m.len()]);
        }
    }
}
