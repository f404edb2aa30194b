//! Numbers whose bits repeat.
//!
//! A generator without randomness made primes of a pattern of a few bits, repeated over the whole length, and the next
//! prime from there (Bernstein, Chang, Cheng, Chou, Heninger, Lange, van Someren 2013: "Factoring RSA keys from
//! certified smart cards: Coppersmith in the wild", section 4). Such a prime, of period T, is nearly a fraction:
//!
//! ```text
//! (2^T − 1) p = a 2^m + ε   with a, ε below about 2^(2T + 12)
//! (2^T − 1)² p q = a b 2^(2m) + (a ε' + b ε) 2^m + ε ε'
//! ```
//!
//! So n (2^T − 1)² has a run of equal bits as long as half of n less 4 T, if both primes have the period, or periods
//! that divide it. A random number of so many bits has a run of [`RUN`] bits in one case of 2^90. Of a private key each
//! prime is looked at by itself, in constant time but for what is found.

use zeroize::Zeroizing;

/// The longest period: a pattern of 7 bits whose 16-bit words were swapped in pairs has 224.
const LONGEST: usize = 224;

/// Equal bits in a row that no random number has.
const RUN: usize = 100;

/// The pattern that repeats in a modulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Both primes have this period, which shows in the second product and not in the first.
    Primes(usize),
    /// A part of the modulus itself has it: somebody chose it, or it is damaged. Primes of a period of 1 or 2 look so.
    Modulus(usize),
}

/// The pattern that shows in a modulus, big-endian.
pub(super) fn pattern_vartime(n: &[u8]) -> Option<Pattern> {
    let mut n = words_of(n).to_vec();
    trim(&mut n);
    let bits = n.last().map_or(0, |last| 64 * n.len() - last.leading_zeros() as usize);
    // Beyond this, no run is left between the parts of the product.
    let longest = LONGEST.min((bits / 2).saturating_sub(RUN + 13) / 4);
    if has_run(&n) {
        return Some(Pattern::Modulus(1));
    }
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    // A shorter period has a multiple among these. The first that shows decides: a part of the modulus that repeats
    // shows in the second product, too, at other multiples.
    (longest / 2 + 1..=longest).find_map(|period| {
        times_ones(&n, period, &mut once);
        if has_run(&once) {
            return Some(Pattern::Modulus(period));
        }
        times_ones(&once, period, &mut twice);
        has_run(&twice).then_some(Pattern::Primes(period))
    })
}

/// product = number (2^period − 1), in words, the lowest first, without zeros above it.
fn times_ones(number: &[u64], period: usize, product: &mut Vec<u64>) {
    let (whole, part) = (period / 64, period % 64);
    product.clear();
    product.resize(whole, 0);
    let mut below = 0;
    for &word in number.iter().chain(&[0]) {
        // Twice, since a shift by 64 is none.
        product.push(word << part | below >> 1 >> (63 - part));
        below = word;
    }
    let mut borrow = false;
    let (low, high) = product.split_at_mut(number.len());
    for (word, &less) in low.iter_mut().zip(number) {
        let (difference, under) = word.overflowing_sub(less);
        let (difference, under_again) = difference.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (difference, under | under_again);
    }
    for word in high {
        (*word, borrow) = word.overflowing_sub(u64::from(borrow));
    }
    trim(product);
}

/// Takes away the zeros above a number.
fn trim(words: &mut Vec<u64>) {
    while words.last() == Some(&0) {
        words.pop();
    }
}

/// Returns whether a number, in words without zeros above it, has [`RUN`] equal bits in a row.
fn has_run(words: &[u64]) -> bool {
    // So many bits fill 50 of a word from one of its ends, at the least: where neighbours differ, 14 to 48 are clear.
    const MIDDLE: u64 = (1 << (RUN / 2 - 1)) - (1 << (64 - RUN / 2));
    let may_be_in = |&word: &u64| (word ^ word >> 1) & MIDDLE == 0;
    let Some((last, others)) = words.split_last() else {
        return false;
    };
    // The zeros above the number are none of its bits.
    let may_be_in_last = last.leading_zeros() as usize <= 64 - RUN / 2 && may_be_in(last);
    (may_be_in_last || others.iter().any(may_be_in)) && longest_run(words) >= RUN
}

fn longest_run(words: &[u64]) -> usize {
    let (mut longest, mut run, mut last) = (0, 0, None);
    for word in words {
        for place in 0..64 {
            let bit = word >> place & 1;
            run = match last == Some(bit) {
                true => run + 1,
                false => 1,
            };
            last = Some(bit);
            longest = longest.max(run);
        }
    }
    longest
}

/// Returns whether the bits of a secret prime, big-endian, repeat: whether a shift changes nothing over two whole words
/// of 64 bits. The time depends on the length alone.
pub(super) fn repeats(prime: &[u8]) -> bool {
    let words = words_of(prime);
    let mut found = 0_u64;
    for period in 1..=LONGEST.min(32 * words.len().saturating_sub(2)) {
        let (whole, part) = (period / 64, period % 64);
        let mut last = 0;
        for place in 0..words.len() - whole - 1 {
            let low = words[place + whole] >> part;
            // Twice, since a shift by 64 is none.
            let high = words[place + whole + 1] << (63 - part) << 1;
            let difference = words[place] ^ (low | high);
            let is_zero = !(difference | difference.wrapping_neg()) >> 63;
            found |= is_zero & last;
            last = is_zero;
        }
    }
    found == 1
}

/// The words of a number, the lowest first.
pub(super) fn words_of(bytes: &[u8]) -> Zeroizing<Vec<u64>> {
    let words = bytes.rchunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[8 - chunk.len()..].copy_from_slice(chunk);
        u64::from_be_bytes(word)
    });
    // The room is taken at once: growing would leave copies behind.
    let mut all = Zeroizing::new(Vec::with_capacity(bytes.len().div_ceil(8)));
    all.extend(words);
    all
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn a_run_is_found_wherever_it_stands() {
        let noise = BigUint::from_bytes_be(&[0x5a; 64]);
        for place in 64..300_usize {
            let mut number = noise.clone();
            (place..place + RUN).for_each(|bit| number.set_bit(bit as u64, place % 2 == 0));
            assert!(has_run(&number.to_u64_digits()), "{place}");
            number.set_bit((place + RUN / 2) as u64, place % 2 != 0);
            assert!(!has_run(&number.to_u64_digits()), "{place}");
        }
    }

    #[test]
    fn products_with_ones_are_those_of_shifts() {
        for bytes in [1, 7, 8, 9, 64, 65] {
            let number = BigUint::from_bytes_be(&vec![0xa7; bytes]);
            for period in [1, 63, 64, 65, 127, 128, 200] {
                let mut product = vec![1];
                times_ones(&number.to_u64_digits(), period, &mut product);
                assert_eq!(
                    product,
                    ((&number << period) - &number).to_u64_digits(),
                    "{bytes} {period}"
                );
            }
        }
    }

    #[test]
    fn a_repeated_pattern_is_found_and_noise_is_not() {
        // 2^5 − 1 and 2^5 divide into bits of period 5.
        for (period, pattern) in [(5_usize, 0b10110_u32), (7, 0b1001011), (1, 1)] {
            let bits: BigUint = (0..512 / period).map(|k| BigUint::from(pattern) << (k * period)).sum();
            assert!(repeats(&bits.to_bytes_be()), "{period}");
        }
        let noise: Vec<u8> = (1..65_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        assert!(!repeats(&noise));
        for len in 0..40 {
            let _ = repeats(&vec![1; len]);
        }
    }
}
