//! `BIGNUM`, `BN_CTX` and `BN_GENCB`, owned and freed.

use std::{
    ffi::c_int,
    ptr::{self, NonNull},
};

use rsalab_engines::EngineError;

use crate::{
    count,
    library::Libcrypto,
    table::{Bignum, BignumCtx, GenCallback, Word},
};

/// `BN_FLG_CONSTTIME`: the number is secret, and functions that have a branch-free form take it.
const FLAG_SECRET: c_int = 4;

/// A non-negative integer of any size, wiped when dropped.
pub(crate) struct Number<'a> {
    library: &'a Libcrypto,
    raw: NonNull<Bignum>,
}

impl<'a> Number<'a> {
    /// Zero.
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        // SAFETY: no arguments, no preconditions; what it returns is ours to free.
        let raw = NonNull::new(unsafe { (library.table.BN_new)() })
            .ok_or_else(|| library.failure("BN_new"))?;
        Ok(Self { library, raw })
    }

    /// Zero, marked as secret.
    pub(crate) fn secret(library: &'a Libcrypto) -> Result<Self, EngineError> {
        let number = Self::new(library)?;
        // SAFETY: `raw` is a live number that nothing else refers to.
        unsafe { (library.table.BN_set_flags)(number.raw.as_ptr(), FLAG_SECRET) };
        Ok(number)
    }

    /// Takes over a number that libcrypto made for us.
    ///
    /// # Safety
    ///
    /// `raw` is a live number that nobody else frees.
    pub(crate) unsafe fn from_raw(library: &'a Libcrypto, raw: NonNull<Bignum>) -> Self {
        Self { library, raw }
    }

    fn as_ptr(&self) -> *const Bignum {
        self.raw.as_ptr()
    }

    /// Searches a random prime of exactly `bits` bits whose two highest bits are set; its tests are counted in [`count`](crate::count).
    pub(crate) fn set_prime(
        &mut self,
        bits: usize,
        callback: &mut Callback<'_>,
    ) -> Result<(), EngineError> {
        let (exactly, none) = (c_length(bits), ptr::null());
        // SAFETY: result and callback are live and exclusively borrowed; null stands for "no congruence asked for".
        self.done("BN_generate_prime_ex", unsafe {
            (self.library.table.BN_generate_prime_ex)(
                self.raw.as_ptr(),
                exactly,
                0,
                none,
                none,
                callback.raw.as_ptr(),
            )
        })
    }

    /// Whether it is probably prime, by trial division and as many rounds as the library takes for candidates of its own.
    ///
    /// So it is in AWS-LC and in OpenSSL before 3.0, where 0 rounds ask for that; later ones take 64 at least.
    pub(crate) fn is_prime(&self, scratch: &mut Scratch<'_>) -> Result<bool, EngineError> {
        const AS_FOR_GENERATION: c_int = 0;
        // SAFETY: number and scratch are live, the scratch exclusively borrowed; null asks for no callback.
        let code = unsafe {
            (self.library.table.BN_is_prime_fasttest_ex)(
                self.as_ptr(),
                AS_FOR_GENERATION,
                scratch.raw.as_ptr(),
                1,
                ptr::null_mut(),
            )
        };
        match code {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.library.failure("BN_is_prime_fasttest_ex")),
        }
    }

    /// Takes the value of big-endian bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), EngineError> {
        // SAFETY: the bytes are readable for the length given; `raw` is live and exclusively borrowed.
        let read = unsafe {
            (self.library.table.BN_bin2bn)(bytes.as_ptr(), c_length(bytes.len()), self.raw.as_ptr())
        };
        if read.is_null() {
            Err(self.library.failure("BN_bin2bn"))
        } else {
            Ok(())
        }
    }

    /// Writes the value big-endian, filled up with zeros; false if it has more bytes than `bytes`.
    pub(crate) fn write(&self, bytes: &mut [u8]) -> bool {
        // SAFETY: the bytes are writable for the length given; `raw` is live.
        unsafe {
            (self.library.table.BN_bn2binpad)(
                self.as_ptr(),
                bytes.as_mut_ptr(),
                c_length(bytes.len()),
            ) >= 0
        }
    }

    /// Bits without leading zeros.
    pub(crate) fn bits(&self) -> usize {
        // SAFETY: `raw` is live.
        let bits = unsafe { (self.library.table.BN_num_bits)(self.as_ptr()) };
        usize::try_from(bits).expect("a number of bits is not negative")
    }

    /// The remainder by a word that is not zero.
    pub(crate) fn modulo_word(&self, word: Word) -> Word {
        assert_ne!(word, 0, "a remainder by zero");
        // SAFETY: `raw` is live; the word is not zero.
        unsafe { (self.library.table.BN_mod_word)(self.as_ptr(), word) }
    }

    /// Subtracts a word.
    pub(crate) fn subtract_word(&mut self, word: Word) -> Result<(), EngineError> {
        // SAFETY: `raw` is live and exclusively borrowed.
        self.done("BN_sub_word", unsafe {
            (self.library.table.BN_sub_word)(self.raw.as_ptr(), word)
        })
    }

    /// Becomes `a − b`, which may be negative.
    pub(crate) fn set_difference(
        &mut self,
        a: &Number<'_>,
        b: &Number<'_>,
    ) -> Result<(), EngineError> {
        // SAFETY: all three are live, and the result is exclusively borrowed.
        self.done("BN_sub", unsafe {
            (self.library.table.BN_sub)(self.raw.as_ptr(), a.as_ptr(), b.as_ptr())
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
        self.done("BN_mul", unsafe {
            (self.library.table.BN_mul)(
                self.raw.as_ptr(),
                a.as_ptr(),
                b.as_ptr(),
                scratch.raw.as_ptr(),
            )
        })
    }

    /// Becomes `a⁻¹ mod modulus`; false if there is none.
    pub(crate) fn set_inverse(
        &mut self,
        a: &Number<'_>,
        modulus: &Number<'_>,
        scratch: &mut Scratch<'_>,
    ) -> bool {
        // SAFETY: all three and the scratch are live, result and scratch exclusively borrowed.
        let inverse = unsafe {
            (self.library.table.BN_mod_inverse)(
                self.raw.as_ptr(),
                a.as_ptr(),
                modulus.as_ptr(),
                scratch.raw.as_ptr(),
            )
        };
        if inverse.is_null() {
            // SAFETY: empties this thread's queue of errors; no preconditions.
            unsafe { (self.library.table.ERR_clear_error)() };
        }
        !inverse.is_null()
    }

    fn done(&self, call: &'static str, code: c_int) -> Result<(), EngineError> {
        if code == 1 {
            Ok(())
        } else {
            Err(self.library.failure(call))
        }
    }
}

impl Drop for Number<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` is live and ours; nothing refers to it after this.
        unsafe { (self.library.table.BN_clear_free)(self.raw.as_ptr()) };
    }
}

/// Working memory of number functions.
pub(crate) struct Scratch<'a> {
    library: &'a Libcrypto,
    raw: NonNull<BignumCtx>,
}

impl<'a> Scratch<'a> {
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        // SAFETY: no arguments, no preconditions; what it returns is ours to free.
        let raw = NonNull::new(unsafe { (library.table.BN_CTX_new)() })
            .ok_or_else(|| library.failure("BN_CTX_new"))?;
        Ok(Self { library, raw })
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` is live and ours; nothing refers to it after this.
        unsafe { (self.library.table.BN_CTX_free)(self.raw.as_ptr()) };
    }
}

/// What the prime search calls for every event: the counter of this thread.
pub(crate) struct Callback<'a> {
    library: &'a Libcrypto,
    raw: NonNull<GenCallback>,
}

impl<'a> Callback<'a> {
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        // SAFETY: no arguments, no preconditions; what it returns is ours to free.
        let raw = NonNull::new(unsafe { (library.table.BN_GENCB_new)() })
            .ok_or_else(|| library.failure("BN_GENCB_new"))?;
        // SAFETY: `raw` is live and ours; the function takes no argument, so null may stand for it.
        unsafe {
            (library.table.BN_GENCB_set)(raw.as_ptr(), Some(count::prime_event), ptr::null_mut())
        };
        Ok(Self { library, raw })
    }
}

impl Drop for Callback<'_> {
    fn drop(&mut self) {
        // SAFETY: `raw` is live and ours; nothing refers to it after this.
        unsafe { (self.library.table.BN_GENCB_free)(self.raw.as_ptr()) };
    }
}

fn c_length(length: usize) -> c_int {
    c_int::try_from(length).expect("a number of this program has less than 2 GiB")
}
