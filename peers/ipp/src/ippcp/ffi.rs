//! The functions of ippcp that are called, as `ippcp.h` and `ippcpdefs.h` of 2.3.0 declare them.

use std::ffi::{c_char, c_int, c_uint, c_void};

use rsalab_engines::EngineError;

use crate::library::{functions, static_text};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub(crate) struct $name {
            _opaque: [u8; 0],
        }
    )*};
}

opaque! {
    /// `IppsBigNumState`.
    BigNum;
    /// `IppsRSAPublicKeyState`.
    PublicKey;
    /// `IppsRSAPrivateKeyState`.
    PrivateKey;
    /// `IppsPrimeState`.
    Prime;
}

/// `IppLibraryVersion`.
#[repr(C)]
pub(crate) struct LibraryVersion {
    pub(crate) major: c_int,
    pub(crate) minor: c_int,
    pub(crate) major_build: c_int,
    pub(crate) revision: c_uint,
    pub(crate) target_cpu: [u8; 4],
    pub(crate) name: *const c_char,
    pub(crate) version: *const c_char,
    pub(crate) build_date: *const c_char,
}

/// `IppStatus`: 0, an error below, a warning above.
pub(crate) type Status = c_int;

/// `ippStsInsufficientEntropy`: as many candidates were tried as the library is willing to, and none was prime.
pub(crate) const INSUFFICIENT_ENTROPY: Status = 25;

/// `IPP_IS_PRIME`: what a test of a number results in if it is probably one.
pub(crate) const IS_PRIME: u32 = 5;

/// `IppBitSupplier`.
pub(crate) type BitSupplier = unsafe extern "C" fn(*mut u32, c_int, *mut c_void) -> Status;

functions! {
    /// ippcp.
    Functions {
        fn ippcpInit() -> Status;
        fn ippcpGetEnabledCpuFeatures() -> u64;
        fn ippcpSetCpuFeatures(features: u64) -> Status;
        fn ippcpGetLibVersion() -> *const LibraryVersion;
        fn ippcpGetStatusString(status: Status) -> *const c_char;

        fn ippsBigNumGetSize(words: c_int, size: *mut c_int) -> Status;
        fn ippsBigNumInit(words: c_int, number: *mut BigNum) -> Status;
        fn ippsSetOctString_BN(bytes: *const u8, length: c_int, number: *mut BigNum) -> Status;
        fn ippsGetOctString_BN(bytes: *mut u8, length: c_int, number: *const BigNum) -> Status;

        fn ippsRSA_GetSizePublicKey(modulus_bits: c_int, exponent_bits: c_int, size: *mut c_int) -> Status;
        fn ippsRSA_InitPublicKey(modulus_bits: c_int, exponent_bits: c_int, key: *mut PublicKey, size: c_int) -> Status;
        fn ippsRSA_SetPublicKey(modulus: *const BigNum, exponent: *const BigNum, key: *mut PublicKey) -> Status;
        fn ippsRSA_GetBufferSizePublicKey(size: *mut c_int, key: *const PublicKey) -> Status;
        fn ippsRSA_Encrypt(plain: *const BigNum, cipher: *mut BigNum, key: *const PublicKey, buffer: *mut u8) -> Status;

        fn ippsRSA_GetSizePrivateKeyType1(modulus_bits: c_int, exponent_bits: c_int, size: *mut c_int) -> Status;
        fn ippsRSA_InitPrivateKeyType1(modulus_bits: c_int, exponent_bits: c_int, key: *mut PrivateKey, size: c_int) -> Status;
        fn ippsRSA_SetPrivateKeyType1(modulus: *const BigNum, exponent: *const BigNum, key: *mut PrivateKey) -> Status;
        fn ippsRSA_GetSizePrivateKeyType2(p_bits: c_int, q_bits: c_int, size: *mut c_int) -> Status;
        fn ippsRSA_InitPrivateKeyType2(p_bits: c_int, q_bits: c_int, key: *mut PrivateKey, size: c_int) -> Status;
        fn ippsRSA_SetPrivateKeyType2(
            p: *const BigNum, q: *const BigNum, dp: *const BigNum, dq: *const BigNum, qinv: *const BigNum, key: *mut PrivateKey,
        ) -> Status;
        fn ippsRSA_GetPrivateKeyType2(
            p: *mut BigNum, q: *mut BigNum, dp: *mut BigNum, dq: *mut BigNum, qinv: *mut BigNum, key: *const PrivateKey,
        ) -> Status;
        fn ippsRSA_GetBufferSizePrivateKey(size: *mut c_int, key: *const PrivateKey) -> Status;
        fn ippsRSA_Decrypt(cipher: *const BigNum, plain: *mut BigNum, key: *const PrivateKey, buffer: *mut u8) -> Status;

        fn ippsPrimeGetSize(bits: c_int, size: *mut c_int) -> Status;
        fn ippsPrimeInit(bits: c_int, prime: *mut Prime) -> Status;
        fn ippsPrimeGen_BN(
            number: *mut BigNum, bits: c_int, rounds: c_int, prime: *mut Prime, supplier: BitSupplier, parameter: *mut c_void,
        ) -> Status;
        fn ippsPrimeTest_BN(
            number: *const BigNum, rounds: c_int, result: *mut u32, prime: *mut Prime, supplier: BitSupplier, parameter: *mut c_void,
        ) -> Status;
        fn ippsRSA_GenerateKeys(
            exponent: *const BigNum, modulus: *mut BigNum, exponent_copy: *mut BigNum, d: *mut BigNum, key: *mut PrivateKey,
            buffer: *mut u8, rounds: c_int, prime: *mut Prime, supplier: BitSupplier, parameter: *mut c_void,
        ) -> Status;
    }
}

impl Functions {
    /// The library's words for a status.
    pub(crate) fn status_text(&self, status: Status) -> String {
        // SAFETY: any number may be asked for; the answer is a static string.
        unsafe { static_text((self.ippcpGetStatusString)(status)) }
    }

    /// `Ok` if `call` was done.
    pub(crate) fn done(&self, call: &'static str, status: Status) -> Result<(), EngineError> {
        match status {
            0 => Ok(()),
            _ => Err(EngineError::library(
                call,
                format!("{} ({status})", self.status_text(status)),
            )),
        }
    }
}
