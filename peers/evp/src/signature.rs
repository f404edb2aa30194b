//! PKCS#1 v1.5 signatures of SHA-256 digests and of messages: made, and verified.
//!
//! Each thread reads the key for itself, and does one operation beforehand, as for blocks.

use rsalab_engines::{EngineError, Job, Prepared, StudyKey, kit, op::DIGEST_BYTES};

use crate::{
    context::Context,
    hash::Sha256,
    key::{Key, KeyDer},
    library::Libcrypto,
};

/// Signatures made with a private key.
pub(crate) fn signing<'a>(
    library: &'a Libcrypto,
    job: &Job,
    key: &StudyKey,
) -> Result<Box<dyn Prepared + 'a>, EngineError> {
    let der = KeyDer::private(key)?;
    let length = job.layout().output;
    Ok(kit::items("EVP_PKEY_sign", job, move || {
        let key = Key::read(library, &der)?;
        let mut context = Context::for_signatures(library, &key, true)?;
        context.sign(&[1; DIGEST_BYTES], &mut vec![0; length])?;
        Ok(move |digest: &[u8], signature: &mut [u8]| context.sign(digest, signature))
    }))
}

/// Signatures of messages, each hashed by the library first.
pub(crate) fn signing_messages<'a>(
    library: &'a Libcrypto,
    job: &Job,
    key: &StudyKey,
) -> Result<Box<dyn Prepared + 'a>, EngineError> {
    let der = KeyDer::private(key)?;
    let length = job.layout().output;
    Ok(kit::items("EVP_Digest, EVP_PKEY_sign", job, move || {
        let key = Key::read(library, &der)?;
        let hash = Sha256::new(library)?;
        let mut context = Context::for_signatures(library, &key, true)?;
        context.sign(&hash.digest(b"")?, &mut vec![0; length])?;
        Ok(move |message: &[u8], signature: &mut [u8]| context.sign(&hash.digest(message)?, signature))
    }))
}

/// Signatures verified with a public key.
pub(crate) fn verifying<'a>(
    library: &'a Libcrypto,
    job: &Job,
    key: &StudyKey,
) -> Result<Box<dyn Prepared + 'a>, EngineError> {
    let der = KeyDer::public(key)?;
    let length = job.layout().input - DIGEST_BYTES;
    Ok(kit::items("EVP_PKEY_verify", job, move || {
        let key = Key::read(library, &der)?;
        let mut context = Context::for_signatures(library, &key, false)?;
        context.verify(&[1; DIGEST_BYTES], &vec![1; length]);
        Ok(move |signed: &[u8], verdict: &mut [u8]| {
            let (digest, signature) = signed.split_at(DIGEST_BYTES);
            verdict[0] = u8::from(context.verify(digest, signature));
            Ok(())
        })
    }))
}
