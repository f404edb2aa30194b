//! Restrictions of a key, as its file has them beside the key itself: `use`, `key_ops` and `alg` of a JSON Web Key (RFC
//! 7517, sections 4.2 to 4.4), the key usage of a certificate (RFC 5280, section 4.2.1.3), and the options of a line of
//! `authorized_keys` (sshd(8)).

use std::fmt;

use super::{
    key_usage::KeyUsage,
    refusal::{quoted, registered_word},
};
use crate::{
    Error, Result,
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
};

/// Uses that a file names for its key, in the file's own words. Where it names none, the key is for anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restrictions {
    /// JWK's `use`: `sig`, `enc`, or another word.
    pub jwk_use: Option<String>,
    /// JWK's `key_ops`.
    pub jwk_operations: Option<Vec<String>>,
    /// JWK's `alg`.
    pub jwk_algorithm: Option<String>,
    /// The key usage of a certificate.
    pub certificate: Option<KeyUsage>,
    /// The names of the options of a line of `authorized_keys`, out of those that sshd(8) lists. They restrict logins,
    /// which are no use that this crate could allow.
    pub login: Option<Vec<&'static str>>,
}

/// Purposes of a key.
#[derive(Clone, Copy, Debug)]
pub enum Purpose<'a> {
    /// Making signatures.
    Sign(&'a SignatureScheme),
    /// Verifying signatures.
    Verify(&'a SignatureScheme),
    /// Encrypting messages; raw blocks have no scheme.
    Encrypt(Option<&'a EncryptionScheme>),
    /// Decrypting messages; raw blocks have no scheme.
    Decrypt(Option<&'a EncryptionScheme>),
    /// The raw private operation, which may be part of either.
    RawPrivate,
    /// The raw public operation, which may be part of either.
    RawPublic,
}

impl Purpose<'_> {
    /// In words; the values of `use` that allow it; and those of `key_ops` that do: a message may be a key to be
    /// wrapped, and a private key that signs or decrypts also holds the public one, which verifies or encrypts.
    fn terms(self) -> [&'static str; 3] {
        match self {
            Purpose::Sign(_) => ["sign", "sig", "sign"],
            Purpose::Verify(_) => ["verify", "sig", "verify sign"],
            Purpose::Encrypt(_) => ["encrypt", "enc", "encrypt wrapKey decrypt unwrapKey"],
            Purpose::Decrypt(_) => ["decrypt", "enc", "decrypt unwrapKey"],
            Purpose::RawPrivate => ["do raw private operations", "sig enc", "sign decrypt unwrapKey"],
            Purpose::RawPublic => [
                "do raw public operations",
                "sig enc",
                "verify sign encrypt wrapKey decrypt unwrapKey",
            ],
        }
    }

    /// Returns whether it is what an algorithm of JWA does.
    fn is(self, algorithm: &Algorithm) -> bool {
        match (self, algorithm) {
            (Purpose::Sign(scheme) | Purpose::Verify(scheme), Algorithm::Signature(own)) => {
                with_named_salt(*scheme) == *own
            }
            (Purpose::Encrypt(Some(scheme)) | Purpose::Decrypt(Some(scheme)), Algorithm::Encryption(own)) => {
                scheme == own
            }
            _ => false,
        }
    }
}

/// The scheme; a salt of as many bytes as the digest has is named so.
fn with_named_salt(scheme: SignatureScheme) -> SignatureScheme {
    match scheme {
        SignatureScheme::Pss(pss) if pss.salt_len == SaltLen::Bytes(pss.hash.digest_len()) => {
            SignatureScheme::Pss(Pss {
                salt_len: SaltLen::Digest,
                ..pss
            })
        }
        other => other,
    }
}

/// An algorithm that a JSON Web Key can be for (RFC 7518, sections 3.1 and 4.1; IANA's registry for RS1, RSA-OAEP-384
/// and RSA-OAEP-512).
enum Algorithm {
    Signature(SignatureScheme),
    Encryption(EncryptionScheme),
    /// Not one of RSA's, or unknown here.
    Other,
}

impl Algorithm {
    fn named(name: &str) -> Algorithm {
        let pkcs1 = |hash| Algorithm::Signature(SignatureScheme::Pkcs1v15(hash));
        let pss = |hash| Algorithm::Signature(SignatureScheme::Pss(Pss::new(hash)));
        let oaep = |hash| Algorithm::Encryption(EncryptionScheme::Oaep(Oaep::new(hash)));
        match name {
            "RS1" => pkcs1(Hash::Sha1),
            "RS256" => pkcs1(Hash::Sha256),
            "RS384" => pkcs1(Hash::Sha384),
            "RS512" => pkcs1(Hash::Sha512),
            "PS256" => pss(Hash::Sha256),
            "PS384" => pss(Hash::Sha384),
            "PS512" => pss(Hash::Sha512),
            "RSA1_5" => Algorithm::Encryption(EncryptionScheme::Pkcs1v15),
            "RSA-OAEP" => oaep(Hash::Sha1),
            "RSA-OAEP-256" => oaep(Hash::Sha256),
            "RSA-OAEP-384" => oaep(Hash::Sha384),
            "RSA-OAEP-512" => oaep(Hash::Sha512),
            _ => Algorithm::Other,
        }
    }
}

impl Restrictions {
    /// Returns whether the file says nothing, so that the key is for anything.
    pub fn is_none(&self) -> bool {
        *self == Restrictions::default()
    }

    /// The signature scheme that the file names, if it does.
    pub fn signature_scheme(&self) -> Option<SignatureScheme> {
        match Algorithm::named(self.jwk_algorithm.as_deref()?) {
            Algorithm::Signature(scheme) => Some(scheme),
            _ => None,
        }
    }

    /// The encryption scheme that the file names, if it does.
    pub fn encryption_scheme(&self) -> Option<EncryptionScheme> {
        match Algorithm::named(self.jwk_algorithm.as_deref()?) {
            Algorithm::Encryption(scheme) => Some(scheme),
            _ => None,
        }
    }

    /// Refuses a purpose that the file does not allow.
    ///
    /// # Errors
    ///
    /// [`Error::Restricted`] with what the file says.
    pub fn check(&self, purpose: Purpose<'_>) -> Result<()> {
        let [verb, uses, operations] = purpose.terms();
        let is_among = |words: &str, said: &String| words.split(' ').any(|word| word == said);
        let refuse = |says: String| {
            let reason = format!("this key is not to {verb}: {says}");
            Err(Error::Restricted { reason })
        };
        if let Some(word) = &self.jwk_use
            && !is_among(uses, word)
        {
            return refuse(format!("its \"use\" is {}", quoted(word)));
        }
        if let Some(said) = &self.jwk_operations
            && !said.iter().any(|said| is_among(operations, said))
        {
            let words: Vec<String> = said.iter().map(|word| quoted(word)).collect();
            return refuse(format!("its \"key_ops\" are [{}]", words.join(", ")));
        }
        if let Some(name) = &self.jwk_algorithm
            && !purpose.is(&Algorithm::named(name))
        {
            return refuse(format!(
                "its \"alg\" is {}, which is another scheme or has other parameters",
                quoted(name)
            ));
        }
        if let Some(usage) = self.certificate
            && !allows(usage, purpose)
        {
            return refuse(format!("its certificate is for {usage}"));
        }
        if let Some(options) = &self.login {
            return refuse(format!(
                "its line of authorized_keys restricts logins with it, by the options {}",
                options.join(", ")
            ));
        }
        Ok(())
    }
}

/// Returns whether a certificate's key may be used so. Certificates and revocation lists are signed with keys whose
/// usage says just that, and which verify no other messages.
fn allows(usage: KeyUsage, purpose: Purpose<'_>) -> bool {
    match purpose {
        Purpose::Sign(_) | Purpose::Verify(_) => usage.signs(),
        Purpose::Encrypt(_) | Purpose::Decrypt(_) => usage.encrypts(),
        Purpose::RawPrivate | Purpose::RawPublic => usage.signs() || usage.encrypts(),
    }
}

/// The words of the file, such as `use sig, alg PS256`; empty if it has none. Words that are not registered are not
/// repeated.
impl fmt::Display for Restrictions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |word: &String| registered_word(word).unwrap_or("(not registered)").to_owned();
        let operations = |all: &Vec<String>| all.iter().map(known).collect::<Vec<_>>().join(" ");
        let parts = [
            ("use", self.jwk_use.as_ref().map(known)),
            ("key_ops", self.jwk_operations.as_ref().map(operations)),
            ("alg", self.jwk_algorithm.as_ref().map(known)),
            ("key usage", self.certificate.map(|usage| usage.to_string())),
            ("logins with", self.login.as_ref().map(|all| all.join(" "))),
        ];
        let said: Vec<String> = parts
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| format!("{name} {value}")))
            .collect();
        f.write_str(&said.join(", "))
    }
}
