//! The proof that a file in the place of a key holds the key that a line of the manifest names: before more keys are
//! made, all that are counted are looked at.

use rsalab_rsa::{
    PublicKey,
    format::{self, Limits},
    hash::Hash,
};

use super::manifest::Entry;
use crate::passwords::Password;

/// The most bytes that the files of a key have.
pub(super) const MOST: u64 = 1 << 20;

impl Entry {
    /// The digest of all that a line says, and of the files that it names. The files of a private key are secret, and
    /// 2048 bits of them cannot be guessed from it.
    pub(super) fn digest(&self, private: &[u8], public: Option<&[u8]>) -> String {
        let number = self.number.to_string();
        let named = self.public.as_deref().unwrap_or_default();
        let parts = [
            number.as_bytes(),
            self.file.as_bytes(),
            named.as_bytes(),
            self.sha256.as_bytes(),
            private,
            public.unwrap_or_default(),
        ];
        // Each with its length: nothing can move from one to the next.
        let lens = parts.map(|part| (part.len() as u64).to_be_bytes());
        let with_lens = lens.iter().zip(parts);
        let all: Vec<&[u8]> = with_lens.flat_map(|(len, part)| [&len[..], part]).collect();
        hex::encode(&*Hash::Sha256.digest_parts(&all))
    }

    /// Returns whether these are the files of this line's key. Files that differ in a byte from what was written, or
    /// that an earlier version wrote, are read as keys.
    pub(super) fn is_of(&self, private: &[u8], public: Option<&[u8]>, password: Option<&Password>) -> bool {
        if self.check.as_deref() == Some(&self.digest(private, public)) {
            return true;
        }
        let is_same = |key: &PublicKey| hex::encode(format::fingerprint(key)) == self.sha256;
        let password = password.map(|password| &password[..]);
        let is_private = format::load_private_within(private, password, Limits::NONE)
            .is_ok_and(|loaded| is_same(loaded.key.public()));
        let is_public = public.is_none_or(|public| {
            format::load_public_within(public, None, Limits::NONE).is_ok_and(|loaded| is_same(&loaded.key))
        });
        is_private && is_public
    }
}
