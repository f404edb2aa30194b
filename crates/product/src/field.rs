//! The primes, and scalars modulo them.

/// The longest power of two that transforms can have.
pub(crate) const MAX_LOG: u32 = 30;

/// The four largest primes below 2^50 that are 1 modulo 15 · 2^30, each with a primitive root. (15 = 3 · 5.)
pub(crate) const PRIMES: [Field; 4] = [
    Field::new(1_125_818_302_464_001, 7),
    Field::new(1_125_769_984_081_921, 7),
    Field::new(1_125_625_028_935_681, 11),
    Field::new(1_125_399_543_152_641, 41),
];

/// Integers modulo a prime.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// The prime.
    pub(crate) p: u64,
    /// A primitive root.
    generator: u64,
}

/// A factor as kernels take it: of either sign, at most p/2, and that over p, rounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Factor {
    pub(crate) w: f64,
    pub(crate) v: f64,
}

impl Factor {
    /// Something to begin a table with.
    pub(crate) const ONE: Self = Self { w: 1.0, v: 0.0 };
}

/// 1/p_i modulo p_j for i < j, in row i.
pub(crate) const INVERSES: [[Factor; 4]; 4] = {
    let mut inverses = [[Factor::ONE; 4]; 4];
    let mut j = 0;
    while j < 4 {
        let mut i = 0;
        while i < j {
            inverses[i][j] = PRIMES[j].factor(PRIMES[j].invert(PRIMES[i].p));
            i += 1;
        }
        j += 1;
    }
    inverses
};

impl Field {
    const fn new(p: u64, generator: u64) -> Self {
        Self { p, generator }
    }

    /// a b.
    pub(crate) const fn mul(self, a: u64, b: u64) -> u64 {
        // The quotient, wrong by one at most: a b and its quotient are below 2^100 and 2^50, in doubles.
        let quotient = (a as f64 * b as f64 / self.p as f64) as u64;
        let rest = a.wrapping_mul(b).wrapping_sub(quotient.wrapping_mul(self.p));
        if rest as i64 >= self.p as i64 {
            rest - self.p
        } else if (rest as i64) < 0 {
            rest.wrapping_add(self.p)
        } else {
            rest
        }
    }

    /// a^e.
    pub(crate) const fn pow(self, mut a: u64, mut e: u64) -> u64 {
        let mut power = 1;
        while e > 0 {
            if e & 1 == 1 {
                power = self.mul(power, a);
            }
            a = self.mul(a, a);
            e >>= 1;
        }
        power
    }

    /// 1/a.
    pub(crate) const fn invert(self, a: u64) -> u64 {
        self.pow(a % self.p, self.p - 2)
    }

    /// 1/n for an n that divides p - 1: n (p - 1)/n is -1.
    pub(crate) fn invert_divisor(self, n: u64) -> u64 {
        debug_assert_eq!((self.p - 1) % n, 0);
        self.p - (self.p - 1) / n
    }

    /// An element of this order, which divides 15 · 2^30: the same power of the generator for all, so that
    /// root(n)^k = root(n/k).
    pub(crate) const fn root(self, order: u64) -> u64 {
        debug_assert!((self.p - 1).is_multiple_of(order));
        self.pow(self.generator, (self.p - 1) / order)
    }

    /// The representative of least absolute value.
    pub(crate) const fn centred(self, a: u64) -> f64 {
        if a > self.p / 2 {
            a as f64 - self.p as f64
        } else {
            a as f64
        }
    }

    /// `a`, to be multiplied by.
    pub(crate) const fn factor(self, a: u64) -> Factor {
        let w = self.centred(a);
        Factor {
            w,
            v: w / self.p as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_and_roots_are_what_they_are_said_to_be() {
        for (i, field) in PRIMES.iter().enumerate() {
            assert!(field.p < 1 << 50 && field.p > (1 << 50) / 10_007 * 10_000);
            assert_eq!(field.p % (15 << MAX_LOG), 1);
            // A root of the full order shows that the group has 15 · 2^30 elements of such orders: with p - 1 =
            // 15 · 2^30 · c, c below 2^17, p is prime by Pocklington's theorem, for 15 · 2^30 exceeds its root.
            let order = 15 << MAX_LOG;
            assert!(order > 1 << 25);
            let root = field.root(order);
            for prime in [2, 3, 5] {
                assert_ne!(field.pow(root, order / prime), 1, "{i} {prime}");
                // The gcd of that power less 1 and p is 1.
                let difference = field.pow(root, order / prime) - 1;
                assert_eq!(field.mul(difference, field.invert(difference)), 1);
            }
            assert_eq!(field.pow(root, order), 1);
            let exact = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(field.p)) as u64;
            let mut a = field.p - 1;
            for step in 0..100_000 {
                let b = if step % 7 == 0 { a } else { field.p - 1 - step };
                assert_eq!(field.mul(a, b), exact(a, b), "{a} {b}");
                a = exact(a, field.p - 2) / (1 << (step % 50));
            }
            assert_eq!(field.mul(field.invert_divisor(15 << 20), 15 << 20), 1);
        }
    }
}
