//! Keys that live as long as the program, and owners of handles.

use std::{ptr, sync::OnceLock};

use rsalab_fuzz::seeds;

use crate::api::{
    OK, PrivateKey, PublicKey, checked, rsalab_private_key_free, rsalab_private_key_public, rsalab_private_key_read,
    rsalab_public_key_free,
};

/// Bytes of the modulus of [`private`].
pub(crate) const LEN: usize = seeds::KEY_LEN;

/// A private key that the library gave.
pub(crate) struct Private(pub(crate) *mut PrivateKey);

// SAFETY: the header says that keys do not change, and that threads may share them.
unsafe impl Send for Private {}
// SAFETY: as above.
unsafe impl Sync for Private {}

impl Drop for Private {
    fn drop(&mut self) {
        // SAFETY: the library gave it, and nobody else frees it.
        unsafe { rsalab_private_key_free(self.0) };
    }
}

/// A public key that the library gave.
pub(crate) struct Public(pub(crate) *mut PublicKey);

// SAFETY: as for private keys.
unsafe impl Send for Public {}
// SAFETY: as above.
unsafe impl Sync for Public {}

impl Drop for Public {
    fn drop(&mut self) {
        // SAFETY: the library gave it, and nobody else frees it.
        unsafe { rsalab_public_key_free(self.0) };
    }
}

/// The key in a file; none if it is not taken.
pub(crate) fn read(file: &[u8], password: Option<&[u8]>, most_bits: usize) -> Option<Private> {
    let mut key = ptr::null_mut();
    let (password, len) = parts(password);
    // SAFETY: lengths are those of the slices, and there is a place for a key.
    let status =
        unsafe { rsalab_private_key_read(file.as_ptr(), file.len(), password.cast(), len, most_bits, &raw mut key) };
    assert_eq!(checked(status) == OK, !key.is_null());
    (status == OK).then_some(Private(key))
}

/// A password as C has it.
pub(crate) fn parts(password: Option<&[u8]>) -> (*const u8, usize) {
    password.map_or((ptr::null(), 0), |password| (password.as_ptr(), password.len()))
}

/// The public half.
pub(crate) fn public_of(key: &Private) -> Public {
    let mut public = ptr::null_mut();
    // SAFETY: the key is one of the library, and there is a place for another.
    let status = unsafe { rsalab_private_key_public(key.0, &raw mut public) };
    assert_eq!(checked(status), OK);
    Public(public)
}

/// A key of 1024 bits, the same each time.
pub(crate) fn private() -> &'static Private {
    static KEY: OnceLock<Private> = OnceLock::new();
    KEY.get_or_init(|| read(&seeds::private_key(), None, 0).expect("it is a key"))
}

/// Its public half.
pub(crate) fn public() -> &'static Public {
    static KEY: OnceLock<Public> = OnceLock::new();
    KEY.get_or_init(|| public_of(private()))
}
