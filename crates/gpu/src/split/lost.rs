//! Why a device is not asked any more, if it is not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rsalab_rsa::Error;

/// The reason, shared by everything that works with the device.
#[derive(Clone, Default)]
pub(super) struct Lost(Arc<Mutex<Option<String>>>);

impl Lost {
    /// The first reason stays.
    pub(super) fn give_up(&self, error: &Error) {
        self.lock().get_or_insert_with(|| error.to_string());
    }

    /// Why the device was given up, if it was.
    pub(super) fn reason(&self) -> Option<String> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
