//! Numbers with far more zeros than ones, or the other way around.
//!
//! The ones of a random number of b bits are b/2, give or take √b/2. What is more than [`DEVIATIONS`] of these away is
//! no chance (2^−75 for ten). Keys that protect nothing were found so: unfinished ones, corrupt ones, test data, and
//! moduli whose upper half somebody chose for its looks.

/// Standard deviations that are no chance.
const DEVIATIONS: usize = 10;

/// The hundredths of a number's bits that are set, where that is no chance. Ones are counted in constant time.
pub(super) fn percent_set(number: &[u8]) -> Option<usize> {
    let bits = 8 * number.len();
    let ones: usize = number.iter().map(|byte| byte.count_ones() as usize).sum();
    let away = (2 * ones).abs_diff(bits);
    // (ones − b/2)² > (DEVIATIONS √b / 2)², times four.
    let is_no_chance = away * away > DEVIATIONS * DEVIATIONS * bits;
    is_no_chance.then(|| 100 * ones / bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_is_chance_and_a_third_is_not() {
        assert_eq!(percent_set(&[0x55; 256]), None);
        assert_eq!(percent_set(&[0x49; 256]), Some(37));
        assert_eq!(percent_set(&[0xfe; 64]), Some(87));
        // Ten deviations of 2048 bits are 226 bits: 798 to 1250 are chance.
        let with = |ones: usize| {
            let mut number = [0; 256];
            (0..ones).for_each(|bit| number[bit / 8] |= 1 << (bit % 8));
            percent_set(&number).is_some()
        };
        assert_eq!([797, 798, 1250, 1251].map(with), [true, false, false, true]);
        assert_eq!(percent_set(&[]), None);
    }
}
