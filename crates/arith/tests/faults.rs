//! What comes of a bit that is flipped during a private operation, with the features `faults` and `hazmat`.

use num_bigint::BigUint;
use rsalab_arith::bare::BarePrivateContext;
use rsalab_arith::campaign::{Campaign, Way};
use rsalab_arith::fault::{Fault, Place, with_fault};
use rsalab_arith::{CheckedPrivateKey, Kernel, Status, kernels};

/// 2^127 - 1 and 2^130 - 5: short, so that many faults take little time.
fn key() -> CheckedPrivateKey {
    let p = [vec![0x7f], vec![0xff; 15]].concat();
    let q = [vec![0x03], vec![0xff; 15], vec![0xfb]].concat();
    CheckedPrivateKey::from_primes(&p, &q, &[1, 0, 1]).unwrap()
}

fn for_each_kernel(check: impl Fn(Kernel)) {
    for info in kernels() {
        match Kernel::named(info.name) {
            Ok(kernel) => check(kernel),
            Err(reason) => eprintln!("SKIPPED: faults: {reason}"),
        }
    }
}

/// A few faults at each place of each kernel; the example `faults` flips more of each, in keys of 512 bits.
#[test]
#[cfg_attr(debug_assertions, ignore = "an assertion stops at what a flipped bit breaks")]
fn no_wrong_result_is_released() {
    let key = key();
    for_each_kernel(|kernel| {
        for way in [Way::Crt, Way::WithoutCrt, Way::MultiKey] {
            let mut campaign = Campaign::new(&key, kernel, way, 7).unwrap();
            for place in Place::ALL {
                let outcome = campaign.run(place, 24).unwrap();
                assert_eq!(outcome.wrong, 0, "{}, {way:?}, {place:?}", kernel.name());
                let is_there = !matches!(
                    (way, place),
                    (Way::WithoutCrt, Place::Recombination | Place::Coefficients) | (Way::MultiKey, Place::KeyModulus)
                );
                assert_eq!(outcome.faults() > 0, is_there, "{}, {way:?}, {place:?}", kernel.name());
                // Some of a place's bits lie where nothing is read; not all of them. Of the key's own copy of n nothing
                // is asked but that blocks are below it.
                assert!(
                    outcome.withheld > 0 || !is_there || place == Place::KeyModulus,
                    "{}, {way:?}, {place:?}: {outcome:?}",
                    kernel.name()
                );
            }
        }
    });
}

/// Without the check wrong results come out: the faults are real, and the campaign finds them.
#[test]
fn without_the_check_wrong_results_are_released() {
    let key = key();
    for_each_kernel(|kernel| {
        let mut campaign = Campaign::new(&key, kernel, Way::Bare, 7).unwrap();
        for place in [Place::Table, Place::Half, Place::Recombination, Place::Exponents] {
            let outcome = campaign.run(place, 24).unwrap();
            assert!(outcome.wrong > 0, "{}, {place:?}: {outcome:?}", kernel.name());
        }
    });
}

/// One signature with a wrong half gives the key away: what the check is for.
#[test]
fn a_wrong_half_reveals_a_prime() {
    let key = key();
    let context = BarePrivateContext::new(&key, Kernel::named("mont64x1_portable").unwrap());
    let len = context.modulus_len();
    let input = [vec![0], vec![1; len - 1]].concat();
    let mut output = vec![0; len];
    let fault = Fault {
        place: Place::Half,
        visit: 0,
        bit: 5,
    };
    let (_, flipped) = with_fault(fault, || {
        context.apply(&mut context.scratch(), &input, &mut output, &mut [Status::Done])
    });
    assert!(flipped);
    let number = |bytes: &[u8]| BigUint::from_bytes_be(bytes);
    let (n, m) = (number(key.public().n()), number(&input));
    let power = number(&output).modpow(&65537u32.into(), &n);
    let (mut a, mut b) = (n.clone(), (&power + &n - &m) % &n);
    while b != BigUint::ZERO {
        (a, b) = (b.clone(), a % b);
    }
    let parts = key.parts();
    assert!(a == number(parts.p) || a == number(parts.q));
}
