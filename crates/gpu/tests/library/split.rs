//! Batches shared between this CPU and a device that works, is slow, or fails: the kernels on the host, under
//! sanitizers.

use std::sync::Arc;

use crate::support::{candidates_conform_with, host::HostDevice, study_key};
use rsalab_gpu::{
    Description, Gpu, GpuBackend, Launch, SplitBackend,
    backend::Resident,
    driver::faulty::{Faults, FaultyDevice},
};
use rsalab_rsa::{
    Backend, BlockRunner, CandidateTester, CpuBackend, Error, Kernel, Prepared, PreparedMultiKey, PrivateKey,
    PublicKey, Status,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent},
    random::InsecureStudySeed,
};

const BITS: usize = 512;
const LENGTH: usize = BITS / 8;

fn device() -> (Faults, Arc<dyn Gpu>) {
    let faults = Faults::default();
    let device = FaultyDevice::new(HostDevice::that_may_be_lost(), faults.clone());
    let gpu = GpuBackend::new(device, Launch::Tuned).unwrap();
    (faults, Arc::new(gpu))
}

/// Blocks of which every seventh is not below the modulus.
fn blocks(items: usize) -> Vec<u8> {
    (0..LENGTH * items)
        .map(|place| match (place % LENGTH, place / LENGTH % 7) {
            (0, 3) => 0xff,
            (0, _) => 0,
            _ => (place * 31 + place / LENGTH) as u8,
        })
        .collect()
}

fn run(runner: &mut dyn BlockRunner, items: usize) -> (Vec<u8>, Vec<Status>) {
    let (mut outputs, mut status) = (vec![0xaa; LENGTH * items], vec![Status::Fault; items]);
    runner.run(&blocks(items), &mut outputs, &mut status).unwrap();
    (outputs, status)
}

/// The slowest kernel of the CPU, so that a device under sanitizers gets its share.
fn slow_cpu() -> CpuBackend {
    CpuBackend::new(Kernel::named("mont64x1_portable").unwrap())
}

#[test]
fn results_are_in_order_and_those_of_the_cpu() {
    let key = study_key(BITS, 0);
    let (_, gpu) = device();
    for threads in [1, 3] {
        let split = SplitBackend::new(slow_cpu(), Arc::clone(&gpu), threads);
        // The first CPU that this test may use, for all of them.
        let cpus = rsalab_measure::Topology::detect().placement(1).cpus;
        let split = if threads == 3 { split.pinned_to(cpus) } else { split };
        for is_private in [true, false] {
            let prepare = |backend: &dyn Backend| match is_private {
                true => backend.prepare_private(&key).unwrap(),
                false => backend.prepare_public(key.public()).unwrap(),
            };
            let (cpu, both) = (CpuBackend::auto(), prepare(&split));
            let alone = prepare(&cpu);
            let (mut alone, mut together) = (alone.runner().unwrap(), both.runner().unwrap());
            for items in [0, 1, 2, 5, 300, 64, 1] {
                let (expected, got) = (run(alone.as_mut(), items), run(together.as_mut(), items));
                assert!(expected == got, "{items} blocks on {threads} threads");
            }
        }
        assert_eq!(split.lost(), None);
    }
}

#[test]
fn a_device_that_is_lost_in_the_middle_is_replaced_by_the_cpu() {
    let key = study_key(BITS, 0);
    let cpu = CpuBackend::auto().prepare_private(&key).unwrap();
    let mut alone = cpu.runner().unwrap();
    let expected = run(alone.as_mut(), 200);
    let mut losses = 0;
    for kernels in [0, 3, 12, 25, 40, 60, 100, 1000] {
        let (faults, gpu) = device();
        let split = SplitBackend::new(slow_cpu(), gpu, 2);
        faults.lose_after(kernels);
        let prepared = split.prepare_private(&key).unwrap();
        let mut runner = prepared.runner().unwrap();
        for _ in 0..3 {
            assert!(run(runner.as_mut(), 200) == expected, "{kernels} kernels");
        }
        if let Some(reason) = split.lost() {
            assert!(reason.contains("the device is lost"), "{reason}");
            losses += 1;
        }
        // What is made ready afterwards does not ask the device.
        let prepared = split.prepare_private(&key).unwrap();
        assert!(run(prepared.runner().unwrap().as_mut(), 200) == expected);
    }
    assert!(losses >= 5, "{losses}");
}

#[test]
fn a_device_without_memory_leaves_the_work_to_the_cpu() {
    let key = study_key(BITS, 0);
    let (faults, gpu) = device();
    let split = SplitBackend::new(slow_cpu(), gpu, 1);
    let prepared = split.prepare_private(&key).unwrap();
    let mut runner = prepared.runner().unwrap();
    faults.leave_memory(1000);
    let first = run(runner.as_mut(), 100);
    assert!(run(runner.as_mut(), 100) == first);
    let reason = split.lost().expect("there is no room for a batch");
    assert!(reason.contains("no room"), "{reason}");
}

#[test]
fn candidates_are_tested_by_either_side() {
    let (_, gpu) = device();
    let split = SplitBackend::new(slow_cpu(), gpu, 1);
    for _ in 0..2 {
        candidates_conform_with(&split, 256);
    }
    assert_eq!(split.lost(), None);
}

#[test]
fn keys_are_made_when_the_device_is_lost_on_the_way() {
    let (faults, gpu) = device();
    let split = SplitBackend::new(slow_cpu(), gpu, 1);
    faults.lose_after(40);
    let exponent = PublicExponent::Fixed(DEFAULT_EXPONENT);
    let generation = Generation::with_backend(BITS, exponent, Box::new(split))
        .unwrap()
        .with_searches(64);
    let rng = InsecureStudySeed::new([3; 32]).stream(1);
    let made = generation.generator(rng).unwrap().keys(4).unwrap();
    assert_eq!(made.len(), 4);
}

/// A device that is done at once, and all of whose results fail their check.
struct Wrong(Description);

impl Backend for Wrong {
    fn name(&self) -> &str {
        "wrong"
    }

    fn kernel(&self) -> &str {
        "wrong"
    }

    fn lanes(&self) -> usize {
        64
    }

    fn prepare_private(&self, _key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        Ok(Box::new(Wrong(Description::default())))
    }

    fn prepare_multi_key(&self, _keys: &[PrivateKey]) -> Result<Box<dyn PreparedMultiKey>, Error> {
        unreachable!("several keys are the CPU's")
    }

    fn prepare_public(&self, _key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        unreachable!("nobody asks")
    }

    fn prepare_public_for_secrets(&self, _key: &PublicKey) -> Result<Box<dyn Prepared>, Error> {
        unreachable!("nobody asks")
    }

    fn tester(&self, _bits: usize) -> Result<Box<dyn CandidateTester + '_>, Error> {
        unreachable!("nobody asks")
    }
}

impl Gpu for Wrong {
    fn description(&self) -> &Description {
        &self.0
    }

    fn with_launch(&self, _launch: Launch) -> Box<dyn Gpu> {
        unreachable!("nobody asks")
    }

    fn prepare_private_without_crt(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        self.prepare_private(key)
    }

    fn prepare_private_bare(&self, key: &PrivateKey) -> Result<Box<dyn Prepared>, Error> {
        self.prepare_private(key)
    }

    fn prepare_resident(&self, _key: &PrivateKey) -> Result<Box<dyn Resident>, Error> {
        unreachable!("nobody asks")
    }

    fn tester_kernel(&self, _bits: usize) -> String {
        "wrong".to_owned()
    }
}

impl Prepared for Wrong {
    fn modulus_len(&self) -> usize {
        LENGTH
    }

    fn kernel(&self) -> &str {
        "wrong's private power"
    }

    fn lanes(&self) -> usize {
        64
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>, Error> {
        Ok(Box::new(Wrong(Description::default())))
    }
}

impl BlockRunner for Wrong {
    fn run(&mut self, _inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        outputs.fill(0);
        status.fill(Status::Fault);
        Ok(())
    }
}

#[test]
fn a_device_that_computes_wrongly_is_replaced_by_the_cpu() {
    let key = study_key(BITS, 0);
    let cpu = CpuBackend::auto().prepare_private(&key).unwrap();
    let expected = run(cpu.runner().unwrap().as_mut(), 200);
    let split = SplitBackend::new(slow_cpu(), Arc::new(Wrong(Description::default())), 1);
    let prepared = split.prepare_private(&key).unwrap();
    assert_eq!(prepared.kernel(), "mont64x1_portable and wrong's private power");
    let mut runner = prepared.runner().unwrap();
    // The first batch measures the CPU, the second the device, which then has a share of it.
    for _ in 0..3 {
        assert!(run(runner.as_mut(), 200) == expected);
    }
    let reason = split.lost().expect("no result has passed its check");
    assert!(reason.contains("computes wrongly"), "{reason}");
}
