//! Every key of a file, whatever else it holds: chains and bundles in PEM, requests for certificates.

use zeroize::Zeroizing;

use super::{
    armour::{self, find},
    content::{Content, Opened},
    detection::{self, pem_text},
    half::public_half,
    input::{Place, Reading},
    loaded::load_single,
    refusal::{NO_JWK, is_foreign, refused},
    several::{self, Found},
    structure::is_request,
};
use crate::{Error, Result};

/// Every RSA key of a file: what [`load_each`](super::load_each) finds, and besides that the keys of all blocks of a
/// PEM file, each with its number, and that of a request for a certificate. It is for who looks at keys, not for who
/// uses one: whether a request is signed by its key is not looked at, and of a key that is refused the
/// [public half](Found::public) is given where it can be read. Keys of other algorithms are
/// [foreign](Found::is_foreign).
///
/// # Errors
///
/// As for [`load_each`](super::load_each), where nothing in the file can be read.
pub fn load_all(bytes: &[u8], reading: &Reading<'_>) -> Result<Vec<Found>> {
    let mut found = match pem_text(bytes) {
        Some(text) => {
            let blocks = armour::open_each(&text);
            let has_several = blocks.len() > 1;
            let blocks = blocks.into_iter().zip(1..);
            let found = blocks.map(|(block, number)| {
                let place = match has_several {
                    true => Place::Block(number),
                    false => Place::Whole,
                };
                match block {
                    Ok(block) => single(place, &block, reading),
                    Err(error) => refusal(place, error),
                }
            });
            found.collect()
        }
        None if is_request(bytes) => {
            let request = Opened::alone(Content::Request, Zeroizing::new(bytes.to_vec()));
            vec![single(Place::Whole, &request, reading)]
        }
        None => whole(bytes, reading)?,
    };
    for found in &mut found {
        // A certificate of OpenSSH's on an RSA key is passed over where a key is meant, and is of no other algorithm.
        if let Err(error) = &found.key {
            found.is_foreign = is_foreign(error);
        }
        if found.is_foreign {
            found.public = None;
        }
    }
    Ok(found)
}

/// The keys of a file that is no PEM.
fn whole(bytes: &[u8], reading: &Reading<'_>) -> Result<Vec<Found>> {
    let opened = match detection::open(bytes) {
        Err(error) if is_foreign(&error) => return Ok(vec![refusal(Place::Whole, error)]),
        opened => opened?,
    };
    let found = several::load_each(&opened, reading);
    let has_error = match &found {
        Ok(found) => found.iter().any(|found| found.key.is_err()),
        Err(_) => true,
    };
    if has_error && opened.content == Content::Jwk && find(&opened.body, b"\"kty\"").is_none() {
        return without_type(found);
    }
    let error = match found {
        Err(error) => error,
        found => return found,
    };
    let public = public_half(&opened, &error, reading);
    let is_key = public.is_some() || is_foreign(&error) || matches!(error, Error::InvalidKey { .. });
    match is_key {
        true => Ok(vec![Found {
            public,
            ..refusal(Place::Whole, error)
        }]),
        false => Err(error),
    }
}

/// What was found in JSON that nowhere names the type of a key, as every JSON Web Key does: it is any other file,
/// unless the numbers of a key are there.
fn without_type(found: Result<Vec<Found>>) -> Result<Vec<Found>> {
    let mut found = found.map_err(|_| refused(NO_JWK))?;
    for found in &mut found {
        if found.key.is_err() && found.public.is_none() {
            found.key = Err(refused(NO_JWK));
        }
    }
    Ok(found)
}

/// The key of what holds one.
fn single(place: Place, opened: &Opened, reading: &Reading<'_>) -> Found {
    match load_single(opened, reading) {
        Ok(key) => Found {
            place,
            is_foreign: false,
            key: Ok(key),
            public: None,
        },
        Err(error) => Found {
            public: public_half(opened, &error, reading),
            ..refusal(place, error)
        },
    }
}

fn refusal(place: Place, error: Error) -> Found {
    Found {
        place,
        is_foreign: false,
        key: Err(error),
        public: None,
    }
}
