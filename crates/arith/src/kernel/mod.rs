//! Montgomery kernels: the trait that all implement, and a folder or a file for each algorithm, named
//! operation-digits-lanes. Their forms for instruction sets are in `x86_64` and `aarch64`; `table.rs` has a row for
//! each kernel there is.

#[cfg(target_arch = "aarch64")]
pub(crate) mod aarch64;
mod digits52;
pub(crate) mod doubles;
pub(crate) mod lanes;
pub(crate) mod mont47;
pub(crate) mod mont47x2;
pub(crate) mod mont52x2;
pub(crate) mod mont52x8;
pub(crate) mod mont64x1;
mod table;
pub(crate) mod tens;
mod vec8;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

use crate::limbs::{Modulus, Nat, words};
use std::ptr;
pub(crate) use table::for_each_kernel;

/// A fixed-window exponentiation: for each window, square `value` `width` times, then multiply it by `table[digit]`,
/// lane by lane. `digits` holds one digit for each lane and window; `selected` is room for the entry that was looked
/// up.
pub(crate) struct FixedWindow<'a, M> {
    pub(crate) moduli: &'a M,
    pub(crate) value: &'a mut [u64],
    pub(crate) table: &'a mut [u64],
    pub(crate) digits: &'a [u8],
    pub(crate) selected: &'a mut [u64],
    pub(crate) working: &'a mut [u64],
}

/// A table of the powers of `value` from 0 up, as many as there are entries.
pub(crate) struct Table<'a, M> {
    pub(crate) moduli: &'a M,
    pub(crate) value: &'a [u64],
    pub(crate) table: &'a mut [u64],
    pub(crate) working: &'a mut [u64],
}

/// Fills one table by a kernel's other functions.
pub(crate) fn fill_table<K: LaneKernel>(kernel: K, table: Table<'_, K::Moduli>) {
    let Table {
        moduli,
        value,
        table,
        working,
    } = table;
    let words = value.len();
    kernel.one(moduli, &mut table[..words]);
    table[words..2 * words].copy_from_slice(value);
    for entry in 2..table.len() / words {
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
}

/// A power of two: for each step, square `value`, then double it in the lanes whose bit is set. `bits` holds one bit
/// for each lane and step.
pub(crate) struct Doublings<'a, M> {
    pub(crate) moduli: &'a M,
    pub(crate) value: &'a mut [u64],
    pub(crate) bits: &'a [u8],
    pub(crate) working: &'a mut [u64],
}

/// Takes one power by a kernel's other functions.
pub(crate) fn exp_fixed_window<K: LaneKernel>(kernel: K, power: FixedWindow<'_, K::Moduli>, width: usize) {
    let FixedWindow {
        moduli,
        value,
        table,
        digits,
        selected,
        working,
    } = power;
    for window in digits.chunks_exact(K::LANES) {
        kernel.select(table, window, selected);
        kernel.sqr_mul(moduli, value, width, selected, working);
    }
}

/// Montgomery arithmetic on [`LANES`](Self::LANES) independent numbers at once, each under its own modulus, all of one
/// public length.
///
/// A *value* is a slice of [`words`](Self::words) words in the kernel's own layout, holding one number below R in each
/// lane. Multiplication is *almost* Montgomery (Gueron, "Efficient software implementations of modular
/// exponentiation", 2012): factors below R give a result below R, congruent to a b / R, not always below n. Only
/// [`store`](Self::store) reduces fully. The type itself is the proof that this CPU can run it.
pub(crate) trait LaneKernel: Copy + Send + Sync + 'static {
    /// Independent numbers in one value.
    const LANES: usize;
    /// The moduli of all lanes, prepared.
    type Moduli: Clone + Send + Sync;

    /// The number of powers of `limbs` limbs that [`exp_fixed_window`](Self::exp_fixed_window) is best given together,
    /// 1 or 2.
    fn streams(_limbs: usize) -> usize {
        1
    }
    /// Words of a value whose numbers have `limbs` limbs.
    fn words(limbs: usize) -> usize;
    /// The window width that is fastest for exponents of `bits` bits: more squarings share a multiplication with a
    /// larger one, but its table must be made, and read as a whole for each digit.
    fn window_width(_limbs: usize, bits: usize) -> usize {
        window_width(bits)
    }
    /// Words of working memory that multiplication needs.
    fn working_words(limbs: usize) -> usize;
    /// Room for moduli of `limbs` limbs in all lanes.
    fn moduli(self, limbs: usize) -> Self::Moduli;
    /// Prepares the modulus of one lane.
    fn set_modulus(self, moduli: &mut Self::Moduli, lane: usize, modulus: &Modulus);
    /// From now on, results of the first `lanes` lanes alone are wanted under these moduli.
    fn set_active_lanes(self, _moduli: &mut Self::Moduli, _lanes: usize) {}
    /// Copies the modulus of a lane of `from` into a lane of `to`; both have equally many limbs.
    fn copy_modulus(self, to: &mut Self::Moduli, lane: usize, from: &Self::Moduli, from_lane: usize);
    /// Visits the constants of prepared moduli as they lie in memory.
    #[cfg(feature = "faults")]
    fn for_each_constant(self, moduli: &mut Self::Moduli, visit: &mut dyn FnMut(&mut [u64]));
    /// Copies a lane of a value as it is.
    fn copy_lane(self, to: &mut [u64], lane: usize, from: &[u64], from_lane: usize) {
        let words = to.iter_mut().skip(lane).step_by(Self::LANES);
        for (to, from) in words.zip(from.iter().skip(from_lane).step_by(Self::LANES)) {
            *to = *from;
        }
    }
    /// Prepares one modulus for each lane; they have equally many limbs. What is in several lanes is prepared once.
    fn prepare(self, moduli: &[&Modulus]) -> Self::Moduli {
        assert_eq!(moduli.len(), Self::LANES);
        let mut prepared = self.moduli(moduli[0].limbs());
        let first = |modulus: &Modulus| moduli.iter().position(|&first| ptr::eq(first, modulus));
        let firsts: Vec<_> = moduli.iter().filter_map(|modulus| first(modulus)).collect();
        for (lane, modulus) in moduli.iter().enumerate() {
            if firsts[lane] == lane {
                self.set_modulus(&mut prepared, lane, modulus);
            }
        }
        if firsts.iter().enumerate().any(|(lane, &first)| first < lane) {
            let set = prepared.clone();
            for (lane, &first) in firsts.iter().enumerate() {
                self.copy_modulus(&mut prepared, lane, &set, first);
            }
        }
        prepared
    }
    /// Puts a number of plain limbs into a lane; missing limbs are zero.
    fn load(self, moduli: &Self::Moduli, lane: usize, limbs: &[u64], value: &mut [u64]);
    /// Puts a public number, big-endian, into a lane, in a time that depends on its length. `limbs` is room for it.
    fn load_bytes(self, moduli: &Self::Moduli, lane: usize, bytes: &[u8], limbs: &mut [u64], value: &mut [u64]) {
        words::read_be(limbs, bytes);
        self.load(moduli, lane, limbs, value);
    }
    /// [`load_bytes`](Self::load_bytes), for a lane that has a number which differs in its last `changed` bytes alone.
    fn load_ending(
        self,
        moduli: &Self::Moduli,
        lane: usize,
        bytes: &[u8],
        _changed: usize,
        limbs: &mut [u64],
        value: &mut [u64],
    ) {
        self.load_bytes(moduli, lane, bytes, limbs, value);
    }
    /// Takes the number of a lane out, reduced.
    fn store(self, moduli: &Self::Moduli, lane: usize, value: &[u64], limbs: &mut [u64]);
    /// Takes the public number of a lane out, reduced and big-endian, in a time that depends on it. `limbs` is room for
    /// it.
    fn store_bytes_vartime(
        self,
        moduli: &Self::Moduli,
        lane: usize,
        value: &[u64],
        limbs: &mut [u64],
        bytes: &mut [u8],
    ) {
        self.store(moduli, lane, value, limbs);
        words::write_be(limbs, bytes);
    }
    /// The value 1, in Montgomery form.
    fn one(self, moduli: &Self::Moduli, value: &mut [u64]);
    /// a = a R mod n: enters Montgomery form.
    fn enter(self, moduli: &Self::Moduli, a: &mut [u64], working: &mut [u64]);
    /// low = (low + 2^(64 N) high) R mod n for two values of N limbs: reduces, and enters Montgomery form. `high` is
    /// overwritten.
    fn enter_wide(self, moduli: &Self::Moduli, low: &mut [u64], high: &mut [u64], working: &mut [u64]);
    /// a = a / R mod n, a residue that [`store`](Self::store) reduces: leaves Montgomery form.
    fn leave(self, moduli: &Self::Moduli, a: &mut [u64], working: &mut [u64]);
    /// a = a b / R mod n.
    fn mul(self, moduli: &Self::Moduli, a: &mut [u64], b: &[u64], working: &mut [u64]);
    /// a = a^2 / R mod n, `times` times over.
    fn sqr(self, moduli: &Self::Moduli, a: &mut [u64], times: usize, working: &mut [u64]);
    /// [`sqr`](Self::sqr), `times` times over, and then [`mul`](Self::mul).
    fn sqr_mul(self, moduli: &Self::Moduli, a: &mut [u64], times: usize, b: &[u64], working: &mut [u64]) {
        self.sqr(moduli, a, times, working);
        self.mul(moduli, a, b, working);
    }
    /// Looks entry `digits[lane]` of the table up for each lane, reading all of it. Entries are whole values.
    fn select(self, table: &[u64], digits: &[u8], value: &mut [u64]);
    /// Bits of R for numbers of `limbs` limbs: R is two to this power.
    fn r_bits(limbs: usize) -> usize;
    /// `true` if [`square_and_double`](Self::square_and_double) can serve moduli of exactly `bits` bits in `limbs`
    /// limbs.
    fn can_double(limbs: usize, bits: usize) -> bool;
    /// Prepares one modulus of `bits` bits for each lane, for [`square_and_double`](Self::square_and_double),
    /// [`leave`](Self::leave) and [`store`](Self::store) and for nothing else: what it takes to enter Montgomery form
    /// costs more, and is left as it was.
    fn set_moduli_to_square(self, moduli: &mut Self::Moduli, n: &[Nat], bits: usize, working: &mut [u64]);
    /// Prepares one modulus for each lane, the shortest of `least_bits` bits, for everything but
    /// [`enter_wide`](Self::enter_wide).
    fn set_moduli_for_powers(self, moduli: &mut Self::Moduli, n: &[Nat], least_bits: usize, working: &mut [u64]);
    /// value = 2^bit value^2 / R mod n, for one step after the other; powers of one length interleaved, as many steps
    /// each. Values may be below 2^(r_bits) and 5 n.
    fn square_and_double<const STREAMS: usize>(self, powers: [Doublings<'_, Self::Moduli>; STREAMS]);
    /// Fills tables for powers of one length that are taken interleaved.
    fn fill_tables<const STREAMS: usize>(self, tables: [Table<'_, Self::Moduli>; STREAMS]) {
        for table in tables {
            fill_table(self, table);
        }
    }
    /// Takes powers of one length interleaved, with windows of `width` bits.
    fn exp_fixed_window<const STREAMS: usize>(self, powers: [FixedWindow<'_, Self::Moduli>; STREAMS], width: usize) {
        for power in powers {
            exp_fixed_window(self, power, width);
        }
    }
}

/// The window width that makes multiplications and table look-ups fewest for an exponent of `bits` bits.
pub(crate) fn window_width(bits: usize) -> usize {
    match bits {
        0..=32 => 2,
        33..=128 => 3,
        129..=384 => 4,
        385..=1536 => 5,
        _ => 6,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::model::{any_limbs, any_modulus, limbs, number, over_r};
    use num_bigint::BigUint;
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    /// 1 to 38 limbs, and three more lengths.
    pub(crate) const fn up_to_38_limbs([a, b, c]: [usize; 3]) -> [usize; 41] {
        let mut lengths = [0; 41];
        let mut i = 0;
        while i < 38 {
            lengths[i] = i + 1;
            i += 1;
        }
        [lengths[38], lengths[39], lengths[40]] = [a, b, c];
        lengths
    }

    /// Checks what every kernel must do, for moduli of `bits` bits in `len` limbs. Values enter as any number below R.
    pub(crate) fn agrees_with_the_model<K: LaneKernel>(kernel: K, bits: usize, len: usize, cases: u32) {
        let lanes = || prop::collection::vec((any_modulus(bits), any_limbs(len), any_limbs(len)), K::LANES);
        let mut runner = TestRunner::new(Config {
            cases,
            failure_persistence: None,
            ..Config::default()
        });
        runner
            .run(&(lanes(), 1usize..4), |(lanes, times)| {
                let moduli: Vec<Modulus> = lanes
                    .iter()
                    .map(|(n, ..)| Modulus::new(&limbs(n, len), bits, len))
                    .collect();
                let prepared = kernel.prepare(&moduli.iter().collect::<Vec<_>>());
                let value = || vec![0xdead; K::words(len)];
                let mut working = vec![0xbeef; K::working_words(len)];
                let (mut a, mut b) = (value(), value());
                for (lane, (_, x, y)) in lanes.iter().enumerate() {
                    kernel.load(&prepared, lane, x, &mut a);
                    kernel.load(&prepared, lane, y, &mut b);
                }
                let mut from_bytes = value();
                from_bytes.fill(0);
                for (lane, (_, x, _)) in lanes.iter().enumerate() {
                    let bytes: Vec<u8> = x.iter().rev().flat_map(|limb| limb.to_be_bytes()).collect();
                    kernel.load_bytes(&prepared, lane, &bytes, &mut vec![0; len], &mut from_bytes);
                    let mut from_limbs = value();
                    from_limbs.copy_from_slice(&from_bytes);
                    kernel.load(&prepared, lane, x, &mut from_limbs);
                    prop_assert_eq!(&from_bytes, &from_limbs, "a number loaded from bytes");
                }
                // In plain form, whatever R is: leave(enter(a) enter(b)) = a b.
                let expect = |value: &[u64], what: &str, expected: &dyn Fn(&BigUint, &BigUint) -> BigUint| {
                    for (lane, (n, x, y)) in lanes.iter().enumerate() {
                        let mut stored = Nat::zero(len);
                        kernel.store(&prepared, lane, value, &mut stored);
                        prop_assert_eq!(number(&stored), expected(&number(x), &number(y)) % n, "{}", what);
                        let mut bytes = vec![0xa5; bits.div_ceil(8)];
                        kernel.store_bytes_vartime(&prepared, lane, value, &mut vec![0; len], &mut bytes);
                        prop_assert_eq!(BigUint::from_bytes_be(&bytes), number(&stored), "bytes of {}", what);
                    }
                    Ok(())
                };
                kernel.enter(&prepared, &mut a, &mut working);
                kernel.enter(&prepared, &mut b, &mut working);
                let mut left = a.clone();
                kernel.leave(&prepared, &mut left, &mut working);
                expect(&left, "leave after enter", &|x, _| x.clone())?;
                let mut product = a.clone();
                kernel.mul(&prepared, &mut product, &b, &mut working);
                kernel.leave(&prepared, &mut product, &mut working);
                expect(&product, "product", &|x, y| x * y)?;
                let mut power = a.clone();
                kernel.sqr(&prepared, &mut power, times, &mut working);
                kernel.leave(&prepared, &mut power, &mut working);
                expect(&power, "squares", &|x, _| (0..times).fold(x.clone(), |x, _| &x * &x))?;
                let mut both = a.clone();
                kernel.sqr_mul(&prepared, &mut both, times, &b, &mut working);
                kernel.leave(&prepared, &mut both, &mut working);
                expect(&both, "squares and a product", &|x, y| {
                    (0..times).fold(x.clone(), |x, _| &x * &x) * y
                })?;
                let mut one = value();
                kernel.one(&prepared, &mut one);
                kernel.mul(&prepared, &mut one, &a, &mut working);
                kernel.leave(&prepared, &mut one, &mut working);
                expect(&one, "one", &|x, _| x.clone())
            })
            .unwrap();
    }

    /// Each lane takes its own entry, from tables of any size.
    pub(crate) fn selects<K: LaneKernel>(kernel: K, len: usize) {
        let n = Modulus::new(&vec![u64::MAX; len], 64 * len, len);
        let prepared = kernel.prepare(&vec![&n; K::LANES]);
        let words = K::words(len);
        for entries in [4, 8, 16, 32, 64] {
            let mut table = vec![0; entries * words];
            let content = |entry: usize, lane: usize| vec![(1 + entry * K::LANES + lane) as u64; len];
            for entry in 0..entries {
                for lane in 0..K::LANES {
                    kernel.load(
                        &prepared,
                        lane,
                        &content(entry, lane),
                        &mut table[entry * words..][..words],
                    );
                }
            }
            for first in 0..entries {
                let digits: Vec<u8> = (0..K::LANES).map(|lane| ((first + 7 * lane) % entries) as u8).collect();
                let mut value = vec![0xdead; words];
                kernel.select(&table, &digits, &mut value);
                for (lane, &digit) in digits.iter().enumerate() {
                    let mut stored = Nat::zero(len);
                    kernel.store(&prepared, lane, &value, &mut stored);
                    assert_eq!(stored[..], content(usize::from(digit), lane)[..]);
                }
            }
        }
    }

    #[test]
    fn the_models_r_is_the_one_of_64_bit_digits() {
        let n = BigUint::from(1_000_003u32);
        assert_eq!(over_r(&(BigUint::from(1u8) << 128), &n, 2), BigUint::from(1u8));
    }
}
