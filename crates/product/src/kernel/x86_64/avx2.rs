//! Eight doubles in two 256-bit registers, with AVX2 and FMA.

use std::arch::x86_64::*;
use std::mem::transmute;

use crate::kernel::eight::{Doubles, Eight, LOW, Line, MAX_BITS, Modulus, Work};

/// The proof that CPU and operating system offer AVX2, FMA and BMI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaveAvx2Fma(());

impl HaveAvx2Fma {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have =
            is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") && is_x86_feature_detected!("bmi2");
        have.then_some(Self(()))
    }
}

/// A 256-bit register of doubles. Made with a [`HaveAvx2Fma`] only, so that every value is itself the proof of the
/// instructions.
#[derive(Clone, Copy)]
pub(crate) struct Ymm(__m256d);

/// Two of them.
#[derive(Clone, Copy)]
pub(crate) struct Ymms([Ymm; 2]);

/// `work`, compiled with the instructions.
#[target_feature(enable = "avx2,fma,bmi2")]
fn run_avx2<W: Work>(token: HaveAvx2Fma, work: W) -> W::Output {
    work.run::<Ymms>(token)
}

/// 2^52, whose lowest 52 bits are an integer that is added to it.
const TOP: f64 = 4_503_599_627_370_496.0;

/// A part of each of eight digits: of at most 48 bits, so that it is within the eight bytes from its first one on.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    /// The first byte.
    from: [usize; 8],
    /// Bits of that byte that belong to what is below.
    right: [__m256i; 2],
    mask: __m256i,
}

impl Part {
    fn new(bits: u32, above: u32, width: u32) -> Self {
        assert!(bits <= MAX_BITS, "a digit");
        let at: [u32; 8] = std::array::from_fn(|lane| lane as u32 * bits + above);
        // SAFETY: both types are as many bytes, all of which are valid whatever they are.
        unsafe {
            Self {
                from: at.map(|at| at as usize / 8),
                right: transmute::<[u64; 8], [__m256i; 2]>(at.map(|at| u64::from(at % 8))),
                mask: transmute::<[u64; 4], __m256i>([(1 << width) - 1; 4]),
            }
        }
    }

    /// The parts, as doubles.
    ///
    /// # Safety
    ///
    /// 128 bytes can be read at `at`.
    #[inline(always)]
    unsafe fn of(&self, _: HaveAvx2Fma, at: *const u8) -> Ymms {
        let [a, b, c, d, e, f, g, h] = self.from;
        // SAFETY: the token proves AVX2. A digit is at most 96 bits, so that its parts begin at byte 96 at most.
        unsafe {
            let top = _mm256_set1_pd(TOP);
            let lower = _mm256_set_epi64x(word(at, d), word(at, c), word(at, b), word(at, a));
            let upper = _mm256_set_epi64x(word(at, h), word(at, g), word(at, f), word(at, e));
            let lower = _mm256_and_si256(_mm256_srlv_epi64(lower, self.right[0]), self.mask);
            let upper = _mm256_and_si256(_mm256_srlv_epi64(upper, self.right[1]), self.mask);
            Ymms([
                Ymm(_mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(lower), top), top)),
                Ymm(_mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(upper), top), top)),
            ])
        }
    }
}

/// Eight bytes.
///
/// # Safety
///
/// They can be read.
#[inline(always)]
unsafe fn word(at: *const u8, from: usize) -> i64 {
    // SAFETY: as for this function.
    unsafe { at.add(from).cast::<i64>().read_unaligned() }
}

/// Exchanges rows and columns.
#[inline(always)]
fn transpose(r: [Ymm; 4]) -> [Ymm; 4] {
    // SAFETY: a `Ymm` proves AVX.
    unsafe {
        let a = _mm256_unpacklo_pd(r[0].0, r[1].0);
        let b = _mm256_unpackhi_pd(r[0].0, r[1].0);
        let c = _mm256_unpacklo_pd(r[2].0, r[3].0);
        let d = _mm256_unpackhi_pd(r[2].0, r[3].0);
        [
            Ymm(_mm256_permute2f128_pd::<0x20>(a, c)),
            Ymm(_mm256_permute2f128_pd::<0x20>(b, d)),
            Ymm(_mm256_permute2f128_pd::<0x31>(a, c)),
            Ymm(_mm256_permute2f128_pd::<0x31>(b, d)),
        ]
    }
}

impl Doubles for Ymm {
    type Token = HaveAvx2Fma;

    #[inline(always)]
    fn splat(_: HaveAvx2Fma, x: f64) -> Self {
        // SAFETY: the token proves AVX.
        Self(unsafe { _mm256_set1_pd(x) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_add_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX.
        Self(unsafe { _mm256_sub_pd(self.0, b.0) })
    }

    #[inline(always)]
    fn mul_by(self, w: Self, v: Self, modulus: &Modulus<Self>) -> Self {
        // SAFETY: a `Ymm` proves AVX and FMA.
        Self(unsafe {
            let q = _mm256_sub_pd(_mm256_fmadd_pd(self.0, v.0, modulus.round.0), modulus.round.0);
            let high = _mm256_mul_pd(self.0, w.0);
            let low = _mm256_fmsub_pd(self.0, w.0, high);
            _mm256_add_pd(_mm256_fnmadd_pd(q, modulus.p.0, high), low)
        })
    }

    #[inline(always)]
    fn mul(self, b: Self, modulus: &Modulus<Self>) -> Self {
        // SAFETY: a `Ymm` proves AVX and FMA.
        Self(unsafe {
            let high = _mm256_mul_pd(self.0, b.0);
            let low = _mm256_fmsub_pd(self.0, b.0, high);
            let q = _mm256_fmadd_pd(high, modulus.inverse.0, modulus.round.0);
            let q = _mm256_sub_pd(q, modulus.round.0);
            _mm256_add_pd(_mm256_fnmadd_pd(q, modulus.p.0, high), low)
        })
    }

    #[inline(always)]
    fn reduce(self, modulus: &Modulus<Self>) -> Self {
        // SAFETY: a `Ymm` proves AVX and FMA.
        Self(unsafe {
            let q = _mm256_fmadd_pd(self.0, modulus.inverse.0, modulus.round.0);
            let q = _mm256_sub_pd(q, modulus.round.0);
            _mm256_fnmadd_pd(q, modulus.p.0, self.0)
        })
    }
}

impl Modulus<Ymms> {
    /// Of each half.
    #[inline(always)]
    fn half(&self) -> Modulus<Ymm> {
        Modulus {
            p: self.p.0[0],
            inverse: self.inverse.0[0],
            round: self.round.0[0],
        }
    }
}

impl Doubles for Ymms {
    type Token = HaveAvx2Fma;

    #[inline(always)]
    fn splat(token: HaveAvx2Fma, x: f64) -> Self {
        Self([Ymm::splat(token, x); 2])
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        Self([self.0[0].add(b.0[0]), self.0[1].add(b.0[1])])
    }

    #[inline(always)]
    fn sub(self, b: Self) -> Self {
        Self([self.0[0].sub(b.0[0]), self.0[1].sub(b.0[1])])
    }

    #[inline(always)]
    fn mul_by(self, w: Self, v: Self, modulus: &Modulus<Self>) -> Self {
        let modulus = modulus.half();
        Self([
            self.0[0].mul_by(w.0[0], v.0[0], &modulus),
            self.0[1].mul_by(w.0[1], v.0[1], &modulus),
        ])
    }

    #[inline(always)]
    fn mul(self, b: Self, modulus: &Modulus<Self>) -> Self {
        let modulus = modulus.half();
        Self([self.0[0].mul(b.0[0], &modulus), self.0[1].mul(b.0[1], &modulus)])
    }

    #[inline(always)]
    fn reduce(self, modulus: &Modulus<Self>) -> Self {
        let modulus = modulus.half();
        Self([self.0[0].reduce(&modulus), self.0[1].reduce(&modulus)])
    }
}

impl Eight for Ymms {
    type Half = Ymm;
    const HALVES: usize = 2;
    type Shape = [Part; 2];

    #[inline(always)]
    fn run<W: Work>(token: HaveAvx2Fma, work: W) -> W::Output {
        // SAFETY: the token proves that the CPU has every feature named on `run_avx2`.
        unsafe { run_avx2(token, work) }
    }

    #[inline(always)]
    fn load(token: HaveAvx2Fma, line: &Line) -> Self {
        Self([Self::load_half(token, line, 0), Self::load_half(token, line, 1)])
    }

    #[inline(always)]
    fn store(self, line: &mut Line) {
        Self::store_half(self.0[0], line, 0);
        Self::store_half(self.0[1], line, 1);
    }

    #[inline(always)]
    fn load_half(_: HaveAvx2Fma, line: &Line, half: usize) -> Ymm {
        // SAFETY: the token proves AVX; both types are as many bytes, all of which are valid whatever they are.
        Ymm(unsafe { transmute::<[f64; 8], [__m256d; 2]>(line.0) }[half])
    }

    #[inline(always)]
    fn store_half(half: Ymm, line: &mut Line, number: usize) {
        let four: &mut [f64; 4] = &mut line.0.as_chunks_mut().0[number];
        // SAFETY: both types are as many bytes, all of which are valid whatever they are.
        *four = unsafe { transmute::<__m256d, [f64; 4]>(half.0) };
    }

    #[inline(always)]
    fn load_columns(token: HaveAvx2Fma, rows: &[Line; 8], half: usize) -> [Ymm; 8] {
        let [a, b, c, d] = rows.as_chunks::<4>().0[half].each_ref();
        let [e, f, g, h] = transpose([
            Self::load_half(token, a, 0),
            Self::load_half(token, b, 0),
            Self::load_half(token, c, 0),
            Self::load_half(token, d, 0),
        ]);
        let [i, j, k, l] = transpose([
            Self::load_half(token, a, 1),
            Self::load_half(token, b, 1),
            Self::load_half(token, c, 1),
            Self::load_half(token, d, 1),
        ]);
        [e, f, g, h, i, j, k, l]
    }

    #[inline(always)]
    fn store_columns([e, f, g, h, i, j, k, l]: [Ymm; 8], rows: &mut [Line; 8], half: usize) {
        let rows = &mut rows.as_chunks_mut::<4>().0[half];
        for (left, line) in transpose([e, f, g, h]).into_iter().zip(rows.iter_mut()) {
            Self::store_half(left, line, 0);
        }
        for (right, line) in transpose([i, j, k, l]).into_iter().zip(rows) {
            Self::store_half(right, line, 1);
        }
    }

    #[inline(always)]
    fn add_if_negative(self, p: Self) -> Self {
        let p = p.0[0].0;
        let [a, b] = self.0;
        // SAFETY: a `Ymms` proves AVX.
        unsafe {
            let negative_a = _mm256_cmp_pd::<_CMP_LT_OQ>(a.0, _mm256_setzero_pd());
            let negative_b = _mm256_cmp_pd::<_CMP_LT_OQ>(b.0, _mm256_setzero_pd());
            Self([
                Ymm(_mm256_add_pd(a.0, _mm256_and_pd(negative_a, p))),
                Ymm(_mm256_add_pd(b.0, _mm256_and_pd(negative_b, p))),
            ])
        }
    }

    #[inline(always)]
    fn shape(_: HaveAvx2Fma, bits: u32) -> [Part; 2] {
        [
            Part::new(bits, 0, bits.min(LOW)),
            Part::new(bits, LOW, bits.saturating_sub(LOW)),
        ]
    }

    #[inline(always)]
    fn digits(token: HaveAvx2Fma, limbs: &[u64], bits: u32, line: usize, shape: &[Part; 2]) -> [Self; 2] {
        // Eight digits are `bits` bytes.
        let from = line * bits as usize;
        assert!(bits <= MAX_BITS && from + 128 <= 8 * limbs.len(), "128 bytes to load");
        // SAFETY: the 128 bytes from `from` on are within the slice, as was asserted; `shape` was made for `bits`, or
        // for another number of at most 96.
        unsafe {
            let at = limbs.as_ptr().cast::<u8>().add(from);
            [shape[0].of(token, at), shape[1].of(token, at)]
        }
    }

    #[inline(always)]
    fn to_integers(self) -> [u64; 8] {
        let [a, b] = self.0;
        // SAFETY: a `Ymms` proves AVX; both types are as many bytes, all of which are valid whatever they are.
        unsafe {
            let top = _mm256_set1_pd(TOP);
            transmute::<[__m256d; 2], [u64; 8]>([
                _mm256_xor_pd(_mm256_add_pd(a.0, top), top),
                _mm256_xor_pd(_mm256_add_pd(b.0, top), top),
            ])
        }
    }
}
