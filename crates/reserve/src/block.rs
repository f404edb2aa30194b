//! A block of memory of the system, parts of which may be lent.

use std::{
    cell::Cell,
    ptr, slice,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::units::{UNIT_WORD, Units};

/// Where the bits of the units begin; the memory that is lent follows them.
const HEADER: usize = size_of::<Block>().next_multiple_of(64);

/// The beginning of a block. `Cell`s are written under the lock of the pool, or, for `outer`, by whoever holds the
/// block.
pub(crate) struct Block {
    /// Bytes that can be lent, a multiple of [`UNIT_WORD`].
    bytes: usize,
    /// `true` while an operation holds it.
    held: AtomicBool,
    /// Allocations that live in it.
    live: AtomicUsize,
    /// The next block of the pool.
    pub(crate) next: Cell<*const Block>,
    /// The block of the operation that this one is within.
    pub(crate) outer: Cell<*const Block>,
    /// `true` if it goes back to the system as soon as nothing lives in it.
    pub(crate) is_leaving: Cell<bool>,
    /// `true` if its bits cannot be trusted. Written under the lock of the pool, and read without it.
    is_retired: AtomicBool,
}

/// Bytes of the bits of a block, up to where its memory begins.
fn bits(bytes: usize) -> usize {
    (bytes / UNIT_WORD * size_of::<u64>()).next_multiple_of(64)
}

impl Block {
    /// A block that is held. Null if the system gives none.
    pub(crate) fn new(bytes: usize) -> *const Block {
        let whole = bytes.checked_next_multiple_of(UNIT_WORD);
        let size = whole.and_then(|bytes| bytes.checked_add(HEADER + bits(bytes)));
        let (Some(bytes), Some(size)) = (whole, size) else {
            return ptr::null();
        };
        // SAFETY: `malloc` takes any size.
        let place = unsafe { libc::malloc(size) }.cast::<Block>();
        if place.is_null() {
            return place;
        }
        let block = Block {
            bytes,
            held: AtomicBool::new(true),
            live: AtomicUsize::new(0),
            next: Cell::new(ptr::null()),
            outer: Cell::new(ptr::null()),
            is_leaving: Cell::new(false),
            is_retired: AtomicBool::new(false),
        };
        // SAFETY: the place has room for the header and the bits, and is aligned as `malloc` aligns, to 16.
        unsafe {
            place.write(block);
            place.cast::<u8>().add(HEADER).write_bytes(0, bits(bytes));
        }
        place
    }

    /// Gives a block back to the system.
    ///
    /// # Safety
    ///
    /// It came from [`new`](Self::new), nothing lives in it, nobody holds it or can find it.
    pub(crate) unsafe fn delete(block: *const Block) {
        // SAFETY: the caller's promise; a block has no destructor.
        unsafe { libc::free(block.cast_mut().cast()) };
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds it, if nobody does, nothing lives in it, and it lends.
    pub(crate) fn hold(&self) -> bool {
        let is_free = !self.held.load(Ordering::Relaxed)
            && self
                .held
                .compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if is_free && (self.live() > 0 || self.is_retired()) {
            self.release();
            return false;
        }
        is_free
    }

    pub(crate) fn release(&self) {
        self.held.store(false, Ordering::Release);
    }

    /// Never lends again, and keeps what lives in it.
    pub(crate) fn retire(&self) {
        self.is_retired.store(true, Ordering::Relaxed);
        self.held.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_retired(&self) -> bool {
        self.is_retired.load(Ordering::Relaxed)
    }

    pub(crate) fn live(&self) -> usize {
        self.live.load(Ordering::Acquire)
    }

    /// A place behind the header.
    fn at(&self, offset: usize) -> *mut u8 {
        // Not from the reference, which refers to the header alone.
        ptr::with_exposed_provenance_mut(ptr::from_ref(self).expose_provenance() + offset)
    }

    fn base(&self) -> *mut u8 {
        self.at(HEADER + bits(self.bytes))
    }

    /// # Safety
    ///
    /// The lock of the pool is held, and this is called once under it.
    unsafe fn units(&self) -> Units<'_> {
        let bits = self.at(HEADER).cast();
        // SAFETY: `new` wrote so many words there; the lock keeps everybody else from them.
        Units(unsafe { slice::from_raw_parts_mut(bits, self.bytes / UNIT_WORD) })
    }

    pub(crate) fn contains(&self, place: *const u8) -> bool {
        place.addr().wrapping_sub(self.base().addr()) < self.bytes
    }

    /// Lends memory; null if there is no room.
    ///
    /// # Safety
    ///
    /// The lock of the pool is held.
    pub(crate) unsafe fn lend(&self, size: usize, align: usize) -> *mut u8 {
        let base = self.base();
        let offset = match self.is_retired() {
            true => None,
            // SAFETY: the caller's promise.
            false => unsafe { self.units() }.take(size, align, base.addr()),
        };
        let Some(offset) = offset else {
            return ptr::null_mut();
        };
        self.live.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the units give offsets inside the block.
        unsafe { base.add(offset) }
    }

    /// Wipes what was lent and takes it back; gives what lives in the block now.
    ///
    /// # Safety
    ///
    /// The lock of the pool is held, and this block lent so many bytes at this place.
    pub(crate) unsafe fn take_back(&self, place: *mut u8, size: usize) -> usize {
        // SAFETY: the place was lent with this size, and nobody uses it any more.
        unsafe { place.write_bytes(0, size) };
        // SAFETY: the caller's promise.
        unsafe { self.units() }.give(place.addr() - self.base().addr(), size);
        self.live.fetch_sub(1, Ordering::Release) - 1
    }

    /// Wipes the end of what was lent and takes it back; `left` bytes stay.
    ///
    /// # Safety
    ///
    /// The lock of the pool is held, and this block lent `size` bytes at this place, which are not below `left`.
    pub(crate) unsafe fn shrink(&self, place: *mut u8, size: usize, left: usize) {
        // SAFETY: the place was lent with this size, and nobody uses its end any more.
        unsafe { place.add(left).write_bytes(0, size - left) };
        // SAFETY: the caller's promise.
        unsafe { self.units() }.give_end(place.addr() - self.base().addr(), size, left);
    }
}
