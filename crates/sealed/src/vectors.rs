//! The test vectors of age's authors (C2SP's CCTV): headers, stanzas, MACs, payloads and armor, right and wrong.
//!
//! A vector names the key of its file, so that those whose recipients are of other types are tests here, too.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read, Write},
    path::Path,
    sync::{Arc, Mutex},
};

use chacha20poly1305::{ChaCha20Poly1305, Key, KeyInit, Nonce, aead::Aead};
use flate2::read::ZlibDecoder;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{
    Error, armor,
    derive::payload_key,
    file::decrypt_with,
    header::Header,
    payload::{CHUNK, TAG},
};

struct Vector {
    fields: BTreeMap<String, String>,
    file: Vec<u8>,
}

fn vector(bytes: &[u8]) -> Vector {
    let end = bytes
        .windows(2)
        .position(|pair| pair == b"\n\n")
        .expect("a vector has a header");
    let head = std::str::from_utf8(&bytes[..end]).expect("it is text");
    let fields: BTreeMap<String, String> = head
        .lines()
        .map(|line| line.split_once(": ").expect("a field has a value"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut file = bytes[end + 2..].to_vec();
    if fields.get("compressed").is_some_and(|how| how == "zlib") {
        let mut plain = Vec::new();
        ZlibDecoder::new(&file[..])
            .read_to_end(&mut plain)
            .expect("it is whole");
        file = plain;
    }
    Vector { fields, file }
}

/// Bytes that several threads write one after the other.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("nobody panicked").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The bytes that age releases: chunk by chunk, each by the number that it fits.
fn as_age_does(file: &[u8], is_armored: bool, key: &[u8]) -> Vec<u8> {
    let mut binary = Vec::new();
    match is_armored {
        true => {
            let _ = armor::Reader::new(file).read_to_end(&mut binary);
        }
        false => binary.extend(file),
    }
    let mut rest = &binary[..];
    Header::read(&mut rest).expect("it has a header");
    let Some((nonce, payload)) = rest.split_first_chunk() else {
        return Vec::new();
    };
    let key = payload_key(&Zeroizing::new(key.try_into().expect("it has 16 bytes")), nonce);
    let aead = ChaCha20Poly1305::new(<&Key>::from(&*key));
    let mut message = Vec::new();
    for (number, chunk) in payload.chunks(CHUNK + TAG).enumerate() {
        let is_full = chunk.len() == CHUNK + TAG;
        let mut numbers = [false, true].into_iter().filter(|is_last| *is_last || is_full);
        let opened = numbers.find_map(|is_last| {
            let opened = aead.decrypt(&nonce_of(number as u64, is_last), chunk).ok()?;
            Some((opened, is_last))
        });
        match opened {
            Some((opened, _)) if opened.is_empty() && number > 0 => break,
            Some((opened, is_last)) => {
                message.extend(opened);
                if is_last {
                    break;
                }
            }
            None => break,
        }
    }
    message
}

fn nonce_of(number: u64, is_last: bool) -> Nonce {
    let mut bytes = [0; 12];
    bytes[..11].copy_from_slice(&u128::from(number).to_be_bytes()[5..]);
    bytes[11] = u8::from(is_last);
    bytes.into()
}

fn outcome(error: &Error) -> &'static str {
    match error {
        Error::Header { .. } => "header failure",
        Error::Armor { .. } => "armor failure",
        Error::Key => "HMAC failure",
        Error::Payload => "payload failure",
        _ => "another failure",
    }
}

#[test]
fn every_vector_is_judged_as_its_authors_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cctv");
    let mut tested = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).expect("the vectors are there") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let Vector { fields, file } = vector(&fs::read(&path).expect("it can be read"));
        let expected = fields["expect"].as_str();
        let key = fields
            .get("file key")
            .map(|key| hex::decode(key).expect("it is hexadecimal"));
        let is_armored = fields.contains_key("armored");
        for threads in [1, 3] {
            let sink = Shared::default();
            let result = decrypt_with(
                |header| {
                    // What has no key is refused before one is asked for.
                    let key = key.as_deref().and_then(|key| <[u8; 16]>::try_from(key).ok());
                    let key = key.map(Zeroizing::new).ok_or(Error::NoMatch)?;
                    header.is_by(&key).then_some(key).ok_or(Error::Key)
                },
                &file[..],
                sink.clone(),
                threads,
            );
            let found = result.as_ref().map_or_else(outcome, |()| "success");
            let is_same = found == expected
                // Text whose first line is damaged is taken for a file that is not armored.
                || (is_armored && expected == "armor failure" && found == "header failure");
            let released = sink.0.lock().expect("nobody panicked");
            let is_released = match fields.get("payload") {
                Some(payload) => {
                    let message = as_age_does(&file, is_armored, &key.clone().expect("it was opened"));
                    assert_eq!(hex::encode(Sha256::digest(&message)), *payload, "{name}");
                    // Here, a chunk that claims to be the last is released if it is; age looks afterwards.
                    match expected {
                        "success" => message == *released,
                        _ => message.starts_with(&released) && released.len() % CHUNK == 0,
                    }
                }
                None => released.is_empty(),
            };
            if !is_same || !is_released {
                wrong.push(format!(
                    "{name}: {expected} expected, {found} found, released: {is_released}"
                ));
            }
        }
        tested += 1;
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(tested, 85, "a vector is missing");
}
