//! Keys of three to five primes: their parts, and their operations against num-bigint.

use crate::keys::{self, E, Key, for_each_kernel};
use num_bigint::BigUint;
use rsalab_arith::bare::BarePrivateContext;
use rsalab_arith::{
    CheckedPrivateKey, Error, MultiKeyContext, OtherPrime, PrivateContext, PrivateParts, Status, integer,
};

/// Every input by the private and the bare operation, in batches of `batch`.
fn powers_agree(key: &Key, batch: usize, of_kernel: rsalab_arith::Kernel) {
    let checked = key.checked();
    let private = PrivateContext::new(&checked, of_kernel);
    let bare = BarePrivateContext::new(&checked, of_kernel);
    let (mut scratch, mut bare_scratch) = (private.scratch().unwrap(), bare.scratch());
    for inputs in key.inputs().chunks(batch) {
        let input: Vec<u8> = inputs.iter().flat_map(|x| key.bytes(x)).collect();
        let powers = inputs.iter().flat_map(|x| key.power(x));
        let expected = (powers.collect::<Vec<u8>>(), vec![Status::Done; inputs.len()]);
        let fresh = || (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        let (mut output, mut status) = fresh();
        private.apply(&mut scratch, &input, &mut output, &mut status).unwrap();
        assert_eq!((output, status), expected, "{} in batches of {batch}", of_kernel.name());
        let (mut output, mut status) = fresh();
        bare.apply(&mut bare_scratch, &input, &mut output, &mut status).unwrap();
        assert_eq!(
            (output, status),
            expected,
            "bare, {} in batches of {batch}",
            of_kernel.name()
        );
    }
}

#[test]
fn powers_agree_with_the_model() {
    // Even and uneven lengths, on both sides of a limb and of a digit; one prime longer than the others together.
    let lengths: [&[usize]; 9] = [
        &[256, 256, 256],
        &[171, 171, 170],
        &[320, 320, 384],
        &[521, 64, 64],
        &[64, 65, 400],
        &[256, 256, 256, 256],
        &[208, 209, 208, 211],
        &[128, 128, 128, 128, 128],
        &[206, 205, 204, 205, 204],
    ];
    let keys = lengths.map(|lengths| Key::multi_prime(lengths, 1, &E));
    for_each_kernel(|kernel| {
        for key in &keys {
            for batch in [1, 3, 8, 100] {
                powers_agree(key, batch, kernel);
            }
        }
    });
}

#[test]
fn limbs_of_all_ones() {
    // Mersenne primes.
    let prime = |bits: usize| (BigUint::from(1u8) << bits) - 1u8;
    for bits in [
        &[521, 607, 127][..],
        &[127, 521, 607],
        &[607, 127, 89, 521],
        &[89, 107, 127, 521, 607],
    ] {
        let primes: Vec<BigUint> = bits.iter().map(|&bits| prime(bits)).collect();
        let key = Key::of_primes(&primes, &E);
        for_each_kernel(|kernel| powers_agree(&key, 5, kernel));
    }
}

#[test]
fn keys_of_as_many_primes_share_passes() {
    let lengths = [&[256; 3][..], &[192; 4], &[160; 5]];
    for lengths in lengths {
        // Products of as many primes of these lengths are a bit longer or shorter.
        let mut keys = (0..).map(|i| Key::multi_prime(lengths, 10 * i, &E)).peekable();
        let bits = keys.peek().unwrap().n().bits();
        let keys: Vec<Key> = keys.filter(|key| key.n().bits() == bits).take(5).collect();
        let checked: Vec<CheckedPrivateKey> = keys.iter().map(Key::checked).collect();
        for_each_kernel(|kernel| {
            let context = MultiKeyContext::new(&checked.iter().collect::<Vec<_>>(), kernel).unwrap();
            let mut runner = context.runner();
            for of in [
                &[4, 2, 0, 3, 3, 1, 0][..],
                &[1],
                &[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 4, 4],
            ] {
                let x = |i: usize| keys[of[i]].inputs().swap_remove(i % 12);
                let of_item = |i: usize| &keys[of[i]];
                let input: Vec<u8> = (0..of.len()).flat_map(|i| of_item(i).bytes(&x(i))).collect();
                let mut output = vec![0xaa; input.len()];
                let mut status = vec![Status::Fault; of.len()];
                runner.apply(of, &input, &mut output, &mut status).unwrap();
                assert_eq!(status, vec![Status::Done; of.len()]);
                for (i, output) in output.chunks(keys[0].len()).enumerate() {
                    let key = of_item(i);
                    assert_eq!(output, key.power(&x(i)), "item {i}");
                }
            }
        });
    }
}

#[test]
fn numbers_of_primes_do_not_mix() {
    let three = Key::multi_prime(&[256, 256, 256], 1, &E).checked();
    let two = Key::nth(1, 768, &E).checked();
    let kernel = rsalab_arith::Kernel::auto();
    assert_eq!(
        MultiKeyContext::new(&[&three, &two], kernel).err(),
        Some(Error::MixedSizes)
    );
}

#[test]
fn numbers_of_primes_have_a_limit() {
    let primes: Vec<Vec<u8>> = (1..7).map(|seed| keys::prime(64, seed, &E).to_bytes_be()).collect();
    let slices: Vec<&[u8]> = primes.iter().map(Vec::as_slice).collect();
    assert_eq!(CheckedPrivateKey::multi_prime(&slices[..5], &E).unwrap().primes(), 5);
    for refused in [&slices[..6], &slices[..1], &[]] {
        assert!(matches!(
            CheckedPrivateKey::multi_prime(refused, &E),
            Err(Error::InconsistentKey(_))
        ));
    }
}

#[test]
fn parts_are_those_of_rfc_8017() {
    let key = Key::multi_prime(&[100, 90, 110, 80, 95], 3, &E);
    let number = BigUint::from_bytes_be;
    let (d, one) = (number(&key.rest.d), BigUint::from(1u8));
    let mut before = number(&key.p) * number(&key.q);
    let mut lambda: Vec<BigUint> = vec![number(&key.p) - 1u8, number(&key.q) - 1u8];
    for OtherPrime { r, d: dr, t } in &key.rest.others {
        let [r, dr, t] = [r, dr, t].map(|part| number(part));
        assert_eq!(dr, &d % (&r - 1u8));
        assert_eq!(&t * &before % &r, one);
        assert!(t < r);
        before *= &r;
        lambda.push(r - 1u8);
    }
    assert_eq!(before, key.n());
    for order in &lambda {
        assert_eq!(number(&E) * &d % order, one);
    }
    // The least such d: below the least common multiple of the orders.
    let product: BigUint = lambda.iter().product();
    assert!(d < product);
}

#[test]
fn every_broken_relation_of_a_third_prime_is_named() {
    let key = Key::multi_prime(&[100, 100, 100, 100], 3, &E);
    let good = key.parts();
    assert_eq!(integer::check(&good), Ok(()));
    let changed = |change: &dyn Fn(&mut OtherPrime)| {
        let mut others = good.others.to_vec();
        change(&mut others[1]);
        match integer::check(&PrivateParts {
            others: &others,
            ..good
        }) {
            Err(Error::InconsistentKey(reason)) => reason,
            other => panic!("{other:?}"),
        }
    };
    let last = |part: &mut [u8], by: u8| *part.last_mut().unwrap() ^= by;
    assert_eq!(
        changed(&|other| last(&mut other.r, 1)),
        "a prime after q is not an odd prime"
    );
    assert_eq!(
        changed(&|other| other.r = good.others[0].r.clone()),
        "two of its primes are the same"
    );
    assert_eq!(
        changed(&|other| other.r = good.p.to_vec().into()),
        "two of its primes are the same"
    );
    assert_eq!(
        changed(&|other| last(&mut other.r, 2)),
        "e d is not 1 modulo r - 1, for a prime r after q"
    );
    assert_eq!(
        changed(&|other| last(&mut other.d, 1)),
        "the CRT exponent of a prime r after q is not d modulo r - 1"
    );
    assert_eq!(
        changed(&|other| other.t = other.r.clone()),
        "the CRT coefficient of a prime after q is not below the prime"
    );
    assert_eq!(
        changed(&|other| last(&mut other.t, 1)),
        "the CRT coefficient of a prime after q is not the inverse of the product of the primes before it"
    );
    let fewer = PrivateParts {
        others: &good.others[..1],
        ..good
    };
    assert_eq!(
        integer::check(&fewer).err(),
        Some(Error::InconsistentKey("n is not the product of its primes"))
    );
}
