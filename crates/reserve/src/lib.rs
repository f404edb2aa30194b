//! Memory that an operation can count on, for shared libraries that other programs load.
//!
//! Rust aborts the process when an allocation fails, and code of ours and of others allocates in hundreds of places. In
//! a program that is an end like another; in a library it ends somebody else's server. So the library takes a reserve
//! before an operation begins, and fails cleanly if there is none; within the operation, what the system refuses is
//! served from that reserve.
//!
//! ```text
//! Reserve::enter ── a free block of memory, or a new one of the system ── neither: None, and nothing has begun
//! allocate       ── the system gives it ── or the block of this thread's operation ── neither: null, and Rust aborts
//! free           ── nothing lives in any block: to the system ── else to the block that it lies in, or to the system
//! drop           ── the block is free for the next operation, once nothing lives in it any more
//! ```
//!
//! Memory that was served from a reserve may outlive its operation (a key, a thread's scratch memory), and may be freed
//! by any thread: a block that something lives in is not used for another operation.
//!
//! | question | file |
//! |---|---|
//! | which part of a block is lent | `units` |
//! | a block of memory | `block` |
//! | which blocks there are | `pool` |
//! | what a thread has | `thread` |
//! | what an operation holds | `operation` |
//! | what Rust's `alloc` calls | `allocator` |
//! | how much operations take | `need` |
//! | threads that share a computation | `threads` |
//! | values of a thread with a destructor, which may be refused | `per_thread` |

mod allocator;
mod block;
pub mod need;
mod operation;
mod per_thread;
mod pool;
mod thread;
mod threads;
mod units;

pub use allocator::Allocator;
pub use operation::{Paused, Reserve};
pub use per_thread::PerThread;
pub use threads::on_threads;
