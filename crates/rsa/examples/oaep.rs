//! Encrypts a message with RSAES-OAEP and decrypts it again.

use rsalab_rsa::{
    Error, PrivateKey,
    encryption::{DecryptionKey, EncryptionKey},
    hash::Hash,
    scheme::{EncryptionScheme, Oaep},
};

fn main() -> Result<(), Error> {
    let key = PrivateKey::generate(2048)?;
    let scheme = EncryptionScheme::Oaep(Oaep::new(Hash::Sha256));
    let ciphertext = EncryptionKey::new(key.public(), scheme.clone())?.encrypt(b"a secret")?;
    match DecryptionKey::new(&key, &scheme)?.decrypt(&ciphertext)? {
        Some(message) => println!("{}", String::from_utf8_lossy(&message)),
        None => println!("the ciphertext was damaged, or is for another key"),
    }
    Ok(())
}
