//! Recipients and identities: RSA keys, as age's recipients of type `ssh-rsa` have them.

use base64::{Engine, engine::general_purpose::STANDARD_NO_PAD as BASE64};
use rsalab_rsa::{
    Backend, CpuBackend, PrivateKey, PublicKey,
    encryption::{DecryptionKey, EncryptionKey, Message},
    hash::Hash,
    scheme::{EncryptionScheme, Oaep},
};
use sha2::{Digest, Sha256};

use crate::{
    Error, Result,
    derive::FileKey,
    header::{Header, Stanza},
};

/// The type of stanzas of RSA keys.
const KIND: &str = "ssh-rsa";

/// The label of OAEP.
const LABEL: &[u8] = b"age-encryption.org/v1/ssh-rsa";

/// Stanzas of one header that a key is tried on. More than one has its tag where it was named twice, or where somebody
/// wants to keep others busy: each costs a private operation and a MAC of the header.
pub const MOST_ATTEMPTS: usize = 16;

/// A public key that files are encrypted for.
#[derive(Clone)]
pub struct Recipient {
    key: EncryptionKey,
    tag: String,
}

/// A private key that opens files.
#[derive(Clone)]
pub struct Identity {
    key: DecryptionKey,
    tag: String,
}

impl Recipient {
    /// Prepares the key on this CPU.
    ///
    /// `age` takes keys of 2048 bits and more.
    ///
    /// # Errors
    ///
    /// [`Error::Rsa`] if the key is too short: OAEP with SHA-256 takes 656 bits for a file's key.
    pub fn new(key: &PublicKey) -> Result<Self> {
        Recipient::with_backend(key, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// As for [`new`](Self::new), and those of the backend.
    pub fn with_backend(key: &PublicKey, backend: &dyn Backend) -> Result<Self> {
        let scheme = Recipient::scheme();
        if scheme.max_len(key.bits())? < size_of::<FileKey>() {
            let reason = "the key is too short: RSAES-OAEP with SHA-256 takes 656 bits for a file's key";
            return Err(Error::Recipients { reason });
        }
        Ok(Recipient {
            key: EncryptionKey::with_backend(key, scheme, backend)?,
            tag: tag(key),
        })
    }

    /// The scheme that a file's key is encrypted with: RSAES-OAEP with SHA-256 and a label of age's.
    pub fn scheme() -> EncryptionScheme {
        EncryptionScheme::Oaep(Oaep {
            label: LABEL.to_vec(),
            ..Oaep::new(Hash::Sha256)
        })
    }

    /// The start of the key's SHA-256 that a header shows, in base64. Two keys may share it.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    pub(crate) fn wrap(&self, file_key: &FileKey) -> Result<Stanza> {
        Ok(Stanza {
            kind: KIND.to_owned(),
            arguments: vec![self.tag.clone()],
            body: self.key.encrypt(&file_key[..])?,
        })
    }
}

impl Identity {
    /// Prepares the key on this CPU.
    ///
    /// # Errors
    ///
    /// Errors of the key.
    pub fn new(key: &PrivateKey) -> Result<Self> {
        Identity::with_backend(key, &CpuBackend::auto())
    }

    /// Prepares the key on a backend.
    ///
    /// # Errors
    ///
    /// Errors of the key and of the backend.
    pub fn with_backend(key: &PrivateKey, backend: &dyn Backend) -> Result<Self> {
        Ok(Identity {
            key: DecryptionKey::with_backend(key, &Recipient::scheme(), backend)?,
            tag: tag(key.public()),
        })
    }

    /// A file's key, if a stanza has it and the header is as it was made.
    ///
    /// All stanzas that may be this key's are decrypted, together, and nothing tells which failed, or how.
    pub(crate) fn unwrap(&self, header: &Header) -> Result<FileKey> {
        let bodies: Vec<&[u8]> = header
            .stanzas
            .iter()
            .filter(|stanza| is_of(stanza, &self.tag))
            .map(|stanza| &stanza.body[..])
            .take(MOST_ATTEMPTS)
            .collect();
        if bodies.is_empty() {
            return Err(Error::NoMatch);
        }
        let keys = self.key.decrypt_batch(&bodies)?;
        chosen(keys, |key| header.is_by(key)).ok_or(Error::Key)
    }
}

/// The first key that the header is by, of those that were opened. A key of zeros is tried in the place of one that was
/// not: how often the header is checked, which takes milliseconds of a long one, does not tell which were.
fn chosen(keys: impl IntoIterator<Item = Option<Message>>, mut is_by: impl FnMut(&FileKey) -> bool) -> Option<FileKey> {
    keys.into_iter().find_map(|key| {
        let opened = key.and_then(|key| <[u8; 16]>::try_from(&key[..]).ok());
        let is_opened = opened.is_some();
        let key = FileKey::new(opened.unwrap_or_default());
        // Before it is asked whether the key was opened.
        let is_key = is_by(&key);
        (is_key && is_opened).then_some(key)
    })
}

/// Returns whether a stanza is for a key with the tag.
pub(crate) fn is_of(stanza: &Stanza, tag: &str) -> bool {
    stanza.kind == KIND && stanza.arguments == [tag]
}

/// The first four bytes of the SHA-256 of the key as SSH writes it (RFC 4253, section 6.6), in base64.
fn tag(key: &PublicKey) -> String {
    let mut wire = Vec::new();
    let mut put = |bytes: &[u8], is_number: bool| {
        let is_negative = is_number && bytes.first().is_some_and(|first| first & 0x80 != 0);
        let len = u32::try_from(bytes.len() + usize::from(is_negative)).expect("keys are shorter");
        wire.extend(len.to_be_bytes());
        wire.extend(is_negative.then_some(0));
        wire.extend(bytes);
    };
    put(KIND.as_bytes(), false);
    put(without_zeros(key.e()), true);
    put(without_zeros(key.n()), true);
    BASE64.encode(&Sha256::digest(&wire)[..4])
}

fn without_zeros(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    &number[zeros..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_begins_the_fingerprint() {
        for bits in [1024, 1032, 1040] {
            let key = PrivateKey::generate(bits).expect("there is randomness");
            let fingerprint = rsalab_rsa::format::openssh::fingerprint(key.public());
            // Six characters of base64 have 36 bits, of which a tag has 32.
            assert_eq!(
                fingerprint["SHA256:".len()..][..5],
                tag(key.public())[..5],
                "{fingerprint}"
            );
        }
    }

    /// The time must not tell whether OAEP failed or the MAC.
    #[test]
    fn the_header_is_checked_as_often_whatever_was_opened() {
        let opened = |bytes: &[u8]| Some(Message::new(bytes.to_vec()));
        for keys in [
            [None, None, None],
            [opened(&[1; 16]), None, opened(&[2; 15])],
            [opened(&[1; 16]), opened(&[2; 16]), opened(&[3; 16])],
        ] {
            let mut checks = 0;
            let found = chosen(keys, |_| {
                checks += 1;
                false
            });
            assert!(found.is_none());
            assert_eq!(checks, 3);
        }
        // Whoever makes a header with the key of zeros has opened nothing.
        assert!(chosen([None, opened(&[2; 15])], |_| true).is_none());
        let found = chosen([None, opened(&[1; 16]), opened(&[2; 16])], |key| key[0] > 0);
        assert_eq!(found.as_deref(), Some(&[1; 16]));
    }

    #[test]
    fn a_key_that_is_too_short_is_refused() {
        let short = PrivateKey::generate(648).expect("there is randomness");
        assert!(Recipient::new(short.public()).is_err());
        let enough = PrivateKey::generate(656).expect("there is randomness");
        assert!(Recipient::new(enough.public()).is_ok());
    }
}
