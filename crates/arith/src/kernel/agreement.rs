//! Every kernel on the edges of its operands, in every lane, against the obvious model.

use super::LaneKernel;
use super::mont47::Mont47;
use super::mont47x2::Mont47x2;
use super::mont52x8::Mont52x8;
use super::mont64x1::Mont64x1;
#[cfg(target_arch = "x86_64")]
use super::x86_64::{
    avx2fma::{HaveAvx2Fma, Ymm},
    avx512f::{HaveAvx512F, ZmmDoubles},
    ifma512::{HaveIfma, Zmm},
};
use super::{doubles, lanes};
use crate::limbs::aligned::Aligned;
use crate::limbs::montgomery::Portable;
use crate::limbs::{LIMB_BITS, Modulus};
use crate::model::{limbs as numbers, number};
use num_bigint::BigUint;

/// Numbers of one block and of several, with a small block and without.
const LIMBS: [usize; 12] = [1, 2, 4, 6, 8, 12, 13, 16, 24, 32, 41, 48];

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
        let power = BigUint::from(1u8) << times;
        z.copy_from_slice(value);
        kernel.leave(&prepared, z, working);
        for lane in 0..K::LANES {
            let expected = a[lane].modpow(&power, &n[lane]);
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

/// Checks a kernel on the numbers, as many at a time as it has lanes.
fn check_all_of<K: LaneKernel>(kernel: K, limbs: usize, n: &[BigUint], a: &[BigUint], b: &[BigUint]) {
    for ((n, a), b) in n.chunks(K::LANES).zip(a.chunks(K::LANES)).zip(b.chunks(K::LANES)) {
        check(kernel, limbs, n, a, b);
    }
}

fn check_all(limbs: usize, n: &[BigUint], a: &[BigUint], b: &[BigUint]) {
    check_all_of(Mont64x1(Portable), limbs, n, a, b);
    check_all_of(Mont52x8::<lanes::Portable>::new(()), limbs, n, a, b);
    let four = Mont47::<doubles::Portable<4>, 4, 6>::new(());
    let two = Mont47x2::<doubles::Portable<4>, 2>::new(());
    check_all_of(four, limbs, n, a, b);
    check_all_of(two, limbs, n, a, b);
    #[cfg(target_arch = "x86_64")]
    {
        match HaveIfma::check() {
            Some(token) => check_all_of(Mont52x8::<Zmm>::new(token), limbs, n, a, b),
            None => eprintln!("skipped: this CPU has no AVX-512 IFMA"),
        }
        match HaveAvx512F::check() {
            Some(token) => {
                check_all_of(Mont47::<ZmmDoubles, 8, 8>::new(token), limbs, n, a, b);
            }
            None => eprintln!("skipped: this CPU has no AVX-512 F"),
        }
        match HaveAvx2Fma::check() {
            Some(token) => {
                check_all_of(Mont47::<Ymm, 4, 6>::new(token), limbs, n, a, b);
                check_all_of(Mont47x2::<Ymm, 2>::new(token), limbs, n, a, b);
                check_all_of(Mont47x2::<Ymm, 1>::new(token), limbs, n, a, b);
            }
            None => eprintln!("skipped: this CPU has no AVX2 and FMA"),
        }
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

#[test]
fn edges_in_every_lane() {
    for limbs in LIMBS {
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
            check_all(limbs, &n, &a, &b);
            n.rotate_left(1);
        }
    }
}
