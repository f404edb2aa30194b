//! Modular powers by CGBN beside ours: kernels that `scripts/make-cgbn-ptx.sh` makes PTX of. They are of Montgomery
//! products with a fixed window of five bits, which is CGBN's fastest way to powers with odd moduli.

use num_bigint::BigUint;
use rsalab_gpu::{Choice, Survey, driver::PeerKernel};

use crate::{Options, Parts, work::Random};

/// Threads of a number, and its bits: half a modulus's.
const KERNELS: [(usize, usize); 8] = [
    (4, 512),
    (8, 512),
    (8, 1024),
    (16, 1024),
    (8, 1536),
    (16, 1536),
    (16, 2048),
    (32, 2048),
];
/// Threads of a block.
const THREADS: usize = 128;
/// Private operations of a batch, unless others are asked for.
const OPERATIONS: usize = 1 << 17;

/// Measures those of the sizes that are asked for.
pub(crate) fn measure(survey: &Survey, choice: Choice, file: &str, options: &Options, parts: &mut Parts) {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return parts.failed("cgbn", None, &format!("{file}: {error}")),
    };
    for (threads, bits) in KERNELS {
        if options.sizes.contains(&(2 * bits)) {
            parts.run("cgbn", 2 * bits, || {
                one_kernel(survey, choice, &text, threads, bits, options)
            });
        }
    }
}

/// Measures one kernel.
fn one_kernel(
    survey: &Survey,
    choice: Choice,
    text: &str,
    threads: usize,
    bits: usize,
    options: &Options,
) -> Result<(), String> {
    let operations = match options.batch {
        0 => OPERATIONS,
        asked => asked,
    };
    // Two powers each, as a private operation by the CRT has.
    let count = 2 * operations;
    let len = bits / 8;
    let mut numbers = instances(count, len);
    let peer = PeerKernel {
        text,
        entry: &format!("cgbn_window_{threads}_{bits}"),
        blocks: (count * threads).div_ceil(THREADS),
        threads: THREADS,
        count: u32::try_from(count).map_err(|_| "the batch is too large")?,
    };
    let fastest = survey
        .time_of_peer(choice, &peer, &mut numbers, options.time)
        .map_err(|failure| failure.to_string())?;
    let checked: Vec<_> = numbers.chunks_exact(4 * len).step_by((count / 16).max(1)).collect();
    let differences = checked.iter().filter(|one| !is_right(one, len)).count();
    println!(
        "{{\"line\":\"cgbn\",\"operation\":\"two powers\",\"power\":\"montgomery, window of 5 bits\",\"bits\":{},\"threads_per_number\":{threads},\"batch\":{operations},\"fastest_per_second\":{:.0},\"checked\":{},\"differences\":{differences}}}",
        2 * bits,
        operations as f64 / fastest.as_secs_f64(),
        checked.len(),
    );
    match differences {
        0 => Ok(()),
        _ => Err(format!("{differences} of {} powers differ", checked.len())),
    }
}

/// So many times a base, an exponent of full length, an odd modulus of full length, and room for the result, each of
/// `len` little-endian bytes.
fn instances(count: usize, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; 4 * len * count];
    let mut random = Random::new();
    for one in bytes.chunks_exact_mut(4 * len) {
        let (numbers, _) = one.split_at_mut(3 * len);
        random.fill(numbers);
        let [base, exponent, modulus] = [0, 1, 2].map(|place| place * len);
        // Below the modulus.
        numbers[base + len - 1] &= 0x7f;
        numbers[exponent + len - 1] |= 0x80;
        numbers[modulus + len - 1] |= 0x80;
        numbers[modulus] |= 1;
    }
    bytes
}

fn is_right(one: &[u8], len: usize) -> bool {
    let mut numbers = one.chunks_exact(len).map(BigUint::from_bytes_le);
    let mut next = || numbers.next().expect("there are four");
    let [base, exponent, modulus, result] = [next(), next(), next(), next()];
    base.modpow(&exponent, &modulus) == result
}
