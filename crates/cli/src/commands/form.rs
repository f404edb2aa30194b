//! How keys are written: the bytes of each half, and the names that their files get.

use rsalab_rsa::{
    PrivateKey, PublicKey,
    format::{self, Encoding, PrivateFormat, PublicFormat, jwk, openssh},
    random::SystemRng,
};
use zeroize::Zeroizing;

use crate::{
    arguments::KeyFormat,
    exit::{Class, Failure},
};

/// A format with what it takes to write it.
pub(super) struct Form {
    format: KeyFormat,
    password: Option<Zeroizing<Vec<u8>>>,
}

/// What OpenSSH's keys carry as a comment.
const COMMENT: &str = "rsalab";

impl Form {
    /// A format, with the password if it takes one.
    pub(super) fn new(format: KeyFormat, password: Option<Zeroizing<Vec<u8>>>) -> Self {
        Form { format, password }
    }

    /// The private half.
    pub(super) fn private(&self, key: &PrivateKey) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let text = |text: Zeroizing<String>| Zeroizing::new(text.as_bytes().to_vec());
        Ok(match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => text(jwk::private(key)),
            KeyFormat::Openssh => text(openssh::private(key, COMMENT)),
            KeyFormat::Pkcs8Encrypted => {
                let password = self.password.as_ref().map_or(&[][..], |password| password);
                format::encode_encrypted(key, password, Encoding::Pem, &mut SystemRng).map_err(
                    |error| {
                        let what = "the key could not be encrypted";
                        Failure::new(Class::Unavailable, what).because(error)
                    },
                )?
            }
            KeyFormat::Pkcs8Pem => format::encode_private(key, PrivateFormat::Pkcs8, Encoding::Pem),
            KeyFormat::Pkcs8Der => format::encode_private(key, PrivateFormat::Pkcs8, Encoding::Der),
            KeyFormat::Pkcs1Pem => format::encode_private(key, PrivateFormat::Pkcs1, Encoding::Pem),
            KeyFormat::Pkcs1Der => format::encode_private(key, PrivateFormat::Pkcs1, Encoding::Der),
        })
    }

    /// The public half, in the form that belongs to the private one.
    pub(super) fn public(&self, key: &PublicKey) -> Vec<u8> {
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => jwk::public(key).into_bytes(),
            KeyFormat::Openssh => (openssh::public(key, COMMENT) + "\n").into_bytes(),
            KeyFormat::Pkcs8Pem | KeyFormat::Pkcs8Encrypted => {
                format::encode_public(key, PublicFormat::Spki, Encoding::Pem)
            }
            KeyFormat::Pkcs8Der => format::encode_public(key, PublicFormat::Spki, Encoding::Der),
            KeyFormat::Pkcs1Pem => format::encode_public(key, PublicFormat::Pkcs1, Encoding::Pem),
            KeyFormat::Pkcs1Der => format::encode_public(key, PublicFormat::Pkcs1, Encoding::Der),
        }
    }

    /// What the names of files end in: of private halves, and of public ones.
    pub(super) fn endings(&self) -> (&'static str, &'static str) {
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => (".jwk", ".pub.jwk"),
            KeyFormat::Openssh => ("", ".pub"),
            KeyFormat::Pkcs8Pem | KeyFormat::Pkcs8Encrypted | KeyFormat::Pkcs1Pem => {
                (".pem", ".pub.pem")
            }
            KeyFormat::Pkcs8Der | KeyFormat::Pkcs1Der => (".der", ".pub.der"),
        }
    }

    /// What stands between two keys in a stream: lines must be told apart, and PEM and DER tell where they end.
    pub(super) fn separator(&self) -> &'static [u8] {
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => b"\n",
            _ => b"",
        }
    }
}
