//! An object of the library's that is ours to free.

use std::ptr::NonNull;

use rsalab_engines::EngineError;

use crate::library::Libcrypto;

/// An object, and the function that frees it.
pub(crate) struct Owned<'a, T> {
    pub(crate) library: &'a Libcrypto,
    raw: NonNull<T>,
    free: unsafe extern "C" fn(*mut T),
}

impl<'a, T> Owned<'a, T> {
    /// Takes over what `call` returned; null is its failure.
    ///
    /// # Safety
    ///
    /// `raw` is null, or a live object that nobody else frees and that `free` frees.
    pub(crate) unsafe fn new(
        library: &'a Libcrypto,
        call: &'static str,
        raw: *mut T,
        free: unsafe extern "C" fn(*mut T),
    ) -> Result<Self, EngineError> {
        match NonNull::new(raw) {
            Some(raw) => Ok(Self { library, raw, free }),
            None => Err(library.failure(call)),
        }
    }

    pub(crate) fn as_ptr(&self) -> *mut T {
        self.raw.as_ptr()
    }
}

impl<T> Drop for Owned<'_, T> {
    fn drop(&mut self) {
        // SAFETY: `raw` is live and ours, and this is its function; nothing refers to it after this.
        unsafe { (self.free)(self.raw.as_ptr()) };
    }
}
