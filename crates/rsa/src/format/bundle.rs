//! Every key of a file, whatever else it holds: chains and bundles in PEM, requests for certificates.

use super::{
    annotations::Annotations,
    armour,
    content::Content,
    detection::pem_text,
    input::{Place, Reading},
    load::load_each,
    loaded::load_single,
    refusal::is_foreign,
    several::Found,
    structure::is_request,
};
use crate::{Error, Result};

/// Every RSA key of a file: what [`load_each`] finds, and besides that the keys of all blocks of a PEM file, each with
/// its number, and that of a request for a certificate. It is for who looks at keys, not for who uses one: whether a
/// request is signed by its key is not looked at. Keys of other algorithms are [foreign](Found::is_foreign).
///
/// # Errors
///
/// As for [`load_each`], where nothing in the file can be read.
pub fn load_all(bytes: &[u8], reading: &Reading<'_>) -> Result<Vec<Found>> {
    let mut found = match pem_text(bytes) {
        Some(text) => {
            let blocks = armour::open_each(&text);
            let has_several = blocks.len() > 1;
            // Once, or what stands before many blocks would be looked at as often.
            let is_insecure = Annotations::is_marked_before(bytes);
            let blocks = blocks.into_iter().zip(1..);
            let found = blocks.map(|(block, number)| Found {
                place: match has_several {
                    true => Place::Block(number),
                    false => Place::Whole,
                },
                is_foreign: false,
                key: block.and_then(|(content, body)| load_single(content, &body, is_insecure, reading)),
            });
            found.collect()
        }
        None if is_request(bytes) => vec![alone(load_single(
            Content::Request,
            bytes,
            Annotations::is_marked_before(bytes),
            reading,
        ))],
        None => match load_each(bytes, reading) {
            Err(error @ Error::InvalidKey { .. }) => vec![alone(Err(error))],
            Err(error) if is_foreign(&error) => vec![alone(Err(error))],
            found => found?,
        },
    };
    for found in &mut found {
        found.is_foreign |= found.key.as_ref().is_err_and(is_foreign);
    }
    Ok(found)
}

fn alone(key: Result<super::Loaded<super::Key>>) -> Found {
    Found {
        place: Place::Whole,
        is_foreign: false,
        key,
    }
}
