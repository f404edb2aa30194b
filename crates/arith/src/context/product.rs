//! The product of many numbers mod n, on public data.

use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, words};
use crate::power::product::Product;
use crate::{CheckedPublicKey, Error, Kernel};

/// A modulus n, prepared for products with one kernel. Shared by any number of threads.
///
/// ```
/// use rsalab_arith::{CheckedPublicKey, Kernel, ProductContext};
///
/// let n = [0xff; 64];
/// let products = ProductContext::new(&CheckedPublicKey::new(&n, &[3])?, Kernel::auto());
/// let number = |value: u8| [&[0; 63][..], &[value]].concat();
/// let product = products.product_vartime(&[number(2), number(3), number(7)].concat())?;
/// assert_eq!(product, number(42));
/// # Ok::<(), rsalab_arith::Error>(())
/// ```
pub struct ProductContext {
    kernel: Kernel,
    modulus: Modulus,
    /// The modulus, as numbers are written.
    n: Vec<u8>,
    product: Box<dyn Product>,
}

impl ProductContext {
    /// Prepares the modulus of a key.
    pub fn new(key: &CheckedPublicKey, kernel: Kernel) -> Self {
        let modulus = key.modulus();
        let mut n = vec![0; modulus.bits().div_ceil(8)];
        words::write_be(modulus.n(), &mut n);
        Self {
            kernel,
            product: kernel.product(&modulus),
            modulus,
            n,
        }
    }

    /// Length of n, and of each number, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.n.len()
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The product of no numbers, to which numbers are added by one thread.
    pub fn begin(&self) -> RunningProduct<'_> {
        let mut state = Aligned::zero(self.product.state_words());
        self.product.begin(&mut state);
        RunningProduct {
            context: self,
            state,
            number: vec![0; self.modulus_len()],
            count: 0,
        }
    }

    /// Refuses numbers that are not below n.
    fn check(&self, number: &[u8]) -> Result<(), Error> {
        match number < &self.n[..] {
            true => Ok(()),
            false => Err(Error::OutOfRange {
                what: "a number, which must be below the modulus,",
            }),
        }
    }

    /// The product mod n of big-endian numbers of [`modulus_len`](Self::modulus_len) bytes each, in time that depends
    /// on how many there are; 1 of none.
    ///
    /// # Errors
    /// As for [`RunningProduct::add_vartime`].
    pub fn product_vartime(&self, numbers: &[u8]) -> Result<Vec<u8>, Error> {
        let mut product = self.begin();
        product.add_vartime(numbers)?;
        Ok(product.finish())
    }
}

/// Refuses anything but whole numbers of `len` bytes.
fn check_whole(numbers: &[u8], len: usize) -> Result<(), Error> {
    match numbers.len().is_multiple_of(len) {
        true => Ok(()),
        false => Err(Error::Length {
            what: "the numbers",
            expected: numbers.len().next_multiple_of(len),
            got: numbers.len(),
        }),
    }
}

/// A product of numbers that are still being added.
pub struct RunningProduct<'a> {
    context: &'a ProductContext,
    state: Aligned,
    /// Room for a number.
    number: Vec<u8>,
    count: u64,
}

impl RunningProduct<'_> {
    /// Multiplies by big-endian numbers of [`modulus_len`](ProductContext::modulus_len) bytes each. Multiples of the
    /// kernel's [lanes](Kernel::lanes) are the fastest.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are whole numbers; [`Error::OutOfRange`] if one is not below n: those before it
    /// may be factors then.
    pub fn add_vartime(&mut self, numbers: &[u8]) -> Result<(), Error> {
        let RunningProduct { context, .. } = self;
        let len = context.modulus_len();
        check_whole(numbers, len)?;
        for numbers in numbers.chunks(context.product.items() * len) {
            numbers.chunks_exact(len).try_for_each(|number| context.check(number))?;
            context.product.take(numbers, len, &mut self.state);
            self.count += (numbers.len() / len) as u64;
        }
        Ok(())
    }

    /// Multiplies by numbers that begin alike, which is faster than [`add_vartime`](Self::add_vartime): by `beginning`
    /// followed by each of `endings`, which together have [`modulus_len`](ProductContext::modulus_len) bytes.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are whole endings; [`Error::OutOfRange`] if numbers that begin so need not be
    /// below n. The product is as it was then.
    pub fn add_alike_vartime(&mut self, beginning: &[u8], endings: &[u8]) -> Result<(), Error> {
        let RunningProduct { context, .. } = self;
        let len = match context.modulus_len().checked_sub(beginning.len()) {
            None | Some(0) => {
                return Err(Error::Length {
                    what: "the beginning",
                    expected: context.modulus_len() - 1,
                    got: beginning.len(),
                });
            }
            Some(len) => len,
        };
        check_whole(endings, len)?;
        let (head, tail) = self.number.split_at_mut(beginning.len());
        head.copy_from_slice(beginning);
        tail.fill(0xff);
        context.check(&self.number)?;
        let RunningProduct { number, state, .. } = self;
        context.product.take_alike(number, endings, len, state);
        self.count += (endings.len() / len) as u64;
        Ok(())
    }

    /// The product, as big-endian bytes of the modulus's length.
    pub fn finish(mut self) -> Vec<u8> {
        let RunningProduct { context, .. } = self;
        let mut product = vec![0; context.modulus.limbs()];
        context.product.finish(self.count, &mut self.state, &mut product);
        let mut bytes = vec![0; context.modulus_len()];
        words::write_be(&product, &mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    /// Numbers to compute with: a linear congruential generator (Knuth, MMIX).
    fn numbers(count: usize, len: usize, n: &BigUint) -> Vec<Vec<u8>> {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut number = || {
            let bytes: Vec<u8> = (0..len)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 56) as u8
                })
                .collect();
            padded(&(BigUint::from_bytes_be(&bytes) % n), len)
        };
        (0..count).map(|_| number()).collect()
    }

    fn padded(number: &BigUint, len: usize) -> Vec<u8> {
        let bytes = number.to_bytes_be();
        [vec![0; len - bytes.len()], bytes].concat()
    }

    #[test]
    fn products_are_those_of_the_model_on_every_kernel() {
        for info in crate::kernels().iter().filter(|info| info.available.is_ok()) {
            let kernel = Kernel::named(info.name).unwrap();
            for bits in [256, 520, 1024, 2048, 3072] {
                let len = bits / 8;
                let mut bytes = vec![0xa7; len];
                bytes[len - 1] |= 1;
                let n = BigUint::from_bytes_be(&bytes);
                let products = ProductContext::new(&CheckedPublicKey::new(&bytes, &[3]).unwrap(), kernel);
                for count in [0, 1, 2, 3, 7, 8, 9, 17, 40] {
                    let mut numbers = numbers(count, len, &n);
                    if count > 8 {
                        numbers[3] = padded(&(&n - 1_u8), len);
                        numbers[5] = padded(&BigUint::from(1_u8), len);
                    }
                    let one = BigUint::from(1_u8);
                    let model = numbers
                        .iter()
                        .fold(one, |all, one| all * BigUint::from_bytes_be(one) % &n);
                    let got = products.product_vartime(&numbers.concat()).unwrap();
                    assert_eq!(got, padded(&model, len), "{}, {bits} bits, {count}", info.name);
                }
                // Numbers that begin alike, with one that does not between them.
                for (ending, count) in [(1, 9), (8, 3), (20, 8), (len / 2, 25), (len - 1, 40), (len, 17)] {
                    let mut beginning = numbers(1, len, &n).concat();
                    beginning[0] = 0xa6;
                    beginning.truncate(len - ending);
                    let all = numbers(2 * count + 1, len, &n);
                    let whole = |number: &Vec<u8>| [&beginning[..], &number[len - ending..]].concat();
                    let parts = [&all[..count], &all[count + 1..]].map(|part| {
                        let endings: Vec<u8> = part.iter().flat_map(|it| it[len - ending..].to_vec()).collect();
                        let product = part.iter().fold(BigUint::from(1_u8), |all, number| {
                            all * BigUint::from_bytes_be(&whole(number)) % &n
                        });
                        (endings, product)
                    });
                    let mut running = products.begin();
                    if ending == len {
                        // Nothing is alike then, and they may be above n.
                        let refused = running.add_alike_vartime(&beginning, &parts[0].0);
                        assert!(matches!(refused, Err(Error::OutOfRange { .. })));
                        continue;
                    }
                    running.add_alike_vartime(&beginning, &parts[0].0).unwrap();
                    running.add_vartime(&all[count]).unwrap();
                    running.add_alike_vartime(&beginning, &parts[1].0).unwrap();
                    let model = &parts[0].1 * BigUint::from_bytes_be(&all[count]) * &parts[1].1 % &n;
                    assert_eq!(
                        running.finish(),
                        padded(&model, len),
                        "{}, {bits} bits, {ending}",
                        info.name
                    );
                }
                let refused = products.begin().add_alike_vartime(&[0xff], &vec![0; len - 1]);
                assert!(matches!(refused, Err(Error::OutOfRange { .. })));
                let refused = products.begin().add_alike_vartime(&vec![0; len], &[]);
                assert!(matches!(refused, Err(Error::Length { .. })));
                let refused = products.begin().add_alike_vartime(&vec![0; len - 2], &[0; 3]);
                assert!(matches!(refused, Err(Error::Length { .. })));
                let zero = [numbers(9, len, &n).concat(), vec![0; len]].concat();
                assert_eq!(products.product_vartime(&zero).unwrap(), vec![0; len], "{}", info.name);
                assert!(matches!(
                    products.product_vartime(&bytes),
                    Err(Error::OutOfRange { .. })
                ));
                assert!(matches!(
                    products.product_vartime(&bytes[1..]),
                    Err(Error::Length { .. })
                ));
            }
        }
    }
}
