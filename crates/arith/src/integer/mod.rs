//! Whole numbers of keys: products, inverses, gcd, reduction, and the parameters of a key.
//!
//! Numbers are big-endian byte strings of any length. Lengths are public; values are secret, and decide neither time
//! nor addresses, except in functions that say `vartime`, in answers that are returned, and in errors. Inversion and
//! gcd are Bernstein and Yang's division steps.

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
    /// Modulus, the product of all primes.
    pub n: &'a [u8],
    /// Public exponent.
    pub e: &'a [u8],
    /// Private exponent: the inverse of e modulo each prime less 1.
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
    /// The third prime and those after it, of a multi-prime key (RFC 8017, section 3.2).
    pub others: &'a [OtherPrime],
}

/// A prime of a multi-prime key after the first two, with its CRT parameters: RFC 8017's `OtherPrimeInfo`. Wiped on
/// drop.
#[derive(Clone)]
pub struct OtherPrime {
    /// The prime r.
    pub r: Bytes,
    /// d mod (r - 1).
    pub d: Bytes,
    /// The inverse modulo r of the product of all primes before it.
    pub t: Bytes,
}

/// The numbers that follow from the primes and a public exponent.
#[derive(Clone)]
pub struct Derived {
    /// The product of the primes, as long as its bits need.
    pub n: Vec<u8>,
    /// The inverse of e modulo the least common multiple of all primes less 1, as long as n.
    pub d: Bytes,
    /// d mod (p - 1), as long as p.
    pub dp: Bytes,
    /// d mod (q - 1), as long as q.
    pub dq: Bytes,
    /// q^-1 mod p, as long as p.
    pub qinv: Bytes,
    /// The third prime and those after it, each with parameters as long as itself.
    pub others: Vec<OtherPrime>,
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

/// `true` if a number is odd.
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

/// `true` if a < b.
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

/// The CRT key of two primes or more, with d = e^-1 mod lcm(p - 1, q - 1, …) (FIPS 186-5, A.1.1; RFC 8017, section
/// 3.2).
///
/// Primality is not tested.
///
/// # Errors
/// [`Error::NotInvertible`] if e shares a factor with a prime less 1, or a prime with another;
/// [`Error::InconsistentKey`] if a prime is even or 1, or if there are fewer than two.
pub fn derive(primes: &[&[u8]], e: &[u8]) -> Result<Derived, Error> {
    let lens: Vec<usize> = primes.iter().map(|prime| prime.len()).collect();
    let primes: Vec<Nat> = primes.iter().map(|prime| Nat::from_be(prime)).collect();
    let e = Nat::from_be(e);
    let [p, q, others @ ..] = &primes[..] else {
        return Err(Error::InconsistentKey("a key has two primes or more"));
    };
    if !primes.iter().all(|prime| declassify(is_proper(prime))) {
        return Err(Error::InconsistentKey("p and q must be odd primes"));
    }
    let predecessors: Vec<Nat> = primes.iter().map(predecessor).collect();
    let lambda = predecessors[2..].iter().fold(
        common_multiple(&predecessors[0], &predecessors[1]),
        |lambda, predecessor| common_multiple(&lambda, predecessor),
    );
    let (d, exponents): (_, Vec<Nat>) = match Word::new(&e) {
        Some(e) => (
            e.inverse_mod(&lambda)?,
            predecessors
                .iter()
                .map(|predecessor| e.inverse_mod(predecessor))
                .collect::<Result<_, _>>()?,
        ),
        None => {
            let d = inverse(&e, &lambda)?;
            let exponents = predecessors.iter().map(|predecessor| reduce(&d, predecessor));
            let exponents = exponents.collect();
            (d, exponents)
        }
    };
    let mut n = product(p, q);
    let mut infos = Vec::with_capacity(others.len());
    for (i, r) in others.iter().enumerate() {
        let (len, d) = (lens[2 + i], &exponents[2 + i]);
        infos.push(OtherPrime {
            r: r.to_be(len),
            d: d.to_be(len),
            t: inverse(&reduce(&n, r), r)?.to_be(len),
        });
        n = product(&n, r);
    }
    let n_len = words::bits_vartime(&n).div_ceil(8);
    Ok(Derived {
        n: n.to_be(n_len).to_vec(),
        dp: exponents[0].to_be(lens[0]),
        dq: exponents[1].to_be(lens[1]),
        qinv: inverse(q, p)?.to_be(lens[0]),
        d: d.to_be(n_len),
        others: infos,
    })
}

/// `true` if a number can be a prime of a key: odd, and not 1.
fn is_proper(prime: &Nat) -> Choice {
    Choice::from((prime[0] & 1) as u8) & !words::is_word(prime, 1)
}

/// `true` if gcd(p - 1, e) = 1, for p > 0.
pub fn is_coprime_to_predecessor(p: &[u8], e: &[u8]) -> bool {
    let divisor = common_divisor(&predecessor(&Nat::from_be(p)), &Nat::from_be(e));
    declassify(words::is_word(&divisor, 1))
}

/// `true` if |p - q| > 2^(n_bits/2 - 100) (FIPS 186-5, A.1.3, step 5.4), for a modulus of `n_bits` bits.
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
/// primality; RFC 8017, section 3.2, for more than two primes): n is the product of the primes, which are odd, above 1
/// and different; e d = 1 modulo each prime less 1; CRT exponents and coefficients are what d and the primes say.
///
/// # Errors
/// [`Error::InconsistentKey`] names the relation that fails.
pub fn check(parts: &PrivateParts<'_>) -> Result<(), Error> {
    let [n, e, d, p, q] = [parts.n, parts.e, parts.d, parts.p, parts.q].map(Nat::from_be);
    let [dp, dq, qinv] = [parts.dp, parts.dq, parts.qinv].map(Nat::from_be);
    require(is_proper(&p), "p is not an odd prime")?;
    require(is_proper(&q), "q is not an odd prime")?;
    require(!equal(&p, &q), "p and q are the same")?;
    let mut before = vec![p.clone(), q.clone()];
    let mut whole = product(&p, &q);
    if parts.others.is_empty() {
        require(equal(&whole, &n), "n is not p q")?;
    }
    let ed = product(&e, &d);
    let (p1, q1) = (predecessor(&p), predecessor(&q));
    require(is_one(&reduce(&ed, &p1)), "e d is not 1 modulo p - 1")?;
    require(is_one(&reduce(&ed, &q1)), "e d is not 1 modulo q - 1")?;
    require(equal(&reduce(&d, &p1), &dp), "dp is not d modulo p - 1")?;
    require(equal(&reduce(&d, &q1), &dq), "dq is not d modulo q - 1")?;
    require_inverse(
        &q,
        &p,
        &qinv,
        ["qinv is not below p", "qinv is not the inverse of q modulo p"],
    )?;
    for OtherPrime { r, d: dr, t } in parts.others {
        let [r, dr, t] = [r, dr, t].map(|part| Nat::from_be(part));
        require(is_proper(&r), "a prime after q is not an odd prime")?;
        for other in &before {
            require(!equal(&r, other), "two of its primes are the same")?;
        }
        let r1 = predecessor(&r);
        require(
            is_one(&reduce(&ed, &r1)),
            "e d is not 1 modulo r - 1, for a prime r after q",
        )?;
        require(
            equal(&reduce(&d, &r1), &dr),
            "the CRT exponent of a prime r after q is not d modulo r - 1",
        )?;
        require_inverse(
            &whole,
            &r,
            &t,
            [
                "the CRT coefficient of a prime after q is not below the prime",
                "the CRT coefficient of a prime after q is not the inverse of the product of the primes before it",
            ],
        )?;
        whole = product(&whole, &r);
        before.push(r);
    }
    require(equal(&whole, &n), "n is not the product of its primes")
}

fn require(holds: Choice, relation: &'static str) -> Result<(), Error> {
    match declassify(holds) {
        true => Ok(()),
        false => Err(Error::InconsistentKey(relation)),
    }
}

/// Refuses an inverse of a modulo m that is not below m, or not the inverse.
fn require_inverse(a: &Nat, m: &Nat, inverse: &Nat, [not_below, not_inverse]: [&'static str; 2]) -> Result<(), Error> {
    let (inverse_sized, m_sized) = same_length(inverse, m);
    require(words::is_less(&inverse_sized, &m_sized), not_below)?;
    require(is_one(&reduce(&product(a, inverse), m)), not_inverse)
}

fn is_one(a: &Nat) -> Choice {
    words::is_word(a, 1)
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
