//! Padding around the premaster secret of a TLS client: what is wrong comes to a random secret, and to no error.

use crate::support::crypto::{Loaded, Pkey, Value};

const TLS: u32 = 7;
const TLS12: u32 = 0x0303;

/// A block that is encrypted as it is.
fn block(of: impl FnOnce(&mut [u8; 256])) -> [u8; 256] {
    let mut block = [0xaa; 256];
    (block[0], block[1], block[207]) = (0, 2, 0);
    block[208..].copy_from_slice(&secret(0x0303));
    of(&mut block);
    block
}

fn secret(version: u16) -> [u8; 48] {
    let mut secret = [0x5c; 48];
    secret[..2].copy_from_slice(&version.to_be_bytes());
    secret
}

fn decrypted(key: &Pkey<'_>, block: &[u8], negotiated: Option<u32>) -> Vec<u8> {
    let ciphertext = key
        .encrypt(&[(c"pad-mode", Value::Text(c"none"))], block)
        .expect("it is below the modulus");
    let mut values = vec![
        (c"pad-mode", Value::Unsigned(&TLS)),
        (c"tls-client-version", Value::Unsigned(&TLS12)),
    ];
    if let Some(version) = &negotiated {
        values.push((c"tls-negotiated-version", Value::Unsigned(version)));
    }
    let found = key.decrypt(&values, &ciphertext).expect("never an error");
    assert_eq!(found.len(), 48);
    found
}

#[test]
fn what_is_wrong_is_random() {
    let Some(loaded) = Loaded::new() else { return };
    let key = loaded.new_key();
    assert_eq!(decrypted(&key, &block(|_| {}), None), secret(0x0303));
    // The version that was agreed upon counts where it was set.
    let older = block(|block| block[208..].copy_from_slice(&secret(0x0302)));
    assert_eq!(decrypted(&key, &older, Some(0x0302)), secret(0x0302));
    assert_eq!(decrypted(&key, &block(|_| {}), Some(0x0302)), secret(0x0303));

    let wrong: [(&str, [u8; 256]); 8] = [
        ("first byte", block(|block| block[0] = 1)),
        ("second byte", block(|block| block[1] = 1)),
        ("a zero at the first byte of the padding", block(|block| block[2] = 0)),
        ("a zero at the last one", block(|block| block[206] = 0)),
        ("no zero", block(|block| block[207] = 1)),
        ("another version", older),
        ("a version above", block(|block| block[209] = 4)),
        ("nothing", [0; 256]),
    ];
    for (what, block) in wrong {
        let found = decrypted(&key, &block, None);
        assert_ne!(found, block[208..], "{what}");
        assert_ne!(found, decrypted(&key, &block, None), "{what}: it is not random");
    }
}

#[test]
fn without_the_clients_version_nothing_is_decrypted() {
    let Some(loaded) = Loaded::new() else { return };
    let key = loaded.new_key();
    let none = [(c"pad-mode", Value::Text(c"none"))];
    let ciphertext = key.encrypt(&none, &block(|_| {})).expect("it encrypts");
    let values = [(c"pad-mode", Value::Unsigned(&TLS))];
    assert_eq!(key.decrypt(&values, &ciphertext), None);
    assert_eq!(key.encrypt(&values, &secret(0x0303)), None);
}
