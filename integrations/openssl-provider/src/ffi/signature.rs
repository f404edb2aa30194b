//! Signatures: `OSSL_OP_SIGNATURE`.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    sync::Arc,
};

use super::{
    context::{Room, dup, free, get_params, inits, make, produce, set_params, with},
    slot::slot,
};
use crate::{
    failure::Result,
    openssl::{
        dispatch::{Dispatch, Signature},
        param::{END, OCTETS, Params, UTF8, describe},
        types::{Param, octets},
    },
    sign::{Context, Use},
};

pub(super) type Entry = Dispatch<Signature>;

pub(super) unsafe extern "C" fn new(provider: *mut c_void, _: *const c_char) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { make::<Context>(provider) }
}

/// # Safety
///
/// As for OpenSSL's functions that begin an operation.
pub(super) unsafe fn begin(purpose: Use, context: &mut Context, key: *mut c_void, params: *const Param) -> Result<()> {
    // SAFETY: OpenSSL passes a key of ours, and an array for this call.
    let (key, params) = unsafe { (slot(key), Params::new(params)) };
    let key = key.and_then(|slot| Some((slot.kind, Arc::clone(slot.key()?))));
    context.begin(purpose, key)?;
    context.set_params(&params)
}

inits! { begin,
    sign_init: Use::Sign;
    verify_init: Use::Verify;
    recover_init: Use::Recover;
}

/// # Safety
///
/// As for OpenSSL's functions that sign.
pub(super) unsafe fn sign_by(
    context: *mut c_void,
    room: Room,
    sign: impl FnOnce(&mut Context) -> Result<Vec<u8>>,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and room for the signature.
    unsafe { produce(context, room, |context: &Context, _| context.signature_len(), sign) }
}

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
            context.sign(octets(input, input_len))
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
            context.verify(octets(signature, len), octets(input, input_len))
        })
    }
}

pub(super) unsafe extern "C" fn recover(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    bytes: usize,
    signature: *const u8,
    signature_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, the signature, and room for what was signed.
    unsafe {
        produce::<Context, _>(
            context,
            Room { out, len, bytes },
            |context, room| match room.out.is_null() {
                true => context.signature_len(),
                false => Ok(0),
            },
            |context| context.recover(octets(signature, signature_len)),
        )
    }
}

/// # Safety
///
/// As for OpenSSL's functions that begin an operation on a message.
unsafe fn begin_message(
    purpose: Use,
    context: &mut Context,
    name: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> Result<()> {
    let name = match name.is_null() {
        true => None,
        // SAFETY: not null, and so a string of C.
        false => unsafe { CStr::from_ptr(name) }.to_str().ok(),
    };
    // SAFETY: the caller's promise.
    unsafe { begin(purpose, context, key, params)? };
    context.begin_message(name)
}

unsafe extern "C" fn message_sign_init(
    context: *mut c_void,
    name: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    unsafe { with(context, |context| begin_message(Use::Sign, context, name, key, params)) }
}

unsafe extern "C" fn message_verify_init(
    context: *mut c_void,
    name: *const c_char,
    key: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: called by OpenSSL.
    unsafe {
        with(context, |context| {
            begin_message(Use::Verify, context, name, key, params)
        })
    }
}

pub(super) unsafe extern "C" fn update(context: *mut c_void, part: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and a part of the message.
    unsafe { with(context, |context: &mut Context| context.update(octets(part, len))) }
}

/// Signs the message that has been passed in parts.
pub(super) unsafe extern "C" fn sign_final(context: *mut c_void, out: *mut u8, len: *mut usize, bytes: usize) -> c_int {
    // SAFETY: called by OpenSSL.
    unsafe {
        sign_by(context, Room { out, len, bytes }, |context| {
            let digest = context.finish()?;
            context.sign(&digest)
        })
    }
}

unsafe extern "C" fn message_verify_final(context: *mut c_void, signature: *const u8, len: usize) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, and the signature.
    unsafe {
        with(context, |context: &mut Context| {
            let digest = context.finish()?;
            context.verify(octets(signature, len), &digest)
        })
    }
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

pub(super) static TABLE: [Entry; 20] = [
    Entry::new_context(new),
    Entry::sign_init(sign_init),
    Entry::sign(sign),
    Entry::verify_init(verify_init),
    Entry::verify(verify),
    Entry::recover_init(recover_init),
    Entry::recover(recover),
    Entry::digest_sign_init(message_sign_init),
    Entry::digest_sign_update(update),
    Entry::digest_sign_final(sign_final),
    Entry::digest_verify_init(message_verify_init),
    Entry::digest_verify_update(update),
    Entry::digest_verify_final(message_verify_final),
    Entry::free_context(free::<Context>),
    Entry::dup_context(dup::<Context>),
    Entry::get_params(get_params::<Context>),
    Entry::gettable_params(gettable),
    Entry::set_params(set_params::<Context>),
    Entry::settable_params(settable),
    Entry::LAST,
];
