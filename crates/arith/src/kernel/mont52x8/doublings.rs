//! Powers of two: squarings, each doubled or not, without a table and without a multiplication.

use super::blocks::square as square_in_blocks;
use super::fixed_window::tens;
use super::fused::square as square_fused;
use super::moduli::{Moduli, vec8s, vec8s_mut};
use super::operations::{by_tens, fused_operands, reduce};
use crate::kernel::Doublings;
use crate::kernel::lanes::{Lanes, Vec8, Work};
use crate::kernel::tens::Factors;

/// Steps of one bit for each lane.
fn steps(bits: &[u8]) -> impl Iterator<Item = &[u8; 8]> {
    bits.as_chunks().0.iter()
}

/// All bits set in the lanes whose bit is set.
#[inline(always)]
fn set_bits<V: Lanes>(token: V::Token, bits: &[u8; 8]) -> Vec8 {
    let mut vec = [0; 8];
    for (word, &bit) in vec.iter_mut().zip(bits) {
        *word = u64::from(bit);
    }
    let bits = V::load(token, &vec).equal_bits(V::splat(token, 1));
    bits.store(&mut vec);
    vec
}

/// The lanes whose bit is set.
#[inline(always)]
fn set<V: Lanes>(token: V::Token, bits: &[u8; 8]) -> Option<V::Mask> {
    let mut vec = [0; 8];
    for (word, &bit) in vec.iter_mut().zip(bits) {
        *word = u64::from(bit);
    }
    Some(V::load(token, &vec).equal(V::splat(token, 1)))
}

/// One power of numbers of any length.
pub(super) struct One<'a>(pub(super) Doublings<'a, Moduli>);

impl Work for One<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let Doublings {
            moduli,
            value,
            bits,
            working,
        } = self.0;
        match fused_operands(moduli, vec8s_mut(value)) {
            Ok((a, n)) => {
                for bits in steps(bits) {
                    square_fused::<V>(token, a, n, set::<V>(token, bits));
                }
            }
            Err(a) => {
                let t = vec8s_mut(working);
                for bits in steps(bits) {
                    if V::HAS_TENS {
                        let double = &set_bits::<V>(token, bits);
                        if by_tens::<V>(token, moduli, Factors::Square, a, t, Some(double)) {
                            continue;
                        }
                    }
                    let t = &mut t[..2 * a.len()];
                    square_in_blocks::<V>(token, t, a);
                    reduce::<V>(token, moduli, t, a, set::<V>(token, bits));
                }
            }
        }
    }
}

/// Two powers of numbers of ten digits, alternately: what one waits for, the other fills.
pub(super) struct Two<'a>(pub(super) [Doublings<'a, Moduli>; 2]);

impl Work for Two<'_> {
    #[inline(always)]
    fn run<V: Lanes>(self, token: V::Token) {
        let [one, two] = self.0;
        let [a1, a2, n1, n2, ..] = tens(one.working) else {
            unreachable!("there is memory for six");
        };
        for (memory, from) in [(&mut *a1, &*one.value), (a2, two.value)] {
            memory.copy_from_slice(vec8s(from));
        }
        for (memory, from) in [(&mut *n1, one.moduli), (n2, two.moduli)] {
            memory.copy_from_slice(vec8s(&from.n));
        }
        for (bits1, bits2) in steps(one.bits).zip(steps(two.bits)) {
            let double = set::<V>(token, bits1);
            square_fused::<V>(token, a1, (n1, &one.moduli.n0), double);
            let double = set::<V>(token, bits2);
            square_fused::<V>(token, a2, (n2, &two.moduli.n0), double);
        }
        vec8s_mut(one.value).copy_from_slice(a1);
        vec8s_mut(two.value).copy_from_slice(a2);
    }
}
