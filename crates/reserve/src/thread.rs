//! The state of a thread: the block of its operation, and those that it held last.
//!
//! A variable of a thread must not need memory itself. In a library that is loaded while the program runs, the C
//! library allocates a thread's variables when the thread first uses one, and aborts if it cannot. Variables of the
//! model "initial exec" lie in memory that each thread has from its start, and one of them makes all of the library's
//! lie there. Rust does not offer the model, so this one is written in assembly.

use std::cell::Cell;

use crate::block::Block;

/// Classes of sizes, for each of which a thread remembers a block.
pub(crate) const CLASSES: usize = 2;

/// All null in a new thread.
#[repr(C)]
pub(crate) struct Slots {
    /// The block of the innermost operation.
    pub(crate) current: Cell<*const Block>,
    /// Blocks that this thread held last. They are kept for ever, and others may hold them.
    pub(crate) last: [Cell<*const Block>; CLASSES],
    /// `true` if this thread was ever refused a reserve.
    pub(crate) was_refused: Cell<bool>,
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
mod variable {
    use super::Slots;
    use std::arch::{asm, global_asm};

    const _: () = assert!(size_of::<Slots>() == 32);

    global_asm!(
        ".pushsection .tbss.rsalab_reserve_slots,\"awT\",@nobits",
        ".globl rsalab_reserve_slots",
        ".hidden rsalab_reserve_slots",
        ".type rsalab_reserve_slots,@object",
        ".size rsalab_reserve_slots,32",
        ".p2align 3",
        "rsalab_reserve_slots:",
        ".zero 32",
        ".popsection",
    );

    #[cfg(target_arch = "x86_64")]
    pub(super) fn place() -> *const Slots {
        let place: *const Slots;
        // SAFETY: it reads the address of this thread's variables and adds the offset of one, as the ABI has it (ELF
        // Handling for Thread-Local Storage, 4.4.6).
        unsafe {
            asm!(
                "mov {0}, qword ptr fs:[0]",
                "add {0}, qword ptr [rip + rsalab_reserve_slots@gottpoff]",
                out(reg) place,
                options(nostack, readonly),
            );
        }
        place
    }

    #[cfg(target_arch = "aarch64")]
    pub(super) fn place() -> *const Slots {
        let place: *const Slots;
        // SAFETY: as on the other architecture (ELF for the Arm 64-bit Architecture, thread-local storage).
        unsafe {
            asm!(
                "mrs {0}, tpidr_el0",
                "adrp {1}, :gottprel:rsalab_reserve_slots",
                "ldr {1}, [{1}, :gottprel_lo12:rsalab_reserve_slots]",
                "add {0}, {0}, {1}",
                out(reg) place,
                out(reg) _,
                options(nostack, readonly),
            );
        }
        place
    }
}

#[cfg(not(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
mod variable {
    use super::{CLASSES, Slots};
    use std::{cell::Cell, ptr};

    thread_local! {
        static SLOTS: Slots = const {
            Slots {
                current: Cell::new(ptr::null()),
                last: [const { Cell::new(ptr::null()) }; CLASSES],
                was_refused: Cell::new(false),
            }
        };
    }

    pub(super) fn place() -> *const Slots {
        SLOTS.with(ptr::from_ref)
    }
}

/// Works on the variables of the thread that runs now. Not inlined: code of a job that is paused may go on in another
/// thread, where an address that was kept would be the wrong one.
#[inline(never)]
pub(crate) fn with<R>(body: impl FnOnce(&Slots) -> R) -> R {
    // SAFETY: a variable of this thread, which no other has; it has no destructor, and `body` does not change threads.
    body(unsafe { &*variable::place() })
}
