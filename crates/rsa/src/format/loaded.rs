//! Loaded keys, each with what its file says of it, and how one is made of a file that holds no other.

#[cfg(feature = "certificates")]
use super::certificate;
#[cfg(feature = "encrypted-keys")]
use super::encrypted;
#[cfg(feature = "openssh")]
use super::openssh;
use super::{
    annotations::Annotations,
    content::Content,
    encryption::Encryption,
    input::{Key, Reading},
    pkcs,
    refusal::{left_out, refused},
    restrictions::{Purpose, Restrictions},
    usage::Usage,
};
use crate::{PrivateKey, PublicKey, Result};

/// A key with what its file says of it.
#[derive(Clone, Debug)]
pub struct Loaded<K> {
    /// The key.
    pub key: K,
    /// What its algorithm allows.
    pub usage: Usage,
    /// What its file says that it is for.
    pub restrictions: Restrictions,
    /// What else its file has, and what is kept where the key is written in the same format.
    pub annotations: Annotations,
    /// What it was read from.
    pub content: Content,
    /// How the file kept it from whoever does not know a password, if it did.
    pub encryption: Option<Encryption>,
}

impl<K> Loaded<K> {
    /// Refuses a purpose that the key's algorithm ([`Usage::check`]) or its file ([`Restrictions::check`]) does not
    /// allow.
    ///
    /// # Errors
    ///
    /// [`Error::Restricted`](crate::Error::Restricted) with what the file says.
    pub fn check(&self, purpose: Purpose<'_>) -> Result<()> {
        self.usage.check(purpose)?;
        self.restrictions.check(purpose)
    }
}

/// Reads what holds one key. The whole file is asked for what stands in front of the key.
pub(super) fn load_single(content: Content, body: &[u8], file: &[u8], reading: &Reading<'_>) -> Result<Loaded<Key>> {
    let (password, limits) = (reading.password, reading.limits);
    let any = |key| (key, Usage::Any);
    let mut restrictions = Restrictions::default();
    let mut annotations = Annotations::of_preface(file);
    let mut encryption = None;
    let (key, usage) = match content {
        Content::Pkcs1Private => any(private_key(pkcs::pkcs1_private(body, limits)?)),
        Content::Pkcs1Public => any(Key::Public(pkcs::pkcs1_public(body, limits)?)),
        Content::Pkcs8 => {
            annotations.attributes = pkcs::attributes(body);
            private(pkcs::pkcs8(body, limits)?)
        }
        #[cfg(feature = "encrypted-keys")]
        Content::EncryptedPkcs1 => {
            let (key, usage, how) = encrypted::decode_with_headers(body, password, limits)?;
            encryption = Some(how);
            private((key, usage))
        }
        #[cfg(feature = "encrypted-keys")]
        Content::EncryptedPkcs8 => {
            let (key, usage, said, how) = encrypted::decode(body, password, limits)?;
            annotations.attributes = said.attributes;
            encryption = Some(how);
            private((key, usage))
        }
        Content::Spki => public(pkcs::spki(body, limits)?),
        #[cfg(feature = "certificates")]
        Content::Certificate => {
            let (key, usage, key_usage) = certificate::decode(body, limits)?;
            restrictions.certificate = key_usage;
            public((key, usage))
        }
        #[cfg(feature = "openssh")]
        Content::OpensshPrivate => {
            let (key, comment, how) = openssh::decode_private(body, password, limits)?;
            annotations = Annotations::with_comment(&comment);
            encryption = how;
            any(private_key(key))
        }
        #[cfg(feature = "jwk")]
        Content::Jwk => return Err(refused(SEVERAL_PLACES)),
        Content::OpensshPublic => return Err(refused(SEVERAL_PLACES)),
        #[allow(unreachable_patterns, reason = "a build with all features reads all of them")]
        other => return Err(left_out(other)),
    };
    Ok(Loaded {
        key,
        usage,
        restrictions,
        annotations,
        content,
        encryption,
    })
}

const SEVERAL_PLACES: &str = "this file has a key in several places";

fn private_key(key: PrivateKey) -> Key {
    Key::Private(Box::new(key))
}

fn private((key, usage): (PrivateKey, Usage)) -> (Key, Usage) {
    (private_key(key), usage)
}

fn public((key, usage): (PublicKey, Usage)) -> (Key, Usage) {
    (Key::Public(key), usage)
}
