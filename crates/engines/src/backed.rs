//! Jobs over a [`Backend`](rsalab_rsa::Backend), through the doors that this project's tools use: what the engines `own` and `gpu` share.
//!
//! | operation | file |
//! |---|---|
//! | private and public blocks | `block`; those that lie on a device, `resident` |
//! | signatures | `signature` |
//! | keys and prime pairs | `search` |

mod block;
mod resident;
mod search;
mod signature;

use rsalab_rsa::{PrivateKey, PrivateParts, PublicKey};

use crate::{engine::EngineError, job::StudyKey};

pub(crate) use block::Blocks;
pub(crate) use resident::ResidentBlocks;
pub(crate) use search::{Bulk, Strict};
pub(crate) use signature::{Signing, Verifying};

/// The key of an operation that takes one.
pub(crate) fn first(keys: &[StudyKey]) -> Result<&StudyKey, EngineError> {
    keys.first()
        .ok_or_else(|| EngineError::Key("the operation takes a key, and none came".to_owned()))
}

/// A study's key as this project's tools have it.
pub(crate) fn private_key(key: &StudyKey) -> Result<PrivateKey, EngineError> {
    PrivateKey::from_parts(&PrivateParts {
        n: &key.n,
        e: &key.e,
        d: &key.d,
        p: &key.p,
        q: &key.q,
        dp: &key.dp,
        dq: &key.dq,
        qinv: &key.qinv,
    })
    .map_err(refused)
}

/// Its public half.
pub(crate) fn public_key(key: &StudyKey) -> Result<PublicKey, EngineError> {
    PublicKey::new(&key.n, &key.e).map_err(refused)
}

/// A backend's refusal of a key.
pub(crate) fn refused(error: rsalab_rsa::Error) -> EngineError {
    EngineError::Key(error.to_string())
}

fn library(call: &'static str) -> impl Fn(rsalab_rsa::Error) -> EngineError {
    move |error| EngineError::Library {
        call,
        message: error.to_string(),
    }
}
