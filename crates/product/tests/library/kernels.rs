//! Every kernel gives the same, also for numbers of which another library's product would take too long.

use rsalab_product::{Kernel, Multiplier};

use crate::Random;

/// a modulo 2^61 - 1, a prime to which no length of ours is related.
fn residue(a: &[u64]) -> u128 {
    const P: u128 = (1 << 61) - 1;
    a.iter()
        .rev()
        .fold(0, |sum, &limb| ((sum << 64) + u128::from(limb)) % P)
}

/// Lengths of each kind: in caches, in columns of few rows and of many, 3 and 5 times a power of two, three primes and
/// four.
#[test]
fn long_products_agree() {
    let mut random = Random(41);
    for limbs in [
        3_000, 20_000, 40_000, 70_000, 90_000, 110_000, 160_000, 250_000, 1_100_000,
    ] {
        let (a, b) = (random.limbs(limbs), random.limbs(limbs - 1));
        let products: Vec<_> = Kernel::all()
            .iter()
            // What a portable product takes is for shorter numbers.
            .filter(|kernel| kernel.name() != "portable" || limbs < 300_000 || Kernel::all().len() == 1)
            .map(|&kernel| Multiplier::with_kernel(kernel, 2).multiply(&a, &b))
            .collect();
        for product in &products {
            assert!(product == &products[0], "kernels differ at {limbs} limbs");
            assert_eq!(residue(product), residue(&a) * residue(&b) % ((1 << 61) - 1), "{limbs}");
        }
    }
}

/// (2^n - 1)(2^m - 1) = 2^(n + m) - 2^n - 2^m + 1: the greatest coefficients, the longest carries.
#[test]
fn long_products_of_ones_are_exact() {
    for (n, m) in [(9_000, 9_000), (65_536, 65_536), (131_072, 98_304), (400_000, 300_001)] {
        let product = Multiplier::new(2).multiply(&vec![u64::MAX; n], &vec![u64::MAX; m]);
        let mut exact = vec![0; n + m];
        exact[0] = 1;
        exact[m..n].fill(u64::MAX);
        exact[n] = u64::MAX - 1;
        exact[n + 1..].fill(u64::MAX);
        if n == m {
            exact[n] = u64::MAX - 1;
        }
        assert!(product == exact, "{n} {m}");
    }
}

#[test]
fn names_are_known() {
    let names: Vec<_> = Kernel::all().iter().map(|kernel| kernel.name()).collect();
    assert_eq!(names.last(), Some(&"portable"));
    assert_eq!(Kernel::best(), Kernel::all()[0]);
    // A kernel that is never chosen would be left out of every test without a failure.
    #[cfg(target_arch = "x86_64")]
    for (name, have) in [
        (
            "avx512",
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi2"),
        ),
        (
            "avx2",
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2"),
        ),
    ] {
        assert_eq!(names.contains(&name), have, "{name}");
    }
}
