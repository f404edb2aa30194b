//! The functions of `shim.cpp`, owned.

use std::{
    ffi::{CStr, c_char, c_int, c_uint, c_void},
    marker::PhantomData,
    ptr::NonNull,
};

use rsalab_engines::{EngineError, StudyKey, op::DIGEST_BYTES};

/// `MESSAGE` of the shim.
const MESSAGE: usize = 256;

#[repr(C)]
struct Number<'a> {
    bytes: *const u8,
    length: usize,
    borrowed: PhantomData<&'a [u8]>,
}

unsafe extern "C" {
    safe fn rsalab_cryptopp_version() -> c_int;
    safe fn rsalab_cryptopp_new() -> *mut c_void;
    fn rsalab_cryptopp_free(worker: *mut c_void);
    fn rsalab_cryptopp_set_key(worker: *mut c_void, parts: *const Number<'_>, message: *mut c_char) -> c_int;
    fn rsalab_cryptopp_inverse(
        worker: *mut c_void,
        input: *const u8,
        output: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_root(
        worker: *mut c_void,
        input: *const u8,
        output: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_power(
        worker: *mut c_void,
        input: *const u8,
        output: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_public(
        worker: *mut c_void,
        input: *const u8,
        output: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_sign(
        worker: *mut c_void,
        digest: *const u8,
        signature: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_verify(
        worker: *mut c_void,
        digest: *const u8,
        signature: *const u8,
        length: usize,
        is_valid: *mut u8,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_is_prime(candidate: *const u8, length: usize, is_prime: *mut u8, message: *mut c_char) -> c_int;
    fn rsalab_cryptopp_generate(
        worker: *mut c_void,
        bits: c_uint,
        exponent: u64,
        p: *mut u8,
        q: *mut u8,
        prime_length: usize,
        d: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
    fn rsalab_cryptopp_prime(
        worker: *mut c_void,
        modulus_bits: c_uint,
        prime: *mut u8,
        length: usize,
        message: *mut c_char,
    ) -> c_int;
}

/// The library's version: 870 is 8.7.0.
pub(crate) fn version() -> c_int {
    rsalab_cryptopp_version()
}

/// An operation on a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `InvertibleRSAFunction::CalculateInverse`: blinded and checked.
    Inverse,
    /// `ModularRoot`: the CRT alone.
    Root,
    /// `ModularExponentiation`, which is `a_exp_b_mod_c`: one modulo n.
    Power,
    /// `RSAFunction::ApplyFunction`.
    Public,
}

impl Operation {
    /// The library's function.
    pub(crate) fn call(self) -> &'static str {
        match self {
            Self::Inverse => "CalculateInverse",
            Self::Root => "ModularRoot",
            Self::Power => "ModularExponentiation",
            Self::Public => "ApplyFunction",
        }
    }
}

/// A key and a random generator of the library's, for one thread.
pub(crate) struct Worker(NonNull<c_void>);

impl Worker {
    pub(crate) fn new() -> Result<Self, EngineError> {
        NonNull::new(rsalab_cryptopp_new())
            .map(Self)
            .ok_or_else(|| EngineError::Library {
                call: "AutoSeededRandomPool",
                message: "the generator could not be seeded".to_owned(),
            })
    }

    pub(crate) fn with_key(key: &StudyKey) -> Result<Self, EngineError> {
        let worker = Self::new()?;
        let parts = [&key.n, &key.e, &key.d, &key.p, &key.q, &key.dp, &key.dq, &key.qinv].map(|part| Number {
            bytes: part.as_ptr(),
            length: part.len(),
            borrowed: PhantomData,
        });
        worker.done("Initialize", |raw, message| {
            // SAFETY: the worker is live, the parts are the eight that the shim reads, each of its length.
            unsafe { rsalab_cryptopp_set_key(raw, parts.as_ptr(), message) }
        })?;
        Ok(worker)
    }

    /// Does the operation on one block, smaller than the key's modulus and as long as it; so is the output.
    pub(crate) fn apply(&mut self, operation: Operation, input: &[u8], output: &mut [u8]) -> Result<(), EngineError> {
        assert_eq!(input.len(), output.len());
        let function = match operation {
            Operation::Inverse => rsalab_cryptopp_inverse,
            Operation::Root => rsalab_cryptopp_root,
            Operation::Power => rsalab_cryptopp_power,
            Operation::Public => rsalab_cryptopp_public,
        };
        self.done(operation.call(), |raw, message| {
            // SAFETY: the worker is live; input and output have the length given.
            unsafe { function(raw, input.as_ptr(), output.as_mut_ptr(), input.len(), message) }
        })
    }

    /// Signs a digest of 32 bytes; the signature has the length of the modulus.
    pub(crate) fn sign(&mut self, digest: &[u8], signature: &mut [u8]) -> Result<(), EngineError> {
        assert_eq!(digest.len(), DIGEST_BYTES);
        self.done("SignMessage", |raw, message| {
            // SAFETY: the worker is live; the digest has the length that the shim reads, and the signature's is checked
            // by it.
            unsafe { rsalab_cryptopp_sign(raw, digest.as_ptr(), signature.as_mut_ptr(), signature.len(), message) }
        })
    }

    /// Returns whether a signature is that of a digest of 32 bytes.
    pub(crate) fn verify(&mut self, digest: &[u8], signature: &[u8]) -> Result<bool, EngineError> {
        assert_eq!(digest.len(), DIGEST_BYTES);
        let mut is_valid = 0;
        self.done("VerifyMessage", |raw, message| {
            // SAFETY: the worker is live; the digest has the length that the shim reads, and the signature the one
            // given.
            unsafe {
                rsalab_cryptopp_verify(
                    raw,
                    digest.as_ptr(),
                    signature.as_ptr(),
                    signature.len(),
                    &mut is_valid,
                    message,
                )
            }
        })?;
        Ok(is_valid == 1)
    }

    /// Returns whether a candidate passes the tests that the library's own would.
    pub(crate) fn is_prime(&mut self, candidate: &[u8]) -> Result<bool, EngineError> {
        let mut is_prime = 0;
        self.done("IsPrime", |_, message| {
            // SAFETY: the candidate has the length given.
            unsafe { rsalab_cryptopp_is_prime(candidate.as_ptr(), candidate.len(), &mut is_prime, message) }
        })?;
        Ok(is_prime == 1)
    }

    /// Makes a key; `p` and `q` have one length.
    pub(crate) fn generate(
        &mut self,
        bits: usize,
        exponent: u64,
        p: &mut [u8],
        q: &mut [u8],
        d: &mut [u8],
    ) -> Result<(), EngineError> {
        assert_eq!(p.len(), q.len());
        self.done("GenerateRandom", |raw, message| {
            // SAFETY: the worker is live; each output has the length given.
            unsafe {
                rsalab_cryptopp_generate(
                    raw,
                    uint(bits),
                    exponent,
                    p.as_mut_ptr(),
                    q.as_mut_ptr(),
                    p.len(),
                    d.as_mut_ptr(),
                    d.len(),
                    message,
                )
            }
        })
    }

    /// Makes a prime of half a modulus of `bits`.
    pub(crate) fn prime(&mut self, bits: usize, prime: &mut [u8]) -> Result<(), EngineError> {
        self.done("Integer::GenerateRandom", |raw, message| {
            // SAFETY: the worker is live; the output has the length given.
            unsafe { rsalab_cryptopp_prime(raw, uint(bits), prime.as_mut_ptr(), prime.len(), message) }
        })
    }

    fn done(
        &self,
        call: &'static str,
        function: impl FnOnce(*mut c_void, *mut c_char) -> c_int,
    ) -> Result<(), EngineError> {
        let mut message = [0 as c_char; MESSAGE];
        if function(self.0.as_ptr(), message.as_mut_ptr()) == 0 {
            return Ok(());
        }
        // SAFETY: the shim ends what it writes with NUL.
        let message = unsafe { CStr::from_ptr(message.as_ptr()) };
        Err(EngineError::Library {
            call,
            message: message.to_string_lossy().into_owned(),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // SAFETY: it is live and ours; nothing refers to it after this.
        unsafe { rsalab_cryptopp_free(self.0.as_ptr()) };
    }
}

fn uint(bits: usize) -> c_uint {
    c_uint::try_from(bits).expect("a job has at most 16384 bits")
}
