//! Values of a thread that have a destructor.
//!
//! `thread_local!` registers a destructor with the C library, which allocates, and aborts if it cannot. A key of POSIX
//! threads says so instead.

use std::{
    alloc::{Layout, alloc},
    ffi::c_void,
    marker::PhantomData,
    sync::atomic::{AtomicU64, Ordering},
};

/// A value for each thread, made when it is first used and dropped when the thread ends. The main thread's is not
/// dropped.
#[derive(Debug)]
pub struct PerThread<T> {
    /// The key and one, or 0.
    key: AtomicU64,
    make: fn() -> T,
    values: PhantomData<fn() -> T>,
}

impl<T> PerThread<T> {
    /// For a static, which is of a library that stays loaded: the threads' ends call its code.
    pub const fn new(make: fn() -> T) -> Self {
        PerThread {
            key: AtomicU64::new(0),
            make,
            values: PhantomData,
        }
    }

    fn key(&self) -> Option<libc::pthread_key_t> {
        let key = self.key.load(Ordering::Acquire);
        if key > 0 {
            return libc::pthread_key_t::try_from(key - 1).ok();
        }
        let mut new = 0;
        // SAFETY: a place for a key, and a function that drops what `with` keeps under it.
        if unsafe { libc::pthread_key_create(&mut new, Some(drop_value::<T>)) } != 0 {
            return None;
        }
        let done = self
            .key
            .compare_exchange(0, u64::from(new) + 1, Ordering::AcqRel, Ordering::Acquire);
        match done {
            Ok(_) => Some(new),
            Err(other) => {
                // SAFETY: nothing is kept under this key.
                unsafe { libc::pthread_key_delete(new) };
                libc::pthread_key_t::try_from(other - 1).ok()
            }
        }
    }

    /// Works on this thread's value, if there is one.
    pub fn with_made<R>(&self, body: impl FnOnce(&T) -> R) -> Option<R> {
        // SAFETY: the key exists as long as the library.
        let value = unsafe { libc::pthread_getspecific(self.key()?) }.cast::<T>();
        // SAFETY: null, or what `with` made.
        unsafe { value.as_ref() }.map(body)
    }

    /// Works on this thread's value; none if there is none and none can be made.
    pub fn with<R>(&self, body: impl FnOnce(&T) -> R) -> Option<R> {
        let key = self.key()?;
        // SAFETY: the key exists as long as the library.
        let mut value = unsafe { libc::pthread_getspecific(key) }.cast::<T>();
        if value.is_null() {
            value = boxed((self.make)())?;
            // SAFETY: as above.
            if unsafe { libc::pthread_setspecific(key, value.cast()) } != 0 {
                // SAFETY: it was just made, and nobody else has it.
                drop(unsafe { Box::from_raw(value) });
                return None;
            }
        }
        // SAFETY: a box of this thread, which lives until the thread ends; only shared references are made of it.
        Some(body(unsafe { &*value }))
    }
}

/// As `Box::new`, and none if there is no memory.
fn boxed<T>(value: T) -> Option<*mut T> {
    const { assert!(size_of::<T>() > 0) };
    // SAFETY: the size is not 0.
    let place = unsafe { alloc(Layout::new::<T>()) }.cast::<T>();
    if place.is_null() {
        return None;
    }
    // SAFETY: it has room for one, and is aligned for it.
    unsafe { place.write(value) };
    Some(place)
}

unsafe extern "C" fn drop_value<T>(value: *mut c_void) {
    // SAFETY: `with` made it of a box, and the thread, which ends, does not use it any more.
    drop(unsafe { Box::from_raw(value.cast::<T>()) });
}
