//! Signature algorithms that have a digest in their name, for `EVP_PKEY_sign_message_init` and its like: OpenSSL 3.4
//! and later.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use super::{
    context::{Room, dup, free, get_params, with},
    signature::{Entry, begin, gettable, new, recover, sign_by, sign_final, update},
};
use crate::{
    openssl::{
        dispatch::{Algorithm, Signature},
        param::{END, OCTETS, Params, describe},
        types::{Param, octets},
    },
    sign::{Context, Use},
};

/// PKCS#1 v1.5 with each digest: its name, and the algorithm's.
const ALGORITHMS: [(&str, &CStr); COUNT] = [
    ("RIPEMD-160", c"RSA-RIPEMD160:ripemd160WithRSA:1.3.36.3.3.1.2"),
    ("SHA1", c"RSA-SHA1:RSA-SHA-1:sha1WithRSAEncryption:1.2.840.113549.1.1.5"),
    (
        "SHA2-224",
        c"RSA-SHA2-224:RSA-SHA224:sha224WithRSAEncryption:1.2.840.113549.1.1.14",
    ),
    (
        "SHA2-256",
        c"RSA-SHA2-256:RSA-SHA256:sha256WithRSAEncryption:1.2.840.113549.1.1.11",
    ),
    (
        "SHA2-384",
        c"RSA-SHA2-384:RSA-SHA384:sha384WithRSAEncryption:1.2.840.113549.1.1.12",
    ),
    (
        "SHA2-512",
        c"RSA-SHA2-512:RSA-SHA512:sha512WithRSAEncryption:1.2.840.113549.1.1.13",
    ),
    (
        "SHA2-512/224",
        c"RSA-SHA2-512/224:RSA-SHA512-224:sha512-224WithRSAEncryption:1.2.840.113549.1.1.15",
    ),
    (
        "SHA2-512/256",
        c"RSA-SHA2-512/256:RSA-SHA512-256:sha512-256WithRSAEncryption:1.2.840.113549.1.1.16",
    ),
    (
        "SHA3-224",
        c"RSA-SHA3-224:id-rsassa-pkcs1-v1_5-with-sha3-224:2.16.840.1.101.3.4.3.13",
    ),
    (
        "SHA3-256",
        c"RSA-SHA3-256:id-rsassa-pkcs1-v1_5-with-sha3-256:2.16.840.1.101.3.4.3.14",
    ),
    (
        "SHA3-384",
        c"RSA-SHA3-384:id-rsassa-pkcs1-v1_5-with-sha3-384:2.16.840.1.101.3.4.3.15",
    ),
    (
        "SHA3-512",
        c"RSA-SHA3-512:id-rsassa-pkcs1-v1_5-with-sha3-512:2.16.840.1.101.3.4.3.16",
    ),
];
pub(super) const COUNT: usize = 12;

/// # Safety
///
/// As for OpenSSL's functions that begin an operation.
unsafe fn begin_fixed(
    digest: usize,
    purpose: Use,
    of_message: bool,
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: the caller's promise; the array is read here, as it is not of those parameters that other contexts have.
    unsafe {
        with(context, |context| {
            begin(purpose, context, key, ptr::null())?;
            context.fix_digest(ALGORITHMS[digest].0, of_message)?;
            context.set_signature(&Params::new(params))
        })
    }
}

macro_rules! inits {
    ($($name:ident: $purpose:expr, $of_message:expr;)*) => {
        $(
            unsafe extern "C" fn $name<const DIGEST: usize>(
                context: *mut c_void,
                key: *mut c_void,
                params: *const Param,
            ) -> c_int {
                // SAFETY: called by OpenSSL.
                unsafe { begin_fixed(DIGEST, $purpose, $of_message, context, key, params) }
            }
        )*
    };
}

inits! {
    sign_init: Use::Sign, false;
    sign_message_init: Use::Sign, true;
    verify_init: Use::Verify, false;
    verify_message_init: Use::Verify, true;
    recover_init: Use::Recover, false;
}

/// Of a digest, or of all of a message.
unsafe extern "C" fn sign(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    bytes: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: called by OpenSSL, which passes the input.
    unsafe {
        sign_by(context, Room { out, len, bytes }, |context| {
            let digest = context.digest_of(octets(input, input_len))?;
            context.sign(&digest)
        })
    }
}

unsafe extern "C" fn verify(
    context: *mut c_void,
    signature: *const u8,
    len: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, the signature and the input.
    unsafe {
        with(context, |context: &mut Context| {
            let digest = context.digest_of(octets(input, input_len))?;
            context.verify(octets(signature, len), &digest)
        })
    }
}

/// The signature was set before.
unsafe extern "C" fn verify_message_final(context: *mut c_void) -> c_int {
    let verify = |context: &mut Context| {
        let digest = context.finish()?;
        let signature = context.take_signature()?;
        context.verify(&signature, &digest)
    };
    // SAFETY: OpenSSL passes a context of ours.
    unsafe { with(context, verify) }
}

unsafe extern "C" fn set_params(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    unsafe {
        with(context, |context: &mut Context| {
            context.set_signature(&Params::new(params))
        })
    }
}

static SETTABLE: [Param; 2] = [describe(c"signature", OCTETS), END];

unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE.as_ptr()
}

/// Names that a null pointer ends.
struct Names([*const c_char; 2]);

// SAFETY: it points to a constant.
unsafe impl Sync for Names {}

static KEY_TYPES: Names = Names([c"RSA".as_ptr(), ptr::null()]);

unsafe extern "C" fn query_key_types() -> *const *const c_char {
    KEY_TYPES.0.as_ptr()
}

const fn table<const DIGEST: usize>() -> [Entry; 21] {
    [
        Entry::new_context(new),
        Entry::sign_init(sign_init::<DIGEST>),
        Entry::sign(sign),
        Entry::verify_init(verify_init::<DIGEST>),
        Entry::verify(verify),
        Entry::recover_init(recover_init::<DIGEST>),
        Entry::recover(recover),
        Entry::free_context(free::<Context>),
        Entry::dup_context(dup::<Context>),
        Entry::get_params(get_params::<Context>),
        Entry::gettable_params(gettable),
        Entry::set_params(set_params),
        Entry::settable_params(settable),
        Entry::query_key_types(query_key_types),
        Entry::sign_message_init(sign_message_init::<DIGEST>),
        Entry::sign_message_update(update),
        Entry::sign_message_final(sign_final),
        Entry::verify_message_init(verify_message_init::<DIGEST>),
        Entry::verify_message_update(update),
        Entry::verify_message_final(verify_message_final),
        Entry::LAST,
    ]
}

static TABLES: [[Entry; 21]; COUNT] = [
    table::<0>(),
    table::<1>(),
    table::<2>(),
    table::<3>(),
    table::<4>(),
    table::<5>(),
    table::<6>(),
    table::<7>(),
    table::<8>(),
    table::<9>(),
    table::<10>(),
    table::<11>(),
];

/// The algorithm of a digest, as the provider offers it.
pub(super) const fn algorithm(number: usize) -> Algorithm<Signature> {
    let names = ALGORITHMS[number].1;
    Algorithm::new(names, &TABLES[number], c"rsalab RSA signatures with one digest")
}
