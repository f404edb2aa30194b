//! Every kernel of the table against the obvious model: on the edges of its operands, in every lane, at every length
//! that it has code of its own for; and on random numbers.

use crate::Kernel;
use crate::dispatch::{Proof, types, types_of_one_modulus};
use crate::kernel::tests::{agrees_with_the_model, selects};
use crate::kernel::{LaneKernel, doubles, for_each_kernel, mont47};
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Modulus};
use crate::model::{limbs as numbers, number};
use num_bigint::BigUint;
use std::any::TypeId;

fn ones(bits: usize) -> BigUint {
    (BigUint::from(1u8) << bits) - 1u8
}

/// Checks every function of a kernel on one set of lanes.
fn check<K: LaneKernel>(kernel: K, limbs: usize, n: &[BigUint], a: &[BigUint], b: &[BigUint]) {
    let moduli: Vec<Modulus> = n
        .iter()
        .map(|n| Modulus::new(&numbers(n, limbs), n.bits() as usize, limbs))
        .collect();
    let prepared = kernel.prepare(&moduli.iter().collect::<Vec<_>>());
    let words = K::words(limbs);
    let mut memory = Aligned::zero(7 * words + K::working_words(limbs));
    let mut rest = &mut memory[..];
    let mut value = || {
        let (value, others) = std::mem::take(&mut rest).split_at_mut(words);
        rest = others;
        value
    };
    let (x, y, z, table) = (value(), value(), value(), [value(), value(), value(), value()]);
    let working = rest;
    let [t0, t1, t2, t3] = table;
    let result = |value: &[u64], lane: usize| {
        let mut limbs = vec![u64::MAX; limbs];
        kernel.store(&prepared, lane, value, &mut limbs);
        number(&limbs)
    };
    for lane in 0..K::LANES {
        kernel.load(&prepared, lane, &numbers(&a[lane], limbs), x);
        kernel.load(&prepared, lane, &numbers(&b[lane], limbs), y);
        assert_eq!(result(x, lane), a[lane]);
    }
    // A number of twice the length, all of whose bits may be set.
    for [low_ones, high_ones] in [[false; 2], [true, false], [false, true], [true; 2]] {
        let half = |number: &BigUint, ones: bool| match ones {
            true => vec![u64::MAX; limbs],
            false => numbers(number, limbs),
        };
        let low: Vec<_> = a.iter().map(|a| half(a, low_ones)).collect();
        let high: Vec<_> = b.iter().map(|b| half(b, high_ones)).collect();
        for lane in 0..K::LANES {
            kernel.load(&prepared, lane, &low[lane], t0);
            kernel.load(&prepared, lane, &high[lane], t1);
        }
        kernel.enter_wide(&prepared, t0, t1, working);
        kernel.leave(&prepared, t0, working);
        for lane in 0..K::LANES {
            let wide = number(&[&low[lane][..], &high[lane]].concat());
            assert_eq!(result(t0, lane), wide % &n[lane], "wide, lane {lane}");
        }
    }
    kernel.enter(&prepared, x, working);
    z.copy_from_slice(x);
    // One factor in Montgomery form: the product comes out plain.
    kernel.mul(&prepared, z, y, working);
    for lane in 0..K::LANES {
        assert_eq!(result(z, lane), &a[lane] * &b[lane] % &n[lane], "product, lane {lane}");
    }
    kernel.enter(&prepared, y, working);
    for (times, value) in [(0, &mut *t0), (1, &mut *t1), (5, &mut *t2)] {
        value.copy_from_slice(x);
        kernel.sqr(&prepared, value, times, working);
        z.copy_from_slice(value);
        kernel.leave(&prepared, z, working);
        for lane in 0..K::LANES {
            let expected = (0..times).fold(a[lane].clone(), |x, _| &x * &x % &n[lane]);
            assert_eq!(result(z, lane), expected, "{times} squarings, lane {lane}");
        }
    }
    kernel.one(&prepared, t3);
    kernel.mul(&prepared, t3, y, working);
    kernel.leave(&prepared, t3, working);
    for (lane, b) in b.iter().enumerate() {
        assert_eq!(result(t3, lane), *b, "one, lane {lane}");
    }
    let table = [&t0[..], t1, t2, t3].concat();
    let digits: Vec<u8> = (0..K::LANES).map(|lane| (lane * 3 + limbs) as u8 % 4).collect();
    kernel.select(&table, &digits, z);
    for (lane, &digit) in digits.iter().enumerate() {
        let entry = &table[usize::from(digit) * words..][..words];
        let lane_of = |value: &[u64]| {
            let mut alone = vec![0; words];
            kernel.copy_lane(&mut alone, lane, value, lane);
            alone
        };
        assert_eq!(lane_of(z), lane_of(entry), "entry {digit}, lane {lane}");
    }
}

/// Moduli of exactly the limbs' length that stress carries: all ones, a single one, and between.
fn edge_moduli(limbs: usize) -> Vec<BigUint> {
    let bits = LIMB_BITS * limbs;
    let one = BigUint::from(1u8);
    vec![
        ones(bits),
        (&one << (bits - 1)) + 1u8,
        ones(bits) - (&one << (bits / 2)),
        ones(bits - 1),
        (&one << (bits - 1)) + ones(bits / 2),
        ones(bits - 51),
        (ones(bits / 2) << (bits - bits / 2)) + 1u8,
        BigUint::from(3u8),
    ]
}

/// Checks a kernel on the edges, as many at a time as it has lanes.
fn edges_in_every_lane<K: LaneKernel>(kernel: K, lengths: &[usize]) {
    for &limbs in lengths {
        let mut n = edge_moduli(limbs);
        for turn in 0..8 {
            let edge = |lane: usize, which: usize| -> BigUint {
                let n = &n[lane];
                match which % 8 {
                    0 => BigUint::ZERO,
                    1 => BigUint::from(1u8) % n,
                    2 => n - 1u8,
                    3 => n - 2u8,
                    4 => n >> 1,
                    5 => ones(n.bits() as usize - 1),
                    6 => (n >> 1) + 1u8,
                    // Digits of doubles at their bounds: 2^46 each.
                    7 if turn % 2 == 0 => {
                        let digits = n.bits() as usize / 47;
                        (0..digits).fold(BigUint::ZERO, |x, i| x | BigUint::from(1u8) << (47 * i + 46)) % n
                    }
                    _ => ones(52 * (n.bits() as usize / 52)) % n,
                }
            };
            let a: Vec<_> = (0..8).map(|lane| edge(lane, lane + turn)).collect();
            let b: Vec<_> = (0..8).map(|lane| edge(lane, lane * 3 + turn / 2)).collect();
            for ((n, a), b) in n.chunks(K::LANES).zip(a.chunks(K::LANES)).zip(b.chunks(K::LANES)) {
                check(kernel, limbs, n, a, b);
            }
            n.rotate_left(1);
        }
    }
}

/// Moduli of whole limbs, one bit short, a bit into the top limb, and limbs to spare.
fn random_numbers<K: LaneKernel>(kernel: K, lengths: &[usize]) {
    for &limbs in lengths {
        let bits = LIMB_BITS * limbs;
        for bits in [bits, bits - 1, bits - 63, bits / 2] {
            agrees_with_the_model(kernel, bits.max(2), limbs, 4);
        }
        selects(kernel, limbs);
    }
    // The longest: more digits than a word of carries has bits for.
    agrees_with_the_model(kernel, 8192, 128, 1);
    agrees_with_the_model(kernel, 16384, 256, 1);
}

/// Does `$check` with a kernel and its lengths, if it runs here; and with its type of one modulus, if that is another.
macro_rules! on {
    ($name:ident, $limbs:expr, $check:ident) => {
        match Kernel::named(stringify!($name)) {
            Ok(Kernel(Proof::$name(token))) => {
                $check(types::$name::new(token), $limbs);
                if TypeId::of::<types::$name>() != TypeId::of::<types_of_one_modulus::$name>() {
                    $check(types_of_one_modulus::$name::new(token), $limbs);
                }
            }
            Ok(other) => panic!("{other:?} is another kernel"),
            Err(error) => eprintln!("SKIPPED: {error}"),
        }
    };
}

/// The tests of each row.
macro_rules! tests {
    (
        {}
        $($(#[$cfg:meta])? $name:ident: dispatch $dispatch:tt says $says:tt
            tests { limbs: $limbs:expr, code: $code:expr, };)*
    ) => {$(
        $(#[$cfg])?
        mod $name {
            use super::*;

            #[test]
            fn is_what_its_name_says() {
                let lanes = format!("x{}_", types::$name::LANES);
                assert!(stringify!($name).contains(&lanes));
            }

            #[test]
            fn agrees_on_edges() {
                on!($name, $limbs, edges_in_every_lane);
            }

            #[test]
            fn agrees_on_random_numbers() {
                on!($name, $limbs, random_numbers);
            }
        }
    )*};
}

for_each_kernel! { tests, }

/// The tiles of the widest registers, on one lane of an array.
#[test]
fn tiles_of_eight_columns_are_a_kernel() {
    let kernel = mont47::Mont47::<doubles::Portable<1>, 1, 8>::new(());
    random_numbers(kernel, mont47::tests::LIMBS);
}
