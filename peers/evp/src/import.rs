//! Keys read from their encoding.

use rsalab_engines::{
    Job, Prepared, kit, loading,
    op::{DIGEST_BYTES, public_key_bytes},
};

use crate::{context::Context, key::Key, library::Libcrypto};

/// Private keys, of PKCS#8.
pub(crate) fn private_keys<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    kit::items("d2i_AutoPrivateKey", job, || {
        Ok(|item: &[u8], output: &mut [u8]| Key::private(library, loading::der(item)?)?.write_modulus(output))
    })
}

/// Public keys of PKCS#1, each with the one signature that it verifies.
pub(crate) fn verifications<'a>(library: &'a Libcrypto, job: &Job) -> Box<dyn Prepared + 'a> {
    let length = public_key_bytes(job.bits);
    kit::items("d2i_PublicKey, EVP_PKEY_verify", job, move || {
        Ok(move |item: &[u8], verdict: &mut [u8]| {
            let (key, signed) = item.split_at(length);
            let (digest, signature) = signed.split_at(DIGEST_BYTES);
            let key = Key::public(library, loading::der(key)?)?;
            let mut context = Context::for_signatures(library, &key, false)?;
            verdict[0] = u8::from(context.verify(digest, signature));
            Ok(())
        })
    })
}
