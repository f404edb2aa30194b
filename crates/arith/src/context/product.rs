//! The product of many numbers mod n, on public data.

use crate::limbs::aligned::Aligned;
use crate::limbs::{Modulus, words};
use crate::power::product::Product;
use crate::{CheckedPublicKey, Error, Kernel, Status, batch};

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
    product: Box<dyn Product>,
}

impl ProductContext {
    /// Prepares the modulus of a key.
    pub fn new(key: &CheckedPublicKey, kernel: Kernel) -> Self {
        let modulus = key.modulus();
        Self {
            kernel,
            product: kernel.product(&modulus),
            modulus,
        }
    }

    /// Length of n, and of each number, in bytes.
    pub fn modulus_len(&self) -> usize {
        self.modulus.bits().div_ceil(8)
    }

    /// The kernel that runs.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The product of no numbers, to which numbers are added by one thread.
    pub fn begin(&self) -> RunningProduct<'_> {
        let items = self.product.items();
        let mut state = Aligned::zero(self.product.state_words());
        self.product.begin(&mut state);
        RunningProduct {
            context: self,
            state,
            values: vec![0; items * self.modulus.limbs()],
            status: vec![Status::Done; items],
            count: 0,
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

/// A product of numbers that are still being added.
pub struct RunningProduct<'a> {
    context: &'a ProductContext,
    state: Aligned,
    values: Vec<u64>,
    status: Vec<Status>,
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
        let (len, limbs) = (context.modulus_len(), context.modulus.limbs());
        if !numbers.len().is_multiple_of(len) {
            return Err(Error::Length {
                what: "the numbers",
                expected: numbers.len().next_multiple_of(len),
                got: numbers.len(),
            });
        }
        for numbers in numbers.chunks(context.product.items() * len) {
            let count = numbers.len() / len;
            let (values, status) = (&mut self.values[..count * limbs], &mut self.status[..count]);
            batch::read(&context.modulus, numbers, values, status);
            if status.iter().any(|status| *status != Status::Done) {
                return Err(Error::OutOfRange {
                    what: "a number, which must be below the modulus,",
                });
            }
            context.product.take(values, &mut self.state);
            self.count += count as u64;
        }
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
