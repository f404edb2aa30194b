//! A fixed piece of work that is timed again and again, so that a change of the machine's speed shows.
//!
//! A study lasts for hours, and may be resumed on another day. Its groups are measured one after the other: where the
//! machine has become slower in between (a lower clock, a neighbour on the same core, another machine altogether), two
//! groups are not comparable, and nothing in their samples tells. The same work before each of them does.
//!
//! The work is the sum of products of two numbers of 32 words, column by column: what RSA spends its time in, at one
//! multiplication of 64 bits in a cycle or less, so that it feels the clock as well as whatever shares the core. It
//! takes tens of milliseconds in all.

use std::hint::black_box;

use crate::{
    clock::{Clock, Monotonic},
    pin,
    stats::{median::median_of_sorted, sorted},
};

/// Words of each number.
const WORDS: usize = 32;
/// Products in one run: about 100 µs.
const PRODUCTS: usize = 150;
/// Runs, of which the median is taken: those that were interrupted are few.
const RUNS: usize = 31;
/// A core that was idle takes some milliseconds to reach its clock.
const WARM_UP_NS: u64 = 20_000_000;

/// Nanoseconds that the work takes on a CPU, or on any where none is named or it cannot be had.
pub fn time_on(cpu: Option<usize>) -> f64 {
    std::thread::scope(|scope| {
        let timed = std::thread::Builder::new().spawn_scoped(scope, move || {
            if let Some(cpu) = cpu {
                // Elsewhere it takes as long, unless the machine has CPUs of several kinds.
                let _ = pin::pin_current_thread(cpu);
            }
            time()
        });
        match timed {
            Ok(timed) => timed.join().expect("nothing in it fails"),
            // The system refuses a thread: this one, which is not to be pinned.
            Err(_) => time(),
        }
    })
}

fn time() -> f64 {
    let clock = Monotonic::get();
    let one = || {
        let begin = clock.now_ns();
        work();
        clock.now_ns() - begin
    };
    let began = clock.now_ns();
    while clock.now_ns() - began < WARM_UP_NS {
        work();
    }
    let times: Vec<f64> = (0..RUNS).map(|_| one() as f64).collect();
    median_of_sorted(&sorted(&times)).expect("there were runs")
}

fn work() {
    let one: [u64; WORDS] = std::array::from_fn(|word| 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(word as u64 + 1));
    let mut other = black_box(one);
    for _ in 0..PRODUCTS {
        other = low_half(&one, &other);
        other = black_box(other);
    }
}

/// The low half of a product: each column is summed in three words.
fn low_half(one: &[u64; WORDS], other: &[u64; WORDS]) -> [u64; WORDS] {
    let mut product = [0; WORDS];
    let mut carry: (u128, u64) = (0, 0);
    for (column, word) in product.iter_mut().enumerate() {
        let (mut low, mut high) = carry;
        for place in 0..=column {
            let term = u128::from(one[place]) * u128::from(other[column - place]);
            let (sum, overflow) = low.overflowing_add(term);
            low = sum;
            high += u64::from(overflow);
        }
        *word = low as u64;
        carry = ((low >> 64) | (u128::from(high) << 64), 0);
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_is_a_product() {
        let mut one = [0; WORDS];
        let mut other = [0; WORDS];
        (one[0], one[1], other[0], other[1]) = (u64::MAX, 3, u64::MAX, 5);
        let product = low_half(&one, &other);
        // (2^64 − 1 + 3·2^64)·(2^64 − 1 + 5·2^64), word by word.
        let (a, b) = (u128::from(u64::MAX) + (3 << 64), u128::from(u64::MAX) + (5 << 64));
        assert_eq!(u128::from(product[0]) | u128::from(product[1]) << 64, a.wrapping_mul(b));
        assert_eq!(low_half(&[u64::MAX; WORDS], &[u64::MAX; WORDS])[0], 1);
        assert_eq!(low_half(&[u64::MAX; WORDS], &[u64::MAX; WORDS])[1..], [0; WORDS - 1]);
    }

    #[test]
    fn it_takes_as_long_again() {
        let times: Vec<f64> = (0..5).map(|_| time_on(None)).collect();
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least > 1e3, "{times:?}: the work is left out");
    }
}
