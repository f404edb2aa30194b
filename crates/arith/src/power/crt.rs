//! x^d mod n by powers modulo each prime (Quisquater and Couvreur 1982) and Garner's recombination (RFC 8017, 5.1.2),
//! for keys of two primes or more.
//!
//! With r_1 .. r_u the primes, m_i = x^(d_i) mod r_i and t_i the inverse of r_1 ... r_(i-1) modulo r_i:
//!
//! ```text
//! m = m_1,  R = r_1
//! for i = 2 .. u:  h = (m_i - m) t_i mod r_i,  m = m + R h,  R = R r_i
//! ```
//!
//! q comes first here and p second, so that q^-1 mod p is t_2, as key files have it.

use super::Exponentiation;
use crate::CheckedPrivateKey;
use crate::exp::{self, Digits, Power, Windows};
use crate::fault::{self, Place};
use crate::kernel::LaneKernel;
use crate::limbs::aligned::Aligned;
use crate::limbs::nat::product;
use crate::limbs::{Modulus, Nat, limbs_for_bits, words};

/// The CRT parameters in limb form.
pub(crate) struct CrtParts {
    pub(crate) modulus: Modulus,
    /// In the order of recombination: q, p, and those after them. All have the same number of limbs, the longest one's.
    primes: Vec<PrimePart>,
}

/// One prime's parameters.
struct PrimePart {
    r: Modulus,
    /// d mod (r - 1).
    d: Nat,
    /// The inverse modulo r of the product of the primes before it; 1 for the first.
    t: Nat,
}

impl CrtParts {
    pub(crate) fn new(modulus: &Modulus, key: &CheckedPrivateKey) -> Self {
        let parts = key.parts();
        let others = parts.others.iter();
        let primes: Vec<[&[u8]; 3]> = [[parts.q, parts.dq, &[1]], [parts.p, parts.dp, parts.qinv]]
            .into_iter()
            .chain(others.map(|other| [&other.r[..], &other.d, &other.t]))
            .collect();
        let numbers = primes.iter().map(|[r, ..]| Nat::from_be(r));
        let numbers: Vec<(Nat, usize)> = numbers
            .map(|r| {
                let bits = words::bits_vartime(&r);
                (r, bits)
            })
            .collect();
        let longest = numbers.iter().map(|&(_, bits)| bits).max().unwrap_or(0);
        let limbs = limbs_for_bits(longest);
        let primes = primes.into_iter().zip(numbers);
        Self {
            modulus: modulus.clone(),
            primes: primes
                .map(|([_, d, t], (r, bits))| PrimePart {
                    r: Modulus::new(&r, bits, limbs),
                    d: Nat::from_be(d).resized(limbs),
                    t: Nat::from_be(t).resized(limbs),
                })
                .collect(),
        }
    }

    /// Length of the longest prime, in bits.
    pub(crate) fn prime_bits(&self) -> usize {
        self.primes.iter().map(|prime| prime.r.bits()).max().unwrap_or(0)
    }

    /// The number of primes.
    pub(crate) fn primes(&self) -> usize {
        self.primes.len()
    }
}

/// The private power with one kernel: each number fills a lane for each prime, which may lie in different passes.
#[derive(Clone)]
pub(crate) struct CrtPower<K: LaneKernel> {
    kernel: K,
    passes: Vec<Pass<K>>,
    items: Vec<Item>,
    /// The number of a key's primes.
    primes: usize,
    /// Limbs of a modulus.
    limbs: usize,
    /// Limbs of a prime.
    part: usize,
    windows: Windows,
}

/// One exponentiation over all lanes.
#[derive(Clone)]
struct Pass<K: LaneKernel> {
    moduli: K::Moduli,
    digits: Digits,
    /// The factor by which a power leaves Montgomery form: the coefficient t of the lane's prime, which
    /// recombination asks for.
    leave: Aligned,
}

/// The constants of an item's key that recombination takes, in the order of the primes.
#[derive(Clone)]
struct Item {
    steps: Vec<Step>,
}

#[derive(Clone)]
struct Step {
    r: Nat,
    /// The product of the primes before it, in as many limbs as they have together.
    before: Nat,
}

impl Item {
    fn new(parts: &CrtParts) -> Self {
        let mut before = Nat::from_word(1, 1);
        let steps = parts.primes.iter().enumerate().map(|(i, PrimePart { r, .. })| {
            let step = Step {
                r: Nat::from_limbs(r.n()),
                before: before.clone(),
            };
            before = match i {
                0 => Nat::from_limbs(r.n()),
                _ => product(&before, &step.r),
            };
            step
        });
        Self { steps: steps.collect() }
    }
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
        let (primes, part) = (parts.primes(), parts.primes[0].r.limbs());
        let windows = Windows::new::<K>(part, parts.prime_bits());
        // As few items as fill all lanes; with as many items as lanes, so many passes are full as there are primes. A
        // kernel of two lanes is for one operation.
        let together = K::streams(part) * K::LANES;
        let items = match together % primes {
            0 => together / primes,
            _ if K::LANES == 2 => 1,
            _ => K::LANES,
        };
        let powers = items * primes;
        let passes = powers.div_ceil(K::LANES);
        let in_lanes = parts.primes.iter().cycle().take(passes * K::LANES);
        let in_lanes: Vec<&PrimePart> = in_lanes.collect();
        let in_lanes = (0..).step_by(K::LANES).zip(in_lanes.chunks_exact(K::LANES));
        let passes = in_lanes.map(|(first, lanes)| {
            let moduli: Vec<&Modulus> = lanes.iter().map(|prime| &prime.r).collect();
            let exponents: Vec<&[u64]> = lanes.iter().map(|prime| &prime.d[..]).collect();
            let mut moduli = kernel.prepare(&moduli);
            kernel.set_active_lanes(&mut moduli, K::LANES.min(powers - first));
            let mut leave = Aligned::zero(K::words(part));
            for (lane, prime) in lanes.iter().enumerate() {
                kernel.load(&moduli, lane, &prime.t, &mut leave);
            }
            Pass {
                moduli,
                digits: Digits::new(&exponents, windows),
                leave,
            }
        });
        let mut power = Self {
            kernel,
            passes: passes.collect(),
            items: vec![Item::new(parts); items],
            primes,
            limbs: parts.modulus.limbs(),
            part,
            windows,
        };
        for pass in &mut power.passes {
            fault::pass_moduli(Place::Primes, kernel, &mut pass.moduli);
            pass.digits.pass_fault(Place::Exponents);
            fault::pass(Place::Coefficients, &mut pass.leave);
        }
        for Step { r, before } in power.items.iter_mut().flat_map(|item| &mut item.steps) {
            fault::pass(Place::Coefficients, r);
            fault::pass(Place::Coefficients, before);
        }
        power
    }

    /// Words that one stream works on: its value, and the working memory of an exponentiation.
    fn stream_words(&self) -> usize {
        K::words(self.part) + self.windows.working_words::<K>(self.part)
    }

    fn stream<'a>(&self, memory: &'a mut [u64], stream: usize) -> (&'a mut [u64], &'a mut [u64]) {
        let words = self.stream_words();
        memory[stream * words..][..words].split_at_mut(K::words(self.part))
    }

    /// Takes the powers of as many passes as there are streams, or fewer.
    fn power(&self, passes: &[Pass<K>], memory: &mut [u64]) {
        let words = K::words(self.part);
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

    /// Loads one number of any length into each of some lanes, reduces it modulo the lane's prime, and enters
    /// Montgomery form. `numbers` gives lanes with their numbers, all equally long, and can be asked again.
    fn enter<'a, I: Iterator<Item = (usize, &'a [u64])>>(
        &self,
        Pass { moduli, .. }: &Pass<K>,
        numbers: impl Fn() -> I,
        (value, working): (&mut [u64], &mut [u64]),
    ) {
        let (kernel, part) = (self.kernel, self.part);
        let load = |at: usize, value: &mut [u64]| {
            value.fill(0);
            for (lane, number) in numbers() {
                let end = number.len().min((at + 1) * part);
                kernel.load(moduli, lane, &number[at * part..end], value);
            }
        };
        let Some(parts) = numbers().next().map(|(_, number)| number.len().div_ceil(part)) else {
            return;
        };
        if parts == 1 {
            load(0, value);
            kernel.enter(moduli, value, working);
            return;
        }
        let (high, working) = working.split_at_mut(value.len());
        // From the top, as many limbs at a time as a prime has (Horner's scheme).
        load(parts - 1, high);
        for at in (0..parts - 1).rev() {
            load(at, value);
            kernel.enter_wide(moduli, value, high, working);
            if at > 0 {
                kernel.leave(moduli, value, working);
                high.copy_from_slice(value);
            }
        }
    }

    /// Puts the first key of `from`, which is of the same size, into the lanes of one item.
    pub(crate) fn gather(&mut self, item: usize, from: &Self) {
        for prime in 0..self.primes {
            let place = self.primes * item + prime;
            let (to_lane, from_lane) = (place % K::LANES, prime % K::LANES);
            let (to, from) = (&mut self.passes[place / K::LANES], &from.passes[prime / K::LANES]);
            self.kernel
                .copy_modulus(&mut to.moduli, to_lane, &from.moduli, from_lane);
            to.digits.copy_lane(to_lane, &from.digits, from_lane);
            self.kernel.copy_lane(&mut to.leave, to_lane, &from.leave, from_lane);
        }
        let steps = self.items[item].steps.iter_mut().zip(&from.items[0].steps);
        for (to, from) in steps {
            to.r.copy_from_slice(&from.r);
            to.before.copy_from_slice(&from.before);
        }
    }
}

/// m = m + R h, where h = m_i t_i - m t_i mod r_i, and `h` comes as the first of these. `m` has room for one prime more
/// than R; `product` is as long.
fn recombine(Step { r, before }: &Step, h: &mut [u64], m_t: &mut [u64], m: &mut [u64], product: &mut [u64]) {
    fault::pass(Place::Recombination, m_t);
    let borrow = words::sub_assign(h, m_t);
    words::add_if(h, r, borrow);
    fault::pass(Place::Recombination, h);
    words::mul(product, before, h);
    fault::pass(Place::Recombination, product);
    words::add_assign(m, product);
    fault::pass(Place::Recombination, m);
}

impl<K: LaneKernel> Exponentiation for CrtPower<K> {
    fn items(&self) -> usize {
        self.items.len()
    }

    fn working_words(&self) -> usize {
        // Powers and sums of each item; one number modulo a prime, and one as long as all primes.
        let scalars = (2 * self.items() + 1) * self.primes + 1;
        K::streams(self.part) * self.stream_words() + scalars * self.part
    }

    fn raise(&self, values: &mut [u64], working: &mut [u64]) {
        let (kernel, part, primes) = (self.kernel, self.part, self.primes);
        let items = values.len() / self.limbs;
        let streams = K::streams(part);
        // What lanes work on comes first: it stays on cache lines.
        let (memory, scalars) = working.split_at_mut(streams * self.stream_words());
        let (powers, scalars) = scalars.split_at_mut(self.items() * primes * part);
        let (sums, scalars) = scalars.split_at_mut(self.items() * primes * part);
        let (product, m_t) = scalars.split_at_mut(primes * part);
        let m_t = &mut m_t[..part];
        // Place u i + j is item i's of prime j; each pass has as many places as there are lanes.
        let lanes = |pass: usize| (pass * K::LANES..(items * primes).min((pass + 1) * K::LANES)).zip(0..);
        let used = (items * primes).div_ceil(K::LANES);
        for first in (0..used).step_by(streams) {
            let together = first..used.min(first + streams);
            let memory_of = || together.clone().zip(0..);
            for (pass, stream) in memory_of() {
                let numbers = || {
                    lanes(pass).map(|(place, lane)| {
                        let item = place / primes;
                        (lane, &values[item * self.limbs..][..self.limbs])
                    })
                };
                let memory = self.stream(memory, stream);
                self.enter(&self.passes[pass], numbers, memory);
            }
            self.power(&self.passes[together.clone()], memory);
            for (pass, stream) in memory_of() {
                let (value, working) = self.stream(memory, stream);
                let Pass { moduli, leave, .. } = &self.passes[pass];
                fault::pass(Place::Half, value);
                kernel.mul(moduli, value, leave, working);
                for (place, lane) in lanes(pass) {
                    kernel.store(moduli, lane, value, &mut powers[place * part..][..part]);
                }
            }
        }
        fault::pass(Place::Recombination, powers);
        sums.fill(0);
        let sum_words = primes * part;
        for (sum, powers) in sums.chunks_exact_mut(sum_words).zip(powers.chunks_exact(sum_words)) {
            sum[..part].copy_from_slice(&powers[..part]);
        }
        for prime in 1..primes {
            for (pass, prepared) in self.passes[..used].iter().enumerate() {
                let lanes_of_prime = || lanes(pass).filter(|(place, _)| place % primes == prime);
                if lanes_of_prime().next().is_none() {
                    continue;
                }
                let numbers = || {
                    lanes_of_prime().map(|(place, lane)| {
                        let sum = &sums[place / primes * sum_words..];
                        (lane, &sum[..prime * part])
                    })
                };
                let (value, working) = self.stream(memory, 0);
                self.enter(prepared, numbers, (&mut *value, &mut *working));
                kernel.mul(&prepared.moduli, value, &prepared.leave, working);
                for (place, lane) in lanes_of_prime() {
                    let item = place / primes;
                    kernel.store(&prepared.moduli, lane, value, m_t);
                    recombine(
                        &self.items[item].steps[prime],
                        &mut powers[place * part..][..part],
                        m_t,
                        &mut sums[item * sum_words..][..(prime + 1) * part],
                        &mut product[..(prime + 1) * part],
                    );
                }
            }
        }
        for (m, sum) in values.chunks_exact_mut(self.limbs).zip(sums.chunks_exact(sum_words)) {
            m.copy_from_slice(&sum[..m.len()]);
        }
    }
}
