//! `BIGNUM`, `BN_CTX` and `BN_GENCB`, owned and freed.

use std::{ffi::c_int, ptr};

use rsalab_engines::EngineError;

use crate::{
    count,
    library::Libcrypto,
    owned::Owned,
    table::{Bignum, BignumCtx, GenCallback, Word},
};

/// `BN_FLG_CONSTTIME`: the number is secret, and functions that have a branch-free variant take it.
const FLAG_SECRET: c_int = 4;

/// A non-negative integer of any size, wiped when dropped.
pub(crate) struct Number<'a>(Owned<'a, Bignum>);

impl<'a> Number<'a> {
    /// Zero.
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        // SAFETY: no arguments, no preconditions; what it returns is ours to free.
        unsafe { Self::from_raw(library, "BN_new", (library.table.BN_new)()) }
    }

    /// Zero, marked as secret.
    pub(crate) fn secret(library: &'a Libcrypto) -> Result<Self, EngineError> {
        let number = Self::new(library)?;
        // SAFETY: it is a live number that nothing else refers to.
        unsafe { (library.table.BN_set_flags)(number.0.as_ptr(), FLAG_SECRET) };
        Ok(number)
    }

    /// Takes over a number that `call` of libcrypto made for us; null is its failure.
    ///
    /// # Safety
    ///
    /// `raw` is null, or a live number that nobody else frees.
    pub(crate) unsafe fn from_raw(
        library: &'a Libcrypto,
        call: &'static str,
        raw: *mut Bignum,
    ) -> Result<Self, EngineError> {
        // SAFETY: the caller's promise; `BN_clear_free` frees numbers.
        unsafe { Owned::new(library, call, raw, library.table.BN_clear_free) }.map(Self)
    }

    fn as_ptr(&self) -> *const Bignum {
        self.0.as_ptr()
    }

    /// Searches a random prime of exactly `bits` bits whose two highest bits are set; its tests are counted in
    /// [`count`](crate::count).
    pub(crate) fn set_prime(&mut self, bits: usize, callback: &mut Callback<'_>) -> Result<(), EngineError> {
        let (exactly, none) = (c_length(bits), ptr::null());
        // SAFETY: result and callback are live and exclusively borrowed; null stands for "no congruence asked for".
        self.0.library.done("BN_generate_prime_ex", unsafe {
            (self.0.library.table.BN_generate_prime_ex)(self.0.as_ptr(), exactly, 0, none, none, callback.0.as_ptr())
        })
    }

    /// Returns whether it is probably prime, by trial division and as many rounds as the library takes for candidates
    /// of its own.
    ///
    /// So it is in AWS-LC and in OpenSSL before 3.0, where 0 rounds ask for that; later ones take 64 at least.
    pub(crate) fn is_prime(&self, scratch: &mut Scratch<'_>) -> Result<bool, EngineError> {
        const AS_FOR_GENERATION: c_int = 0;
        // SAFETY: number and scratch are live, the scratch exclusively borrowed; null asks for no callback.
        let code = unsafe {
            (self.0.library.table.BN_is_prime_fasttest_ex)(
                self.as_ptr(),
                AS_FOR_GENERATION,
                scratch.0.as_ptr(),
                1,
                ptr::null_mut(),
            )
        };
        match code {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.0.library.failure("BN_is_prime_fasttest_ex")),
        }
    }

    /// Takes the value of big-endian bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        // SAFETY: the bytes are readable for the length given; the number is live and exclusively borrowed.
        let read = unsafe { (self.0.library.table.BN_bin2bn)(bytes.as_ptr(), c_length(bytes.len()), self.0.as_ptr()) };
        if read.is_null() {
            Err(self.0.library.failure("BN_bin2bn"))
        } else {
            Ok(())
        }
    }

    /// Writes the value big-endian, filled up with zeros; false if it has more bytes than `bytes`.
    pub(crate) fn write(&self, bytes: &mut [u8]) -> bool {
        // SAFETY: the bytes are writable for the length given; it is live.
        unsafe { (self.0.library.table.BN_bn2binpad)(self.as_ptr(), bytes.as_mut_ptr(), c_length(bytes.len())) >= 0 }
    }

    /// Bits without leading zeros.
    pub(crate) fn bits(&self) -> usize {
        // SAFETY: it is live.
        let bits = unsafe { (self.0.library.table.BN_num_bits)(self.as_ptr()) };
        usize::try_from(bits).expect("a number of bits is not negative")
    }

    /// Subtracts a word.
    pub(crate) fn subtract_word(&mut self, word: Word) -> Result<(), EngineError> {
        // SAFETY: it is live and exclusively borrowed.
        self.0.library.done("BN_sub_word", unsafe {
            (self.0.library.table.BN_sub_word)(self.0.as_ptr(), word)
        })
    }

    /// Becomes `a·b`.
    pub(crate) fn set_product(
        &mut self,
        a: &Number<'_>,
        b: &Number<'_>,
        scratch: &mut Scratch<'_>,
    ) -> Result<(), EngineError> {
        // SAFETY: all three and the scratch are live, result and scratch exclusively borrowed.
        self.0.library.done("BN_mul", unsafe {
            (self.0.library.table.BN_mul)(self.0.as_ptr(), a.as_ptr(), b.as_ptr(), scratch.0.as_ptr())
        })
    }

    /// Becomes `a⁻¹ mod modulus`; false if there is none.
    pub(crate) fn set_inverse(&mut self, a: &Number<'_>, modulus: &Number<'_>, scratch: &mut Scratch<'_>) -> bool {
        // SAFETY: all three and the scratch are live, result and scratch exclusively borrowed.
        let inverse = unsafe {
            (self.0.library.table.BN_mod_inverse)(self.0.as_ptr(), a.as_ptr(), modulus.as_ptr(), scratch.0.as_ptr())
        };
        if inverse.is_null() {
            self.0.library.forget_errors();
        }
        !inverse.is_null()
    }
}

/// Working memory of number functions.
pub(crate) struct Scratch<'a>(Owned<'a, BignumCtx>);

impl<'a> Scratch<'a> {
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        let table = &library.table;
        // SAFETY: no arguments, no preconditions; what it returns is ours to free, by this function.
        let owned = unsafe { Owned::new(library, "BN_CTX_new", (table.BN_CTX_new)(), table.BN_CTX_free) };
        owned.map(Self)
    }
}

/// The callback of the prime search for every event: the counter of this thread.
pub(crate) struct Callback<'a>(Owned<'a, GenCallback>);

impl<'a> Callback<'a> {
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        const CALL: &str = "BN_GENCB_new";
        let table = &library.table;
        // SAFETY: no arguments, no preconditions; what it returns is ours to free, by this function.
        let raw = unsafe { Owned::new(library, CALL, (table.BN_GENCB_new)(), table.BN_GENCB_free) }?;
        // SAFETY: it is live and ours; the function takes no argument, so null may stand for it.
        unsafe { (table.BN_GENCB_set)(raw.as_ptr(), Some(count::prime_event), ptr::null_mut()) };
        Ok(Self(raw))
    }
}

fn c_length(length: usize) -> c_int {
    c_int::try_from(length).expect("a number of this program has less than 2 GiB")
}
