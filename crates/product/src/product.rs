//! Products, and transforms that are used again.

use std::sync::Arc;

use crate::{
    digits,
    kernel::{Eight, Kernel, Line, Work},
    natural::{add_assign, bit_length, multiply_rows, trim},
    plan::{self, Plan},
    pool::{Buffer, Pool},
    team,
};

/// Below so many limbs of the shorter factor, products are taken row by row.
const ROWS: usize = 40;

/// Takes products, on one kernel and some threads. Time depends on the numbers: they must be public.
#[derive(Clone, Debug)]
pub struct Multiplier {
    kernel: Kernel,
    threads: usize,
    pool: Arc<Pool>,
}

/// A number as its values at roots of unity: made once, multiplied with often.
#[derive(Debug)]
pub struct Transformed {
    pub(crate) plan: Plan,
    /// For each prime.
    values: Vec<Buffer>,
}

impl Transformed {
    /// Bits of the ring: products are right modulo 2^bits - 1.
    pub fn ring_bits(&self) -> usize {
        self.plan.capacity()
    }
}

struct Forward<'a> {
    plan: &'a Plan,
    prime: usize,
    limbs: &'a [u64],
    out: &'a mut [Line],
}

impl Work for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Eight>(self, token: E::Token) {
        plan::forward::<E>(token, self.plan, self.prime, self.limbs, self.out);
    }
}

struct Inverse<'a> {
    plan: &'a Plan,
    prime: usize,
    products: &'a [(&'a [Line], &'a [Line])],
    out: &'a mut [Line],
}

impl Work for Inverse<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Eight>(self, token: E::Token) {
        plan::inverse::<E>(token, self.plan, self.prime, self.products, self.out);
    }
}

struct Recombine<'a> {
    plan: &'a Plan,
    /// For each prime.
    residues: &'a [Buffer],
    /// The lines that are wanted.
    from: usize,
    to: usize,
    out: &'a mut [u64],
}

impl Work for Recombine<'_> {
    type Output = [u64; 4];

    #[inline(always)]
    fn run<E: Eight>(self, token: E::Token) -> [u64; 4] {
        let part = |prime: usize| &self.residues[prime][self.from..self.to];
        if self.plan.primes == 3 {
            let [a, b, c] = digits::recombine::<E, 3>(token, [part(0), part(1), part(2)], self.plan.bits, self.out);
            [a, b, c, 0]
        } else {
            digits::recombine::<E, 4>(token, [part(0), part(1), part(2), part(3)], self.plan.bits, self.out)
        }
    }
}

/// One product, or a sum of two: of which of some numbers, and which limbs of it.
pub(crate) struct Sum<'a> {
    pub(crate) products: &'a [(usize, usize)],
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Lines whose digits are recombined by one task: a multiple of 8, so that they begin at a limb.
const PART: usize = 4096;

impl Default for Multiplier {
    fn default() -> Self {
        Self::new(1)
    }
}

impl Multiplier {
    /// With the fastest kernel, on up to so many threads.
    pub fn new(threads: usize) -> Self {
        Self::with_kernel(Kernel::best(), threads)
    }

    /// With this kernel.
    pub fn with_kernel(kernel: Kernel, threads: usize) -> Self {
        Self {
            kernel,
            threads: threads.max(1),
            pool: Arc::new(Pool::new(threads)),
        }
    }

    /// The kernel.
    pub(crate) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// Gives back the memory that is kept for the next transforms.
    pub fn release_memory(&self) {
        self.pool.clear();
    }

    /// As above, on one thread.
    pub(crate) fn single(&self) -> Self {
        Self {
            threads: 1,
            ..self.clone()
        }
    }

    /// a b, in as many limbs as both have together.
    pub fn multiply(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let (long, short) = if trim(a).len() >= trim(b).len() {
            (trim(a), trim(b))
        } else {
            (trim(b), trim(a))
        };
        let limbs = long.len() + short.len();
        let mut out = if short.len() < ROWS {
            let mut out = vec![0; limbs];
            multiply_rows(long, short, &mut out);
            out
        } else if long.len() > 4 * short.len() {
            // In pieces, so that the transforms are not mostly zeros.
            let mut out = vec![0; limbs];
            let piece = 3 * short.len();
            let plan = Plan::new(64 * (piece + short.len()), 1);
            let short_values = self.transform(short, &plan);
            for (i, part) in long.chunks(piece).enumerate() {
                let part_values = self.transform(part, &plan);
                let product = self.sum_of_products(&[(&part_values, &short_values)], 0, part.len() + short.len());
                add_assign(&mut out[i * piece..], &product);
            }
            out
        } else {
            let plan = Plan::new(bit_length(long) + bit_length(short), 1);
            let whole = |products| Sum {
                products,
                from: 0,
                to: limbs,
            };
            let product = if long == short {
                self.sums(&plan, [long], &[whole(&[(0, 0)])])
            } else {
                self.sums(&plan, [long, short], &[whole(&[(0, 1)])])
            };
            product.into_iter().next().expect("one sum")
        };
        out.resize(a.len() + b.len(), 0);
        out
    }

    /// a a.
    pub fn square(&self, a: &[u64]) -> Vec<u64> {
        self.multiply(a, a)
    }

    /// Transforms a number, for products modulo some 2^n - 1 with n at least `ring_bits` (and at least the number's own
    /// length). Numbers that shall be multiplied must be transformed for equal `ring_bits`.
    pub fn transformed(&self, a: &[u64], ring_bits: usize) -> Transformed {
        assert!(bit_length(a) <= ring_bits, "the number is shorter than the ring");
        self.transform(trim(a), &Plan::new(ring_bits, 2))
    }

    /// Limbs `from` .. `to` of the sum of one or two products, modulo 2^n - 1 for the n of the transforms.
    ///
    /// All is exact where the sum is below 2^n and `from` is 0. Otherwise the result is that of a number which differs
    /// by less than 2^(64 from) from it: use it for the middle of a product, where what is above wraps around to places
    /// below.
    pub fn middle(&self, products: &[(&Transformed, &Transformed)], from: usize, to: usize) -> Vec<u64> {
        assert!(matches!(products.len(), 1 | 2), "one product, or two");
        let plan = products[0].0.plan;
        let equal = products.iter().all(|(a, b)| a.plan == plan && b.plan == plan);
        assert!(equal, "transformed for rings of equal length");
        // A coefficient reaches beyond its own digit and the next, into a limb below the middle at most.
        assert!(from == 0 || from >= 3, "the whole, or the middle");
        self.sum_of_products(products, from, to)
    }

    /// Limbs of sums of products of these numbers, each as [`middle`](Self::middle).
    ///
    /// One prime after the other, so that what is transformed is multiplied while it is in a cache.
    pub(crate) fn sums<const N: usize>(&self, plan: &Plan, numbers: [&[u64]; N], sums: &[Sum<'_>]) -> Vec<Vec<u64>> {
        // A prime for each thread, as long as there is one for each; then a number for each.
        let together = plan.primes - plan.primes % self.threads;
        let of_prime = |threads, prime| self.sums_of_prime(threads, plan, prime, numbers, sums);
        let mut of_primes = team::map(self.threads, together, |prime| of_prime(1, prime));
        of_primes.extend((together..plan.primes).map(|prime| of_prime(self.threads, prime)));
        let mut residues: Vec<Vec<Buffer>> = sums.iter().map(|_| Vec::with_capacity(plan.primes)).collect();
        for of_prime in of_primes {
            for (residues, of_prime) in residues.iter_mut().zip(of_prime) {
                residues.push(of_prime);
            }
        }
        let pairs = residues.iter().zip(sums);
        pairs
            .map(|(residues, sum)| self.recombine(plan, residues, sum.from, sum.to))
            .collect()
    }

    /// The residues of each sum.
    fn sums_of_prime<const N: usize>(
        &self,
        threads: usize,
        plan: &Plan,
        prime: usize,
        numbers: [&[u64]; N],
        sums: &[Sum<'_>],
    ) -> Vec<Buffer> {
        let values = team::map(threads, N, |place| self.forward(plan, prime, numbers[place]));
        team::map(threads, sums.len(), |place| {
            let products = sums[place].products.iter();
            let products: Vec<(&[Line], &[Line])> = products.map(|&(a, b)| (&*values[a], &*values[b])).collect();
            self.inverse(plan, prime, &products)
        })
    }

    /// For products of at least so many bits, whose factors are transformed on all threads, a prime on each.
    pub(crate) fn plan(&self, bits: usize) -> Plan {
        Plan::for_threads(bits, 1, self.threads)
    }

    /// In memory that this thread takes: new pages are cleared where they are used first.
    fn forward(&self, plan: &Plan, prime: usize, limbs: &[u64]) -> Buffer {
        let mut out = self.pool.take(plan.lines());
        self.kernel.run(Forward {
            plan,
            prime,
            limbs,
            out: &mut out,
        });
        out
    }

    /// As [`forward`](Self::forward).
    fn inverse(&self, plan: &Plan, prime: usize, products: &[(&[Line], &[Line])]) -> Buffer {
        let mut out = self.pool.take(plan.lines());
        self.kernel.run(Inverse {
            plan,
            prime,
            products,
            out: &mut out,
        });
        out
    }

    /// As [`transformed`](Self::transformed).
    pub(crate) fn transform(&self, a: &[u64], plan: &Plan) -> Transformed {
        Transformed {
            plan: *plan,
            values: team::map(self.threads, plan.primes, |prime| self.forward(plan, prime, a)),
        }
    }

    /// As [`middle`](Self::middle).
    pub(crate) fn sum_of_products(
        &self,
        products: &[(&Transformed, &Transformed)],
        from: usize,
        to: usize,
    ) -> Vec<u64> {
        let plan = &products[0].0.plan;
        let residues = team::map(self.threads, plan.primes, |prime| {
            let products: Vec<(&[Line], &[Line])> = products
                .iter()
                .map(|(a, b)| (&*a.values[prime], &*b.values[prime]))
                .collect();
            self.inverse(plan, prime, &products)
        });
        self.recombine(plan, &residues, from, to)
    }

    fn recombine(&self, plan: &Plan, residues: &[Buffer], from: usize, to: usize) -> Vec<u64> {
        // A coefficient has fewer than 2b + 32 bits: of those that are wholly below, only three reach bit 64 from, with
        // less than 2^b of its unit.
        let bits = plan.bits as usize;
        let first = (64 * from / bits).saturating_sub(4) / 64 * 8;
        let last = (64 * to).div_ceil(8 * bits).div_ceil(8) * 8;
        let last = last.min(plan.lines());
        let limbs_of = |lines: usize| lines / 8 * bits;
        let mut out = vec![0; limbs_of(last - first)];
        let tasks: Vec<_> = out.chunks_mut(limbs_of(PART)).enumerate().collect();
        let above = std::sync::Mutex::new(vec![[0; 4]; tasks.len()]);
        team::for_each(self.threads, tasks, |(i, out)| {
            let from = first + i * PART;
            let carry = self.kernel.run(Recombine {
                plan,
                residues,
                from,
                to: (from + PART).min(last),
                out,
            });
            above.lock().expect("nothing panics while it holds the lock")[i] = carry;
        });
        let above = above.into_inner().expect("nothing panics while it holds the lock");
        let mut wrapped = false;
        for (i, carry) in above.iter().enumerate() {
            let end = (i + 1) * limbs_of(PART);
            if end < out.len() {
                let room = out.len() - end;
                wrapped |= add_assign(&mut out[end..], &carry[..room.min(4)]);
            }
        }
        if first == 0 && last == plan.lines() {
            // 2^n is 1.
            let carry = above.last().map_or([0; 4], |carry| *carry);
            let again = add_assign(&mut out, &carry);
            for _ in 0..u8::from(wrapped) + u8::from(again) {
                add_assign(&mut out, &[1]);
            }
        }
        let start = 64 * from - 8 * bits * first;
        debug_assert!(start.is_multiple_of(64));
        if start > 0 {
            out.drain(..start / 64);
        }
        out.resize(to - from, 0);
        out
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    /// Digits of each kind: shorter than a limb, as long, longer, and the longest; read and recombined by every kernel.
    #[test]
    fn digits_of_all_lengths_give_the_same() {
        let big = |a: &[u64]| BigUint::from_bytes_be(&crate::natural::to_bytes(a));
        for (primes, bits) in [
            (3, 32),
            (3, 48),
            (3, 49),
            (3, 63),
            (3, 64),
            (3, 65),
            (3, 70),
            (4, 64),
            (4, 95),
            (4, 96),
        ] {
            let mut plan = Plan::with(primes, 1, 7, 1).expect("short enough");
            plan.bits = bits;
            let limbs = plan.capacity() / 128;
            let random = (0..limbs as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 % 64));
            for a in [random.collect(), vec![u64::MAX; limbs]] {
                let product = big(&a) * big(&a);
                for &kernel in Kernel::all() {
                    let multiplier = Multiplier::with_kernel(kernel, 1);
                    let sum = Sum {
                        products: &[(0, 0)],
                        from: 0,
                        to: 2 * limbs,
                    };
                    let found = multiplier.sums(&plan, [&a], &[sum]);
                    assert_eq!(big(&found[0]), product, "{bits} {}", kernel.name());
                }
            }
        }
    }
}
