//! Reading keys of any format.

use super::{
    Purpose, Restrictions, certificate,
    content::{self, Content, refused},
    encrypted,
    input::{Key, Limits, Usage},
    jwk, openssh, pkcs,
};
use crate::{
    Error, PrivateKey, PublicKey, Result,
    scheme::{Pss, SaltLen, SignatureScheme},
};

/// A key with what its file says of it.
#[derive(Clone, Debug)]
pub struct Loaded<K> {
    /// The key.
    pub key: K,
    /// What its algorithm allows.
    pub usage: Usage,
    /// What its file says that it is for.
    pub restrictions: Restrictions,
    /// What it was read from.
    pub content: Content,
}

impl<K> Loaded<K> {
    /// Refuses a purpose that the key's algorithm or its file does not allow. Of a key for RSASSA-PSS with parameters the hashes are asked for, and
    /// a salt that is not shorter than they say (RFC 4055, section 3.3).
    ///
    /// # Errors
    ///
    /// [`Error::Restricted`] with what the file says.
    pub fn check(&self, purpose: Purpose<'_>) -> Result<()> {
        let allowed = match (self.usage, purpose) {
            (Usage::Any, _) => true,
            (
                Usage::Pss(own),
                Purpose::Sign(SignatureScheme::Pss(pss))
                | Purpose::Verify(SignatureScheme::Pss(pss)),
            ) => own.is_none_or(|own| is_within(pss, &own)),
            (Usage::Pss(_), _) => false,
        };
        if !allowed {
            return Err(Error::Restricted {
                reason: "this RSA key may be used for RSASSA-PSS with its own parameters only"
                    .to_owned(),
            });
        }
        self.restrictions.check(purpose)
    }
}

/// Whether parameters have a key's hashes, and a salt that is long enough for it.
fn is_within(pss: &Pss, own: &Pss) -> bool {
    let least = match own.salt_len {
        SaltLen::Bytes(bytes) => bytes,
        SaltLen::Digest => own.hash.digest_len(),
        SaltLen::Max | SaltLen::Any => 0,
    };
    let is_short = match pss.salt_len {
        SaltLen::Bytes(bytes) => bytes < least,
        SaltLen::Digest => pss.hash.digest_len() < least,
        SaltLen::Max | SaltLen::Any => false,
    };
    (pss.hash, pss.mgf_hash) == (own.hash, own.mgf_hash) && !is_short
}

/// Reads a private key of any format.
///
/// A key that names neither its primes nor its CRT parameters gets them computed from its exponents, once.
///
/// # Errors
///
/// [`Error::Format`] says what the bytes are instead, or where they are damaged; [`Error::Unsupported`] what key, or what
/// encryption of one, they hold; [`Error::PasswordMissing`] and [`Error::PasswordWrong`] that a password is needed, or another
/// one; [`Error::InvalidKey`] and [`Error::KeySize`] what is wrong with the key in them.
pub fn load_private(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PrivateKey>> {
    load_private_within(bytes, password, Limits::NONE)
}

/// As [`load_private`], for what somebody else may have supplied: a modulus above the limit is [`Error::KeySize`], and nothing
/// is computed with it.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_private_within(
    bytes: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<Loaded<PrivateKey>> {
    let loaded = load(bytes, password, limits)?;
    match (loaded.key, loaded.content) {
        (Key::Private(key), _) => Ok(Loaded {
            key: *key,
            usage: loaded.usage,
            restrictions: loaded.restrictions,
            content: loaded.content,
        }),
        (Key::Public(_), Content::Certificate) => Err(refused(
            "this is a certificate, which holds a public key, but a private key is needed",
        )),
        (Key::Public(_), _) => Err(refused("this is a public key, but a private key is needed")),
    }
}

/// Reads a public key of any format. Of a private key, and of a certificate, the public key is taken; that a certificate
/// is anybody's word, and still valid, is not looked at.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_public(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PublicKey>> {
    load_public_within(bytes, password, Limits::NONE)
}

/// As [`load_public`], for what somebody else may have supplied.
///
/// # Errors
///
/// As for [`load_private_within`].
pub fn load_public_within(
    bytes: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<Loaded<PublicKey>> {
    let loaded = load(bytes, password, limits)?;
    Ok(Loaded {
        key: match loaded.key {
            Key::Private(key) => key.public().clone(),
            Key::Public(key) => key,
        },
        usage: loaded.usage,
        restrictions: loaded.restrictions,
        content: loaded.content,
    })
}

/// Reads a private key of any use, without a password.
///
/// # Errors
///
/// As for [`load_private`], and [`Error::Restricted`] if the key is for RSASSA-PSS alone, or its file says what it is for.
pub fn decode_private(bytes: &[u8]) -> Result<PrivateKey> {
    for_any_use(load_private(bytes, None)?)
}

/// Reads a public key of any use.
///
/// # Errors
///
/// As for [`decode_private`].
pub fn decode_public(bytes: &[u8]) -> Result<PublicKey> {
    for_any_use(load_public(bytes, None)?)
}

fn for_any_use<K>(loaded: Loaded<K>) -> Result<K> {
    let restricted = |reason| Err(Error::Restricted { reason });
    match loaded.usage {
        Usage::Any if loaded.restrictions.is_none() => Ok(loaded.key),
        Usage::Any => restricted(format!(
            "this RSA key is not for any use: its file says {}",
            loaded.restrictions
        )),
        Usage::Pss(_) => {
            restricted("this RSA key may be used for RSASSA-PSS only, and not for this".to_owned())
        }
    }
}

fn load(bytes: &[u8], password: Option<&[u8]>, limits: Limits) -> Result<Loaded<Key>> {
    let (content, body) = content::open(bytes)?;
    let any = |key| (key, Usage::Any);
    let mut restrictions = Restrictions::default();
    let (key, usage) = match content {
        Content::Pkcs1Private => any(private_key(pkcs::pkcs1_private(&body, limits)?)),
        Content::Pkcs1Public => any(Key::Public(pkcs::pkcs1_public(&body, limits)?)),
        Content::Pkcs8 => private(pkcs::pkcs8(&body, limits)?),
        Content::EncryptedPkcs8 => private(encrypted::decode(&body, password, limits)?),
        Content::Spki => public(pkcs::spki(&body, limits)?),
        Content::Certificate => {
            let (key, usage, key_usage) = certificate::decode(&body, limits)?;
            restrictions.certificate = key_usage;
            public((key, usage))
        }
        Content::Jwk => {
            let (key, said) = jwk::decode(&body, limits)?;
            restrictions = said;
            any(key)
        }
        Content::OpensshPrivate => any(private_key(openssh::decode_private(&body, limits)?)),
        Content::OpensshPublic => any(Key::Public(openssh::decode_public(&body, limits)?)),
    };
    Ok(Loaded {
        key,
        usage,
        restrictions,
        content,
    })
}

fn private_key(key: PrivateKey) -> Key {
    Key::Private(Box::new(key))
}

fn private((key, usage): (PrivateKey, Usage)) -> (Key, Usage) {
    (private_key(key), usage)
}

fn public((key, usage): (PublicKey, Usage)) -> (Key, Usage) {
    (Key::Public(key), usage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{hash::Hash, scheme::EncryptionScheme};

    #[test]
    fn a_key_for_pss_keeps_its_parameters() {
        let own = Pss {
            salt_len: SaltLen::Bytes(20),
            ..Pss::new(Hash::Sha256)
        };
        let loaded = |usage| Loaded {
            key: (),
            usage,
            restrictions: Restrictions::default(),
            content: Content::Pkcs8,
        };
        let pss = |hash, salt_len| {
            SignatureScheme::Pss(Pss {
                salt_len,
                ..Pss::new(hash)
            })
        };
        let long = pss(Hash::Sha256, SaltLen::Digest);
        let short = pss(Hash::Sha256, SaltLen::Bytes(19));
        let other = pss(Hash::Sha384, SaltLen::Digest);
        let pkcs1 = SignatureScheme::Pkcs1v15(Hash::Sha256);
        let allows = |usage, scheme| loaded(usage).check(Purpose::Sign(&scheme)).is_ok();
        let own = Usage::Pss(Some(own));
        assert_eq!(
            [long, short, other, pkcs1].map(|scheme| allows(own, scheme)),
            [true, false, false, false]
        );
        assert_eq!(
            [long, short, other, pkcs1].map(|scheme| allows(Usage::Pss(None), scheme)),
            [true, true, true, false]
        );
        assert!(allows(Usage::Any, pkcs1));
        let encryption = Purpose::Encrypt(Some(&EncryptionScheme::Pkcs1v15));
        assert!(loaded(own).check(encryption).is_err());
        assert!(loaded(Usage::Any).check(encryption).is_ok());
    }
}
