//! Keys read from their encoding.

use rsa::{PrivateKey, PublicKey, pkcs1::DecodeRsaPublicKey, pkcs8::DecodePrivateKey, traits::PublicKeyParts};
use rsalab_engines::{
    EngineError, Job, Prepared, kit, loading,
    op::{DIGEST_BYTES, public_key_bytes},
};

use crate::{convert::write, signature::scheme};

/// Private keys, of PKCS#8.
pub(crate) fn private_keys(job: &Job) -> Box<dyn Prepared> {
    kit::items("from_pkcs8_der", job, || {
        Ok(|item: &[u8], output: &mut [u8]| {
            let key = PrivateKey::from_pkcs8_der(loading::der(item)?);
            let key = key.map_err(|error| EngineError::library("from_pkcs8_der", error))?;
            write(key.n().as_ref(), output);
            Ok(())
        })
    })
}

/// Public keys of PKCS#1, each with the one signature that it verifies.
pub(crate) fn verifications(job: &Job) -> Box<dyn Prepared> {
    let length = public_key_bytes(job.bits);
    kit::items("from_pkcs1_der, verify", job, move || {
        Ok(move |item: &[u8], verdict: &mut [u8]| {
            let (key, signed) = item.split_at(length);
            let (digest, signature) = signed.split_at(DIGEST_BYTES);
            let key = PublicKey::from_pkcs1_der(loading::der(key)?);
            let key = key.map_err(|error| EngineError::library("from_pkcs1_der", error))?;
            verdict[0] = u8::from(key.verify(scheme(), digest, signature).is_ok());
            Ok(())
        })
    })
}
