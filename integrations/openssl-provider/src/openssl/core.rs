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

use super::types::Param;
use crate::failure::Failure;

/// `OSSL_FUNC_core_get_params_fn` and its like, of the core that has us loaded.
type GetParams = unsafe extern "C" fn(*const c_void, *mut Param) -> c_int;
type NewError = unsafe extern "C" fn(*const c_void);
type SetDebug = unsafe extern "C" fn(*const c_void, *const c_char, c_int, *const c_char);
type SetError = unsafe extern "C" fn(*const c_void, u32, *const c_char, *mut c_void);

/// `OSSL_DISPATCH`, as a core passes its functions.
#[repr(C)]
struct CoreFunction {
    id: c_int,
    function: *const c_void,
}

/// The core that has us loaded, and its functions. Each copy of libcrypto in a process has a queue of its own.
#[derive(Clone, Copy)]
pub(crate) struct Core {
    handle: *const c_void,
    new_error: Option<NewError>,
    set_debug: Option<SetDebug>,
    set_error: Option<SetError>,
    pub(crate) get_params: Option<GetParams>,
}

// SAFETY: the handle is OpenSSL's, which any thread may pass back to it.
unsafe impl Send for Core {}
// SAFETY: as above.
unsafe impl Sync for Core {}

impl Core {
    /// # Safety
    ///
    /// As OpenSSL calls a provider's entry point: its handle, and its table of functions.
    pub(crate) unsafe fn of(handle: *const c_void, table: *const c_void) -> Core {
        let mut core = Core {
            handle,
            new_error: None,
            set_debug: None,
            set_error: None,
            get_params: None,
        };
        let mut entry = table.cast::<CoreFunction>();
        // SAFETY: the table ends with number 0, and each number's function has the type that core_dispatch.h gives it.
        unsafe {
            while (*entry).id != 0 {
                let function = (*entry).function;
                match (*entry).id {
                    2 => core.get_params = mem::transmute::<*const c_void, Option<GetParams>>(function),
                    5 => core.new_error = mem::transmute::<*const c_void, Option<NewError>>(function),
                    6 => core.set_debug = mem::transmute::<*const c_void, Option<SetDebug>>(function),
                    7 => core.set_error = mem::transmute::<*const c_void, Option<SetError>>(function),
                    _ => {}
                }
                entry = entry.add(1);
            }
        }
        core
    }

    pub(crate) fn handle(&self) -> *const c_void {
        self.handle
    }

    /// Reports a failure to OpenSSL's queue of errors. Nothing is locked: a child of a fork may call it whatever other
    /// threads of its parent did.
    pub(crate) fn raise(&self, failure: &Failure) {
        if let Ok(text) = CString::new(failure.text.replace('%', "%%")) {
            self.raise_number(failure.reason.number(), &text);
        }
    }

    /// Reports that there is no memory; takes none of ours.
    pub(crate) fn raise_no_memory(&self) {
        self.raise_number(Failure::NO_MEMORY.reason.number(), c"");
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
