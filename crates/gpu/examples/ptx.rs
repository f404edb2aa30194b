//! Prints what a driver for NVIDIA's devices gets: `ptx LIMBS`, the kernels that keep numbers of so many limbs in
//! registers; `ptx LIMBSd`, the private power's in doubles; `ptx KIND`, a kernel that measures instructions of a kind.

use rsalab_gpu::ptx::{self, rates};

fn main() {
    let asked = std::env::args().nth(1).unwrap_or_default();
    let kind = rates::Kind::ALL.into_iter().find(|kind| kind.name() == asked);
    let in_doubles = asked.strip_suffix('d').and_then(|limbs| limbs.parse().ok());
    let text = match kind {
        Some(kind) => Some(rates::module(kind)),
        None if in_doubles.is_some() => in_doubles.and_then(ptx::power_digits_in_doubles),
        None => asked.parse().ok().and_then(ptx::module),
    };
    match text {
        Some(text) => print!("{text}"),
        None => {
            let kinds = rates::Kind::ALL.map(rates::Kind::name);
            eprintln!("ptx LIMBS|LIMBSd|KIND: there are {:?} limbs, and {kinds:?}", ptx::LIMBS);
            std::process::exit(2);
        }
    }
}
