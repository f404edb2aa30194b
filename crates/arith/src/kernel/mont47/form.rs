//! The digits that numbers of a length are cut into.

use crate::kernel::doubles::{Columns, Doubles};
use crate::limbs::LIMB_BITS;

/// Widest digits, in bits.
const WIDEST: usize = 47;
/// Narrowest digits, which serve the longest moduli there are.
const NARROWEST: usize = 44;
/// R is at least 2^SPARE times any number of the limbs' length.
const SPARE: usize = 5;

/// Digits of `width` bits, `digits` of them to a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub(in crate::kernel) width: usize,
    pub(in crate::kernel) digits: usize,
}

impl Form {
    /// The form of 512 bits.
    pub(in crate::kernel) const SHORT: Self = Self {
        width: WIDEST,
        digits: 11,
    };

    /// For numbers of `limbs` limbs: the widest digits whose columns hold every product there can be.
    pub(in crate::kernel) fn new(limbs: usize) -> Self {
        Self::of_multiples(limbs, 1)
    }

    /// For numbers of `limbs` limbs, with an even number of digits.
    pub(in crate::kernel) fn even(limbs: usize) -> Self {
        Self::of_multiples(limbs, 2)
    }

    /// [`new`](Self::new) with a multiple of so many digits.
    fn of_multiples(limbs: usize, of: usize) -> Self {
        (NARROWEST..=WIDEST)
            .rev()
            .map(|width| Self {
                width,
                digits: (limbs * LIMB_BITS + SPARE).div_ceil(width).next_multiple_of(of),
            })
            .find(|form| form.digits <= form.column_products())
            .expect("no modulus is that long")
    }

    /// Products of two digits that one column holds exactly.
    pub(in crate::kernel) fn column_products(self) -> usize {
        (1 << (53 - self.width)) - 1
    }

    /// `true` if a column holds the products of the factors and those of quotient and modulus together.
    pub(in crate::kernel) fn is_joined(self) -> bool {
        2 * self.digits <= self.column_products()
    }

    /// Bits of R.
    pub(in crate::kernel) fn r_bits(self) -> usize {
        self.width * self.digits
    }

    /// 2^exponent.
    fn power(exponent: i32) -> f64 {
        f64::from_bits(((1023 + exponent) as u64) << 52)
    }

    /// The constants of the arithmetic, in every lane.
    #[inline(always)]
    pub(in crate::kernel) fn constants<V: Doubles<N>, const N: usize>(self, token: V::Token) -> Constants<V> {
        let width = self.width as i32;
        Constants {
            origin: V::splat(token, 1.5 * Self::power(width + 52)),
            integer: V::splat(token, 1.5 * Self::power(52)),
            minus_radix: V::splat(token, -Self::power(width)),
            inverse_radix: V::splat(token, Self::power(-width)),
            zero: V::splat(token, 0.0),
        }
    }
}

/// Doubles that the arithmetic on digits of W bits takes, in every lane.
#[derive(Clone, Copy)]
pub(in crate::kernel) struct Constants<V> {
    /// 1.5 · 2^(W + 52): what the high part of a column starts from. What is added to it is rounded to a multiple of
    /// 2^W.
    pub(in crate::kernel) origin: V,
    /// 1.5 · 2^52: what is added to it and taken away again is rounded to an integer.
    pub(in crate::kernel) integer: V,
    /// -2^W.
    pub(in crate::kernel) minus_radix: V,
    /// 2^-W.
    pub(in crate::kernel) inverse_radix: V,
    pub(in crate::kernel) zero: V,
}

impl<V: Copy> Constants<V> {
    /// Columns that hold nothing yet.
    #[inline(always)]
    pub(in crate::kernel) fn columns<const C: usize>(&self) -> Columns<V, C> {
        Columns {
            high: [self.origin; C],
            low: [self.zero; C],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_supported_length_has_a_form() {
        for limbs in 1..=256 {
            let even = Form::even(limbs);
            assert!(even.digits.is_multiple_of(2) && even.r_bits() >= 64 * limbs + SPARE);
            let form = Form::new(limbs);
            assert!(form.r_bits() >= 64 * limbs + SPARE, "{limbs}");
            assert!(form.r_bits() - 64 * limbs < SPARE + form.width, "{limbs}");
        }
        let digits = [8, 16, 24, 32, 48, 64, 128, 256].map(|limbs| {
            let form = Form::new(limbs);
            (form.width, form.digits)
        });
        let expected = [
            (47, 11),
            (47, 22),
            (47, 33),
            (47, 44),
            (46, 67),
            (46, 90),
            (45, 183),
            (44, 373),
        ];
        assert_eq!(digits, expected);
    }

    /// `true` if every sum of columns of `products` products is exact and gives digits within their bound, of digits
    /// within it; `carried` says whether such a digit is added besides. In integers; the module's documentation has the
    /// sums.
    fn is_exact(width: usize, products: u128, carried: bool) -> bool {
        let half = 1u128 << (width - 1);
        // Two columns below carry into the lowest digit of a result.
        let digit = half + (1 << (54 - width));
        // Roundings of the high part take at most half a unit each.
        let high = products * (digit * digit + half);
        let low = products * half + if carried { digit } else { 0 };
        let sum = low + (high >> width) + 1;
        let carry = ((sum + half) >> width) + 1;
        high < 1 << (width + 51) && sum < 1 << 53 && half + 2 * carry <= digit
    }

    #[test]
    fn every_column_of_every_length_is_exact() {
        for form in (1..=256).flat_map(|limbs| [Form::new(limbs), Form::even(limbs)]) {
            let digits = form.digits as u128;
            let (products, carried) = match form.is_joined() {
                true => (2 * digits, false),
                false => (digits, true),
            };
            assert!(is_exact(form.width, products, carried), "{form:?}");
        }
    }

    #[test]
    fn the_bound_on_products_is_no_looser_than_it_may_be() {
        for width in NARROWEST..=WIDEST {
            let form = Form { width, digits: 1 };
            let most = form.column_products() as u128;
            assert!(is_exact(width, most, false), "{width} bits");
            assert!(!is_exact(width, most + 1, false), "{width} bits");
            assert!(!is_exact(width + 1, most, false), "{width} bits");
        }
    }
}
