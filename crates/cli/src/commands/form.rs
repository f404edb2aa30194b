//! How keys are written: the bytes of each half, and the names that their files get.

use rsalab_rsa::{
    Error, PrivateKey, PublicKey,
    format::{self, Encoding, PrivateFormat, PublicFormat, Usage, jwk, openssh},
    random::SystemRng,
};
use zeroize::Zeroizing;

use crate::{
    arguments::KeyFormat,
    exit::{Class, Failure},
    passwords::Password,
};

/// A format with what it takes to write it.
pub(super) struct Form {
    format: KeyFormat,
    password: Option<Password>,
    usage: Usage,
}

/// What OpenSSH's keys carry as a comment.
const COMMENT: &str = "rsalab";

impl Form {
    /// A format, with the password if it takes one, for keys of any use.
    pub(super) fn new(format: KeyFormat, password: Option<Password>) -> Self {
        Form {
            format,
            password,
            usage: Usage::Any,
        }
    }

    /// For keys of this use.
    pub(super) fn with_usage(self, usage: Usage) -> Self {
        Form { usage, ..self }
    }

    /// The private half.
    pub(super) fn private(&self, key: &PrivateKey) -> Result<Zeroizing<Vec<u8>>, Failure> {
        let text = |text: Zeroizing<String>| Zeroizing::new(text.as_bytes().to_vec());
        let written = |format, encoding| {
            format::encode_private_for(key, self.usage, format, encoding).map_err(refused)
        };
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => {
                self.says_usage()?;
                Ok(text(jwk::private(key)))
            }
            KeyFormat::Openssh => {
                self.says_usage()?;
                Ok(text(openssh::private(key, COMMENT)))
            }
            KeyFormat::Pkcs8Encrypted => {
                let password = self.password.as_ref().map_or(&[][..], |password| password);
                format::encode_encrypted(key, self.usage, password, Encoding::Pem, &mut SystemRng)
                    .map_err(refused)
            }
            KeyFormat::Pkcs8Pem => written(PrivateFormat::Pkcs8, Encoding::Pem),
            KeyFormat::Pkcs8Der => written(PrivateFormat::Pkcs8, Encoding::Der),
            KeyFormat::Pkcs1Pem => written(PrivateFormat::Pkcs1, Encoding::Pem),
            KeyFormat::Pkcs1Der => written(PrivateFormat::Pkcs1, Encoding::Der),
        }
    }

    /// The public half, in the form that belongs to the private one.
    pub(super) fn public(&self, key: &PublicKey) -> Result<Vec<u8>, Failure> {
        let written = |format, encoding| {
            format::encode_public_for(key, self.usage, format, encoding).map_err(refused)
        };
        match self.format {
            KeyFormat::Jwk | KeyFormat::JwkSet => {
                self.says_usage()?;
                Ok(jwk::public(key).into_bytes())
            }
            KeyFormat::Openssh => {
                self.says_usage()?;
                Ok((openssh::public(key, COMMENT) + "\n").into_bytes())
            }
            KeyFormat::Pkcs8Pem | KeyFormat::Pkcs8Encrypted => {
                written(PublicFormat::Spki, Encoding::Pem)
            }
            KeyFormat::Pkcs8Der => written(PublicFormat::Spki, Encoding::Der),
            KeyFormat::Pkcs1Pem => written(PublicFormat::Pkcs1, Encoding::Pem),
            KeyFormat::Pkcs1Der => written(PublicFormat::Pkcs1, Encoding::Der),
        }
    }

    /// Refuses a form that cannot say what the key is for.
    fn says_usage(&self) -> Result<(), Failure> {
        match self.usage {
            Usage::Any => Ok(()),
            Usage::Pss(_) => {
                let what = format!(
                    "this key is for RSASSA-PSS only, which the format {} cannot say",
                    self.format.name()
                );
                Err(Failure::new(Class::Usage, what).advice("choose one of the pkcs8 formats"))
            }
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

fn refused(error: Error) -> Failure {
    match error {
        Error::Randomness { .. } => {
            let what = "the key could not be encrypted";
            Failure::new(Class::Unavailable, what).because(error)
        }
        _ => Failure::new(Class::Usage, error.to_string()),
    }
}
