//! The kernels as plain C, under the address and undefined-behaviour sanitizers, through the whole backend.

use crate::support::{
    blocks_conform, candidates_conform, host::HostDevice, long_exponents_conform, rings_conform, study_key,
};
use rsalab_gpu::{
    Gpu, GpuBackend, Grid, Launch,
    driver::faulty::{Faults, FaultyDevice},
};
use rsalab_rsa::{Backend, Error, Status};

fn host(launch: Launch) -> impl Gpu {
    GpuBackend::new(HostDevice::start(), launch).expect("the kernels run on any host")
}

#[test]
fn blocks_of_every_size_conform() {
    let gpu = host(Launch::Tuned);
    // 1000 bits fill no limb, 1022 no byte of a prime.
    for bits in [512, 768, 1000, 1022, 1024] {
        blocks_conform(&gpu, bits, &[1, 13, 2, 0, 7]);
    }
    for bits in [2048, 3072] {
        blocks_conform(&gpu, bits, &[3]);
    }
}

#[test]
#[ignore = "long: batches of the largest sizes, with every edge"]
fn batches_of_the_largest_sizes_conform() {
    let gpu = host(Launch::Tuned);
    for bits in [2048, 3072, 4096, 6144, 8192] {
        blocks_conform(&gpu, bits, &[1, 4, 11]);
    }
}

#[test]
fn long_exponents_and_rings_conform() {
    let gpu = host(Launch::Tuned);
    for bits in [512, 768] {
        long_exponents_conform(&gpu, bits);
        rings_conform(&gpu, bits);
    }
}

#[test]
fn candidates_for_primes_conform() {
    let gpu = host(Launch::Tuned);
    for bits in [256, 264, 384, 512] {
        candidates_conform(&gpu, bits);
    }
}

#[test]
fn any_grid_does_all_the_work() {
    for (groups, group) in [(1, 1), (3, 1), (1, 7), (4, 64)] {
        let gpu = host(Launch::Fixed(Grid { groups, group }));
        blocks_conform(&gpu, 512, &[11]);
    }
    let gpu = host(Launch::ARTICLE);
    blocks_conform(&gpu, 512, &[1]);
}

#[test]
fn a_batch_larger_than_memory_is_done_in_chunks() {
    let device = HostDevice::with_memory(128 << 10);
    let gpu = GpuBackend::new(device, Launch::Tuned).unwrap();
    blocks_conform(&gpu, 512, &[64, 1, 33]);
}

#[test]
fn pairs_are_drawn_anew_and_results_stay_right() {
    let gpu = host(Launch::Tuned);
    let key = study_key(512, 0);
    let prepared = gpu.prepare_private(&key).unwrap();
    let mut runner = prepared.runner().unwrap();
    let input = vec![0x01; 64];
    let mut first = Vec::new();
    for _ in 0..70 {
        let (mut output, mut status) = (vec![0; 64], [Status::Fault]);
        runner.run(&input, &mut output, &mut status).unwrap();
        assert_eq!(status, [Status::Done]);
        if first.is_empty() {
            first.clone_from(&output);
        }
        assert_eq!(output, first);
    }
}

#[test]
fn keys_that_do_not_fit_are_refused() {
    let gpu = host(Launch::Tuned);
    let n = [vec![0xff], vec![0; 1030], vec![1]].concat();
    let key = rsalab_rsa::PublicKey::new(&n, &[3]).unwrap();
    let refused = gpu.prepare_public(&key).err().expect("it is too long");
    assert!(matches!(refused, Error::KeySize { bits: 8256, .. }), "{refused}");
    assert!(refused.to_string().contains("8192"), "{refused}");
    assert!(gpu.prepare_multi_key(&[]).is_err());
    let keys = [study_key(512, 0), study_key(768, 0)];
    assert!(gpu.prepare_multi_key(&keys).is_err());
}

fn faulty() -> (Faults, impl Gpu) {
    let faults = Faults::default();
    let device = FaultyDevice::new(HostDevice::that_may_be_lost(), faults.clone());
    (faults, GpuBackend::new(device, Launch::Tuned).unwrap())
}

#[test]
fn a_fault_is_withheld_and_does_not_stay() {
    let (faults, gpu) = faulty();
    let key = study_key(512, 0);
    let prepared = gpu.prepare_private(&key).unwrap();
    let mut runner = prepared.runner().unwrap();
    let mut run = || {
        let (mut output, mut status) = (vec![0xaa; 3 * 64], [Status::Done; 3]);
        runner.run(&[0x01; 3 * 64], &mut output, &mut status).unwrap();
        (output, status)
    };
    let (sound, status) = run();
    assert_eq!(status, [Status::Done; 3]);
    faults.leave_out_recombination();
    assert_eq!(run(), (vec![0; 3 * 64], [Status::Fault; 3]));
    assert_eq!(run(), (sound, [Status::Done; 3]));
}

#[test]
fn a_device_that_is_lost_says_so_wherever_that_happens() {
    // How many kernels preparing a key and a batch take does not matter: each of them is the last once.
    let mut losses = 0;
    for kernels in 0..60 {
        let (faults, gpu) = faulty();
        faults.lose_after(kernels);
        let key = study_key(512, 0);
        let mut output = vec![0xaa; 64];
        let done = gpu.prepare_private(&key).and_then(|prepared| {
            let mut runner = prepared.runner()?;
            runner.run(&[0x01; 64], &mut output, &mut [Status::Done])
        });
        if let Err(error) = done {
            losses += 1;
            assert!(error.to_string().contains("the device is lost"), "{error}");
            assert!(output == [0; 64] || output == [0xaa; 64]);
        } else {
            assert!(losses > 10, "a batch takes more than {kernels} kernels");
            return;
        }
    }
    panic!("a batch takes fewer than sixty kernels");
}

#[test]
fn a_device_without_memory_says_how_much_it_lacks() {
    let (faults, gpu) = faulty();
    let key = study_key(512, 0);
    let prepared = gpu.prepare_private(&key).unwrap();
    faults.leave_memory(5000);
    let mut runner = prepared.runner().unwrap();
    let (mut output, mut status) = (vec![0xaa; 64 * 64], [Status::Done; 64]);
    let error = runner
        .run(&[0x01; 64 * 64], &mut output, &mut status)
        .unwrap_err()
        .to_string();
    assert!(error.contains("the device has no room for"), "{error}");
    assert_eq!(output, [0; 64 * 64]);
    // Once there is room, the same hands go on.
    faults.leave_memory(usize::MAX);
    runner.run(&[0x01; 64 * 64], &mut output, &mut status).unwrap();
    assert_eq!(status, [Status::Done; 64]);
}
