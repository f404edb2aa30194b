//! Prints the kernels for NVIDIA's devices that keep numbers in registers: `ptx LIMBS [KERNEL]`.

use rsalab_gpu::ptx;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let limbs = arguments.next().and_then(|limbs| limbs.parse().ok());
    match limbs.and_then(ptx::module) {
        Some(text) => print!("{text}"),
        None => {
            eprintln!("ptx LIMBS: there are kernels for {:?} limbs", ptx::LIMBS);
            std::process::exit(2);
        }
    }
}
