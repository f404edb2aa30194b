//! The functions of crypto_mb that are called, as `crypto_mb/rsa.h`, `cpu_features.h` and `version.h` of 2.3.0 declare
//! them.

use std::ffi::{c_char, c_int};

use crate::library::functions;

/// `mbxVersion`.
#[repr(C)]
pub(crate) struct Version {
    pub(crate) major: c_int,
    pub(crate) minor: c_int,
    pub(crate) patch: c_int,
    pub(crate) target_cpu: [u8; 4],
    pub(crate) name: *const c_char,
    pub(crate) build_date: *const c_char,
    pub(crate) text: *const c_char,
}

/// `mbx_RSA_Method`.
#[repr(C)]
pub(crate) struct Method {
    _opaque: [u8; 0],
}

/// Eight blocks to read.
pub(crate) type From8 = [*const u8; 8];
/// Eight blocks to write.
pub(crate) type To8 = [*mut u8; 8];
/// Eight numbers, in 64-bit words from the lowest on.
pub(crate) type Words8 = [*const u64; 8];

functions! {
    /// crypto_mb.
    Functions {
        fn mbx_getversion() -> *const Version;
        fn mbx_get_algo_info(algorithm: c_int) -> u64;
        fn mbx_RSA_pub65537_Method(bits: c_int) -> *const Method;
        fn mbx_RSA_private_Method(bits: c_int) -> *const Method;
        fn mbx_RSA_private_crt_Method(bits: c_int) -> *const Method;
        fn mbx_RSA_Method_BufSize(method: *const Method) -> c_int;
        fn mbx_rsa_public_mb8(
            from: *const From8, to: *const To8, n: *const Words8, bits: c_int, method: *const Method, buffer: *mut u8,
        ) -> u32;
        fn mbx_rsa_private_mb8(
            from: *const From8, to: *const To8, d: *const Words8, n: *const Words8, bits: c_int, method: *const Method,
            buffer: *mut u8,
        ) -> u32;
        fn mbx_rsa_private_crt_mb8(
            from: *const From8, to: *const To8, p: *const Words8, q: *const Words8, dp: *const Words8, dq: *const Words8,
            qinv: *const Words8, bits: c_int, method: *const Method, buffer: *mut u8,
        ) -> u32;
    }
}
