//! x^d mod n by two half-length powers (Quisquater and Couvreur 1982) and Garner's recombination (RFC 8017, 5.1.2).

use crate::batch::Raise;
use crate::exp::{self, Digits};
use crate::kernel::LaneKernel;
use crate::limbs::{Modulus, Nat, words};

/// The CRT parameters in limb form. Both primes have the same number of limbs, the longer one's.
pub(crate) struct CrtParts {
    pub(crate) modulus: Modulus,
    pub(crate) p: Modulus,
    pub(crate) q: Modulus,
    pub(crate) dp: Nat,
    pub(crate) dq: Nat,
    pub(crate) qinv: Nat,
}

/// The private power with one kernel: each number fills two lanes, p beside q, or two passes of a one-lane kernel.
pub(crate) struct CrtPower<K: LaneKernel> {
    kernel: K,
    passes: Vec<Pass<K>>,
    p: Modulus,
    q: Modulus,
    /// q^-1 R mod p.
    qinv: Nat,
    limbs: usize,
    half: usize,
    bits: usize,
}

/// One exponentiation over all lanes.
struct Pass<K: LaneKernel> {
    moduli: K::Moduli,
    digits: Digits,
}

impl<K: LaneKernel> CrtPower<K> {
    const ITEMS: usize = if K::LANES > 1 { K::LANES / 2 } else { 1 };

    pub(crate) fn new(kernel: K, parts: &CrtParts) -> Self {
        let half = parts.p.limbs();
        let bits = parts.p.bits().max(parts.q.bits());
        let halves = [(&parts.p, &parts.dp[..]), (&parts.q, &parts.dq[..])]
            .into_iter()
            .cycle();
        let halves: Vec<_> = halves.take(2 * Self::ITEMS).collect();
        let passes = halves.chunks_exact(K::LANES).map(|lanes| {
            let (moduli, exponents): (Vec<&Modulus>, Vec<&[u64]>) = lanes.iter().copied().unzip();
            Pass {
                moduli: kernel.prepare(&moduli),
                digits: Digits::new(&exponents, bits),
            }
        });
        let mut qinv = parts.qinv.clone();
        parts
            .p
            .mul_reduced(&mut qinv, parts.p.rr(), &mut Nat::zero(2 * half));
        Self {
            kernel,
            passes: passes.collect(),
            p: parts.p.clone(),
            q: parts.q.clone(),
            qinv,
            limbs: parts.modulus.limbs(),
            half,
            bits,
        }
    }

    /// m = m2 + q ((m1 - m2) q^-1 mod p). `t` holds 2 half limbs, `h1` and `h2` half limbs.
    fn recombine(&self, m1: &mut [u64], m2: &mut [u64], m: &mut [u64], t: &mut [u64]) {
        let (t, saved) = t.split_at_mut(2 * self.half);
        let saved = &mut saved[..self.half];
        saved.copy_from_slice(m2);
        // m2 may exceed p; as a factor beside q^-1 R < p it need only be below R.
        self.p.mul_reduced(m1, &self.qinv, t);
        self.p.mul_reduced(m2, &self.qinv, t);
        let borrow = words::sub_assign(m1, m2);
        words::add_if(m1, self.p.n(), borrow);
        words::mul(t, m1, self.q.n());
        let (low, high) = t.split_at_mut(self.half);
        let carry = words::add_assign(low, saved);
        words::add_carry(high, carry);
        m.copy_from_slice(&t[..m.len()]);
    }
}

/// x mod n for an x of up to 2 N limbs, without division: x = lo + hi R, and lo R / R + hi R^2 / R is congruent to it.
/// `t` holds 3 N limbs.
fn reduce(modulus: &Modulus, x: &[u64], out: &mut [u64], t: &mut [u64]) {
    let limbs = modulus.limbs();
    let (t, low) = t.split_at_mut(2 * limbs);
    let low = &mut low[..limbs];
    let split = limbs.min(x.len());
    low.fill(0);
    low[..split].copy_from_slice(&x[..split]);
    modulus.mul_reduced(low, modulus.one(), t);
    out.fill(0);
    out[..x.len() - split].copy_from_slice(&x[split..]);
    modulus.mul_reduced(out, modulus.rr(), t);
    let carry = words::add_assign(out, low);
    let over = carry | !words::is_less(out, modulus.n());
    words::sub_if(out, modulus.n(), over);
}

impl<K: LaneKernel> Raise for CrtPower<K> {
    fn kernel(&self) -> &'static str {
        K::NAME
    }

    fn items(&self) -> usize {
        Self::ITEMS
    }

    fn working_words(&self) -> usize {
        let halves = 2 * Self::ITEMS * self.half;
        halves
            + (3 * self.half)
                .max(K::words(self.half) + exp::working_words::<K>(self.half, self.bits))
    }

    fn raise(&self, values: &mut [u64], working: &mut [u64]) {
        let items = values.len() / self.limbs;
        let (halves, working) = working.split_at_mut(2 * Self::ITEMS * self.half);
        halves.fill(0);
        for (x, halves) in values
            .chunks_exact(self.limbs)
            .zip(halves.chunks_exact_mut(2 * self.half))
        {
            let (xp, xq) = halves.split_at_mut(self.half);
            reduce(&self.p, x, xp, working);
            reduce(&self.q, x, xq, working);
        }
        for (pass, halves) in self
            .passes
            .iter()
            .zip(halves.chunks_exact_mut(K::LANES * self.half))
        {
            let (value, working) = working.split_at_mut(K::words(self.half));
            for (lane, limbs) in halves.chunks_exact(self.half).enumerate() {
                self.kernel.load(&pass.moduli, lane, limbs, value);
            }
            self.kernel.enter(&pass.moduli, value, working);
            exp::exp(self.kernel, &pass.moduli, &pass.digits, value, working);
            self.kernel.leave(&pass.moduli, value, working);
            for (lane, limbs) in halves.chunks_exact_mut(self.half).enumerate() {
                self.kernel.store(&pass.moduli, lane, value, limbs);
            }
        }
        for (m, halves) in values
            .chunks_exact_mut(self.limbs)
            .zip(halves.chunks_exact_mut(2 * self.half))
            .take(items)
        {
            let (m1, m2) = halves.split_at_mut(self.half);
            self.recombine(m1, m2, m, working);
        }
    }
}
