//! Eight words in two 256-bit registers, with AVX2: for the sieve. There is no Montgomery kernel over it, because
//! [`mont47`](crate::kernel::mont47) is faster.

use super::avx2fma::HaveAvx2Fma;
use super::opaque::opaque_256;
use crate::kernel::lanes::{DIGIT_BITS, DIGIT_MASK, Lanes, Vec8, Work};
use std::arch::x86_64::*;
use std::mem::transmute;

/// Two 256-bit registers of words. Made with a [`HaveAvx2Fma`] only, so that every value is itself the proof of the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) struct YmmWords([__m256i; 2]);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx2,fma")]
fn run_avx2<W: Work>(token: HaveAvx2Fma, work: W) {
    work.run::<YmmWords>(token);
}

/// Half a digit: products of two fit a word, and the instruction takes 32 bits.
const HALF_BITS: i32 = DIGIT_BITS as i32 / 2;
const HALF_MASK: i64 = (1 << HALF_BITS) - 1;

/// The low and the high half of the low digit of each word.
#[inline]
#[target_feature(enable = "avx2")]
fn halves(a: __m256i) -> (__m256i, __m256i) {
    let mask = _mm256_set1_epi64x(HALF_MASK);
    (
        _mm256_and_si256(a, mask),
        _mm256_and_si256(_mm256_srli_epi64::<HALF_BITS>(a), mask),
    )
}

/// c + the low digit of the product of the low digits.
#[inline]
#[target_feature(enable = "avx2")]
fn add_low(c: __m256i, a: __m256i, b: __m256i) -> __m256i {
    let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
    let middle = _mm256_add_epi64(_mm256_mul_epu32(a0, b1), _mm256_mul_epu32(a1, b0));
    // What is above 2^52 in the middle's product is shifted out or masked.
    let sum = _mm256_add_epi64(_mm256_mul_epu32(a0, b0), _mm256_slli_epi64::<HALF_BITS>(middle));
    let digit = _mm256_and_si256(sum, _mm256_set1_epi64x(DIGIT_MASK.cast_signed()));
    _mm256_add_epi64(c, digit)
}

/// c + the high digit of the product of the low digits.
#[inline]
#[target_feature(enable = "avx2")]
fn add_high(c: __m256i, a: __m256i, b: __m256i) -> __m256i {
    let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
    let middle = _mm256_add_epi64(_mm256_mul_epu32(a0, b1), _mm256_mul_epu32(a1, b0));
    // Below 2^53 + 2^26.
    let middle = _mm256_add_epi64(middle, _mm256_srli_epi64::<HALF_BITS>(_mm256_mul_epu32(a0, b0)));
    let high = _mm256_add_epi64(_mm256_mul_epu32(a1, b1), _mm256_srli_epi64::<HALF_BITS>(middle));
    _mm256_add_epi64(c, high)
}

/// The lesser, of words without sign.
#[inline]
#[target_feature(enable = "avx2")]
fn min(a: __m256i, b: __m256i) -> __m256i {
    let sign = _mm256_set1_epi64x(i64::MIN);
    let above = _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
    _mm256_blendv_epi8(a, b, above)
}

/// Does the same with both registers of one, two or three values.
macro_rules! both {
    ($f:path, $a:expr $(, $b:expr)*) => {{
        // SAFETY: a `YmmWords` proves AVX2.
        Self(unsafe { [$f($a.0[0] $(, $b.0[0])*), $f($a.0[1] $(, $b.0[1])*)] })
    }};
}

impl Lanes for YmmWords {
    type Token = HaveAvx2Fma;
    type Mask = Self;

    fn run<W: Work>(token: HaveAvx2Fma, work: W) {
        // SAFETY: the token proves that the CPU has every feature named on `run_avx2`.
        unsafe { run_avx2(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveAvx2Fma, vec: &Vec8) -> Self {
        // SAFETY: both are as many bytes, all of which are a word whatever they are.
        Self(unsafe { transmute::<Vec8, [__m256i; 2]>(*vec) })
    }

    #[inline(always)]
    fn splat(_: HaveAvx2Fma, word: u64) -> Self {
        // SAFETY: the token proves AVX.
        Self([unsafe { _mm256_set1_epi64x(word.cast_signed()) }; 2])
    }

    #[inline(always)]
    fn store(self, vec: &mut Vec8) {
        // SAFETY: both are as many bytes, all of which are a word whatever they are.
        *vec = unsafe { transmute::<[__m256i; 2], Vec8>(self.0) };
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        both!(_mm256_add_epi64, self, b)
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        both!(_mm256_sub_epi64, self, b)
    }

    #[inline(always)]
    fn and(self, b: Self) -> Self {
        both!(_mm256_and_si256, self, b)
    }

    #[inline(always)]
    fn or(self, b: Self) -> Self {
        both!(_mm256_or_si256, self, b)
    }

    #[inline(always)]
    fn min(self, b: Self) -> Self {
        both!(min, self, b)
    }

    #[inline(always)]
    fn shift_left(self, by: Self) -> Self {
        both!(_mm256_sllv_epi64, self, by)
    }

    #[inline(always)]
    fn shift_right<const BITS: u32>(self) -> Self {
        // SAFETY: a `YmmWords` proves AVX2.
        let by = unsafe { _mm256_set1_epi64x(BITS.into()) };
        both!(_mm256_srlv_epi64, self, Self([by; 2]))
    }

    #[inline(always)]
    fn add_low(self, a: Self, b: Self) -> Self {
        both!(add_low, self, a, b)
    }

    #[inline(always)]
    fn add_high(self, a: Self, b: Self) -> Self {
        both!(add_high, self, a, b)
    }

    #[inline(always)]
    fn equal(self, b: Self) -> Self {
        let equal: Self = both!(_mm256_cmpeq_epi64, self, b);
        both!(opaque_256, equal)
    }

    #[inline(always)]
    fn merge(self, b: Self, mask: Self) -> Self {
        both!(_mm256_blendv_epi8, self, b, mask)
    }

    #[inline(always)]
    fn equal_bits(self, b: Self) -> Self {
        self.equal(b)
    }

    #[inline(always)]
    fn choose(self, b: Self, bits: Self) -> Self {
        let chosen = b.and(bits);
        let kept: Self = both!(_mm256_andnot_si256, bits, self);
        kept.or(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::lanes::Portable;

    /// Every operation against the form on arrays.
    struct Compare([Vec8; 3]);

    impl Compare {
        fn results<V: Lanes>(&self, token: V::Token) -> Vec<Vec8> {
            let [a, b, c] = self.0.map(|vec| V::load(token, &vec));
            let small = b.and(V::splat(token, 63));
            let results = [
                a.add(b),
                a.sub(b),
                a.and(b),
                a.or(b),
                a.min(b),
                a.shift_left(small),
                a.shift_right::<6>(),
                a.shift_right_digit(),
                c.add_low(a, b),
                c.add_high(a, b),
                a.merge(b, a.equal(c)),
                a.equal_bits(c),
                a.choose(b, c),
            ];
            results
                .into_iter()
                .map(|result| {
                    let mut vec = [0; 8];
                    result.store(&mut vec);
                    vec
                })
                .collect()
        }
    }

    #[test]
    fn operations_agree_with_those_on_arrays() {
        let Some(token) = HaveAvx2Fma::check() else {
            return eprintln!("SKIPPED: this CPU has no AVX2");
        };
        let edges = [
            0,
            1,
            (1 << 26) - 1,
            1 << 26,
            DIGIT_MASK,
            1 << 63,
            u64::MAX,
            0x0123_4567_89ab_cdef,
        ];
        for turn in 0..64 {
            let vec = |step: usize| {
                std::array::from_fn(|lane| {
                    let edge = edges[(lane * step + turn) % 8];
                    edge ^ (turn as u64 / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15 >> step)
                })
            };
            let mut compare = Compare([vec(1), vec(3), vec(5)]);
            compare.0[2][turn % 8] = compare.0[0][turn % 8];
            assert_eq!(
                compare.results::<YmmWords>(token),
                compare.results::<Portable>(()),
                "{turn}"
            );
        }
    }
}
