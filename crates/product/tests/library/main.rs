//! Products and shared factors, against `num-bigint` and each other.

mod kernels;
mod machine_code;
mod products;
mod shared;

use std::{fs, path::Path};

use num_bigint::BigUint;

/// The same number.
fn big(a: &[u64]) -> BigUint {
    BigUint::from_slice(&a.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect::<Vec<_>>())
}

/// Numbers that are drawn anew in each run of a test, and the same ones.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn limbs(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.next()).collect()
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// Of so many limbs: random, all ones, few ones, 0, 1, and the least and the greatest of its length.
fn numbers(limbs: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Random(seed | 1);
    let sparse = (0..limbs)
        .map(|i| if i % 97 == 5 { random.next() } else { 0 })
        .collect();
    let mut one = vec![0; limbs];
    one[0] = 1;
    let mut top = vec![0; limbs];
    top[limbs - 1] = 1 << 63;
    let mut long_runs = vec![u64::MAX; limbs];
    long_runs[limbs / 2..].fill(0);
    vec![
        random.limbs(limbs),
        vec![u64::MAX; limbs],
        sparse,
        one,
        top,
        long_runs,
        vec![0; limbs],
    ]
}

/// A child of a fork has none of its parent's other threads, and waits for ever for one of them: `OnceLock` and
/// `LazyLock` wait for the thread that prepares what they hold, `once_cell::race` does not.
#[test]
fn nothing_waits_for_a_thread_that_prepares_it() {
    fn look_through(folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                look_through(&path);
            } else {
                let source = fs::read_to_string(&path).expect("a source file");
                for waits in ["OnceLock", "LazyLock"] {
                    assert!(!source.contains(waits), "{waits} in {}", path.display());
                }
            }
        }
    }
    look_through(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
}
