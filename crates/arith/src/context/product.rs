//! The product of many numbers mod n, on public data.

use std::{hint::black_box, mem};

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
/// let numbers = [2, 3, 7].map(number);
/// let product = products.product_vartime(numbers.iter().map(|number| &number[..]))?;
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
        let mut state = Aligned::zero(self.product.state_words());
        self.product.begin(&mut state);
        RunningProduct {
            context: self,
            state,
            number: vec![0; self.modulus_len()],
            count: 0,
        }
    }

    /// Returns whether a big-endian number has [`modulus_len`](Self::modulus_len) bytes and is below n, in time that
    /// depends on it.
    pub fn is_factor_vartime(&self, number: &[u8]) -> bool {
        number.len() == self.modulus_len() && words::is_less_be_vartime(number, self.modulus.n())
    }

    /// Refuses what is no factor, and says why.
    fn check(&self, number: &[u8]) -> Result<(), Error> {
        match self.is_factor_vartime(number) {
            true => Ok(()),
            false if number.len() == self.modulus_len() => Err(Error::OutOfRange {
                what: "a number, which must be below the modulus,",
            }),
            false => Err(Error::Length {
                what: "a number",
                expected: self.modulus_len(),
                got: number.len(),
            }),
        }
    }

    /// The product mod n of big-endian numbers of [`modulus_len`](Self::modulus_len) bytes each, in time that depends
    /// on how many there are, and on the first bytes of each; 1 of none.
    ///
    /// # Errors
    /// As for [`RunningProduct::add_vartime`].
    pub fn product_vartime<'n>(&self, numbers: impl IntoIterator<Item = &'n [u8]>) -> Result<Vec<u8>, Error> {
        let mut product = self.begin();
        product.add_vartime(numbers)?;
        Ok(product.finish())
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
    /// [`Error::Length`] if a number has another length; [`Error::OutOfRange`] if one is not below n: those before it
    /// may be factors then.
    pub fn add_vartime<'n>(&mut self, numbers: impl IntoIterator<Item = &'n [u8]>) -> Result<(), Error> {
        let RunningProduct {
            context, state, count, ..
        } = self;
        in_groups(numbers, context.product.items(), |group| {
            group.iter().try_for_each(|number| context.check(number))?;
            context.product.take(group, state);
            *count += group.len() as u64;
            Ok(())
        })
    }

    /// Multiplies by numbers that begin alike, which is faster than [`add_vartime`](Self::add_vartime): by `beginning`
    /// followed by each of `endings`, which together have [`modulus_len`](ProductContext::modulus_len) bytes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if numbers that begin so need not be below n: the product is as it was then.
    /// [`Error::Length`] if an ending has another length: those before it may be factors then.
    pub fn add_alike_vartime<'n>(
        &mut self,
        beginning: &[u8],
        endings: impl IntoIterator<Item = &'n [u8]>,
    ) -> Result<(), Error> {
        let RunningProduct {
            context,
            state,
            number,
            count,
        } = self;
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
        let (head, tail) = number.split_at_mut(beginning.len());
        head.copy_from_slice(beginning);
        tail.fill(0xff);
        context.check(number)?;
        context.product.begin_alike(number, state);
        in_groups(endings, context.product.items(), |group| {
            if let Some(ending) = group.iter().find(|ending| ending.len() != len) {
                return Err(Error::Length {
                    what: "an ending",
                    expected: len,
                    got: ending.len(),
                });
            }
            context.product.take_endings(number, group, state);
            *count += group.len() as u64;
            Ok(())
        })
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

/// Calls `take` with `size` numbers at a time, the last time with what is left over. Numbers are looked at a group
/// ahead, so that memory brings them while others are multiplied.
fn in_groups<'n>(
    numbers: impl IntoIterator<Item = &'n [u8]>,
    size: usize,
    mut take: impl FnMut(&[&'n [u8]]) -> Result<(), Error>,
) -> Result<(), Error> {
    let [mut group, mut next] = [(); 2].map(|()| Vec::with_capacity(size));
    for number in numbers {
        touch(number);
        next.push(number);
        if next.len() == size {
            if !group.is_empty() {
                take(&group)?;
            }
            group.clear();
            mem::swap(&mut group, &mut next);
        }
    }
    let mut left = [group, next].into_iter().filter(|group| !group.is_empty());
    left.try_for_each(|group| take(&group))
}

/// Reads a byte of each line of the cache.
fn touch(number: &[u8]) {
    const LINE: usize = 64;
    black_box(number.iter().step_by(LINE).fold(0, |all, byte| all ^ byte));
}
