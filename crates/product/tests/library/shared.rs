//! Which moduli share factors.

use num_bigint::BigUint;
use rsalab_product::{Product, Subset, shared_factors};

use crate::Random;

fn gcd(mut a: BigUint, mut b: BigUint) -> BigUint {
    while b > BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    a
}

/// The gcd of each with the product of all others, 0 and 1 left out.
fn model(moduli: &[Vec<u8>]) -> Vec<Option<Vec<u8>>> {
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
fn agrees_with_the_gcd_with_all_others() {
    let mut random = Random(3);
    for count in [0, 1, 2, 3, 5, 8, 13, 64, 100, 300] {
        for bytes in [1, 4, 8, 64, 256, 300] {
            let common = BigUint::from_bytes_be(&random.bytes(bytes / 2 + 1));
            let mut moduli: Vec<Vec<u8>> = (0..count)
                .map(|i| match i % 11 {
                    3 => (&common * BigUint::from_bytes_be(&random.bytes(bytes / 2 + 1))).to_bytes_be(),
                    4 => vec![255; bytes],
                    5 => random.bytes(1 + i * bytes / count),
                    _ => random.bytes(bytes),
                })
                .collect();
            if count > 4 {
                moduli[count - 1] = moduli[1].clone();
                moduli[2] = vec![0];
                moduli[4] = Vec::new();
            }
            let mut last = 0.0;
            let found = shared_factors(&moduli, 2, &mut |share| {
                assert!(share > last && share <= 1.0);
                last = share;
            });
            assert_eq!(found, model(&moduli), "{count} of {bytes} bytes");
        }
    }
}

/// Moduli of 1024 bits without small factors but those that are planted: pairs, a triple, equal ones, and one both
/// whose primes are elsewhere.
#[test]
fn what_is_planted_is_found_and_nothing_else() {
    let mut random = Random(29);
    let small: Vec<u64> = (3..5000_u64)
        .step_by(2)
        .filter(|n| (3..80).step_by(2).all(|d| n % d != 0 || *n == d))
        .collect();
    let mut prime = || loop {
        let mut bytes = random.bytes(64);
        bytes[0] |= 0x80;
        bytes[63] |= 1;
        let number = BigUint::from_bytes_be(&bytes);
        if small.iter().all(|&d| &number % d != BigUint::ZERO) {
            return number;
        }
    };
    let mut moduli: Vec<BigUint> = (0..1500).map(|_| prime() * prime()).collect();
    let (p, q, r) = (prime(), prime(), prime());
    for (i, shared) in [(7, &p), (1499, &p), (100, &q), (101, &q), (800, &q)] {
        moduli[i] = shared * prime();
    }
    moduli[1200] = &p * &q;
    moduli[3] = &r * &r;
    moduli[4] = moduli[900].clone();
    let bytes: Vec<_> = moduli.iter().map(BigUint::to_bytes_be).collect();
    let found = shared_factors(&bytes, 2, &mut |_| {});
    let expected = |i: usize| match i {
        7 | 1499 => Some(&p),
        100 | 101 | 800 => Some(&q),
        1200 | 4 | 900 => Some(&moduli[i]),
        _ => None,
    };
    // Numbers without factors below 5000 share others, rarely: the model says which.
    let model = model_of_few(&moduli, &found);
    for (i, found) in found.iter().enumerate() {
        match expected(i) {
            Some(expected) => assert_eq!(found, &Some(expected.to_bytes_be()), "{i}"),
            None => assert_eq!(found, &model[i], "{i}"),
        }
    }
}

/// For those in which something was found that was not planted: what they share. `None` for all others.
fn model_of_few(moduli: &[BigUint], found: &[Option<Vec<u8>>]) -> Vec<Option<Vec<u8>>> {
    let exact = |i: usize| {
        let others = moduli.iter().enumerate().filter(|&(j, _)| j != i);
        let product = others.fold(BigUint::from(1_u8), |product, (_, n)| product * n % &moduli[i]);
        Some(gcd(moduli[i].clone(), product).to_bytes_be())
    };
    let found = found.iter().enumerate();
    found.map(|(i, found)| found.as_ref().and_then(|_| exact(i))).collect()
}

/// However moduli are cut into subsets, each finds what it finds beside all others.
#[test]
fn subsets_find_what_one_tree_finds() {
    let mut random = Random(31);
    for (count, bytes) in [(1, 64), (2, 1), (9, 3), (40, 64), (200, 16), (700, 64), (60, 700)] {
        let common = BigUint::from_bytes_be(&random.bytes(bytes / 2 + 1));
        let moduli: Vec<Vec<u8>> = (0..count)
            .map(|i| match i % 13 {
                3 | 4 => (&common * BigUint::from_bytes_be(&random.bytes(bytes / 2 + 1))).to_bytes_be(),
                5 => vec![255; bytes],
                6 => vec![0],
                7 => random.bytes(1 + i * bytes / count),
                8 => [random.bytes(bytes), vec![0; i % 9]].concat(),
                _ => random.bytes(bytes),
            })
            .collect();
        let expected = shared_factors(&moduli, 1, &mut |_| {});
        assert_eq!(expected, model(&moduli));
        for parts in [1, 2, 3, 7, 64] {
            let subsets: Vec<&[Vec<u8>]> = (0..parts)
                .map(|part| &moduli[part * count / parts..(part + 1) * count / parts])
                .collect();
            let products: Vec<Product> = subsets
                .iter()
                .map(|subset| Product::of(subset, 2, &mut |_| {}))
                .collect();
            let mut found = Vec::new();
            for (number, subset) in subsets.iter().enumerate() {
                let tree = Subset::grow(subset, 2, Vec::new(), &mut |_| {}).expect("in memory");
                assert_eq!(tree.product(), products[number]);
                let others = products.iter().enumerate().filter(|&(other, _)| other != number);
                let others = others.map(|(_, product)| Product::from_bytes(&product.to_bytes()).ok_or(Lost));
                found.extend(tree.shared_factors(others, &mut |_| {}).expect("they are products"));
            }
            assert_eq!(found, expected, "{count} of {bytes} bytes in {parts} parts");
        }
    }
}

/// Few new moduli beside many old ones, and many beside few.
#[test]
fn others_may_be_longer_and_shorter() {
    let mut random = Random(37);
    let common = BigUint::from_bytes_be(&random.bytes(40));
    let mut some = |count: usize| -> Vec<Vec<u8>> {
        let mut moduli: Vec<Vec<u8>> = (0..count).map(|_| random.bytes(128)).collect();
        moduli[count / 2] = (&common * BigUint::from_bytes_be(&moduli[count / 2][..88])).to_bytes_be();
        moduli
    };
    for (new, old, block) in [(1, 900, 300), (3, 900, 7), (400, 900, 2), (400, 50, 50), (70, 900, 70)] {
        let (new, old) = (some(new), some(old));
        let expected = shared_factors(&[&new[..], &old[..]].concat(), 2, &mut |_| {});
        for threads in [1, 3] {
            let others = old
                .chunks(block)
                .map(|block| Ok::<_, Lost>(Product::of(block, 1, &mut |_| {})));
            let tree = Subset::grow(&new, threads, Vec::new(), &mut |_| {}).expect("in memory");
            let found = tree.shared_factors(others, &mut |_| {}).expect("they are products");
            assert_eq!(found, expected[..new.len()]);
            assert!(found[new.len() / 2].is_some());
        }
    }
}

#[test]
fn no_threads_are_one() {
    let mut random = Random(43);
    let moduli: Vec<Vec<u8>> = (0..20).map(|_| random.bytes(64)).collect();
    let expected = shared_factors(&moduli, 1, &mut |_| {});
    assert_eq!(shared_factors(&moduli, 0, &mut |_| {}), expected);
    let product = Product::of(&moduli, 0, &mut |_| {});
    assert_eq!(product, Product::of(&moduli, 1, &mut |_| {}));
    let [none, one] = [0, 1].map(|threads| {
        let tree = Subset::grow(&moduli, threads, Vec::new(), &mut |_| {}).expect("in memory");
        tree.common_factors(&product)
    });
    assert_eq!(none, one);
}

/// Others that are not there.
#[derive(Debug)]
struct Lost;

impl From<std::convert::Infallible> for Lost {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

#[test]
fn what_is_no_product_is_told() {
    let product = Product::of(&[vec![21], vec![8]], 1, &mut |_| {});
    let bytes = product.to_bytes();
    assert_eq!(bytes, [3_u64.to_le_bytes(), 21_u64.to_le_bytes()].concat());
    assert_eq!(Product::from_bytes(&bytes), Some(product));
    for wrong in [
        &bytes[..8],
        &bytes[..15],
        &[],
        &[0; 16],
        &[bytes.as_slice(), &[1]].concat(),
    ] {
        assert_eq!(Product::from_bytes(wrong), None);
    }
    let tree = Subset::grow(&[vec![33], vec![4]], 1, Vec::new(), &mut |_| {}).expect("in memory");
    assert!(tree.shared_factors([Err(Lost)], &mut |_| {}).is_err());
}

#[test]
fn factors_in_common_with_a_product_are_found_one_by_one_and_together() {
    let mut random = Random(41);
    for (count, others) in [(1, 1), (1, 300), (7, 5), (90, 200)] {
        let common = BigUint::from_bytes_be(&random.bytes(30));
        let mut moduli: Vec<Vec<u8>> = (0..count).map(|i| random.bytes(1 + i % 128)).collect();
        moduli.push((&common * 24_u8).to_bytes_be());
        let mut others: Vec<Vec<u8>> = (0..others).map(|_| random.bytes(100)).collect();
        others.push((&common * 20_u8 * BigUint::from_bytes_be(&random.bytes(40))).to_bytes_be());
        let product = Product::of(&others, 1, &mut |_| {});
        let whole: BigUint = others.iter().map(|other| BigUint::from_bytes_be(other)).product();
        let expected: Vec<Option<Vec<u8>>> = moduli
            .iter()
            .map(|modulus| BigUint::from_bytes_be(modulus))
            .map(|modulus| gcd(modulus, whole.clone()))
            .map(|gcd| (gcd > BigUint::from(1_u8)).then(|| gcd.to_bytes_be()))
            .collect();
        let one_by_one: Vec<_> = moduli.iter().map(|modulus| product.common_factor(modulus)).collect();
        let tree = Subset::grow(&moduli, 2, Vec::new(), &mut |_| {}).expect("in memory");
        for _ in 0..2 {
            assert_eq!(tree.common_factors(&product), expected);
        }
        // 0 shares nothing here.
        let is_zero = |modulus: &Vec<u8>| modulus.iter().all(|&byte| byte == 0);
        for ((found, expected), modulus) in one_by_one.iter().zip(&expected).zip(&moduli) {
            assert!(found == expected || is_zero(modulus));
        }
    }
}
