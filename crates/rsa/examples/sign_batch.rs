//! Signs a batch of messages and verifies the signatures.

use rsalab_rsa::{
    Error, PrivateKey,
    hash::Hash,
    scheme::{Pss, SignatureScheme},
    signing::SigningKey,
};

fn main() -> Result<(), Error> {
    let key = PrivateKey::generate(2048)?;
    let signing = SigningKey::new(&key, SignatureScheme::Pss(Pss::new(Hash::Sha256)))?;
    let messages: Vec<&[u8]> = vec![b"first", b"second", b"third"];
    let signatures = signing.sign_batch(&messages)?;
    let pairs: Vec<_> = messages
        .iter()
        .zip(&signatures)
        .map(|(message, signature)| (*message, signature.as_bytes()))
        .collect();
    println!("{:?}", signing.verifying_key().verify_batch(&pairs));
    Ok(())
}
