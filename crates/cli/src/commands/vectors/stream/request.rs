//! Requests as they are written, and what they ask for.

use rsalab_rsa::{
    Error,
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::{Early, Outcome};

/// A request. Members that an operation does not need are ignored.
#[derive(Deserialize)]
pub(super) struct Request {
    pub(super) op: String,
    #[serde(flatten)]
    members: Map<String, Value>,
}

/// Work with a key, in batches if there is more of it.
pub(super) struct Job {
    /// Names the work and the key: jobs of one group are done together.
    pub(super) group: String,
    pub(super) work: Work,
    /// A message, a block or a ciphertext.
    pub(super) input: Vec<u8>,
    /// Of the message, where there is one to be verified.
    pub(super) signature: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(super) enum Work {
    Verify(SignatureScheme),
    Sign(SignatureScheme),
    Encrypt(EncryptionScheme),
    Decrypt(EncryptionScheme),
    RawPrivate,
    RawPublic,
    /// The comparison of a power with the message, as integers.
    RawVerify,
}

impl Request {
    /// The work that is to be done with a key.
    pub(super) fn job(&self) -> Result<Job, Early> {
        let is_raw = self.text("scheme")? == Some("raw");
        let (work, input) = match (self.op.as_str(), is_raw) {
            ("verify", true) => (Work::RawVerify, "msg"),
            ("verify", false) => (Work::Verify(self.signature_scheme()?), "msg"),
            ("sign", true) => (Work::RawPrivate, "msg"),
            ("sign", false) => (Work::Sign(self.signature_scheme()?), "msg"),
            ("encrypt", true) => (Work::RawPublic, "msg"),
            ("encrypt", false) => (Work::Encrypt(self.encryption_scheme()?), "msg"),
            ("decrypt", true) => (Work::RawPrivate, "ct"),
            ("decrypt", false) => (Work::Decrypt(self.encryption_scheme()?), "ct"),
            ("raw_priv", _) => (Work::RawPrivate, "in"),
            ("raw_pub", _) => (Work::RawPublic, "in"),
            // Members may have changed places, so that the name may be a key.
            _ => return Err(Outcome::unsupported("there is no operation of that name").into()),
        };
        Ok(Job {
            input: self.bytes(input)?,
            signature: match work {
                Work::Verify(_) | Work::RawVerify => self.bytes("sig")?,
                _ => Vec::new(),
            },
            group: format!("{work:?}\n{}", self.needed("key")?),
            work,
        })
    }

    /// A member that may be missing.
    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Early> {
        match self.members.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(Early::Malformed(format!("the member \"{name}\" is no string"))),
        }
    }

    /// A member that must be there.
    pub(super) fn needed(&self, name: &str) -> Result<&str, Early> {
        let missing = || Early::Malformed(format!("the member \"{name}\" is missing"));
        self.text(name)?.ok_or_else(missing)
    }

    /// Bytes, or an integer of any number of digits, in hexadecimal.
    pub(super) fn bytes(&self, name: &str) -> Result<Vec<u8>, Early> {
        let text = self.needed(name)?;
        let even = match text.len() % 2 {
            0 => hex::decode(text),
            _ => hex::decode(format!("0{text}")),
        };
        even.map_err(|_| Early::Malformed(format!("the member \"{name}\" is not hexadecimal")))
    }

    fn hash(&self, name: &str, usual: Hash) -> Result<Hash, Early> {
        match self.text(name)? {
            None => Ok(usual),
            Some(hash) => hash.parse().map_err(|_: Error| {
                let names = Hash::names().join(", ");
                let reason = format!("there is no hash function of the name in \"{name}\"; there are {names}");
                Outcome::unsupported(reason).into()
            }),
        }
    }

    fn signature_scheme(&self) -> Result<SignatureScheme, Early> {
        let hash = self.hash("hash", Hash::Sha256)?;
        let scheme = match self.text("scheme")? {
            Some("pkcs1v15") => SignatureScheme::Pkcs1v15(hash),
            Some("pss") => SignatureScheme::Pss(Pss {
                hash,
                mgf_hash: self.hash("mgf_hash", hash)?,
                salt_len: self.salt_len()?,
            }),
            scheme => return Err(no_scheme(scheme, "pkcs1v15, pss and raw")),
        };
        scheme.check_functions().map_err(no_algorithm)?;
        Ok(scheme)
    }

    fn encryption_scheme(&self) -> Result<EncryptionScheme, Early> {
        let scheme = match self.text("scheme")? {
            Some("pkcs1v15") => return Ok(EncryptionScheme::Pkcs1v15),
            Some("oaep") => {
                let hash = self.hash("hash", Hash::Sha256)?;
                EncryptionScheme::Oaep(Oaep {
                    hash,
                    mgf_hash: self.hash("mgf_hash", hash)?,
                    label: match self.text("label")? {
                        Some(_) => self.bytes("label")?,
                        None => Vec::new(),
                    },
                })
            }
            scheme => return Err(no_scheme(scheme, "pkcs1v15, oaep and raw")),
        };
        scheme.check_functions().map_err(no_algorithm)?;
        Ok(scheme)
    }

    fn salt_len(&self) -> Result<SaltLen, Early> {
        let member = self.members.get("salt_len").unwrap_or(&Value::Null);
        match (member, member.as_str(), member.as_u64()) {
            (Value::Null, ..) | (_, Some("digest"), _) => Ok(SaltLen::Digest),
            (_, Some("max"), _) => Ok(SaltLen::Max),
            (_, Some("any"), _) => Ok(SaltLen::Any),
            (_, _, Some(bytes)) if usize::try_from(bytes).is_ok() => Ok(SaltLen::Bytes(bytes as usize)),
            _ => Err(Early::Malformed(
                "the member \"salt_len\" is no number of bytes, nor \"digest\", \"max\" or \"any\"".to_owned(),
            )),
        }
    }
}

/// Functions that no standard combines.
fn no_algorithm(error: Error) -> Early {
    Outcome::unsupported(error.to_string()).into()
}

fn no_scheme(scheme: Option<&str>, possible: &str) -> Early {
    match scheme {
        None => Early::Malformed("the member \"scheme\" is missing".to_owned()),
        Some(_) => Outcome::unsupported(format!(
            "there is no scheme of that name for this operation; there are {possible}"
        ))
        .into(),
    }
}
