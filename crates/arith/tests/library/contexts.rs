//! The operations of a key through the crate's door, against num-bigint.

use crate::keys::{E, Key, bytes, for_each_kernel};
use num_bigint::BigUint;
use proptest::prelude::*;
use rsalab_arith::bare::BarePrivateContext;
use rsalab_arith::{
    CheckedPrivateKey, CheckedPublicKey, Error, Kernel, PrivateContext, PrivateParts, PublicContext, Status,
};

/// Runs all inputs through the private, the bare and the public operation in batches of `batch`.
fn round_trip(key: &Key, inputs: &[BigUint], batch: usize, kernel: Kernel) {
    let n = key.n();
    let private = PrivateContext::new(&key.checked(), kernel);
    let bare = BarePrivateContext::new(&key.checked(), kernel);
    let public = PublicContext::new(&key.public(), kernel);
    let bits = n.bits() as usize;
    assert_eq!(
        [private.modulus_bits(), bare.modulus_bits(), public.modulus_bits()],
        [bits; 3]
    );
    assert_eq!(
        [private.modulus_len(), bare.modulus_len(), public.modulus_len()],
        [key.len(); 3]
    );
    assert_eq!([private.kernel(), bare.kernel(), public.kernel()], [kernel; 3]);
    let (mut private_scratch, mut bare_scratch) = (private.scratch().unwrap(), bare.scratch());
    let mut public_scratch = public.scratch();
    for inputs in inputs.chunks(batch) {
        let input = inputs.iter().flat_map(|x| key.bytes(x)).collect::<Vec<_>>();
        let expected = inputs.iter().flat_map(|x| key.power(x)).collect::<Vec<_>>();
        let done = vec![Status::Done; inputs.len()];
        let (mut output, mut status) = (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        private
            .apply(&mut private_scratch, &input, &mut output, &mut status)
            .unwrap();
        assert_eq!((&output, &status), (&expected, &done));
        (output, status) = (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        bare.apply(&mut bare_scratch, &input, &mut output, &mut status).unwrap();
        assert_eq!((&output, &status), (&expected, &done));
        (output, status) = (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        public
            .apply_vartime(&mut public_scratch, &expected, &mut output, &mut status)
            .unwrap();
        assert_eq!((&output, &status), (&input, &done));
        (output, status) = (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        public
            .apply(&mut public_scratch, &expected, &mut output, &mut status)
            .unwrap();
        assert_eq!((&output, &status), (&input, &done));
    }
}

/// Runs all inputs through the private operation without the CRT, protected and bare, in batches of `batch`.
fn without_crt(key: &Key, inputs: &[BigUint], batch: usize, kernel: Kernel) {
    let private = PrivateContext::without_crt(&key.checked(), kernel).unwrap();
    let bare = BarePrivateContext::without_crt(&key.checked(), kernel).unwrap();
    assert_eq!([private.kernel(), bare.kernel()], [kernel; 2]);
    let (mut private_scratch, mut bare_scratch) = (private.scratch().unwrap(), bare.scratch());
    for inputs in inputs.chunks(batch) {
        let input = inputs.iter().flat_map(|x| key.bytes(x)).collect::<Vec<_>>();
        let expected = inputs.iter().flat_map(|x| key.power(x)).collect::<Vec<_>>();
        let done = vec![Status::Done; inputs.len()];
        let (mut output, mut status) = (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        private
            .apply(&mut private_scratch, &input, &mut output, &mut status)
            .unwrap();
        assert_eq!((&output, &status), (&expected, &done));
        (output, status) = (vec![0xaa; input.len()], vec![Status::Fault; inputs.len()]);
        bare.apply(&mut bare_scratch, &input, &mut output, &mut status).unwrap();
        assert_eq!((&output, &status), (&expected, &done));
    }
}

#[test]
fn edges_without_the_crt() {
    let keys = [(256, 257), (255, 257), (511, 512), (777, 300)].map(|(p, q)| Key::random(p, q, &E));
    for_each_kernel(|kernel| {
        for key in &keys {
            without_crt(key, &key.inputs(), 3, kernel);
        }
        without_crt(&Key::mersenne(521, 127), &[BigUint::from(3u8)], 1, kernel);
    });
    let key = Key::random(1024, 1025, &E);
    without_crt(&key, &key.inputs(), 9, Kernel::auto());
}

#[test]
fn edges_at_every_kind_of_length() {
    let lengths = [
        (256, 257),
        (257, 256),
        (255, 257),
        (384, 385),
        (511, 512),
        (512, 513),
        (513, 511),
        (768, 769),
        (1024, 1025),
    ];
    // Primes of unequal lengths, either one the longer, and limbs of all ones.
    let mersenne = [(521, 607), (607, 521), (127, 521), (521, 127), (1279, 521), (607, 1279)];
    let keys = lengths.map(|(p, q)| (Key::random(p, q, &E), 3));
    let ones = mersenne.map(|(p, q)| (Key::mersenne(p, q), 4));
    for_each_kernel(|kernel| {
        for (key, batch) in keys.iter().chain(&ones) {
            round_trip(key, &key.inputs(), *batch, kernel);
        }
    });
}

/// Up to the longest; the result is judged by its e-th power, which is faster to find.
#[test]
fn large_moduli() {
    for_each_kernel(|kernel| {
        // The portable form of the eight lanes is the register form's source at a hundredth of its speed.
        let slow = ["mont52x8_portable", "mont47x4_portable", "mont47x2_portable"].contains(&kernel.name());
        for (p, q) in [(2281, 2203), (4423, 4253), (9941, 4423)] {
            if slow && p > 2281 {
                continue;
            }
            let key = Key::mersenne(p, q);
            let (n, x) = (key.n(), key.inputs().pop().unwrap());
            let (input, mut output) = (key.bytes(&x), vec![0; key.len()]);
            let private = PrivateContext::new(&key.checked(), kernel);
            let mut status = [Status::Fault];
            private
                .apply(&mut private.scratch().unwrap(), &input, &mut output, &mut status)
                .unwrap();
            let y = BigUint::from_bytes_be(&output);
            assert_eq!(status, [Status::Done]);
            assert!(y < n && y.modpow(&BigUint::from_bytes_be(&E), &n) == x);
        }
    });
}

#[test]
fn exponents_short_and_long() {
    for_each_kernel(|kernel| {
        let long = bytes(&((BigUint::from(1u8) << 500usize) - 159u8), 70);
        for e in [
            &[3][..],
            &[17],
            &[0, 0, 1, 0, 1],
            &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
            &long,
        ] {
            let key = Key::random(256, 260, e);
            round_trip(&key, &key.inputs(), 2, kernel);
        }
    });
}

#[test]
fn batches_of_every_small_size() {
    for_each_kernel(|kernel| {
        let key = Key::random(256, 258, &E);
        for batch in 1..=9 {
            round_trip(&key, &key.inputs()[..9], batch, kernel);
        }
    });
}

/// More items than one blinding serves.
#[test]
fn a_long_batch() {
    for_each_kernel(|kernel| {
        let key = Key::random(256, 258, &E);
        let inputs: Vec<BigUint> = (0u32..100).map(|i| BigUint::from(i).pow(17)).collect();
        round_trip(&key, &inputs, 100, kernel);
    });
}

/// Batches of all small sizes and one of many, in which every input comes to lie in every lane; the primes have ten
/// digits of 52 bits, of which two passes run side by side.
#[test]
fn every_input_in_every_place() {
    let key = Key::nth(0, 1024, &E);
    let expected: Vec<(Vec<u8>, Vec<u8>)> = key
        .inputs()
        .iter()
        .chain(
            &(1u32..14)
                .map(|i| BigUint::from(i).pow(180) % key.n())
                .collect::<Vec<_>>(),
        )
        .map(|x| (key.bytes(x), key.power(x)))
        .collect();
    for_each_kernel(|kernel| {
        let private = PrivateContext::new(&key.checked(), kernel);
        let bare = BarePrivateContext::new(&key.checked(), kernel);
        let mut scratch = private.scratch().unwrap();
        let mut bare_scratch = bare.scratch();
        // On arrays passes are slow: they fill the same way.
        let is_on_arrays = kernel.name().ends_with("_portable") && kernel.lanes() > 1;
        let (step, many) = if is_on_arrays { (3, 97) } else { (1, 4097) };
        for size in (0..=33).step_by(step).chain([many]) {
            let of = |i: usize| &expected[(i + size) % expected.len()];
            let inputs: Vec<u8> = (0..size).flat_map(|i| of(i).0.clone()).collect();
            let results: Vec<u8> = (0..size).flat_map(|i| of(i).1.clone()).collect();
            let mut outputs = vec![0xaa; inputs.len()];
            let mut status = vec![Status::Fault; size];
            private.apply(&mut scratch, &inputs, &mut outputs, &mut status).unwrap();
            assert!(outputs == results, "{size} items");
            assert_eq!(status, vec![Status::Done; size]);
            outputs.fill(0xaa);
            status.fill(Status::Fault);
            bare.apply(&mut bare_scratch, &inputs, &mut outputs, &mut status)
                .unwrap();
            assert!(outputs == results, "{size} items, bare");
            assert_eq!(status, vec![Status::Done; size]);
        }
    });
}

#[test]
fn one_out_of_range_harms_no_neighbour() {
    let key = Key::random(256, 257, &E);
    let n = key.n();
    let top = (BigUint::from(1u8) << (8 * key.len())) - 1u8;
    let powers = |exponent: &[u8]| -> Vec<BigUint> {
        let exponent = BigUint::from_bytes_be(exponent);
        (0u8..9).map(|i| (&n - 3u8 - i).modpow(&exponent, &n)).collect()
    };
    let (private_powers, public_powers) = (powers(&key.rest.d), powers(&E));
    for_each_kernel(|kernel| {
        let private = PrivateContext::new(&key.checked(), kernel);
        let bare = BarePrivateContext::new(&key.checked(), kernel);
        let public = PublicContext::new(&key.public(), kernel);
        for batch in 1..=9 {
            for bad in 0..batch {
                for value in [&n, &(&n + 1u8), &top] {
                    let input: Vec<u8> = (0..batch)
                        .flat_map(|i| key.bytes(&if i == bad { value.clone() } else { &n - 3u8 - i as u8 }))
                        .collect();
                    let check = |output: &[u8], status: &[Status], powers: &[BigUint]| {
                        for (i, (y, status)) in output.chunks(key.len()).zip(status).enumerate() {
                            let expected = match i == bad {
                                true => (&BigUint::ZERO, Status::OutOfRange),
                                false => (&powers[i], Status::Done),
                            };
                            assert_eq!((&BigUint::from_bytes_be(y), *status), expected);
                        }
                    };
                    let (mut output, mut status) = (vec![0xaa; input.len()], vec![Status::Fault; batch]);
                    private
                        .apply(&mut private.scratch().unwrap(), &input, &mut output, &mut status)
                        .unwrap();
                    check(&output, &status, &private_powers);
                    output.fill(0xaa);
                    bare.apply(&mut bare.scratch(), &input, &mut output, &mut status)
                        .unwrap();
                    check(&output, &status, &private_powers);
                    output.fill(0xaa);
                    public
                        .apply_vartime(&mut public.scratch(), &input, &mut output, &mut status)
                        .unwrap();
                    check(&output, &status, &public_powers);
                    output.fill(0xaa);
                    public
                        .apply(&mut public.scratch(), &input, &mut output, &mut status)
                        .unwrap();
                    check(&output, &status, &public_powers);
                }
            }
        }
    });
}

#[test]
fn wrong_lengths_are_refused_and_nothing_is_written() {
    let key = Key::random(256, 257, &E);
    let len = key.len();
    for_each_kernel(|kernel| {
        let private = PrivateContext::new(&key.checked(), kernel);
        let bare = BarePrivateContext::new(&key.checked(), kernel);
        let public = PublicContext::new(&key.public(), kernel);
        let (mut private_scratch, mut bare_scratch) = (private.scratch().unwrap(), bare.scratch());
        let mut public_scratch = public.scratch();
        for (inputs, outputs, items, what) in [
            (2 * len - 1, 2 * len, 2, "inputs"),
            (2 * len, 2 * len + 1, 2, "outputs"),
            (2 * len, 2 * len, 3, "inputs"),
            (0, len, 0, "outputs"),
        ] {
            let input = vec![0; inputs];
            let (mut output, mut status) = (vec![0xaa; outputs], vec![Status::Fault; items]);
            let refusals = [
                private.apply(&mut private_scratch, &input, &mut output, &mut status),
                bare.apply(&mut bare_scratch, &input, &mut output, &mut status),
                public.apply_vartime(&mut public_scratch, &input, &mut output, &mut status),
                public.apply(&mut public_scratch, &input, &mut output, &mut status),
            ];
            for refusal in refusals {
                assert!(
                    matches!(refusal, Err(Error::Length { what: w, .. }) if w == what),
                    "{refusal:?}"
                );
            }
            assert!(output.iter().all(|&byte| byte == 0xaa));
            assert!(status.iter().all(|&status| status == Status::Fault));
        }
        assert_eq!(private.apply(&mut private_scratch, &[], &mut [], &mut []), Ok(()));
    });
}

/// Batches that leave lanes empty, by one and by all but one, and that take more passes than one.
#[test]
fn batches_of_any_size() {
    let key = Key::random(256, 257, &E);
    let inputs = key.inputs();
    for_each_kernel(|kernel| {
        let lanes = kernel.lanes();
        for batch in [1, lanes - 1, lanes, lanes + 1, 2 * lanes + 1] {
            let inputs: Vec<_> = inputs.iter().cycle().take(batch).cloned().collect();
            if batch > 0 {
                round_trip(&key, &inputs, batch, kernel);
            }
        }
    });
}

#[test]
fn what_no_key_may_be() {
    let kernel = Kernel::auto();
    let refusal = |n: &BigUint, e: &[u8]| CheckedPublicKey::new(&n.to_bytes_be(), e).err();
    let power = |bits: usize| BigUint::from(1u8) << bits;
    let good = power(512) - 1u8;
    assert_eq!(refusal(&good, &E), None);
    assert_eq!(refusal(&(power(255) - 1u8), &E), Some(Error::ModulusSize { bits: 255 }));
    assert_eq!(
        refusal(&(power(16384) + 1u8), &E),
        Some(Error::ModulusSize { bits: 16385 })
    );
    assert_eq!(refusal(&BigUint::ZERO, &E), Some(Error::ModulusSize { bits: 0 }));
    assert_eq!(refusal(&(&good - 1u8), &E), Some(Error::EvenModulus));
    for e in [
        &[][..],
        &[0],
        &[1],
        &[2],
        &[1, 0, 0],
        &good.to_bytes_be(),
        &(&good + 2u8).to_bytes_be(),
    ] {
        assert_eq!(refusal(&good, e), Some(Error::Exponent), "{e:?}");
    }
    assert_eq!(refusal(&good, &(&good - 2u8).to_bytes_be()), None);
    assert_eq!(refusal(&good, &[vec![0; 100], E.to_vec()].concat()), None);
    let key = Key::random(256, 257, &E);
    let off = [vec![0; 3], key.q.clone()].concat();
    let padded = PrivateParts { q: &off, ..key.parts() };
    assert!(CheckedPrivateKey::new(&padded).is_ok());
    let swapped = PrivateParts {
        dp: &key.rest.dq,
        ..key.parts()
    };
    assert_eq!(
        CheckedPrivateKey::new(&swapped).err(),
        Some(Error::InconsistentKey("dp is not d modulo p - 1"))
    );
    // d + k lcm(p - 1, q - 1) is a private exponent too, and the CRT never sees how long it is.
    let less_one = |prime: &[u8]| BigUint::from_bytes_be(prime) - 1u8;
    let long = BigUint::from_bytes_be(&key.rest.d) + less_one(&key.p) * less_one(&key.q) * 2u8;
    let long = long.to_bytes_be();
    let long = PrivateParts {
        d: &long,
        ..key.parts()
    };
    let long = CheckedPrivateKey::new(&long).unwrap();
    assert_eq!(
        PrivateContext::without_crt(&long, kernel).err(),
        Some(Error::InconsistentKey("d is not below n"))
    );
}

/// Public operations under moduli of all ones and moduli just above a power of two, up to the longest.
#[test]
fn odd_moduli_of_any_kind() {
    for_each_kernel(|kernel| {
        for bits in [
            256, 257, 319, 384, 512, 513, 575, 1023, 1024, 1025, 2047, 3072, 4095, 8192, 16384usize,
        ] {
            for n in [
                (BigUint::from(1u8) << bits) - 1u8,
                (BigUint::from(1u8) << (bits - 1)) + 1u8,
            ] {
                let key = CheckedPublicKey::new(&n.to_bytes_be(), &E).unwrap();
                let context = PublicContext::new(&key, kernel);
                let len = context.modulus_len();
                assert_eq!(context.modulus_bits(), bits);
                let inputs = [BigUint::ZERO, BigUint::from(1u8), &n - 1u8, &n / 3u8];
                let input: Vec<u8> = inputs.iter().flat_map(|x| bytes(x, len)).collect();
                let (mut output, mut status) = (vec![0; input.len()], [Status::Fault; 4]);
                context
                    .apply_vartime(&mut context.scratch(), &input, &mut output, &mut status)
                    .unwrap();
                for (x, y) in inputs.iter().zip(output.chunks(len)) {
                    assert_eq!(BigUint::from_bytes_be(y), x.modpow(&65537u32.into(), &n), "{bits}");
                }
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn random_inputs(x in prop::collection::vec(any::<u8>(), 64), batch in 1usize..5) {
        let key = Key::mersenne(521, 127);
        let x = BigUint::from_bytes_be(&x);
        round_trip(&key, &[x.clone(), &x + 1u8, x >> 17], batch, Kernel::auto());
    }
}
