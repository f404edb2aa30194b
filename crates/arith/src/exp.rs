//! Exponentiation over any kernel.

use crate::fault::{self, Place};
use crate::kernel::{FixedWindow, LaneKernel, Table};
use crate::limbs::words;
use zeroize::Zeroizing;

/// Secret exponents of all lanes, cut into windows: each window's digits lie together, one for each lane, the highest
/// window first.
#[derive(Clone)]
pub(crate) struct Digits {
    digits: Zeroizing<Vec<u8>>,
    lanes: usize,
    windows: Windows,
}

impl Digits {
    /// Cuts one exponent for each lane, all of them shorter than the windows reach.
    pub(crate) fn new(exponents: &[&[u64]], windows: Windows) -> Self {
        let mut digits = Self::zero(exponents.len(), windows);
        for (lane, exponent) in exponents.iter().enumerate() {
            digits.set(lane, exponent);
        }
        digits
    }

    /// Exponents 0 in each of `lanes` lanes.
    pub(crate) fn zero(lanes: usize, windows: Windows) -> Self {
        Self {
            digits: Zeroizing::new(vec![0; windows.count() * lanes]),
            lanes,
            windows,
        }
    }

    /// Cuts the exponent of one lane.
    pub(crate) fn set(&mut self, lane: usize, exponent: &[u64]) {
        let width = self.windows.width;
        for (i, window) in self.digits.chunks_exact_mut(self.lanes).rev().enumerate() {
            window[lane] = words::bits_at(exponent, i * width, width);
        }
    }

    /// Copies the exponent of a lane of `from`, which has as many windows.
    pub(crate) fn copy_lane(&mut self, lane: usize, from: &Self, from_lane: usize) {
        assert_eq!((self.digits.len(), self.lanes), (from.digits.len(), from.lanes));
        let windows = self.digits.chunks_exact_mut(self.lanes);
        for (to, from) in windows.zip(from.digits.chunks_exact(from.lanes)) {
            to[lane] = from[from_lane];
        }
    }

    /// The digits as they lie in memory.
    pub(crate) fn pass_fault(&mut self, place: Place) {
        fault::pass_bytes(place, &mut self.digits);
    }

    fn entries(&self) -> usize {
        1 << self.windows.width
    }
}

/// The windows that exponents of a public length are cut into.
#[derive(Clone, Copy)]
pub(crate) struct Windows {
    bits: usize,
    width: usize,
}

impl Windows {
    /// For exponents of `bits` bits and a kernel that works on numbers of `limbs` limbs.
    pub(crate) fn new<K: LaneKernel>(limbs: usize, bits: usize) -> Self {
        let width = K::window_width(limbs, bits);
        Self { bits, width }
    }

    fn count(self) -> usize {
        self.bits.div_ceil(self.width).max(1)
    }

    /// Words of working memory for [`exp`] of numbers of `limbs` limbs, and for [`exp_public_vartime`].
    pub(crate) fn working_words<K: LaneKernel>(self, limbs: usize) -> usize {
        (2 + (1 << self.width)) * K::words(limbs) + K::working_words(limbs)
    }
}

/// A power to be taken, in Montgomery form: value = value^digits in every lane.
pub(crate) struct Power<'a, K: LaneKernel> {
    pub(crate) moduli: &'a K::Moduli,
    pub(crate) digits: &'a Digits,
    pub(crate) value: &'a mut [u64],
    /// As long as [`Windows::working_words`] says.
    pub(crate) working: &'a mut [u64],
}

/// Takes powers of one size, interleaved, in constant time: fixed windows from the top (Handbook of Applied
/// Cryptography, algorithm 14.82), each table look-up reading the whole table.
pub(crate) fn exp<K: LaneKernel, const STREAMS: usize>(kernel: K, powers: [Power<'_, K>; STREAMS]) {
    let width = powers[0].digits.windows.width;
    let mut powers = powers.map(|power| {
        let Power {
            moduli,
            digits,
            value,
            working,
        } = power;
        let (selected, working) = working.split_at_mut(value.len());
        let (table, working) = working.split_at_mut(digits.entries() * value.len());
        fault::pass(Place::Base, value);
        FixedWindow {
            moduli,
            value,
            table,
            digits: &digits.digits,
            selected,
            working,
        }
    });
    kernel.fill_tables(powers.each_mut().map(|power| Table {
        moduli: power.moduli,
        value: power.value,
        table: power.table,
        working: power.working,
    }));
    for FixedWindow {
        value, table, digits, ..
    } in &mut powers
    {
        fault::pass(Place::Table, table);
        let (first, rest) = digits.split_at(K::LANES);
        kernel.select(table, first, value);
        fault::pass(Place::First, value);
        *digits = rest;
    }
    kernel.exp_fixed_window(powers, width);
}

/// A public odd exponent for each lane.
#[derive(Clone)]
pub(crate) enum PublicExponent {
    /// Few bits set, the same ones in every lane: square and multiply along them (65537 costs 16 squarings and one
    /// multiplication).
    Sparse(Vec<u64>),
    /// Many bits set: windows.
    Dense(Digits),
}

impl PublicExponent {
    /// Chooses by the number of bits set, for a kernel that works on numbers of `limbs` limbs.
    pub(crate) fn new_vartime<K: LaneKernel>(e: &[u64], limbs: usize) -> Self {
        let bits = words::bits_vartime(e);
        let weight: u32 = e.iter().map(|limb| limb.count_ones()).sum();
        if weight as usize <= 4 + bits / 8 {
            Self::Sparse(e.to_vec())
        } else {
            Self::one_of_many::<K>(e, limbs, bits)
        }
    }

    /// One that can share a batch with other exponents of at most `bits` bits.
    pub(crate) fn one_of_many<K: LaneKernel>(e: &[u64], limbs: usize, bits: usize) -> Self {
        let windows = Windows::new::<K>(limbs, bits);
        Self::Dense(Digits::new(&vec![e; K::LANES], windows))
    }

    /// Words of working memory for [`exp_public_vartime`] of numbers of `limbs` limbs.
    pub(crate) fn working_words<K: LaneKernel>(&self, limbs: usize) -> usize {
        match self {
            Self::Sparse(_) => 2 * K::words(limbs) + K::working_words(limbs),
            Self::Dense(digits) => digits.windows.working_words::<K>(limbs),
        }
    }

    /// The exponent as it lies in memory.
    pub(crate) fn pass_fault(&mut self, place: Place) {
        match self {
            Self::Sparse(e) => fault::pass(place, e),
            Self::Dense(digits) => digits.pass_fault(place),
        }
    }

    /// Copies the exponent of a lane of `from`. Sparse ones are the same in all.
    pub(crate) fn copy_lane(&mut self, lane: usize, from: &Self, from_lane: usize) {
        match (self, from) {
            (Self::Sparse(to), Self::Sparse(from)) => assert_eq!(to, from),
            (Self::Dense(to), Self::Dense(from)) => to.copy_lane(lane, from, from_lane),
            _ => unreachable!("exponents that are mixed are prepared alike"),
        }
    }
}

/// value = value^e in every lane, from plain to plain form, for values below n; the result is one that `store` reduces.
/// In variable time as to e alone.
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
            let power = Power {
                moduli,
                digits,
                value: &mut *value,
                working: &mut *working,
            };
            exp(kernel, [power]);
            kernel.leave(moduli, value, working);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mont64x1::Mont64x1;
    use crate::limbs::montgomery::Portable;
    use crate::limbs::{Modulus, Nat};
    use crate::model::{any_limbs, any_modulus, limbs, number};
    use num_bigint::BigUint;
    use proptest::prelude::*;

    /// base^exponent mod n by the fixed windows of `bits`-bit exponents.
    fn windowed<K: LaneKernel>(kernel: K, n: &Modulus, base: &[u64], exponent: &[u64], bits: usize) -> BigUint {
        let prepared = kernel.prepare(&vec![n; K::LANES]);
        let windows = Windows::new::<K>(n.limbs(), bits);
        let digits = Digits::new(&vec![exponent; K::LANES], windows);
        let mut value = vec![0; K::words(n.limbs())];
        let mut working = vec![0xbeef; windows.working_words::<K>(n.limbs())];
        (0..K::LANES).for_each(|lane| kernel.load(&prepared, lane, base, &mut value));
        kernel.enter(&prepared, &mut value, &mut working);
        let power = Power {
            moduli: &prepared,
            digits: &digits,
            value: &mut value,
            working: &mut working,
        };
        exp(kernel, [power]);
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
                windowed(Mont64x1::new(Portable), &modulus, &base, &exponent, bits),
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
            let kernel = Mont64x1::new(Portable);
            let base = limbs(&(number(&base) % &n), 3);
            let modulus = Modulus::new(&limbs(&n, 3), 190, 3);
            let prepared = kernel.prepare(&[&modulus]);
            let mut value = base.clone();
            let exponent = PublicExponent::new_vartime::<Mont64x1<Portable>>(&e, 3);
            let mut working = vec![0xbeef; exponent.working_words::<Mont64x1<Portable>>(3)];
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
                matches!(
                    PublicExponent::new_vartime::<Mont64x1<Portable>>(e, 3),
                    PublicExponent::Sparse(_)
                ),
                sparse,
                "{e:?}"
            );
        }
    }
}
