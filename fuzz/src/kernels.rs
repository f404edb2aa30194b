//! Kernels against the portable one, on numbers of a stranger's choice.

use rsalab_rsa::{Backend, CpuBackend, Kernel, PublicKey, Status, kernels};

use crate::seeds::{KEY_LEN, key};

/// The kernels that run here, but for those that are for tests.
fn fast() -> impl Iterator<Item = CpuBackend> {
    let named = kernels().into_iter().filter(|info| !info.is_for_tests());
    named
        .filter_map(|info| Kernel::named(info.name).ok())
        .map(CpuBackend::new)
}

fn portable() -> CpuBackend {
    CpuBackend::new(Kernel::named("mont64x1_portable").expect("every machine has it"))
}

/// The bytes as a length, a modulus and blocks.
pub(crate) fn public_operation(bytes: &[u8]) {
    let Some((&len, rest)) = bytes.split_first() else {
        return;
    };
    let Some((n, blocks)) = rest.split_at_checked(usize::from(len)) else {
        return;
    };
    let Ok(key) = PublicKey::new(n, &[1, 0, 1]) else {
        return;
    };
    let len = key.n().len();
    let items = (blocks.len() / len).min(9);
    if items == 0 {
        return;
    }
    let blocks = &blocks[..items * len];
    let run = |backend: &CpuBackend| {
        let (mut outputs, mut status) = (vec![0xaa; items * len], vec![Status::Fault; items]);
        let prepared = backend.prepare_public(&key).expect("any key will do");
        let mut runner = prepared.runner().expect("memory");
        runner.run(blocks, &mut outputs, &mut status).expect("lengths fit");
        (outputs, status)
    };
    let expected = run(&portable());
    for backend in fast() {
        assert!(run(&backend) == expected, "{} differs", backend.kernel());
    }
}

/// The bytes as blocks for a fixed key.
pub(crate) fn private_operation(bytes: &[u8]) {
    let items = (bytes.len() / KEY_LEN).min(9);
    if items == 0 {
        return;
    }
    let blocks = &bytes[..items * KEY_LEN];
    let run = |backend: &CpuBackend| {
        let (mut outputs, mut status) = (vec![0xaa; items * KEY_LEN], vec![Status::Fault; items]);
        let prepared = backend.prepare_private(key()).expect("any key will do");
        let mut runner = prepared.runner().expect("randomness");
        runner.run(blocks, &mut outputs, &mut status).expect("lengths fit");
        assert!(!status.contains(&Status::Fault));
        (outputs, status)
    };
    let expected = run(&portable());
    for backend in fast() {
        assert!(run(&backend) == expected, "{} differs", backend.kernel());
    }
}
