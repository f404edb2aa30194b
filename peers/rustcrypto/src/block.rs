//! The private and the public operation on raw blocks.

use std::sync::Arc;

use rsa::{
    hazmat::{rsa_decrypt, rsa_decrypt_and_check, rsa_encrypt},
    traits::PublicKeyParts,
};
use rsalab_engines::{EngineError, Prepared, StudyKey, kit};
use rsalab_rsa::random::WorkerRng;

use crate::convert::{PrivateVariant, on_numbers, private_key, public_key, random};

/// The private operation, on a key that all threads share.
pub(crate) fn private(variant: PrivateVariant, key: &StudyKey) -> Result<Box<dyn Prepared>, EngineError> {
    let shared = Arc::new(private_key(key)?);
    let precision = shared.n_bits_precision();
    Ok(match variant {
        PrivateVariant::Blinded => kit::blocks("rsa_decrypt_and_check", key, move || {
            let (key, mut random) = (Arc::clone(&shared), random()?);
            Ok(on_numbers(precision, move |block| {
                rsa_decrypt_and_check(&*key, Some(&mut random), block)
            }))
        }),
        PrivateVariant::Unblinded => kit::blocks("rsa_decrypt_and_check", key, move || {
            let key = Arc::clone(&shared);
            Ok(on_numbers(precision, move |block| {
                rsa_decrypt_and_check::<WorkerRng>(&*key, None, block)
            }))
        }),
        PrivateVariant::Unchecked => kit::blocks("rsa_decrypt", key, move || {
            let key = Arc::clone(&shared);
            Ok(on_numbers(precision, move |block| {
                rsa_decrypt::<WorkerRng>(None, &*key, block)
            }))
        }),
    })
}

/// The public operation, on a key that all threads share.
pub(crate) fn public(key: &StudyKey) -> Result<Box<dyn Prepared>, EngineError> {
    let shared = Arc::new(public_key(key)?);
    let precision = shared.n_bits_precision();
    Ok(kit::blocks("rsa_encrypt", key, move || {
        let key = Arc::clone(&shared);
        Ok(on_numbers(precision, move |block| rsa_encrypt(&*key, block)))
    }))
}
