//! SHA-256 of messages that are signed.

use std::ptr;

use rsalab_engines::{EngineError, op::DIGEST_BYTES};

use crate::{library::Libcrypto, owned::Owned, table::MessageDigest};

/// The library's SHA-256, looked up once where the library looks hashes up (from 3.0 on).
pub(crate) struct Sha256<'a> {
    library: &'a Libcrypto,
    fetched: Option<Owned<'a, MessageDigest>>,
}

impl<'a> Sha256<'a> {
    pub(crate) fn new(library: &'a Libcrypto) -> Result<Self, EngineError> {
        let fetched = match (library.table.EVP_MD_fetch, library.table.EVP_MD_free) {
            (Some(fetch), Some(free)) => {
                // SAFETY: null asks for the default context and properties; the name ends with NUL. What it returns is
                // ours to free.
                Some(unsafe {
                    let raw = fetch(ptr::null_mut(), c"SHA256".as_ptr(), ptr::null());
                    Owned::new(library, "EVP_MD_fetch", raw, free)
                }?)
            }
            _ => None,
        };
        Ok(Sha256 { library, fetched })
    }

    /// The digest of a message.
    pub(crate) fn digest(&self, message: &[u8]) -> Result<[u8; DIGEST_BYTES], EngineError> {
        let table = &self.library.table;
        let hash = match &self.fetched {
            Some(fetched) => fetched.as_ptr().cast_const(),
            // SAFETY: it takes nothing, and returns an object that is never freed.
            None => unsafe { (table.EVP_sha256)() },
        };
        let mut digest = [0; DIGEST_BYTES];
        // SAFETY: the message is readable for its length, the digest has SHA-256's, a null length is not written, the
        // hash is live, and there is no engine.
        let code = unsafe {
            (table.EVP_Digest)(
                message.as_ptr().cast(),
                message.len(),
                digest.as_mut_ptr(),
                ptr::null_mut(),
                hash,
                ptr::null_mut(),
            )
        };
        self.library.done("EVP_Digest", code).map(|()| digest)
    }
}
