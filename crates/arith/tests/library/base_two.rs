//! The test of candidates to base two.

use crate::keys::for_each_kernel;
use crate::model::any_modulus;
use num_bigint::BigUint;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rsalab_arith::Kernel;
use rsalab_arith::candidate::PreTester;
use std::cell::RefCell;

fn bytes(n: &BigUint, len: usize) -> Vec<u8> {
    let digits = n.to_bytes_be();
    [vec![0; len - digits.len()], digits].concat()
}

/// Lengths with and without room to double, one block and several, full limbs and not.
const BITS: [usize; 13] = [64, 127, 250, 256, 257, 384, 508, 512, 521, 768, 1024, 1030, 1536];

#[test]
fn candidates_of_any_kind_agree_with_the_model() {
    for_each_kernel(|kernel| {
        for bits in BITS {
            let tester = RefCell::new(PreTester::new(kernel, bits));
            let mut runner = TestRunner::new(Config {
                cases: 2,
                failure_persistence: None,
                ..Config::default()
            });
            let batch = prop::collection::vec(any_modulus(bits), 1..20);
            runner
                .run(&batch, |candidates| {
                    let len = bits.div_ceil(8);
                    let all: Vec<u8> = candidates.iter().flat_map(|w| bytes(w, len)).collect();
                    let mut passed = vec![false; candidates.len()];
                    tester.borrow_mut().test(&all, &mut passed).unwrap();
                    for (w, passed) in candidates.iter().zip(passed) {
                        let power = BigUint::from(2u8).modpow(&(w >> 1), w);
                        let passes = power == BigUint::from(1u8) || &power + 1u8 == *w;
                        prop_assert_eq!(passed, passes, "{}", w);
                    }
                    Ok(())
                })
                .unwrap();
        }
    });
}

#[test]
fn primes_pass_and_their_products_do_not() {
    // The largest primes below powers of two: 2^k - c.
    let primes = [
        (64, 59u32),
        (127, 1),
        (256, 189),
        (384, 317),
        (512, 569),
        (521, 1),
        (1024, 105),
    ];
    for_each_kernel(|kernel| {
        for (bits, c) in primes {
            let prime = (BigUint::from(1u8) << bits) - c;
            let mut tester = PreTester::new(kernel, bits);
            let lanes = tester.lanes();
            let composite = &prime - 2u8;
            for place in 0..=lanes {
                let batch: Vec<u8> = (0..=lanes)
                    .flat_map(|at| {
                        let w = if at == place { &prime } else { &composite };
                        bytes(w, bits.div_ceil(8))
                    })
                    .collect();
                let mut passed = vec![false; lanes + 1];
                tester.test(&batch, &mut passed).unwrap();
                for (at, passed) in passed.into_iter().enumerate() {
                    assert_eq!(passed, at == place, "{} {bits} {at}", kernel.name());
                }
            }
        }
    });
}

#[test]
fn what_is_out_of_range_is_refused() {
    let mut tester = PreTester::new(Kernel::auto(), 128);
    let mut passed = [true];
    let mut w = [0xff; 16];
    assert!(tester.test(&w[..15], &mut passed).is_err());
    w[15] = 0xfe;
    assert!(tester.test(&w, &mut passed).is_err());
    w[15] = 0xff;
    w[0] = 0x7f;
    assert!(tester.test(&w, &mut passed).is_err());
    assert_eq!(passed, [true]);
    tester.test(&[], &mut []).unwrap();
}
