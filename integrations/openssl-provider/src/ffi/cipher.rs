//! Encryption: `OSSL_OP_ASYM_CIPHER`.

use std::{
    ffi::{c_int, c_void},
    ptr,
};

use super::{
    param::{END, OCTETS, OCTETS_PTR, Params, UNSIGNED, UTF8, describe},
    slot::{Slot, slot},
    types::{Dispatch, LAST, Param, bytes, deliver, entry, guard, status},
};
use crate::{
    encryption::{Context, Use},
    pss::Kind,
};

unsafe extern "C" fn new(_: *mut c_void) -> *mut c_void {
    guard(ptr::null_mut(), || {
        Box::into_raw(Box::<Context>::default()).cast()
    })
}

unsafe extern "C" fn free(context: *mut c_void) {
    guard((), || {
        if !context.is_null() {
            // SAFETY: `new` or `dup` made it, and OpenSSL frees it once.
            drop(unsafe { Box::from_raw(context.cast::<Context>()) });
        }
    });
}

/// # Safety
///
/// `context` is null or was made by `new` or `dup`, is not freed, and used by nobody else during `'a`.
unsafe fn own<'a>(context: *mut c_void) -> Result<&'a mut Context, String> {
    // SAFETY: the caller's promise.
    unsafe { context.cast::<Context>().as_mut() }.ok_or_else(|| "there is no context".into())
}

unsafe extern "C" fn dup(context: *mut c_void) -> *mut c_void {
    guard(ptr::null_mut(), || {
        // SAFETY: OpenSSL passes a context of ours.
        match unsafe { own(context) } {
            Ok(context) => Box::into_raw(Box::new(context.clone())).cast(),
            Err(_) => ptr::null_mut(),
        }
    })
}

/// # Safety
///
/// As for OpenSSL's functions that begin an operation.
unsafe fn begin(
    purpose: Use,
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> Result<(), String> {
    // SAFETY: OpenSSL passes a context and a key of ours, and an array for this call.
    let (context, key, params) = unsafe { (own(context)?, slot(key), Params::new(params)) };
    if key.is_some_and(|slot| slot.kind != Kind::Rsa) {
        return Err(
            "operation not supported for this keytype: a key of the type RSA-PSS does not encrypt"
                .into(),
        );
    }
    context.begin(purpose, key.and_then(Slot::key).cloned())?;
    context.set_params(&params)
}

unsafe extern "C" fn encrypt_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin(Use::Encrypt, context, key, params) })
}

unsafe extern "C" fn decrypt_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin(Use::Decrypt, context, key, params) })
}

unsafe extern "C" fn encrypt(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    room: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a context of ours, the message, and room for the ciphertext.
        unsafe {
            let context = own(context)?;
            deliver(out, len, room, context.ciphertext_len()?, || {
                context.encrypt(bytes(input, input_len))
            })
        }
    })
}

unsafe extern "C" fn decrypt(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    room: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a context of ours, the ciphertext, and room for the message.
        unsafe {
            let context = own(context)?;
            let needed = match out.is_null() {
                true => context.message_len()?,
                false => context.message_room()?,
            };
            deliver(out, len, room, needed, || {
                context.decrypt(bytes(input, input_len))
            })
        }
    })
}

unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    status(|| unsafe { own(context)?.get_params(&Params::new(params)) })
}

unsafe extern "C" fn set_params(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    status(|| unsafe { own(context)?.set_params(&Params::new(params)) })
}

static GETTABLE: [Param; 8] = [
    describe(c"pad-mode", UTF8),
    describe(c"digest", UTF8),
    describe(c"mgf1-digest", UTF8),
    describe(c"oaep-label", OCTETS_PTR),
    describe(c"tls-client-version", UNSIGNED),
    describe(c"tls-negotiated-version", UNSIGNED),
    describe(c"implicit-rejection", UNSIGNED),
    END,
];
static SETTABLE: [Param; 10] = [
    describe(c"pad-mode", UTF8),
    describe(c"digest", UTF8),
    describe(c"digest-props", UTF8),
    describe(c"mgf1-digest", UTF8),
    describe(c"mgf1-properties", UTF8),
    describe(c"oaep-label", OCTETS),
    describe(c"tls-client-version", UNSIGNED),
    describe(c"tls-negotiated-version", UNSIGNED),
    describe(c"implicit-rejection", UNSIGNED),
    END,
];

unsafe extern "C" fn gettable(_: *mut c_void, _: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE.as_ptr()
}

pub(super) static TABLE: [Dispatch; 12] = [
    entry(1, new as *const c_void),
    entry(2, encrypt_init as *const c_void),
    entry(3, encrypt as *const c_void),
    entry(4, decrypt_init as *const c_void),
    entry(5, decrypt as *const c_void),
    entry(6, free as *const c_void),
    entry(7, dup as *const c_void),
    entry(8, get_params as *const c_void),
    entry(9, gettable as *const c_void),
    entry(10, set_params as *const c_void),
    entry(11, settable as *const c_void),
    LAST,
];
