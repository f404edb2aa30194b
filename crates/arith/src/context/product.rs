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
