//! `cargo bench -p rsalab-rsa --bench kernels`: how long a pass of each kernel takes, by length; what `arith`'s choice
//! of a kernel is made from.
//!
//! Prints the table that `crates/arith/src/choice/` has one of for each CPU: the least of several blocks, in
//! nanoseconds a pass, of safe private operations and of public ones with e = 65537. The kernels of a row are measured
//! in turns. A kernel that this CPU lacks has no time.

use std::time::Duration;

use rsalab_rsa::{Backend, CpuBackend, Kernel, Operation, backend::Prepared, kernels};
use support::{block, key};

mod support;

/// Blocks of each kernel.
const ROUNDS: usize = 8;
const BLOCK: Duration = Duration::from_millis(6);

/// The lengths of rows: every step of 64 bits where keys are many, and fewer beyond.
fn lengths() -> impl Iterator<Item = usize> {
    let steps = [(512..2176, 64), (2176..4224, 128), (4224..8193, 256)];
    steps.into_iter().flat_map(|(range, step)| range.step_by(step))
}

fn main() {
    let names = kernels().into_iter().filter(|kernel| !kernel.is_for_tests());
    let names: Vec<_> = names.map(|kernel| kernel.name).collect();
    println!("operation,bits,{}", names.join(","));
    for (operation, word) in [(Operation::Private, "private"), (Operation::Public, "public")] {
        for bits in lengths() {
            let key = key(bits, 2);
            let prepared: Vec<Option<(usize, Box<dyn Prepared>)>> = names
                .iter()
                .map(|name| {
                    let kernel = Kernel::named(name).ok()?;
                    let backend = CpuBackend::new(kernel);
                    let prepared = match operation {
                        Operation::Private => backend.prepare_private(&key),
                        Operation::Public => backend.prepare_public(key.public()),
                    };
                    Some((kernel.items(operation), prepared.expect("a key")))
                })
                .collect();
            let mut runners: Vec<_> = prepared
                .iter()
                .map(|prepared| {
                    let (items, prepared) = prepared.as_ref()?;
                    Some((*items, prepared.runner().expect("randomness")))
                })
                .collect();
            let mut least = vec![f64::INFINITY; names.len()];
            for _ in 0..ROUNDS {
                for (least, runner) in least.iter_mut().zip(&mut runners) {
                    if let Some((items, runner)) = runner {
                        let shape = (bits.div_ceil(8), *items);
                        *least = least.min(1e9 * block(&mut **runner, shape, BLOCK));
                    }
                }
            }
            let times: Vec<_> = least
                .iter()
                .map(|time| match time.is_finite() {
                    true => format!("{time:.0}"),
                    false => String::new(),
                })
                .collect();
            println!("{word},{bits},{}", times.join(","));
        }
    }
}
