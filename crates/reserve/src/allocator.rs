//! The allocator, which Rust's `alloc` calls.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::{operation, pool};

/// The system's allocator; what it refuses comes from the reserve of the thread's operation. For `#[global_allocator]`.
#[derive(Debug, Default)]
pub struct Allocator<S = System>(S);

impl Allocator {
    /// Over the system's.
    pub const fn new() -> Self {
        Allocator(System)
    }
}

impl<S> Allocator<S> {
    /// Over another one, for tests.
    pub const fn over(system: S) -> Self {
        Allocator(system)
    }
}

// SAFETY: memory is of the system or lent by a block, which gives no byte twice, and it goes back to where it came
// from. Nothing panics.
unsafe impl<S: GlobalAlloc> GlobalAlloc for Allocator<S> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let place = unsafe { self.0.alloc(layout) };
        match place.is_null() {
            false => place,
            true => operation::lend(layout.size(), layout.align()),
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let place = unsafe { self.0.alloc_zeroed(layout) };
        if !place.is_null() {
            return place;
        }
        let place = operation::lend(layout.size(), layout.align());
        if !place.is_null() {
            // SAFETY: so many bytes were lent there.
            unsafe { place.write_bytes(0, layout.size()) };
        }
        place
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: it goes to where it came from.
        unsafe {
            match pool::has_lent(place) {
                true => pool::take_back(place, layout.size()),
                false => self.0.dealloc(place, layout),
            }
        }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !pool::has_lent(place) {
            // SAFETY: the caller's promise.
            let moved = unsafe { self.0.realloc(place, layout, size) };
            if !moved.is_null() {
                return moved;
            }
        }
        // SAFETY: the caller promises that the new size does not overflow with this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        // SAFETY: both places have so many bytes and are not one, and the old one is not used any more. Where it stays,
        // it was lent with this layout.
        unsafe {
            let moved = self.alloc(new);
            if !moved.is_null() {
                moved.copy_from_nonoverlapping(place, layout.size().min(size));
                self.dealloc(place, layout);
                return moved;
            }
            // What becomes smaller takes no other place: callers do not expect that to fail.
            if size <= layout.size() && pool::has_lent(place) {
                pool::shrink(place, layout.size(), size);
                return place;
            }
            moved
        }
    }
}
