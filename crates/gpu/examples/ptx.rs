//! Prints what a driver for NVIDIA's devices gets: `ptx LIMBS`, the kernels that keep numbers of so many limbs in registers; `ptx KIND`, a kernel
//! that measures instructions of a kind.

use rsalab_gpu::ptx::{self, rates};

fn main() {
    let asked = std::env::args().nth(1).unwrap_or_default();
    let kind = rates::Kind::ALL
        .into_iter()
        .find(|kind| kind.name() == asked);
    let text = match kind {
        Some(kind) => Some(rates::module(kind)),
        None => asked.parse().ok().and_then(ptx::module),
    };
    match text {
        Some(text) => print!("{text}"),
        None => {
            let kinds = rates::Kind::ALL.map(rates::Kind::name);
            eprintln!(
                "ptx LIMBS|KIND: there are {:?} limbs, and {kinds:?}",
                ptx::LIMBS
            );
            std::process::exit(2);
        }
    }
}
