//! Products of all kinds of numbers.

use num_bigint::BigUint;
use proptest::prelude::*;
use rsalab_product::{Kernel, Multiplier};

use crate::{Random, big, numbers};

#[test]
fn products_of_edges_agree_on_every_kernel() {
    for &kernel in Kernel::all() {
        let multiplier = Multiplier::with_kernel(kernel, 2);
        for limbs in [1, 39, 40, 41, 64, 100, 127, 200, 333, 1000, 1500, 2049, 5000] {
            for a in numbers(limbs, 5) {
                for b in numbers(limbs * 3 / 4 + 1, 99) {
                    let product = multiplier.multiply(&a, &b);
                    assert_eq!(product.len(), a.len() + b.len());
                    assert_eq!(big(&product), big(&a) * big(&b), "{} {limbs}", kernel.name());
                }
                assert_eq!(
                    big(&multiplier.square(&a)),
                    big(&a) * big(&a),
                    "{} {limbs}",
                    kernel.name()
                );
            }
        }
    }
}

#[test]
fn unbalanced_products_agree() {
    let multiplier = Multiplier::new(1);
    let mut random = Random(11);
    for short in [0, 1, 40, 77, 300] {
        for long in [short * 4 + 1, short * 7 + 5, 3000] {
            let (a, b) = (random.limbs(short), random.limbs(long));
            assert_eq!(big(&multiplier.multiply(&a, &b)), big(&a) * big(&b), "{short} {long}");
            assert_eq!(big(&multiplier.multiply(&b, &a)), big(&a) * big(&b), "{short} {long}");
        }
    }
}

/// `a` modulo 2^bits - 1.
fn wrapped(a: BigUint, bits: usize) -> BigUint {
    a % ((BigUint::from(1_u8) << bits) - 1_u8)
}

#[test]
fn a_middle_is_that_of_the_wrapped_product() {
    let multiplier = Multiplier::new(2);
    let mut random = Random(17);
    for limbs in [50, 128, 700, 3000] {
        let [a, b, c, d] = [limbs, limbs / 2, limbs / 3, limbs].map(|limbs| random.limbs(limbs));
        let [ta, tb, tc, td] = [&a, &b, &c, &d].map(|x| multiplier.transformed(x, 64 * limbs));
        let bits = ta.ring_bits();
        assert!(bits >= 64 * limbs);
        let exact = [
            wrapped(big(&a) * big(&b), bits),
            wrapped(big(&a) * big(&b) + big(&c) * big(&d), bits),
        ];
        for (exact, products) in exact.iter().zip([&[(&ta, &tb)][..], &[(&ta, &tb), (&tc, &td)][..]]) {
            for from in [3, limbs / 3, limbs / 2] {
                let to = limbs;
                let found = big(&multiplier.middle(products, from, to));
                let wanted = (exact >> (64 * from)) % (BigUint::from(1_u8) << (64 * (to - from)));
                let difference = if found > wanted {
                    &found - &wanted
                } else {
                    &wanted - &found
                };
                // One unit, at the end of which all ones may become zeros.
                let size = BigUint::from(1_u8) << (64 * (to - from));
                assert!(
                    difference <= BigUint::from(1_u8) || &size - &difference <= BigUint::from(1_u8),
                    "{limbs} {from}"
                );
            }
        }
    }
}

#[test]
fn transforms_are_used_again() {
    let multiplier = Multiplier::new(1);
    let mut random = Random(23);
    let a = random.limbs(500);
    let values = multiplier.transformed(&a, 64 * 1000);
    for _ in 0..5 {
        let b = random.limbs(500);
        let product = multiplier.middle(&[(&values, &multiplier.transformed(&b, 64 * 1000))], 0, 1000);
        assert_eq!(big(&product), big(&a) * big(&b));
    }
}

/// Random limbs, all ones, a few ones, a power of two, runs of equal limbs, and bits from place to place.
fn of_shape(shape: usize, limbs: usize, random: &mut Random) -> Vec<u64> {
    let draws = random.limbs(2 * limbs + 2);
    match shape {
        0 | 1 => draws[..limbs].to_vec(),
        2 => vec![u64::MAX; limbs],
        3 => {
            let mut sparse = vec![0; limbs];
            for &draw in &draws[..3] {
                sparse[draw as usize % limbs] |= 1 << (draw >> 58);
            }
            sparse
        }
        4 => {
            let mut power = vec![0; limbs];
            power[limbs - 1] = 1 << (draws[0] % 64);
            power
        }
        5 => {
            let values = [0, u64::MAX, draws[0], 1 << 63];
            let value = |place: usize| values[(draws[place / 7] % 4) as usize];
            (0..limbs).map(value).collect()
        }
        _ => {
            let pattern = (draws[0] % 60 + 2) as usize;
            let limb = |place: usize| {
                (0..64)
                    .filter(|bit| (64 * place + bit).is_multiple_of(pattern))
                    .map(|bit| 1 << bit)
                    .sum()
            };
            (0..limbs).map(limb).collect()
        }
    }
}

#[test]
#[ignore = "long: make test-all"]
fn a_hundred_thousand_products_agree() {
    const SHAPES: usize = 7;
    let multipliers: Vec<Multiplier> = Kernel::all()
        .iter()
        .map(|&kernel| Multiplier::with_kernel(kernel, 1))
        .collect();
    let mut random = Random(29);
    for round in 0..100_000 {
        let draws = random.limbs(2);
        // Short ones more often, up to 1,500 limbs; one in three pairs as long as each other.
        let length = |draw: u64| 1 + (1500.0_f64.powf((draw >> 11) as f64 / (1_u64 << 53) as f64)) as usize;
        let long = length(draws[0]);
        let short = if round % 3 == 0 { long } else { length(draws[1]) };
        let a = of_shape(round % SHAPES, long, &mut random);
        let b = of_shape(round / SHAPES % SHAPES, short, &mut random);
        let multiplier = &multipliers[round % multipliers.len()];
        assert_eq!(
            big(&multiplier.multiply(&a, &b)),
            big(&a) * big(&b),
            "{round}: {a:x?} {b:x?}"
        );
        if round % 4 == 0 {
            assert_eq!(big(&multiplier.square(&a)), big(&a) * big(&a), "{round}: {a:x?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn products_agree(
        // Runs of equal limbs, of which some are all ones or zeros: carries go far.
        a in prop::collection::vec((prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 1..60_usize), 1..20),
        b in prop::collection::vec((prop_oneof![Just(0), Just(u64::MAX), any::<u64>()], 1..60_usize), 1..20),
    ) {
        let number = |runs: &[(u64, usize)]| -> Vec<u64> {
            runs.iter().flat_map(|&(limb, times)| std::iter::repeat_n(limb, times)).collect()
        };
        let (a, b) = (number(&a), number(&b));
        prop_assert_eq!(big(&Multiplier::new(1).multiply(&a, &b)), big(&a) * big(&b));
    }
}
