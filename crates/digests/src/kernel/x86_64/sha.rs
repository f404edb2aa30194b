//! Four messages, each in its own chain of the SHA extensions' instructions: while one waits, the others go on.

use std::arch::x86_64::*;

use crate::{
    alone,
    block::{Block, MAX_LANES},
    constants::ROUNDS,
    kernel::Lanes,
};

/// Chains.
const LANES: usize = 4;

/// The proof that the CPU offers the SHA extensions, SSSE3 and SSE4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaveSha(());

impl HaveSha {
    /// Asks the CPU.
    pub(crate) fn check() -> Option<Self> {
        let have =
            is_x86_feature_detected!("sha") && is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("sse4.1");
        have.then_some(Self(()))
    }
}

/// Sixteen bytes of words.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn load(words: &[u32; 4]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; the reference makes 16 bytes readable, at any alignment.
    unsafe { _mm_loadu_si128(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn store(words: &mut [u32; 4], register: __m128i) {
    // SAFETY: SSE2 is part of x86-64; the reference makes 16 bytes writable, at any alignment.
    unsafe { _mm_storeu_si128(words.as_mut_ptr().cast(), register) }
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
#[allow(clippy::needless_range_loop)] // A chain is an entry of each of several arrays.
fn compress(state: &mut [[u32; 8]; LANES], blocks: &[&Block; LANES]) {
    let order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let zero = _mm_setzero_si128();
    // Each chain's words in the order of the instructions (a, b, e, f and c, d, g, h, the first on top), and its
    // message.
    let (mut abef, mut cdgh, mut w) = ([zero; LANES], [zero; LANES], [[zero; 4]; LANES]);
    for lane in 0..LANES {
        let (halves, _) = state[lane].as_chunks::<4>();
        let badc = _mm_shuffle_epi32::<0xb1>(load(&halves[0]));
        let efgh = _mm_shuffle_epi32::<0x1b>(load(&halves[1]));
        abef[lane] = _mm_alignr_epi8::<8>(badc, efgh);
        cdgh[lane] = _mm_blend_epi16::<0xf0>(efgh, badc);
        for (w, bytes) in w[lane].iter_mut().zip(blocks[lane].as_chunks::<16>().0) {
            // SAFETY: SSE2 is part of x86-64; the reference makes 16 bytes readable, at any alignment.
            *w = _mm_shuffle_epi8(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }, order);
        }
    }
    let before = (abef, cdgh);
    /// Four rounds in each chain, and the message's next four words.
    macro_rules! four_rounds {
        ($($i:literal)*) => {$(
            let k = load(&ROUNDS.as_chunks::<4>().0[$i]);
            let mut wk = [zero; LANES];
            for lane in 0..LANES {
                wk[lane] = _mm_add_epi32(w[lane][$i % 4], k);
                cdgh[lane] = _mm_sha256rnds2_epu32(cdgh[lane], abef[lane], wk[lane]);
            }
            for lane in 0..LANES {
                abef[lane] = _mm_sha256rnds2_epu32(abef[lane], cdgh[lane], _mm_shuffle_epi32::<0x0e>(wk[lane]));
                if $i < 12 {
                    let w = &mut w[lane];
                    let (w2, w3) = (w[($i + 2) % 4], w[($i + 3) % 4]);
                    let first = _mm_sha256msg1_epu32(w[$i % 4], w[($i + 1) % 4]);
                    w[$i % 4] = _mm_sha256msg2_epu32(_mm_add_epi32(first, _mm_alignr_epi8::<4>(w3, w2)), w3);
                }
            }
        )*};
    }
    four_rounds!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    for lane in 0..LANES {
        let feba = _mm_shuffle_epi32::<0x1b>(_mm_add_epi32(abef[lane], before.0[lane]));
        let dchg = _mm_shuffle_epi32::<0xb1>(_mm_add_epi32(cdgh[lane], before.1[lane]));
        let (halves, _) = state[lane].as_chunks_mut::<4>();
        store(&mut halves[0], _mm_blend_epi16::<0xf0>(feba, dchg));
        store(&mut halves[1], _mm_alignr_epi8::<8>(dchg, feba));
    }
}

impl Lanes for HaveSha {
    const LANES: usize = LANES;
    type State = [[u32; 8]; LANES];

    fn least(self) -> usize {
        2
    }

    fn begin(self, initial: &[u32; 8]) -> [[u32; 8]; LANES] {
        [*initial; LANES]
    }

    fn compress(self, state: &mut [[u32; 8]; LANES], blocks: &[&Block; MAX_LANES]) {
        let blocks = blocks.first_chunk().expect("there are more lanes");
        // SAFETY: the token proves the SHA extensions, SSSE3 and SSE4.1.
        unsafe { compress(state, blocks) }
    }

    fn words(state: &[[u32; 8]; LANES], lane: usize) -> [u32; 8] {
        state[lane]
    }

    fn digests(self, state: &[[u32; 8]; LANES], digests: &mut [[u8; 32]; MAX_LANES]) {
        for (digest, state) in digests.iter_mut().zip(state) {
            *digest = alone::bytes(state);
        }
    }
}
