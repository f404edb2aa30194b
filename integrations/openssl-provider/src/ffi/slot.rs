//! A key as OpenSSL holds it, and what is selected of one.

use std::{
    ffi::{c_int, c_void},
    sync::Arc,
};

use super::instance::Instance;
use crate::{key::Key, pss::Kind};

pub(super) const PRIVATE: c_int = 1;
pub(super) const PUBLIC: c_int = 2;
pub(super) const KEYPAIR: c_int = PRIVATE | PUBLIC;
/// Here: what a key of the type RSA-PSS is restricted to.
pub(super) const OTHER_PARAMETERS: c_int = 0x80;

/// A key as OpenSSL holds it: empty until something is imported.
pub(super) struct Slot {
    pub(super) instance: Arc<Instance>,
    pub(super) kind: Kind,
    pub(super) key: Option<Arc<Key>>,
}

impl Slot {
    pub(super) fn key(&self) -> Option<&Arc<Key>> {
        self.key.as_ref()
    }
}

pub(super) fn boxed(instance: &Arc<Instance>, kind: Kind, key: Option<Arc<Key>>) -> *mut c_void {
    let instance = Arc::clone(instance);
    Box::into_raw(Box::new(Slot { instance, kind, key })).cast()
}

/// # Safety
///
/// `slot` is null or came from [`boxed`] and is not freed during `'a`.
pub(super) unsafe fn slot<'a>(slot: *const c_void) -> Option<&'a Slot> {
    // SAFETY: the caller's promise.
    unsafe { slot.cast::<Slot>().as_ref() }
}
