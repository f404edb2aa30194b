//! Public halves of keys that are refused: who looks at keys, and uses none, sees them all the same.

#[cfg(feature = "certificates")]
use super::certificate;
#[cfg(feature = "encrypted-keys")]
use super::encrypted;
#[cfg(feature = "openssh")]
use super::openssh;
use super::{
    content::{Content, Opened},
    input::Reading,
    pkcs,
};
use crate::{Error, PublicKey};

/// The modulus and the public exponent in what holds one key that was refused with an error, where they can be read,
/// whatever is wrong with the rest. Of them nothing but the size is looked at.
pub(super) fn public_half(opened: &Opened, error: &Error, reading: &Reading<'_>) -> Option<PublicKey> {
    let (body, limits) = (&opened.body[..], reading.limits);
    // A password that does not fit is not tried again, which takes its time.
    let is_locked = matches!(error, Error::PasswordMissing | Error::PasswordWrong);
    match opened.content {
        Content::Pkcs1Private => pkcs::pkcs1_half(body, limits),
        Content::Pkcs8 => pkcs::pkcs8_half(body, limits),
        Content::Spki => pkcs::spki_half(body, limits),
        Content::EncryptedPkcs1 | Content::EncryptedPkcs8 if is_locked => None,
        #[cfg(feature = "encrypted-keys")]
        Content::EncryptedPkcs1 => {
            let (plain, _) = encrypted::plain_with_headers(body, reading.password).ok()?;
            pkcs::pkcs1_half(&plain, limits)
        }
        #[cfg(feature = "encrypted-keys")]
        Content::EncryptedPkcs8 => {
            let (plain, _) = encrypted::plain(body, reading.password).ok()?;
            pkcs::pkcs8_half(&plain, limits)
        }
        #[cfg(feature = "certificates")]
        Content::Certificate => certificate::half(body, limits),
        #[cfg(feature = "certificates")]
        Content::Request => certificate::request_half(body, limits),
        #[cfg(feature = "openssh")]
        Content::OpensshPrivate => openssh::half(body, limits),
        _ => None,
    }
}
