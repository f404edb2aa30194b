//! Threads and locks: the standard library's, or those of a scheduler that tries many orders (tests with the feature
//! `shuttle`).

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, RwLock},
    thread,
};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, RwLock},
    thread,
};
