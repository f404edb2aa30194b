//! The backend on what OpenCL offers on this machine: a graphics processor, or its CPU by PoCL. Without either, each
//! test says that it was skipped. Some run a part on each device, since all of it takes minutes on a CPU;
//! `RSALAB_CONFORMANCE=full` runs all.

use std::sync::Arc;

use crate::{
    expected,
    length::is_full,
    support::{self, candidates_conform, long_exponents_conform, rings_conform, study_key},
};
use rsalab_gpu::{Choice, Driver, Gpu, Launch, SplitBackend, Survey};
use rsalab_rsa::{
    Backend, CpuBackend, Status,
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent},
    random::InsecureStudySeed,
};

/// Asks every device of OpenCL.
fn on_each_device(launch: Launch, ask: impl Fn(&dyn Gpu)) {
    let survey = Survey::take();
    let mut asked = 0;
    for (choice, description) in survey.devices() {
        if description.driver != Driver::OpenCl {
            continue;
        }
        eprintln!("{choice}: {description}");
        let gpu = survey.open(choice, launch).expect("it was found");
        ask(gpu.as_ref());
        asked += 1;
    }
    if asked == 0 {
        let reasons: Vec<_> = survey.absent.iter().map(|(_, reason)| reason).collect();
        assert!(!expected::opencl(), "OpenCL has a device: {reasons:?}");
        eprintln!("SKIPPED: no OpenCL device, because {reasons:?}");
    }
}

#[test]
fn blocks_conform() {
    on_each_device(Launch::Tuned, |gpu| {
        // A device compiles its kernels for each size.
        for bits in [512, 1022, 2048] {
            support::blocks_conform(gpu, bits, &[1, 13, 3, 0]);
        }
        support::blocks_conform(gpu, 4096, &[3]);
    });
}

#[test]
#[ignore = "long: every size, with every edge"]
fn blocks_of_every_size_conform_on_a_device() {
    on_each_device(Launch::Tuned, |gpu| {
        for bits in [512, 768, 1022, 1024, 2048, 3072, 4096, 6144, 8192] {
            support::blocks_conform(gpu, bits, &[1, 13, 3, 0]);
        }
    });
}

#[test]
fn long_exponents_and_rings_conform_on_a_device() {
    on_each_device(Launch::Tuned, |gpu| {
        let sizes: &[usize] = if is_full() { &[512, 768, 2048] } else { &[768] };
        for &bits in sizes {
            long_exponents_conform(gpu, bits);
            rings_conform(gpu, bits);
        }
    });
}

#[test]
fn candidates_conform_on_a_device() {
    on_each_device(Launch::Tuned, |gpu| {
        let sizes: &[usize] = if is_full() {
            &[256, 264, 512, 1024, 2048]
        } else {
            &[264, 512]
        };
        for &bits in sizes {
            candidates_conform(gpu, bits);
        }
    });
}

#[test]
fn the_articles_launch_does_the_same() {
    on_each_device(Launch::ARTICLE, |gpu| support::blocks_conform(gpu, 1024, &[1, 13]));
}

#[test]
fn a_device_that_is_not_there_is_refused_with_those_that_are() {
    let survey = Survey::take();
    let choice = Choice::parse("opencl99").unwrap();
    let refused = survey.open(choice, Launch::Tuned).err().expect("there is none");
    let refused = refused.to_string();
    assert!(refused.starts_with("no device, because "), "{refused}");
    for (choice, _) in survey.devices() {
        assert!(refused.contains(&choice.to_string()), "{refused}");
    }
}

#[test]
fn keys_are_generated_with_a_devices_tests() {
    on_each_device(Launch::Tuned, |gpu| {
        let backend = gpu.with_launch(Launch::Tuned);
        let searches = gpu.searches();
        let generation = Generation::with_backend(1024, PublicExponent::Fixed(DEFAULT_EXPONENT), backend)
            .unwrap()
            .with_searches(searches);
        let rng = InsecureStudySeed::new([7; 32]).stream(1);
        let mut generator = generation.generator(rng).unwrap();
        let made = generator.keys(3).unwrap();
        let cpu = CpuBackend::auto();
        for made in &made {
            assert_eq!(made.key.bits(), 1024);
            let prepared = cpu.prepare_private(&made.key).unwrap();
            let mut runner = prepared.runner().unwrap();
            let mut status = [Status::Fault];
            runner.run(&[0x01; 128], &mut [0; 128], &mut status).unwrap();
            assert_eq!(status, [Status::Done]);
        }
        assert_eq!(made.len(), 3);
    });
}

#[test]
fn a_device_and_the_cpu_share_batches_of_any_size() {
    on_each_device(Launch::Tuned, |gpu| {
        let gpu: Arc<dyn Gpu> = Arc::from(gpu.with_launch(Launch::Tuned));
        let split = SplitBackend::new(CpuBackend::auto(), gpu, 2);
        let key = study_key(512, 0);
        let cpu = CpuBackend::auto().prepare_private(&key).unwrap();
        let prepared = split.prepare_private(&key).unwrap();
        let (mut alone, mut together) = (cpu.runner().unwrap(), prepared.runner().unwrap());
        for items in [0, 1, 2, 7, 1000, 10_000, 3] {
            let inputs: Vec<u8> = (0..64 * items)
                .map(|place| match place % 64 {
                    0 => 0,
                    _ => (place * 31 + place / 64) as u8,
                })
                .collect();
            let run = |runner: &mut dyn rsalab_rsa::BlockRunner| {
                let (mut outputs, mut status) = (vec![0xaa; 64 * items], vec![Status::Fault; items]);
                runner.run(&inputs, &mut outputs, &mut status).unwrap();
                (outputs, status)
            };
            assert!(run(alone.as_mut()) == run(together.as_mut()), "{items}");
        }
        assert_eq!(split.lost(), None);
    });
}
