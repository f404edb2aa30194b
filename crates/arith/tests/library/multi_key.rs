//! Keys side by side in the lanes of one kernel.

use crate::keys::{E, Key, for_each_kernel};
use num_bigint::BigUint;
use rsalab_arith::{Error, Kernel, MultiKeyContext, MultiKeyRunner, Status, integer};

fn ring(keys: &[Key], kernel: Kernel) -> Result<MultiKeyContext, Error> {
    let keys: Vec<_> = keys.iter().map(Key::checked).collect();
    MultiKeyContext::new(&keys.iter().collect::<Vec<_>>(), kernel)
}

/// Applies the keys `of` to inputs, and checks results, order and statuses.
fn apply(runner: &mut MultiKeyRunner<'_>, keys: &[Key], of: &[usize], seed: usize) {
    let len = keys[0].len();
    let mut expected = Vec::new();
    let mut inputs = Vec::new();
    for (i, &key) in of.iter().enumerate() {
        let key = &keys[key];
        // Edges of the key, and now and then a number that is not below its n.
        let choices = key.inputs();
        let choice = (seed + i) % (choices.len() + 1);
        match choices.get(choice) {
            Some(x) => {
                inputs.extend(key.bytes(x));
                expected.push((Status::Done, key.power(x)));
            }
            None => {
                inputs.extend(key.bytes(&key.n()));
                expected.push((Status::OutOfRange, vec![0; len]));
            }
        }
    }
    let mut outputs = vec![0xaa; of.len() * len];
    let mut status = vec![Status::Fault; of.len()];
    runner.apply(of, &inputs, &mut outputs, &mut status).unwrap();
    for (i, (output, status)) in outputs.chunks(len).zip(&status).enumerate() {
        let (expected_status, expected) = &expected[i];
        assert_eq!((status, output), (expected_status, &expected[..]), "item {i}");
    }
}

#[test]
fn every_item_has_its_own_key() {
    let keys: Vec<Key> = (0..11).map(|i| Key::nth(i, 768, &E)).collect();
    for_each_kernel(|kernel| {
        let ring = ring(&keys, kernel).unwrap();
        assert_eq!(ring.modulus_bits(), 768);
        assert_eq!(ring.kernel(), kernel);
        let mut runner = ring.runner();
        for size in 0..=17 {
            // All different, all the same, and in pairs.
            for of in [
                (0..size).map(|i| (i * 7 + size) % keys.len()).collect(),
                vec![size % keys.len(); size],
                (0..size).map(|i| i / 2 % keys.len()).collect::<Vec<_>>(),
            ] {
                apply(&mut runner, &keys, &of, size);
            }
        }
        // Past the renewal of blinding, with changing neighbours.
        for round in 0..40 {
            apply(&mut runner, &keys, &[3, round % 5, 3, 7], round);
        }
    });
}

#[test]
fn exponents_may_differ() {
    let exponents: [&[u8]; 4] = [&E, &[3], &[0xff, 0xff, 0xff, 0xfb], &[17]];
    let keys: Vec<Key> = (0..).zip(exponents).map(|(i, e)| Key::nth(i, 640, e)).collect();
    for_each_kernel(|kernel| {
        let ring = ring(&keys, kernel).unwrap();
        apply(&mut ring.runner(), &keys, &[0, 1, 2, 3, 3, 2, 1, 0, 0, 2], 0);
    });
}

#[test]
fn what_no_ring_may_be() {
    let of_sizes = |sizes: &[usize]| -> Vec<Key> { sizes.iter().map(|&bits| Key::nth(0, bits, &E)).collect() };
    for sizes in [&[][..], &[640, 768], &[640, 640, 642]] {
        let refused = ring(&of_sizes(sizes), Kernel::auto());
        assert_eq!(refused.err(), Some(Error::MixedSizes), "{sizes:?}");
    }
    // One modulus, but primes of other lengths.
    let uneven = Key::random(330, 310, &E);
    let even = Key::nth(0, 640, &E);
    assert_eq!(uneven.n().bits(), even.n().bits());
    let refused = ring(&[uneven, even], Kernel::auto());
    assert_eq!(refused.err(), Some(Error::MixedSizes));
}

#[test]
fn what_cannot_be_asked_writes_nothing() {
    let keys = [Key::nth(0, 640, &E)];
    let ring = ring(&keys, Kernel::auto()).unwrap();
    let len = ring.modulus_len();
    let mut runner = ring.runner();
    let cases = [
        (vec![0, 1], 2 * len, 2, "a key that is not there"),
        (vec![0], 2 * len, 2, "too few keys"),
        (vec![0, 0], 2 * len - 1, 2, "inputs cut short"),
    ];
    for (of, input_len, items, what) in cases {
        let mut outputs = vec![0xaa; 2 * len];
        let mut status = vec![Status::Fault; items];
        let refused = runner.apply(&of, &vec![0; input_len], &mut outputs, &mut status);
        assert!(refused.is_err(), "{what}");
        assert!(outputs.iter().all(|&byte| byte == 0xaa), "{what}");
    }
}

#[test]
fn new_keys_are_checked() {
    let mut keys: Vec<Key> = (0..10).map(|i| Key::nth(i, 768, &E)).collect();
    // A "prime" that is none: the relations of the key hold, and its operations undo nothing.
    let (mut p, q) = (keys[6].p.clone(), keys[6].q.clone());
    let last = p.len() - 1;
    let broken = (1..100).find_map(|step| {
        p[last] = keys[6].p[last].wrapping_add(2 * step);
        let is_invertible = integer::derive(&[&p, &q], &E).is_ok();
        is_invertible.then(|| Key::new(&BigUint::from_bytes_be(&p), &BigUint::from_bytes_be(&q), &E))
    });
    keys[6] = broken.unwrap();
    for_each_kernel(|kernel| {
        let ring = ring(&keys, kernel).unwrap();
        let len = ring.modulus_len();
        let inputs: Vec<u8> = (0..10 * len).map(|i| if i % len == 0 { 0 } else { i as u8 }).collect();
        let mut passed = [false; 10];
        ring.check(&inputs, &mut passed).unwrap();
        for (place, passed) in passed.into_iter().enumerate() {
            assert_eq!(passed, place != 6, "key {place}");
        }
        // 1 is what it was.
        let ones: Vec<u8> = (0..10 * len).map(|i| u8::from(i % len == len - 1)).collect();
        ring.check(&ones, &mut passed).unwrap();
        assert_eq!(passed, [false; 10]);
        assert!(ring.check(&inputs[1..], &mut passed).is_err());
        assert!(ring.check(&inputs[len..], &mut passed[1..]).is_err());
    });
}
