//! Eight messages in 256-bit registers.

use std::arch::x86_64::*;

use crate::{
    alone,
    block::{Block, MAX_LANES},
    kernel::{
        Lanes,
        words::{self, Words},
    },
};

/// The proof that CPU and operating system offer AVX2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaveAvx2(());

impl HaveAvx2 {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

/// A word of eight lanes. Made with a [`HaveAvx2`] only, so that every value is itself the proof.
#[derive(Clone, Copy)]
struct Ymm(__m256i);

impl Words for Ymm {
    type Token = HaveAvx2;
    type Memory = [u32; 8];

    #[inline(always)]
    fn load(_: HaveAvx2, memory: &[u32; 8]) -> Self {
        // SAFETY: the token proves AVX; the reference makes 32 bytes readable, at any alignment.
        Self(unsafe { _mm256_loadu_si256(memory.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, memory: &mut [u32; 8]) {
        // SAFETY: a `Ymm` proves AVX; the reference makes 32 bytes writable, at any alignment.
        unsafe { _mm256_storeu_si256(memory.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn splat(_: HaveAvx2, word: u32) -> Self {
        // SAFETY: the token proves AVX.
        Self(unsafe { _mm256_set1_epi32(word as i32) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX2.
        Self(unsafe { _mm256_add_epi32(self.0, b.0) })
    }

    #[inline(always)]
    fn xor(self, b: Self, c: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX2.
        Self(unsafe { _mm256_xor_si256(_mm256_xor_si256(self.0, b.0), c.0) })
    }

    #[inline(always)]
    fn choice(self, b: Self, c: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX2.
        Self(unsafe { _mm256_xor_si256(c.0, _mm256_and_si256(self.0, _mm256_xor_si256(b.0, c.0))) })
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        // SAFETY: a `Ymm` proves AVX2.
        Self(unsafe {
            let both = _mm256_and_si256(self.0, b.0);
            _mm256_or_si256(both, _mm256_and_si256(c.0, _mm256_or_si256(self.0, b.0)))
        })
    }

    #[inline(always)]
    fn rotate<const BITS: i32>(self) -> Self {
        // SAFETY: a `Ymm` proves AVX2.
        Self(unsafe {
            let left = _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(32 - BITS));
            _mm256_or_si256(_mm256_srli_epi32::<BITS>(self.0), left)
        })
    }

    #[inline(always)]
    fn shift<const BITS: i32>(self) -> Self {
        // SAFETY: a `Ymm` proves AVX2.
        Self(unsafe { _mm256_srli_epi32::<BITS>(self.0) })
    }
}

/// Eight words of each of eight lanes: a register a word.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed<'b>(bytes: impl Fn(usize) -> &'b [u8; 32]) -> [Ymm; 8] {
    let order = _mm256_broadcastsi128_si256(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
    let row = |lane: usize| {
        // SAFETY: this function has AVX; these are 32 readable bytes, at any alignment.
        _mm256_shuffle_epi8(unsafe { _mm256_loadu_si256(bytes(lane).as_ptr().cast()) }, order)
    };
    // Words 4 q + i of four lanes in half q of register i.
    let by_fours = |[a, b, c, d]: [__m256i; 4]| {
        let (ab, cd) = (_mm256_unpacklo_epi32(a, b), _mm256_unpacklo_epi32(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi32(a, b), _mm256_unpackhi_epi32(c, d));
        [
            _mm256_unpacklo_epi64(ab, cd),
            _mm256_unpackhi_epi64(ab, cd),
            _mm256_unpacklo_epi64(ab_high, cd_high),
            _mm256_unpackhi_epi64(ab_high, cd_high),
        ]
    };
    let [a, b, c, d] = by_fours([row(0), row(1), row(2), row(3)]);
    let [e, f, g, h] = by_fours([row(4), row(5), row(6), row(7)]);
    [
        Ymm(_mm256_permute2x128_si256::<0x20>(a, e)),
        Ymm(_mm256_permute2x128_si256::<0x20>(b, f)),
        Ymm(_mm256_permute2x128_si256::<0x20>(c, g)),
        Ymm(_mm256_permute2x128_si256::<0x20>(d, h)),
        Ymm(_mm256_permute2x128_si256::<0x31>(a, e)),
        Ymm(_mm256_permute2x128_si256::<0x31>(b, f)),
        Ymm(_mm256_permute2x128_si256::<0x31>(c, g)),
        Ymm(_mm256_permute2x128_si256::<0x31>(d, h)),
    ]
}

#[target_feature(enable = "avx2")]
fn compress(token: HaveAvx2, state: &mut [[u32; 8]; 8], blocks: &[&Block]) {
    let half = |lane: usize| blocks[lane].first_chunk().expect("half a block");
    let last_half = |lane: usize| blocks[lane].last_chunk().expect("half a block");
    let [a, b, c, d, e, f, g, h] = transposed(half);
    let [i, j, k, l, m, n, o, p] = transposed(last_half);
    words::compress::<Ymm>(token, state, [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]);
}

#[target_feature(enable = "avx2")]
fn counted(
    token: HaveAvx2,
    initial: &[u32; 8],
    bytes: &[&[u8; 32]],
    counters: usize,
    mut each: impl FnMut(usize, &[[u8; 32]; MAX_LANES]),
) {
    let counted = words::Counted::new(token, initial, transposed(|lane| bytes[lane]));
    let (mut state, mut digests) = ([[0; 8]; 8], [[0; 32]; MAX_LANES]);
    for counter in 0..counters {
        counted.digest(counter as u32, &mut state);
        token.digests(&state, &mut digests);
        each(counter, &digests);
    }
}

#[target_feature(enable = "avx2")]
fn salted(
    token: HaveAvx2,
    initial: &[u32; 8],
    [first, second]: [&[&[u8; 32]]; 2],
    digests: &mut [[u8; 32]; MAX_LANES],
) {
    let mut state = [[0; 8]; 8];
    let (first, second) = (transposed(|lane| first[lane]), transposed(|lane| second[lane]));
    words::salted(token, initial, first, second, &mut state);
    token.digests(&state, digests);
}

impl Lanes for HaveAvx2 {
    const LANES: usize = 8;
    type State = [[u32; 8]; 8];

    fn least(self) -> usize {
        3
    }

    fn begin(self, initial: &[u32; 8]) -> [[u32; 8]; 8] {
        initial.map(|word| [word; 8])
    }

    fn compress(self, state: &mut [[u32; 8]; 8], blocks: &[&Block; MAX_LANES]) {
        // SAFETY: the token proves AVX2.
        unsafe { compress(self, state, &blocks[..8]) }
    }

    fn counted(
        self,
        initial: &[u32; 8],
        bytes: &[&[u8; 32]; MAX_LANES],
        counters: usize,
        each: impl FnMut(usize, &[[u8; 32]; MAX_LANES]),
    ) -> bool {
        // SAFETY: the token proves AVX2.
        unsafe { counted(self, initial, &bytes[..8], counters, each) }
        true
    }

    fn salted(
        self,
        initial: &[u32; 8],
        first: &[&[u8; 32]; MAX_LANES],
        second: &[&[u8; 32]; MAX_LANES],
        digests: &mut [[u8; 32]; MAX_LANES],
    ) -> bool {
        // SAFETY: the token proves AVX2.
        unsafe { salted(self, initial, [&first[..8], &second[..8]], digests) }
        true
    }

    fn words(state: &[[u32; 8]; 8], lane: usize) -> [u32; 8] {
        state.map(|word| word[lane])
    }

    fn digests(self, state: &[[u32; 8]; 8], digests: &mut [[u8; 32]; MAX_LANES]) {
        for (lane, digest) in digests[..8].iter_mut().enumerate() {
            *digest = alone::bytes(&Self::words(state, lane));
        }
    }
}
