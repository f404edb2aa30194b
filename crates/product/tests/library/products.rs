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
