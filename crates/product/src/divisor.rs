//! Remainders of many numbers by one, with its reciprocal (Barrett 1986).
//!
//! ```text
//! z = q 2^zeros, of m limbs, its top bit set        X = 2^128m / z, wrong by at most 8 units
//! a of 2 m limbs:  quotient = (a / 2^64(m-1)) X / 2^64(m+1)       a - quotient z, between -12 z and 12 z
//! ```
//!
//! The product of quotient and z is needed modulo a 2^n - 1 of some limbs more than z only: the difference is short.
//! The quotient is wrong by 8 units of X (times less than 1), one each for what was cut off of a, of the product and of
//! the sum of its lower limbs.

use crate::{
    natural::{negate, shift_left, shift_right, sub_assign, trim},
    product::{Multiplier, Transformed},
    reciprocal::{difference, reciprocal},
};

/// Below so many limbs products are taken whole.
const WHOLE: usize = 64;

/// A number q that others are divided by. All is done modulo z: what is congruent modulo z is congruent modulo q.
#[derive(Debug)]
pub(crate) struct Divisor {
    zeros: u32,
    z: Vec<u64>,
    inverse: Vec<u64>,
    /// The inverse, for products of 2 m + 2 limbs; and z, for products modulo a 2^n - 1 of m + 4 limbs.
    transforms: Option<[Transformed; 2]>,
}

impl Divisor {
    /// By a `q` that is not 0.
    pub(crate) fn new(multiplier: &Multiplier, q: &[u64]) -> Self {
        let q = trim(q);
        let m = q.len();
        let zeros = q[m - 1].leading_zeros();
        let mut z = shift_left(q, zeros);
        z.truncate(m);
        let inverse = reciprocal(multiplier, &z);
        let transforms = (m >= WHOLE).then(|| {
            let [long, short] = [2 * m + 2, m + 4].map(|limbs| multiplier.plan(64 * limbs));
            [multiplier.transform(&inverse, &long), multiplier.transform(&z, &short)]
        });
        Self {
            zeros,
            z,
            inverse,
            transforms,
        }
    }

    /// Limbs of q.
    pub(crate) fn limbs(&self) -> usize {
        self.z.len()
    }

    /// a modulo z, in as many limbs; `a` has any length.
    pub(crate) fn reduce(&self, multiplier: &Multiplier, a: &[u64]) -> Vec<u64> {
        let m = self.limbs();
        let a = trim(a);
        if a.len() <= 2 * m {
            return self.reduce_two(multiplier, a);
        }
        let mut rest: Vec<u64> = Vec::new();
        for part in a.chunks(m).rev() {
            let mut both = part.to_vec();
            both.resize(m, 0);
            both.extend_from_slice(&rest);
            rest = self.reduce_two(multiplier, &both);
        }
        rest
    }

    /// a modulo q, in as many limbs.
    pub(crate) fn remainder(&self, multiplier: &Multiplier, a: &[u64]) -> Vec<u64> {
        let shifted = self.reduce(multiplier, &shift_left(a, self.zeros));
        let mut rest = shift_right(&shifted, self.zeros as usize);
        rest.resize(self.limbs(), 0);
        rest
    }

    fn reduce_two(&self, multiplier: &Multiplier, a: &[u64]) -> Vec<u64> {
        let m = self.limbs();
        let mut whole = a.to_vec();
        whole.resize(2 * m, 0);
        let top = trim(&whole[m - 1..]);
        let (mut rest, above) = match &self.transforms {
            None => {
                let product = multiplier.multiply(top, &self.inverse);
                let quotient = product.get(m + 1..).unwrap_or_default();
                let mut product = multiplier.multiply(quotient, &self.z);
                product.resize(2 * m + 2, 0);
                whole.resize(2 * m + 2, 0);
                let above = sub_assign(&mut whole, &product);
                if above {
                    negate(&mut whole);
                }
                (whole, above)
            }
            Some([inverse, z]) => {
                let top = multiplier.transform(top, &inverse.plan);
                let quotient = multiplier.sum_of_products(&[(&top, inverse)], m + 1, 2 * m + 2);
                drop(top);
                let quotient = multiplier.transform(trim(&quotient), &z.plan);
                let ring = z.ring_bits() / 64;
                let product = multiplier.sum_of_products(&[(&quotient, z)], 0, ring);
                difference(product, &whole)
            }
        };
        // Of the difference little is left above z.
        rest.truncate(m + 1);
        if above {
            // It is negative.
            rest = loop {
                let mut positive = self.z.clone();
                positive.push(0);
                if !sub_assign(&mut positive, &rest) {
                    break positive;
                }
                sub_assign(&mut rest, &self.z);
            };
        }
        let mut less = rest.clone();
        while !sub_assign(&mut less, &self.z) {
            rest.clone_from(&less);
        }
        rest.truncate(m);
        rest
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;
    use crate::natural::to_bytes;

    fn big(a: &[u64]) -> BigUint {
        BigUint::from_bytes_be(&to_bytes(a))
    }

    #[test]
    fn remainders_are_those_of_division() {
        let multiplier = Multiplier::new(2);
        let mut x = 88_172_645_463_325_252_u64;
        let mut random = |limbs: usize| -> Vec<u64> {
            let next = |_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x
            };
            (0..limbs).map(next).collect()
        };
        for m in [1, 2, 3, 5, 8, 40, 63, 64, 65, 100, 150, 333, 1000] {
            let mut least = vec![0; m];
            least[m - 1] = 1 << 63;
            let mut small = random(m);
            small[m - 1] = 1;
            for q in [random(m), vec![u64::MAX; m], least, small] {
                let divisor = Divisor::new(&multiplier, &q);
                let multiple = multiplier.multiply(&q, &random(m));
                let mut below = multiple.clone();
                sub_assign(&mut below, &[1]);
                for a in [
                    Vec::new(),
                    vec![1],
                    q.clone(),
                    multiple,
                    below,
                    random(m / 2),
                    random(2 * m),
                    vec![u64::MAX; 2 * m],
                    random(2 * m + 1),
                    random(5 * m + 3),
                    vec![u64::MAX; 4 * m],
                    vec![0; 3 * m],
                ] {
                    let found = divisor.remainder(&multiplier, &a);
                    assert_eq!(found.len(), m);
                    assert_eq!(big(&found), big(&a) % big(&q), "{m}: {} limbs", a.len());
                    let found = divisor.reduce(&multiplier, &a);
                    assert_eq!(found.len(), m);
                    assert_eq!(big(&found) % big(&q), big(&a) % big(&q), "{m}: {} limbs", a.len());
                }
            }
        }
    }
}
