//! How keys are written: the bytes of each half, and the names that their files get.

use rsalab_rsa::{
    Error, PrivateKey, PublicKey,
    format::{
        self, Encoding, Loaded, PrivateFormat, PublicFormat, Restrictions, Usage, jwk, openssh,
    },
    random::SystemRng,
};
use zeroize::Zeroizing;

use crate::{
    arguments::KeyFormat,
    exit::{Class, Failure},
    output::Talk,
    passwords::Password,
};

/// A format with what it takes to write it.
pub(super) struct Form {
    format: KeyFormat,
    password: Option<Password>,
    usage: Usage,
    restrictions: Restrictions,
    /// Whether the keys can be made again by whoever knows a seed.
    is_insecure: bool,
}

/// What OpenSSH's keys carry as a comment.
const COMMENT: &str = "rsalab";
/// What the files of keys that protect nothing say, where the format has room for words.
const INSECURE: &str = "INSECURE: made from a seed, for tests";

impl Form {
    /// A format, with the password if it takes one, for keys of any use.
    pub(super) fn new(format: KeyFormat, password: Option<Password>) -> Self {
        Form {
            format,
            password,
            usage: Usage::Any,
            restrictions: Restrictions::default(),
            is_insecure: false,
        }
    }

    /// For keys that were made from a seed.
    pub(super) fn insecure(self, is_insecure: bool) -> Self {
        Form {
            is_insecure,
            ..self
        }
    }

    /// For a key of which its file says what it is for.
    pub(super) fn of<K>(self, loaded: &Loaded<K>) -> Self {
        Form {
            usage: loaded.usage,
            restrictions: loaded.restrictions.clone(),
            ..self
        }
    }

    /// Says so if what a JSON Web Key is for cannot be said in this format. What a certificate says stays with the certificate.
    pub(super) fn say_what_is_lost(&self, talk: Talk) {
        let said = Restrictions {
            certificate: None,
            ..self.restrictions.clone()
        };
        if !said.is_none() && !matches!(self.format, KeyFormat::Jwk | KeyFormat::JwkSet) {
            talk.say(format_args!(
                "the format {} cannot say what this key is for: {said}",
                self.format.name()
            ));
        }
    }

    fn comment(&self) -> &'static str {
        match self.is_insecure {
            true => INSECURE,
            false => COMMENT,
        }
    }

    /// Text before PEM's first line, which readers pass over (RFC 7468, section 2).
    fn marked(&self, pem: Zeroizing<Vec<u8>>) -> Zeroizing<Vec<u8>> {
        match self.is_insecure {
            true => Zeroizing::new([INSECURE.as_bytes(), b"\n", &pem].concat()),
            false => pem,
        }
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
                Ok(text(jwk::private(
                    key,
                    &self.restrictions,
                    self.is_insecure.then_some(INSECURE),
                )))
            }
            KeyFormat::Openssh => {
                self.says_usage()?;
                Ok(text(openssh::private(key, self.comment())))
            }
            KeyFormat::Pkcs8Encrypted => {
                let password = self.password.as_ref().map_or(&[][..], |password| password);
                format::encode_encrypted(key, self.usage, password, Encoding::Pem, &mut SystemRng)
                    .map(|pem| self.marked(pem))
                    .map_err(refused)
            }
            KeyFormat::Pkcs8Pem => {
                written(PrivateFormat::Pkcs8, Encoding::Pem).map(|pem| self.marked(pem))
            }
            KeyFormat::Pkcs8Der => written(PrivateFormat::Pkcs8, Encoding::Der),
            KeyFormat::Pkcs1Pem => {
                written(PrivateFormat::Pkcs1, Encoding::Pem).map(|pem| self.marked(pem))
            }
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
                Ok(jwk::public(key, &self.restrictions).into_bytes())
            }
            KeyFormat::Openssh => {
                self.says_usage()?;
                Ok((openssh::public(key, self.comment()) + "\n").into_bytes())
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
