//! Reading keys of any format.

use super::{
    content::Content,
    detection,
    input::{Key, Limits, Reading},
    loaded::Loaded,
    refusal::refused,
    several::{self, Found},
};
use crate::{Error, PrivateKey, PublicKey, Result};

/// Reads a private key of any format.
///
/// A key that names neither its primes nor its CRT parameters gets them computed from its exponents, once.
///
/// # Errors
///
/// [`Error::Format`] says what the bytes are instead, or where they are damaged; [`Error::Unsupported`] what key, or
/// what encryption of one, they hold; [`Error::PasswordMissing`] and [`Error::PasswordWrong`] that a password is
/// needed, or another one; [`Error::InvalidKey`] and [`Error::KeySize`] what is wrong with the key in them.
pub fn load_private(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PrivateKey>> {
    load_private_within(bytes, password, Limits::NONE)
}

/// As [`load_private`], for what somebody else may have supplied: a modulus above the limit is [`Error::KeySize`], and
/// nothing is computed with it.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_private_within(bytes: &[u8], password: Option<&[u8]>, limits: Limits) -> Result<Loaded<PrivateKey>> {
    load_private_with(
        bytes,
        &Reading {
            password,
            limits,
            name: None,
        },
    )
}

/// As [`load_private`], out of what may hold several keys: a set or a list of JSON Web Keys, a stream of them, lines of
/// `authorized_keys`. Keys of other algorithms are passed over; of several RSA keys the one of the name is read.
///
/// # Errors
///
/// As for [`load_private_within`], and [`Error::Several`] where it is not clear which key is meant.
pub fn load_private_with(bytes: &[u8], reading: &Reading<'_>) -> Result<Loaded<PrivateKey>> {
    let loaded = load(bytes, reading)?;
    let held = match loaded.content {
        Content::Certificate => "a certificate, which holds a public key",
        _ => "a public key",
    };
    loaded.try_map(|key| match key {
        Key::Private(key) => Ok(*key),
        Key::Public(_) => Err(refused(format!("this is {held}, but a private key is needed"))),
    })
}

/// Reads a public key of any format. Of a private key, and of a certificate, the public key is taken; that a
/// certificate is anybody's word, and still valid, is not looked at.
///
/// # Errors
///
/// As for [`load_private`].
pub fn load_public(bytes: &[u8], password: Option<&[u8]>) -> Result<Loaded<PublicKey>> {
    load_public_within(bytes, password, Limits::NONE)
}

/// As [`load_public`], for what somebody else may have supplied.
///
/// # Errors
///
/// As for [`load_private_within`].
pub fn load_public_within(bytes: &[u8], password: Option<&[u8]>, limits: Limits) -> Result<Loaded<PublicKey>> {
    load_public_with(
        bytes,
        &Reading {
            password,
            limits,
            name: None,
        },
    )
}

/// As [`load_public`], out of what may hold several keys, as [`load_private_with`] does.
///
/// # Errors
///
/// As for [`load_private_with`].
pub fn load_public_with(bytes: &[u8], reading: &Reading<'_>) -> Result<Loaded<PublicKey>> {
    load(bytes, reading)?.try_map(|key| match key {
        Key::Private(key) => Ok(key.public().clone()),
        Key::Public(key) => Ok(key),
    })
}

/// Every key of a file: one, or those of a set or a list of JSON Web Keys, of a stream of them, or of the lines of
/// `authorized_keys`, each with its place, in their order. A key that cannot be read does not stand in the way of the
/// others.
///
/// If a name is given, the keys of that name alone.
///
/// # Errors
///
/// As for [`load_private_with`], where nothing in the file can be read.
pub fn load_each(bytes: &[u8], reading: &Reading<'_>) -> Result<Vec<Found>> {
    several::load_each(&detection::open(bytes)?, reading)
}

/// Reads a private key of any use, without a password.
///
/// # Errors
///
/// As for [`load_private`], and [`Error::Restricted`] if the key is for RSASSA-PSS alone, or its file says what it is
/// for.
pub fn decode_private(bytes: &[u8]) -> Result<PrivateKey> {
    for_any_use(load_private(bytes, None)?)
}

/// Reads a public key of any use.
///
/// # Errors
///
/// As for [`decode_private`].
pub fn decode_public(bytes: &[u8]) -> Result<PublicKey> {
    for_any_use(load_public(bytes, None)?)
}

fn for_any_use<K>(loaded: Loaded<K>) -> Result<K> {
    let restricted = |reason| Err(Error::Restricted { reason });
    match loaded.usage.only() {
        None if loaded.restrictions.is_none() => Ok(loaded.key),
        None => restricted(format!(
            "this RSA key is not for any use: its file says {}",
            loaded.restrictions
        )),
        Some(scheme) => restricted(format!("this RSA key may be used for {scheme} only, and not for this")),
    }
}

fn load(bytes: &[u8], reading: &Reading<'_>) -> Result<Loaded<Key>> {
    several::load_one(&detection::open(bytes)?, reading)
}
