//! AWS-LC's functions under OpenSSL's signatures.
//!
//! `aws-lc-sys` declares them with types of its own and links them under prefixed names. Pointers to states that nobody
//! looks into are the same to C whatever they are called; the three functions that take or give integers of other
//! widths are wrapped.

use std::ffi::{CStr, c_void};

use rsalab_peer_evp::{Table, libcrypto_functions};

/// Everything that `aws-lc-sys` declares, with three of OpenSSL's width.
#[allow(non_snake_case)]
mod functions {
    use std::ffi::{c_char, c_int, c_uchar, c_ulong};

    pub(super) use aws_lc_sys::*;

    /// AWS-LC: `uint32_t ERR_get_error(void)`.
    pub(super) unsafe extern "C" fn ERR_get_error() -> c_ulong {
        // SAFETY: no arguments, no preconditions.
        c_ulong::from(unsafe { aws_lc_sys::ERR_get_error() })
    }

    /// AWS-LC: `char *ERR_error_string_n(uint32_t packed_error, char *buf, size_t len)`.
    pub(super) unsafe extern "C" fn ERR_error_string_n(code: c_ulong, buffer: *mut c_char, length: usize) {
        // A code comes from `ERR_get_error` and has 32 bits.
        let code = u32::try_from(code).unwrap_or(0);
        // SAFETY: the buffer is the caller's promise.
        unsafe { aws_lc_sys::ERR_error_string_n(code, buffer, length) };
    }

    /// AWS-LC: `BIGNUM *BN_bin2bn(const uint8_t *in, size_t len, BIGNUM *ret)`.
    pub(super) unsafe extern "C" fn BN_bin2bn(
        bytes: *const c_uchar,
        length: c_int,
        number: *mut BIGNUM,
    ) -> *mut BIGNUM {
        let length = usize::try_from(length).unwrap_or(0);
        // SAFETY: bytes and number are the caller's promise.
        unsafe { aws_lc_sys::BN_bin2bn(bytes, length, number) }
    }
}

macro_rules! addresses {
    (
        always { $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)* }
        since_3_0 { $(fn $new_name:ident($($new_arg:ident: $new_type:ty),*) -> $new_result:ty;)* }
    ) => {
        /// The address of a function that is linked. AWS-LC has none of those that came with OpenSSL 3.0.
        fn address(name: &CStr) -> Option<*const c_void> {
            match name.to_str().ok()? {
                $(stringify!($name) => Some(functions::$name as *const c_void),)*
                _ => None,
            }
        }
    };
}

libcrypto_functions!(addresses);

/// The table of the AWS-LC that is linked into this program.
pub(crate) fn table() -> Table {
    // SAFETY: each address is that of AWS-LC's function of this name, which has OpenSSL's signature or was given it
    // above, and is part of the program.
    unsafe { Table::resolve(address) }.expect("the linker found them all")
}
