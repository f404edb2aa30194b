//! PKCS#1 v1.5 signatures of SHA-256 digests and of messages: made, and verified.

use std::sync::Arc;

use rsa::Pkcs1v15Sign;
use rsalab_engines::{EngineError, Job, Prepared, StudyKey, kit, op::DIGEST_BYTES, padding::SHA256_DIGEST_INFO};
use sha2::{Digest, Sha256};

use crate::convert::{PrivateVariant, private_key, public_key, random};

/// SHA-256, by its length and its name in DER.
pub(crate) fn scheme() -> Pkcs1v15Sign {
    Pkcs1v15Sign {
        hash_len: Some(DIGEST_BYTES),
        prefix: SHA256_DIGEST_INFO.into(),
    }
}

/// Signatures of digests, made with a private key that all threads share.
pub(crate) fn signing(variant: PrivateVariant, job: &Job, key: &StudyKey) -> Result<Box<dyn Prepared>, EngineError> {
    let (call, signer) = signer(variant, key)?;
    Ok(kit::items(call, job, move || {
        let mut sign = signer()?;
        Ok(move |digest: &[u8], output: &mut [u8]| sign(digest, output))
    }))
}

/// Signatures of messages, each hashed by the crate `sha2` first.
pub(crate) fn signing_messages(
    variant: PrivateVariant,
    job: &Job,
    key: &StudyKey,
) -> Result<Box<dyn Prepared>, EngineError> {
    let (call, signer) = signer(variant, key)?;
    Ok(kit::items(format!("Sha256::digest, {call}"), job, move || {
        let mut sign = signer()?;
        Ok(move |message: &[u8], output: &mut [u8]| sign(&Sha256::digest(message), output))
    }))
}

/// The function that signs digests, by name, and what makes one for a thread.
fn signer(
    variant: PrivateVariant,
    key: &StudyKey,
) -> Result<
    (
        &'static str,
        impl Fn() -> Result<Sign, EngineError> + Send + Sync + use<>,
    ),
    EngineError,
> {
    let shared = Arc::new(private_key(key)?);
    let is_blinded = variant == PrivateVariant::Blinded;
    let call = if is_blinded { "sign_with_rng" } else { "sign" };
    let of_thread = move || {
        let key = Arc::clone(&shared);
        let mut random = is_blinded.then(random).transpose()?;
        let sign = move |digest: &[u8], output: &mut [u8]| {
            let signature = match &mut random {
                Some(random) => key.sign_with_rng(random, scheme(), digest),
                None => key.sign(scheme(), digest),
            };
            let signature = signature.map_err(|error| EngineError::library("sign", error))?;
            output.copy_from_slice(&signature);
            Ok(())
        };
        Ok(Box::new(sign) as Sign)
    };
    Ok((call, of_thread))
}

/// Signs one digest.
type Sign = Box<dyn FnMut(&[u8], &mut [u8]) -> Result<(), EngineError>>;

/// Signatures verified with a public key that all threads share.
pub(crate) fn verifying(job: &Job, key: &StudyKey) -> Result<Box<dyn Prepared>, EngineError> {
    let shared = Arc::new(public_key(key)?);
    Ok(kit::items("verify", job, move || {
        let key = Arc::clone(&shared);
        Ok(move |signed: &[u8], verdict: &mut [u8]| {
            let (digest, signature) = signed.split_at(DIGEST_BYTES);
            verdict[0] = u8::from(key.verify(scheme(), digest, signature).is_ok());
            Ok(())
        })
    }))
}
