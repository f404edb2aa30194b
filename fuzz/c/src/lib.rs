//! Fuzz targets for the entry points of the C library: what a program may hand over that got it from strangers, and
//! arguments that no program should pass.
//!
//! Pointers are good, as the header asks for; numbers, lengths, schemes and all bytes are of any value. A target checks
//! that a call returns a status which arguments can lead to (no panic, no fault), that a call which fails writes
//! nothing, that none writes behind its room, and that what was made is taken: a signature verifies, a ciphertext
//! decrypts, a key is read again.
//!
//! | question | file |
//! |---|---|
//! | the entry points, and what statuses may be | `api` |
//! | memory for results | `room` |
//! | keys that operations are done with | `handles` |
//! | keys: read, written, generated | `keys` |
//! | signatures and encryption under any scheme | `operations` |
//! | blind signatures | `blind` |
//! | the batcher | `batcher` |

mod api;
mod batcher;
mod blind;
mod handles;
mod keys;
mod operations;
mod room;

use rsalab_fuzz::Target;

/// Every target of this crate.
pub static TARGETS: &[Target] = &[
    Target {
        name: "c-keys",
        run: keys::keys,
        seeds: keys::seeds,
    },
    Target {
        name: "c-operations",
        run: operations::operations,
        seeds: operations::seeds,
    },
    Target {
        name: "c-blind",
        run: blind::blind,
        seeds: blind::seeds,
    },
    Target {
        name: "c-batcher",
        run: batcher::batcher,
        seeds: batcher::seeds,
    },
];
