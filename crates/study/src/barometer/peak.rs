//! Speeds that no CPU can reach: a lower bound of the work of an operation, and an upper one of what a CPU does in a
//! second.
//!
//! The work is counted in products of two words of 64 bits. An exponentiation of `b` bits modulo a number of `w` words
//! takes `b` squarings at least, and a squaring with its reduction `1.5·w²` products, of which Karatsuba's method may
//! save a part: `w²` is a bound for all sizes that are measured. With the CRT of `k` primes that is done `k` times with
//! a `k`-th of the bits and of the words.

use rsalab_engines::{Exponent, Job, Ledger, Op};
use rsalab_measure::Machine;

/// Products of two words of 64 bits that a core finishes in a cycle at most: two units that multiply eight digits of 52
/// bits each give half a product of each pair, which is 5.3 of these; one that multiplies words gives 1.
const PRODUCTS_PER_CYCLE_IFMA: f64 = 8.0;
const PRODUCTS_PER_CYCLE: f64 = 4.0;

/// No core runs faster.
const MOST_HZ: f64 = 6.5e9;

/// Nor so much faster than its clock was measured at.
const TURBO: f64 = 1.6;

/// Products that one operation takes at least; none where there is no bound worth its name.
pub(super) fn least_products(job: &Job, ledger: &Ledger) -> Option<f64> {
    let bits = job.bits as f64;
    let words = bits / 64.0;
    let private = || match ledger.crt {
        Some(false) => bits * words * words,
        _ => {
            // As the job asks for, whatever the ledger says: jobs are checked, and a ledger is what its sender writes.
            let primes = job.primes as f64;
            bits * words * words / (primes * primes)
        }
    };
    let public = || {
        let exponent = match job.exponent {
            Exponent::Fixed(exponent) => f64::from(u64::BITS - exponent.leading_zeros()),
            Exponent::Random => bits,
        };
        (exponent - 1.0).max(1.0) * words * words
    };
    match job.op {
        Op::Private | Op::Sign | Op::SignMessage | Op::HandshakeServer => Some(private()),
        Op::Public | Op::Verify | Op::ImportVerify => Some(public()),
        // Two products at least.
        Op::Screen => Some(2.0 * words * words),
        // The client verifies a certificate and a signature.
        Op::Handshake => Some(private() + 2.0 * public()),
        // One test of each prime, if luck could not be better.
        Op::Keygen | Op::PrimePair | Op::PrimeSearch => Some(bits * words * words / 4.0),
        Op::TextEncrypt => Some(job.text_blocks() as f64 * public()),
        Op::TextDecrypt => Some(job.text_blocks() as f64 * private()),
        _ => None,
    }
}

/// Products that a machine finishes in a second on so many threads, at most.
pub(super) fn most_products_per_s(machine: &Machine, threads: usize) -> f64 {
    let measured = machine.core_clock.known().map(|clock| clock.hz * TURBO);
    let hz = measured.filter(|hz| *hz > 0.0).map_or(MOST_HZ, |hz| hz.min(MOST_HZ));
    let has_ifma = machine.features.iter().any(|feature| feature.contains("ifma"));
    let per_cycle = if has_ifma {
        PRODUCTS_PER_CYCLE_IFMA
    } else {
        PRODUCTS_PER_CYCLE
    };
    let cpus = machine.topology.allowed_cpus().max(1).min(threads.max(1));
    hz * per_cycle * cpus as f64
}

/// Returns whether an engine computes on this CPU, so that its bound holds.
pub(super) fn is_on_cpu(engine: &str) -> bool {
    engine.split(':').next() != Some("gpu")
}
