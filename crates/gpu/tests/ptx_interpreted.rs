//! The kernels that the crate writes in PTX, interpreted, through the whole backend.

mod support;

use rsalab_gpu::{Gpu, GpuBackend, Launch};
use support::{
    blocks_conform, candidates_conform, long_exponents_conform, ptx::device::{PtxDevice, Traces}, rings_conform,
};

fn interpreted() -> (impl Gpu, Traces) {
    let (device, traces) = PtxDevice::start();
    let gpu = GpuBackend::new(device, Launch::Tuned).expect("it runs on any host");
    (gpu, traces)
}

#[test]
fn blocks_conform_in_registers() {
    let (gpu, traces) = interpreted();
    // 1000 bits fill no limb, 1022 no byte of a prime.
    for bits in [1000, 1022, 1024] {
        blocks_conform(&gpu, bits, &[1, 13, 2, 0, 7]);
    }
    assert!(!traces.lock().unwrap().is_empty(), "nothing was interpreted");
    blocks_conform(&gpu, 2048, &[33]);
    blocks_conform(&gpu, 3072, &[12]);
    blocks_conform(&gpu, 4096, &[12]);
}

#[test]
fn long_exponents_and_rings_conform_in_registers() {
    let (gpu, _) = interpreted();
    long_exponents_conform(&gpu, 1024);
    rings_conform(&gpu, 1024);
}

#[test]
fn candidates_conform_in_registers() {
    let (gpu, _) = interpreted();
    candidates_conform(&gpu, 512);
}
