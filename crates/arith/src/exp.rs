//! Exponentiation over any kernel.

use crate::kernel::LaneKernel;
use crate::limbs::words;
use zeroize::Zeroizing;

/// Secret exponents of all lanes, cut into windows: each window's digits lie together, one for each lane, the highest
/// window first.
pub(crate) struct Digits {
    digits: Zeroizing<Vec<u8>>,
    lanes: usize,
    width: usize,
}

impl Digits {
    /// Cuts one exponent for each lane, all of them shorter than `bits` (public) bits.
    pub(crate) fn new(exponents: &[&[u64]], bits: usize) -> Self {
        let mut digits = Self::zero(exponents.len(), bits);
        for (lane, exponent) in exponents.iter().enumerate() {
            digits.set(lane, exponent);
        }
        digits
    }

    /// Exponents 0, with room for `bits` bits in each of `lanes` lanes.
    pub(crate) fn zero(lanes: usize, bits: usize) -> Self {
        let width = window_width(bits);
        let windows = bits.div_ceil(width).max(1);
        Self {
            digits: Zeroizing::new(vec![0; windows * lanes]),
            lanes,
            width,
        }
    }

    /// Cuts the exponent of one lane.
    pub(crate) fn set(&mut self, lane: usize, exponent: &[u64]) {
        for (i, window) in self.digits.chunks_exact_mut(self.lanes).rev().enumerate() {
            window[lane] = words::bits_at(exponent, i * self.width, self.width);
        }
    }

    fn entries(&self) -> usize {
        1 << self.width
    }
}

/// Words of working memory for [`exp`] with `bits`-bit exponents, and for [`exp_public`], whose exponents may be long too.
pub(crate) fn working_words<K: LaneKernel>(limbs: usize, bits: usize) -> usize {
    (2 + (1 << window_width(bits))) * K::words(limbs) + K::working_words(limbs)
}

/// The window width that makes multiplications and table look-ups fewest for an exponent of `bits` bits.
fn window_width(bits: usize) -> usize {
    match bits {
        0..=32 => 2,
        33..=128 => 3,
        129..=384 => 4,
        385..=1536 => 5,
        _ => 6,
    }
}

/// value = value^digits in every lane, in Montgomery form, in constant time: fixed windows from the top (Handbook of
/// Applied Cryptography, algorithm 14.82), each table look-up reading the whole table.
pub(crate) fn exp<K: LaneKernel>(
    kernel: K,
    moduli: &K::Moduli,
    digits: &Digits,
    value: &mut [u64],
    working: &mut [u64],
) {
    let words = value.len();
    let (selected, working) = working.split_at_mut(words);
    let (table, working) = working.split_at_mut(digits.entries() * words);
    kernel.one(moduli, &mut table[..words]);
    table[words..2 * words].copy_from_slice(value);
    for entry in 2..digits.entries() {
        // Even entries are squares of the entry half way; odd ones are one more factor on the entry before.
        let (done, rest) = table.split_at_mut(entry * words);
        let next = &mut rest[..words];
        if entry % 2 == 0 {
            next.copy_from_slice(&done[entry / 2 * words..][..words]);
            kernel.sqr(moduli, next, 1, working);
        } else {
            next.copy_from_slice(&done[(entry - 1) * words..]);
            kernel.mul(moduli, next, value, working);
        }
    }
    let mut windows = digits.digits.chunks_exact(digits.lanes);
    let first = windows.next().expect("an exponent has at least one window");
    kernel.select(table, first, value);
    for window in windows {
        let squarings = (&mut *value, digits.width);
        kernel.sqr_select(moduli, squarings, (table, window), selected, working);
        kernel.mul(moduli, value, selected, working);
    }
}

/// A public odd exponent, the same in every lane.
pub(crate) enum PublicExponent {
    /// Few bits set: square and multiply along them (65537 costs 16 squarings and one multiplication).
    Sparse(Vec<u64>),
    /// Many bits set: windows.
    Dense(Digits),
}

impl PublicExponent {
    /// Chooses by the number of bits set.
    pub(crate) fn new_vartime(e: &[u64], lanes: usize) -> Self {
        let bits = words::bits_vartime(e);
        let weight: u32 = e.iter().map(|limb| limb.count_ones()).sum();
        if weight as usize <= 4 + bits / 8 {
            Self::Sparse(e.to_vec())
        } else {
            Self::Dense(Digits::new(&vec![e; lanes], bits))
        }
    }
}

/// value = value^e in every lane, from plain to plain form, for values below n; the result is below 2 n. In variable time
/// as to e alone.
pub(crate) fn exp_public_vartime<K: LaneKernel>(
    kernel: K,
    moduli: &K::Moduli,
    exponent: &PublicExponent,
    value: &mut [u64],
    working: &mut [u64],
) {
    match exponent {
        PublicExponent::Sparse(e) => {
            let (plain, working) = working.split_at_mut(value.len());
            let (base, working) = working.split_at_mut(value.len());
            plain.copy_from_slice(value);
            kernel.enter(moduli, value, working);
            base.copy_from_slice(value);
            let mut squarings = 0;
            for i in (1..words::bits_vartime(e) - 1).rev() {
                squarings += 1;
                if words::bit(e, i) == 1 {
                    kernel.sqr(moduli, value, squarings, working);
                    kernel.mul(moduli, value, base, working);
                    squarings = 0;
                }
            }
            kernel.sqr(moduli, value, squarings + 1, working);
            // e is odd: the last factor, taken in plain form, also leaves Montgomery form.
            kernel.mul(moduli, value, plain, working);
        }
        PublicExponent::Dense(digits) => {
            kernel.enter(moduli, value, working);
            exp(kernel, moduli, digits, value, working);
            kernel.leave(moduli, value, working);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mont64x1_portable::Mont64x1Portable;
    use crate::limbs::{Modulus, Nat};
    use crate::model::{any_limbs, any_modulus, limbs, number};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// base^exponent mod n by the fixed windows of `bits`-bit exponents.
    fn windowed<K: LaneKernel>(
        kernel: K,
        n: &Modulus,
        base: &[u64],
        exponent: &[u64],
        bits: usize,
    ) -> BigUint {
        let prepared = kernel.prepare(&vec![n; K::LANES]);
        let digits = Digits::new(&vec![exponent; K::LANES], bits);
        let mut value = vec![0; K::words(n.limbs())];
        let mut working = vec![0xbeef; working_words::<K>(n.limbs(), bits)];
        (0..K::LANES).for_each(|lane| kernel.load(&prepared, lane, base, &mut value));
        kernel.enter(&prepared, &mut value, &mut working);
        exp(kernel, &prepared, &digits, &mut value, &mut working);
        kernel.leave(&prepared, &mut value, &mut working);
        let mut result = Nat::zero(n.limbs());
        kernel.store(&prepared, K::LANES - 1, &value, &mut result);
        number(&result)
    }

    proptest! {
        #[test]
        fn windows_agree_with_the_model(
            (n, base, exponent, bits) in (1usize..5, 1usize..40).prop_flat_map(|(len, e_len)| {
                (any_modulus(64 * len), any_limbs(len), any_limbs(e_len), 64 * e_len - 63..=64 * e_len)
            }),
        ) {
            let len = base.len();
            let modulus = Modulus::new(&limbs(&n, len), 64 * len, len);
            let exponent = limbs(&(number(&exponent) >> (64 * exponent.len() - bits)), exponent.len());
            prop_assert_eq!(
                windowed(Mont64x1Portable, &modulus, &base, &exponent, bits),
                number(&base).modpow(&number(&exponent), &n)
            );
        }

        #[test]
        fn public_exponents_agree_with_the_model(
            (n, base) in (any_modulus(190), any_limbs(3)),
            e in prop_oneof![
                any_limbs(2),
                Just(vec![3]),
                Just(vec![5]),
                Just(vec![7]),
                Just(vec![65537]),
                Just(vec![1 << 63 | 1]),
                Just(vec![1, 1]),
            ],
        ) {
            let e = limbs(&(number(&e) | BigUint::from(1u8)), e.len());
            prop_assume!(number(&e) > BigUint::from(2u8));
            let kernel = Mont64x1Portable;
            let base = limbs(&(number(&base) % &n), 3);
            let modulus = Modulus::new(&limbs(&n, 3), 190, 3);
            let prepared = kernel.prepare(&[&modulus]);
            let mut value = base.clone();
            let mut working = vec![0xbeef; working_words::<Mont64x1Portable>(3, 128)];
            let exponent = PublicExponent::new_vartime(&e, 1);
            exp_public_vartime(kernel, &prepared, &exponent, &mut value, &mut working);
            let mut result = Nat::zero(3);
            kernel.store(&prepared, 0, &value, &mut result);
            prop_assert_eq!(number(&result), number(&base).modpow(&number(&e), &n));
        }
    }

    #[test]
    fn sparse_exponents_take_the_short_way() {
        for (e, sparse) in [
            (&[3][..], true),
            (&[17], true),
            (&[65537], true),
            (&[0, 0, 1 << 9], true),
            (&[u64::MAX], false),
        ] {
            assert_eq!(
                matches!(PublicExponent::new_vartime(e, 1), PublicExponent::Sparse(_)),
                sparse,
                "{e:?}"
            );
        }
    }
}
