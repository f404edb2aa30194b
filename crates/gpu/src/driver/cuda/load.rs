//! Loading kernels as text, with what the driver's compiler says where it refuses them.

use std::{
    ffi::{CStr, c_void},
    ptr,
};

use cudarc::driver::sys;

use super::context::{Context, name_of};
use crate::driver::DriverError;

/// Bytes of the compiler's log that are kept.
const LOG: usize = 8192;

/// Loads a module in a context, which is entered. `what` names it where it is refused.
pub(super) fn load(context: Context, text: &CStr, what: &str) -> Result<sys::CUmodule, DriverError> {
    context.enter()?;
    let mut log = vec![0_u8; LOG];
    let mut options = [
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // A number is given in the place of an address.
    let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), ptr::without_provenance_mut(LOG)];
    let mut module = ptr::null_mut();
    // SAFETY: the text ends with a zero, as the driver wants it. There are two options with a value each; the log has
    // as many bytes as the second says, and outlives the call, which is all that writes to it.
    let loaded = unsafe {
        sys::cuModuleLoadDataEx(
            ptr::from_mut(&mut module),
            text.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    };
    match loaded.result() {
        Ok(()) => Ok(module),
        Err(error) => Err(DriverError::Build {
            log: refusal(&name_of(error), what, &log),
        }),
    }
}

/// The reason of a refusal: the driver's code, what was to be loaded, and the compiler's log up to its first zero.
fn refusal(code: &str, what: &str, log: &[u8]) -> String {
    let log = CStr::from_bytes_until_nul(log).map_or(log, CStr::to_bytes);
    let log = String::from_utf8_lossy(log);
    match log.trim() {
        "" => format!("{code} ({what})"),
        log => format!("{code} ({what}): {log}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_the_compilers_log_if_there_is_one() {
        assert_eq!(refusal("CODE", "blind", &[0; 8]), "CODE (blind)");
        assert_eq!(
            refusal("CODE", "blind", b"line 3: no\n\0old"),
            "CODE (blind): line 3: no"
        );
        assert_eq!(refusal("CODE", "blind", b"full"), "CODE (blind): full");
    }
}
