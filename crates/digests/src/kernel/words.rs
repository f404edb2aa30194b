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
    /// self + constant mod 2^32, in every lane.
    #[inline(always)]
    fn add_constant(self, token: Self::Token, constant: &'static u32) -> Self {
        self.add(Self::splat(token, *constant))
    }
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

/// Rounds of the numbers at the end, on variables in the order of the names: `$kw` gives the sum of the constant and
/// the word of each, and `$next` is done with its number after it. Gives the state in its order.
macro_rules! rounds_of {
    ($kw:expr, $next:expr, [$a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident]) => {
        [$a, $b, $c, $d, $e, $f, $g, $h]
    };
    ($kw:expr, $next:expr, [$a:ident $b:ident $c:ident $d:ident $e:ident $f:ident $g:ident $h:ident]
        $n:literal $($rest:literal)*) => {{
        round!($kw($n), $a $b $c $d $e $f $g $h);
        $next($n);
        rounds_of!($kw, $next, [$h $a $b $c $d $e $f $g] $($rest)*)
    }};
}

/// [`rounds_of`] a state, which is replaced.
macro_rules! rounds {
    ($s:ident, $kw:expr, $next:expr, $($n:literal)*) => {
        $s = {
            #[allow(unused_mut)] // Of some of them, if there are fewer than four rounds.
            let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = $s;
            rounds_of!($kw, $next, [a b c d e f g h] $($n)*)
        }
    };
}

/// Sixteen rounds with their words, each of which the message's next one takes the place of if `$goes_on`.
macro_rules! sixteen_rounds {
    ($token:ident, $k:expr, $w:ident, $s:ident, $goes_on:literal) => {
        rounds!(
            $s,
            |i: usize| $w[i].add_constant($token, &$k[i]),
            |i: usize| if $goes_on { $w[i] = scheduled(&$w, i) },
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
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
static K: [[u32; 16]; 4] = {
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
/// The same for all counters are rounds 0 to 7 and round 8 but for the addition of the counter, W16 to W22 and their
/// sums with constants, and parts of W23 to W37: a fifth of all.
pub(super) struct Counted<V: Words> {
    token: V::Token,
    initial: [u32; 8],
    /// After round 8 with a counter of zero, in the order of round 8.
    state: [V; 8],
    /// W16 to W22, with the constants of their rounds.
    kw: [V; 7],
    /// W22, and what W23 to W31 are without the counter and what depends on it.
    w: [V; 10],
    /// What W32 to W37 are without the counter and what depends on it.
    later: [V; 6],
}

const MARK: u32 = 1 << 31;

impl<V: Words> Counted<V> {
    const BITS: u32 = 8 * 36;

    #[inline(always)]
    pub(super) fn new(token: V::Token, initial: &[u32; 8], bytes: [V; 8]) -> Self {
        let of = |word: u32| V::splat(token, word);
        let mut s = initial.map(of);
        rounds!(s, |i: usize| bytes[i].add_constant(token, &K[0][i]), |_: usize| (), 0 1 2 3 4 5 6 7);
        let [a, b, c, mut d, e, f, g, mut h] = s;
        round!(of(K[0][8]), a b c d e f g h);
        let [w0, w1, w2, w3, w4, w5, w6, w7] = bytes;
        let w16 = w0.add(sigma0(w1)).add(of(MARK));
        let w17 = w1.add(sigma0(w2)).add(of(sigma1(Self::BITS)));
        let w18 = w2.add(sigma0(w3)).add(sigma1(w16));
        let w19 = w3.add(sigma0(w4)).add(sigma1(w17));
        let w20 = w4.add(sigma0(w5)).add(sigma1(w18));
        let w21 = w5.add(sigma0(w6)).add(sigma1(w19));
        let w22 = w6.add(sigma0(w7)).add(of(Self::BITS)).add(sigma1(w20));
        let w23 = w7.add(w16).add(sigma1(w21));
        let w24 = w17.add(of(sigma0(MARK))).add(sigma1(w22));
        let w25 = w18.add(of(MARK));
        let w30 = of(sigma0(Self::BITS));
        let w31 = sigma0(w16).add(of(Self::BITS));
        let whole = [w16, w17, w18, w19, w20, w21, w22];
        Self {
            token,
            initial: *initial,
            state: [a, b, c, d, e, f, g, h],
            kw: std::array::from_fn(|i| whole[i].add_constant(token, &K[1][i])),
            w: [w22, w23, w24, w25, w19, w20, w21, w22, w30, w31],
            later: std::array::from_fn(|i| whole[i].add(sigma0(whole[i + 1]))),
        }
    }

    /// The state after the message with this counter.
    #[inline(always)]
    pub(super) fn digest(&self, counter: u32, state: &mut [V::Memory; 8]) {
        let token = self.token;
        let of = |word: u32| V::splat(token, word);
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        (d, h) = (d.add(of(counter)), h.add(of(counter)));
        let rest = [counter, MARK, 0, 0, 0, 0, 0, Self::BITS];
        let mut s = rounds_of!(
            |i: usize| of(rest[i].wrapping_add(K[0][8 + i])),
            |_: usize| (),
            [h a b c d e f g] 1 2 3 4 5 6 7
        );
        // W22 to W31, in their places.
        let mut w = [of(0); 16];
        w[6..].copy_from_slice(&self.w);
        w[7] = w[7].add(of(sigma0(counter)));
        w[8] = w[8].add(of(counter));
        for i in 9..14 {
            w[i] = w[i].add(sigma1(w[i - 2]));
        }
        w[14] = w[14].add(w[7]).add(sigma1(w[12]));
        w[15] = w[15].add(w[8]).add(sigma1(w[13]));
        rounds!(
            s,
            |i: usize| match self.kw.get(i) {
                Some(&kw) => kw,
                None => w[i].add_constant(token, &K[1][i]),
            },
            |i: usize| w[i] = match self.later.get(i) {
                Some(later) => later.add(w[(i + 9) % 16]).add(sigma1(w[(i + 14) % 16])),
                None => scheduled(&w, i),
            },
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
        );
        sixteen_rounds!(token, K[2], w, s, true);
        sixteen_rounds!(token, K[3], w, s, false);
        for ((memory, word), initial) in state.iter_mut().zip(s).zip(self.initial) {
            word.add(of(initial)).store(memory);
        }
    }
}

/// The state after padded messages of 72 bytes: eight zeros and twice 32 bytes that differ from lane to lane.
///
/// ```text
/// first block    W0, W1 = 0, W2 … W9 the first 32 bytes, W10 … W15 the first 24 of the second
/// second block   W0, W1 the last eight of these, W2 = 2^31, W3 … W14 = 0, W15 = 576
/// ```
///
/// The first two rounds are the same in all lanes; in the second block, so are the words of fourteen rounds, and of
/// what follows from them a third.
#[inline(always)]
pub(super) fn salted<V: Words>(
    token: V::Token,
    initial: &[u32; 8],
    first: [V; 8],
    second: [V; 8],
    state: &mut [V::Memory; 8],
) {
    const BITS: u32 = 8 * 72;
    let of = |word: u32| V::splat(token, word);
    let mut begun = *initial;
    rounds!(begun, |i: usize| K[0][i], |_: usize| (), 0 1);
    let mut s = begun.map(of);
    let [f0, f1, f2, f3, f4, f5, f6, f7] = first;
    let [s0, s1, s2, s3, s4, s5, w0, w1] = second;
    let zero = of(0);
    let mut w = [zero, zero, f0, f1, f2, f3, f4, f5, f6, f7, s0, s1, s2, s3, s4, s5];
    w[0] = f7.add(sigma1(s4));
    w[1] = s0.add(sigma0(f0)).add(sigma1(s5));
    rounds!(
        s,
        |i: usize| w[i].add_constant(token, &K[0][i]),
        |i: usize| w[i] = scheduled(&w, i),
        2 3 4 5 6 7 8 9 10 11 12 13 14 15
    );
    sixteen_rounds!(token, K[1], w, s, true);
    sixteen_rounds!(token, K[2], w, s, true);
    sixteen_rounds!(token, K[3], w, s, false);
    for ((memory, word), initial) in state.iter_mut().zip(&mut s).zip(initial) {
        *word = word.add(of(*initial));
        word.store(memory);
    }
    // W16 to W31: sums of what is not zero of their terms.
    let words = [w0, w1, of(MARK)];
    let padding = |i: usize| if i == 15 { BITS } else { 0 };
    rounds!(
        s,
        |i: usize| match words.get(i) {
            Some(word) => word.add_constant(token, &K[0][i]),
            None => of(K[0][i].wrapping_add(padding(i))),
        },
        |_: usize| (),
        0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
    );
    let mut w = [zero; 16];
    w[0] = w0.add(sigma0(w1));
    w[1] = w1.add(of(sigma0(MARK).wrapping_add(sigma1(BITS))));
    w[2] = sigma1(w[0]).add(of(MARK));
    for i in 3..7 {
        w[i] = sigma1(w[i - 2]);
    }
    w[6] = w[6].add(of(BITS));
    for i in 7..16 {
        w[i] = sigma1(w[i - 2]).add(w[i - 7]);
    }
    w[14] = w[14].add(of(sigma0(BITS)));
    w[15] = w[15].add(sigma0(w[0])).add(of(BITS));
    sixteen_rounds!(token, K[1], w, s, true);
    sixteen_rounds!(token, K[2], w, s, true);
    sixteen_rounds!(token, K[3], w, s, false);
    for (memory, word) in state.iter_mut().zip(s) {
        V::load(token, memory).add(word).store(memory);
    }
}

/// One word, of one message or the same in all.
impl Words for u32 {
    type Token = ();
    type Memory = u32;

    fn load((): (), memory: &u32) -> u32 {
        *memory
    }

    fn store(self, memory: &mut u32) {
        *memory = self;
    }

    fn splat((): (), word: u32) -> u32 {
        word
    }

    fn add(self, b: u32) -> u32 {
        self.wrapping_add(b)
    }

    fn xor(self, b: u32, c: u32) -> u32 {
        self ^ b ^ c
    }

    fn choice(self, b: u32, c: u32) -> u32 {
        c ^ (self & (b ^ c))
    }

    fn majority(self, b: u32, c: u32) -> u32 {
        (self & b) | (c & (self | b))
    }

    fn rotate<const BITS: i32>(self) -> u32 {
        self.rotate_right(BITS as u32)
    }

    fn shift<const BITS: i32>(self) -> u32 {
        self >> BITS
    }
}
