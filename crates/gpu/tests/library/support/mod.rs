//! The tests of a backend, whatever device it is on.

pub(crate) mod host;
pub(crate) mod ptx;

use num_bigint::BigUint;
use rand_core::Rng;
use rsalab_gpu::Gpu;
use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, Status,
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};

static SEED: std::sync::LazyLock<InsecureStudySeed> = std::sync::LazyLock::new(|| InsecureStudySeed::new([9; 32]));

/// The key of a size, always the same, or another with another number.
pub(crate) fn study_key(bits: usize, number: u64) -> PrivateKey {
    let mut rng = SEED.stream(number << 20 | bits as u64);
    generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
}

/// The key with a public exponent as long as the modulus.
pub(crate) fn with_long_exponent(key: &PrivateKey) -> PrivateKey {
    let one = BigUint::from(1u8);
    let [n, p, q] = [key.public().n(), key.p(), key.q()].map(BigUint::from_bytes_be);
    let phi = (&p - &one) * (&q - &one);
    // Downwards from the modulus, the first that is prime to φ(n).
    let mut e = n - 4u8;
    while gcd(e.clone(), phi.clone()) != one {
        e -= 2u8;
    }
    PrivateKey::from_primes(key.p(), key.q(), &e.to_bytes_be()).expect("a key")
}

fn gcd(a: BigUint, b: BigUint) -> BigUint {
    if b == BigUint::ZERO { a } else { gcd(b.clone(), a % b) }
}

pub(crate) fn bytes(number: &BigUint, len: usize) -> Vec<u8> {
    let digits = number.to_bytes_be();
    [vec![0; len - digits.len()], digits].concat()
}

/// All ones below n, n-1, 0, n, 1, 2, n-2, a limb of ones, and more that is not below n: the longest carries first, for
/// batches that have no room for all.
fn edges(n: &BigUint) -> Vec<(BigUint, bool)> {
    let one = BigUint::from(1u8);
    let top = &one << (n.bits().div_ceil(8) * 8);
    vec![
        ((&one << (n.bits() - 1)) - &one, true),
        (n - &one, true),
        (BigUint::ZERO, true),
        (n.clone(), false),
        (one.clone(), true),
        (BigUint::from(2u8), true),
        (n - 2u8, true),
        (BigUint::from(u32::MAX), true),
        (n + &one, false),
        (top - one, false),
    ]
}

/// Blocks for a key: its edges, then random ones, `count` in all; and whether each is in range.
fn inputs(key: &PrivateKey, count: usize) -> (Vec<u8>, Vec<bool>) {
    let n = BigUint::from_bytes_be(key.public().n());
    let len = key.modulus_len();
    let mut rng = SEED.stream(1 << 40);
    let mut random = || {
        let mut block = vec![0; len];
        rng.fill_bytes(&mut block);
        (BigUint::from_bytes_be(&block) % &n, true)
    };
    let edges = edges(&n);
    let (blocks, in_range): (Vec<Vec<u8>>, Vec<bool>) = (0..count)
        .map(|place| edges.get(place).cloned().unwrap_or_else(&mut random))
        .map(|(number, is_in_range)| (bytes(&number, len), is_in_range))
        .unzip();
    (blocks.concat(), in_range)
}

/// The CPU's results for blocks.
fn by_cpu(key: &PrivateKey, is_private: bool, inputs: &[u8]) -> (Vec<u8>, Vec<Status>) {
    let cpu = CpuBackend::auto();
    let prepared = match is_private {
        true => cpu.prepare_private(key),
        false => cpu.prepare_public(key.public()),
    };
    run(prepared.expect("a key").as_ref(), inputs)
}

fn run(prepared: &dyn rsalab_rsa::Prepared, inputs: &[u8]) -> (Vec<u8>, Vec<Status>) {
    let items = inputs.len() / prepared.modulus_len();
    let mut outputs = vec![0xaa; inputs.len()];
    let mut status = vec![Status::Fault; items];
    let mut runner = prepared.runner().expect("a runner");
    runner.run(inputs, &mut outputs, &mut status).expect("a batch");
    (outputs, status)
}

/// Blocks of every kind and batches of odd sizes give what the CPU gives, and that is what the definition says.
pub(crate) fn blocks_conform(gpu: &dyn Gpu, bits: usize, batches: &[usize]) {
    let key = study_key(bits, 0);
    let most = batches.iter().copied().max().unwrap_or(0);
    let (inputs, in_range) = inputs(&key, most);
    let len = key.modulus_len();
    let public = gpu.prepare_public(key.public()).unwrap();
    let private = gpu.prepare_private(&key).unwrap();
    let plain = gpu.prepare_private_without_crt(&key).unwrap();
    let bare = gpu.prepare_private_bare(&key).unwrap();
    assert_eq!(public.modulus_len(), len);
    let kinds = [(public, false), (private, true), (plain, true), (bare, true)];
    for (prepared, is_private) in kinds {
        let (expected, expected_status) = by_cpu(&key, is_private, &inputs);
        let mut runner = prepared.runner().unwrap();
        for &batch in batches {
            let what = format!("{bits} bits, private: {is_private}, batch of {batch}");
            let mut outputs = vec![0xaa; batch * len];
            let mut status = vec![Status::Fault; batch];
            runner.run(&inputs[..batch * len], &mut outputs, &mut status).unwrap();
            assert_eq!(status, expected_status[..batch], "{what}");
            assert!(outputs == expected[..batch * len], "{what}");
        }
        for (place, (status, in_range)) in expected_status.iter().zip(&in_range).enumerate() {
            assert_eq!(*status == Status::Done, *in_range, "{bits} bits, block {place}");
        }
    }
    // The CPU's own are checked against another author's arithmetic elsewhere; here a few are, too.
    let [n, e] = [key.public().n(), key.public().e()].map(BigUint::from_bytes_be);
    let (signed, _) = by_cpu(&key, true, &inputs);
    for ((signed, input), _) in signed
        .chunks(len)
        .zip(inputs.chunks(len))
        .zip(&in_range)
        .filter(|(_, in_range)| **in_range)
    {
        let signed = BigUint::from_bytes_be(signed);
        assert_eq!(signed.modpow(&e, &n), BigUint::from_bytes_be(input));
    }
}

/// Many operations on each of a few keys, private and public, in batches.
pub(crate) fn many_conform(gpu: &dyn Gpu, bits: usize, operations: usize) {
    const BATCH: usize = 500;
    let mut rng = SEED.stream(1 << 42 | bits as u64);
    for number in 0..operations.div_ceil(BATCH) {
        let key = study_key(bits, number as u64 % 4);
        let (len, count) = (key.modulus_len(), BATCH.min(operations - number * BATCH));
        let n = BigUint::from_bytes_be(key.public().n());
        let blocks: Vec<u8> = (0..count)
            .flat_map(|_| {
                let mut block = vec![0; len];
                rng.fill_bytes(&mut block);
                bytes(&(BigUint::from_bytes_be(&block) % &n), len)
            })
            .collect();
        for is_private in [true, false] {
            let prepared = match is_private {
                true => gpu.prepare_private(&key).unwrap(),
                false => gpu.prepare_public(key.public()).unwrap(),
            };
            let got = run(prepared.as_ref(), &blocks);
            assert!(
                got == by_cpu(&key, is_private, &blocks),
                "{bits} bits, private: {is_private}"
            );
        }
    }
}

/// A public exponent as long as the modulus.
pub(crate) fn long_exponents_conform(gpu: &dyn Gpu, bits: usize) {
    let key = with_long_exponent(&study_key(bits, 0));
    let (inputs, _) = inputs(&key, 12);
    for is_private in [false, true] {
        let prepared = match is_private {
            false => gpu.prepare_public(key.public()),
            true => gpu.prepare_private(&key),
        };
        let got = run(prepared.unwrap().as_ref(), &inputs);
        assert!(got == by_cpu(&key, is_private, &inputs), "{bits} bits");
    }
}

/// Many keys of one size, each item with its own, in any order and any number of times.
pub(crate) fn rings_conform(gpu: &dyn Gpu, bits: usize) {
    let mut keys: Vec<PrivateKey> = (0..3).map(|number| study_key(bits, number)).collect();
    keys.push(with_long_exponent(&keys[1]));
    let len = keys[0].modulus_len();
    let ring = gpu.prepare_multi_key(&keys).unwrap();
    let mut runner = ring.runner();
    for which in [vec![0], vec![2, 0, 1, 1, 3, 0, 2], vec![1; 5], vec![], vec![3, 2, 1, 0]] {
        let mut blocks = Vec::new();
        let (mut expected, mut expected_status) = (Vec::new(), Vec::new());
        for (place, &key) in which.iter().enumerate() {
            let (of_key, _) = inputs(&keys[key], 12);
            let block = &of_key[(place + 3) * len..][..len];
            let (output, status) = by_cpu(&keys[key], true, block);
            blocks.extend_from_slice(block);
            expected.extend(output);
            expected_status.extend(status);
        }
        let mut outputs = vec![0xaa; blocks.len()];
        let mut status = vec![Status::Fault; which.len()];
        runner.run(&which, &blocks, &mut outputs, &mut status).unwrap();
        assert_eq!(status, expected_status, "{which:?}");
        assert!(outputs == expected, "{which:?}");
    }
    assert!(
        runner
            .run(&[4], &vec![0; len], &mut vec![0; len], &mut [Status::Done])
            .is_err()
    );

    let numbers: Vec<u8> = keys
        .iter()
        .flat_map(|key| inputs(key, 13).0[12 * len..].to_vec())
        .collect();
    let mut passed = vec![false; keys.len()];
    ring.check(&numbers, &mut passed).unwrap();
    assert_eq!(passed, [true; 4]);
    // One is its own power, and so tells nothing of a key.
    let mut ones = numbers;
    ones[..len].fill(0);
    ones[len - 1] = 1;
    ring.check(&ones, &mut passed).unwrap();
    assert_eq!(passed, [false, true, true, true]);
}

/// Candidates of a length: primes, composites, those whose predecessor is a multiple of a large power of two, and
/// strong pseudoprimes to some base.
pub(crate) fn candidates_conform(gpu: &dyn Gpu, bits: usize) {
    candidates_conform_with(gpu, bits);
}

/// Checks candidates on any backend.
pub(crate) fn candidates_conform_with(gpu: &dyn Backend, bits: usize) {
    let cpu = CpuBackend::auto();
    let key = study_key(2 * bits, 0);
    let len = bits.div_ceil(8);
    let one = BigUint::from(1u8);
    let [p, q] = [key.p(), key.q()].map(BigUint::from_bytes_be);
    let top = &one << (bits - 1);
    let mut candidates = vec![p.clone(), q.clone(), &p - 2u8, &q + 2u8, &top + &one];
    for zeros in [1, 2, 14, 15, 16, 17, 31, 32, 33, 40, 63, bits - 2] {
        // Odd multiples of 2^zeros, and one.
        candidates.push(&top + (&one << zeros) + &one);
        candidates.push((((&p >> zeros) | &one) << zeros) | &one);
    }
    candidates.retain(|number| number.bits() == bits as u64);
    assert!(candidates.len() > 20);
    let mut rng = SEED.stream(1 << 41 | bits as u64);
    for _ in 0..9 {
        let mut random = vec![0; len];
        rng.fill_bytes(&mut random);
        candidates.push((BigUint::from_bytes_be(&random) % &top) | &top | &one);
    }
    let all: Vec<u8> = candidates.iter().flat_map(|number| bytes(number, len)).collect();
    let count = candidates.len();
    let (mut by_gpu, mut by_cpu) = (vec![true; count], vec![false; count]);
    let (mut on_gpu, mut on_cpu) = (gpu.tester(bits).unwrap(), cpu.tester(bits).unwrap());
    on_gpu.pre_test(&all, &mut by_gpu).unwrap();
    on_cpu.pre_test(&all, &mut by_cpu).unwrap();
    assert_eq!(by_gpu, by_cpu, "{bits} bits");
    assert!(by_gpu[0] && by_gpu[1] && by_gpu.contains(&false));
    for base in [2u32, 3, 7, 65_537, u32::MAX] {
        let bases = bytes(&BigUint::from(base), len).repeat(count);
        on_gpu.round(&all, &bases, &mut by_gpu).unwrap();
        on_cpu.round(&all, &bases, &mut by_cpu).unwrap();
        assert_eq!(by_gpu, by_cpu, "{bits} bits, base {base}");
    }
    // Each with its own base, the largest that there is.
    let bases: Vec<u8> = candidates
        .iter()
        .flat_map(|number| bytes(&(number - 2u8), len))
        .collect();
    on_gpu.round(&all, &bases, &mut by_gpu).unwrap();
    on_cpu.round(&all, &bases, &mut by_cpu).unwrap();
    assert_eq!(by_gpu, by_cpu, "{bits} bits");
    small_candidates_conform(gpu, len);
    // One at a time, and none.
    let mut passed = [false];
    on_gpu.round(&all[..len], &bases[..len], &mut passed).unwrap();
    assert_eq!(passed, [true]);
    on_gpu.pre_test(&[], &mut []).unwrap();
    on_gpu.round(&[], &[], &mut []).unwrap();

    // What is refused is refused before anything is written.
    let even = bytes(&(&p - &one), len);
    let five = bytes(&BigUint::from(5u8), len);
    let mut passed = [true];
    assert!(on_gpu.pre_test(&even, &mut passed).is_err());
    assert!(on_gpu.pre_test(&five, &mut passed).is_err());
    assert!(on_gpu.pre_test(&all[..len - 1], &mut passed).is_err());
    for base in [BigUint::ZERO, one.clone(), &p - &one, p.clone()] {
        let refused = on_gpu.round(&all[..len], &bytes(&base, len), &mut passed);
        assert!(refused.is_err(), "base {base}");
    }
    assert!(on_gpu.round(&even, &five, &mut passed).is_err());
    assert_eq!(passed, [true]);
}

/// Numbers far below the length of the tester: every odd one up to a thousand, to every base it can have up to 16.
fn small_candidates_conform(gpu: &dyn Backend, len: usize) {
    let mut tester = gpu.tester(8 * len).unwrap();
    let pairs: Vec<(u32, u32)> = (5u32..1000)
        .step_by(2)
        .flat_map(|w| (2..(w - 1).min(16)).map(move |b| (w, b)))
        .collect();
    let of = |number: u32| bytes(&BigUint::from(number), len);
    let candidates: Vec<u8> = pairs.iter().flat_map(|&(w, _)| of(w)).collect();
    let bases: Vec<u8> = pairs.iter().flat_map(|&(_, b)| of(b)).collect();
    let mut passed = vec![false; pairs.len()];
    tester.round(&candidates, &bases, &mut passed).unwrap();
    for (&(w, b), passed) in pairs.iter().zip(passed) {
        assert_eq!(passed, is_strong_probable_prime(w, b), "{w} to base {b}");
    }
}

/// By the definition.
fn is_strong_probable_prime(w: u32, b: u32) -> bool {
    let a = (w - 1).trailing_zeros();
    let modulus = BigUint::from(w);
    let power = |exponent: u32| BigUint::from(b).modpow(&BigUint::from(exponent), &modulus);
    let m = (w - 1) >> a;
    power(m) == BigUint::from(1u8) || (0..a).any(|i| power(m << i) == BigUint::from(w - 1))
}
