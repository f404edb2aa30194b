//! JSON Web Keys (RFC 7517, RFC 7518 section 6.3), each on one line, named by its thumbprint (RFC 7638).

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::{PrivateKey, PublicKey};

/// Writes a private key.
pub fn private(key: &PrivateKey) -> Zeroizing<String> {
    let parts = key.parts();
    let members = [
        ("d", parts.d),
        ("p", parts.p),
        ("q", parts.q),
        ("dp", parts.dp),
        ("dq", parts.dq),
        ("qi", parts.qinv),
    ];
    // The room is taken at once: growing would leave copies of the key behind.
    let mut json = Zeroizing::new(String::with_capacity(8 * key.modulus_len() + 200));
    json.push_str(&open(key.public()));
    for (name, number) in members {
        json.push_str(&Zeroizing::new(format!(
            ",\"{name}\":\"{}\"",
            *Zeroizing::new(uint(number))
        )));
    }
    json.push('}');
    json
}

/// Writes a public key.
pub fn public(key: &PublicKey) -> String {
    open(key) + "}"
}

/// The members that every key has, without the closing brace.
fn open(key: &PublicKey) -> String {
    let (n, e) = (uint(key.n()), uint(key.e()));
    let thumbprint = Sha256::digest(format!("{{\"e\":\"{e}\",\"kty\":\"RSA\",\"n\":\"{n}\"}}"));
    let kid = Base64UrlUnpadded::encode_string(&thumbprint);
    format!("{{\"kty\":\"RSA\",\"kid\":\"{kid}\",\"n\":\"{n}\",\"e\":\"{e}\"")
}

/// Base64urlUInt: without leading zero octets.
fn uint(number: &[u8]) -> String {
    let zeros = number.iter().take_while(|&&byte| byte == 0).count();
    Base64UrlUnpadded::encode_string(&number[zeros..])
}
