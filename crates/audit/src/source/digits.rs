//! Numbers in hexadecimal or decimal digits, as bytes.
//!
//! A modulus of 2048 bits has 512 or 617 digits, and an audit of many reads them all on every machine: two passes over
//! the digits, without a branch, and of decimal ones as many products as a multiplication row by row has.
//!
//! ```text
//! decimal:  n = 0;  for each 16 digits, as a number c < 10^16:  n = n 10^16 + c, limb by limb
//! ```
//!
//! Time grows with the square of the number of decimal digits: the caller limits it. It depends on the digits: they
//! are public.

/// The base that some digits are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// All are decimal ones.
    Decimal,
    /// All are hexadecimal, and one is no decimal digit.
    Hexadecimal,
}

/// Bytes that are looked at before it is decided: what is no number is seen soon.
const AT_ONCE: usize = 64;

/// The base of digits; none if another character is among them.
pub(super) fn base(text: &[u8]) -> Option<Base> {
    let is_decimal = |byte: u8| byte.wrapping_sub(b'0') < 10;
    let is_letter = |byte: u8| (byte | 0x20).wrapping_sub(b'a') < 6;
    let (mut are_decimal, mut are_digits) = (true, true);
    for part in text.chunks(AT_ONCE) {
        for &byte in part {
            are_decimal &= is_decimal(byte);
            are_digits &= is_decimal(byte) | is_letter(byte);
        }
        if !are_digits {
            return None;
        }
    }
    Some(if are_decimal { Base::Decimal } else { Base::Hexadecimal })
}

/// The value of a hexadecimal digit.
fn value(digit: u8) -> u8 {
    (digit & 15) + 9 * (digit >> 6)
}

/// The number of hexadecimal digits, big-endian.
pub(super) fn of_hexadecimal(digits: &[u8]) -> Vec<u8> {
    let (first, rest) = digits.split_at(digits.len() % 2);
    let (pairs, _) = rest.as_chunks::<2>();
    let mut number = Vec::with_capacity(digits.len().div_ceil(2));
    number.extend(first.iter().map(|&digit| value(digit)));
    number.extend(pairs.iter().map(|&[high, low]| value(high) << 4 | value(low)));
    number
}

/// Decimal digits that are read together: two words of eight.
const GROUP: usize = 16;

/// The number of decimal digits, big-endian.
pub(super) fn of_decimal(digits: &[u8]) -> Vec<u8> {
    // Sixteen digits have 53.2 bits.
    let mut limbs: Vec<u64> = Vec::with_capacity(digits.len() * 54 / (GROUP * 64) + 1);
    let (first, groups) = digits.split_at(digits.len() % GROUP);
    let mut zeros = [b'0'; GROUP];
    zeros[GROUP - first.len()..].copy_from_slice(first);
    for group in std::iter::once(&zeros).chain(groups.as_chunks::<GROUP>().0) {
        let mut carry = group_value(group);
        for limb in &mut limbs {
            let wide = u128::from(*limb) * 10_u128.pow(16) + u128::from(carry);
            *limb = wide as u64;
            carry = (wide >> 64) as u64;
        }
        if carry > 0 {
            limbs.push(carry);
        }
    }
    limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect()
}

fn group_value(group: &[u8; GROUP]) -> u64 {
    let (words, _) = group.as_chunks::<8>();
    words
        .iter()
        .fold(0, |value, &word| value * 100_000_000 + eight_digits(word))
}

/// The value of eight decimal digits: neighbours together, then twos, then fours.
fn eight_digits(digits: [u8; 8]) -> u64 {
    // The first digit is in the lowest byte.
    let ones = u64::from_le_bytes(digits) & 0x0f0f_0f0f_0f0f_0f0f;
    let twos = (ones * 10 + (ones >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (twos * 100 + (twos >> 16)) & 0x0000_ffff_0000_ffff;
    (fours * 10_000 + (fours >> 32)) & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;

    use super::*;

    #[test]
    fn numbers_are_those_of_another_library() {
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = |below: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % below
        };
        for len in (1..=80).chain([617, 1233, 2048, 4999, 5000]) {
            for all in [None, Some(0), Some(9), Some(15)] {
                for (radix, digits) in [
                    (10, &b"0123456789"[..]),
                    (16, b"0123456789abcdef"),
                    (16, b"0123456789ABCDEF"),
                ] {
                    let digit = |value: u64| digits[(value as usize).min(digits.len() - 1)];
                    let text: Vec<u8> = (0..len).map(|_| digit(all.unwrap_or_else(|| next(radix)))).collect();
                    let number = match radix {
                        10 => of_decimal(&text),
                        _ => of_hexadecimal(&text),
                    };
                    let known = BigUint::parse_bytes(&text, radix as u32).expect("digits");
                    assert_eq!(
                        BigUint::from_bytes_be(&number),
                        known,
                        "{}",
                        String::from_utf8_lossy(&text)
                    );
                }
            }
        }
    }

    #[test]
    fn the_base_is_that_of_all_digits() {
        let mut text = vec![b'7'; 3 * AT_ONCE + 5];
        assert_eq!(base(&text), Some(Base::Decimal));
        for place in 0..text.len() {
            for byte in 0..=255_u8 {
                text[place] = byte;
                let known = match byte {
                    b'0'..=b'9' => Some(Base::Decimal),
                    b'a'..=b'f' | b'A'..=b'F' => Some(Base::Hexadecimal),
                    _ => None,
                };
                assert_eq!(base(&text), known, "{byte} at {place}");
            }
            text[place] = b'7';
        }
    }
}
