//! A study's key as this project's tools have it, and what a backend says against it.

use rsalab_rsa::{OtherPrime, PrivateKey, PrivateParts, PublicKey};
use zeroize::Zeroizing;

use crate::{
    engine::EngineError,
    job::{Job, StudyKey},
    kit,
};

/// The private key of an operation that takes one.
pub(crate) fn private_key(job: &Job, keys: &[StudyKey]) -> Result<PrivateKey, EngineError> {
    private_of(kit::key(job, keys)?)
}

/// A study's private key.
pub(crate) fn private_of(key: &StudyKey) -> Result<PrivateKey, EngineError> {
    let others: Vec<OtherPrime> = key
        .others
        .iter()
        .map(|other| OtherPrime {
            r: Zeroizing::new(other.r.clone()),
            d: Zeroizing::new(other.d.clone()),
            t: Zeroizing::new(other.t.clone()),
        })
        .collect();
    PrivateKey::from_parts(&PrivateParts {
        n: &key.n,
        e: &key.e,
        d: &key.d,
        p: &key.p,
        q: &key.q,
        dp: &key.dp,
        dq: &key.dq,
        qinv: &key.qinv,
        others: &others,
    })
    .map_err(refused)
}

/// Its public half.
pub(crate) fn public_key(job: &Job, keys: &[StudyKey]) -> Result<PublicKey, EngineError> {
    public_of(kit::key(job, keys)?)
}

/// A study's public key.
pub(crate) fn public_of(key: &StudyKey) -> Result<PublicKey, EngineError> {
    PublicKey::new(&key.n, &key.e).map_err(refused)
}

/// A backend's refusal of a key.
pub(crate) fn refused(error: rsalab_rsa::Error) -> EngineError {
    EngineError::Key(error.to_string())
}

/// A backend's failure.
pub(super) fn library(call: &'static str) -> impl Fn(rsalab_rsa::Error) -> EngineError {
    move |error| EngineError::library(call, error)
}
