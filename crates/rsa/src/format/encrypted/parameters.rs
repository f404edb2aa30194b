//! Parameters of the algorithms that encrypt private keys, in DER.

use der::asn1::{AnyRef, UintRef};
use spki::AlgorithmIdentifierRef;

/// The parameters of an algorithm, which all of these have.
pub(super) fn parameters<'a>(algorithm: &AlgorithmIdentifierRef<'a>) -> der::Result<AnyRef<'a>> {
    algorithm
        .parameters
        .ok_or_else(|| der::Tag::Sequence.value_error().into())
}

/// A number that is not negative; one that is longer than 64 bits is the largest, which no limit allows.
pub(super) fn number<'a>(reader: &mut impl der::Reader<'a>) -> der::Result<u64> {
    let bytes = reader.decode::<UintRef<'_>>()?.as_bytes();
    let fold = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
    Ok(match bytes.len() {
        0..=8 => bytes.iter().fold(0, fold),
        _ => u64::MAX,
    })
}
