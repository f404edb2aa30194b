//! A signature as bytes.

use crate::Result;

/// A signature, as long as the modulus of its key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Signature(Box<[u8]>);

impl Signature {
    /// The bytes, big-endian.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Signature {
    fn from(bytes: Vec<u8>) -> Self {
        Signature(bytes.into())
    }
}

/// Any bytes may be a signature; verification decides.
impl TryFrom<&[u8]> for Signature {
    type Error = signature::Error;

    fn try_from(bytes: &[u8]) -> Result<Self, signature::Error> {
        Ok(Signature(bytes.into()))
    }
}

impl From<Signature> for Box<[u8]> {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

impl signature::SignatureEncoding for Signature {
    type Repr = Box<[u8]>;
}
