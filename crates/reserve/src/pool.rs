//! The blocks of the process.
//!
//! One lock is for what is rare: a thread's first operation, and whatever happens while the system refuses memory. It
//! knows the process of whoever holds it, for in a child of a fork a thread of the parent that held it is not there to
//! open it.

use std::{
    ptr,
    sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering},
};

use crate::block::Block;

/// Blocks up to this size are kept for later operations; larger ones go back to the system.
pub(crate) const MOST_KEPT: usize = 1 << 23;

/// The first of the list, under the lock.
static FIRST: AtomicPtr<Block> = AtomicPtr::new(ptr::null_mut());
/// Allocations that live in blocks.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// The process that holds the lock, or 0.
static LOCK: AtomicU32 = AtomicU32::new(0);

/// The lock, until it is dropped.
struct Locked;

impl Locked {
    fn new() -> Locked {
        let own = std::process::id();
        loop {
            match LOCK.compare_exchange_weak(0, own, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Locked,
                Err(0) => {}
                Err(holder) if holder == own => std::thread::yield_now(),
                Err(holder) => {
                    let taken = LOCK.compare_exchange(holder, own, Ordering::Acquire, Ordering::Relaxed);
                    if taken.is_ok() {
                        let locked = Locked;
                        locked.retire();
                        return locked;
                    }
                }
            }
        }
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let mut next = FIRST.load(Ordering::Relaxed).cast_const();
        std::iter::from_fn(move || {
            // SAFETY: blocks of the list are deleted under the lock only, after they are taken out.
            let block = unsafe { next.as_ref() }?;
            next = block.next.get();
            Some(block)
        })
    }

    /// After a fork in the middle of a change: nothing is lent from these blocks any more, and what lives in them
    /// stays.
    fn retire(&self) {
        LIVE.fetch_add(1, Ordering::Relaxed);
        self.blocks().for_each(Block::retire);
    }

    fn add(&self, block: *const Block) {
        // SAFETY: a new block, which nobody else knows.
        unsafe { &*block }.next.set(FIRST.load(Ordering::Relaxed).cast_const());
        FIRST.store(block.cast_mut(), Ordering::Relaxed);
    }

    /// Takes a block out and gives it to the system.
    ///
    /// # Safety
    ///
    /// It is of the list, nothing lives in it, and nobody holds it.
    unsafe fn delete(&self, block: *const Block) {
        // SAFETY: of the list.
        let next = unsafe { &*block }.next.get();
        match self.blocks().find(|other| other.next.get() == block) {
            Some(before) => before.next.set(next),
            None => FIRST.store(next.cast_mut(), Ordering::Relaxed),
        }
        // SAFETY: the caller's promise, and now nobody finds it.
        unsafe { Block::delete(block) };
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        LOCK.store(0, Ordering::Release);
    }
}

/// Holds a block that has so many bytes at least, one of the pool or a new one. Null if the system gives none.
pub(crate) fn hold(bytes: usize) -> *const Block {
    let found = {
        let locked = Locked::new();
        let fits = |block: &&Block| block.bytes() >= bytes && block.bytes() / 4 <= bytes;
        locked
            .blocks()
            .find(|block| fits(block) && block.hold())
            .map(ptr::from_ref)
    };
    found.unwrap_or_else(|| {
        let new = Block::new(bytes);
        if !new.is_null() {
            Locked::new().add(new);
        }
        new
    })
}

/// `true` if a block stays for ever.
pub(crate) fn is_kept(block: &Block) -> bool {
    block.bytes() <= MOST_KEPT
}

/// Ends the hold on a block.
pub(crate) fn release(block: &Block) {
    if is_kept(block) {
        return block.release();
    }
    let locked = Locked::new();
    match block.live() {
        // SAFETY: it was held until now, by the caller, and stays so for everybody else.
        0 => unsafe { locked.delete(block) },
        _ => block.is_leaving.set(true),
    }
}

/// Lends memory of a block or of those around it; null if there is no room.
pub(crate) fn lend(mut block: *const Block, size: usize, align: usize) -> *mut u8 {
    // SAFETY: whoever calls holds the block and those around it.
    while let Some(held) = unsafe { block.as_ref() } {
        let _locked = Locked::new();
        // SAFETY: under the lock.
        let place = unsafe { held.lend(size, align) };
        if !place.is_null() {
            LIVE.fetch_add(1, Ordering::Relaxed);
            return place;
        }
        block = held.outer.get();
    }
    ptr::null_mut()
}

/// `true` if a block lent this place. One load where none has lent anything, as nearly always.
#[inline]
pub(crate) fn has_lent(place: *const u8) -> bool {
    // Whoever has the place knows of its allocation, and so of the count that came with it.
    LIVE.load(Ordering::Relaxed) > 0 && is_in_a_block(place)
}

#[cold]
fn is_in_a_block(place: *const u8) -> bool {
    Locked::new().blocks().any(|block| block.contains(place))
}

/// Takes back what a block lent.
///
/// # Safety
///
/// [`has_lent`] says so, with this size, and nobody uses it any more.
#[cold]
pub(crate) unsafe fn take_back(place: *mut u8, size: usize) {
    let locked = Locked::new();
    let Some(block) = locked.blocks().find(|block| block.contains(place)) else {
        return;
    };
    if block.is_retired() {
        return;
    }
    // SAFETY: the caller's promise, and under the lock.
    let left = unsafe { block.take_back(place, size) };
    LIVE.fetch_sub(1, Ordering::Relaxed);
    if left == 0 && block.is_leaving.get() {
        // SAFETY: nothing lives in it, and its holder has left.
        unsafe { locked.delete(block) };
    }
}

/// Takes back the end of what a block lent: `left` bytes stay.
///
/// # Safety
///
/// [`has_lent`] says so, with this size, which is not below `left`, and nobody uses the end any more.
#[cold]
pub(crate) unsafe fn shrink(place: *mut u8, size: usize, left: usize) {
    let locked = Locked::new();
    let lender = locked.blocks().find(|block| block.contains(place));
    if let Some(block) = lender.filter(|block| !block.is_retired()) {
        // SAFETY: the caller's promise, and under the lock.
        unsafe { block.shrink(place, size, left) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reserve, operation};

    /// In the child of a fork, where another thread of the parent held the lock.
    #[test]
    fn a_block_that_is_retired_is_not_held_again() {
        let reserve = Reserve::enter(1000).unwrap();
        // No process has this number.
        LOCK.store(u32::MAX, Ordering::Relaxed);
        assert!(operation::lend(16, 1).is_null());
        drop(reserve);
        let reserve = Reserve::enter(1000).unwrap();
        assert!(!operation::lend(16, 1).is_null());
        drop(reserve);
    }
}
