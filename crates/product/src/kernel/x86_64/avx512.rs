//! Eight doubles in a 512-bit register, with AVX-512 F.

use std::arch::x86_64::*;
use std::mem::transmute;

use crate::kernel::eight::{Doubles, Eight, LOW, Line, MAX_BITS, Modulus, Work};

/// The proof that CPU and operating system offer AVX-512 F and BMI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaveAvx512(());

impl HaveAvx512 {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("bmi2");
        have.then_some(Self(()))
    }
}

/// A 512-bit register of doubles. Made with a [`HaveAvx512`] only, so that every value is itself the proof of the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) struct Zmm(__m512d);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx512f,bmi2")]
fn run_avx512<W: Work>(token: HaveAvx512, work: W) -> W::Output {
    work.run::<Zmm>(token)
}

/// 2^52, whose lowest 52 bits are an integer that is added to it.
const TOP: f64 = 4_503_599_627_370_496.0;

/// A part of each of eight digits: it begins in word `first` at bit `right` of 16 words.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    first: __m512i,
    second: __m512i,
    right: __m512i,
    left: __m512i,
    mask: __m512i,
}

impl Part {
    /// The parts in the 16 words of `a` and `b`, as doubles.
    #[inline(always)]
    fn of(&self, _: HaveAvx512, a: __m512i, b: __m512i) -> Zmm {
        // SAFETY: the token proves AVX-512 F.
        Zmm(unsafe {
            let low = _mm512_srlv_epi64(_mm512_permutex2var_epi64(a, self.first, b), self.right);
            let high = _mm512_sllv_epi64(_mm512_permutex2var_epi64(a, self.second, b), self.left);
            let part = _mm512_and_si512(_mm512_or_si512(low, high), self.mask);
            let top = _mm512_set1_pd(TOP);
            _mm512_sub_pd(
                _mm512_castsi512_pd(_mm512_or_si512(part, _mm512_castpd_si512(top))),
                top,
            )
        })
    }
}

/// Exchanges rows and columns.
#[inline(always)]
fn transpose(rows: [Zmm; 8]) -> [Zmm; 8] {
    // SAFETY: a `Zmm` proves AVX-512 F.
    unsafe {
        let even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
        let odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
        let r = rows;
        // Pairs of rows.
        let (a0, a1) = (_mm512_unpacklo_pd(r[0].0, r[1].0), _mm512_unpackhi_pd(r[0].0, r[1].0));
        let (a2, a3) = (_mm512_unpacklo_pd(r[2].0, r[3].0), _mm512_unpackhi_pd(r[2].0, r[3].0));
        let (a4, a5) = (_mm512_unpacklo_pd(r[4].0, r[5].0), _mm512_unpackhi_pd(r[4].0, r[5].0));
        let (a6, a7) = (_mm512_unpacklo_pd(r[6].0, r[7].0), _mm512_unpackhi_pd(r[6].0, r[7].0));
        // Four rows: columns 0 and 4, 2 and 6, 1 and 5, 3 and 7 in halves of a register.
        let b0 = _mm512_permutex2var_pd(a0, even, a2);
        let b2 = _mm512_permutex2var_pd(a0, odd, a2);
        let b1 = _mm512_permutex2var_pd(a1, even, a3);
        let b3 = _mm512_permutex2var_pd(a1, odd, a3);
        let b4 = _mm512_permutex2var_pd(a4, even, a6);
        let b6 = _mm512_permutex2var_pd(a4, odd, a6);
        let b5 = _mm512_permutex2var_pd(a5, even, a7);
        let b7 = _mm512_permutex2var_pd(a5, odd, a7);
        // Eight rows.
        [
            Zmm(_mm512_shuffle_f64x2::<0b0100_0100>(b0, b4)),
            Zmm(_mm512_shuffle_f64x2::<0b0100_0100>(b1, b5)),
            Zmm(_mm512_shuffle_f64x2::<0b0100_0100>(b2, b6)),
            Zmm(_mm512_shuffle_f64x2::<0b0100_0100>(b3, b7)),
            Zmm(_mm512_shuffle_f64x2::<0b1110_1110>(b0, b4)),
            Zmm(_mm512_shuffle_f64x2::<0b1110_1110>(b1, b5)),
            Zmm(_mm512_shuffle_f64x2::<0b1110_1110>(b2, b6)),
            Zmm(_mm512_shuffle_f64x2::<0b1110_1110>(b3, b7)),
        ]
    }
}

impl Doubles for Zmm {
    type Token = HaveAvx512;

    #[inline(always)]
    fn splat(_: HaveAvx512, x: f64) -> Self {
        // SAFETY: the token proves AVX-512 F.
        Self(unsafe { _mm512_set1_pd(x) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { _mm512_sub_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul_by(self, w: Self, v: Self, modulus: &Modulus<Self>) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe {
            let q = _mm512_sub_pd(_mm512_fmadd_pd(self.0, v.0, modulus.round.0), modulus.round.0);
            let high = _mm512_mul_pd(self.0, w.0);
            let low = _mm512_fmsub_pd(self.0, w.0, high);
            _mm512_add_pd(_mm512_fnmadd_pd(q, modulus.p.0, high), low)
        })
    }

    #[inline(always)]
    fn mul(self, b: Self, modulus: &Modulus<Self>) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe {
            let high = _mm512_mul_pd(self.0, b.0);
            let low = _mm512_fmsub_pd(self.0, b.0, high);
            let q = _mm512_sub_pd(
                _mm512_fmadd_pd(high, modulus.inverse.0, modulus.round.0),
                modulus.round.0,
            );
            _mm512_add_pd(_mm512_fnmadd_pd(q, modulus.p.0, high), low)
        })
    }

    #[inline(always)]
    fn reduce(self, modulus: &Modulus<Self>) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe {
            let q = _mm512_sub_pd(
                _mm512_fmadd_pd(self.0, modulus.inverse.0, modulus.round.0),
                modulus.round.0,
            );
            _mm512_fnmadd_pd(q, modulus.p.0, self.0)
        })
    }
}

impl Eight for Zmm {
    type Half = Self;
    const HALVES: usize = 1;
    type Shape = [Part; 2];

    #[inline(always)]
    fn run<W: Work>(token: HaveAvx512, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has the feature named on `run_avx512`.
        unsafe { run_avx512(token, work) }
    }

    #[inline(always)]
    fn load(_: HaveAvx512, line: &Line) -> Self {
        // SAFETY: the token proves AVX-512 F; a `Line` is 64 bytes, aligned to as many.
        Self(unsafe { _mm512_load_pd(line.0.as_ptr()) })
    }

    #[inline(always)]
    fn store(self, line: &mut Line) {
        // SAFETY: a `Zmm` proves AVX-512 F; a `Line` is 64 bytes, aligned to as many.
        unsafe { _mm512_store_pd(line.0.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn load_half(token: HaveAvx512, line: &Line, _: usize) -> Self {
        Self::load(token, line)
    }

    #[inline(always)]
    fn store_half(half: Self, line: &mut Line, _: usize) {
        half.store(line);
    }

    #[inline(always)]
    fn load_columns(token: HaveAvx512, rows: &[Line; 8], _: usize) -> [Self; 8] {
        let [a, b, c, d, e, f, g, h] = rows;
        transpose([
            Self::load(token, a),
            Self::load(token, b),
            Self::load(token, c),
            Self::load(token, d),
            Self::load(token, e),
            Self::load(token, f),
            Self::load(token, g),
            Self::load(token, h),
        ])
    }

    #[inline(always)]
    fn store_columns(columns: [Self; 8], rows: &mut [Line; 8], _: usize) {
        for (row, line) in transpose(columns).into_iter().zip(rows) {
            row.store(line);
        }
    }

    #[inline(always)]
    fn add_if_negative(self, p: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe {
            let negative = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.0, _mm512_setzero_pd());
            _mm512_mask_add_pd(self.0, negative, self.0, p.0)
        })
    }

    #[inline(always)]
    fn shape(_: HaveAvx512, bits: u32) -> [Part; 2] {
        // Of bit numbers: those of the digits' lower parts, and of what is above.
        let part = |above: u32, width: u32| {
            let at: [u32; 8] = std::array::from_fn(|lane| lane as u32 * bits + above);
            let word = at.map(|at| u64::from(at / 64));
            let right = at.map(|at| u64::from(at % 64));
            // SAFETY: both types are as many bytes, all of which are valid whatever they are.
            let vector = |x: [u64; 8]| unsafe { transmute::<[u64; 8], __m512i>(x) };
            Part {
                first: vector(word),
                second: vector(word.map(|word| word + 1)),
                right: vector(right),
                left: vector(right.map(|right| 64 - right)),
                mask: vector([(1 << width) - 1; 8]),
            }
        };
        [part(0, bits.min(LOW)), part(LOW, bits.saturating_sub(LOW))]
    }

    #[inline(always)]
    fn digits(token: HaveAvx512, limbs: &[u64], bits: u32, line: usize, shape: &[Part; 2]) -> [Self; 2] {
        // Eight digits are `bits` bytes, at most 96; the upper part of the last reaches into word 12 at most.
        let from = line * bits as usize;
        assert!(bits <= MAX_BITS && from + 128 <= 8 * limbs.len(), "128 bytes to load");
        // SAFETY: the token proves AVX-512 F; the 128 bytes from `from` on are within the slice, as was asserted.
        unsafe {
            let at = limbs.as_ptr().cast::<u8>().add(from);
            let [a, b] = [_mm512_loadu_si512(at.cast()), _mm512_loadu_si512(at.add(64).cast())];
            [shape[0].of(token, a, b), shape[1].of(token, a, b)]
        }
    }

    #[inline(always)]
    fn to_integers(self) -> [u64; 8] {
        // SAFETY: a `Zmm` proves AVX-512 F; both types are as many bytes, all of which are valid whatever they are.
        unsafe {
            let top = _mm512_set1_pd(TOP);
            let bits = _mm512_castpd_si512(_mm512_add_pd(self.0, top));
            transmute::<__m512i, [u64; 8]>(_mm512_xor_si512(bits, _mm512_castpd_si512(top)))
        }
    }
}
