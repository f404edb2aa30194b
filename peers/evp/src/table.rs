//! The functions of libcrypto that are called, as a table of pointers with two ways to fill it.
//!
//! Each function is named once, in [`libcrypto_functions!`](crate::libcrypto_functions), with the C signature of
//! OpenSSL's headers. The list is handed to another macro: here it becomes [`Table`] and [`Table::resolve`]; in a crate
//! that links libcrypto it becomes the `extern` block and a constructor.

use std::ffi::{CStr, c_char, c_int, c_long, c_uchar, c_uint, c_ulong, c_void};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub struct $name {
            _opaque: [u8; 0],
            // Neither Send, Sync nor Unpin: what C says nothing about, Rust must not assume.
            _marker: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// `BIGNUM`.
    Bignum;
    /// `BN_CTX`: libcrypto's scratch space for big numbers.
    BignumCtx;
    /// `BN_GENCB`: what the prime search calls back.
    GenCallback;
    /// `EVP_PKEY`.
    Pkey;
    /// `EVP_PKEY_CTX`: one operation with one key.
    PkeyCtx;
    /// `EVP_MD`: a hash.
    MessageDigest;
    /// `OSSL_LIB_CTX`; always null here.
    LibraryCtx;
    /// `ENGINE`; always null here.
    EngineHandle;
}

/// One word of a `BIGNUM`, as `BN_ULONG` is defined where C's `long` has the width of a pointer.
pub type Word = c_ulong;
/// `EVP_PKEY_gen_cb`.
pub type KeygenCallback = unsafe extern "C" fn(*mut PkeyCtx) -> c_int;
/// The callback of a `BN_GENCB`.
pub type PrimeCallback = unsafe extern "C" fn(c_int, c_int, *mut GenCallback) -> c_int;

/// Hands the list of functions to the macro named: first those of every version from 1.1.1 on, then those that came
/// with 3.0.
///
/// The place of expansion must have the types of [`table`](crate::table) and of [`std::ffi`] in scope.
#[macro_export]
macro_rules! libcrypto_functions {
    ($then:ident) => {
        $then! {
            always {
                fn OpenSSL_version(what: c_int) -> *const c_char;
                fn OpenSSL_version_num() -> c_ulong;
                fn ERR_get_error() -> c_ulong;
                fn ERR_error_string_n(code: c_ulong, buffer: *mut c_char, length: usize) -> ();
                fn ERR_clear_error() -> ();

                fn d2i_AutoPrivateKey(key: *mut *mut Pkey, der: *mut *const c_uchar, length: c_long) -> *mut Pkey;
                fn d2i_PublicKey(kind: c_int, key: *mut *mut Pkey, der: *mut *const c_uchar, length: c_long) -> *mut Pkey;
                fn i2d_PrivateKey(key: *const Pkey, der: *mut *mut c_uchar) -> c_int;
                fn EVP_PKEY_free(key: *mut Pkey) -> ();

                fn EVP_PKEY_CTX_new(key: *mut Pkey, engine: *mut EngineHandle) -> *mut PkeyCtx;
                fn EVP_PKEY_CTX_new_id(kind: c_int, engine: *mut EngineHandle) -> *mut PkeyCtx;
                fn EVP_PKEY_CTX_free(ctx: *mut PkeyCtx) -> ();
                fn EVP_PKEY_CTX_ctrl_str(ctx: *mut PkeyCtx, name: *const c_char, value: *const c_char) -> c_int;
                fn EVP_PKEY_encrypt_init(ctx: *mut PkeyCtx) -> c_int;
                fn EVP_PKEY_encrypt(ctx: *mut PkeyCtx, out: *mut c_uchar, out_length: *mut usize, input: *const c_uchar, length: usize) -> c_int;
                fn EVP_PKEY_decrypt_init(ctx: *mut PkeyCtx) -> c_int;
                fn EVP_PKEY_decrypt(ctx: *mut PkeyCtx, out: *mut c_uchar, out_length: *mut usize, input: *const c_uchar, length: usize) -> c_int;
                fn EVP_PKEY_sign_init(ctx: *mut PkeyCtx) -> c_int;
                fn EVP_PKEY_sign(ctx: *mut PkeyCtx, signature: *mut c_uchar, signature_length: *mut usize, digest: *const c_uchar, length: usize) -> c_int;
                fn EVP_PKEY_verify_init(ctx: *mut PkeyCtx) -> c_int;
                fn EVP_PKEY_verify(ctx: *mut PkeyCtx, signature: *const c_uchar, signature_length: usize, digest: *const c_uchar, length: usize) -> c_int;
                fn EVP_PKEY_keygen_init(ctx: *mut PkeyCtx) -> c_int;
                fn EVP_PKEY_keygen(ctx: *mut PkeyCtx, key: *mut *mut Pkey) -> c_int;
                fn EVP_PKEY_CTX_set_cb(ctx: *mut PkeyCtx, callback: Option<KeygenCallback>) -> ();
                fn EVP_PKEY_CTX_get_keygen_info(ctx: *mut PkeyCtx, index: c_int) -> c_int;

                fn EVP_sha256() -> *const MessageDigest;
                fn EVP_Digest(data: *const c_void, length: usize, digest: *mut c_uchar, digest_length: *mut c_uint, hash: *const MessageDigest, engine: *mut EngineHandle) -> c_int;

                fn BN_new() -> *mut Bignum;
                fn BN_clear_free(number: *mut Bignum) -> ();
                fn BN_set_flags(number: *mut Bignum, flags: c_int) -> ();
                fn BN_bin2bn(bytes: *const c_uchar, length: c_int, number: *mut Bignum) -> *mut Bignum;
                fn BN_bn2binpad(number: *const Bignum, bytes: *mut c_uchar, length: c_int) -> c_int;
                fn BN_num_bits(number: *const Bignum) -> c_int;
                fn BN_sub_word(number: *mut Bignum, word: Word) -> c_int;
                fn BN_mul(result: *mut Bignum, a: *const Bignum, b: *const Bignum, ctx: *mut BignumCtx) -> c_int;
                fn BN_mod_inverse(result: *mut Bignum, a: *const Bignum, modulus: *const Bignum, ctx: *mut BignumCtx) -> *mut Bignum;
                fn BN_generate_prime_ex(result: *mut Bignum, bits: c_int, safe: c_int, add: *const Bignum, remainder: *const Bignum, callback: *mut GenCallback) -> c_int;
                fn BN_is_prime_fasttest_ex(number: *const Bignum, rounds: c_int, ctx: *mut BignumCtx, trial_division: c_int, callback: *mut GenCallback) -> c_int;
                fn BN_CTX_new() -> *mut BignumCtx;
                fn BN_CTX_free(ctx: *mut BignumCtx) -> ();
                fn BN_GENCB_new() -> *mut GenCallback;
                fn BN_GENCB_free(callback: *mut GenCallback) -> ();
                fn BN_GENCB_set(callback: *mut GenCallback, function: Option<PrimeCallback>, argument: *mut c_void) -> ();
            }
            since_3_0 {
                fn OPENSSL_info(what: c_int) -> *const c_char;
                fn EVP_MD_fetch(library: *mut LibraryCtx, name: *const c_char, properties: *const c_char) -> *mut MessageDigest;
                fn EVP_MD_free(hash: *mut MessageDigest) -> ();
                fn EVP_PKEY_get_bn_param(key: *const Pkey, name: *const c_char, number: *mut *mut Bignum) -> c_int;
            }
        }
    };
}

/// A function that every supported libcrypto has and this one lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingFunction(pub String);

macro_rules! define_table {
    (
        always { $(fn $name:ident($($arg:ident: $type:ty),*) -> $result:ty;)* }
        since_3_0 { $(fn $new_name:ident($($new_arg:ident: $new_type:ty),*) -> $new_result:ty;)* }
    ) => {
        /// One pointer for each function, named as OpenSSL names it.
        #[allow(non_snake_case, missing_docs)]
        #[derive(Clone, Copy, Debug)]
        pub struct Table {
            $(pub $name: unsafe extern "C" fn($($arg: $type),*) -> $result,)*
            $(pub $new_name: Option<unsafe extern "C" fn($($new_arg: $new_type),*) -> $new_result>,)*
        }

        impl Table {
            /// Fills the table by asking `find` for the address of each name.
            ///
            /// # Safety
            ///
            /// What `find` gives for a name must be the function of that name of an OpenSSL libcrypto of version 1.1.1
            /// or later, and stay callable for as long as the table or a copy of it is in use.
            pub unsafe fn resolve(find: impl Fn(&CStr) -> Option<*const c_void>) -> Result<Self, MissingFunction> {
                /// The name with the NUL that the loader wants.
                const fn c_name(name: &'static str) -> &'static CStr {
                    match CStr::from_bytes_with_nul(name.as_bytes()) {
                        Ok(name) => name,
                        Err(_) => panic!("the name holds a NUL"),
                    }
                }
                Ok(Table {
                    $($name: match find(const { c_name(concat!(stringify!($name), "\0")) }) {
                        // SAFETY: a function pointer has the size of a data pointer here; that it is this function is
                        // the caller's promise.
                        Some(address) if !address.is_null() => unsafe {
                            std::mem::transmute::<*const c_void, unsafe extern "C" fn($($arg: $type),*) -> $result>(address)
                        },
                        _ => return Err(MissingFunction(stringify!($name).to_owned())),
                    },)*
                    $($new_name: find(const { c_name(concat!(stringify!($new_name), "\0")) }).filter(|address| !address.is_null()).map(
                        // SAFETY: as above.
                        |address| unsafe {
                            std::mem::transmute::<*const c_void, unsafe extern "C" fn($($new_arg: $new_type),*) -> $new_result>(address)
                        },
                    ),)*
                })
            }
        }
    };
}

libcrypto_functions!(define_table);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_the_functions_is_told_by_the_first_that_it_lacks() {
        // SAFETY: no address is given, so no promise about any is made.
        let missing = unsafe { Table::resolve(|_| None) }.unwrap_err();
        assert_eq!(missing, MissingFunction("OpenSSL_version".to_owned()));
    }

    #[test]
    fn functions_that_came_with_3_0_may_be_missing() {
        extern "C" fn any() {}
        let new = [
            c"OPENSSL_info",
            c"EVP_PKEY_get_bn_param",
            c"EVP_MD_fetch",
            c"EVP_MD_free",
        ];
        // SAFETY: the table is looked at and no function of it is called.
        let table = unsafe { Table::resolve(|name| (!new.contains(&name)).then_some(any as *const c_void)) }.unwrap();
        assert!(table.OPENSSL_info.is_none() && table.EVP_PKEY_get_bn_param.is_none());
        assert!(table.EVP_MD_fetch.is_none() && table.EVP_MD_free.is_none());
    }
}
