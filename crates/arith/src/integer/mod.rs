//! Whole numbers of keys: products, inverses, gcd, reduction, and the parameters of a key.
//!
//! Numbers are big-endian byte strings of any length. Lengths are public; values are secret, and decide neither time
//! nor addresses, except in functions that say `vartime`, in answers that are returned, and in errors. Inversion and gcd
//! are Bernstein and Yang's division steps.

mod divide;
pub(crate) mod safegcd;
mod word;

use crate::Error;
use crate::declassify::declassify;
use crate::limbs::nat::product;
use crate::limbs::{Nat, words};
use divide::{divide_exact, modulo as reduce, shift_left, shift_right_if};
pub(crate) use divide::{shift_right, trailing_zeros};
use safegcd::Inverter;
use std::cmp::Ordering;
use subtle::Choice;
use word::Word;
use zeroize::Zeroizing;

/// A number as big-endian bytes, wiped on drop.
pub type Bytes = Zeroizing<Vec<u8>>;

/// The parts of a private key, big-endian, of any length (leading zeros are harmless).
#[derive(Clone, Copy)]
pub struct PrivateParts<'a> {
    /// Modulus, p q.
    pub n: &'a [u8],
    /// Public exponent.
    pub e: &'a [u8],
    /// Private exponent: the inverse of e modulo p - 1 and q - 1.
    pub d: &'a [u8],
    /// First prime.
    pub p: &'a [u8],
    /// Second prime; either may be the larger.
    pub q: &'a [u8],
    /// d mod (p - 1).
    pub dp: &'a [u8],
    /// d mod (q - 1).
    pub dq: &'a [u8],
    /// q^-1 mod p.
    pub qinv: &'a [u8],
}

/// What follows from two primes and a public exponent.
#[derive(Clone)]
pub struct Derived {
    /// p q, as long as its bits need.
    pub n: Vec<u8>,
    /// e^-1 mod lcm(p - 1, q - 1), as long as n.
    pub d: Bytes,
    /// d mod (p - 1), as long as p.
    pub dp: Bytes,
    /// d mod (q - 1), as long as q.
    pub dq: Bytes,
    /// q^-1 mod p, as long as p.
    pub qinv: Bytes,
}

/// Length of a number in bits, not counting leading zeros, in variable time.
pub fn bits_vartime(a: &[u8]) -> usize {
    a.iter()
        .position(|&byte| byte != 0)
        .map_or(0, |i| 8 * (a.len() - i) - a[i].leading_zeros() as usize)
}

/// The number in exactly `len` bytes; `None` if it does not fit. Its value does not show in the time.
pub fn with_length(a: &[u8], len: usize) -> Option<Bytes> {
    let mut fixed = Zeroizing::new(vec![0; len]);
    let (above, kept) = a.split_at(a.len().saturating_sub(len));
    fixed[len - kept.len()..].copy_from_slice(kept);
    (above.iter().fold(0, |seen, byte| seen | byte) == 0).then_some(fixed)
}

/// Whether a number is odd.
pub fn is_odd(a: &[u8]) -> bool {
    a.last().is_some_and(|byte| byte & 1 == 1)
}

/// a b, as long as both together.
pub fn multiply(a: &[u8], b: &[u8]) -> Bytes {
    product(&Nat::from_be(a), &Nat::from_be(b)).to_be(a.len() + b.len())
}

/// Compares two numbers in variable time.
pub fn compare_vartime(a: &[u8], b: &[u8]) -> Ordering {
    let significant = |a: &[u8]| a.len() - bits_vartime(a).div_ceil(8);
    let (a, b) = (&a[significant(a)..], &b[significant(b)..]);
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// Whether a < b.
pub fn is_less(a: &[u8], b: &[u8]) -> bool {
    let (a, b) = same_length(&Nat::from_be(a), &Nat::from_be(b));
    declassify(words::is_less(&a, &b))
}

/// a^-1 mod m, as long as m, for an odd or an even m > 1. Whether m and a are even is not kept secret.
///
/// # Errors
/// [`Error::NotInvertible`].
pub fn invert(a: &[u8], m: &[u8]) -> Result<Bytes, Error> {
    Ok(inverse(&Nat::from_be(a), &Nat::from_be(m))?.to_be(m.len()))
}

/// gcd(a, b), as long as the longer of them; gcd(0, b) = b.
pub fn gcd(a: &[u8], b: &[u8]) -> Bytes {
    common_divisor(&Nat::from_be(a), &Nat::from_be(b)).to_be(a.len().max(b.len()))
}

/// a / b, as long as a, for a `b` that divides it and is odd.
pub(crate) fn quotient(a: &[u8], b: &[u8]) -> Bytes {
    divide_exact(&Nat::from_be(a), &Nat::from_be(b)).to_be(a.len())
}

/// lcm(a, b), as long as both together; zero if either is.
pub fn lcm(a: &[u8], b: &[u8]) -> Bytes {
    common_multiple(&Nat::from_be(a), &Nat::from_be(b)).to_be(a.len() + b.len())
}

/// a mod m, as long as m.
///
/// # Errors
/// [`Error::OutOfRange`] if m is zero.
pub fn modulo(a: &[u8], m: &[u8]) -> Result<Bytes, Error> {
    let modulus = Nat::from_be(m);
    if words::is_zero(&modulus).into() {
        return Err(Error::OutOfRange {
            what: "the modulus, which must not be zero,",
        });
    }
    Ok(reduce(&Nat::from_be(a), &modulus).to_be(m.len()))
}

/// n = p q and phi = (p - 1) (q - 1), each as long as both primes together.
pub fn totient(p: &[u8], q: &[u8]) -> (Bytes, Bytes) {
    let (p, q, len) = (Nat::from_be(p), Nat::from_be(q), p.len() + q.len());
    (
        product(&p, &q).to_be(len),
        product(&predecessor(&p), &predecessor(&q)).to_be(len),
    )
}

/// d = e^-1 mod phi, as long as phi.
///
/// # Errors
/// [`Error::NotInvertible`] if e and phi share a factor.
pub fn private_exponent(e: &[u8], phi: &[u8]) -> Result<Bytes, Error> {
    invert(e, phi)
}

/// The CRT key of two primes, with d = e^-1 mod lcm(p - 1, q - 1) (FIPS 186-5, A.1.1).
///
/// That p and q are prime is not tested.
///
/// # Errors
/// [`Error::NotInvertible`] if e shares a factor with p - 1 or q - 1, or p with q; [`Error::InconsistentKey`] if p or q
/// is even or 1.
pub fn derive(p: &[u8], q: &[u8], e: &[u8]) -> Result<Derived, Error> {
    let (p_len, q_len) = (p.len(), q.len());
    let (p, q, e) = (Nat::from_be(p), Nat::from_be(q), Nat::from_be(e));
    for prime in [&p, &q] {
        if prime[0] & 1 == 0 || declassify(words::is_word(prime, 1)) {
            return Err(Error::InconsistentKey("p and q must be odd primes"));
        }
    }
    let (p1, q1) = (predecessor(&p), predecessor(&q));
    let n = product(&p, &q);
    let lambda = common_multiple(&p1, &q1);
    let (d, dp, dq) = match Word::new(&e) {
        Some(e) => (
            e.inverse_mod(&lambda)?,
            e.inverse_mod(&p1)?,
            e.inverse_mod(&q1)?,
        ),
        None => {
            let d = inverse(&e, &lambda)?;
            let (dp, dq) = (reduce(&d, &p1), reduce(&d, &q1));
            (d, dp, dq)
        }
    };
    let n_len = words::bits_vartime(&n).div_ceil(8);
    Ok(Derived {
        n: n.to_be(n_len).to_vec(),
        dp: dp.to_be(p_len),
        dq: dq.to_be(q_len),
        qinv: inverse(&q, &p)?.to_be(p_len),
        d: d.to_be(n_len),
    })
}

/// Whether gcd(p - 1, e) = 1, for p > 0.
pub fn is_coprime_to_predecessor(p: &[u8], e: &[u8]) -> bool {
    let divisor = common_divisor(&predecessor(&Nat::from_be(p)), &Nat::from_be(e));
    declassify(words::is_word(&divisor, 1))
}

/// Whether |p - q| > 2^(n_bits/2 - 100) (FIPS 186-5, A.1.3, step 5.4), for a modulus of `n_bits` bits.
pub fn differ_enough(p: &[u8], q: &[u8], n_bits: usize) -> bool {
    let (mut distance, q) = same_length(&Nat::from_be(p), &Nat::from_be(q));
    let borrow = words::sub_assign(&mut distance, &q);
    let negative = words::mask(borrow);
    distance.iter_mut().for_each(|limb| *limb ^= negative);
    words::add_carry(&mut distance, borrow);
    let Some(least) = (n_bits / 2).checked_sub(100) else {
        return !declassify(words::is_zero(&distance));
    };
    // distance > 2^least: something above bit `least`, or that bit and something below it.
    let mut low = distance.clone();
    shift_right_if(&mut distance, least, Choice::from(1));
    let above = !words::is_zero(&distance) & !words::is_word(&distance, 1);
    for (i, limb) in low.iter_mut().enumerate() {
        *limb &= match least.saturating_sub(64 * i) {
            kept @ 0..64 => (1 << kept) - 1,
            _ => u64::MAX,
        };
    }
    declassify(above | (words::is_word(&distance, 1) & !words::is_zero(&low)))
}

/// Checks every relation between the parts of a CRT key (NIST SP 800-56B rev. 2, 6.4.1.3, without the tests for
/// primality): n = p q with p and q odd, above 1 and different; e d = 1 modulo p - 1 and q - 1; dp, dq and qinv are what
/// d and q say.
///
/// # Errors
/// [`Error::InconsistentKey`] names the relation that fails.
pub fn check(parts: &PrivateParts<'_>) -> Result<(), Error> {
    let [n, e, d, p, q] = [parts.n, parts.e, parts.d, parts.p, parts.q].map(Nat::from_be);
    let [dp, dq, qinv] = [parts.dp, parts.dq, parts.qinv].map(Nat::from_be);
    let require = |holds: Choice, relation| match declassify(holds) {
        true => Ok(()),
        false => Err(Error::InconsistentKey(relation)),
    };
    let proper_prime = |p: &Nat| Choice::from((p[0] & 1) as u8) & !words::is_word(p, 1);
    require(proper_prime(&p), "p is not an odd prime")?;
    require(proper_prime(&q), "q is not an odd prime")?;
    require(!equal(&p, &q), "p and q are the same")?;
    require(equal(&product(&p, &q), &n), "n is not p q")?;
    let (p1, q1) = (predecessor(&p), predecessor(&q));
    let ed = product(&e, &d);
    require(
        words::is_word(&reduce(&ed, &p1), 1),
        "e d is not 1 modulo p - 1",
    )?;
    require(
        words::is_word(&reduce(&ed, &q1), 1),
        "e d is not 1 modulo q - 1",
    )?;
    require(equal(&reduce(&d, &p1), &dp), "dp is not d modulo p - 1")?;
    require(equal(&reduce(&d, &q1), &dq), "dq is not d modulo q - 1")?;
    let (qinv_sized, p_sized) = same_length(&qinv, &p);
    require(words::is_less(&qinv_sized, &p_sized), "qinv is not below p")?;
    let one = reduce(&product(&q, &qinv), &p);
    require(
        words::is_word(&one, 1),
        "qinv is not the inverse of q modulo p",
    )
}

/// a - 1, for a > 0.
fn predecessor(a: &Nat) -> Nat {
    let mut less = a.clone();
    words::sub_assign(&mut less, &Nat::from_word(1, a.len()));
    less
}

/// Both numbers, in as many limbs as the longer has.
fn same_length(a: &Nat, b: &Nat) -> (Nat, Nat) {
    let limbs = a.len().max(b.len());
    (a.resized(limbs), b.resized(limbs))
}

fn equal(a: &Nat, b: &Nat) -> Choice {
    let (a, b) = same_length(a, b);
    words::is_equal(&a, &b)
}

/// a^-1 mod m in as many limbs as m.
fn inverse(a: &Nat, m: &Nat) -> Result<Nat, Error> {
    let (mut x, m_sized) = same_length(a, m);
    let limbs = x.len();
    if bool::from(words::is_zero(m)) || bool::from(words::is_word(m, 1)) {
        return Err(Error::OutOfRange {
            what: "the modulus, which must be above 1,",
        });
    }
    let mut inverter = Inverter::new(limbs);
    if m[0] & 1 == 1 {
        return match inverter.invert(&mut x, &m_sized) {
            true => Ok(x.resized(m.len())),
            false => Err(Error::NotInvertible),
        };
    }
    // m is even, so a must be odd. With k = m^-1 mod a, a divides m k - 1, and a ((m k - 1) / a) = -1 mod m.
    if a[0] & 1 == 0 {
        return Err(Error::NotInvertible);
    }
    if words::is_word(a, 1).into() {
        return Ok(Nat::from_word(1, m.len()));
    }
    let mut k = m_sized.clone();
    if !inverter.invert(&mut k, &x) {
        return Err(Error::NotInvertible);
    }
    let quotient = divide_exact(&predecessor(&product(m, &k)), &x);
    let mut inverse = m_sized;
    words::sub_assign(&mut inverse, &quotient[..limbs]);
    // For a > m the quotient is still below m, since k < a.
    Ok(inverse.resized(m.len()))
}

/// gcd(a, b) in as many limbs as the longer.
fn common_divisor(a: &Nat, b: &Nat) -> Nat {
    let (mut a, mut b) = same_length(a, b);
    let limbs = a.len();
    // Take the common twos out; then one of the two is odd, unless both are zero.
    let mut either = a.clone();
    either.iter_mut().zip(b.iter()).for_each(|(a, &b)| *a |= b);
    let both_zero = words::is_zero(&either);
    let twos = trailing_zeros(&either) & !words::mask(both_zero);
    shift_right(&mut a, twos);
    shift_right(&mut b, twos);
    let swap = Choice::from((b[0] & 1) as u8);
    let saved = a.clone();
    words::assign_if(&mut a, &b, swap);
    words::assign_if(&mut b, &saved, swap);
    a[0] |= words::mask(both_zero) & 1;
    Inverter::new(limbs).gcd(&mut b, &a);
    b[0] &= !words::mask(both_zero);
    shift_left(&mut b, twos);
    b
}

/// lcm(a, b) in as many limbs as both together.
fn common_multiple(a: &Nat, b: &Nat) -> Nat {
    let mut divisor = common_divisor(a, b);
    let both_zero = words::is_zero(&divisor);
    divisor[0] |= words::mask(both_zero) & 1;
    let twos = trailing_zeros(&divisor);
    shift_right(&mut divisor, twos);
    let mut multiple = product(a, b);
    shift_right(&mut multiple, twos);
    divide_exact(&multiple, &divisor)
}
