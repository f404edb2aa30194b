//! Signatures: `OSSL_OP_SIGNATURE`.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::Arc,
};

use super::{
    param::{END, OCTETS, Params, UTF8, describe},
    slot::slot,
    types::{Dispatch, LAST, Param, bytes, deliver, entry, guard, status},
};
use crate::sign::{Context, Use};

pub(super) unsafe extern "C" fn new(_: *mut c_void, _: *const c_char) -> *mut c_void {
    guard(ptr::null_mut(), || {
        Box::into_raw(Box::<Context>::default()).cast()
    })
}

pub(super) unsafe extern "C" fn free(context: *mut c_void) {
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
pub(super) unsafe fn own<'a>(context: *mut c_void) -> Result<&'a mut Context, String> {
    // SAFETY: the caller's promise.
    unsafe { context.cast::<Context>().as_mut() }.ok_or_else(|| "there is no context".into())
}

pub(super) unsafe extern "C" fn dup(context: *mut c_void) -> *mut c_void {
    guard(ptr::null_mut(), || {
        // SAFETY: OpenSSL passes a context of ours.
        match unsafe { own(context) } {
            Ok(context) => Box::into_raw(Box::new(context.duplicate())).cast(),
            Err(_) => ptr::null_mut(),
        }
    })
}

/// # Safety
///
/// As for OpenSSL's functions that begin an operation.
pub(super) unsafe fn begin(
    purpose: Use,
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> Result<(), String> {
    // SAFETY: OpenSSL passes a context and a key of ours, and an array for this call.
    let (context, key, params) = unsafe { (own(context)?, slot(key), Params::new(params)) };
    let key = key.and_then(|slot| Some((slot.kind, Arc::clone(slot.key()?))));
    context.begin(purpose, key)?;
    context.set_params(&params)
}

unsafe extern "C" fn sign_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin(Use::Sign, context, key, params) })
}

unsafe extern "C" fn verify_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin(Use::Verify, context, key, params) })
}

unsafe extern "C" fn recover_init(
    context: *mut c_void,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin(Use::Recover, context, key, params) })
}

unsafe extern "C" fn sign(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    room: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a context of ours, the input, and room for the signature.
        unsafe {
            let context = own(context)?;
            let needed = context.signature_len()?;
            deliver(out, len, room, needed, || {
                context.sign(bytes(input, input_len))
            })
        }
    })
}

unsafe extern "C" fn verify(
    context: *mut c_void,
    signature: *const u8,
    len: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, the signature and the input.
    status(|| unsafe { own(context)?.verify(bytes(signature, len), bytes(input, input_len)) })
}

pub(super) unsafe extern "C" fn recover(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    room: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a context of ours, the signature, and room for what was signed.
        unsafe {
            let context = own(context)?;
            let needed = match out.is_null() {
                true => context.signature_len()?,
                false => 0,
            };
            deliver(out, len, room, needed, || {
                context.recover(bytes(signature, signature_len))
            })
        }
    })
}

/// # Safety
///
/// As for OpenSSL's functions that begin an operation on a message.
unsafe fn begin_message(
    purpose: Use,
    context: *mut c_void,
    name: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> Result<(), String> {
    let name = match name.is_null() {
        true => None,
        // SAFETY: not null, and so a string of C.
        false => unsafe { CStr::from_ptr(name) }.to_str().ok(),
    };
    // SAFETY: the caller's promise.
    unsafe {
        begin(purpose, context, key, params)?;
        own(context)?.begin_message(name)
    }
}

unsafe extern "C" fn message_sign_init(
    context: *mut c_void,
    name: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin_message(Use::Sign, context, name, key, params) })
}

unsafe extern "C" fn message_verify_init(
    context: *mut c_void,
    name: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    status(|| unsafe { begin_message(Use::Verify, context, name, key, params) })
}

pub(super) unsafe extern "C" fn update(context: *mut c_void, part: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and a part of the message.
    status(|| unsafe { own(context)?.update(bytes(part, len)) })
}

unsafe extern "C" fn message_sign_final(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    room: usize,
) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a context of ours, and room for the signature.
        unsafe {
            let context = own(context)?;
            let needed = context.signature_len()?;
            deliver(out, len, room, needed, || {
                let digest = context.finish()?;
                context.sign(&digest)
            })
        }
    })
}

unsafe extern "C" fn message_verify_final(
    context: *mut c_void,
    signature: *const u8,
    len: usize,
) -> c_int {
    status(|| {
        // SAFETY: OpenSSL passes a context of ours, and the signature.
        let (context, signature) = unsafe { (own(context)?, bytes(signature, len)) };
        let digest = context.finish()?;
        context.verify(signature, &digest)
    })
}

pub(super) unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    status(|| unsafe { own(context)?.get_params(&Params::new(params)) })
}

unsafe extern "C" fn set_params(context: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and an array for this call.
    status(|| unsafe { own(context)?.set_params(&Params::new(params)) })
}

static GETTABLE: [Param; 6] = [
    describe(c"algorithm-id", OCTETS),
    describe(c"pad-mode", UTF8),
    describe(c"digest", UTF8),
    describe(c"mgf1-digest", UTF8),
    describe(c"saltlen", UTF8),
    END,
];
static SETTABLE: [Param; 7] = [
    describe(c"digest", UTF8),
    describe(c"properties", UTF8),
    describe(c"pad-mode", UTF8),
    describe(c"mgf1-digest", UTF8),
    describe(c"mgf1-properties", UTF8),
    describe(c"saltlen", UTF8),
    END,
];

pub(super) unsafe extern "C" fn gettable(_: *mut c_void, _: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

unsafe extern "C" fn settable(_: *mut c_void, _: *mut c_void) -> *const Param {
    SETTABLE.as_ptr()
}

pub(super) static TABLE: [Dispatch; 20] = [
    entry(1, new as *const c_void),
    entry(2, sign_init as *const c_void),
    entry(3, sign as *const c_void),
    entry(4, verify_init as *const c_void),
    entry(5, verify as *const c_void),
    entry(6, recover_init as *const c_void),
    entry(7, recover as *const c_void),
    entry(8, message_sign_init as *const c_void),
    entry(9, update as *const c_void),
    entry(10, message_sign_final as *const c_void),
    entry(12, message_verify_init as *const c_void),
    entry(13, update as *const c_void),
    entry(14, message_verify_final as *const c_void),
    entry(16, free as *const c_void),
    entry(17, dup as *const c_void),
    entry(18, get_params as *const c_void),
    entry(19, gettable as *const c_void),
    entry(20, set_params as *const c_void),
    entry(21, settable as *const c_void),
    LAST,
];
