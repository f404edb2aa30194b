//! Contents: the structures and texts that can hold a key, and what they are called.

use zeroize::Zeroizing;

/// The structures that can hold an RSA key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Content {
    /// `RSAPrivateKey`.
    Pkcs1Private,
    /// `RSAPublicKey`.
    Pkcs1Public,
    /// `RSAPrivateKey` under a password, as OpenSSL wrote it before PKCS#8.
    EncryptedPkcs1,
    /// `PrivateKeyInfo`.
    Pkcs8,
    /// `EncryptedPrivateKeyInfo`.
    EncryptedPkcs8,
    /// `SubjectPublicKeyInfo`.
    Spki,
    /// `Certificate`.
    Certificate,
    /// `CertificationRequest` (RFC 2986), which [`load_all`](super::load_all) alone reads.
    Request,
    /// A JSON Web Key, or a set, a list or a stream of them.
    Jwk,
    /// `openssh-key-v1`.
    OpensshPrivate,
    /// A line of `authorized_keys`, or several.
    OpensshPublic,
}

impl Content {
    /// In words, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Content::Pkcs1Private => "a PKCS#1 private key",
            Content::EncryptedPkcs1 => "an encrypted PKCS#1 private key",
            Content::Pkcs1Public => "a PKCS#1 public key",
            Content::Pkcs8 => "a PKCS#8 private key",
            Content::EncryptedPkcs8 => "an encrypted PKCS#8 private key",
            Content::Spki => "a SubjectPublicKeyInfo",
            Content::Certificate => "a certificate",
            Content::Request => "a certificate request",
            Content::Jwk => "a JSON Web Key",
            Content::OpensshPrivate => "a private key in OpenSSH's form",
            Content::OpensshPublic => "a public key in OpenSSH's form",
        }
    }
}

/// A file that was found to hold a structure or a text.
pub(super) struct Opened {
    pub(super) content: Content,
    /// DER, out of PEM or base64 if need be; of JSON and OpenSSH's forms the text.
    pub(super) body: Zeroizing<Vec<u8>>,
    /// The mark of a key that was made from a seed stands before its PEM block.
    pub(super) is_insecure: bool,
}

impl Opened {
    /// What has no PEM block, and so nothing before one.
    pub(super) fn alone(content: Content, body: Zeroizing<Vec<u8>>) -> Opened {
        Opened {
            content,
            body,
            is_insecure: false,
        }
    }
}
