//! Reciprocals, by Newton's iteration.

use crate::{
    natural::{add_assign, negate, significant, sub_assign},
    product::Multiplier,
};

/// Numbers up to so many limbs are divided bit by bit.
const SHORT: usize = 4;

/// 2^128m / z for the m limbs of `z`, whose top bit is set: m + 1 limbs (2^64m / z as a fraction of 64 m bits), wrong
/// by at most 4 units.
///
/// With h = m/2 + 2 and X the reciprocal of z's top h limbs, X' = X + X (1 - z X) is wrong by the square of X's error,
/// which is below 2^(6 - 128 h) < 2^(-64 m - 200) of it; and by what is cut off: of 1 - z X the limbs beyond m (one
/// unit, times X ≤ 2), of the product likewise (one unit). z's limbs beyond h are within the square.
pub(crate) fn reciprocal(multiplier: &Multiplier, z: &[u64]) -> Vec<u64> {
    let m = z.len();
    if m <= SHORT {
        return divide(z);
    }
    let h = m / 2 + 2;
    let top = reciprocal(multiplier, &z[m - h..]);
    // z X, of which one is 2^64(m + h).
    let mut error = multiplier.multiply(z, &top);
    let above = error[m + h] != 0;
    error.truncate(m + h);
    if !above {
        negate(&mut error);
    }
    let mut x = vec![0; m + 1];
    x[m - h..].copy_from_slice(&top);
    let limbs = significant(&error);
    if limbs > h {
        let product = multiplier.multiply(&error[h..limbs], &top);
        if above {
            sub_assign(&mut x, &product[h..]);
        } else {
            add_assign(&mut x, &product[h..]);
        }
    }
    x
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
    fn reciprocals_are_within_four_units() {
        let multiplier = Multiplier::new(1);
        let mut x = 88_172_645_463_325_252_u64;
        for m in [1, 2, 3, 4, 5, 6, 7, 8, 9, 30, 77, 150, 401, 1000] {
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
                assert!(difference <= BigUint::from(4_u8), "{m}: {difference}");
            }
        }
    }
}
