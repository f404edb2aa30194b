//! Products digit by digit, a whole number a row, by code that is written out for one length.

use super::layout::Words;
use crate::kernel::digits52;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK};
use crate::limbs::{LIMB_BITS, Modulus};
use std::marker::PhantomData;
use zeroize::Zeroizing;

/// Digits in a vector.
pub(crate) const VECTOR: usize = 8;

/// The arguments of the code for one length.
pub(crate) struct SquareAndMultiply<'a, const N: usize> {
    /// Each number's modulus, as [`put_modulus`] writes it.
    pub(crate) moduli: &'a [u64],
    pub(crate) a: &'a mut [Words<N>],
    /// The number of squarings.
    pub(crate) times: usize,
    pub(crate) b: Option<&'a [Words<N>]>,
    pub(crate) working: &'a mut [Words<N>],
}

/// The code for one length of N numbers.
pub(crate) trait Rows<const N: usize>: Copy {
    /// The proof that this CPU has the instructions.
    type Token;
    /// The code for numbers of `limbs` limbs, if there is any.
    fn of(limbs: usize) -> Option<Self>;
    /// R is 2^52 to this power, at least [`digits`] of the limbs.
    fn digits(self) -> usize;
    /// a = a^2 / R mod n, `times` times over, and then a = a b / R mod n if there is a b.
    fn square_and_multiply(self, token: Self::Token, operation: SquareAndMultiply<'_, N>);
}

/// No code for any length.
#[derive(Clone, Copy)]
pub(crate) enum NoRows<Token> {
    #[expect(dead_code, reason = "there is no such value")]
    Never(std::convert::Infallible, PhantomData<Token>),
}

impl<const N: usize, Token: Copy> Rows<N> for NoRows<Token> {
    type Token = Token;

    fn of(_limbs: usize) -> Option<Self> {
        None
    }

    fn digits(self) -> usize {
        match self {
            Self::Never(never, _) => match never {},
        }
    }

    fn square_and_multiply(self, _: Token, _: SquareAndMultiply<'_, N>) {
        match self {
            Self::Never(never, _) => match never {},
        }
    }
}

/// The fewest digits that make R at least 16 · 2^(64 limbs).
pub(crate) fn digits(limbs: usize) -> usize {
    (limbs * LIMB_BITS + 4).div_ceil(DIGIT_BITS)
}

/// Vectors that so many digits fill.
pub(crate) fn vectors(digits: usize) -> usize {
    digits.div_ceil(VECTOR)
}

/// Words of a modulus that reduces numbers of so many digits.
pub(crate) fn modulus_words(digits: usize) -> usize {
    (2 * vectors(digits) + 1) * VECTOR
}

/// Puts what reduces by a modulus in its place: (m n + 1) / 2^52 of the multiple m n that is -1 mod 2^52; n; and m.
pub(super) fn put_modulus(words: &mut [u64], modulus: &Modulus) {
    let (n, n0) = modulus.odd();
    let m = n0 & DIGIT_MASK;
    let mut product = Zeroizing::new(vec![0; n.len() + 1]);
    // m n + 1 from the low end; then without its lowest digit.
    let mut carry = 1;
    for (word, &limb) in product.iter_mut().zip(n) {
        let sum = u128::from(m) * u128::from(limb) + carry;
        (*word, carry) = (sum as u64, sum >> LIMB_BITS);
    }
    product[n.len()] = carry as u64;
    let above = LIMB_BITS - DIGIT_BITS;
    for i in 0..n.len() {
        product[i] = product[i] >> DIGIT_BITS | product[i + 1] << above;
    }
    let vectors = words.len() / (2 * VECTOR) * VECTOR;
    let (multiple, rest) = words.split_at_mut(vectors);
    let (plain, inverse) = rest.split_at_mut(vectors);
    digits52::put(multiple.iter_mut(), &product[..n.len()]);
    digits52::put(plain.iter_mut(), n);
    inverse[0] = m;
}
