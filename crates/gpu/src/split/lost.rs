//! The reason why a device is not asked any more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rsalab_rsa::Error;

/// The reason, shared by everything that works with the device.
#[derive(Clone, Default)]
pub(super) struct Lost(Arc<Mutex<Option<String>>>);

impl Lost {
    /// The first reason stays.
    pub(super) fn give_up(&self, error: &Error) {
        locked(&self.0).get_or_insert_with(|| error.to_string());
    }

    /// Why the device was given up, if it was.
    pub(super) fn reason(&self) -> Option<String> {
        locked(&self.0).clone()
    }
}

/// The content of a mutex, whatever became of a thread that held it.
pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
