//! Encodings that a private or a public operation may yield, whatever a stranger sent.

use rsalab_rsa::{
    BlockRunner, Error, Status,
    encryption::Decryptor,
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SignatureScheme},
    signing::{Verifier, VerifyingKey},
};

use crate::seeds::{KEY_LEN, key};

/// An operation whose result is given: padding alone is tested, without the power.
struct Given<'a>(&'a [u8]);

impl BlockRunner for Given<'_> {
    fn run(&mut self, _: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), Error> {
        outputs.copy_from_slice(self.0);
        status.fill(Status::Done);
        Ok(())
    }
}

/// As many bytes as the key's modulus: the first of these, then zeros.
fn block(bytes: &[u8]) -> Vec<u8> {
    let mut block = vec![0; KEY_LEN];
    let len = bytes.len().min(KEY_LEN);
    block[..len].copy_from_slice(&bytes[..len]);
    block
}

/// The encoding that a ciphertext decrypts to, for each scheme.
pub(crate) fn unpad(bytes: &[u8]) {
    let encoding = block(bytes);
    for scheme in [
        EncryptionScheme::Pkcs1v15,
        EncryptionScheme::Oaep(Oaep::new(Hash::Sha1)),
        EncryptionScheme::Oaep(Oaep::new(Hash::Sha256)),
    ] {
        let mut decryptor = Decryptor::new(Given(&encoding), key(), &scheme).expect("it has room");
        let (mut message, mut part) = (vec![0; KEY_LEN], [None]);
        decryptor
            .decrypt(&[7; KEY_LEN], &mut message, &mut part)
            .expect("lengths fit");
        // PKCS#1 v1.5 rejects by giving out something else.
        assert!(part[0].is_some() || scheme != EncryptionScheme::Pkcs1v15);
        assert!(part[0].clone().is_none_or(|part| part.end <= KEY_LEN));
    }
}

/// The encoding that a signature verifies to, for each scheme; and signatures of the wrong length.
pub(crate) fn verify(bytes: &[u8]) {
    let encoding = block(bytes);
    let digest = [0x5a; 32];
    for scheme in [
        SignatureScheme::Pkcs1v15(Hash::Sha256),
        SignatureScheme::Pss(Pss::new(Hash::Sha256)),
    ] {
        let bits = 8 * KEY_LEN;
        let mut verifier = Verifier::new(Given(&encoding), bits, scheme).expect("it has room");
        let mut is_valid = [false];
        verifier
            .verify(&digest, &[7; KEY_LEN], &mut is_valid)
            .expect("lengths fit");
        // Nobody finds an encoding of this digest but who made it a seed, and no seed is one.
        assert!(!is_valid[0]);
        let whole = VerifyingKey::new(key().public(), scheme).expect("it has room");
        assert!(!whole.verify(b"a message", bytes));
    }
}
