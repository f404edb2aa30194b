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

/// The one reason of our own.
pub(super) const FAILED: &CStr = c"operation failed";
pub(super) const NUMBER_OF_FAILED: u32 = 1;

/// Failures for which OpenSSL's own providers have a number, the same in all versions (`openssl/proverr.h`); programs look for some of them. A failure that begins with
/// one of these words is one.
const OF_OPENSSL: [(&str, u32); 9] = [
    ("invalid mgf1 md", 167),
    ("invalid salt length", 112),
    ("invalid x931 digest", 170),
    ("pss saltlen too small", 172),
    ("illegal or unsupported padding mode", 165),
    ("digest not allowed", 174),
    ("operation not supported for this keytype", 178),
    ("key size too small", 171),
    (OUTPUT_BUFFER_TOO_SMALL, 106),
];
pub(super) const OUTPUT_BUFFER_TOO_SMALL: &str = "output buffer too small";

/// The number of a failure's reason, and what else it says. A number that begins with a library's is that library's (`ERR_PACK`); others are ours.
fn reason(failure: &str) -> (u32, &str) {
    const PROVIDERS: u32 = 57 << 23;
    for (reason, number) in OF_OPENSSL {
        if let Some(rest) = failure.strip_prefix(reason) {
            return (PROVIDERS | number, rest.trim_start_matches(": "));
        }
    }
    (NUMBER_OF_FAILED, failure)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_has_the_number_that_openssl_gives_it() {
        let failure = format!("{OUTPUT_BUFFER_TOO_SMALL}: it has 2 bytes");
        assert_eq!(reason(&failure), (0x1c80_006a, "it has 2 bytes"));
        assert_eq!(reason("digest not allowed: MD5"), (0x1c80_00ae, "MD5"));
        assert_eq!(reason("no such key"), (1, "no such key"));
    }
}
