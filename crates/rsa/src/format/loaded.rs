//! Loaded keys, each with what its file says of it, and how one is made of a file that holds no other.

#[cfg(feature = "certificates")]
use super::certificate;
#[cfg(feature = "encrypted-keys")]
use super::encrypted;
#[cfg(feature = "openssh")]
use super::openssh;
use super::{
    annotations::Annotations,
    content::{Content, Opened},
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
    /// The uses that its algorithm allows.
    pub usage: Usage,
    /// The uses that its file names.
    pub restrictions: Restrictions,
    /// Other contents of its file, which are kept where the key is written in the same format.
    pub annotations: Annotations,
    /// The structure that it was read from.
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

    #[cfg(any(feature = "encrypted-keys", feature = "openssh"))]
    fn encrypted(self, encryption: Option<Encryption>) -> Self {
        Loaded { encryption, ..self }
    }

    /// All of it with another key, such as its public half.
    pub(super) fn try_map<T>(self, key: impl FnOnce(K) -> Result<T>) -> Result<Loaded<T>> {
        Ok(Loaded {
            key: key(self.key)?,
            usage: self.usage,
            restrictions: self.restrictions,
            annotations: self.annotations,
            content: self.content,
            encryption: self.encryption,
        })
    }
}

/// Reads what holds one key.
pub(super) fn load_single(opened: &Opened, reading: &Reading<'_>) -> Result<Loaded<Key>> {
    let (content, body) = (opened.content, &opened.body[..]);
    let limits = reading.limits;
    let of = |key, usage| Loaded {
        key,
        usage,
        restrictions: Restrictions::default(),
        annotations: Annotations::insecure(opened.is_insecure),
        content,
        encryption: None,
    };
    let private = |(key, usage): (PrivateKey, Usage)| of(Key::Private(Box::new(key)), usage);
    let public = |(key, usage): (PublicKey, Usage)| of(Key::Public(key), usage);
    Ok(match content {
        Content::Pkcs1Private => private((pkcs::pkcs1_private(body, limits)?, Usage::Any)),
        Content::Pkcs1Public => public((pkcs::pkcs1_public(body, limits)?, Usage::Any)),
        Content::Pkcs8 => {
            let mut loaded = private(pkcs::pkcs8(body, limits)?);
            loaded.annotations.attributes = pkcs::attributes(body);
            loaded
        }
        #[cfg(feature = "encrypted-keys")]
        Content::EncryptedPkcs1 => {
            let (key, usage, how) = encrypted::decode_with_headers(body, reading.password, limits)?;
            private((key, usage)).encrypted(Some(how))
        }
        #[cfg(feature = "encrypted-keys")]
        Content::EncryptedPkcs8 => {
            let (key, usage, said, how) = encrypted::decode(body, reading.password, limits)?;
            let mut loaded = private((key, usage)).encrypted(Some(how));
            loaded.annotations.attributes = said.attributes;
            loaded
        }
        Content::Spki => public(pkcs::spki(body, limits)?),
        #[cfg(feature = "certificates")]
        Content::Certificate => {
            let (key, usage, key_usage) = certificate::decode(body, limits)?;
            let mut loaded = public((key, usage));
            loaded.restrictions.certificate = key_usage;
            loaded
        }
        #[cfg(feature = "certificates")]
        Content::Request => public(certificate::decode_request(body, limits)?),
        #[cfg(feature = "openssh")]
        Content::OpensshPrivate => {
            let (key, comment, how) = openssh::decode_private(body, reading.password, limits)?;
            let mut loaded = private((key, Usage::Any)).encrypted(how);
            loaded.annotations = Annotations::with_comment(&comment);
            loaded
        }
        #[cfg(feature = "jwk")]
        Content::Jwk => return Err(refused(SEVERAL_PLACES)),
        Content::OpensshPublic => return Err(refused(SEVERAL_PLACES)),
        #[allow(unreachable_patterns, reason = "a build with all features reads all of them")]
        other => return Err(left_out(other)),
    })
}

const SEVERAL_PLACES: &str = "this file has a key in several places";
