//! Montgomery products and squares of numbers in registers.
//!
//! ```text
//! t = 0
//! for each limb b[i] of b:
//!     t = t + a b[i]
//!     t = t + n (t[0] · (−1/n) mod 2³²)
//!     t = t / 2³²
//! t = t − n if t ≥ n
//! ```
//!
//! (P. L. Montgomery 1985; the interleaving is "coarsely integrated operand scanning" of Koç, Acar and Kaliski 1996.)
//!
//! **Bounds.** For a and b below R, one of them below n, the sum is below 2 R after each row of a product, and in the
//! end below 2 n; it is below 3 n after each row of a square (the first i rows of a square are at most 2 a (a mod
//! 2³²ⁱ)). Before a row's division it is below 4 R 2³², so the column above the highest holds at most 3. All parts of
//! the sum are non-negative, so no other column overflows. A result is below n.

use super::{
    emitter::{Emitter, Word, ZERO, emit},
    numbers::{Modulus, Read},
    separate,
    sum::{Sum, Term, row_of_square, subtract_once},
};

/// The most limbs for which products and reductions are interleaved, and written out row by row.
pub(super) const MOST_INTERLEAVED: usize = 32;

/// `to = a b / R mod n`, below n, if one of a and b is below n. `to` may be a.
pub(super) fn multiply(e: &mut Emitter, to: &[Word], a: &[Word], b: &mut Read, n: &Modulus) {
    if a.len() > MOST_INTERLEAVED {
        return separate::multiply(e, to, a, b, n);
    }
    let limbs = n.limbs(e);
    let mut sum = Sum::of(vec![ZERO; a.len()]);
    for row in 0..a.len() {
        if row > 0 {
            sum.shift();
        }
        let digit = b.next(e);
        let terms: Vec<_> = a.iter().map(|&a| Some(Term::Product(a, digit))).collect();
        sum.add_row(e, &terms);
        sum.reduce(e, &limbs, n.n0);
    }
    finish(e, to, sum, &limbs);
}

/// `to = a² / R mod n`, below n, for a below n. `to` may be a.
pub(super) fn square(e: &mut Emitter, to: &[Word], a: &[Word], n: &Modulus) {
    if a.len() > MOST_INTERLEAVED {
        return separate::square(e, to, a, n);
    }
    let limbs = n.limbs(e);
    let mut sum = Sum::of(vec![ZERO; a.len()]);
    for row in 0..a.len() {
        if row > 0 {
            sum.shift();
        }
        let terms = row_of_square(e, a, row);
        sum.add_row(e, &terms);
        sum.reduce(e, &limbs, n.n0);
    }
    finish(e, to, sum, &limbs);
}

/// `to = a / R mod n`, below n, for a below R. `to` may be a.
pub(super) fn leave(e: &mut Emitter, to: &[Word], a: &[Word], n: &Modulus) {
    if a.len() > MOST_INTERLEAVED {
        return separate::leave(e, to, a, n);
    }
    let limbs = n.limbs(e);
    // The sum is written to in place.
    let even = a.iter().map(|&limb| e.set(limb).into()).collect();
    let mut sum = Sum::of(even);
    for row in 0..a.len() {
        if row > 0 {
            sum.shift();
        }
        sum.reduce(e, &limbs, n.n0);
    }
    finish(e, to, sum, &limbs);
}

pub(super) fn finish(e: &mut Emitter, to: &[Word], mut sum: Sum, n: &[Word]) {
    sum.shift();
    let (limbs, top) = sum.join(e);
    subtract_once(e, to, &limbs, top.into(), n);
}

/// `to = 2 a mod n`, below n, for a below n. `to` may be a.
pub(super) fn double(e: &mut Emitter, to: &[Word], a: &[Word], n: &Modulus) {
    let doubled: Vec<Word> = (0..a.len())
        .map(|place| {
            let limb = e.word();
            match place {
                0 => emit!(e, "shl.b32", limb, a[0], 1),
                _ => emit!(e, "shf.l.wrap.b32", limb, a[place - 1], a[place], 1),
            }
            limb
        })
        .collect();
    let top = e.of2("shr.u32", a[a.len() - 1], 31);
    let n = n.limbs(e);
    subtract_once(e, to, &doubled, top.into(), &n);
}

/// `to = a + b mod n`, below n, for a and b below n. `to` may be either.
pub(super) fn add(e: &mut Emitter, to: &[Word], a: &[Word], b: &[Word], n: &Modulus) {
    let sum: Vec<Word> = a
        .iter()
        .zip(b)
        .enumerate()
        .map(|(place, (&a, &b))| e.of2(if place == 0 { "add.cc.u32" } else { "addc.cc.u32" }, a, b))
        .collect();
    let top = e.word();
    emit!(e, "addc.u32", top, ZERO, ZERO);
    let n = n.limbs(e);
    subtract_once(e, to, &sum, top.into(), &n);
}

/// `to = a − b mod n`, below n, for a and b below n. `to` may be either.
pub(super) fn subtract(e: &mut Emitter, to: &[Word], a: &[Word], b: &[Word], n: &Modulus) {
    let difference: Vec<Word> = a
        .iter()
        .zip(b)
        .enumerate()
        .map(|(place, (&a, &b))| e.of2(if place == 0 { "sub.cc.u32" } else { "subc.cc.u32" }, a, b))
        .collect();
    let mask = e.word();
    emit!(e, "subc.u32", mask, ZERO, ZERO);
    let masked: Vec<Word> = n.limbs(e).iter().map(|&n| e.of2("and.b32", n, mask)).collect();
    for (place, ((&to, d), n)) in to.iter().zip(difference).zip(masked).enumerate() {
        emit!(e, if place == 0 { "add.cc.u32" } else { "addc.cc.u32" }, to, d, n);
    }
}

/// −1/n mod 2³² for odd n, by Newton's iteration from three right bits.
pub(super) fn negative_inverse(e: &mut Emitter, n: Word) -> Word {
    let mut x = n;
    for _ in 0..4 {
        let product = e.of2("mul.lo.u32", n, x);
        let factor = e.of2("sub.u32", 2, product);
        x = e.of2("mul.lo.u32", x, factor);
    }
    e.of2("sub.u32", 0, x)
}
