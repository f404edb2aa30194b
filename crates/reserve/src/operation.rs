//! The reserve that an operation holds.

use std::{marker::PhantomData, ptr};

use crate::{
    block::Block,
    pool,
    thread::{self, CLASSES, Slots},
};

/// Bytes of the first class; those of the second have more.
const SMALL: usize = 1 << 16;
/// What the size of a block that is not kept is a multiple of.
const PAGE: usize = 1 << 12;

/// Memory that this thread can allocate until this is dropped, whatever the system says. One may be held within
/// another, and the inner one is dropped first.
#[derive(Debug)]
pub struct Reserve(PhantomData<*const ()>);

impl Reserve {
    /// Holds at least so many bytes; none if the system does not have them. Alignment and gaps take a part: ask for
    /// twice of what is needed.
    pub fn enter(bytes: usize) -> Option<Reserve> {
        let (class, bytes) = match bytes {
            0..=SMALL => (0, SMALL),
            // Few sizes, so that what is kept serves others.
            bytes if bytes <= pool::MOST_KEPT => (1, bytes.next_power_of_two()),
            // What no memory holds is refused by it.
            bytes => (1, bytes.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX)),
        };
        thread::with(|slots| {
            let Some(block) = hold(slots, class, bytes) else {
                slots.was_refused.set(true);
                return None;
            };
            block.outer.set(slots.current.get());
            slots.current.set(block);
            Some(Reserve(PhantomData))
        })
    }

    /// `true` if this thread was ever refused one.
    pub fn was_refused() -> bool {
        thread::with(|slots| slots.was_refused.get())
    }
}

fn hold(slots: &Slots, class: usize, bytes: usize) -> Option<&Block> {
    const { assert!(CLASSES == 2) };
    // SAFETY: what a thread remembers is kept for ever.
    let last = unsafe { slots.last[class].get().as_ref() };
    if let Some(last) = last.filter(|last| last.bytes() >= bytes && last.hold()) {
        return Some(last);
    }
    // SAFETY: a block that is held is not deleted.
    let block = unsafe { pool::hold(bytes).as_ref() }?;
    if pool::is_kept(block) {
        slots.last[class].set(block);
    }
    Some(block)
}

impl Drop for Reserve {
    fn drop(&mut self) {
        thread::with(|slots| {
            // SAFETY: a block that is held is not deleted.
            if let Some(block) = unsafe { slots.current.get().as_ref() } {
                slots.current.set(block.outer.replace(ptr::null()));
                pool::release(block);
            }
        });
    }
}

/// The reserves of this thread's operation while it is paused and other operations run on the thread. It may go on in
/// another thread.
#[derive(Clone, Copy, Debug)]
pub struct Paused(*const Block);

// SAFETY: the blocks are held by the paused operation, of which there is one part at a time.
unsafe impl Send for Paused {}

impl Paused {
    /// The reserves that this thread has now.
    pub fn of_thread() -> Paused {
        Paused(thread::with(|slots| slots.current.get()))
    }

    /// From now on this thread has none.
    pub fn leave(self) {
        thread::with(|slots| slots.current.set(ptr::null()));
    }

    /// The operation goes on, in this thread.
    pub fn resume(self) {
        thread::with(|slots| slots.current.set(self.0));
    }

    /// The operation never goes on, and nothing of it is dropped.
    pub fn abandon(self) {
        let mut next = self.0;
        // SAFETY: the paused operation held them until now.
        while let Some(block) = unsafe { next.as_ref() } {
            next = block.outer.replace(ptr::null());
            pool::release(block);
        }
    }
}

/// Memory of this thread's operation; null if there is none, or no room in it.
#[cold]
pub(crate) fn lend(size: usize, align: usize) -> *mut u8 {
    let current = thread::with(|slots| slots.current.get());
    pool::lend(current, size, align)
}
