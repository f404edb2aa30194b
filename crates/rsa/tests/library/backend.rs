//! The CPU backend against an arithmetic of another author, and what comes of backends that are wrong.

use crate::kernels::kernels_here;
use num_bigint::BigUint;
use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, Kernel, MultiKeyRunner, Operation, Prepared,
    PreparedMultiKey, PrivateKey, PublicKey, Status,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent, generate_strict_on, prime_pair_strict},
    random::InsecureStudySeed,
};

fn study_key(bits: usize, backend: &dyn Backend) -> Result<PrivateKey, Error> {
    let mut rng = InsecureStudySeed::new([4; 32]).stream(bits as u64);
    generate_strict_on(bits, DEFAULT_EXPONENT, &mut rng, backend, None).map(|generated| generated.key)
}

fn bytes(number: &BigUint, len: usize) -> Vec<u8> {
    let digits = number.to_bytes_be();
    [vec![0; len - digits.len()], digits].concat()
}

/// 0, 1, 2, n-2, n-1, all ones below n, and what is not below n.
fn edges(n: &BigUint) -> Vec<(BigUint, bool)> {
    let one = BigUint::from(1u8);
    let top = &one << (n.bits().div_ceil(8) * 8);
    vec![
        (BigUint::ZERO, true),
        (one.clone(), true),
        (BigUint::from(2u8), true),
        (n - 2u8, true),
        (n - &one, true),
        ((&one << (n.bits() - 1)) - &one, true),
        (n.clone(), false),
        (n + &one, false),
        (top - one, false),
        (n >> 1, true),
        (n / 3u8, true),
    ]
}

#[test]
fn batches_of_every_size_give_what_the_model_gives() {
    let available = kernels_here().map(|kernel| {
        let backend = CpuBackend::named(kernel.name).expect("it is available");
        (backend, kernel.name)
    });
    // Alone, and with others for what is left over of a pass.
    for (backend, kernel) in available.chain([(CpuBackend::auto(), Kernel::auto().name())]) {
        assert_eq!(backend.kernel(), kernel);
        for bits in [256, 258, 384, 512, 514, 768, 1024] {
            let key = study_key(bits, &backend).expect("a key");
            let k = key.modulus_len();
            let [n, e, d] = [key.public().n(), key.public().e(), key.d()].map(BigUint::from_bytes_be);
            let public = backend.prepare_public(key.public()).unwrap();
            let private = backend.prepare_private(&key).unwrap();
            let bare = backend.prepare_bare_private(&key).unwrap();
            for (prepared, exponent) in [(public, &e), (private, &d), (bare, &d)] {
                assert_eq!((prepared.modulus_len(), prepared.lanes()), (k, backend.lanes()));
                assert_eq!(prepared.kernel(), kernel);
                let mut runner = prepared.runner().unwrap();
                let items = edges(&n);
                for count in 0..=items.len() {
                    let items = &items[items.len() - count..];
                    let inputs: Vec<u8> = items.iter().flat_map(|(value, _)| bytes(value, k)).collect();
                    let mut outputs = vec![0xaa; inputs.len()];
                    let mut status = vec![Status::Fault; count];
                    runner.run(&inputs, &mut outputs, &mut status).unwrap();
                    for (((value, fits), output), status) in items.iter().zip(outputs.chunks(k)).zip(status) {
                        let expected = if *fits {
                            value.modpow(exponent, &n)
                        } else {
                            BigUint::ZERO
                        };
                        assert_eq!(output, bytes(&expected, k), "{bits} bits");
                        assert_eq!(status, if *fits { Status::Done } else { Status::OutOfRange });
                    }
                }
                for (inputs, outputs, count) in [(k, k, 2), (k + 1, k, 1), (k, k - 1, 1), (0, 0, 1), (k, k, 0)] {
                    let error = runner.run(&vec![0; inputs], &mut vec![0; outputs], &mut vec![Status::Done; count]);
                    assert!(
                        matches!(error, Err(Error::Backend { .. })),
                        "{inputs} {outputs} {count}"
                    );
                }
            }
        }
    }
}

#[test]
fn kernels_that_are_not_there_are_refused() {
    assert!(CpuBackend::named("no such kernel").is_err());
    assert_eq!(CpuBackend::auto().kernel(), Kernel::auto().name());
    assert_eq!(CpuBackend::auto().name(), "cpu");
}

#[test]
fn what_is_left_over_of_a_pass_runs_on_the_kernel_for_as_many() {
    let key = study_key(512, &CpuBackend::auto()).expect("a key");
    let auto = CpuBackend::auto().prepare_public(key.public()).unwrap();
    let items = Kernel::auto().items(Operation::Public);
    for count in 1..=2 * items + 1 {
        let few = Kernel::for_batch(Operation::Public, 512, count % items).name();
        let expected = match (count / items, count % items) {
            (0, _) => vec![few],
            (_, 0) => vec![auto.kernel()],
            _ if few == auto.kernel() => vec![few],
            _ => vec![auto.kernel(), few],
        };
        assert_eq!(auto.kernels_for(count), expected, "{count} items");
    }
    let forced = CpuBackend::new(Kernel::auto());
    let forced = forced.prepare_public(key.public()).unwrap();
    assert_eq!(forced.kernels_for(1), [forced.kernel()]);
}

/// The CPU backend with other lanes than it has, or whose new keys fail their check.
struct Altered {
    cpu: CpuBackend,
    lanes: usize,
    fault: Option<Fault>,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// The last key does not do what it is for.
    Check,
    /// Keys cannot be prepared.
    Refusal,
}

/// Each key of a ring does what it does alone.
#[test]
fn keys_of_a_ring_do_what_they_do_alone() {
    for info in kernels_here() {
        let backend = CpuBackend::named(info.name).unwrap();
        let mut rng = InsecureStudySeed::new([5; 32]).stream(0);
        let keys: Vec<PrivateKey> = (0..5)
            .map(|_| {
                let generated = generate_strict_on(512, DEFAULT_EXPONENT, &mut rng, &backend, None);
                generated.unwrap().key
            })
            .collect();
        let ring = backend.prepare_multi_key(&keys).unwrap();
        let len = ring.modulus_len();
        assert_eq!((len, ring.kernel(), ring.lanes()), (64, info.name, info.lanes));
        let of: Vec<usize> = (0..23).map(|i| i * 3 % keys.len()).collect();
        let inputs: Vec<u8> = (0..of.len() * len)
            .map(|i| if i % len == 0 { 0 } else { i as u8 })
            .collect();
        let mut outputs = vec![0; inputs.len()];
        let mut status = vec![Status::Fault; of.len()];
        let mut runner = ring.runner();
        runner.run(&of, &inputs, &mut outputs, &mut status).unwrap();
        for (i, &key) in of.iter().enumerate() {
            let mut alone = vec![0; len];
            let prepared = backend.prepare_private(&keys[key]).unwrap();
            let block = i * len..(i + 1) * len;
            let status_alone = &mut [Status::Fault];
            let mut runner = prepared.runner().unwrap();
            runner.run(&inputs[block.clone()], &mut alone, status_alone).unwrap();
            assert_eq!(status[i], status_alone[0]);
            assert_eq!(outputs[block], alone[..], "block {i} of key {key}");
        }
    }
    let backend = CpuBackend::auto();
    assert!(backend.prepare_multi_key(&[]).is_err());
}

impl Altered {
    fn new(lanes: usize, fault: Option<Fault>) -> Self {
        Altered {
            cpu: CpuBackend::auto(),
            lanes,
            fault,
        }
    }
}

impl Backend for Altered {
    fn name(&self) -> &str {
        "altered"
    }

    fn kernel(&self) -> &str {
        self.cpu.kernel()
    }

    fn lanes(&self) -> usize {
        self.lanes
    }

    fn prepare_private(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        self.cpu.prepare_private(key)
    }

    fn prepare_multi_key(&self, keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        let ring = self.cpu.prepare_multi_key(keys)?;
        match self.fault {
            None => Ok(ring),
            Some(Fault::Check) => Ok(Box::new(FaultyRing(ring))),
            Some(Fault::Refusal) => Err(Error::Backend {
                backend: "altered",
                reason: "no more".to_owned(),
            }),
        }
    }

    fn prepare_public(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.cpu.prepare_public(key)
    }

    fn prepare_public_for_secrets(&self, key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        self.cpu.prepare_public_for_secrets(key)
    }

    fn tester(&self, bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        self.cpu.tester(bits)
    }
}

/// A ring whose last key does not do what it is for.
struct FaultyRing(Box<dyn PreparedMultiKey>);

impl PreparedMultiKey for FaultyRing {
    fn modulus_len(&self) -> usize {
        self.0.modulus_len()
    }

    fn kernel(&self) -> &str {
        self.0.kernel()
    }

    fn lanes(&self) -> usize {
        self.0.lanes()
    }

    fn runner(&self) -> Box<dyn MultiKeyRunner + Send + '_> {
        self.0.runner()
    }

    fn check(&self, inputs: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        self.0.check(inputs, passed)?;
        if let Some(last) = passed.last_mut() {
            *last = false;
        }
        Ok(())
    }
}

#[test]
fn keys_in_bulk_that_fail_their_check_are_not_handed_out() {
    let keys = |fault| {
        let backend = Box::new(Altered::new(8, fault));
        let e = PublicExponent::Fixed(DEFAULT_EXPONENT);
        let generation = Generation::with_backend(512, e, backend).unwrap();
        let rng = InsecureStudySeed::new([7; 32]).stream(0);
        generation.generator(rng).unwrap().keys(3)
    };
    assert_eq!(keys(None).unwrap().len(), 3);
    let error = keys(Some(Fault::Check)).expect_err("a fault");
    assert!(matches!(error, Error::Generation { .. }), "{error}");
}

#[test]
fn a_seed_gives_the_same_primes_whatever_the_lanes() {
    let pair = |lanes| {
        let mut rng = InsecureStudySeed::new([6; 32]).stream(1);
        let pair = prime_pair_strict(512, DEFAULT_EXPONENT, &mut rng, &Altered::new(lanes, None)).unwrap();
        (pair.p.to_vec(), pair.q.to_vec())
    };
    let alone = pair(1);
    for lanes in [2, 3, 5, 8, 16, 1000] {
        assert!(pair(lanes) == alone, "{lanes} lanes");
    }
}

#[test]
fn a_key_that_does_not_decrypt_what_it_encrypted_is_not_handed_out() {
    assert!(study_key(512, &Altered::new(1, None)).is_ok());
    let error = study_key(512, &Altered::new(1, Some(Fault::Check))).expect_err("a fault");
    assert!(matches!(error, Error::Generation { .. }), "{error}");
    let error = study_key(512, &Altered::new(1, Some(Fault::Refusal))).expect_err("a fault");
    assert_eq!(error.to_string(), "the backend altered failed: no more");
}
