//! Which keys may be used: by their algorithm, and by the restrictions in their files.

use std::path::Path;

use rsalab_rsa::{
    PublicKey,
    blind::{BlindingKey, Variant},
    format::{Loaded, Purpose, Usage},
    scheme::SignatureScheme,
};

use crate::{
    arguments::KeyOptions,
    exit::{Class, Failure, Result},
    keys,
};

/// Refuses a key whose file says that it is for something else: by its algorithm, or by its restrictions.
pub(super) fn check_use<K>(
    options: &KeyOptions,
    loaded: &Loaded<K>,
    purpose: impl Fn(&SignatureScheme) -> Purpose<'_>,
    variant: Variant,
) -> Result<()> {
    let scheme = variant.scheme();
    check_algorithm(&options.key, &loaded.usage, &scheme)?;
    keys::check_use(options, loaded, purpose(&scheme))
}

/// RFC 4055, section 3.3: the hashes are the key's, and the salt is not shorter than the key says.
pub(super) fn check_algorithm(path: &Path, usage: &Usage, scheme: &SignatureScheme) -> Result<()> {
    let name = path.display();
    usage.check(Purpose::Verify(scheme)).map_err(|error| match usage {
        Usage::Pss(Some(own)) => {
            let what = format!(
                "the key {name} is for RSASSA-PSS with {} and a salt of {} bytes at least",
                own.hash,
                usage.least_salt()
            );
            Failure::new(Class::Input, what)
                .advice("blind signatures take sha384, with a salt of 48 bytes or (psszero) none")
        }
        _ => Failure::step(format!("cannot use {name}"), error).advice("take another key"),
    })
}

/// The issuer's public key, made ready for a variant that its file allows.
pub(super) fn blinding_key(options: &KeyOptions, loaded: &Loaded<PublicKey>, variant: Variant) -> Result<BlindingKey> {
    check_use(options, loaded, |scheme| Purpose::Verify(scheme), variant)?;
    let backend = keys::backend(options)?;
    Ok(BlindingKey::with_backend(&loaded.key, variant, &backend)?)
}
