//! Secret random numbers that have inverses, for blinding: an inversion serves many of them.

use crate::declassify::declassify;
use crate::integer;
use crate::integer::safegcd::Inverter;
use crate::limbs::{Modulus, Nat, words};
use crate::{CheckedPublicKey, Error, Status, batch, random};
use zeroize::Zeroizing;

/// Draws after which a source that never gives anything of use is taken for broken. Of good draws half at least lie
/// below the modulus, and of these one in nine at least has an inverse, however many small factors the modulus has. So
/// so many fail in a row with a probability below 2^-160.
const MAX_DRAWS: usize = 1000;

/// Random numbers below a modulus and their inverses, for one thread that works elsewhere than on this CPU's kernels.
/// Wiped on drop.
pub struct Invertible {
    modulus: Modulus,
    draws: Draws,
    working: Zeroizing<Vec<u64>>,
}

impl Invertible {
    /// Numbers below n that one inversion serves. More of them spread its price further: with so many, it is that of a
    /// product each.
    const TOGETHER: usize = 64;

    const OUT_OF_RANGE: Error = Error::OutOfRange {
        what: "a number, which must be below the modulus,",
    };

    /// For an odd modulus `n`, big-endian.
    ///
    /// # Errors
    /// [`Error::ModulusSize`], [`Error::EvenModulus`].
    pub fn new(n: &[u8]) -> Result<Self, Error> {
        Self::for_calls_of(n, Self::TOGETHER)
    }

    /// As [`new`](Self::new), where a call asks for `numbers` or fewer: what is drawn together, and thrown away if
    /// nobody asked for it, is no more than that.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn for_calls_of(n: &[u8], numbers: usize) -> Result<Self, Error> {
        let modulus = CheckedPublicKey::new(n, &[3])?.modulus();
        let together = numbers.clamp(1, Self::TOGETHER);
        Ok(Self {
            draws: Draws::new(&modulus, together),
            working: Zeroizing::new(vec![0; 3 * modulus.limbs()]),
            modulus,
        })
    }

    /// Length of n, and of each number, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    fn n(&self) -> Vec<u8> {
        let mut n = vec![0; self.modulus_len()];
        words::write_be(self.modulus.n(), &mut n);
        n
    }

    /// Fills both buffers with big-endian numbers of [`modulus_len`](Self::modulus_len) bytes: uniform ones below n
    /// that have inverses, and the inverses. Constant time but for the rejection of what is too large.
    ///
    /// # Errors
    /// [`Error::Length`] unless the buffers hold equally many whole numbers; [`Error::Randomness`].
    pub fn draw(&mut self, numbers: &mut [u8], inverses: &mut [u8]) -> Result<(), Error> {
        let len = self.modulus_len();
        let status = vec![Status::Done; numbers.len() / len];
        batch::check_layout(len, numbers, inverses, &status)?;
        let together = self.draws.numbers.len();
        for (numbers, inverses) in numbers
            .chunks_mut(together * len)
            .zip(inverses.chunks_mut(together * len))
        {
            self.draws.renew(&self.modulus, &mut self.working)?;
            for (lane, (number, inverse)) in numbers
                .chunks_exact_mut(len)
                .zip(inverses.chunks_exact_mut(len))
                .enumerate()
            {
                words::write_be(self.draws.number(lane), number);
                words::write_be(self.draws.inverse(lane), inverse);
            }
        }
        Ok(())
    }

    /// a = a b mod n, number by number. Both buffers hold big-endian numbers of [`modulus_len`](Self::modulus_len)
    /// bytes below n. Constant time in the numbers.
    ///
    /// # Errors
    /// [`Error::Length`] unless the buffers hold equally many whole numbers; [`Error::OutOfRange`] if one is not below
    /// n, where nothing is multiplied.
    pub fn multiply(&mut self, a: &mut [u8], b: &[u8]) -> Result<(), Error> {
        let len = self.modulus_len();
        let status = vec![Status::Done; a.len() / len];
        batch::check_layout(len, a, b, &status)?;
        let limbs = self.modulus.limbs();
        let (mut x, mut y) = (Nat::zero(limbs), Nat::zero(limbs));
        for number in a.chunks_exact(len).chain(b.chunks_exact(len)) {
            words::read_be(&mut x, number);
            if !declassify(words::is_less(&x, self.modulus.n())) {
                return Err(Self::OUT_OF_RANGE);
            }
        }
        for (a, b) in a.chunks_exact_mut(len).zip(b.chunks_exact(len)) {
            words::read_be(&mut x, a);
            words::read_be(&mut y, b);
            // a b / R, and that times R^2, divided by R again.
            self.modulus.mul_reduced(&mut x, &y, &mut self.working);
            self.modulus.mul_reduced(&mut x, self.modulus.rr(), &mut self.working);
            words::write_be(&x, a);
        }
        Ok(())
    }

    /// `true` if no number shares a factor with n. The buffer is as for [`multiply`](Self::multiply). Constant time
    /// in the numbers: one gcd, of n and the product of all.
    ///
    /// # Errors
    /// As for [`multiply`](Self::multiply).
    pub fn are_coprime(&mut self, numbers: &[u8]) -> Result<bool, Error> {
        let len = self.modulus_len();
        let Some((first, rest)) = numbers.split_at_checked(len) else {
            return match numbers.len() {
                0 => Ok(true),
                got => Err(Error::Length {
                    what: "a number",
                    expected: len,
                    got,
                }),
            };
        };
        let mut product = Zeroizing::new(first.to_vec());
        if !integer::is_less(first, &self.n()) {
            return Err(Self::OUT_OF_RANGE);
        }
        // The last may be cut short, which `multiply` refuses.
        for number in rest.chunks(len) {
            self.multiply(&mut product, number)?;
        }
        let divisor = integer::gcd(&product, &self.n());
        Ok(declassify(words::is_word(&Nat::from_be(&divisor), 1)))
    }
}

/// Fills bytes with random ones.
type Source = fn(&mut [u8]) -> Result<(), Error>;

/// The error of a source whose numbers are never of use.
fn stuck() -> Error {
    Error::Randomness("many numbers in a row were of no use; they do not seem to be random".to_owned())
}

/// A number for each lane, and its inverse. Wiped on drop.
pub(crate) struct Draws {
    inverter: Inverter,
    numbers: Vec<Nat>,
    /// First the products from the first number to each, with a Montgomery reduction between factors; then the
    /// inverses.
    products: Vec<Nat>,
    bytes: Zeroizing<Vec<u8>>,
}

impl Draws {
    /// Room for as many numbers as there are lanes.
    pub(crate) fn new(modulus: &Modulus, lanes: usize) -> Self {
        let limbs = modulus.limbs();
        Self {
            inverter: Inverter::new(limbs),
            numbers: vec![Nat::zero(limbs); lanes],
            products: vec![Nat::zero(limbs); lanes],
            bytes: Zeroizing::new(vec![0; modulus.bits().div_ceil(8)]),
        }
    }

    /// The number of a lane.
    pub(crate) fn number(&self, lane: usize) -> &[u64] {
        &self.numbers[lane]
    }

    /// Its inverse.
    pub(crate) fn inverse(&self, lane: usize) -> &[u64] {
        &self.products[lane]
    }

    /// Draws a number that has an inverse for every lane. `t` holds 3 N limbs.
    pub(crate) fn renew(&mut self, modulus: &Modulus, t: &mut [u64]) -> Result<(), Error> {
        self.renew_from(random::fill, modulus, t)
    }

    /// As [`renew`](Self::renew), of random bytes from `source`.
    fn renew_from(&mut self, source: Source, modulus: &Modulus, t: &mut [u64]) -> Result<(), Error> {
        let lanes = self.numbers.len();
        for lane in 0..lanes {
            self.draw(source, modulus, lane)?;
        }
        if self.invert_all(modulus, t) {
            return Ok(());
        }
        // One of them has none. With two large primes that does not happen; a modulus with small factors, which nobody
        // should have, must not keep us drawing until all at once are coprime to it.
        (0..lanes).try_for_each(|lane| self.invert_one(source, modulus, lane))
    }

    /// Leaves the inverse of a lane's number in `products`, if need be of another number.
    fn invert_one(&mut self, source: Source, modulus: &Modulus, lane: usize) -> Result<(), Error> {
        for _ in 0..MAX_DRAWS {
            self.products[lane].copy_from_slice(&self.numbers[lane]);
            if self.inverter.invert(&mut self.products[lane], modulus.n()) {
                return Ok(());
            }
            self.draw(source, modulus, lane)?;
        }
        Err(stuck())
    }

    /// A uniform number below n for one lane, by rejection.
    fn draw(&mut self, source: Source, modulus: &Modulus, lane: usize) -> Result<(), Error> {
        for _ in 0..MAX_DRAWS {
            source(&mut self.bytes)?;
            self.bytes[0] &= 0xff >> (8 * self.bytes.len() - modulus.bits());
            words::read_be(&mut self.numbers[lane], &self.bytes);
            if declassify(words::is_less(&self.numbers[lane], modulus.n())) {
                return Ok(());
            }
        }
        Err(stuck())
    }

    /// Leaves the inverse of each number in `products`, at the price of one inversion for all (Montgomery 1987); false
    /// if one has none. `t` holds 3 N limbs.
    fn invert_all(&mut self, modulus: &Modulus, t: &mut [u64]) -> bool {
        let (numbers, products) = (&self.numbers, &mut self.products);
        products[0].copy_from_slice(&numbers[0]);
        for lane in 1..numbers.len() {
            let (before, this) = products.split_at_mut(lane);
            this[0].copy_from_slice(&before[lane - 1]);
            modulus.mul_reduced(&mut this[0], &numbers[lane], t);
        }
        let last = numbers.len() - 1;
        if !self.inverter.invert(&mut products[last], modulus.n()) {
            return false;
        }
        // With c the product up to a lane: 1 / c, times the product before, is the lane's inverse; times the number, it
        // is 1 / c of the lane before. Each reduction divides by R what the one on the way up had left out.
        for lane in (1..numbers.len()).rev() {
            let (before, this) = products.split_at_mut(lane);
            let (before, inverse) = (&mut before[lane - 1], &mut this[0]);
            // Both factors are needed for both products.
            let (saved, t) = t.split_at_mut(before.len());
            saved.copy_from_slice(inverse);
            modulus.mul_reduced(inverse, before, t);
            before.copy_from_slice(saved);
            modulus.mul_reduced(before, &numbers[lane], t);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::power_of_two;
    use num_bigint::BigUint;

    fn check(n: &BigUint, count: usize) {
        let mut source = Invertible::new(&n.to_bytes_be()).unwrap();
        let len = source.modulus_len();
        let (mut numbers, mut inverses) = (vec![0; count * len], vec![0; count * len]);
        source.draw(&mut numbers, &mut inverses).unwrap();
        let mut seen = Vec::new();
        for (number, inverse) in numbers.chunks(len).zip(inverses.chunks(len)) {
            let number = BigUint::from_bytes_be(number);
            let inverse = BigUint::from_bytes_be(inverse);
            assert!(number < *n && inverse < *n);
            assert_eq!(&number * inverse % n, BigUint::from(1u8));
            assert!(!seen.contains(&number));
            seen.push(number);
        }
        assert_eq!(seen.len(), count);
    }

    #[test]
    fn numbers_come_with_their_inverses() {
        let prime = power_of_two(521) - 1u8;
        for count in [0, 1, 63, 64, 65, 150] {
            check(&prime, count);
        }
        // Calls that ask for more than was said.
        let mut source = Invertible::for_calls_of(&prime.to_bytes_be(), 2).unwrap();
        let len = source.modulus_len();
        let (mut numbers, mut inverses) = (vec![0; 5 * len], vec![0; 5 * len]);
        source.draw(&mut numbers, &mut inverses).unwrap();
        source.multiply(&mut numbers, &inverses).unwrap();
        assert!(
            numbers
                .chunks(len)
                .all(|product| *product == *[&vec![0; len - 1][..], &[1]].concat())
        );
        // A third of all numbers has no inverse.
        check(&(prime * 3u8), 70);
        // Nearly half of all draws of 513 bits are not below 2^512 + 1.
        check(&(power_of_two(512) + 1u8), 70);
    }

    #[test]
    fn a_source_that_gives_nothing_of_use_comes_to_an_end() {
        let prime = power_of_two(521) - 1u8;
        for lanes in [1, 3] {
            let mut source = Invertible::for_calls_of(&prime.to_bytes_be(), lanes).unwrap();
            // n itself, which is not below n; and 0, which has no inverse.
            let broken: [Source; 2] = [
                |bytes| {
                    bytes.fill(0xff);
                    Ok(())
                },
                |bytes| {
                    bytes.fill(0);
                    Ok(())
                },
            ];
            for broken in broken {
                let Invertible {
                    modulus,
                    draws,
                    working,
                } = &mut source;
                let refused = draws.renew_from(broken, modulus, working);
                assert!(matches!(refused, Err(Error::Randomness(_))), "{refused:?}");
            }
        }
    }

    #[test]
    fn products_are_those_of_the_model() {
        let n = power_of_two(521) - 1u8;
        let numbers = [
            BigUint::ZERO,
            BigUint::from(1u8),
            BigUint::from(2u8),
            &n - 1u8,
            &n - 2u8,
            power_of_two(520),
            power_of_two(512) - 1u8,
            &n / 3u8,
        ];
        let mut source = Invertible::for_calls_of(&n.to_bytes_be(), 1).unwrap();
        let len = source.modulus_len();
        let fixed = |number: &BigUint| {
            let bytes = number.to_bytes_be();
            [vec![0; len - bytes.len()], bytes].concat()
        };
        for a in &numbers {
            let (mut left, mut right, mut expected) = (Vec::new(), Vec::new(), Vec::new());
            for b in &numbers {
                left.extend(fixed(a));
                right.extend(fixed(b));
                expected.extend(fixed(&(a * b % &n)));
            }
            source.multiply(&mut left, &right).unwrap();
            assert_eq!(left, expected, "{a}");
        }
        for wrong in [n.clone(), &n + 1u8] {
            let (mut one, wrong) = (fixed(&BigUint::from(1u8)), fixed(&wrong));
            let untouched = one.clone();
            assert_eq!(source.multiply(&mut one, &wrong), Err(Invertible::OUT_OF_RANGE));
            assert_eq!(source.multiply(&mut wrong.clone(), &one), Err(Invertible::OUT_OF_RANGE));
            assert_eq!(source.are_coprime(&wrong), Err(Invertible::OUT_OF_RANGE));
            assert_eq!(one, untouched);
        }
        let one = fixed(&BigUint::from(1u8));
        assert!(source.multiply(&mut one[1..].to_vec(), &one).is_err());
        assert!(source.multiply(&mut one.clone(), &[]).is_err());
    }

    #[test]
    fn a_common_factor_of_any_number_is_found() {
        let n = (power_of_two(521) - 1u8) * 3u8;
        let mut source = Invertible::new(&n.to_bytes_be()).unwrap();
        let len = source.modulus_len();
        let all = |numbers: &[u64]| -> Vec<u8> {
            let fixed = |number: &u64| [&vec![0; len - 8][..], &number.to_be_bytes()].concat();
            numbers.iter().flat_map(fixed).collect()
        };
        for (numbers, coprime) in [
            (&[][..], true),
            (&[1], true),
            (&[0], false),
            (&[3], false),
            (&[5, 7, 1 << 63], true),
            (&[5, 7, 9], false),
            (&[9, 7, 5], false),
            (&[2, 0, 2], false),
        ] {
            assert_eq!(source.are_coprime(&all(numbers)), Ok(coprime), "{numbers:?}");
        }
        for len in [1, len - 1, len + 1, 2 * len - 1] {
            let refused = source.are_coprime(&vec![0; len]);
            assert!(matches!(refused, Err(Error::Length { .. })), "{len}");
        }
    }

    /// Hardly eight numbers in a row are coprime to such a modulus: each is drawn by itself then.
    #[test]
    fn small_factors_do_not_keep_us_drawing() {
        let mut n = BigUint::from(1u8);
        for factor in (3u32..).step_by(2) {
            if n.bits() > 520 {
                break;
            }
            n *= factor;
        }
        check(&n, 70);
    }

    #[test]
    fn buffers_hold_whole_numbers() {
        let n = power_of_two(521) - 1u8;
        let mut source = Invertible::new(&n.to_bytes_be()).unwrap();
        let len = source.modulus_len();
        for (numbers, inverses) in [(len - 1, len - 1), (len, 0), (0, len), (len + 1, len + 1)] {
            let drawn = source.draw(&mut vec![0; numbers], &mut vec![0; inverses]);
            assert!(matches!(drawn, Err(Error::Length { .. })), "{numbers} {inverses}");
        }
    }
}
