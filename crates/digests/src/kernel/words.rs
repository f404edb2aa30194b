//! The rounds over words of many lanes.

use crate::constants::ROUNDS;

/// A 32-bit word of each lane. A value can only be made with a [`Token`](Self::Token), so that having one proves that
/// this CPU can work on it.
pub(super) trait Words: Copy {
    /// The proof that this CPU has the instructions.
    type Token: Copy;
    /// The words in memory.
    type Memory;

    /// The words of memory.
    fn load(token: Self::Token, memory: &Self::Memory) -> Self;
    /// To memory.
    fn store(self, memory: &mut Self::Memory);
    /// One word, in every lane.
    fn splat(token: Self::Token, word: u32) -> Self;
    /// self + b mod 2^32.
    fn add(self, b: Self) -> Self;
    /// The sum of all three without carries.
    fn xor(self, b: Self, c: Self) -> Self;
    /// Bits of b where those of self are set, and of c elsewhere.
    fn choice(self, b: Self, c: Self) -> Self;
    /// Bits that two of the three have.
    fn majority(self, b: Self, c: Self) -> Self;
    /// Rotated to the right.
    fn rotate<const BITS: i32>(self) -> Self;
    /// Shifted to the right.
    fn shift<const BITS: i32>(self) -> Self;
}

/// One round (FIPS 180-4, section 6.2.2, step 3) with the sum of its constant and its word: what was a becomes b, and
/// so on, by the order of the names.
macro_rules! round {
    ($kw:expr, $a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident) => {
        let sum1 = $e.rotate::<6>().xor($e.rotate::<11>(), $e.rotate::<25>());
        let t1 = $h.add($kw).add($e.choice($f, $g)).add(sum1);
        let sum0 = $a.rotate::<2>().xor($a.rotate::<13>(), $a.rotate::<22>());
        $d = $d.add(t1);
        $h = t1.add($a.majority($b, $c)).add(sum0);
    };
}

/// Eight rounds: `$kw` gives the sum of the constant and the word of each, and `$next` is done with its number after
/// it.
macro_rules! eight_rounds {
    ($s:ident, $kw:expr, $next:expr,
        $n0:literal $n1:literal $n2:literal $n3:literal $n4:literal $n5:literal $n6:literal $n7:literal) => {
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = $s;
        round!($kw($n0), a b c d e f g h);
        $next($n0);
        round!($kw($n1), h a b c d e f g);
        $next($n1);
        round!($kw($n2), g h a b c d e f);
        $next($n2);
        round!($kw($n3), f g h a b c d e);
        $next($n3);
        round!($kw($n4), e f g h a b c d);
        $next($n4);
        round!($kw($n5), d e f g h a b c);
        $next($n5);
        round!($kw($n6), c d e f g h a b);
        $next($n6);
        round!($kw($n7), b c d e f g h a);
        $next($n7);
        $s = [a, b, c, d, e, f, g, h];
    };
}

/// Sixteen rounds with their words, each of which the message's next one takes the place of if `$goes_on`.
macro_rules! sixteen_rounds {
    ($token:ident, $k:expr, $w:ident, $s:ident, $goes_on:literal) => {
        eight_rounds!(
            $s,
            |i: usize| $w[i].add(V::splat($token, $k[i])),
            |i: usize| if $goes_on { $w[i] = scheduled(&$w, i) },
            0 1 2 3 4 5 6 7
        );
        eight_rounds!(
            $s,
            |i: usize| $w[i].add(V::splat($token, $k[i])),
            |i: usize| if $goes_on { $w[i] = scheduled(&$w, i) },
            8 9 10 11 12 13 14 15
        );
    };
}

/// Section 4.1.2, (4.6).
#[inline(always)]
fn sigma0<V: Words>(word: V) -> V {
    word.rotate::<7>().xor(word.rotate::<18>(), word.shift::<3>())
}

/// Section 4.1.2, (4.7).
#[inline(always)]
fn sigma1<V: Words>(word: V) -> V {
    word.rotate::<17>().xor(word.rotate::<19>(), word.shift::<10>())
}

/// The message's next word, for the place of the one that was used (section 6.2.2, step 1).
#[inline(always)]
fn scheduled<V: Words>(w: &[V; 16], i: usize) -> V {
    let sigmas = (sigma0(w[(i + 1) % 16]), sigma1(w[(i + 14) % 16]));
    w[i].add(w[(i + 9) % 16]).add(sigmas.0).add(sigmas.1)
}

/// The constants of sixteen rounds.
const K: [[u32; 16]; 4] = {
    let (constants, _) = ROUNDS.as_chunks();
    [constants[0], constants[1], constants[2], constants[3]]
};

/// Compresses the words of a block in each lane.
#[inline(always)]
pub(super) fn compress<V: Words>(token: V::Token, state: &mut [V::Memory; 8], mut w: [V; 16]) {
    let load = |word: &V::Memory| V::load(token, word);
    let [a, b, c, d, e, f, g, h] = state.each_ref();
    let mut s = [load(a), load(b), load(c), load(d), load(e), load(f), load(g), load(h)];
    for k in &K[..3] {
        sixteen_rounds!(token, k, w, s, true);
    }
    sixteen_rounds!(token, K[3], w, s, false);
    for (memory, word) in state.iter_mut().zip(s) {
        V::load(token, memory).add(word).store(memory);
    }
}

/// Words of a padded message of 36 bytes, 32 that differ from lane to lane and a counter.
///
/// ```text
/// W0 … W7 the 32 bytes, W8 the counter, W9 = 2^31, W10 … W14 = 0, W15 = 288
/// ```
///
/// Rounds 0 to 7, W16 to W22, and parts of the words after them are the same for all counters: a sixth of all.
pub(super) struct Counted<V: Words> {
    token: V::Token,
    initial: [u32; 8],
    /// After round 7.
    state: [V; 8],
    /// W16 to W22, which are whole, and what W23 to W31 are without the counter and what depends on it.
    w: [V; 16],
}

const MARK: u32 = 1 << 31;
const BITS: u32 = 8 * 36;

impl<V: Words> Counted<V> {
    #[inline(always)]
    pub(super) fn new(token: V::Token, initial: &[u32; 8], bytes: [V; 8]) -> Self {
        let of = |word: u32| V::splat(token, word);
        let [a, b, c, d, e, f, g, h] = *initial;
        let mut s = [of(a), of(b), of(c), of(d), of(e), of(f), of(g), of(h)];
        eight_rounds!(s, |i: usize| bytes[i].add(of(K[0][i])), |_: usize| (), 0 1 2 3 4 5 6 7);
        let [w0, w1, w2, w3, w4, w5, w6, w7] = bytes;
        let w16 = w0.add(sigma0(w1)).add(of(MARK));
        let w17 = w1.add(sigma0(w2)).add(sigma1(of(BITS)));
        let w18 = w2.add(sigma0(w3)).add(sigma1(w16));
        let w19 = w3.add(sigma0(w4)).add(sigma1(w17));
        let w20 = w4.add(sigma0(w5)).add(sigma1(w18));
        let w21 = w5.add(sigma0(w6)).add(sigma1(w19));
        let w22 = w6.add(sigma0(w7)).add(of(BITS)).add(sigma1(w20));
        let w23 = w7.add(w16).add(sigma1(w21));
        let w24 = sigma0(of(MARK)).add(w17).add(sigma1(w22));
        let w25 = w18.add(of(MARK));
        let w30 = sigma0(of(BITS));
        let w31 = sigma0(w16).add(of(BITS));
        let w = [
            w16, w17, w18, w19, w20, w21, w22, w23, w24, w25, w19, w20, w21, w22, w30, w31,
        ];
        Self {
            token,
            initial: *initial,
            state: s,
            w,
        }
    }

    /// The state after the message with this counter.
    #[inline(always)]
    pub(super) fn digest(&self, counter: u32, state: &mut [V::Memory; 8]) {
        let token = self.token;
        let (mut s, mut w) = (self.state, self.w);
        let rest = [counter, MARK, 0, 0, 0, 0, 0, BITS];
        eight_rounds!(
            s,
            |i: usize| V::splat(token, rest[i].wrapping_add(K[0][8 + i])),
            |_: usize| (),
            0 1 2 3 4 5 6 7
        );
        // W23 to W31.
        w[7] = w[7].add(sigma0(V::splat(token, counter)));
        w[8] = w[8].add(V::splat(token, counter));
        for i in 9..14 {
            w[i] = w[i].add(sigma1(w[i - 2]));
        }
        w[14] = w[14].add(w[7]).add(sigma1(w[12]));
        w[15] = w[15].add(w[8]).add(sigma1(w[13]));
        for k in &K[1..3] {
            sixteen_rounds!(token, k, w, s, true);
        }
        sixteen_rounds!(token, K[3], w, s, false);
        for ((memory, word), initial) in state.iter_mut().zip(s).zip(self.initial) {
            word.add(V::splat(token, initial)).store(memory);
        }
    }
}
