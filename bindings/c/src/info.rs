//! Versions and names.

use std::ffi::{CString, c_char};

use once_cell::race::OnceBox;
use rsalab_rsa::Kernel;

use crate::status::{Failure, Status, guard};

/// The version of the library, such as "0.1.0". Never NULL, never freed, valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn rsalab_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The name of the kernel that full batches run on, such as "mont52x8_ifma512": what this CPU has decides. Never NULL,
/// never freed, valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn rsalab_kernel() -> *const c_char {
    static NAME: OnceBox<CString> = OnceBox::new();
    guard(|| {
        let name = CString::new(Kernel::auto().name());
        let name = name.map_err(|_| Failure::new(Status::Internal, "a name with a zero"))?;
        NAME.get_or_init(|| Box::new(name));
        Ok(())
    });
    NAME.get().map_or(c"unknown".as_ptr(), |name| name.as_ptr())
}
