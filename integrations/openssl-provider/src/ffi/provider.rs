//! How OpenSSL finds the provider, and what it offers.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    time::Duration,
};

use super::{
    cipher,
    errors::{self, Core},
    jobs, keymgmt,
    param::{END, Params, UNSIGNED, UTF8, UTF8_PTR, describe},
    sigalg, signature,
    types::{Algorithm, Dispatch, LAST, Param, entry, guard, status},
    version,
};
use crate::{statistics, threads};

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
    guard(0, || {
        let mut core = Core {
            handle,
            new_error: None,
            set_debug: None,
            set_error: None,
        };
        let mut get_params: Option<unsafe extern "C" fn(*const c_void, *mut Param) -> c_int> = None;
        let mut entry = table.cast::<Dispatch>();
        // SAFETY: the table ends with number 0, and each number's function has the type that core_dispatch.h gives it.
        unsafe {
            while (*entry).id != 0 {
                let function = (*entry).function;
                match (*entry).id {
                    2 => get_params = std::mem::transmute::<*const c_void, Option<_>>(function),
                    5 => core.new_error = std::mem::transmute::<*const c_void, Option<_>>(function),
                    6 => core.set_debug = std::mem::transmute::<*const c_void, Option<_>>(function),
                    7 => core.set_error = std::mem::transmute::<*const c_void, Option<_>>(function),
                    _ => {}
                }
                entry = entry.add(1);
            }
        }
        errors::add(core);
        if let Some(get_params) = get_params
            && let Err(reason) = configure(handle, get_params)
        {
            errors::raise(&reason);
            errors::remove(handle.cast_mut());
            return 0;
        }
        // SAFETY: OpenSSL gives places for both.
        unsafe {
            *out = TABLE.as_ptr().cast();
            *context = handle.cast_mut();
        }
        1
    })
}

/// Reads the provider's section of openssl.cnf.
fn configure(
    handle: *const c_void,
    get_params: unsafe extern "C" fn(*const c_void, *mut Param) -> c_int,
) -> Result<(), String> {
    let setting = |name: &'static CStr| {
        let mut text: *const c_char = ptr::null();
        let mut params = [
            Param {
                data_type: UTF8_PTR,
                data: ptr::from_mut(&mut text).cast(),
                data_size: size_of::<*const c_char>(),
                ..describe(name, UTF8_PTR)
            },
            END,
        ];
        // SAFETY: the array ends with a null key, and its only datum is a place for a pointer.
        let known = unsafe { get_params(handle, params.as_mut_ptr()) };
        if known != 1 || text.is_null() {
            return None;
        }
        // SAFETY: OpenSSL put a string of C there, which stays as long as the provider.
        unsafe { CStr::from_ptr(text) }.to_str().ok()
    };
    version::set(setting(c"openssl-version").unwrap_or_default());
    let number = |name: &'static CStr| {
        let parse = |text: &str| {
            let name = name.to_string_lossy();
            let number = text.trim().parse();
            number.map_err(|_| format!("{name} = {text}: a number is needed"))
        };
        setting(name).map(parse).transpose()
    };
    if let Some(jobs) = number(c"abandoned-jobs")? {
        jobs::abandoned_at_most(jobs);
    }
    if matches!(setting(c"async"), Some("no" | "off" | "0" | "false")) {
        jobs::abandoned_at_most(0);
    }
    let wait = number(c"share-wait")?.map(|micros: usize| Duration::from_micros(micros as u64));
    let shared = matches!(setting(c"share-threads"), Some("yes" | "on" | "1" | "true"));
    if shared || wait.is_some() {
        threads::share(wait.unwrap_or_default());
    }
    Ok(())
}

unsafe extern "C" fn teardown(context: *mut c_void) {
    errors::remove(context);
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

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

unsafe extern "C" fn get_params(_: *mut c_void, params: *mut Param) -> c_int {
    status(|| {
        // SAFETY: OpenSSL's array, for this call.
        let params = unsafe { Params::new(params) };
        for (name, text) in [
            ("name", c"rsalab"),
            ("version", VERSION),
            ("buildinfo", VERSION),
        ] {
            if let Some(found) = params.find(name) {
                found.set_static(text)?;
            }
        }
        if let Some(found) = params.find("status") {
            found.set_number(1)?;
        }
        if let Some(found) = params.find("rsalab-batches") {
            found.set_string(&statistics::histogram())?;
        }
        if let Some(found) = params.find("rsalab-abandoned") {
            found.set_number(jobs::abandoned())?;
        }
        Ok(())
    })
}

const PROPERTIES: *const c_char = c"provider=rsalab".as_ptr();
const NAMES: *const c_char = c"RSA:rsaEncryption:1.2.840.113549.1.1.1".as_ptr();
const NOTHING: Algorithm = Algorithm {
    names: ptr::null(),
    properties: ptr::null(),
    implementation: ptr::null(),
    description: ptr::null(),
};
static KEYMGMT: [Algorithm; 3] = [
    Algorithm {
        names: NAMES,
        properties: PROPERTIES,
        implementation: keymgmt::TABLE.as_ptr(),
        description: c"rsalab RSA keys".as_ptr(),
    },
    Algorithm {
        names: c"RSA-PSS:RSASSA-PSS:1.2.840.113549.1.1.10".as_ptr(),
        properties: PROPERTIES,
        implementation: keymgmt::PSS_TABLE.as_ptr(),
        description: c"rsalab RSA-PSS keys".as_ptr(),
    },
    NOTHING,
];
static CIPHER: [Algorithm; 2] = [
    Algorithm {
        names: NAMES,
        properties: PROPERTIES,
        implementation: cipher::TABLE.as_ptr(),
        description: c"rsalab RSA encryption".as_ptr(),
    },
    NOTHING,
];
static SIGNATURE: [Algorithm; sigalg::COUNT + 2] = {
    let mut all = [NOTHING; sigalg::COUNT + 2];
    all[0] = Algorithm {
        names: NAMES,
        properties: PROPERTIES,
        implementation: signature::TABLE.as_ptr(),
        description: c"rsalab RSA signatures".as_ptr(),
    };
    let mut number = 0;
    while number < sigalg::COUNT {
        all[number + 1] = sigalg::algorithm(number, PROPERTIES);
        number += 1;
    }
    all
};
/// Of them, what OpenSSL before 3.4 knows.
static OLD_SIGNATURE: [Algorithm; 2] = [
    Algorithm {
        names: NAMES,
        properties: PROPERTIES,
        implementation: signature::TABLE.as_ptr(),
        description: c"rsalab RSA signatures".as_ptr(),
    },
    NOTHING,
];

unsafe extern "C" fn query(
    _: *mut c_void,
    operation: c_int,
    no_store: *mut c_int,
) -> *const Algorithm {
    if !no_store.is_null() {
        // SAFETY: OpenSSL's place for the answer.
        unsafe { *no_store = 0 };
    }
    match operation {
        OP_KEYMGMT => KEYMGMT.as_ptr(),
        OP_SIGNATURE if version::has_sigalgs() => SIGNATURE.as_ptr(),
        OP_SIGNATURE => OLD_SIGNATURE.as_ptr(),
        OP_ASYM_CIPHER => CIPHER.as_ptr(),
        _ => ptr::null(),
    }
}

/// `OSSL_ITEM`.
#[repr(C)]
struct Item {
    id: u32,
    text: *const c_char,
}

impl Item {
    /// What ends an array.
    const LAST: Item = Item {
        id: 0,
        text: ptr::null(),
    };
}

// SAFETY: it points to a constant.
unsafe impl Sync for Item {}

static REASONS: [Item; 2] = [
    Item {
        id: errors::NUMBER_OF_FAILED,
        text: errors::FAILED.as_ptr(),
    },
    Item::LAST,
];

unsafe extern "C" fn reasons(_: *mut c_void) -> *const Item {
    REASONS.as_ptr()
}

static TABLE: [Dispatch; 6] = [
    entry(1024, teardown as *const c_void),
    entry(1025, gettable as *const c_void),
    entry(1026, get_params as *const c_void),
    entry(1027, query as *const c_void),
    entry(1029, reasons as *const c_void),
    LAST,
];
