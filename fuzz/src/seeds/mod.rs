//! Inputs that fuzzing begins with: one of each kind, small, made here.
//!
//! | seeds of | file |
//! |---|---|
//! | keys: DER, PEM, JSON, OpenSSH | `keys` |
//! | keys under passwords | `passwords` |
//! | certificates and requests | `certificates` |
//! | numbers and encodings | `numbers` |
//! | plans | `plans` |
//! | files and lines of the program's | `files` |
//! | what an audit finds in a folder | `audits` |
//! | tables in Apache Parquet | `tables` |

mod audits;
mod certificates;
mod files;
mod keys;
mod numbers;
mod passwords;
mod plans;
mod tables;

use std::sync::OnceLock;

use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PrivateFormat, encode_private},
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent, generate_strict},
    random::InsecureStudySeed,
};

pub use audits::audits;
pub(crate) use files::host;
pub use files::{databases, part_manifests, reports, sealed_files, text_containers, worker_lines};
pub use keys::{der, key_sets, private_keys, public_keys};
pub use numbers::{encodings, messages, numbers, signed_encodings};
pub use passwords::encrypted_keys;
pub use plans::plans;

/// The password of every encrypted seed.
pub const PASSWORD: &[u8] = b"sesame";

/// Bytes of [`key`]'s modulus.
pub const KEY_LEN: usize = 128;

/// A key of 1024 bits that is the same each time: found cases stay cases.
pub fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| of_bits(8 * KEY_LEN, 0))
}

/// [`key`] as PKCS#8 in PEM.
pub fn private_key() -> Vec<u8> {
    encode_private(key(), PrivateFormat::Pkcs8, Encoding::Pem).to_vec()
}

/// A shorter one, of 512 bits: parsers see more of it in less time.
pub fn short() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| of_bits(512, 1))
}

/// A key of three primes, of 1024 bits.
pub fn three_primes() -> PrivateKey {
    let rng = InsecureStudySeed::new([0x66; 32]).stream(2);
    let made = Generation::new(1024, PublicExponent::Fixed(DEFAULT_EXPONENT))
        .and_then(|generation| generation.with_primes(3))
        .and_then(|generation| generation.generator(rng)?.keys(1));
    made.expect("it has room for three").remove(0).key
}

fn of_bits(bits: usize, stream: u64) -> PrivateKey {
    let mut rng = InsecureStudySeed::new([0x66; 32]).stream(stream);
    generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
}

/// A value of DER.
fn der_of(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = match content.len() {
        len @ ..128 => vec![len as u8],
        len @ ..256 => vec![0x81, len as u8],
        len => vec![0x82, (len >> 8) as u8, len as u8],
    };
    [vec![tag], length, content.to_vec()].concat()
}

/// A sequence of DER.
fn sequence(elements: &[&[u8]]) -> Vec<u8> {
    der_of(0x30, &elements.concat())
}

/// Bytes in base64, of the usual alphabet.
fn base64(bytes: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

/// Texts as seeds.
fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}
