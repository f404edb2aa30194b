//! Reciprocals and quotients, by Newton's iteration.
//!
//! What is nearly known needs no product of full length: z X, which differs little from 1, is taken modulo a 2^n - 1
//! that is just longer than z, and 1 is subtracted there.

use crate::{
    natural::{add_assign, negate, significant, sub_assign},
    product::Multiplier,
};

/// Numbers up to so many limbs are divided bit by bit.
const SHORT: usize = 4;

/// Below so many limbs products are taken whole.
const WHOLE: usize = 64;

/// 2^128m / z for the m limbs of `z`, whose top bit is set: m + 1 limbs (2^64m / z as a fraction of 64 m bits), wrong
/// by at most 8 units.
///
/// With h = m/2 + 2 and X the reciprocal of z's top h limbs, X' = X + X (1 - z X) is wrong by the square of X's error,
/// which is below 2^(8 - 128 h) < 2^(-64 m - 200) of it; and by what is cut off: of 1 - z X the limbs beyond m, and
/// what carries from them (two units, times X ≤ 2), of the product likewise (one unit). z's limbs beyond h are within
/// the square.
pub(crate) fn reciprocal(multiplier: &Multiplier, z: &[u64]) -> Vec<u64> {
    let m = z.len();
    if m <= SHORT {
        return divide(z);
    }
    let h = m / 2 + 2;
    let top = reciprocal(multiplier, &z[m - h..]);
    let mut x = vec![0; m + 1];
    x[m - h..].copy_from_slice(&top);
    if m < WHOLE {
        // z X, of which one is 2^64(m + h).
        let mut error = multiplier.multiply(z, &top);
        let above = error[m + h] != 0;
        error.truncate(m + h);
        if !above {
            negate(&mut error);
        }
        let limbs = significant(&error);
        if limbs > h {
            let product = multiplier.multiply(&error[h..limbs], &top);
            correct(&mut x, &product[h..], above);
        }
    } else {
        let plan = multiplier.plan(64 * (m + 4));
        let [z, top] = [z, &top].map(|number| multiplier.transform(number, &plan));
        let ring = plan.capacity() / 64;
        let product = multiplier.sum_of_products(&[(&z, &top)], 0, ring);
        let mut one = vec![0; m + h + 1];
        one[m + h] = 1;
        let (error, above) = difference(product, &one);
        // At most 8 · 2^64m.
        let error = multiplier.transform(&error[h..=m], &plan);
        let product = multiplier.sum_of_products(&[(&error, &top)], 0, m + 2);
        correct(&mut x, &product[h..], above);
    }
    x
}

/// 2^64m d / z for the m limbs of `z`, whose top bit is set, and `d` of at most m + 1 limbs, of which the top one is
/// below 2^60: m + 1 limbs, wrong by at most 8 units.
///
/// As [`reciprocal`], with d in the last step: q = d X, q' = q + X (d - z q).
pub(crate) fn quotient(multiplier: &Multiplier, d: &[u64], z: &[u64]) -> Vec<u64> {
    let m = z.len();
    if m < WHOLE {
        // A limb more is as much as d can be above 1, another for the product with what the reciprocal is wrong by.
        let z = [&[0; 2], z].concat();
        let product = multiplier.multiply(&reciprocal(multiplier, &z), d);
        let whole = product.get(m + 2..).unwrap_or_default();
        return whole.iter().copied().chain(std::iter::repeat(0)).take(m + 1).collect();
    }
    let h = m / 2 + 2;
    let top = reciprocal(multiplier, &z[m - h..]);
    let plan = multiplier.plan(64 * (2 * h + 4));
    let ring = plan.capacity() / 64;
    let mut d = d.to_vec();
    d.resize(m + 1, 0);
    let [z, top, d_top] = [z, &top, &d[m - h..]].map(|number| multiplier.transform(number, &plan));
    let q = multiplier.sum_of_products(&[(&d_top, &top)], h, 2 * h + 2);
    let product = multiplier.sum_of_products(&[(&z, &multiplier.transform(&q, &plan))], 0, ring);
    let mut shifted = vec![0; h];
    shifted.extend(&d);
    let (error, above) = difference(product, &shifted);
    // At most 2^(64 m + 68).
    let error = multiplier.transform(&error[h..m + 2], &plan);
    let product = multiplier.sum_of_products(&[(&error, &top)], 0, m + 3);
    let mut quotient = vec![0; m - h];
    quotient.extend(q);
    correct(&mut quotient, &product[h..], above);
    quotient.truncate(m + 1);
    quotient
}

/// x - product, or where not `above` x + product; limbs that `x` does not have are 0.
fn correct(x: &mut [u64], product: &[u64], above: bool) {
    let product = &product[..product.len().min(x.len())];
    if above {
        sub_assign(x, product);
    } else {
        add_assign(x, product);
    }
}

/// |a - b| modulo 2^n - 1, for the n bits of `a`, where that is small; and whether a was greater.
pub(crate) fn difference(mut a: Vec<u64>, b: &[u64]) -> (Vec<u64>, bool) {
    for part in b.chunks(a.len()) {
        if sub_assign(&mut a, part) {
            sub_assign(&mut a, &[1]);
        }
    }
    let above = a[a.len() - 1] >> 63 == 0;
    if !above {
        for limb in &mut a {
            *limb = !*limb;
        }
    }
    (a, above)
}

/// 2^128m / z, bit by bit, rounded down.
fn divide(z: &[u64]) -> Vec<u64> {
    let m = z.len();
    let mut rest = vec![0; m + 1];
    let mut quotient = vec![0; m + 1];
    for bit in (0..=128 * m).rev() {
        // rest = 2 rest + (a bit of 2^128m)
        let mut low = u64::from(bit == 128 * m);
        for limb in &mut rest {
            let top = *limb >> 63;
            *limb = *limb << 1 | low;
            low = top;
        }
        let mut less = rest.clone();
        if !sub_assign(&mut less, z) {
            rest = less;
            // The quotient is at most 2^(64 m + 1).
            quotient[bit / 64] |= 1 << (bit % 64);
        }
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn big(a: &[u64]) -> BigUint {
        BigUint::from_bytes_be(&crate::natural::to_bytes(a))
    }

    #[test]
    fn reciprocals_and_quotients_are_within_eight_units() {
        let multiplier = Multiplier::new(1);
        let mut x = 88_172_645_463_325_252_u64;
        for m in [
            1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 63, 64, 65, 77, 128, 150, 401, 1000, 2048, 5000,
        ] {
            let random: Vec<u64> = (0..m)
                .map(|_| {
                    x ^= x << 13;
                    x ^= x >> 7;
                    x ^= x << 17;
                    x
                })
                .collect();
            let mut least = vec![0; m];
            let mut next = vec![0; m];
            next[0] = 1;
            for z in [&mut random.clone(), &mut vec![u64::MAX; m], &mut least, &mut next] {
                z[m - 1] |= 1 << 63;
                let exact = (BigUint::from(1_u8) << (128 * m)) / big(z);
                let found = big(&reciprocal(&multiplier, z));
                let difference = if exact > found { exact - found } else { found - exact };
                assert!(difference <= BigUint::from(8_u8), "{m}: {difference}");
                for d in [
                    &random,
                    &vec![u64::MAX; m],
                    &vec![0; m],
                    &[&random[..], &[1 << 59]].concat(),
                ] {
                    let exact = (big(d) << (64 * m)) / big(z);
                    let found = quotient(&multiplier, d, z);
                    assert_eq!(found.len(), m + 1);
                    let found = big(&found);
                    let difference = if exact > found { exact - found } else { found - exact };
                    assert!(difference <= BigUint::from(8_u8), "{m}: {difference}");
                }
            }
        }
    }
}
