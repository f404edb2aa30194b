//! The choice of primes, digits and lengths.

use crate::{
    digits::Reader,
    field::{Factor, MAX_LOG, PRIMES},
    kernel::{Eight, Line, MAX_BITS, Modulus},
    table::{MAX_INNER_LOG, table},
    transform::{self, Before},
    twist::Cyclic,
};

/// How numbers are made polynomials: digits of `bits` bits, of which there are `length`, modulo `primes` primes.
/// Products are right modulo 2^(bits · length) - 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// 3 or 4.
    pub(crate) primes: usize,
    pub(crate) bits: u32,
    /// 1, 3 or 5.
    m: usize,
    log: u32,
}

impl Plan {
    /// The cheapest for at least so many bits, and sums of `terms` products.
    pub(crate) fn new(bits: usize, terms: usize) -> Self {
        Self::for_threads(bits, terms, 1)
    }

    /// As [`new`](Self::new), for so many threads, each of which works modulo one prime at a time: two of them take as
    /// long for three primes as for four, whose transforms are shorter.
    pub(crate) fn for_threads(bits: usize, terms: usize, threads: usize) -> Self {
        let mut best: Option<(u64, Self)> = None;
        for primes in [3, 4] {
            for m in [1, 3, 5] {
                // The shortest that is long enough; longer ones have digits of fewer bits.
                let least = (bits / (MAX_BITS as usize * m)).max(1).ilog2().max(6);
                let plan = (least..=MAX_LOG)
                    .filter_map(|log| Self::with(primes, m, log, terms))
                    .find(|plan| plan.capacity() >= bits);
                if let Some(plan) = plan
                    && best.is_none_or(|(cost, _)| plan.cost(threads) < cost)
                {
                    best = Some((plan.cost(threads), plan));
                }
            }
        }
        best.expect("numbers of less than 2^35 bits").1
    }

    /// With the longest digits: a coefficient, a sum of `terms` times m 2^log products of digits, is below the product
    /// of the primes, which is above 2^(50 primes - 0.002).
    pub(crate) fn with(primes: usize, m: usize, log: u32, terms: usize) -> Option<Self> {
        let room = 50.0 * primes as f64 - 0.002 - f64::from(log) - ((terms * m) as f64).log2();
        let bits = ((room / 2.0) as u32).min(MAX_BITS);
        (bits >= 32).then_some(Self { primes, bits, m, log })
    }

    /// An estimate of time: levels, and what is done once for a residue.
    fn cost(&self, threads: usize) -> u64 {
        let mut levels = u64::from(self.log) + 12;
        if self.m > 1 {
            levels += 5;
        }
        if self.log > MAX_INNER_LOG {
            levels += 4;
        }
        (self.primes.div_ceil(threads) * self.length()) as u64 * levels
    }

    /// Digits.
    pub(crate) fn length(&self) -> usize {
        self.m << self.log
    }

    /// Lines of a transform.
    pub(crate) fn lines(&self) -> usize {
        self.length() / 8
    }

    /// Bits of the longest number.
    pub(crate) fn capacity(&self) -> usize {
        self.bits as usize * self.length()
    }

    /// The transform modulo prime number `prime`.
    pub(crate) fn cyclic(&self, prime: usize) -> Cyclic {
        Cyclic {
            prime,
            field: PRIMES[prime],
            table: table(prime, self.log.min(MAX_INNER_LOG)),
            m: self.m,
            log: self.log,
        }
    }
}

/// The transform of a number modulo prime number `prime`.
#[inline(always)]
pub(crate) fn forward<E: Eight>(token: E::Token, plan: &Plan, prime: usize, limbs: &[u64], out: &mut [Line]) {
    let modulus = Modulus::<E>::new(token, PRIMES[prime].p);
    let cyclic = plan.cyclic(prime);
    let reader = Reader::<E>::new(token, limbs, plan.bits, cyclic.field);
    transform::forward(token, &reader, out, &cyclic, &modulus);
}

/// A sum of products of transforms, times a factor.
struct Products<'a> {
    products: &'a [(&'a [Line], &'a [Line])],
    scale: Factor,
}

impl Before for Products<'_> {
    #[inline(always)]
    fn run<E: Eight>(&self, token: E::Token, part: &mut [Line], line: usize, modulus: &Modulus<E>) {
        let (w, v) = (E::splat(token, self.scale.w), E::splat(token, self.scale.v));
        let of = |a: &[Line]| line..line + part.len().min(a.len());
        match *self.products {
            [(a, b)] => {
                let (a, b) = (&a[of(a)], &b[of(b)]);
                for ((out, a), b) in part.iter_mut().zip(a).zip(b) {
                    let b = E::load(token, b).mul_by(w, v, modulus);
                    E::load(token, a).reduce(modulus).mul(b, modulus).store(out);
                }
            }
            [(a, b), (c, d)] => {
                let ab = a[of(a)].iter().zip(&b[of(b)]);
                let cd = c[of(c)].iter().zip(&d[of(d)]);
                for ((out, (a, b)), (c, d)) in part.iter_mut().zip(ab).zip(cd) {
                    let ab = E::load(token, a)
                        .reduce(modulus)
                        .mul(E::load(token, b).reduce(modulus), modulus);
                    let cd = E::load(token, c)
                        .reduce(modulus)
                        .mul(E::load(token, d).reduce(modulus), modulus);
                    ab.add(cd).mul_by(w, v, modulus).store(out);
                }
            }
            _ => unreachable!("one product, or two"),
        }
    }
}

/// The coefficients modulo prime number `prime` of one product of transforms, or of the sum of two.
#[inline(always)]
pub(crate) fn inverse<E: Eight>(
    token: E::Token,
    plan: &Plan,
    prime: usize,
    products: &[(&[Line], &[Line])],
    out: &mut [Line],
) {
    let modulus = Modulus::<E>::new(token, PRIMES[prime].p);
    let cyclic = plan.cyclic(prime);
    let scale = cyclic.field.factor(cyclic.field.invert_divisor(plan.length() as u64));
    transform::inverse(token, out, &cyclic, &modulus, &Products { products, scale });
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn coefficients_are_below_the_product_of_the_primes() {
        for primes in [3, 4] {
            let product: BigUint = PRIMES[..primes].iter().map(|field| BigUint::from(field.p)).product();
            for (m, log, terms) in [1, 3, 5]
                .into_iter()
                .flat_map(|m| (6..=MAX_LOG).flat_map(move |log| [(m, log, 1), (m, log, 2)]))
            {
                let plan = Plan::with(primes, m, log, terms).expect("digits of 32 bits at least");
                let digit = (BigUint::from(1_u8) << plan.bits) - 1_u8;
                assert!(&digit * &digit * plan.length() * terms < product, "{plan:?}");
                // A bit more would be too much, but where digits are as long as they may be.
                let digit: BigUint = (digit << 1) + 1_u8;
                assert!(
                    plan.bits == MAX_BITS || &digit * &digit * plan.length() * terms > product,
                    "{plan:?}"
                );
            }
        }
    }

    #[test]
    fn plans_are_long_enough_and_not_much_longer() {
        for bits in (100..40_000_000).step_by(99_991) {
            for threads in [1, 2, 16] {
                let plan = Plan::for_threads(bits, 1, threads);
                assert!(plan.capacity() >= bits);
                assert!(bits < 20_000 || plan.capacity() * 3 < bits * 4, "{bits} {plan:?}");
            }
        }
    }
}
