//! The backend on NVIDIA's devices, with the kernels of each kind. Without a device, each test says that it was
//! skipped.

use crate::{
    expected,
    support::{blocks_conform, candidates_conform, long_exponents_conform, many_conform, rings_conform},
};
use rsalab_gpu::{Driver, Gpu, Launch, Survey, driver::Kernels};

/// Asks every device of CUDA.
fn on_each_device(kernels: Kernels, ask: impl Fn(&dyn Gpu)) {
    let survey = Survey::take();
    let mut asked = 0;
    for (choice, description) in survey.devices() {
        if description.driver != Driver::Cuda {
            continue;
        }
        eprintln!("{choice}: {description}, {kernels:?}");
        let gpu = survey.open_with(choice, Launch::Tuned, kernels);
        ask(gpu.expect("it was found").as_ref());
        asked += 1;
    }
    if asked == 0 {
        let reasons: Vec<_> = survey.absent.iter().map(|(_, reason)| reason).collect();
        assert!(!expected::cuda(), "there is a device of NVIDIA's: {reasons:?}");
        eprintln!("SKIPPED: no device of CUDA's, because {reasons:?}");
    }
}

#[test]
fn blocks_conform_with_each_kind_of_kernels() {
    for kernels in [Kernels::Words, Kernels::Doubles, Kernels::Portable] {
        on_each_device(kernels, |gpu| {
            for bits in [512, 1000, 1022, 1024, 2048, 3072, 4096, 6144, 8192] {
                blocks_conform(gpu, bits, &[1, 100, 3, 0]);
            }
        });
    }
}

#[test]
fn long_exponents_rings_and_candidates_conform() {
    on_each_device(Kernels::Fastest, |gpu| {
        for bits in [512, 1024, 2048] {
            long_exponents_conform(gpu, bits);
            rings_conform(gpu, bits);
            candidates_conform(gpu, bits);
        }
    });
}

#[test]
fn many_operations_conform() {
    on_each_device(Kernels::Fastest, |gpu| {
        for bits in [1024, 2048, 3072, 4096] {
            many_conform(gpu, bits, 10_000);
        }
    });
}
