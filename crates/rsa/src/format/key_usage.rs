//! The key usage of X.509 (RFC 5280, section 4.2.1.3).

use std::fmt;

use der::{Tag, Tagged, asn1::AnyRef};

/// id-ce-keyUsage, 2.5.29.15, in DER.
pub(super) const OID: &[u8] = &[0x55, 0x1d, 0x0f];

/// Names of the uses, in the order of their bits.
const NAMES: [&str; 9] = [
    "digitalSignature",
    "nonRepudiation",
    "keyEncipherment",
    "dataEncipherment",
    "keyAgreement",
    "keyCertSign",
    "cRLSign",
    "encipherOnly",
    "decipherOnly",
];

/// Uses of a key, as a certificate or an attribute of a PKCS#8 key names them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyUsage(u16);

impl KeyUsage {
    /// Usage in a BIT STRING, whose first bit is digitalSignature. Zeros at its end are taken, which DER forbids.
    pub(super) fn read(string: AnyRef<'_>) -> der::Result<Self> {
        let error = || Tag::BitString.value_error().into();
        let (Tag::BitString, Some((&unused, bytes))) = (string.tag(), string.value().split_first()) else {
            return Err(error());
        };
        if unused > 7 || (bytes.is_empty() && unused != 0) {
            return Err(error());
        }
        let bits = 8 * bytes.len() - usize::from(unused);
        let is_set = |place: usize| place < bits && bytes[place / 8] & (0x80 >> (place % 8)) != 0;
        let set = (0..NAMES.len()).filter(|&place| is_set(place));
        Ok(KeyUsage(set.fold(0, |all, place| all | 1 << place)))
    }

    /// The names of the uses, such as `digitalSignature`.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = NAMES.into_iter().enumerate();
        named.filter_map(move |(place, name)| (self.0 & 1 << place != 0).then_some(name))
    }

    /// Signatures of messages are among the uses: certificates and revocation lists are others.
    pub(super) fn signs(self) -> bool {
        self.names()
            .any(|name| matches!(name, "digitalSignature" | "nonRepudiation"))
    }

    pub(super) fn encrypts(self) -> bool {
        self.names()
            .any(|name| matches!(name, "keyEncipherment" | "dataEncipherment"))
    }
}

/// The names, with commas.
impl fmt::Display for KeyUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("nothing"),
            _ => f.write_str(&self.names().collect::<Vec<_>>().join(", ")),
        }
    }
}
