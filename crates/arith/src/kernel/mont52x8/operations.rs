//! Products, squares, reductions and look-ups over either form of the lanes: on the fused path where numbers have ten
//! digits, in blocks elsewhere.

use super::blocks::{PartialInverses, add_product, product, reduce as reduce_in_blocks, square as square_in_blocks};
use super::fused::{DIGITS, Modulus, multiply, square};
use super::lookup::look_up;
use super::moduli::{Moduli, vec8s};
use crate::kernel::lanes::{Lanes, Vec8, Work};
use crate::kernel::tens::{self, Factors, Operation};

/// The number `a` and its modulus if they have ten digits, so that all columns fit into registers; else `a` again.
#[inline(always)]
pub(super) fn fused_operands<'a>(
    moduli: &'a Moduli,
    a: &'a mut [Vec8],
) -> Result<(&'a mut [Vec8; DIGITS], Modulus<'a>), &'a mut [Vec8]> {
    match vec8s(&moduli.n).try_into() {
        Ok(n) => Ok((a.try_into().expect("as long as n"), (n, &moduli.n0))),
        Err(_) => Err(a),
    }
}

/// a = the columns / R mod n, doubled where `double` says so, by the form's own code, if it has any for this length.
/// `t` is all of working memory.
#[inline(always)]
pub(super) fn by_tens<V: Lanes>(
    token: V::Token,
    moduli: &Moduli,
    factors: Factors<'_>,
    a: &mut [Vec8],
    t: &mut [Vec8],
    double: Option<&Vec8>,
) -> bool {
    let has_code = V::HAS_TENS && tens::fit(a.len());
    if has_code {
        let operation = Operation {
            factors,
            a,
            n: vec8s(&moduli.n),
            n0: &moduli.n0,
            inverse: vec8s(&moduli.large_inverse),
            working: t,
            double,
        };
        V::tens(token, operation);
    }
    has_code
}

/// out = t / R mod n, doubled where `double` says so.
#[inline(always)]
pub(super) fn reduce<V: Lanes>(
    token: V::Token,
    moduli: &Moduli,
    t: &mut [Vec8],
    out: &mut [Vec8],
    double: Option<V::Mask>,
) {
    let inverses = PartialInverses {
        small: vec8s(&moduli.small_inverse),
        large: vec8s(&moduli.large_inverse),
    };
    reduce_in_blocks::<V>(token, t, (vec8s(&moduli.n), &moduli.n0), inverses, out, double);
}

pub(super) struct Multiply<'a> {
    pub(super) moduli: &'a Moduli,
    pub(super) a: &'a mut [Vec8],
    pub(super) b: &'a [Vec8],
    pub(super) t: &'a mut [Vec8],
}

impl Work for Multiply<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self { moduli, a, b, t } = self;
        match fused_operands(moduli, a) {
            Ok((a, n)) => {
                let b = b.try_into().expect("as long as a");
                multiply::<V>(token, a, b, n);
            }
            Err(a) => {
                if by_tens::<V>(token, moduli, Factors::Product(b), a, t, None) {
                    return;
                }
                let t = &mut t[..2 * a.len()];
                product::<V>(token, t, a, b);
                reduce::<V>(token, moduli, t, a, None);
            }
        }
    }
}

/// low = (low + 2^(64 N) high) R mod n.
pub(super) struct EnterWide<'a> {
    pub(super) moduli: &'a Moduli,
    pub(super) low: &'a mut [Vec8],
    pub(super) high: &'a [Vec8],
    pub(super) t: &'a mut [Vec8],
}

impl Work for EnterWide<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self { moduli, low, high, t } = self;
        let columns = &mut t[..2 * low.len()];
        product::<V>(token, columns, low, vec8s(&moduli.rr));
        add_product::<V>(token, columns, high, vec8s(&moduli.high_rr));
        if by_tens::<V>(token, moduli, Factors::Columns, low, t, None) {
            return;
        }
        let t = &mut t[..2 * low.len()];
        reduce::<V>(token, moduli, t, low, None);
    }
}

pub(super) struct Square<'a> {
    pub(super) moduli: &'a Moduli,
    pub(super) a: &'a mut [Vec8],
    pub(super) times: usize,
    pub(super) t: &'a mut [Vec8],
}

impl Work for Square<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Self { moduli, a, times, t } = self;
        match fused_operands(moduli, a) {
            Ok((a, n)) => {
                for _ in 0..times {
                    square::<V>(token, a, n, None);
                }
            }
            Err(a) => {
                for _ in 0..times {
                    if by_tens::<V>(token, moduli, Factors::Square, a, t, None) {
                        continue;
                    }
                    let t = &mut t[..2 * a.len()];
                    square_in_blocks::<V>(token, t, a);
                    reduce::<V>(token, moduli, t, a, None);
                }
            }
        }
    }
}

pub(super) struct Select<'a, const WINDOWS: usize> {
    pub(super) table: &'a [Vec8],
    pub(super) digits: [&'a [u8]; WINDOWS],
    pub(super) selected: [&'a mut [Vec8]; WINDOWS],
}

impl<const WINDOWS: usize> Work for Select<'_, WINDOWS> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        look_up::<V, WINDOWS>(token, self.table, self.digits, self.selected);
    }
}
