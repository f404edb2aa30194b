//! `mpz_t`, owned and freed, and its functions as methods.

use std::{mem::MaybeUninit, slice};

use gmp_mpfr_sys::gmp::{self, limb_t, mpz_t, size_t};

use crate::limbs::{self, LIMB_BYTES};

/// An integer of any size.
pub(crate) struct Number {
    raw: mpz_t,
}

impl Number {
    /// Zero, with capacity for `bits` bits.
    pub(crate) fn with_capacity(bits: usize) -> Self {
        let mut raw = MaybeUninit::uninit();
        // SAFETY: `mpz_init2` initialises what it is given.
        let raw = unsafe {
            gmp::mpz_init2(raw.as_mut_ptr(), bits as gmp::bitcnt_t);
            raw.assume_init()
        };
        Self { raw }
    }

    /// The value of big-endian bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut number = Self::with_capacity(8 * bytes.len());
        number.read(bytes);
        number
    }

    /// Takes the value of big-endian bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        let length = size_t::try_from(bytes.len().div_ceil(LIMB_BYTES)).expect("a number of this program fits memory");
        // SAFETY: `raw` is initialised; `mpz_limbs_write` gives room for the limbs asked for (one at least), of which
        // all that `mpz_limbs_finish` is told of are written.
        unsafe {
            let room = gmp::mpz_limbs_write(&mut self.raw, length.max(1));
            for (index, limb) in limbs::from_bytes(bytes).enumerate() {
                room.add(index).write(limb);
            }
            gmp::mpz_limbs_finish(&mut self.raw, length);
        }
    }

    /// Writes the value big-endian, filled up with zeros; false, and nothing written, if it has more bytes than
    /// `bytes`.
    pub(crate) fn write(&self, bytes: &mut [u8]) -> bool {
        let fits = self.bits().div_ceil(8) <= bytes.len();
        if fits {
            limbs::to_bytes(self.limbs(), bytes);
        }
        fits
    }

    /// The limbs of the absolute value, the highest of which is not zero.
    fn limbs(&self) -> &[limb_t] {
        // SAFETY: that many limbs of an initialised number are initialised, and stay so while it is borrowed.
        unsafe { slice::from_raw_parts(gmp::mpz_limbs_read(&self.raw), gmp::mpz_size(&self.raw)) }
    }

    /// Bits without leading zeros.
    pub(crate) fn bits(&self) -> usize {
        let limbs = self.limbs();
        limbs.last().map_or(0, |highest| {
            8 * LIMB_BYTES * limbs.len() - highest.leading_zeros() as usize
        })
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.raw.size == 0
    }

    pub(crate) fn is_odd(&self) -> bool {
        self.limbs().first().is_some_and(|lowest| lowest % 2 == 1)
    }

    /// Becomes `a + b`.
    pub(crate) fn set_sum(&mut self, a: &Number, b: &Number) {
        // SAFETY: all are initialised, the result exclusively borrowed.
        unsafe { gmp::mpz_add(&mut self.raw, &a.raw, &b.raw) };
    }

    /// Becomes `a − b`, which may be negative.
    pub(crate) fn set_difference(&mut self, a: &Number, b: &Number) {
        // SAFETY: all are initialised, the result exclusively borrowed.
        unsafe { gmp::mpz_sub(&mut self.raw, &a.raw, &b.raw) };
    }

    /// Becomes `a − word`.
    pub(crate) fn set_less_word(&mut self, a: &Number, word: u64) {
        // SAFETY: both are initialised, the result exclusively borrowed.
        unsafe { gmp::mpz_sub_ui(&mut self.raw, &a.raw, word) };
    }

    /// Becomes `a·b`.
    pub(crate) fn set_product(&mut self, a: &Number, b: &Number) {
        // SAFETY: all are initialised, the result exclusively borrowed.
        unsafe { gmp::mpz_mul(&mut self.raw, &a.raw, &b.raw) };
    }

    /// Becomes the least common multiple of `a` and `b`.
    pub(crate) fn set_lcm(&mut self, a: &Number, b: &Number) {
        // SAFETY: all are initialised, the result exclusively borrowed.
        unsafe { gmp::mpz_lcm(&mut self.raw, &a.raw, &b.raw) };
    }

    /// Becomes `a mod modulus`, not negative; the modulus must not be zero.
    pub(crate) fn set_modulo(&mut self, a: &Number, modulus: &Number) {
        assert!(!modulus.is_zero(), "a remainder by zero");
        // SAFETY: all are initialised, the result exclusively borrowed; the modulus is not zero.
        unsafe { gmp::mpz_mod(&mut self.raw, &a.raw, &modulus.raw) };
    }

    /// Becomes `base^exponent mod modulus`, for an exponent that is not negative and a modulus that is not zero.
    /// Variable time.
    pub(crate) fn set_power_vartime(&mut self, base: &Number, exponent: &Number, modulus: &Number) {
        assert!(!modulus.is_zero(), "a power modulo zero");
        assert!(exponent.raw.size >= 0, "a negative exponent");
        // SAFETY: all are initialised, the result exclusively borrowed; the modulus is not zero and the exponent not
        // negative.
        unsafe { gmp::mpz_powm(&mut self.raw, &base.raw, &exponent.raw, &modulus.raw) };
    }

    /// Becomes `base^exponent mod modulus` by GMP's function for secret exponents, for an exponent above zero and an
    /// odd modulus. It looks at all bits of the exponent's limbs: 64 for 65537, which has 17.
    pub(crate) fn set_power_secret(&mut self, base: &Number, exponent: &Number, modulus: &Number) {
        assert!(exponent.raw.size > 0, "an exponent that is not positive");
        assert!(modulus.is_odd(), "an even modulus");
        // SAFETY: all are initialised, the result exclusively borrowed; the exponent is positive and the modulus odd.
        unsafe { gmp::mpz_powm_sec(&mut self.raw, &base.raw, &exponent.raw, &modulus.raw) };
    }

    /// Becomes `a⁻¹ mod modulus`; false if there is none.
    pub(crate) fn set_inverse(&mut self, a: &Number, modulus: &Number) -> bool {
        // SAFETY: all are initialised, the result exclusively borrowed; the modulus is not zero, by the operators'
        // order.
        !modulus.is_zero() && unsafe { gmp::mpz_invert(&mut self.raw, &a.raw, &modulus.raw) } != 0
    }

    /// Returns whether it passes GMP's probable-prime test.
    pub(crate) fn is_probably_prime(&self, reps: i32) -> bool {
        // SAFETY: `raw` is initialised.
        unsafe { gmp::mpz_probab_prime_p(&self.raw, reps) != 0 }
    }

    /// Becomes the first probable prime greater than `start`.
    pub(crate) fn set_next_prime(&mut self, start: &Number) {
        // SAFETY: both are initialised, the result exclusively borrowed.
        unsafe { gmp::mpz_nextprime(&mut self.raw, &start.raw) };
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        // SAFETY: both are initialised.
        unsafe { gmp::mpz_cmp(&self.raw, &other.raw) == 0 }
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: `raw` is initialised and ours; nothing refers to it after this.
        unsafe { gmp::mpz_clear(&mut self.raw) };
    }
}
