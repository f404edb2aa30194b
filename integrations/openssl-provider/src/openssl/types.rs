//! Layouts of OpenSSL's `core.h`, and what every function of a table does first and last.

use std::{
    ffi::{c_char, c_int, c_uint, c_void},
    panic::{AssertUnwindSafe, catch_unwind},
    slice,
};

use crate::{
    failure::{Reason, Result},
    memory,
};

/// `OSSL_PARAM`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(crate) key: *const c_char,
    pub(crate) data_type: c_uint,
    pub(crate) data: *mut c_void,
    pub(crate) data_size: usize,
    pub(crate) return_size: usize,
}

// SAFETY: static ones describe parameters and hold no data.
unsafe impl Sync for Param {}

/// `OSSL_CALLBACK`.
pub(crate) type Callback = unsafe extern "C" fn(*const Param, *mut c_void) -> c_int;

/// Runs the body of a function that OpenSSL called and that takes no memory: it frees or compares. A panic is a
/// failure.
pub(crate) fn guard<T>(failure: T, body: impl FnOnce() -> T) -> T {
    let _reserve = memory::call();
    caught(failure, body)
}

/// Runs a body; a panic is a failure.
pub(crate) fn caught<T>(failure: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(failure)
}

/// Bytes that OpenSSL passes; none for a null pointer.
///
/// # Safety
///
/// `bytes` is null or points to `len` bytes that nobody changes during `'a`.
pub(crate) unsafe fn octets<'a>(bytes: *const u8, len: usize) -> &'a [u8] {
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
pub(crate) unsafe fn deliver<R: AsRef<[u8]>>(
    out: *mut u8,
    len: *mut usize,
    room: usize,
    needed: usize,
    compute: impl FnOnce() -> Result<R>,
) -> Result<()> {
    if out.is_null() {
        if len.is_null() {
            return Err("there is nowhere to write the length".into());
        }
        // SAFETY: not null, and the caller's promise.
        unsafe { *len = needed };
        return Ok(());
    }
    if room < needed {
        return Err(Reason::OutputBufferTooSmall.because(format!("it has {room} bytes, and {needed} are needed")));
    }
    let result = compute()?;
    let result = result.as_ref();
    if result.len() > room {
        // How long it is may be a secret.
        return Err(Reason::OutputBufferTooSmall.because(""));
    }
    // SAFETY: `room` bytes may be written there, and the result is not longer.
    unsafe { std::ptr::copy_nonoverlapping(result.as_ptr(), out, result.len()) };
    if !len.is_null() {
        // SAFETY: not null, and the caller's promise.
        unsafe { *len = result.len() };
    }
    Ok(())
}
