//! The meaning of the caller's pointers, and the only place where they are followed.

use std::slice;

use crate::status::{Failure, Status};

/// Bytes that the library reads: a message, a digest, a signature, a ciphertext or a file.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    /// The first byte. May be NULL if there are none.
    pub data: *const u8,
    /// How many bytes there are.
    pub len: usize,
}

fn null(what: &str) -> Failure {
    Failure::new(Status::Null, format!("{what} is NULL"))
}

/// The object that a pointer refers to.
///
/// # Safety
///
/// It is NULL, or refers to a `T` that is not written while `'a` lasts.
pub(crate) unsafe fn reference<'a, T>(pointer: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.ok_or_else(|| null(what))
}

/// What an object says before the call has its memory; the default of NULL, which the call refuses.
///
/// # Safety
///
/// As for [`reference`].
pub(crate) unsafe fn glance<T, R: Default>(pointer: *const T, look: impl FnOnce(&T) -> R) -> R {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }.map(look).unwrap_or_default()
}

/// An array.
///
/// # Safety
///
/// `pointer` refers to `count` values that are not written while `'a` lasts, or `count` is 0.
pub(crate) unsafe fn array<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<&'a [T], Failure> {
    if count == 0 {
        return Ok(&[]);
    }
    if pointer.is_null() {
        return Err(null(what));
    }
    check_size::<T>(count, what)?;
    // SAFETY: it is not NULL and not too long; the rest is the caller's promise.
    Ok(unsafe { slice::from_raw_parts(pointer, count) })
}

/// No object is longer than that.
fn check_size<T>(count: usize, what: &str) -> Result<(), Failure> {
    let bytes = count.checked_mul(size_of::<T>());
    match bytes.is_some_and(|bytes| bytes <= isize::MAX as usize) {
        true => Ok(()),
        false => Err(Failure::new(
            Status::Argument,
            format!("{what}: {count} are more than memory holds"),
        )),
    }
}

/// The items of a batch.
///
/// # Safety
///
/// As for [`array`], and the same of the bytes of each item.
pub(crate) unsafe fn items<'a>(pointer: *const Bytes, count: usize, what: &str) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: the caller's promise.
    let items = unsafe { array(pointer, count, what) }?;
    items
        .iter()
        // SAFETY: the caller's promise.
        .map(|item| unsafe { array(item.data, item.len, what) })
        .collect()
}

/// Memory of the caller that results are copied to: never read, and written by [`put`](Out::put) only.
pub(crate) struct Out<T> {
    pointer: *mut T,
    count: usize,
}

impl<T: Copy> Out<T> {
    /// # Safety
    ///
    /// `pointer` is NULL, or may be written `count` values until this is dropped, and nobody else reads or writes
    /// there.
    pub(crate) unsafe fn new(pointer: *mut T, count: usize, what: &str) -> Result<Self, Failure> {
        // SAFETY: the same promise.
        let out = unsafe { Out::optional(pointer, count) };
        if out.pointer.is_null() && count > 0 {
            return Err(null(what));
        }
        check_size::<T>(count, what)?;
        Ok(out)
    }

    /// As [`new`](Out::new), but NULL is for callers who do not want it.
    ///
    /// # Safety
    ///
    /// As for [`new`](Out::new).
    pub(crate) unsafe fn optional(pointer: *mut T, count: usize) -> Self {
        Out { pointer, count }
    }

    /// Refuses memory for fewer values than `count`.
    pub(crate) fn check(&self, count: Option<usize>, what: &str) -> Result<(), Failure> {
        match count.is_some_and(|count| count <= self.count) {
            true => Ok(()),
            false => Err(Failure::new(
                Status::Buffer,
                match count {
                    Some(count) => format!("{what} has room for {}, and needs {count}", self.count),
                    None => format!("no buffer for {what} is that long"),
                },
            )),
        }
    }

    /// Copies values to the first places, of which there are enough; nothing where the caller wants nothing.
    pub(crate) fn put(self, values: &[T]) {
        if self.pointer.is_null() {
            return;
        }
        assert!(values.len() <= self.count, "the length was checked");
        // SAFETY: by the promise of `new` so many may be written, and nothing else is there while `values`, which is
        // ours, is read.
        unsafe { self.pointer.copy_from_nonoverlapping(values.as_ptr(), values.len()) };
    }
}

/// Values whose number the caller cannot know: `count` says how many there is room for, and then how many are needed.
pub(crate) struct Measured<T> {
    room: Out<T>,
    count: *mut usize,
}

impl<T: Copy> Measured<T> {
    /// # Safety
    ///
    /// `count` is NULL, or may be read and written until this is dropped; and `pointer` is NULL, or so many values may
    /// be written there.
    pub(crate) unsafe fn new(pointer: *mut T, count: *mut usize, what: &str) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        let room = *unsafe { reference(count.cast_const(), what) }?;
        let room = if pointer.is_null() { 0 } else { room };
        Ok(Measured {
            // SAFETY: the caller's promise; NULL is for asking how many.
            room: unsafe { Out::optional(pointer, room) },
            count,
        })
    }

    /// Sets the number, and copies the values if there is room.
    pub(crate) fn put(self, values: &[T], what: &str) -> Result<(), Failure> {
        // SAFETY: by the promise of `new` it may be written.
        unsafe { self.count.write(values.len()) };
        self.room.check(Some(values.len()), what)?;
        self.room.put(values);
        Ok(())
    }
}

/// Memory for one handle.
///
/// # Safety
///
/// `pointer` is NULL, or a handle may be written there until this is dropped.
pub(crate) unsafe fn handle_out<T>(pointer: *mut *mut T, what: &str) -> Result<Out<*mut T>, Failure> {
    // SAFETY: the caller's promise.
    unsafe { Out::new(pointer, 1, what) }
}

/// Drops what a handle owns. NULL owns nothing.
///
/// # Safety
///
/// `pointer` is NULL, or came from `Box::into_raw`, was not freed, and nobody uses it.
pub(crate) unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(pointer) });
    }
}
