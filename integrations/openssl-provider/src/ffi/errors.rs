//! OpenSSL's queue of errors, through the core that has us loaded.
//!
//! Every failure has a number of one of OpenSSL's own libraries, whose texts are built in, and the sentence that says
//! what was wrong. The provider registers no reason strings of its own: OpenSSL 3.0 and 3.5 remove them when the last
//! key is freed, and end with a segmentation fault where a program frees that key after OpenSSL's cleanup
//! (`ERR_unload_strings` takes a lock that is gone; 4.0 looks first).

use std::{
    ffi::{CStr, CString, c_char, c_int, c_void},
    mem,
};

use super::types::{Dispatch, GetParams, OUTPUT_BUFFER_TOO_SMALL};
use crate::memory::NO_MEMORY;

/// What a core gave us at initialisation. Each copy of libcrypto in a process has a queue of its own.
#[derive(Clone, Copy)]
pub(super) struct Core {
    handle: *const c_void,
    new_error: Option<unsafe extern "C" fn(*const c_void)>,
    set_debug: Option<unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char)>,
    set_error: Option<unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void)>,
    pub(super) get_params: Option<GetParams>,
}

// SAFETY: the handle is OpenSSL's, which any thread may pass back to it.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

const PROVIDERS: u32 = 57 << 23;
const RSA: u32 = 4 << 23;

/// Failures for which OpenSSL's own libraries have a number, the same in all versions (`openssl/proverr.h`,
/// `openssl/rsaerr.h`); programs look for some of them. A failure that begins with one of these words is one.
const OF_OPENSSL: [(&str, u32); 11] = [
    ("invalid mgf1 md", PROVIDERS | 167),
    ("invalid salt length", PROVIDERS | 112),
    ("invalid x931 digest", PROVIDERS | 170),
    ("pss saltlen too small", PROVIDERS | 172),
    ("illegal or unsupported padding mode", PROVIDERS | 165),
    ("digest not allowed", PROVIDERS | 174),
    ("operation not supported for this keytype", PROVIDERS | 178),
    ("key size too small", PROVIDERS | 171),
    (OUTPUT_BUFFER_TOO_SMALL, PROVIDERS | 106),
    (BAD_EXPONENT, RSA | 101),
    (NO_MEMORY, NO_MEMORY_LEFT),
];
pub(crate) const BAD_EXPONENT: &str = "bad e value";
/// `ERR_R_OPERATION_FAIL` of a provider: "operation fail".
const FAILED: u32 = PROVIDERS | 263 | 0b11 << 18;

/// `ERR_R_MALLOC_FAILURE` of a provider.
const NO_MEMORY_LEFT: u32 = PROVIDERS | 256 | 0b11 << 18;

/// The number of a failure's reason (`ERR_PACK`), and what else it says.
fn reason(failure: &str) -> (u32, &str) {
    for (reason, number) in OF_OPENSSL {
        if let Some(rest) = failure.strip_prefix(reason) {
            return (number, rest.trim_start_matches(": "));
        }
    }
    (FAILED, failure)
}

impl Core {
    /// # Safety
    ///
    /// As OpenSSL calls a provider's entry point: its handle, and its table of functions.
    pub(super) unsafe fn of(handle: *const c_void, table: *const c_void) -> Core {
        let mut core = Core {
            handle,
            new_error: None,
            set_debug: None,
            set_error: None,
            get_params: None,
        };
        let mut entry = table.cast::<Dispatch>();
        // SAFETY: the table ends with number 0, and each number's function has the type that core_dispatch.h gives it.
        unsafe {
            while (*entry).id != 0 {
                let function = (*entry).function;
                match (*entry).id {
                    2 => core.get_params = mem::transmute::<*const c_void, Option<_>>(function),
                    5 => core.new_error = mem::transmute::<*const c_void, Option<_>>(function),
                    6 => core.set_debug = mem::transmute::<*const c_void, Option<_>>(function),
                    7 => core.set_error = mem::transmute::<*const c_void, Option<_>>(function),
                    _ => {}
                }
                entry = entry.add(1);
            }
        }
        core
    }

    pub(super) fn handle(&self) -> *const c_void {
        self.handle
    }

    /// Reports a failure to OpenSSL's queue of errors. Nothing is locked: a child of a fork may call it whatever other
    /// threads of its parent did.
    pub(super) fn raise(&self, failure: &str) {
        let (number, text) = reason(failure);
        if let Ok(text) = CString::new(text.replace('%', "%%")) {
            self.raise_number(number, &text);
        }
    }

    /// Reports that there is no memory; takes none of ours.
    pub(super) fn raise_no_memory(&self) {
        self.raise_number(NO_MEMORY_LEFT, c"");
    }

    /// A number with a text that has no conversions.
    fn raise_number(&self, number: u32, text: &CStr) {
        let (Some(new), Some(debug), Some(set)) = (self.new_error, self.set_debug, self.set_error) else {
            return;
        };
        // A va_list that nothing is read from, as the text has no conversions; where it is a structure it is passed by
        // address.
        let mut no_arguments = [0_u64; 8];
        // SAFETY: the functions are of the core that has us loaded, and the text is a string of C.
        unsafe {
            new(self.handle);
            debug(self.handle, c"rsalab".as_ptr(), 0, c"".as_ptr());
            set(self.handle, number, text.as_ptr(), no_arguments.as_mut_ptr().cast());
        }
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
        assert_eq!(reason("bad e value: x"), (0x0200_0065, "x"));
        assert_eq!(reason(NO_MEMORY), (0x1c8c_0100, ""));
        assert_eq!(reason("no such key"), (0x1c8c_0107, "no such key"));
    }
}
