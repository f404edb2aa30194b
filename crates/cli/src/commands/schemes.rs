//! The scheme of an operation: what was typed, or else what the key's file says, or else the usual one.

use std::os::unix::ffi::OsStrExt;

use rsalab_rsa::{
    format::{Loaded, Purpose, Usage},
    hash::Hash,
    scheme::{EncryptionScheme, Oaep, Pss, SaltLen, SignatureScheme},
};

use crate::{
    arguments::{CipherOptions, CipherScheme, SignatureOptions, SignatureSchemeName},
    exit::{Class, Failure, Result},
    steps,
};

/// The scheme of encryption. What is not typed is the key's own, where it names parameters of OAEP.
pub(super) fn of_encryption<K>(options: &CipherOptions, loaded: &Loaded<K>) -> EncryptionScheme {
    let usual = match (&loaded.usage, loaded.restrictions.encryption_scheme()) {
        (Usage::Oaep(Some(own)), _) => own.clone(),
        (_, Some(EncryptionScheme::Oaep(oaep))) => oaep,
        _ => Oaep::new(Hash::Sha256),
    };
    match options.scheme {
        Some(CipherScheme::Pkcs1v15) => EncryptionScheme::Pkcs1v15,
        Some(CipherScheme::Oaep) | None => {
            let label = options.label.as_ref();
            EncryptionScheme::Oaep(Oaep {
                hash: options.hash.unwrap_or(usual.hash),
                mgf_hash: options.mgf_hash.or(options.hash).unwrap_or(usual.mgf_hash),
                label: label.map_or(usual.label, |label| label.as_bytes().to_vec()),
            })
        }
    }
}

/// Tells which scheme is meant. A label is a user's word, and not repeated.
pub(super) fn note_encryption(scheme: &EncryptionScheme) {
    steps::ended(|| match scheme {
        EncryptionScheme::Pkcs1v15 => "scheme: RSAES-PKCS1-v1_5, with implicit rejection".to_owned(),
        EncryptionScheme::Oaep(oaep) => {
            let label = if oaep.label.is_empty() { "no label" } else { "a label" };
            format!("scheme: RSAES-OAEP, {}, mask {}, {label}", oaep.hash, oaep.mgf_hash)
        }
    });
}

/// Tells which scheme is meant.
pub(super) fn note_signature(scheme: &SignatureScheme) {
    steps::ended(|| match scheme {
        SignatureScheme::Pkcs1v15(hash) => format!("scheme: RSASSA-PKCS1-v1_5, {hash}"),
        SignatureScheme::Pss(pss) => {
            let salt = match pss.salt_len {
                SaltLen::Digest => format!("{} bytes", pss.hash.digest_len()),
                SaltLen::Bytes(bytes) => format!("{bytes} bytes"),
                SaltLen::AtLeast(bytes) => format!("{bytes} bytes or more"),
                SaltLen::Max => "as many bytes as fit".to_owned(),
                SaltLen::Any => "any number of bytes".to_owned(),
            };
            format!(
                "scheme: RSASSA-PSS, {}, mask {}, salt of {salt}",
                pss.hash, pss.mgf_hash
            )
        }
    });
}

/// Refuses an option without effect: whoever typed it believes that it has one.
pub(super) fn check_encryption(options: &CipherOptions) -> Result<()> {
    let of_oaep = [
        ("--raw-oaep", options.raw_oaep),
        ("--hash", options.hash.is_some()),
        ("--mgf-hash", options.mgf_hash.is_some()),
        ("--label", options.label.is_some()),
    ];
    match of_oaep.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) if options.scheme == Some(CipherScheme::Pkcs1v15) => {
            let what = format!("{name} is for --scheme oaep");
            Err(Failure::new(Class::Usage, what).advice("leave it out, or choose another --scheme"))
        }
        _ => Ok(()),
    }
}

/// The scheme of a signature.
pub(super) fn of_signature<K>(options: &SignatureOptions, loaded: &Loaded<K>) -> Result<SignatureScheme> {
    let named = loaded.restrictions.signature_scheme();
    let hash = options
        .hash
        .unwrap_or(named.map_or(Hash::Sha256, |scheme| scheme.hash()));
    let is_pkcs1 = match (options.scheme, &loaded.usage, named) {
        (Some(SignatureSchemeName::Pkcs1v15), Usage::Pss(_), _) => {
            let what = "this key is for RSASSA-PSS only";
            return Err(Failure::new(Class::Usage, what).advice("leave out --scheme"));
        }
        (_, Usage::Pss(Some(own)), _) => {
            return with_parameters_of_key(options, &loaded.usage, *own);
        }
        (_, Usage::Oaep(_), _) => {
            let what = "this key is for OAEP encryption only";
            return Err(Failure::new(Class::Input, what).advice("take another key"));
        }
        (Some(scheme), ..) => scheme == SignatureSchemeName::Pkcs1v15,
        (None, _, named) => matches!(named, Some(SignatureScheme::Pkcs1v15(_))),
    };
    if !is_pkcs1 {
        return Ok(SignatureScheme::Pss(Pss {
            hash,
            mgf_hash: options.mgf_hash.unwrap_or(hash),
            salt_len: options.salt_len.unwrap_or(SaltLen::Digest),
        }));
    }
    if options.mgf_hash.is_some() || options.salt_len.is_some() {
        let what = "--mgf-hash and --salt-len are for --scheme pss";
        return Err(Failure::new(Class::Usage, what).advice("leave them out"));
    }
    Ok(SignatureScheme::Pkcs1v15(hash))
}

/// RFC 4055, section 3.3: the hashes are the key's, and the salt is not shorter than the key says.
fn with_parameters_of_key(options: &SignatureOptions, usage: &Usage, own: Pss) -> Result<SignatureScheme> {
    let typed = [
        ("--hash", options.hash, own.hash),
        ("--mgf-hash", options.mgf_hash, own.mgf_hash),
    ];
    for (option, typed, own) in typed {
        if typed.is_some_and(|typed| typed != own) {
            let what = format!("this key asks for {own}, and {option} for another");
            return Err(Failure::new(Class::Usage, what).advice(format!("leave out {option}")));
        }
    }
    let salt_len = options.salt_len.unwrap_or(own.salt_len);
    let scheme = usage.narrowed(SignatureScheme::Pss(Pss { salt_len, ..own }));
    if usage.check(Purpose::Verify(&scheme)).is_err() {
        let least = usage.least_salt();
        let what = format!("this key asks for a salt of {least} bytes at least");
        return Err(Failure::new(Class::Usage, what).advice("leave out --salt-len"));
    }
    Ok(scheme)
}
