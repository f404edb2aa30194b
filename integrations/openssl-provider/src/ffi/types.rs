//! Layouts of OpenSSL's `core.h`, and what every function of a table does first and last.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    slice,
};

use crate::memory;

/// What a failure begins with that has OpenSSL's number for it.
pub(super) const OUTPUT_BUFFER_TOO_SMALL: &str = "output buffer too small";

/// `OSSL_DISPATCH`: a function's number and the function.
#[repr(C)]
pub(super) struct Dispatch {
    pub(super) id: c_int,
    pub(super) function: *const c_void,
}

// SAFETY: it points to a function, which does not change.
unsafe impl Sync for Dispatch {}

/// A function by its number in `core_dispatch.h`, which has the type that OpenSSL calls it with.
pub(super) const fn entry(id: c_int, function: *const c_void) -> Dispatch {
    Dispatch { id, function }
}

/// What ends a table.
pub(super) const LAST: Dispatch = entry(0, std::ptr::null());

/// `OSSL_ALGORITHM`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Algorithm {
    pub(super) names: *const c_char,
    pub(super) properties: *const c_char,
    pub(super) implementation: *const Dispatch,
    pub(super) description: *const c_char,
}

// SAFETY: it points to constants.
unsafe impl Sync for Algorithm {}

/// `OSSL_PARAM`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(super) key: *const c_char,
    pub(super) data_type: c_uint,
    pub(super) data: *mut c_void,
    pub(super) data_size: usize,
    pub(super) return_size: usize,
}

// SAFETY: static ones describe parameters and hold no data.
unsafe impl Sync for Param {}

/// `OSSL_CALLBACK`.
pub(super) type Callback = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

/// `OSSL_FUNC_core_get_params_fn`.
pub(super) type GetParams = unsafe extern "C" fn(*const c_void, *mut Param) -> c_int;

/// Runs the body of a function that OpenSSL called and that takes no memory: it frees or compares. A panic is a
/// failure.
pub(super) fn guard<T>(failure: T, body: impl FnOnce() -> T) -> T {
    let _reserve = memory::call();
    caught(failure, body)
}

/// Runs a body; a panic is a failure.
pub(super) fn caught<T>(failure: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(failure)
}

/// Bytes that OpenSSL passes; none for a null pointer.
///
/// # Safety
///
/// `bytes` is null or points to `len` bytes that nobody changes during `'a`.
pub(super) unsafe fn octets<'a>(bytes: *const u8, len: usize) -> &'a [u8] {
    if bytes.is_null() || len == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { slice::from_raw_parts(bytes, len) }
}

/// Writes a result the way OpenSSL's functions do: a null `out` asks for the length alone.
///
/// # Safety
///
/// `out` is null or has room for `room` bytes; `len` is null or may be written.
pub(super) unsafe fn deliver<R: AsRef<[u8]>>(
    out: *mut u8,
    len: *mut usize,
    room: usize,
    needed: usize,
    compute: impl FnOnce() -> Result<R, String>,
) -> Result<(), String> {
    if out.is_null() {
        if len.is_null() {
            return Err("there is nowhere to write the length".into());
        }
        // SAFETY: not null, and the caller's promise.
        unsafe { *len = needed };
        return Ok(());
    }
    if room < needed {
        return Err(format!(
            "{OUTPUT_BUFFER_TOO_SMALL}: it has {room} bytes, and {needed} are needed"
        ));
    }
    let result = compute()?;
    let result = result.as_ref();
    if result.len() > room {
        // How long it is may be a secret.
        return Err(OUTPUT_BUFFER_TOO_SMALL.into());
    }
    // SAFETY: `room` bytes may be written there, and the result is not longer.
    unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), out, result.len()) };
    if !len.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { *len = result.len() };
    }
    Ok(())
}
