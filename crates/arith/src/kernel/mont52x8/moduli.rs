//! The prepared moduli of eight lanes.

use super::blocks::SMALL;
use crate::kernel::lanes::{DIGIT_BITS, Vec8};
use crate::limbs::aligned::Aligned;
use crate::limbs::{LIMB_BITS, Nat};
use zeroize::Zeroizing;

/// The moduli of eight lanes, prepared.
#[derive(Clone)]
pub(crate) struct Moduli {
    /// Every lane's modulus in plain limbs.
    pub(super) plain: [Nat; 8],
    pub(super) n: Aligned,
    /// -1 / n mod 2^52.
    pub(super) n0: Zeroizing<Vec8>,
    /// R mod n.
    pub(super) one: Aligned,
    /// R^2 mod n.
    pub(super) rr: Aligned,
    /// 2^(64 N) R^2 mod n, where N is the number of limbs.
    pub(super) high_rr: Aligned,
    /// 1 / 2^(52 rows) mod n for the rows of a small and of a large block.
    pub(super) small_inverse: Aligned,
    pub(super) large_inverse: Aligned,
    /// 1, not in Montgomery form.
    pub(super) unit: Aligned,
    /// Room to prepare one modulus: two numbers, one of them of twice the length.
    pub(super) working: Nat,
}

/// Digits of a number that has `limbs` limbs: R is at least 16 n, and blocks of five rows fit.
pub(super) fn digits(limbs: usize) -> usize {
    (limbs * LIMB_BITS + 4).div_ceil(DIGIT_BITS).next_multiple_of(SMALL)
}

pub(super) fn vec8s(words: &[u64]) -> &[Vec8] {
    words.as_chunks().0
}

pub(super) fn vec8s_mut(words: &mut [u64]) -> &mut [Vec8] {
    words.as_chunks_mut().0
}

#[cfg(feature = "faults")]
impl Moduli {
    /// Visits the constants as they lie in memory.
    pub(super) fn for_each_constant(&mut self, visit: &mut dyn FnMut(&mut [u64])) {
        for number in &mut self.plain {
            visit(number);
        }
        for constant in [
            &mut self.n,
            &mut self.one,
            &mut self.rr,
            &mut self.high_rr,
            &mut self.small_inverse,
            &mut self.large_inverse,
            &mut self.unit,
        ] {
            visit(constant);
        }
        visit(&mut self.n0[..]);
    }
}
