//! Signature algorithms with a digest in their name, which OpenSSL 3.4 and later have: ours, and those of its own
//! provider.

#![allow(unsafe_code)]

use std::{ffi::CStr, ptr};

use crate::support::crypto::{Any, Loaded};

const ALGORITHMS: [&CStr; 14] = [
    c"RSA-RIPEMD160",
    c"RSA-SHA1",
    c"RSA-SHA2-224",
    c"RSA-SHA2-256",
    c"RSA-SHA256",
    c"1.2.840.113549.1.1.11",
    c"RSA-SHA2-384",
    c"RSA-SHA2-512",
    c"RSA-SHA2-512/224",
    c"RSA-SHA512-256",
    c"RSA-SHA3-224",
    c"RSA-SHA3-256",
    c"RSA-SHA3-384",
    c"id-rsassa-pkcs1-v1_5-with-sha3-512",
];

/// A key with one of the algorithms.
struct Signer<'a> {
    loaded: &'a Loaded,
    key: Any,
    algorithm: Any,
}

impl Drop for Signer<'_> {
    fn drop(&mut self) {
        // SAFETY: our reference to it.
        unsafe { self.loaded.crypto.EVP_SIGNATURE_free()(self.algorithm) };
    }
}

impl<'a> Signer<'a> {
    fn new(loaded: &'a Loaded, key: Any, algorithm: &CStr, properties: Option<&CStr>) -> Self {
        let properties = properties.map_or(ptr::null(), CStr::as_ptr);
        let fetch = loaded.crypto.EVP_SIGNATURE_fetch();
        // SAFETY: a library context, and strings of C.
        let algorithm = unsafe { fetch(loaded.library, algorithm.as_ptr(), properties) };
        assert!(!algorithm.is_null());
        Signer { loaded, key, algorithm }
    }

    /// Does something with a context of the key's; whether it succeeded.
    fn with<T>(&self, body: impl FnOnce(Any) -> T) -> T {
        let crypto = &self.loaded.crypto;
        // SAFETY: a context of the key's, freed here.
        unsafe {
            let context = crypto.EVP_PKEY_CTX_new_from_pkey()(self.loaded.library, self.key, ptr::null());
            let result = body(context);
            crypto.EVP_PKEY_CTX_free()(context);
            result
        }
    }

    /// The signature of a message: in parts, all at once, or of its digest, which was computed before.
    fn sign(&self, parts: &[&[u8]], is_ours: bool) -> Option<Vec<u8>> {
        let crypto = &self.loaded.crypto;
        let mut signature = vec![0; 256];
        let mut len = signature.len();
        let done = self.with(|context| {
            // SAFETY: buffers as long as said.
            unsafe {
                let begun = crypto.EVP_PKEY_sign_message_init()(context, self.algorithm, ptr::null());
                assert_eq!(begun, 1);
                assert_eq!(self.loaded.is_ours(context), is_ours);
                match parts {
                    [all] => crypto.EVP_PKEY_sign()(context, signature.as_mut_ptr(), &mut len, all.as_ptr(), all.len()),
                    parts => {
                        for part in parts {
                            let update = crypto.EVP_PKEY_sign_message_update();
                            assert_eq!(update(context, part.as_ptr(), part.len()), 1);
                        }
                        let sign = crypto.EVP_PKEY_sign_message_final();
                        sign(context, signature.as_mut_ptr(), &mut len)
                    }
                }
            }
        });
        signature.truncate(len);
        (done == 1).then_some(signature)
    }

    fn verifies(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        let crypto = &self.loaded.crypto;
        self.with(|context| {
            // SAFETY: buffers as long as said.
            unsafe {
                let begin = crypto.EVP_PKEY_verify_message_init();
                assert_eq!(begin(context, self.algorithm, ptr::null()), 1);
                match parts {
                    [all] => {
                        let verify = crypto.EVP_PKEY_verify();
                        let (signature, len) = (signature.as_ptr(), signature.len());
                        verify(context, signature, len, all.as_ptr(), all.len()) == 1
                    }
                    parts => {
                        let set = crypto.EVP_PKEY_CTX_set_signature();
                        assert_eq!(set(context, signature.as_ptr(), signature.len()), 1);
                        for part in parts {
                            let update = crypto.EVP_PKEY_verify_message_update();
                            assert_eq!(update(context, part.as_ptr(), part.len()), 1);
                        }
                        crypto.EVP_PKEY_verify_message_final()(context) == 1
                    }
                }
            }
        })
    }

    /// The signature of a digest.
    fn sign_digest(&self, digest: &[u8]) -> Option<Vec<u8>> {
        let crypto = &self.loaded.crypto;
        let mut signature = vec![0; 256];
        let mut len = signature.len();
        let done = self.with(|context| {
            // SAFETY: buffers as long as said.
            unsafe {
                let begin = crypto.EVP_PKEY_sign_init_ex2();
                assert_eq!(begin(context, self.algorithm, ptr::null()), 1);
                let (digest, digest_len) = (digest.as_ptr(), digest.len());
                crypto.EVP_PKEY_sign()(context, signature.as_mut_ptr(), &mut len, digest, digest_len)
            }
        });
        signature.truncate(len);
        (done == 1).then_some(signature)
    }
}

#[test]
fn algorithms_with_a_digest_in_their_name() {
    let Some(loaded) = Loaded::new() else { return };
    if !loaded.crypto.has("EVP_PKEY_sign_message_init") {
        eprintln!("SKIPPED: OpenSSL before 3.4 has no signature algorithms with a digest in their name");
        return;
    }
    let key = loaded.new_key();
    let message: Vec<u8> = (0..=255).collect();
    let (first, rest) = message.split_at(100);
    for name in ALGORITHMS {
        let ours = Signer::new(&loaded, key.handle(), name, None);
        let theirs = Signer::new(&loaded, key.handle(), name, Some(c"provider=default"));
        let signature = ours.sign(&[first, rest], true).expect("a signature");
        assert_eq!(ours.sign(&[&message], true).as_ref(), Some(&signature));
        assert_eq!(theirs.sign(&[&message], false).as_ref(), Some(&signature));
        for signer in [&ours, &theirs] {
            assert!(signer.verifies(&[&message], &signature), "{name:?}");
            assert!(signer.verifies(&[first, rest], &signature), "{name:?}");
            assert!(!signer.verifies(&[first, first], &signature), "{name:?}");
            assert!(!signer.verifies(&[&message[1..]], &signature), "{name:?}");
        }
        // Digests of all lengths: one of them is the algorithm's.
        let digests = (1..=64).map(|len| [7; 64][..len].to_vec());
        let signed = digests.filter(|digest| {
            let own = ours.sign_digest(digest);
            assert_eq!(own, theirs.sign_digest(digest));
            own.is_some()
        });
        assert_eq!(signed.count(), 1, "{name:?}");
    }
    // Not with keys of the type RSA-PSS.
    let pss = loaded.new_key_of(c"RSA-PSS");
    for properties in [None, Some(c"provider=default")] {
        let signer = Signer::new(&loaded, pss.handle(), c"RSA-SHA256", properties);
        let begun = signer.with(|context| {
            let begin = loaded.crypto.EVP_PKEY_sign_message_init();
            // SAFETY: a context of the key's.
            unsafe { begin(context, signer.algorithm, ptr::null()) }
        });
        assert!(begun != 1);
    }
}
