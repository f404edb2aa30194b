//! The kernels that tests go through.

use std::env;

use rsalab_rsa::{CpuBackend, KernelInfo, kernels};

/// The kernels that run here. Forms on arrays wait for the long tests where their kernels run: those set
/// `RSALAB_ALL_KERNELS`.
pub(crate) fn kernels_here() -> impl Iterator<Item = KernelInfo> {
    let all = env::var_os("RSALAB_ALL_KERNELS").is_some();
    kernels()
        .into_iter()
        .filter(|kernel| kernel.available.is_ok())
        .filter(move |kernel| {
            let is_wanted = all || !kernel.runs_in_vectors_too();
            if !is_wanted {
                eprintln!(
                    "SKIPPED: {} above the kernels, since its kernel runs here: RSALAB_ALL_KERNELS",
                    kernel.name
                );
            }
            is_wanted
        })
}

/// A backend on each of them.
pub(crate) fn backends() -> impl Iterator<Item = CpuBackend> {
    kernels_here().map(|kernel| CpuBackend::named(kernel.name).expect("it is available"))
}
