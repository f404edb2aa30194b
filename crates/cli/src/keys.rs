//! A user's keys. They are read into this process and never leave it.

use std::{fs::File, path::Path};

use rsalab_rsa::{Error, PrivateKey, PublicKey, format};

use crate::exit::{Class, Failure};

/// The public key in a file; of a private key, its public half.
pub(crate) fn public(path: &Path) -> Result<PublicKey, Failure> {
    load(path, format::decode_public).map_err(|failure| {
        failure
            .or_advice("name the file of an RSA key: 'rsalab keygen --public-out FILE' makes one")
    })
}

/// The private key in a file.
pub(crate) fn private(path: &Path) -> Result<PrivateKey, Failure> {
    load(path, format::decode_private).map_err(|failure| {
        failure
            .or_advice("name the file of an RSA private key: 'rsalab keygen --out FILE' makes one")
    })
}

fn load<K>(path: &Path, decode: impl FnOnce(&[u8]) -> Result<K, Error>) -> Result<K, Failure> {
    let bytes = File::open(path)
        .and_then(format::read)
        .map_err(|error| Failure::io(format!("cannot read the key {}", path.display()), error))?;
    decode(&bytes).map_err(|error| {
        Failure::new(
            Class::Input,
            format!("cannot use {} as a key", path.display()),
        )
        .because(error)
    })
}
