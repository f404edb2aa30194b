//! How RFC 9578 publishes an issuer's key.

use der::{
    AnyRef, Encode,
    asn1::{BitStringRef, ObjectIdentifier, UintRef},
};
use pkcs1::{RsaPssParams, TrailerField};
use spki::{AlgorithmIdentifier, AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use super::HASH;
use crate::PublicKey;

const PSS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.10");
const MGF1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.8");
const FITS: &str = "a key of at most 16384 bits fits in DER";

/// The key of a token issuer as RFC 9578, section 6.5, publishes it: a SubjectPublicKeyInfo in DER, with the algorithm
/// `id-RSASSA-PSS`, SHA-384, MGF1 of SHA-384, and a salt of 48 bytes.
///
/// The identifiers of the hash function stand without the NULL that RFC 4055 writes, as in the RFC's own keys: the
/// key's identifier (`token_key_id`) is the SHA-256 digest of exactly these bytes.
pub fn token_key(key: &PublicKey) -> Vec<u8> {
    let hash = AlgorithmIdentifierRef {
        oid: HASH.oid(),
        parameters: None,
    };
    let parameters = RsaPssParams {
        hash,
        mask_gen: AlgorithmIdentifier {
            oid: MGF1,
            parameters: Some(hash),
        },
        salt_len: HASH.digest_len() as u8,
        trailer_field: TrailerField::BC,
    }
    .to_der()
    .expect(FITS);
    let numbers = pkcs1::RsaPublicKey {
        modulus: UintRef::new(key.n()).expect(FITS),
        public_exponent: UintRef::new(key.e()).expect(FITS),
    }
    .to_der()
    .expect(FITS);
    SubjectPublicKeyInfoRef {
        algorithm: AlgorithmIdentifierRef {
            oid: PSS,
            parameters: Some(AnyRef::try_from(&parameters[..]).expect("it was encoded here")),
        },
        subject_public_key: BitStringRef::from_bytes(&numbers).expect(FITS),
    }
    .to_der()
    .expect(FITS)
}
