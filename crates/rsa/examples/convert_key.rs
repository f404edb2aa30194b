//! Reads a private key of any format from standard input, and prints its public key as PEM.

use std::{
    error::Error,
    io::{Read, Write, stdin, stdout},
};

use rsalab_rsa::format::{Encoding, PublicFormat, decode_private, encode_public};

fn main() -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    let key = decode_private(&bytes)?;
    let pem = encode_public(key.public(), PublicFormat::Spki, Encoding::Pem);
    stdout().write_all(&pem)?;
    Ok(())
}
