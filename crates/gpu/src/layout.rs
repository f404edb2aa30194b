//! Where things stand in the record of a key, in words of 32 bits, and how its exponents are cut into digits.
//!
//! ```text
//! modulus n     n, R, R², R³ mod n, −1/n mod 2³²
//! exponent      how many bits e has, e
//! parts         for p and for q, or for n alone: a modulus as above, then the digits of the part's private exponent
//! 1/q mod p     as it is, and in Montgomery form
//! ```

use rsalab_arith::integer;
use rsalab_rsa::PrivateParts;
use zeroize::Zeroizing;

/// The record of a key of one size.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// Bits of the modulus.
    pub(crate) bits: usize,
    /// Limbs of the modulus.
    pub(crate) limbs: usize,
    /// Where the public exponent stands.
    pub(crate) exponent: usize,
    /// Words of a whole record.
    pub(crate) words: usize,
    /// The layout of the private power.
    pub(crate) power: Option<Power>,
}

/// The layout of the private power in a record.
#[derive(Clone, Debug)]
pub(crate) struct Power {
    /// Powers that make one: two with the CRT.
    pub(crate) parts: usize,
    /// Limbs of each part's modulus.
    pub(crate) limbs: usize,
    /// Where the first part stands.
    pub(crate) at: usize,
    /// Words of a part.
    pub(crate) part_words: usize,
    /// Where, in a part, its digits stand.
    pub(crate) digits_at: usize,
    /// How many there are.
    pub(crate) digits: usize,
    /// Bits of each.
    pub(crate) window: usize,
    /// With the CRT: where 1/q mod p stands, as it is and in Montgomery form.
    pub(crate) qinv: Option<[usize; 2]>,
}

/// Words of a modulus with its constants.
fn modulus_words(limbs: usize) -> usize {
    4 * limbs + 1
}

fn limbs_for(bits: usize) -> usize {
    bits.div_ceil(32)
}

impl Layout {
    /// For moduli of `bits` bits and public exponents of up to `exponent_bits`.
    pub(crate) fn public(bits: usize, exponent_bits: usize) -> Self {
        let limbs = limbs_for(bits);
        let exponent = modulus_words(limbs);
        Layout {
            bits,
            limbs,
            exponent,
            words: exponent + 1 + limbs_for(exponent_bits),
            power: None,
        }
    }

    /// The layout with the private power, by the CRT or without.
    pub(crate) fn private(bits: usize, exponent_bits: usize, has_crt: bool) -> Self {
        let public = Layout::public(bits, exponent_bits);
        let (parts, part_bits) = if has_crt { (2, bits.div_ceil(2)) } else { (1, bits) };
        let limbs = limbs_for(part_bits);
        let window = window(limbs);
        let digits = part_bits.div_ceil(window);
        let digits_at = modulus_words(limbs);
        let part_words = digits_at + digits;
        let at = public.words;
        let end = at + parts * part_words;
        let qinv = has_crt.then_some([end, end + limbs]);
        Layout {
            words: end + if has_crt { 2 * limbs } else { 0 },
            power: Some(Power {
                parts,
                limbs,
                at,
                part_words,
                digits_at,
                digits,
                window,
                qinv,
            }),
            ..public
        }
    }

    /// Writes the public half of a key into its record. What follows from the modulus, the device works out.
    pub(crate) fn write_public(&self, n: &[u8], e: &[u8], record: &mut [u32]) {
        write_number(n, &mut record[..self.limbs]);
        let bits = integer::bits_vartime(e);
        record[self.exponent] = bits as u32;
        write_number(e, &mut record[self.exponent + 1..][..limbs_for(bits)]);
    }

    /// Writes a whole key.
    pub(crate) fn write_private(&self, key: &PrivateParts<'_>, record: &mut [u32]) {
        self.write_public(key.n, key.e, record);
        let Some(power) = &self.power else { return };
        let parts = match power.qinv {
            Some(_) => vec![(key.p, key.dp), (key.q, key.dq)],
            None => vec![(key.n, key.d)],
        };
        for (part, (modulus, exponent)) in parts.into_iter().enumerate() {
            let record = &mut record[power.at + part * power.part_words..][..power.part_words];
            write_number(modulus, &mut record[..power.limbs]);
            power.write_digits(exponent, &mut record[power.digits_at..]);
        }
        if let Some([at, _]) = power.qinv {
            write_number(key.qinv, &mut record[at..][..power.limbs]);
        }
    }
}

impl Power {
    /// Digits of `window` bits, the highest first. Constant time but in lengths.
    fn write_digits(&self, exponent: &[u8], digits: &mut [u32]) {
        let mut words = Zeroizing::new(vec![0; limbs_for(self.window * self.digits) + 1]);
        write_number(exponent, &mut words);
        let mask = (1u64 << self.window) - 1;
        for (digit, place) in digits.iter_mut().zip((0..self.digits).rev()) {
            let bit = place * self.window;
            let pair = u64::from(words[bit / 32 + 1]) << 32 | u64::from(words[bit / 32]);
            *digit = (pair >> (bit % 32) & mask) as u32;
        }
    }
}

/// A big-endian number to words, the lowest first. Bytes that have no place must be zero.
pub(crate) fn write_number(number: &[u8], words: &mut [u32]) {
    words.fill(0);
    for (place, &byte) in number.iter().rev().enumerate() {
        match words.get_mut(place / 4) {
            Some(word) => *word |= u32::from(byte) << (8 * (place % 4)),
            None => debug_assert_eq!(byte, 0),
        }
    }
}

/// The window with the fewest products, for exponents of 32 bits a limb: to make a table of 2^w powers, and for each of
/// bits / w digits one and what reading the table costs, where a product reads and multiplies 2 limbs² times. Squarings
/// are the same for all. It follows from the limbs alone, as kernels that are written for a number of limbs must know
/// it.
pub(crate) fn window(limbs: usize) -> usize {
    let bits = 32 * limbs;
    let cost = |window: &usize| {
        let (entries, digits) = ((1usize << window) as f64, bits.div_ceil(*window) as f64);
        (entries + digits * (1.0 + entries / (2 * limbs) as f64)).to_bits()
    };
    // Costs are positive, so that they order as their bits do.
    (2..=6).min_by_key(cost).expect("there are some")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_grow_with_the_exponent() {
        for (bits, expected) in [(256, 3), (512, 4), (1024, 4), (2048, 5), (4096, 6)] {
            assert_eq!(window(bits / 32), expected, "{bits}");
        }
    }

    #[test]
    fn digits_are_those_of_the_exponent() {
        for bits in [255usize, 256, 300, 511, 512, 1536] {
            let layout = Layout::private(2 * bits, 17, true);
            let power = layout.power.unwrap();
            let exponent: Vec<u8> = (0..bits.div_ceil(8)).map(|i| (i * 37 + 11) as u8).collect();
            let mut digits = vec![0; power.digits];
            // The highest bits are those that the length leaves.
            let mut shortened = exponent.clone();
            shortened[0] &= 0xff >> (8 * exponent.len() - bits);
            power.write_digits(&shortened, &mut digits);
            let bit = |place: usize| {
                let byte = shortened.len().checked_sub(1 + place / 8);
                byte.map_or(0, |byte| u32::from(shortened[byte] >> (place % 8) & 1))
            };
            for (digit, place) in digits.iter().zip((0..power.digits).rev()) {
                let expected: u32 = (0..power.window).map(|i| bit(place * power.window + i) << i).sum();
                assert_eq!(*digit, expected, "{bits} bits, digit {place}");
            }
        }
    }

    #[test]
    fn numbers_are_written_from_their_end() {
        let mut words = [9; 3];
        write_number(&[0, 0, 1, 2, 3, 4, 5], &mut words[..2]);
        assert_eq!(words, [0x0203_0405, 1, 9]);
        write_number(&[], &mut words);
        assert_eq!(words, [0; 3]);
    }

    #[test]
    fn nothing_in_a_record_overlaps() {
        for (bits, crt) in [(512, true), (1023, true), (8192, true), (768, false)] {
            let layout = Layout::private(bits, 40, crt);
            let power = layout.power.as_ref().unwrap();
            assert!(layout.limbs * 32 >= bits && power.limbs * 32 * power.parts >= bits);
            assert_eq!(layout.exponent, 4 * layout.limbs + 1);
            assert_eq!(power.at, layout.exponent + 3);
            let end = power.at + power.parts * power.part_words;
            match power.qinv {
                Some(places) => {
                    assert_eq!(places, [end, end + power.limbs]);
                    assert_eq!(layout.words, end + 2 * power.limbs);
                }
                None => assert_eq!(layout.words, end),
            }
        }
    }
}
