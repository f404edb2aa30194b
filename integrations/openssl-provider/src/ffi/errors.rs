//! OpenSSL's queue of errors, through the core that has us loaded.

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    sync::{Mutex, PoisonError},
};

/// What a core gave us at initialisation.
#[derive(Clone, Copy)]
pub(super) struct Core {
    pub(super) handle: *const c_void,
    pub(super) new_error: Option<unsafe extern "C" fn(*const c_void)>,
    pub(super) set_debug:
        Option<unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char)>,
    pub(super) set_error:
        Option<unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void)>,
}

// SAFETY: the handle is OpenSSL's, which any thread may pass back to it.
unsafe impl Send for Core {}

/// The cores that have us loaded.
static CORES: Mutex<Vec<Core>> = Mutex::new(Vec::new());

/// What else is raised than [`FAILED`], in the words of OpenSSL's own provider; programs look for some of them. A failure that begins with one of them is one.
pub(super) const REASONS: [&CStr; 9] = [
    FAILED,
    c"invalid mgf1 md",
    c"invalid salt length",
    c"invalid x931 digest",
    c"pss saltlen too small",
    c"illegal or unsupported padding mode",
    c"digest not allowed",
    c"operation not supported for this keytype",
    c"key size too small",
];
const FAILED: &CStr = c"operation failed";

/// The number of a failure's reason, from 1, and what else it says.
fn reason(failure: &str) -> (u32, &str) {
    for (number, reason) in (1..).zip(REASONS) {
        let rest = reason
            .to_str()
            .ok()
            .and_then(|reason| failure.strip_prefix(reason));
        if let Some(rest) = rest {
            return (number, rest.trim_start_matches(": "));
        }
    }
    (1, failure)
}

/// Reports a failure to OpenSSL's queue of errors.
pub(super) fn raise(failure: &str) {
    let Some(core) = CORES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .last()
        .copied()
    else {
        return;
    };
    let (Some(new), Some(debug), Some(set)) = (core.new_error, core.set_debug, core.set_error)
    else {
        return;
    };
    let (number, text) = reason(failure);
    let Ok(text) = CString::new(text.replace('%', "%%")) else {
        return;
    };
    // A va_list that nothing is read from, as the text has no conversions; where it is a structure it is passed by address.
    let mut no_arguments = [0_u64; 8];
    // SAFETY: the functions are of the core that has us loaded, and the text is a string of C.
    unsafe {
        new(core.handle);
        debug(core.handle, c"rsalab".as_ptr(), 0, c"".as_ptr());
        set(
            core.handle,
            number,
            text.as_ptr(),
            no_arguments.as_mut_ptr().cast(),
        );
    }
}

/// A core that has loaded us.
pub(super) fn add(core: Core) {
    let mut cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    cores.push(core);
}

/// A core that unloads us.
pub(super) fn remove(handle: *const c_void) {
    let mut cores = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(place) = cores.iter().position(|core| core.handle == handle) {
        cores.remove(place);
    }
}
