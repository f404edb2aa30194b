//! A key whose p is no prime as a header for the tests in C.

use rsalab_rsa::{
    PrivateKey,
    format::{Encoding, PrivateFormat, encode_private},
};

/// `COMPOSITE`, in PKCS#8 and DER: its numbers fit each other, and its p is a product of two primes.
pub(crate) fn header() -> String {
    let key = loop {
        let (small, large) = (PrivateKey::generate(512).unwrap(), PrivateKey::generate(1024).unwrap());
        // One in a few has another length, or an exponent that does not fit.
        if let Ok(key) = PrivateKey::from_primes(small.public().n(), large.q(), &[1, 0, 1]) {
            break key;
        }
    };
    let der = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Der);
    let numbers: Vec<String> = der.iter().map(u8::to_string).collect();
    format!("static const uint8_t COMPOSITE[] = {{{}}};\n", numbers.join(", "))
}
