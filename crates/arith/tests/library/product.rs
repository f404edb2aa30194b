//! Products of many numbers modulo n.

use crate::keys::for_each_kernel;
use num_bigint::BigUint;
use rsalab_arith::{CheckedPublicKey, Error, ProductContext};

/// Numbers to compute with: a linear congruential generator (Knuth, MMIX).
fn numbers(count: usize, len: usize, n: &BigUint) -> Vec<Vec<u8>> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut number = || {
        let bytes: Vec<u8> = (0..len)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 56) as u8
            })
            .collect();
        padded(&(BigUint::from_bytes_be(&bytes) % n), len)
    };
    (0..count).map(|_| number()).collect()
}

/// The numbers as slices, which the products take.
fn slices(numbers: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
    numbers.iter().map(|number| &number[..])
}

fn padded(number: &BigUint, len: usize) -> Vec<u8> {
    let bytes = number.to_bytes_be();
    [vec![0; len - bytes.len()], bytes].concat()
}

#[test]
fn products_are_those_of_the_model_on_every_kernel() {
    for_each_kernel(|kernel| {
        for bits in [256, 520, 1024, 2048, 3072] {
            let len = bits / 8;
            let mut bytes = vec![0xa7; len];
            bytes[len - 1] |= 1;
            let n = BigUint::from_bytes_be(&bytes);
            let products = ProductContext::new(&CheckedPublicKey::new(&bytes, &[3]).unwrap(), kernel);
            for count in [0, 1, 2, 3, 7, 8, 9, 17, 40] {
                let mut numbers = numbers(count, len, &n);
                if count > 8 {
                    numbers[3] = padded(&(&n - 1_u8), len);
                    numbers[5] = padded(&BigUint::from(1_u8), len);
                }
                let one = BigUint::from(1_u8);
                let model = numbers
                    .iter()
                    .fold(one, |all, one| all * BigUint::from_bytes_be(one) % &n);
                let got = products.product_vartime(slices(&numbers)).unwrap();
                assert_eq!(got, padded(&model, len), "{}, {bits} bits, {count}", kernel.name());
            }
            // Numbers that begin alike, with one that does not between them.
            for (ending, count) in [(1, 9), (8, 3), (20, 8), (len / 2, 25), (len - 1, 40), (len, 17)] {
                let mut beginning = numbers(1, len, &n).concat();
                beginning[0] = 0xa6;
                beginning.truncate(len - ending);
                let all = numbers(2 * count + 1, len, &n);
                let whole = |number: &Vec<u8>| [&beginning[..], &number[len - ending..]].concat();
                let parts = [&all[..count], &all[count + 1..]].map(|part| {
                    let endings: Vec<_> = part.iter().map(|it| it[len - ending..].to_vec()).collect();
                    let product = part.iter().fold(BigUint::from(1_u8), |all, number| {
                        all * BigUint::from_bytes_be(&whole(number)) % &n
                    });
                    (endings, product)
                });
                let mut running = products.begin();
                if ending == len {
                    // Nothing is alike then, and they may be above n.
                    let refused = running.add_alike_vartime(&beginning, slices(&parts[0].0));
                    assert!(matches!(refused, Err(Error::OutOfRange { .. })));
                    continue;
                }
                running.add_alike_vartime(&beginning, slices(&parts[0].0)).unwrap();
                running.add_vartime([&all[count][..]]).unwrap();
                running.add_alike_vartime(&beginning, slices(&parts[1].0)).unwrap();
                let model = &parts[0].1 * BigUint::from_bytes_be(&all[count]) * &parts[1].1 % &n;
                assert_eq!(
                    running.finish(),
                    padded(&model, len),
                    "{}, {bits} bits, {ending}",
                    kernel.name()
                );
            }
            let refused = products.begin().add_alike_vartime(&[0xff], [&vec![0; len - 1][..]]);
            assert!(matches!(refused, Err(Error::OutOfRange { .. })));
            let refused = products.begin().add_alike_vartime(&vec![0; len], []);
            assert!(matches!(refused, Err(Error::Length { .. })));
            for ending in [&[0; 1][..], &[0; 3], &[]] {
                let mut running = products.begin();
                let refused = running.add_alike_vartime(&vec![0; len - 2], [&[0, 5][..], ending]);
                assert!(matches!(refused, Err(Error::Length { .. })));
            }
            let mut zero = numbers(9, len, &n);
            zero.push(vec![0; len]);
            assert_eq!(
                products.product_vartime(slices(&zero)).unwrap(),
                vec![0; len],
                "{}",
                kernel.name()
            );
            let largest = padded(&(&n - 1_u8), len);
            assert!(products.is_factor_vartime(&largest));
            for no_factor in [&bytes[..], &largest[1..], &[], &[&[0][..], &largest].concat()] {
                assert!(!products.is_factor_vartime(no_factor));
            }
            assert!(matches!(
                products.product_vartime([&bytes[..]]),
                Err(Error::OutOfRange { .. })
            ));
            assert!(matches!(
                products.product_vartime([&bytes[1..]]),
                Err(Error::Length { .. })
            ));
        }
    });
}
