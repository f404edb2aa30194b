//! Runners that fail as a whole, as that of a lost device does: nothing of an earlier call is taken for a result.

use rsalab_rsa::{
    BlockRunner, CpuBackend, Error, Result, Status,
    encryption::Decryptor,
    generate::{DEFAULT_EXPONENT, first_primes_of},
    hash::Hash,
    random::SystemRng,
    scheme::{EncryptionScheme, SignatureScheme},
    signing::Verifier,
};

use crate::fixed_keys::key;

struct Lost;

impl BlockRunner for Lost {
    fn run(&mut self, _: &[u8], _: &mut [u8], _: &mut [Status]) -> Result<()> {
        Err(Error::PasswordMissing)
    }
}

#[test]
fn messages_of_an_earlier_call_are_gone() {
    let key = key(9, 0, 512);
    let mut decryptor = Decryptor::new(Lost, &key, &EncryptionScheme::Pkcs1v15).unwrap();
    let mut messages = [0xaa; 128];
    let mut places = [Some(3..9), None];
    assert!(decryptor.decrypt(&[1; 128], &mut messages, &mut places).is_err());
    assert_eq!((messages, places), ([0; 128], [None, None]));
}

#[test]
fn no_signature_is_valid() {
    let scheme = SignatureScheme::Pkcs1v15(Hash::Sha256);
    let mut verifier = Verifier::new(Lost, 512, scheme).unwrap();
    let mut is_valid = [true; 2];
    assert!(verifier.verify(&[1; 64], &[1; 128], &mut is_valid).is_err());
    assert_eq!(is_valid, [false; 2]);
}

#[test]
fn candidates_of_no_length_are_refused() {
    let found = first_primes_of(&[1; 64], 0, DEFAULT_EXPONENT, &mut SystemRng, &CpuBackend::auto());
    assert!(matches!(found, Err(Error::KeySize { bits: 0, .. })));
}
