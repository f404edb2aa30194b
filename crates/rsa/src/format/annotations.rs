//! Annotations: what a file has beside a key and its use, and what is kept where the key is written in the same format
//! again.

use der::{
    Decode, Reader, SliceReader, Tag, Tagged,
    asn1::{AnyRef, ObjectIdentifier},
};
use zeroize::Zeroizing;

use super::key_usage::{self, KeyUsage};

/// The mark of a key that was made from a seed: whoever has the seed has the key. It stands in front of a PEM block,
/// and in the comment of OpenSSH's formats and of a JSON Web Key.
pub const INSECURE: &str = "INSECURE: made from a seed, for tests";

/// Contents of a file beside its key and what that is for. Wiped on drop where they may be secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Annotations {
    /// The key has the mark [`INSECURE`].
    pub is_insecure: bool,
    /// `kid` of a JSON Web Key.
    pub kid: Option<String>,
    /// The comment of OpenSSH's formats.
    pub comment: Option<String>,
    /// Members of a JSON Web Key that RFC 7518 does not define, with their values in JSON.
    pub(super) members: Vec<(String, Zeroizing<String>)>,
    /// The attributes of a PKCS#8 key, each in DER.
    pub(super) attributes: Vec<Zeroizing<Vec<u8>>>,
}

impl Annotations {
    /// Annotations that say of a key whether it was made from a seed, and nothing else.
    pub fn insecure(is_insecure: bool) -> Self {
        Annotations {
            is_insecure,
            ..Annotations::default()
        }
    }

    /// The key usage among the attributes of a PKCS#8 key, in words. It restricts the key as that of a certificate
    /// does, but nothing is refused for it: Windows writes one on each key that it exports, and `keyEncipherment` on
    /// keys that sign.
    pub fn key_usage(&self) -> Option<String> {
        let usage = self.attributes.iter().find_map(|attribute| {
            let outer = AnyRef::from_der(attribute).ok()?;
            let mut reader = SliceReader::new(outer.value()).ok()?;
            let kind: ObjectIdentifier = reader.decode().ok()?;
            let values: AnyRef<'_> = reader.decode().ok()?;
            let is_usage = kind.as_bytes() == key_usage::OID && values.tag() == Tag::Set;
            let value = AnyRef::from_der(values.value()).ok()?;
            is_usage.then(|| KeyUsage::read(value).ok())?
        });
        usage.map(|usage| usage.to_string())
    }

    /// A comment of OpenSSH's formats, which may be the mark.
    pub(super) fn with_comment(comment: &[u8]) -> Self {
        let comment = String::from_utf8_lossy(comment).into_owned();
        Annotations {
            is_insecure: Annotations::is_mark(&comment),
            comment: (!comment.is_empty()).then_some(comment),
            ..Annotations::default()
        }
    }

    /// Returns whether a text that stands beside a key has the mark.
    pub(super) fn is_mark(text: &str) -> bool {
        text.trim() == INSECURE
    }

    /// Returns whether a line of a text, such as that before a PEM block, is the mark.
    pub(super) fn has_mark(text: &[u8]) -> bool {
        let mut lines = text.split(|byte| matches!(byte, b'\n' | b'\r'));
        lines.any(|line| line.trim_ascii() == INSECURE.as_bytes())
    }
}

/// Names only: values may be secret.
impl std::fmt::Debug for Annotations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Annotations")
            .field("is_insecure", &self.is_insecure)
            .finish_non_exhaustive()
    }
}
