//! "Short-sleeve" numbers: every limb has the same bits that are never set.
//!
//! A generator that filled only a part of each limb of a prime (one byte of each 32-bit word, say) makes primes that
//! are polynomials of small coefficients at 2^w, w bits being a limb's width. Their product is one too, whose
//! coefficients do not reach the upper bits of a limb: it is factored as a polynomial, in seconds (Ryan and Böck:
//! "Factoring short-sleeve RSA keys with polynomials", Trail of Bits 2026; keys of CompleteFTP, and of an unknown
//! source in certificates).
//!
//! The bits that no limb sets are counted, without the lowest limb, which the search for a prime changes, and the
//! highest, whose length is set. That `z` of `w` places are clear in all of `m` limbs happens to a random number, of
//! whose bits a part `c` is clear, with probability C(w, z) c^(z m) at most; what is above 2^(−[`BEYOND_CHANCE`]) is
//! taken for chance. (`c` is that of the number: one that is merely biased has no such form.)

use super::pattern::words_of;

/// Widths of limbs, in bits.
const WIDTHS: [usize; 5] = [16, 32, 64, 128, 256];

/// Bits of improbability from which a form is no chance.
const BEYOND_CHANCE: f64 = 72.0;

/// The width of the limbs, and how many places of each are never set, where that is no chance. Takes the same time for
/// all numbers of a length but those that have the form.
pub(super) fn unused_places(number: &[u8]) -> Option<(usize, usize)> {
    let words = words_of(number);
    let bits = 64 * words.len();
    let ones: u32 = words.iter().map(|word| word.count_ones()).sum();
    let clear = 1.0 - f64::from(ones) / (bits as f64).max(1.0);
    WIDTHS.into_iter().find_map(|width| {
        let limbs = bits / width;
        if limbs < 4 {
            return None;
        }
        let mut set = [0_u64; 4];
        let each = width.min(64);
        let mask = u64::MAX >> (64 - each);
        for limb in 1..limbs - 1 {
            for (part, set) in set.iter_mut().enumerate().take(width.div_ceil(64)) {
                let place = limb * width + 64 * part;
                *set |= words[place / 64] >> (place % 64) & mask;
            }
        }
        let used: u32 = set.iter().map(|word| word.count_ones()).sum();
        let unused = width - used as usize;
        is_no_chance(width, unused, limbs - 2, clear).then_some((width, unused))
    })
}

/// Returns whether a number of whose bits a part is `clear` has this form with a probability of less than
/// 2^(−[`BEYOND_CHANCE`]).
fn is_no_chance(width: usize, unused: usize, limbs: usize, clear: f64) -> bool {
    let choices: f64 = (0..unused).map(|k| ((width - k) as f64 / (k + 1) as f64).log2()).sum();
    (unused * limbs) as f64 * -clear.log2() - choices > BEYOND_CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_of_each_word_is_seen_and_noise_is_not() {
        let noise = |i: u32| (i.wrapping_mul(2_654_435_761) ^ i.wrapping_mul(i) << 7) >> 11;
        let number = |mask: u32| -> Vec<u8> { (1..64).flat_map(|i| (noise(i) & mask).to_be_bytes()).collect() };
        let (width, unused) = unused_places(&number(0x001f_ffff)).expect("the form");
        assert!(width == 32 && unused >= 11, "{width} {unused}");
        let all: Vec<u8> = (1..256_u32).map(|i| (noise(i) >> 3) as u8).collect();
        assert_eq!(unused_places(&all), None);
        for len in 0..100 {
            unused_places(&all[..len]);
        }
    }

    #[test]
    fn chance_is_counted() {
        // Of 14 limbs of 128 bits, a place is clear in all with 2^-14: five places are 2^-70 times 2.5e8 choices.
        assert!(!is_no_chance(128, 5, 14, 0.5));
        assert!(is_no_chance(128, 10, 14, 0.5));
        assert!(is_no_chance(32, 2, 62, 0.5));
        assert!(!is_no_chance(32, 1, 62, 0.5));
    }
}
