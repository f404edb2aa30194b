//! The C library `librsalab`: keys, signatures, encryption, generation, and the batcher.
//!
//! `include/rsalab.h` is made from these files by cbindgen, and is the documentation; `man/rsalab.3` is the manual
//! page.
//!
//! | question | file |
//! |---|---|
//! | what a call returns; errors; panics end here | `status` |
//! | how much memory a call takes | `memory` |
//! | pointers of the caller become slices, and results his bytes | `pointer` |
//! | versions and names | `info` |
//! | schemes and hash functions as C names them | `scheme` |
//! | what came of each item of a batch | `outcomes` |
//! | keys: read, written, asked, freed | `key` |
//! | keys, many at once: generated | `generate` |
//! | keys, many at once: read and checked | `load` |
//! | how many threads work for a call | `threads` |
//! | signatures, many at once | `sign` |
//! | encryption, many at once | `encrypt` |
//! | blind signatures, many at once | `blind` |
//! | requests of many threads, done together | `batcher` |
//!
//! Every entry point does the same: `guard` takes the memory that the call may need, and catches a panic; `pointer`
//! turns what the caller gave into references, in the only `unsafe` blocks; the work is done with Rust's types, into
//! memory of its own; what came of it is copied to the caller at the end. So buffers of the caller may overlap or be
//! uninitialised, and are left alone by a call that fails.
#![allow(
    unreachable_pub,
    reason = "what is public here is what C sees, and cbindgen looks for"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what callers owe is said once for all functions, at the head of the header"
)]

mod batcher;
mod blind;
mod encrypt;
mod generate;
mod info;
mod key;
mod load;
mod memory;
mod outcomes;
mod pointer;
mod scheme;
mod sign;
mod status;
mod threads;

/// Memory that the system refuses in the middle of a call comes from the reserve that the call began with (`status`,
/// `guard`).
#[global_allocator]
static ALLOCATOR: rsalab_reserve::Allocator = rsalab_reserve::Allocator::new();
