//! Sixteen messages in 512-bit registers.

use std::arch::x86_64::*;

use crate::{
    block::{Block, MAX_LANES},
    kernel::{
        Lanes,
        words::{self, Words},
    },
};

/// The proof that CPU and operating system offer AVX-512 F and BW, and whether the CPU has the SHA extensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaveAvx512 {
    has_sha: bool,
}

impl HaveAvx512 {
    /// Asks the CPU, and the operating system whether it saves the registers.
    pub(crate) fn check() -> Option<Self> {
        let have = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        let has_sha = is_x86_feature_detected!("sha");
        have.then_some(Self { has_sha })
    }
}

/// A word of sixteen lanes. Made with a [`HaveAvx512`] only, so that every value is itself the proof.
#[derive(Clone, Copy)]
struct Zmm(__m512i);

/// Exclusive or of three, in the notation of `vpternlog`; and the other two functions of three bits.
const XOR: i32 = 0x96;
const CHOICE: i32 = 0xca;
const MAJORITY: i32 = 0xe8;

impl Words for Zmm {
    type Token = HaveAvx512;
    type Memory = [u32; 16];

    #[inline(always)]
    fn load(_: HaveAvx512, memory: &[u32; 16]) -> Self {
        // SAFETY: the token proves AVX-512 F; the reference makes 64 bytes readable, at any alignment.
        Self(unsafe { _mm512_loadu_si512(memory.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, memory: &mut [u32; 16]) {
        // SAFETY: a `Zmm` proves AVX-512 F; the reference makes 64 bytes writable, at any alignment.
        unsafe { _mm512_storeu_si512(memory.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn splat(_: HaveAvx512, word: u32) -> Self {
        // SAFETY: the token proves AVX-512 F.
        Self(unsafe { _mm512_set1_epi32(word as i32) })
    }

    #[inline(always)]
    fn add(self, b: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::add(self.0, b.0) })
    }

    #[inline(always)]
    fn add_constant(self, _: HaveAvx512, constant: &'static u32) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::add_constant(self.0, constant) })
    }

    #[inline(always)]
    fn xor(self, b: Self, c: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::ternary::<XOR>(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn choice(self, b: Self, c: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::ternary::<CHOICE>(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn majority(self, b: Self, c: Self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::ternary::<MAJORITY>(self.0, b.0, c.0) })
    }

    #[inline(always)]
    fn rotate<const BITS: i32>(self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::rotate::<BITS>(self.0) })
    }

    #[inline(always)]
    fn shift<const BITS: i32>(self) -> Self {
        // SAFETY: a `Zmm` proves AVX-512 F.
        Self(unsafe { in_order::shift::<BITS>(self.0) })
    }
}

/// Instructions that stay in the order in which they are written. Zen 4 has two pipes for rotations, and gives each of
/// them additions, too, as they come: the order of `words`, which follows the standard, takes 915 cycles a block where
/// that of LLVM's scheduler took 1,060.
mod in_order {
    use std::arch::{asm, x86_64::__m512i};

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add(a: __m512i, b: __m512i) -> __m512i {
        let sum;
        // SAFETY: this function has AVX-512 F; only the operands are touched.
        unsafe {
            asm!("vpaddd {sum}, {a}, {b}", sum = lateout(zmm_reg) sum, a = in(zmm_reg) a, b = in(zmm_reg) b,
                options(nomem, nostack, preserves_flags));
        }
        sum
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn add_constant(a: __m512i, constant: &'static u32) -> __m512i {
        let sum;
        // SAFETY: as for `add`; the reference makes four bytes readable.
        unsafe {
            asm!("vpaddd {sum}, {a}, dword ptr [{constant}]{{1to16}}", sum = lateout(zmm_reg) sum, a = in(zmm_reg) a,
                constant = in(reg) constant, options(readonly, nostack, preserves_flags));
        }
        sum
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn ternary<const FUNCTION: i32>(mut a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        // SAFETY: as for `add`.
        unsafe {
            asm!("vpternlogd {a}, {b}, {c}, {function}", a = inout(zmm_reg) a, b = in(zmm_reg) b, c = in(zmm_reg) c,
                function = const FUNCTION, options(nomem, nostack, preserves_flags));
        }
        a
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn rotate<const BITS: i32>(a: __m512i) -> __m512i {
        let rotated;
        // SAFETY: as for `add`.
        unsafe {
            asm!("vprord {rotated}, {a}, {bits}", rotated = lateout(zmm_reg) rotated, a = in(zmm_reg) a,
                bits = const BITS, options(nomem, nostack, preserves_flags));
        }
        rotated
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn shift<const BITS: i32>(a: __m512i) -> __m512i {
        let shifted;
        // SAFETY: as for `add`.
        unsafe {
            asm!("vpsrld {shifted}, {a}, {bits}", shifted = lateout(zmm_reg) shifted, a = in(zmm_reg) a,
                bits = const BITS, options(nomem, nostack, preserves_flags));
        }
        shifted
    }
}

/// The bytes of each word in the other order.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn reversed(register: __m512i) -> __m512i {
    let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    _mm512_shuffle_epi8(register, _mm512_broadcast_i32x4(order))
}

/// Four rows of words made four registers of which each has, in each quarter, one word of all four.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn by_fours([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_unpacklo_epi32(a, b), _mm512_unpacklo_epi32(c, d));
    let (ab_high, cd_high) = (_mm512_unpackhi_epi32(a, b), _mm512_unpackhi_epi32(c, d));
    [
        _mm512_unpacklo_epi64(ab, cd),
        _mm512_unpackhi_epi64(ab, cd),
        _mm512_unpacklo_epi64(ab_high, cd_high),
        _mm512_unpackhi_epi64(ab_high, cd_high),
    ]
}

/// Quarters in the place of registers: the first quarters of all four, the second ones, and so on.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn quarters([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let (ab, cd) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0x44>(c, d));
    let (ab_high, cd_high) = (_mm512_shuffle_i32x4::<0xee>(a, b), _mm512_shuffle_i32x4::<0xee>(c, d));
    [
        _mm512_shuffle_i32x4::<0x88>(ab, cd),
        _mm512_shuffle_i32x4::<0xdd>(ab, cd),
        _mm512_shuffle_i32x4::<0x88>(ab_high, cd_high),
        _mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high),
    ]
}

/// The words of blocks: a register a word, a block a lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transposed(blocks: &[&Block; 16]) -> [Zmm; 16] {
    let row = |lane: usize| {
        // SAFETY: this function has AVX-512 F; a block is 64 readable bytes, at any alignment.
        reversed(unsafe { _mm512_loadu_si512(blocks[lane].as_ptr().cast()) })
    };
    // Words 4 q + i of four lanes in quarter q of register i.
    let first = by_fours([row(0), row(1), row(2), row(3)]);
    let second = by_fours([row(4), row(5), row(6), row(7)]);
    let third = by_fours([row(8), row(9), row(10), row(11)]);
    let fourth = by_fours([row(12), row(13), row(14), row(15)]);
    let of = |i: usize| {
        let [a, b, c, d] = quarters([first[i], second[i], third[i], fourth[i]]);
        [Zmm(a), Zmm(b), Zmm(c), Zmm(d)]
    };
    let (a, b, c, d) = (of(0), of(1), of(2), of(3));
    [
        a[0], b[0], c[0], d[0], a[1], b[1], c[1], d[1], a[2], b[2], c[2], d[2], a[3], b[3], c[3], d[3],
    ]
}

/// Eight words of each lane: a register a word.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transposed_halves(bytes: &[&[u8; 32]; 16]) -> [Zmm; 8] {
    let half = |lane: usize| {
        // SAFETY: this function has AVX-512 F, and so AVX; these are 32 readable bytes, at any alignment.
        unsafe { _mm256_loadu_si256(bytes[lane].as_ptr().cast()) }
    };
    let rows = |lane: usize| {
        reversed(_mm512_inserti64x4::<1>(
            _mm512_castsi256_si512(half(lane)),
            half(lane + 4),
        ))
    };
    // Words i and 4 + i of four lanes in the quarters of register i, and after them those of the next four lanes.
    let first = by_fours([rows(0), rows(1), rows(2), rows(3)]);
    let second = by_fours([rows(8), rows(9), rows(10), rows(11)]);
    let low = |i: usize| Zmm(_mm512_shuffle_i32x4::<0x88>(first[i], second[i]));
    let high = |i: usize| Zmm(_mm512_shuffle_i32x4::<0xdd>(first[i], second[i]));
    [low(0), low(1), low(2), low(3), high(0), high(1), high(2), high(3)]
}

#[target_feature(enable = "avx512f,avx512bw")]
fn compress(token: HaveAvx512, state: &mut [[u32; 16]; 8], blocks: &[&Block; 16]) {
    words::compress(token, state, transposed(blocks));
}

#[target_feature(enable = "avx512f,avx512bw")]
fn counted(
    token: HaveAvx512,
    initial: &[u32; 8],
    bytes: &[&[u8; 32]; 16],
    counters: usize,
    mut each: impl FnMut(usize, &[[u8; 32]; 16]),
) {
    let counted = words::Counted::new(token, initial, transposed_halves(bytes));
    let (mut state, mut of_all) = ([[0; 16]; 8], [[0; 32]; 16]);
    for counter in 0..counters {
        counted.digest(counter as u32, &mut state);
        digests(token, &state, &mut of_all);
        each(counter, &of_all);
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn salted(token: HaveAvx512, initial: &[u32; 8], [first, second]: [&[&[u8; 32]; 16]; 2], of_all: &mut [[u8; 32]; 16]) {
    let mut state = [[0; 16]; 8];
    words::salted(
        token,
        initial,
        transposed_halves(first),
        transposed_halves(second),
        &mut state,
    );
    digests(token, &state, of_all);
}

#[target_feature(enable = "avx512f,avx512bw")]
fn digests(token: HaveAvx512, state: &[[u32; 16]; 8], digests: &mut [[u8; 32]; 16]) {
    let word = |word: usize| Zmm::load(token, &state[word]).0;
    let low = by_fours([word(0), word(1), word(2), word(3)]);
    let high = by_fours([word(4), word(5), word(6), word(7)]);
    // Quarter q of register i of `low` has the words of lane 4 q + i. In turn with those of `high` they are whole.
    let in_turn = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    let in_turn_above = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    for i in 0..4 {
        let (low, high) = (reversed(low[i]), reversed(high[i]));
        let two = _mm512_permutex2var_epi64(low, in_turn, high);
        let two_above = _mm512_permutex2var_epi64(low, in_turn_above, high);
        for (lane, digest) in [
            (i, _mm512_castsi512_si256(two)),
            (4 + i, _mm512_extracti64x4_epi64::<1>(two)),
            (8 + i, _mm512_castsi512_si256(two_above)),
            (12 + i, _mm512_extracti64x4_epi64::<1>(two_above)),
        ] {
            // SAFETY: this function has AVX-512 F, and so AVX; a digest is 32 writable bytes, at any alignment.
            unsafe { _mm256_storeu_si256(digests[lane].as_mut_ptr().cast(), digest) }
        }
    }
}

impl Lanes for HaveAvx512 {
    const LANES: usize = 16;
    type State = [[u32; 16]; 8];

    fn least(self) -> usize {
        match self.has_sha {
            true => 6,
            false => 2,
        }
    }

    fn begin(self, initial: &[u32; 8]) -> [[u32; 16]; 8] {
        initial.map(|word| [word; 16])
    }

    fn compress(self, state: &mut [[u32; 16]; 8], blocks: &[&Block; MAX_LANES]) {
        // SAFETY: the token proves AVX-512 F and BW.
        unsafe { compress(self, state, blocks) }
    }

    fn counted(
        self,
        initial: &[u32; 8],
        bytes: &[&[u8; 32]; MAX_LANES],
        counters: usize,
        each: impl FnMut(usize, &[[u8; 32]; MAX_LANES]),
    ) -> bool {
        // SAFETY: the token proves AVX-512 F and BW.
        unsafe { counted(self, initial, bytes, counters, each) }
        true
    }

    fn salted(
        self,
        initial: &[u32; 8],
        first: &[&[u8; 32]; MAX_LANES],
        second: &[&[u8; 32]; MAX_LANES],
        digests: &mut [[u8; 32]; MAX_LANES],
    ) -> bool {
        // SAFETY: the token proves AVX-512 F and BW.
        unsafe { salted(self, initial, [first, second], digests) }
        true
    }

    fn words(state: &[[u32; 16]; 8], lane: usize) -> [u32; 8] {
        state.map(|word| word[lane])
    }

    fn digests(self, state: &[[u32; 16]; 8], to: &mut [[u8; 32]; MAX_LANES]) {
        // SAFETY: the token proves AVX-512 F and BW.
        unsafe { digests(self, state, to) }
    }
}
