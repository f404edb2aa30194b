//! Encryption: `OSSL_OP_ASYM_CIPHER`.

use std::ffi::{c_int, c_void};

use super::{
    context::{Room, dup, free, get_params, inits, make, produce, set_params, with},
    slot::{Slot, slot},
};
use crate::{
    encryption::{Context, Use},
    failure::{Reason, Result},
    openssl::{
        dispatch::{AsymmetricCipher, Dispatch},
        param::{END, OCTETS, OCTETS_PTR, Params, UNSIGNED, UTF8, describe},
        types::{Param, octets},
    },
    pss::Kind,
};

type Entry = Dispatch<AsymmetricCipher>;

unsafe extern "C" fn new(provider: *mut c_void) -> *mut c_void {
    // SAFETY: OpenSSL passes the provider's context.
    unsafe { make::<Context>(provider) }
}

/// # Safety
///
/// As for OpenSSL's functions that begin an operation.
unsafe fn begin(purpose: Use, context: &mut Context, key: *mut c_void, params: *const Param) -> Result<()> {
    // SAFETY: OpenSSL passes a key of ours, and an array for this call.
    let (key, params) = unsafe { (slot(key), Params::new(params)) };
    if key.is_some_and(|slot| slot.kind != Kind::Rsa) {
        return Err(Reason::UnsupportedForKeyType.because("a key of the type RSA-PSS does not encrypt"));
    }
    context.begin(purpose, key.and_then(Slot::key).cloned())?;
    context.set_params(&params)
}

inits! { begin,
    encrypt_init: Use::Encrypt;
    decrypt_init: Use::Decrypt;
}

unsafe extern "C" fn encrypt(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    bytes: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, the message, and room for the ciphertext.
    unsafe {
        produce::<Context, _>(
            context,
            Room { out, len, bytes },
            |context, _| context.ciphertext_len(),
            |context| context.encrypt(octets(input, input_len)),
        )
    }
}

unsafe extern "C" fn decrypt(
    context: *mut c_void,
    out: *mut u8,
    len: *mut usize,
    bytes: usize,
    input: *const u8,
    input_len: usize,
) -> c_int {
    // SAFETY: OpenSSL passes a context of ours, the ciphertext, and room for the message.
    unsafe {
        produce::<Context, _>(
            context,
            Room { out, len, bytes },
            |context, room| match room.out.is_null() {
                true => context.message_len(),
                false => context.message_room(),
            },
            |context| context.decrypt(octets(input, input_len)),
        )
    }
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

pub(super) static TABLE: [Entry; 12] = [
    Entry::new_context(new),
    Entry::encrypt_init(encrypt_init),
    Entry::encrypt(encrypt),
    Entry::decrypt_init(decrypt_init),
    Entry::decrypt(decrypt),
    Entry::free_context(free::<Context>),
    Entry::dup_context(dup::<Context>),
    Entry::get_params(get_params::<Context>),
    Entry::gettable_params(gettable),
    Entry::set_params(set_params::<Context>),
    Entry::settable_params(settable),
    Entry::LAST,
];
