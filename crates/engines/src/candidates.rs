//! The average case of a search for primes, as a sequence of candidates.
//!
//! How long a prime takes to find is chance: how many candidates come before it, and how many of those a small factor
//! gives away. A sequence made so that both are as they are in the mean takes the chance out: whoever tests it does the
//! work that a search by independent random candidates does in the long run. The idea is C2SP/CCTV's `keygen` benchmark
//! and Filippo Valsorda's article on it ("RSA key generation benchmarks"); the sequences are ours:
//!
//! 1. A random odd number of `b` bits is prime with probability `2 / (b·ln 2)`. A sequence for one prime has the
//!    reciprocal of that in candidates, of which only the last is prime. An item is two sequences, one after the other.
//! 2. The smallest odd prime factor of a random odd number is above `f` with probability `∏ (1 − 1/r)` over the odd
//!    primes `r ≤ f`. The composites of a sequence get smallest factors at evenly spaced quantiles of that
//!    distribution, so that for every bound of trial division as many survive as do in the mean, to within one.
//! 3. Those whose quantile lies above [`LARGEST_FACTOR`] are multiples of a prime of 64 bits and have no smaller factor
//!    up to that bound: no trial division finds them, and they are composite for certain.
//! 4. The composites are shuffled.

use std::{ops::Range, sync::LazyLock};

use num_bigint::BigUint;
use rand_core::Rng;

use crate::{
    engine::EngineError,
    job::StudyKey,
    number::{fixed, is_probable_prime_vartime},
    op::candidates,
};

/// Smallest factors are distributed as they should up to here; no library divides further before its first test.
pub const LARGEST_FACTOR: u32 = 1 << 16;

static ODD_PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut is_composite = vec![false; LARGEST_FACTOR as usize];
    let mut primes = Vec::new();
    for number in (3..LARGEST_FACTOR as usize).step_by(2) {
        if !is_composite[number] {
            primes.push(number as u32);
            (number * number..is_composite.len())
                .step_by(2 * number)
                .for_each(|multiple| is_composite[multiple] = true);
        }
    }
    primes
});

/// The share of odd numbers with a smallest factor up to each of the primes.
static SHARES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut without = 1.0;
    let factors = ODD_PRIMES.iter().map(|&prime| {
        without *= 1.0 - 1.0 / f64::from(prime);
        1.0 - without
    });
    factors.collect()
});

/// The primes in runs, each with its product, which has 32 bits at most: one remainder tells of all primes of a run.
static RUNS: LazyLock<Vec<(u32, Range<usize>)>> = LazyLock::new(|| {
    let mut runs: Vec<(u32, Range<usize>)> = Vec::new();
    for (place, &prime) in ODD_PRIMES.iter().enumerate() {
        match runs.last_mut() {
            Some((product, run)) if product.checked_mul(prime).is_some() => {
                *product *= prime;
                run.end = place + 1;
            }
            _ => runs.push((prime, place..place + 1)),
        }
    }
    runs
});

/// Does one item of a prime search for an engine that tests one candidate after another: writes the first two that
/// `is_prime` says are.
///
/// # Errors
/// Those of `is_prime`, and [`EngineError::Library`] if there are fewer than two primes.
pub fn first_two_primes(
    candidates: &[u8],
    output: &mut [u8],
    mut is_prime: impl FnMut(&[u8]) -> Result<bool, EngineError>,
) -> Result<(), EngineError> {
    let length = output.len() / 2;
    let mut rest = candidates.chunks_exact(length);
    for place in output.chunks_exact_mut(length) {
        loop {
            let candidate = rest.next().ok_or_else(|| EngineError::Library {
                call: "the search",
                message: "there are fewer than two primes among the candidates".to_owned(),
            })?;
            if is_prime(candidate)? {
                place.copy_from_slice(candidate);
                break;
            }
        }
    }
    Ok(())
}

/// One item: the average sequence for each of the key's two primes, big-endian numbers of a prime's length.
pub(crate) fn average_case(key: &StudyKey, rng: &mut impl Rng) -> Vec<u8> {
    let of_one_prime = candidates(key.bits) / 2;
    [&key.p, &key.q]
        .into_iter()
        .flat_map(|prime| {
            let mut sequence = composites(of_one_prime, key.bits as u64 / 2, prime.len(), rng);
            sequence.push(prime.clone());
            sequence
        })
        .flatten()
        .collect()
}

/// All but the last of a sequence of `candidates`.
fn composites(candidates: usize, bits: u64, length: usize, rng: &mut impl Rng) -> Vec<Vec<u8>> {
    let count = candidates - 1;
    let mut numbers: Vec<Vec<u8>> = (0..count)
        .map(|place| {
            // Of all odd numbers, the composites are the share that the sequence's last is not.
            let share = (place as f64 + 0.5) / candidates as f64;
            let number = match smallest_factor(share) {
                Some(factor) => multiple_of(factor, bits, rng),
                None => without_small_factor(bits, rng),
            };
            fixed(&number, length).expect("it is as long as a prime")
        })
        .collect();
    // Fisher and Yates. The bias of a remainder of 64 bits is of no consequence here.
    for last in (1..count).rev() {
        numbers.swap(last, (rng.next_u64() % (last as u64 + 1)) as usize);
    }
    numbers
}

/// The odd prime `f` at which the share of odd numbers with a smallest factor up to `f` reaches `share`; none if that
/// is above [`LARGEST_FACTOR`].
fn smallest_factor(share: f64) -> Option<u32> {
    let place = SHARES.partition_point(|&reached| reached < share);
    ODD_PRIMES.get(place).copied()
}

/// An odd number of `bits` bits, the top two set, whose smallest factor is `factor`.
fn multiple_of(factor: u32, bits: u64, rng: &mut impl Rng) -> BigUint {
    loop {
        let number = random(bits, rng);
        // The odd multiple of the factor below it, or just above.
        let multiple = &number - &number % (2 * factor) + factor;
        if has_top_bits(&multiple, bits) && divisor(&multiple) == Some(factor) {
            return multiple;
        }
    }
}

/// An odd composite of `bits` bits, the top two set, with no factor up to [`LARGEST_FACTOR`].
fn without_small_factor(bits: u64, rng: &mut impl Rng) -> BigUint {
    let factor = loop {
        let number = random(64, rng);
        if divisor(&number).is_none() && is_probable_prime_vartime(&number) {
            break number;
        }
    };
    loop {
        let number = random(bits, rng);
        let multiple = &number - &number % (&factor << 1u32) + &factor;
        if has_top_bits(&multiple, bits) && divisor(&multiple).is_none() {
            return multiple;
        }
    }
}

/// A random odd number of `bits` bits, the top two set.
fn random(bits: u64, rng: &mut impl Rng) -> BigUint {
    let mut bytes = vec![0; bits.div_ceil(8) as usize];
    rng.fill_bytes(&mut bytes);
    let mut number = BigUint::from_bytes_be(&bytes) >> (8 * bytes.len() as u64 - bits);
    for bit in [0, bits - 2, bits - 1] {
        number.set_bit(bit, true);
    }
    number
}

fn has_top_bits(number: &BigUint, bits: u64) -> bool {
    number.bits() == bits && number.bit(bits - 2)
}

/// The smallest odd prime up to [`LARGEST_FACTOR`] that divides a number.
fn divisor(number: &BigUint) -> Option<u32> {
    let words = number.to_u32_digits();
    RUNS.iter().find_map(|(product, run)| {
        let mut remainder = 0;
        for &word in words.iter().rev() {
            remainder = (remainder << 32 | u64::from(word)) % u64::from(*product);
        }
        let mut primes = ODD_PRIMES[run.clone()].iter().copied();
        primes.find(|&prime| remainder % u64::from(prime) == 0)
    })
}

#[cfg(test)]
mod tests {
    use rsalab_rsa::random::InsecureStudySeed;

    use super::*;
    use crate::exponent::Exponent;

    #[test]
    fn a_sequence_is_the_average_case() {
        let seed = InsecureStudySeed::new([11; 32]);
        let key = StudyKey::from_seed(&seed, 1024, Exponent::F4).unwrap();
        let item = average_case(&key, &mut seed.stream(3));
        let numbers: Vec<BigUint> = item.chunks(64).map(BigUint::from_bytes_be).collect();
        // 1 / P(prime) = 512·ln 2 / 2 = 177.4, twice.
        assert_eq!(numbers.len(), 2 * 177);
        assert_eq!(item[176 * 64..177 * 64], key.p);
        assert_eq!(item[353 * 64..], key.q);
        for half in numbers.chunks(177) {
            let (prime, composites) = half.split_last().unwrap();
            assert!(is_probable_prime_vartime(prime));
            for composite in composites {
                assert!(composite.bit(0) && has_top_bits(composite, 512));
                assert!(!is_probable_prime_vartime(composite));
            }
            // Survivors of trial division, compared with Mertens's product; the prime always survives.
            for bound in [4, 8, 100, 1000, 10_000, 65_536] {
                let survivors = half
                    .iter()
                    .filter(|number| divisor(number).is_none_or(|factor| factor > bound))
                    .count();
                let expected: f64 = ODD_PRIMES
                    .iter()
                    .take_while(|&&prime| prime <= bound)
                    .fold(177.0, |left, &prime| left * (1.0 - 1.0 / f64::from(prime)));
                assert!(
                    (survivors as f64 - expected).abs() <= 1.5,
                    "{survivors} survive {bound}, {expected} are expected"
                );
            }
        }
        // Shuffled: the multiples of 3 are not together.
        let of_three = |numbers: &[BigUint]| numbers.iter().filter(|number| divisor(number) == Some(3)).count();
        assert!((15..45).contains(&of_three(&numbers[..88])));
    }

    #[test]
    fn divisors_are_found() {
        for (number, expected) in [
            (15_u64, Some(3)),
            (7 * 11, Some(7)),
            (65_521 * 65_537, Some(65_521)),
            (65_537 * 65_539, None),
        ] {
            assert_eq!(divisor(&BigUint::from(number)), expected);
        }
    }
}
