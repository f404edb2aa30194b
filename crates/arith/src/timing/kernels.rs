//! What kernels are asked for: products, look-ups, powers.

use super::*;
use crate::dispatch::with_kernel;
use crate::exp::{self, Digits, Power, Windows};
use crate::kernel::{Doublings, LaneKernel};
use crate::limbs::Modulus;
use crate::limbs::aligned::Aligned;

/// Limbs of a prime of an RSA key of 1024 bits.
const LIMBS: usize = 8;
/// Its exponent's bits.
const BITS: usize = 64 * LIMBS;

fn modulus(rng: &mut ChaCha20Rng) -> Modulus {
    let mut n: Vec<u64> = (0..LIMBS).map(|_| rng.next_u64()).collect();
    n[0] |= 1;
    n[LIMBS - 1] |= 1 << 63;
    Modulus::new(&n, BITS, LIMBS)
}

/// One digit for each lane: all zero, or any.
fn look_up<K: LaneKernel>(name: &str, kernel: K) {
    const ENTRIES: usize = 32;
    const TIMES: usize = 16;
    let words = K::words(LIMBS);
    let mut table = Aligned::zero(ENTRIES * words);
    (0..).zip(table.iter_mut()).for_each(|(i, word)| *word = i);
    let mut value = Aligned::zero(words);
    check(
        "a table look-up",
        name,
        // Both classes take as much randomness: what went on just before shows in the time.
        |class, rng| -> Vec<u8> {
            bytes(K::LANES, rng)
                .iter()
                .map(|byte| if class == 0 { 0 } else { byte % ENTRIES as u8 })
                .collect()
        },
        |digits| {
            for _ in 0..TIMES {
                kernel.select(&table, black_box(digits), &mut value);
            }
        },
    );
}

/// Exponents of all lanes: zero, or any.
fn power<K: LaneKernel>(name: &str, kernel: K) {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let modulus = modulus(&mut rng);
    let moduli = kernel.prepare(&vec![&modulus; K::LANES]);
    let windows = Windows::new::<K>(LIMBS, BITS);
    let mut digits = Digits::zero(K::LANES, windows);
    // A power of one would be one, and each entry of its table.
    let mut base: Vec<u64> = (0..LIMBS).map(|_| rng.next_u64()).collect();
    base[LIMBS - 1] >>= 1;
    let mut value = Aligned::zero(K::words(LIMBS));
    let mut working = Aligned::zero(windows.working_words::<K>(LIMBS));
    check(
        "a power by a secret exponent of 512 bits",
        name,
        |class, rng| -> Vec<u64> {
            let random = (0..LIMBS).map(|_| rng.next_u64());
            random.map(|limb| if class == 0 { 0 } else { limb }).collect()
        },
        |exponent| {
            for lane in 0..K::LANES {
                kernel.load(&moduli, lane, &base, &mut value);
                digits.set(lane, exponent);
            }
            let power = Power {
                moduli: &moduli,
                digits: &digits,
                value: &mut value,
                working: &mut working,
            };
            exp::exp(kernel, [power]);
        },
    );
}

/// Bits of all lanes that say when to double: all zero, or any.
fn doublings<K: LaneKernel>(name: &str, kernel: K) {
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let modulus = modulus(&mut rng);
    let moduli = kernel.prepare(&vec![&modulus; K::LANES]);
    let mut working = Aligned::zero(K::working_words(LIMBS));
    let mut value = Aligned::zero(K::words(LIMBS));
    let number = modulus.one().to_vec();
    check(
        "squarings and doublings by 512 secret bits",
        name,
        |class, rng| -> Vec<u8> {
            let random = bytes(BITS * K::LANES, rng).into_iter();
            random.map(|byte| if class == 0 { 0 } else { byte & 1 }).collect()
        },
        |bits| {
            for lane in 0..K::LANES {
                kernel.load(&moduli, lane, &number, &mut value);
            }
            let power = Doublings {
                moduli: &moduli,
                value: &mut value,
                bits,
                working: &mut working,
            };
            kernel.square_and_double([power]);
        },
    );
}

/// Numbers of all lanes: any, or of the digits that arithmetic in a CPU might be quicker with.
fn product<K: LaneKernel>(name: &str, kernel: K) {
    const TIMES: usize = 20;
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let modulus = modulus(&mut rng);
    let moduli = kernel.prepare(&vec![&modulus; K::LANES]);
    let mut working = Aligned::zero(K::working_words(LIMBS));
    // Once, as contexts have it: to allocate takes time of its own, which depends on what went on before.
    let (mut a, mut b) = (Aligned::zero(K::words(LIMBS)), Aligned::zero(K::words(LIMBS)));
    for (what, special) in [
        ("zero", [0; LIMBS]),
        ("one", std::array::from_fn(|limb| u64::from(limb == 0))),
        (
            "a number of a single bit",
            std::array::from_fn(|limb| u64::from(limb == LIMBS / 2) << 40),
        ),
    ] {
        let what = format!("{TIMES} products with {what}");
        check(
            &what,
            name,
            |class, rng| -> Vec<u64> {
                let random = (0..LIMBS).map(|_| rng.next_u64());
                let numbers = special.into_iter().zip(random);
                numbers
                    .map(|(special, random)| if class == 0 { special } else { random })
                    .collect()
            },
            |number| {
                for lane in 0..K::LANES {
                    kernel.load(&moduli, lane, number, &mut a);
                    kernel.load(&moduli, lane, number, &mut b);
                }
                for _ in 0..TIMES {
                    kernel.mul(&moduli, black_box(&mut b), &a, &mut working);
                }
            },
        );
    }
}

/// Does a check with every kernel.
macro_rules! on_every_kernel {
    ($check:ident) => {
        for kernel in super::kernels() {
            with_kernel!(kernel, lanes => $check(kernel.name(), lanes))
        }
    };
}

#[test]
#[ignore = "takes minutes: make timing"]
fn a_product_takes_the_same_time_for_all_numbers() {
    on_every_kernel!(product);
}

#[test]
#[ignore = "takes minutes: make timing"]
fn a_look_up_takes_the_same_time_for_all_digits() {
    on_every_kernel!(look_up);
}

#[test]
#[ignore = "takes minutes: make timing"]
fn a_power_takes_the_same_time_for_all_exponents() {
    on_every_kernel!(power);
}

#[test]
#[ignore = "takes minutes: make timing"]
fn a_doubling_takes_the_same_time_for_all_bits() {
    on_every_kernel!(doublings);
}
