//! How keys are written: the bytes of each half, and the names that their files get.

use std::{
    ffi::OsString,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::{Path, PathBuf},
};

use rsalab_rsa::{
    Error, PrivateKey, PublicKey,
    format::{
        self, Annotations, Encoding, INSECURE, Loaded, PrivateFormat, PublicFormat, Restrictions, Usage, jwk, openssh,
    },
    random::SystemRng,
};
use zeroize::Zeroizing;

use crate::{
    arguments::KeyFormat,
    exit::{Class, Failure, Result},
    output::Log,
    passwords::Password,
};

/// A format with what it takes to write it.
pub(super) struct KeyWriter {
    format: KeyFormat,
    password: Option<Password>,
    usage: Usage,
    restrictions: Restrictions,
    annotations: Annotations,
    /// Names that a user gives to keys, in the order of their numbers.
    names: Option<Vec<String>>,
}

/// The comment of OpenSSH's keys.
const COMMENT: &str = "rsalab";

impl KeyWriter {
    /// A format, with the password if it takes one, for keys of any use.
    pub(super) fn new(format: KeyFormat, password: Option<Password>) -> Self {
        KeyWriter {
            format,
            password,
            usage: Usage::Any,
            restrictions: Restrictions::default(),
            annotations: Annotations::default(),
            names: None,
        }
    }

    /// The password of the keys, where they have one.
    pub(super) fn password(&self) -> Option<&Password> {
        self.password.as_ref()
    }

    /// For keys that were made from a seed.
    pub(super) fn insecure(mut self, is_insecure: bool) -> Self {
        self.annotations = Annotations::insecure(is_insecure);
        self
    }

    /// For keys that a user has named.
    pub(super) fn named(mut self, names: Option<Vec<String>>) -> Self {
        self.names = names;
        self
    }

    /// The name of the key of a number, from 1, if a user has given it one.
    pub(super) fn name_of(&self, number: u64) -> Option<&str> {
        let place = usize::try_from(number).ok()?.checked_sub(1)?;
        self.names.as_ref()?.get(place).map(String::as_str)
    }

    /// The start of the names of a key's files, if a user has named it.
    pub(super) fn stem(&self, name: &str) -> String {
        match self.annotations.is_insecure {
            true => format!("insecure-{name}"),
            false => name.to_owned(),
        }
    }

    /// Annotations that are written beside a key of a name.
    fn annotations(&self, name: Option<&str>) -> Annotations {
        let mut annotations = self.annotations.clone();
        if let Some(name) = name {
            annotations.kid = Some(name.to_owned());
            annotations.comment = Some(name.to_owned());
        }
        annotations
    }

    /// For a key whose file says what it is for.
    pub(super) fn of<K>(mut self, loaded: &Loaded<K>) -> Self {
        self.usage = loaded.usage.clone();
        self.restrictions = loaded.restrictions.clone();
        self.annotations = loaded.annotations.clone();
        self
    }

    /// Prints a note if this format cannot express what a file says that its key is for. What a certificate says stays
    /// with the certificate.
    pub(super) fn note_what_is_lost(&self, log: Log) {
        let is_jwk = matches!(self.format, KeyFormat::Jwk | KeyFormat::JwkSet);
        let said = Restrictions {
            certificate: None,
            ..match is_jwk {
                true => Restrictions {
                    login: self.restrictions.login.clone(),
                    ..Restrictions::default()
                },
                false => self.restrictions.clone(),
            }
        };
        if !said.is_none() {
            self.note(&said.to_string(), log);
        }
    }

    /// As [`note_what_is_lost`](Self::note_what_is_lost), and for what a private key has besides: the key usage among
    /// the attributes of PKCS#8.
    pub(super) fn note_what_is_lost_of_private(&self, log: Log) {
        self.note_what_is_lost(log);
        let has_attributes = matches!(
            self.format,
            KeyFormat::Pkcs8Pem | KeyFormat::Pkcs8Der | KeyFormat::Pkcs8Encrypted
        );
        if let Some(usage) = self.annotations.key_usage().filter(|_| !has_attributes) {
            self.note(&format!("key usage {usage}"), log);
        }
    }

    fn note(&self, said: &str, log: Log) {
        log.note(format_args!(
            "the format {} cannot say what this key is for: {said}",
            self.format.name()
        ));
    }

    /// The private half.
    pub(super) fn private(&self, key: &PrivateKey) -> Result<Zeroizing<Vec<u8>>> {
        self.private_named(key, None)
    }

    /// The private half of a key with its name, if it has one.
    pub(super) fn private_named(&self, key: &PrivateKey, name: Option<&str>) -> Result<Zeroizing<Vec<u8>>> {
        let annotations = self.annotations(name);
        let text = |text: Zeroizing<String>| Zeroizing::new(text.as_bytes().to_vec());
        let (format, _, encoding) = self.structure();
        let written = match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => {
                self.check_usage()?;
                let json = jwk::private(key, &self.restrictions, &annotations);
                return Ok(text(json));
            }
            KeyFormat::Openssh => {
                self.check_usage()?;
                let written = openssh::private(key, comment(&annotations));
                return written.map(text).map_err(refused);
            }
            KeyFormat::Pkcs8Encrypted => {
                let password = self.password.as_ref().map_or(&[][..], |password| password);
                format::encode_encrypted_annotated(key, &self.usage, &annotations, password, encoding, &mut SystemRng)
            }
            _ => format::encode_private_annotated(key, &self.usage, &annotations, format, encoding),
        }
        .map_err(refused)?;
        // Text before PEM's first line, which readers skip (RFC 7468, section 2).
        Ok(match self.annotations.is_insecure && encoding == Encoding::Pem {
            true => Zeroizing::new([INSECURE.as_bytes(), b"\n", &written].concat()),
            false => written,
        })
    }

    /// The public half, in the format that belongs to the private one.
    pub(super) fn public(&self, key: &PublicKey) -> Result<Vec<u8>> {
        self.public_named(key, None)
    }

    /// The public half of a key with its name, if it has one.
    pub(super) fn public_named(&self, key: &PublicKey, name: Option<&str>) -> Result<Vec<u8>> {
        let annotations = self.annotations(name);
        let (_, format, encoding) = self.structure();
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => {
                self.check_usage()?;
                Ok(jwk::public(key, &self.restrictions, &annotations).into_bytes())
            }
            KeyFormat::Openssh => {
                self.check_usage()?;
                Ok((openssh::public(key, comment(&annotations)) + "\n").into_bytes())
            }
            _ => format::encode_public_for(key, &self.usage, format, encoding).map_err(refused),
        }
    }

    /// Of the formats in ASN.1: the structures of the two halves, and their encoding.
    fn structure(&self) -> (PrivateFormat, PublicFormat, Encoding) {
        match self.format {
            KeyFormat::Pkcs8Der => (PrivateFormat::Pkcs8, PublicFormat::Spki, Encoding::Der),
            KeyFormat::Pkcs1Pem => (PrivateFormat::Pkcs1, PublicFormat::Pkcs1, Encoding::Pem),
            KeyFormat::Pkcs1Der => (PrivateFormat::Pkcs1, PublicFormat::Pkcs1, Encoding::Der),
            _ => (PrivateFormat::Pkcs8, PublicFormat::Spki, Encoding::Pem),
        }
    }

    /// Refuses a format that cannot express what the key is for.
    fn check_usage(&self) -> Result<()> {
        match self.usage.only() {
            None => Ok(()),
            Some(scheme) => {
                let what = format!(
                    "this key is for {scheme} only, which the format {} cannot say",
                    self.format.name()
                );
                Err(Failure::new(Class::Usage, what).advice("choose one of the pkcs8 formats"))
            }
        }
    }

    /// Endings of the names of files: of private halves, and of public ones.
    pub(super) fn endings(&self) -> (&'static str, &'static str) {
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => (".jwk", ".pub.jwk"),
            KeyFormat::Openssh => ("", ".pub"),
            KeyFormat::Pkcs8Pem | KeyFormat::Pkcs8Encrypted | KeyFormat::Pkcs1Pem => (".pem", ".pub.pem"),
            KeyFormat::Dkim => (".pem", ".txt"),
            KeyFormat::Pkcs8Der | KeyFormat::Pkcs1Der => (".der", ".pub.der"),
        }
    }

    /// The name of a public key's file, next to that of its private key.
    pub(super) fn public_name(&self, private: &Path) -> PathBuf {
        let (ending, public_ending) = self.endings();
        let name = private.as_os_str().as_bytes();
        let stem = name.strip_suffix(ending.as_bytes()).unwrap_or(name);
        OsString::from_vec([stem, public_ending.as_bytes()].concat()).into()
    }

    /// The separator of two keys in a stream. PEM and DER show where they end.
    pub(super) fn separator(&self) -> &'static [u8] {
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => b"\n",
            _ => b"",
        }
    }
}

/// The key cannot be written so. What does not fit the format was typed.
fn refused(error: Error) -> Failure {
    match error {
        Error::Randomness { .. } => Failure::step("the key could not be encrypted", error),
        _ => Failure::new(Class::Usage, error.to_string()),
    }
}

/// The comment of OpenSSH's formats: the key's own, if it has one.
fn comment(annotations: &Annotations) -> &str {
    match (annotations.is_insecure, &annotations.comment) {
        (true, _) => INSECURE,
        (false, Some(own)) => own,
        (false, None) => COMMENT,
    }
}
