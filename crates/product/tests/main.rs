//! Products against `num-bigint`.

use num_bigint::BigUint;
use rsalab_product::{Kernel, Multiplier};

fn big(a: &[u64]) -> BigUint {
    BigUint::from_slice(&a.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect::<Vec<_>>())
}

fn numbers(limbs: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut x = seed | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    let random: Vec<u64> = (0..limbs).map(|_| next()).collect();
    let sparse = (0..limbs).map(|i| if i % 97 == 5 { next() } else { 0 }).collect();
    let mut one = vec![0; limbs];
    one[0] = 1;
    let mut top = vec![0; limbs];
    top[limbs - 1] = 1 << 63;
    vec![random, vec![u64::MAX; limbs], sparse, one, top, vec![0; limbs]]
}

#[test]
fn products_agree() {
    for &kernel in Kernel::all() {
        let m = Multiplier::with_kernel(kernel, 2);
        for limbs in [1, 39, 40, 41, 64, 100, 127, 200, 333, 1000, 1500, 2049, 5000, 12000] {
            for a in numbers(limbs, 5) {
                for b in numbers(limbs * 3 / 4 + 1, 99) {
                    assert_eq!(big(&m.multiply(&a, &b)), big(&a) * big(&b), "{} {limbs}", kernel.name());
                }
            }
        }
    }
}

/// What [`shared_factors`] shall find, by the gcd of each with the product of all others.
fn model(moduli: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
    let gcd = |mut a: BigUint, mut b: BigUint| {
        while b > BigUint::ZERO {
            (a, b) = (b.clone(), a % b);
        }
        a
    };
    let one = BigUint::from(1_u8);
    let numbers: Vec<BigUint> = moduli.iter().map(|bytes| BigUint::from_bytes_be(bytes)).collect();
    let shared = |i: usize| {
        let others = numbers.iter().enumerate().filter(|&(j, n)| j != i && *n > one);
        let product = others
            .map(|(_, n)| n % &numbers[i])
            .fold(one.clone(), |a, b| a * b % &numbers[i]);
        gcd(numbers[i].clone(), product)
    };
    let found = (0..moduli.len()).map(|i| (numbers[i] > one).then(|| shared(i)).filter(|gcd| *gcd > one));
    found.map(|gcd| gcd.map(|gcd| gcd.to_bytes_be())).collect()
}

#[test]
fn shared_factors_agree() {
    let mut x = 3_u64;
    let mut random = |bytes: usize| -> BigUint {
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x as u8
        };
        BigUint::from_bytes_be(&(0..bytes).map(|_| next()).collect::<Vec<u8>>())
    };
    for count in [0, 1, 2, 3, 5, 8, 13, 64, 100, 300] {
        for bytes in [1, 4, 8, 64, 256, 300] {
            let common = random(bytes / 2 + 1);
            let mut moduli: Vec<Vec<u8>> = (0..count)
                .map(|i| match i % 11 {
                    3 => (&common * random(bytes / 2 + 1)).to_bytes_be(),
                    4 => vec![255; bytes],
                    5 => random(1 + i * bytes / count).to_bytes_be(),
                    _ => random(bytes).to_bytes_be(),
                })
                .collect();
            if count > 4 {
                moduli[count - 1] = moduli[1].clone();
                moduli[2] = vec![0];
                moduli[4] = Vec::new();
            }
            let mut last = 0.0;
            let found = rsalab_product::shared_factors(&moduli, 2, &mut |share| {
                assert!(share > last && share <= 1.0);
                last = share;
            });
            assert_eq!(found, model(&moduli), "{count} of {bytes} bytes");
        }
    }
}
