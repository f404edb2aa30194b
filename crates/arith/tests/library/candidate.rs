//! The strong probable-prime test.

use crate::keys::for_each_kernel;
use num_bigint::BigUint;
use rsalab_arith::candidate::Tester;
use rsalab_arith::{Error, Kernel};

/// The definition, on num-bigint.
fn is_strong_probable_prime(w: &BigUint, b: &BigUint) -> bool {
    let (one, minus_one) = (BigUint::from(1u8), w - 1u8);
    let a = minus_one.trailing_zeros().unwrap();
    let mut z = b.modpow(&(&minus_one >> a), w);
    if z == one || z == minus_one {
        return true;
    }
    (1..a).any(|_| {
        z = &z * &z % w;
        z == minus_one
    })
}

fn bytes(n: &BigUint, len: usize) -> Vec<u8> {
    let bytes = n.to_bytes_be();
    [vec![0; len - bytes.len()], bytes].concat()
}

/// Judges pairs of a candidate and a base in batches of `batch`.
fn judge(kernel: Kernel, len: usize, batch: usize, pairs: &[(BigUint, BigUint)]) -> Vec<bool> {
    let mut tester = Tester::new(kernel, len);
    assert_eq!(tester.kernel(), kernel);
    let mut verdicts = Vec::new();
    for pairs in pairs.chunks(batch) {
        let (w, b): (Vec<_>, Vec<_>) = pairs.iter().map(|(w, b)| (bytes(w, len), bytes(b, len))).unzip();
        let mut passed = vec![false; pairs.len()];
        tester.round(&w.concat(), &b.concat(), &mut passed).unwrap();
        verdicts.extend(passed);
    }
    verdicts
}

#[test]
fn small_numbers_with_every_base() {
    for_each_kernel(|kernel| {
        let pairs: Vec<(BigUint, BigUint)> = (5u32..300)
            .step_by(2)
            .chain([2047, 3277, 4033, 8321, 65537, 65539])
            .flat_map(|w| {
                (2..w - 1)
                    .step_by(1 + w as usize / 40)
                    .map(move |b| (w.into(), b.into()))
            })
            .collect();
        let expected: Vec<bool> = pairs.iter().map(|(w, b)| is_strong_probable_prime(w, b)).collect();
        assert!(expected.contains(&true) && expected.contains(&false));
        assert_eq!(judge(kernel, 3, 7, &pairs), expected);
    });
}

/// w - 1 divisible by high powers of two: below, at, and beyond the squarings that are always done.
#[test]
fn high_powers_of_two() {
    let mut pairs = Vec::new();
    for a in (1usize..40).chain([63usize, 64, 65, 100]) {
        for m in (1u32..60).step_by(2) {
            let w: BigUint = (BigUint::from(m) << a) + 1u8;
            let bases = [2u8, 3, 5].map(BigUint::from).into_iter();
            pairs.extend(bases.filter(|b| b + 1u8 < w).map(|b| (w.clone(), b)));
        }
    }
    let expected: Vec<bool> = pairs.iter().map(|(w, b)| is_strong_probable_prime(w, b)).collect();
    for_each_kernel(|kernel| {
        for batch in [1, 4, 9] {
            assert_eq!(judge(kernel, 14, batch, &pairs), expected);
        }
    });
}

#[test]
fn famous_numbers() {
    let power = |bits: usize| BigUint::from(1u8) << bits;
    for_each_kernel(|kernel| {
        let mersenne = |bits| (power(bits) - 1u8, BigUint::from(3u8));
        let primes = [
            mersenne(521),
            mersenne(607),
            mersenne(1279),
            (power(255) - 19u8, 2u8.into()),
        ];
        assert_eq!(judge(kernel, 160, 3, &primes), [true; 4]);
        let composites = [mersenne(523), mersenne(1277), (power(255) - 21u8, 2u8.into())];
        assert_eq!(judge(kernel, 160, 3, &composites), [false; 3]);
        // Arnault's number passes for every prime base below 307 and no random base finds it prime.
        let p: BigUint = "29674495668685510550154174642905332730771991799853043350995075531276838753171770199594238596428121188033664754218345562493168782883".parse().unwrap();
        let w = &p * (313u32 * (&p - 1u8) + 1u8) * (353u32 * (&p - 1u8) + 1u8);
        let bases = [2u32, 3, 5, 293, 307, 311].map(|b| (w.clone(), b.into()));
        let expected = bases.clone().map(|(w, b)| is_strong_probable_prime(&w, &b));
        assert_eq!(expected, [true, true, true, true, false, false]);
        assert_eq!(judge(kernel, 170, 6, &bases), expected);
    });
}

#[test]
fn what_is_out_of_range_is_refused() {
    let mut tester = Tester::new(Kernel::auto(), 2);
    let mut passed = [true; 2];
    let mut round = |w: [u16; 2], b: [u16; 2]| {
        tester.round(
            &w.map(u16::to_be_bytes).concat(),
            &b.map(u16::to_be_bytes).concat(),
            &mut passed,
        )
    };
    assert_eq!(round([101, 5], [99, 3]), Ok(()));
    for (w, b) in [
        (100, 3),
        (0, 3),
        (1, 3),
        (3, 2),
        (101, 0),
        (101, 1),
        (101, 100),
        (101, 101),
        (101, 0xffff),
    ] {
        assert!(
            matches!(round([101, w], [2, b]), Err(Error::OutOfRange { .. })),
            "{w} {b}"
        );
    }
    assert!(matches!(
        tester.round(&[0; 3], &[0; 4], &mut passed),
        Err(Error::Length {
            what: "candidates",
            expected: 4,
            got: 3
        })
    ));
    assert!(matches!(
        tester.round(&[0; 4], &[0; 5], &mut passed),
        Err(Error::Length {
            what: "bases",
            expected: 4,
            got: 5
        })
    ));
    assert_eq!(tester.round(&[], &[], &mut []), Ok(()));
}
