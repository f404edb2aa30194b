//! How OpenSSL finds the provider, and what it offers.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};

use super::{
    cipher,
    instance::{self, Instance},
    keymgmt, sigalg, signature,
};
use crate::{
    failure::Result,
    memory,
    openssl::{
        core::Core,
        dispatch::{self, Algorithm, Any, AsymmetricCipher, Dispatch, KeyManagement, Signature},
        jobs,
        param::{END, Params, UNSIGNED, UTF8, UTF8_PTR, describe},
        types::{Param, caught},
        version::Version,
    },
    requests,
    settings::Settings,
};

const OP_KEYMGMT: c_int = 10;
const OP_SIGNATURE: c_int = 12;
const OP_ASYM_CIPHER: c_int = 13;

/// The entry point of every provider.
///
/// # Safety
///
/// Called by OpenSSL, with its handle, its table of functions, and places for ours.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn OSSL_provider_init(
    handle: *const c_void,
    table: *const c_void,
    out: *mut *const c_void,
    context: *mut *mut c_void,
) -> c_int {
    // SAFETY: as OpenSSL calls this.
    let core = unsafe { Core::of(handle, table) };
    let Some(_reserve) = memory::call() else {
        core.raise_no_memory();
        return 0;
    };
    caught(0, || {
        let instance = match configured(core) {
            Ok(instance) => instance,
            Err(reason) => {
                core.raise(&reason);
                return 0;
            }
        };
        jobs::find_functions();
        // SAFETY: OpenSSL gives places for both.
        unsafe {
            *out = TABLE.as_ptr().cast();
            *context = instance.into_context();
        }
        1
    })
}

/// Reads the version of OpenSSL, and the provider's section of openssl.cnf.
fn configured(core: Core) -> Result<Instance> {
    let value = |name: &CStr| {
        let mut text: *const c_char = ptr::null();
        let mut params = [
            Param {
                key: name.as_ptr(),
                data: ptr::from_mut(&mut text).cast(),
                data_size: size_of::<*const c_char>(),
                ..describe(c"", UTF8_PTR)
            },
            END,
        ];
        // SAFETY: the array ends with a null key, and its only datum is a place for a pointer.
        let known = unsafe { core.get_params?(core.handle(), params.as_mut_ptr()) };
        if known != 1 || text.is_null() {
            return None;
        }
        // SAFETY: OpenSSL put a string of C there, which stays as long as the provider. What is no text is no value of
        // any setting.
        Some(unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?"))
    };
    Ok(Instance {
        core,
        version: Version::of(value(c"openssl-version").unwrap_or_default()),
        settings: Settings::read(value)?,
    })
}

unsafe extern "C" fn teardown(context: *mut c_void) {
    // SAFETY: it is the provider's context, and this the last call with it.
    unsafe { instance::free(context) };
}

static GETTABLE: [Param; 7] = [
    describe(c"name", UTF8_PTR),
    describe(c"version", UTF8_PTR),
    describe(c"buildinfo", UTF8_PTR),
    describe(c"status", UNSIGNED),
    describe(c"rsalab-batches", UTF8),
    describe(c"rsalab-abandoned", UNSIGNED),
    END,
];

unsafe extern "C" fn gettable(_: *mut c_void) -> *const Param {
    GETTABLE.as_ptr()
}

const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => c"",
};

unsafe extern "C" fn get_params(context: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: it is the provider's context.
    let instance = unsafe { Instance::of(context) };
    instance.status(|| {
        // SAFETY: OpenSSL's array, for this call.
        let params = unsafe { Params::new(params) };
        for (name, text) in [("name", c"rsalab"), ("version", VERSION), ("buildinfo", VERSION)] {
            if let Some(found) = params.find(name) {
                found.set_static(text)?;
            }
        }
        if let Some(found) = params.find("status") {
            found.set_number(1)?;
        }
        if let Some(found) = params.find("rsalab-batches") {
            found.set_string(&requests::histogram())?;
        }
        if let Some(found) = params.find("rsalab-abandoned") {
            found.set_number(jobs::abandoned())?;
        }
        Ok(())
    })
}

const NAMES: &CStr = c"RSA:rsaEncryption:1.2.840.113549.1.1.1";
static KEYMGMT: [Algorithm<KeyManagement>; 3] = [
    Algorithm::new(NAMES, &keymgmt::TABLE, c"rsalab RSA keys"),
    Algorithm::new(
        c"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10",
        &keymgmt::PSS_TABLE,
        c"rsalab RSA-PSS keys",
    ),
    Algorithm::LAST,
];
static CIPHER: [Algorithm<AsymmetricCipher>; 2] = [
    Algorithm::new(NAMES, &cipher::TABLE, c"rsalab RSA encryption"),
    Algorithm::LAST,
];
static SIGNATURE: [Algorithm<Signature>; sigalg::COUNT + 2] = {
    let mut all = [const { Algorithm::LAST }; sigalg::COUNT + 2];
    all[0] = ANY_DIGEST;
    let mut number = 0;
    while number < sigalg::COUNT {
        all[number + 1] = sigalg::algorithm(number);
        number += 1;
    }
    all
};
/// Of them, what OpenSSL before 3.4 knows.
static OLD_SIGNATURE: [Algorithm<Signature>; 2] = [ANY_DIGEST, Algorithm::LAST];
const ANY_DIGEST: Algorithm<Signature> = Algorithm::new(NAMES, &signature::TABLE, c"rsalab RSA signatures");

unsafe extern "C" fn query(context: *mut c_void, operation: c_int, no_store: *mut c_int) -> *const Algorithm<Any> {
    // SAFETY: it is the provider's context.
    let version = unsafe { Instance::of(context) }.version;
    if !no_store.is_null() {
        // SAFETY: OpenSSL's place for the answer.
        unsafe { *no_store = 0 };
    }
    match operation {
        OP_KEYMGMT => KEYMGMT.as_ptr().cast(),
        OP_SIGNATURE if version.has_sigalgs() => SIGNATURE.as_ptr().cast(),
        OP_SIGNATURE => OLD_SIGNATURE.as_ptr().cast(),
        OP_ASYM_CIPHER => CIPHER.as_ptr().cast(),
        _ => ptr::null(),
    }
}

type Entry = Dispatch<dispatch::Provider>;

static TABLE: [Entry; 5] = [
    Entry::teardown(teardown),
    Entry::gettable_params(gettable),
    Entry::get_params(get_params),
    Entry::query_operation(query),
    Entry::LAST,
];
