//! The DNS record of a key for DKIM (RFC 6376, section 3.6.1), as a zone file has it (RFC 1035, section 5.1).

use base64::{Engine, engine::general_purpose::STANDARD};
use rsalab_rsa::{
    PublicKey,
    format::{Encoding, Loaded, PublicFormat, Usage, encode_public},
};

use crate::{
    exit::{Class, Failure, Result},
    output::Log,
};

/// The longest character string of a record (RFC 1035, section 3.3).
const MOST: usize = 255;
/// Sizes that every verifier takes (RFC 8301, section 3.2).
const BITS: std::ops::RangeInclusive<usize> = 1024..=4096;

/// The record, without the name that it belongs to: `SELECTOR._domainkey.DOMAIN`.
pub(super) fn record(loaded: &Loaded<PublicKey>, log: Log) -> Result<Vec<u8>> {
    if loaded.usage != Usage::Any {
        let what = "DKIM signs with PKCS#1 v1.5, which this key is not for";
        return Err(Failure::new(Class::Usage, what).advice("take another key"));
    }
    let bits = loaded.key.bits();
    if !BITS.contains(&bits) {
        log.note(format_args!(
            "verifiers of DKIM need not take keys of {bits} bits: from {} to {} are theirs (RFC 8301)",
            BITS.start(),
            BITS.end()
        ));
    }
    Ok(text(&loaded.key).into_bytes())
}

fn text(key: &PublicKey) -> String {
    let der = encode_public(key, PublicFormat::Spki, Encoding::Der);
    let value = format!("v=DKIM1; k=rsa; p={}", STANDARD.encode(&der));
    let strings = value.as_bytes().chunks(MOST);
    let strings = strings.map(|part| format!("\"{}\"", String::from_utf8_lossy(part)));
    let strings: Vec<String> = strings.collect();
    format!("IN TXT ( {} )\n", strings.join("\n         "))
}
