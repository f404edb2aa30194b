//! Greatest common divisors of two numbers of a few dozen limbs, in variable time.
//!
//! The division steps of Bernstein and Yang ("Fast constant-time gcd computation and modular inversion", 2019), 62 at a
//! time on the lowest limbs, as many zeros at once as there are.

use crate::{
    kernel::Kernel,
    natural::{negate, significant},
};

/// gcd(f, g) of each pair, f odd.
pub(crate) fn gcds(kernel: Kernel, pairs: &[(&[u64], &[u64])]) -> Vec<Vec<u64>> {
    kernel
        .gcds(pairs)
        .unwrap_or_else(|| pairs.iter().map(|(f, g)| gcd(f, g)).collect())
}

/// gcd(f, g) for an odd `f`.
pub(crate) fn gcd(f: &[u64], g: &[u64]) -> Vec<u64> {
    debug_assert!(f[0] & 1 == 1);
    // Two's complement, with a limb for the sign.
    let limbs = f.len().max(g.len()) + 1;
    let extend = |a: &[u64]| {
        let mut a = a.to_vec();
        a.resize(limbs, 0);
        a
    };
    let (mut f, mut g) = (extend(f), extend(g));
    let mut eta = -1;
    while g.iter().any(|&limb| limb != 0) {
        let matrix = steps(&mut eta, f[0], g[0]);
        apply(&mut f, &mut g, matrix);
        shorten(&mut f, &mut g);
    }
    if f[f.len() - 1] >> 63 == 1 {
        negate(&mut f);
    }
    f.truncate(significant(&f));
    f
}

/// 62 division steps: the matrix that takes f and g to 2^62 times what they become. The sum of the absolute values of a
/// row is at most 2^62.
fn steps(eta: &mut i64, mut f: u64, mut g: u64) -> [[i64; 2]; 2] {
    let ([mut u, mut v], [mut q, mut r]) = ([1_u64, 0], [0, 1_u64]);
    let mut left = 62_u32;
    loop {
        let zeros = (g | u64::MAX << left).trailing_zeros();
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        *eta -= i64::from(zeros);
        left -= zeros;
        if left == 0 {
            return [[u as i64, v as i64], [q as i64, r as i64]];
        }
        // The multiple of f that clears as many low bits of g as there are steps before the next exchange, up to 6
        // or 4.
        let w = if *eta < 0 {
            *eta = -*eta;
            (f, g) = (g, f.wrapping_neg());
            (u, q) = (q, u.wrapping_neg());
            (v, r) = (r, v.wrapping_neg());
            let limit = (*eta + 1).min(i64::from(left));
            let mask = u64::MAX >> (64 - limit) & 63;
            f.wrapping_mul(g).wrapping_mul(f.wrapping_mul(f).wrapping_sub(2)) & mask
        } else {
            let limit = (*eta + 1).min(i64::from(left));
            let mask = u64::MAX >> (64 - limit) & 15;
            let inverse = f.wrapping_add((f.wrapping_add(1) & 4) << 1);
            inverse.wrapping_neg().wrapping_mul(g) & mask
        };
        g = g.wrapping_add(f.wrapping_mul(w));
        q = q.wrapping_add(u.wrapping_mul(w));
        r = r.wrapping_add(v.wrapping_mul(w));
    }
}

/// The matrix times both, divided by 2^62, which is exact.
fn apply(f: &mut [u64], g: &mut [u64], [[u, v], [q, r]]: [[i64; 2]; 2]) {
    let limbs = f.len();
    // One unsigned product, and what a sign is worth: modulo 2^128, where the difference is below 2^126.
    let wide = |a: i64, b: u64| {
        let signed = i128::from((a >> 63) as u64 & b) << 64;
        ((u128::from(a as u64) * u128::from(b)) as i128).wrapping_sub(signed)
    };
    let (mut carry_f, mut carry_g) = (0_i128, 0_i128);
    let (mut before_f, mut before_g) = (0_u64, 0_u64);
    for i in 0..limbs {
        let (x, y) = (f[i], g[i]);
        if i + 1 < limbs {
            carry_f += wide(u, x) + wide(v, y);
            carry_g += wide(q, x) + wide(r, y);
        } else {
            // The limb of the sign: 0 or -1.
            let (x, y) = (i128::from(x as i64), i128::from(y as i64));
            carry_f += i128::from(u) * x + i128::from(v) * y;
            carry_g += i128::from(q) * x + i128::from(r) * y;
        }
        let (low_f, low_g) = (carry_f as u64, carry_g as u64);
        carry_f >>= 64;
        carry_g >>= 64;
        if i > 0 {
            f[i - 1] = before_f >> 62 | low_f << 2;
            g[i - 1] = before_g >> 62 | low_g << 2;
        }
        (before_f, before_g) = (low_f, low_g);
    }
    f[limbs - 1] = before_f >> 62 | (carry_f as u64) << 2;
    g[limbs - 1] = before_g >> 62 | (carry_g as u64) << 2;
}

/// Leaves out limbs that say nothing but the sign.
fn shorten(f: &mut Vec<u64>, g: &mut Vec<u64>) {
    let is_sign = |a: &[u64]| {
        let top = a[a.len() - 1];
        top == (a[a.len() - 2] as i64 >> 63) as u64
    };
    while f.len() > 2 && is_sign(f) && is_sign(g) {
        f.pop();
        g.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_euclid() {
        let euclid = |mut a: u128, mut b: u128| {
            while b > 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let mut x = 1_u64;
        let mut next = || {
            x = x
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            x ^ x >> 29
        };
        for round in 0..20_000 {
            let common = u128::from(next() >> (round % 64)) | 1;
            let f = (common * u128::from(next() >> (round % 37)).max(1)) | 1;
            let g = common.wrapping_mul(u128::from(next()));
            let words = |a: u128| vec![a as u64, (a >> 64) as u64];
            let found = gcd(&words(f), &words(g));
            let found = found
                .iter()
                .rev()
                .fold(0, |sum: u128, &limb| sum << 64 | u128::from(limb));
            assert_eq!(found, euclid(f, g), "{f} {g}");
        }
        assert_eq!(gcd(&[1], &[0]), [1]);
        assert_eq!(gcd(&[u64::MAX, u64::MAX], &[0, 0]), [u64::MAX, u64::MAX]);
        assert_eq!(gcd(&[u64::MAX, u64::MAX], &[u64::MAX, u64::MAX]), [u64::MAX, u64::MAX]);
        assert_eq!(gcd(&[u64::MAX], &[u64::MAX - 1, u64::MAX]), [1]);
    }

    /// Pairs of lengths that differ, as many as fill lanes and fewer; with common factors of all lengths, and the ends.
    #[test]
    fn pairs_together_are_pairs_alone() {
        let mut x = 1_u64;
        let mut random = |limbs: usize| -> Vec<u64> {
            let mut limb = || {
                x = x
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (x ^ x >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            };
            (0..limbs).map(|_| limb()).collect()
        };
        let times = |a: &[u64], b: &[u64]| {
            let mut product = vec![0; a.len() + b.len()];
            crate::natural::multiply_rows(a, b, &mut product);
            product
        };
        let mut pairs: Vec<(Vec<u64>, Vec<u64>)> = Vec::new();
        for limbs in 1..40 {
            let [mut f, g, mut common] = [limbs, 1 + limbs / 2, 1 + limbs / 3].map(&mut random);
            f[0] |= 1;
            common[0] |= 1;
            pairs.push((f.clone(), g.clone()));
            pairs.push((times(&f, &common), times(&g, &common)));
            pairs.push((times(&common, &f), common.clone()));
            pairs.push((f.clone(), f.clone()));
            pairs.push((f.clone(), vec![0; limbs]));
            pairs.push((vec![1], g));
            pairs.push((vec![u64::MAX; limbs], f.clone()));
            let mut next = f.clone();
            next[0] = f[0].wrapping_add(2);
            pairs.push((f, next));
        }
        let borrowed: Vec<(&[u64], &[u64])> = pairs.iter().map(|(f, g)| (&f[..], &g[..])).collect();
        let alone: Vec<Vec<u64>> = borrowed.iter().map(|(f, g)| gcd(f, g)).collect();
        for &kernel in Kernel::all() {
            let in_lanes = kernel.gcds(&[]).is_some();
            #[cfg(target_arch = "x86_64")]
            {
                let have = is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512ifma");
                assert_eq!(in_lanes, kernel.name() == "avx512" && have, "{}", kernel.name());
            }
            if !in_lanes {
                eprintln!("SKIPPED: gcds in lanes with {}: one after the other", kernel.name());
            }
            for count in [1, 3, 8, 9, 16, 17, pairs.len()] {
                for start in [0, 5, pairs.len() - count] {
                    let end = pairs.len().min(start + count);
                    let found = gcds(kernel, &borrowed[start..end]);
                    assert_eq!(found, alone[start..end], "{start} to {end} with {}", kernel.name());
                }
            }
        }
    }

    /// Neighbours give negative factors in the first matrices, beside limbs with their highest bit set (found by
    /// fuzzing, with checks for overflow).
    #[test]
    fn neighbours_of_many_limbs_have_no_factor_in_common() {
        for len in 1..20 {
            for seed in 0..50_u64 {
                let limb = |place: u64| {
                    (seed + 1)
                        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                        .rotate_left(place as u32 * 7)
                };
                let mut f: Vec<u64> = (0..len).map(limb).collect();
                f[0] = f[0] & !3 | 1;
                for step in [2, 4] {
                    let mut g = f.clone();
                    g[0] += step;
                    assert_eq!(gcd(&f, &g), [1], "{f:x?} {g:x?}");
                }
            }
        }
    }
}
