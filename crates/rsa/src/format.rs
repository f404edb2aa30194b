//! Keys as files.
//!
//! | form | of | file |
//! |---|---|---|
//! | what a file holds: DER by its structure, PEM and its labels, other texts | RFC 7468 | `detection`, `content`, `structure`, `armour`, `base64`, `texts` |
//! | how much of a file is read | | `source` |
//! | PKCS#1, PKCS#8 and SubjectPublicKeyInfo, in PEM (RFC 7468) and DER | RFC 8017, 5958, 5280 | `pkcs` |
//! | the same under a password; how it protects a key | RFC 8018, 7292, 1421 | `encrypted`, `encryption` |
//! | the algorithm of a key | RFC 4055, 8702 | `algorithm` |
//! | the parameters of keys for RSASSA-PSS or RSAES-OAEP alone | RFC 4055 | `pss`, `oaep`, `hashes` |
//! | the public key of a certificate, and key usage | RFC 5280 | `certificate`, `key_usage` |
//! | JSON Web Keys, sets, lists and streams of them | RFC 7517, RFC 7518 | [`jwk`] |
//! | OpenSSH's own | its PROTOCOL.key | [`openssh`] |
//! | what a key is for, as its algorithm says | RFC 4055 | `usage` |
//! | lines of `authorized_keys` | sshd(8) | `authorized_keys` |
//! | which key of several is meant | | `several` |
//! | every key of chains and bundles, requests for certificates | RFC 2986 | `bundle` |
//! | the public half of a key that is refused | | `half` |
//! | many files at once, and the primes of their keys tested together | | `load_many` |
//! | a key with all that its file says of it | | `loaded` |
//! | what a key is for, as its file says | RFC 7517, RFC 5280 | `restrictions` |
//! | what else a file has, and is kept | | `annotations` |
//! | what errors say of a file | | `refusal` |
//!
//! Reading finds out by itself which of them it is given, and says in a sentence what else it was given; it takes DER
//! to the letter, at most [`MAX_FILE_LEN`] bytes, and no key whose numbers contradict each other. Writing is byte for
//! byte what OpenSSL writes. Formats of [features](crate#features) that a build leaves out are recognised and refused.

mod algorithm;
mod annotations;
mod armour;
mod authorized_keys;
mod base64;
mod bundle;
#[cfg(feature = "certificates")]
mod certificate;
mod content;
mod detection;
#[cfg(feature = "encrypted-keys")]
mod encrypted;
mod encryption;
mod half;
mod hashes;
mod input;
#[cfg(feature = "jwk")]
pub mod jwk;
mod key_usage;
mod load;
mod load_many;
mod loaded;
mod oaep;
#[cfg(feature = "openssh")]
pub mod openssh;
mod pkcs;
mod pss;
mod refusal;
mod restrictions;
mod several;
mod source;
mod structure;
mod texts;
mod usage;
mod wiped_reader;

use sha2::{Digest, Sha256};

use crate::PublicKey;

pub use annotations::{Annotations, INSECURE};
pub use bundle::load_all;
pub use content::Content;
#[cfg(feature = "encrypted-keys")]
pub use encrypted::{encode as encode_encrypted, encode_annotated as encode_encrypted_annotated};
pub use encryption::Encryption;
pub use input::{Encoding, Key, Limits, MAX_FILE_LEN, MAX_SET_LEN, Place, PrivateFormat, PublicFormat, Reading};
pub use key_usage::KeyUsage;
pub use load::{
    decode_private, decode_public, load_each, load_private, load_private_with, load_private_within, load_public,
    load_public_with, load_public_within,
};
pub use load_many::load_many;
pub use loaded::Loaded;
pub use pkcs::{encode_private, encode_private_annotated, encode_private_for, encode_public, encode_public_for};
pub use refusal::{holds_no_key, is_foreign};
pub use restrictions::{Purpose, Restrictions};
pub use several::Found;
pub use source::read;
pub use texts::is_key_text;
pub use usage::Usage;
pub use wiped_reader::WipedReader;

/// The name of a key: SHA-256 of its SubjectPublicKeyInfo in DER, as `openssl pkey -pubin -outform der | sha256sum`.
pub fn fingerprint(key: &PublicKey) -> [u8; 32] {
    Sha256::digest(pkcs::spki_der(key)).into()
}
