//! The provider as one library context of OpenSSL has it loaded. A process may have several, of several copies of
//! libcrypto, with a configuration each; whatever depends on that is here, and every key and every context of an
//! operation holds the one it is of.

use std::{
    ffi::{c_int, c_void},
    sync::Arc,
};

use crate::{
    failure::Result,
    memory,
    openssl::{
        core::Core,
        types::{caught, guard},
        version::Version,
    },
    settings::Settings,
};

pub(super) struct Instance {
    pub(super) core: Core,
    pub(super) version: Version,
    pub(super) settings: Settings,
}

impl Instance {
    /// As OpenSSL holds it: the provider's context, which [`free`] takes back.
    pub(super) fn into_context(self) -> *mut c_void {
        Arc::into_raw(Arc::new(self)).cast_mut().cast()
    }

    /// # Safety
    ///
    /// `context` came from [`into_context`](Self::into_context) and is not freed.
    pub(super) unsafe fn of(context: *const c_void) -> Arc<Instance> {
        let instance = context.cast::<Instance>();
        // SAFETY: the caller's promise; the count that `into_raw` gave away stays.
        unsafe {
            Arc::increment_strong_count(instance);
            Arc::from_raw(instance)
        }
    }

    /// Runs the body of a function that OpenSSL called, with a reserve of memory; without one, and after a panic, it is
    /// a failure, which is reported.
    pub(super) fn guard<T>(&self, failure: T, body: impl FnOnce() -> T) -> T {
        let Some(_reserve) = memory::call() else {
            self.core.raise_no_memory();
            return failure;
        };
        caught(None, || Some(body())).unwrap_or_else(|| {
            self.core.raise(&"internal error".into());
            failure
        })
    }

    /// As [`guard`](Self::guard), for what succeeds or has a reason not to.
    pub(super) fn status(&self, body: impl FnOnce() -> Result<()>) -> c_int {
        self.guard(0, || match body() {
            Ok(()) => 1,
            Err(reason) => {
                self.core.raise(&reason);
                0
            }
        })
    }
}

/// Frees a provider's context.
///
/// # Safety
///
/// As for [`Instance::of`], and it is not used again.
pub(super) unsafe fn free(context: *mut c_void) {
    // SAFETY: the caller's promise: this is the count that `into_raw` gave away.
    let instance = unsafe { Arc::from_raw(context.cast::<Instance>()) };
    guard((), || drop(instance));
}
