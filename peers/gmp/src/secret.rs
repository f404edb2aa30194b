//! The private operation in constant time, on GMP's functions for cryptography.
//!
//! `mpz_powm_sec` alone would not do: the remainders and the recombination around it would take a time that depends on
//! the primes. GMP's `mpn_sec_` functions take one that depends on the sizes only (GMP manual, "Low-level functions for
//! cryptography"), and so does this: the same work as `CrtVartime` in `block.rs`, in numbers of fixed length.

use gmp_mpfr_sys::gmp::{self, limb_t, size_t};
use rsalab_engines::{EngineError, StudyKey};
use zeroize::Zeroizing;

use crate::limbs::{self, LIMB_BYTES};

/// Little-endian limbs, wiped when dropped.
type Limbs = Zeroizing<Vec<limb_t>>;

/// One exponentiation: an odd modulus and a secret exponent of its length.
struct Power {
    modulus: Limbs,
    /// Bits of the modulus, and those of the exponent that are looked at.
    bits: usize,
    exponent: Limbs,
}

impl Power {
    fn new(modulus: &[u8], exponent: &[u8]) -> Result<Self, EngineError> {
        let modulus = significant(modulus);
        if modulus.last().is_none_or(|lowest| lowest % 2 == 0) {
            return Err(EngineError::Key("a modulus is even or zero".to_owned()));
        }
        let bits = 8 * modulus.len() - modulus[0].leading_zeros() as usize;
        let length = modulus.len().div_ceil(LIMB_BYTES);
        Ok(Self {
            modulus: to_limbs(modulus, length)?,
            bits,
            exponent: to_limbs(exponent, length)?,
        })
    }

    fn length(&self) -> usize {
        self.modulus.len()
    }

    /// Limbs of scratch for bases of `base_length` limbs.
    fn scratch_length(&self, base_length: usize) -> usize {
        // SAFETY: a function of the sizes, which are not zero.
        unsafe {
            gmp::mpn_sec_powm_itch(c_size(base_length), self.bits as gmp::bitcnt_t, c_size(self.length())) as usize
        }
    }

    /// `result = base^exponent mod modulus`.
    fn apply(&self, base: &[limb_t], result: &mut [limb_t], scratch: &mut [limb_t]) {
        assert_eq!(result.len(), self.length());
        assert!(scratch.len() >= self.scratch_length(base.len()));
        // SAFETY: every operand has the length passed for it, the exponent the limbs of `bits`; the modulus is odd and
        // its highest limb is not zero (`new`); result and scratch are exclusively borrowed and so overlap nothing; the
        // scratch is long enough.
        unsafe {
            gmp::mpn_sec_powm(
                result.as_mut_ptr(),
                base.as_ptr(),
                c_size(base.len()),
                self.exponent.as_ptr(),
                self.bits as gmp::bitcnt_t,
                self.modulus.as_ptr(),
                c_size(self.length()),
                scratch.as_mut_ptr(),
            );
        }
    }

    /// Leaves `value mod modulus` in the low limbs of `value`, which is at least as long as the modulus.
    fn reduce(&self, value: &mut [limb_t], scratch: &mut [limb_t]) {
        assert!(value.len() >= self.length());
        assert!(scratch.len() >= reduction_scratch_length(value.len(), self.length()));
        // SAFETY: both operands have the length passed, the value the greater; the modulus' highest limb is not zero;
        // value and scratch are exclusively borrowed; the scratch is long enough.
        unsafe {
            gmp::mpn_sec_div_r(
                value.as_mut_ptr(),
                c_size(value.len()),
                self.modulus.as_ptr(),
                c_size(self.length()),
                scratch.as_mut_ptr(),
            );
        }
    }
}

/// `c^d mod n` without the Chinese remainder theorem.
pub(crate) struct Plain {
    power: Power,
    base: Limbs,
    result: Limbs,
    scratch: Limbs,
}

impl Plain {
    pub(crate) fn new(key: &StudyKey) -> Result<Self, EngineError> {
        let power = Power::new(&key.n, &key.d)?;
        let length = power.length();
        let scratch = zeros(power.scratch_length(length));
        Ok(Self {
            power,
            base: zeros(length),
            result: zeros(length),
            scratch,
        })
    }

    pub(crate) fn apply(&mut self, input: &[u8], output: &mut [u8]) {
        read(input, &mut self.base);
        self.power.apply(&self.base, &mut self.result, &mut self.scratch);
        limbs::to_bytes(&self.result, output);
    }
}

/// `c^d mod n` with the Chinese remainder theorem (RFC 8017 section 5.1.2, step 2.b).
pub(crate) struct Crt {
    p: Power,
    q: Power,
    qinv: Limbs,
    base: Limbs,
    m1: Limbs,
    m2: Limbs,
    /// `m2` with the length of the longer prime.
    m2_widened: Limbs,
    difference_by_qinv: Limbs,
    message: Limbs,
    scratch: Limbs,
}

impl Crt {
    pub(crate) fn new(key: &StudyKey) -> Result<Self, EngineError> {
        let (p, q) = (Power::new(&key.p, &key.dp)?, Power::new(&key.q, &key.dq)?);
        let (p_length, q_length) = (p.length(), q.length());
        let base_length = key.n.len().div_ceil(LIMB_BYTES);
        let longer = p_length.max(q_length);
        let scratch_length = [
            p.scratch_length(base_length),
            q.scratch_length(base_length),
            reduction_scratch_length(longer, p_length),
            reduction_scratch_length(2 * p_length, p_length),
            product_scratch_length(p_length, p_length),
            product_scratch_length(longer, p_length.min(q_length)),
            addition_scratch_length(p_length),
        ]
        .into_iter()
        .max()
        .expect("there are some");
        Ok(Self {
            qinv: to_limbs(&key.qinv, p_length)?,
            base: zeros(base_length),
            m1: zeros(p_length),
            m2: zeros(q_length),
            m2_widened: zeros(longer),
            difference_by_qinv: zeros(2 * p_length),
            message: zeros(p_length + q_length),
            scratch: zeros(scratch_length),
            p,
            q,
        })
    }

    pub(crate) fn apply(&mut self, input: &[u8], output: &mut [u8]) {
        let Self {
            p,
            q,
            qinv,
            base,
            m1,
            m2,
            m2_widened,
            difference_by_qinv,
            message,
            scratch,
        } = self;
        read(input, base);
        // (i) m1 = c^dP mod p, m2 = c^dQ mod q; the exponentiation reduces its base.
        p.apply(base, m1, scratch);
        q.apply(base, m2, scratch);
        // (iii) h = (m1 − m2)·qInv mod p, with m2 brought below p first.
        m2_widened.fill(0);
        m2_widened[..m2.len()].copy_from_slice(m2);
        p.reduce(m2_widened, scratch);
        subtract_modulo(m1, &m2_widened[..p.length()], &p.modulus);
        multiply(difference_by_qinv, m1, qinv, scratch);
        p.reduce(difference_by_qinv, scratch);
        // (iv) m = m2 + q·h
        multiply(message, &difference_by_qinv[..p.length()], &q.modulus, scratch);
        add(message, m2, scratch);
        limbs::to_bytes(message, output);
    }
}

/// `a = (a − b) mod modulus`, for `a` and `b` below the modulus.
fn subtract_modulo(a: &mut [limb_t], b: &[limb_t], modulus: &[limb_t]) {
    assert!(a.len() == b.len() && a.len() == modulus.len());
    let (a_pointer, length) = (a.as_mut_ptr(), c_size(a.len()));
    // SAFETY: all have the length passed; the result is `a` itself, which both functions allow.
    unsafe {
        let borrow = gmp::mpn_sub_n(a_pointer, a_pointer, b.as_ptr(), length);
        gmp::mpn_cnd_add_n(borrow, a_pointer, a_pointer, modulus.as_ptr(), length);
    }
}

/// `product = a·b`.
fn multiply(product: &mut [limb_t], a: &[limb_t], b: &[limb_t], scratch: &mut [limb_t]) {
    let (longer, shorter) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    assert_eq!(product.len(), a.len() + b.len());
    assert!(scratch.len() >= product_scratch_length(longer.len(), shorter.len()));
    // SAFETY: the operands have the lengths passed, the longer first; the product has both lengths; product and scratch
    // are exclusively borrowed; the scratch is long enough.
    unsafe {
        gmp::mpn_sec_mul(
            product.as_mut_ptr(),
            longer.as_ptr(),
            c_size(longer.len()),
            shorter.as_ptr(),
            c_size(shorter.len()),
            scratch.as_mut_ptr(),
        );
    }
}

/// `a += b`, for `b` shorter than `a` and a sum that fits.
fn add(a: &mut [limb_t], b: &[limb_t], scratch: &mut [limb_t]) {
    let (low, high) = a.split_at_mut(b.len());
    assert!(scratch.len() >= addition_scratch_length(high.len()));
    let (low_pointer, high_pointer) = (low.as_mut_ptr(), high.as_mut_ptr());
    // SAFETY: `low` and `b` have one length, `high` the length passed; the results are `low` and `high` themselves,
    // which both functions allow; the scratch is long enough.
    unsafe {
        let carry = gmp::mpn_add_n(low_pointer, low_pointer, b.as_ptr(), c_size(b.len()));
        gmp::mpn_sec_add_1(
            high_pointer,
            high_pointer,
            c_size(high.len()),
            carry,
            scratch.as_mut_ptr(),
        );
    }
}

fn reduction_scratch_length(value: usize, modulus: usize) -> usize {
    // SAFETY: a function of the sizes, the first at least the second.
    unsafe { gmp::mpn_sec_div_r_itch(c_size(value), c_size(modulus)) as usize }
}

fn product_scratch_length(longer: usize, shorter: usize) -> usize {
    // SAFETY: a function of the sizes, the first at least the second.
    unsafe { gmp::mpn_sec_mul_itch(c_size(longer), c_size(shorter)) as usize }
}

fn addition_scratch_length(length: usize) -> usize {
    // SAFETY: a function of the size.
    unsafe { gmp::mpn_sec_add_1_itch(c_size(length)) as usize }
}

fn c_size(length: usize) -> size_t {
    size_t::try_from(length).expect("a number of this program fits memory")
}

fn zeros(length: usize) -> Limbs {
    Zeroizing::new(vec![0; length])
}

/// Big-endian bytes without leading zeros.
fn significant(bytes: &[u8]) -> &[u8] {
    let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
    &bytes[zeros..]
}

/// Big-endian bytes as `length` limbs, if they fit.
fn to_limbs(bytes: &[u8], length: usize) -> Result<Limbs, EngineError> {
    let bytes = significant(bytes);
    if bytes.len() > length * LIMB_BYTES {
        return Err(EngineError::Key(
            "an exponent or coefficient is longer than its modulus".to_owned(),
        ));
    }
    let mut limbs = zeros(length);
    read(bytes, &mut limbs);
    Ok(limbs)
}

/// Reads big-endian bytes, for which there must be enough limbs.
fn read(bytes: &[u8], limbs: &mut [limb_t]) {
    assert!(bytes.len() <= limbs.len() * LIMB_BYTES);
    limbs.fill(0);
    for (limb, value) in limbs.iter_mut().zip(limbs::from_bytes(bytes)) {
        *limb = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    /// The first prime after `byte` repeated, and its length in bytes.
    fn prime(byte: u8, length: usize) -> Number {
        let mut prime = Number::with_capacity(8 * length);
        prime.set_next_prime(&Number::from_bytes(&vec![byte; length]));
        prime
    }

    fn bytes(number: &Number, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        assert!(number.write(&mut bytes));
        bytes
    }

    fn key(p: &Number, q: &Number) -> StudyKey {
        let number = || Number::with_capacity(64);
        let (mut n, mut p1, mut q1, mut phi, mut d, mut dp, mut dq, mut qinv) = (
            number(),
            number(),
            number(),
            number(),
            number(),
            number(),
            number(),
            number(),
        );
        let e = Number::from_bytes(&[1, 0, 1]);
        n.set_product(p, q);
        p1.set_less_word(p, 1);
        q1.set_less_word(q, 1);
        phi.set_product(&p1, &q1);
        assert!(d.set_inverse(&e, &phi) && qinv.set_inverse(q, p));
        dp.set_modulo(&d, &p1);
        dq.set_modulo(&d, &q1);
        let length = n.bits().div_ceil(8);
        StudyKey {
            bits: n.bits(),
            others: Vec::new(),
            n: bytes(&n, length),
            e: vec![1, 0, 1],
            d: bytes(&d, length),
            p: bytes(p, length),
            q: bytes(q, length),
            dp: bytes(&dp, length),
            dq: bytes(&dq, length),
            qinv: bytes(&qinv, length),
        }
    }

    /// Primes of one length and of two, the longer first and second, of whole limbs and not.
    #[test]
    fn the_constant_time_forms_agree_with_mpz_powm() {
        let lengths = [(64, 64), (80, 48), (48, 80), (65, 64), (64, 65), (33, 31), (20, 45)];
        for (p_length, q_length) in lengths {
            let key = key(&prime(0xD3, p_length), &prime(0xE9, q_length));
            let (mut crt, mut plain) = (Crt::new(&key).unwrap(), Plain::new(&key).unwrap());
            let (n, d) = (Number::from_bytes(&key.n), Number::from_bytes(&key.d));
            let length = key.n.len();
            let mut largest = key.n.clone();
            largest[length - 1] -= 1;
            let mut one = vec![0; length];
            one[length - 1] = 1;
            let mut multiple_of_p = vec![0; length];
            multiple_of_p.copy_from_slice(&key.p);
            let mut all_ones = vec![0xFF; length];
            all_ones[0] = 0;
            for input in [vec![0; length], one, largest, multiple_of_p, all_ones] {
                let mut expected = Number::with_capacity(8 * length);
                expected.set_power_vartime(&Number::from_bytes(&input), &d, &n);
                let expected = bytes(&expected, length);
                let mut output = vec![0xA5; length];
                crt.apply(&input, &mut output);
                assert_eq!(output, expected, "CRT, primes of {p_length} and {q_length} bytes");
                output.fill(0xA5);
                plain.apply(&input, &mut output);
                assert_eq!(output, expected, "plain, primes of {p_length} and {q_length} bytes");
            }
        }
    }

    #[test]
    fn senseless_keys_are_refused() {
        let good = key(&prime(0xD3, 64), &prime(0xE9, 64));
        let spoilt = |spoil: fn(&mut StudyKey)| {
            let mut key = good.clone();
            spoil(&mut key);
            key
        };
        for key in [
            spoilt(|key| key.p = vec![2; 64]),
            spoilt(|key| key.q = vec![0; 64]),
            spoilt(|key| key.dp = vec![1; 128]),
            spoilt(|key| key.qinv = vec![1; 128]),
        ] {
            assert!(matches!(Crt::new(&key), Err(EngineError::Key(_))));
        }
        assert!(Plain::new(&spoilt(|key| key.n = vec![0; 128])).is_err());
    }
}
