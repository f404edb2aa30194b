//! Jobs over a [`Backend`](rsalab_rsa::Backend), through the functions that this project's tools use: what the engines
//! `own` and `gpu` share.
//!
//! | question | file |
//! |---|---|
//! | what is prepared for an operation with a key, and its runners | `keyed`: `block`, `signature` |
//! | signatures that are screened, a batch by its product | `screening` |
//! | blocks that lie on a device | `resident` |
//! | keys and prime pairs | `search` |
//! | a study's key as this project has it | `keys` |

mod block;
mod keyed;
mod keys;
mod multi_key;
mod resident;
mod screening;
mod search;
mod signature;

pub(crate) use keyed::Keyed;
pub(crate) use keys::{private_key, private_of, public_key, public_of, refused};
pub(crate) use multi_key::private_by_turns;
pub(crate) use resident::ResidentBlocks;
pub(crate) use screening::Screened;
pub(crate) use search::{Bulk, strict};
