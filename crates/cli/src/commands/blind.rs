//! `rsalab blind`: blind signatures, a file for each step.
//!
//! | file | made by | read by |
//! |---|---|---|
//! | `FILE.blinded` | request | sign |
//! | `FILE.state`, secret | request | finalize |
//! | `FILE.blinded.sig` | sign | finalize |
//! | `FILE.sig`, `FILE.prefix` | finalize | verify |

mod finalize;
mod request;
mod sign;
mod verify;

use std::path::{Path, PathBuf};

use rsalab_rsa::{
    PublicKey,
    blind::{BlindingKey, InputMessage, Variant, token_key},
    format::{Loaded, Purpose, Usage},
    scheme::{SaltLen, SignatureScheme},
};

use super::{
    inputs::{Destination, Inputs},
    per_file::Tally,
};
use crate::{
    arguments::{Blind, BlindKey, KeyOptions},
    exit::{Class, Failure, Result},
    files::{self, Privacy},
    keys,
    output::Log,
};

/// What the names of the files end in.
const BLINDED: &str = ".blinded";
const STATE: &str = ".state";
const SIGNATURE: &str = ".sig";
const PREFIX: &str = ".prefix";

/// Does what was typed.
pub(crate) fn run(arguments: &Blind, log: Log) -> Result<()> {
    match arguments {
        Blind::Request(arguments) => request::run(arguments, log),
        Blind::Sign(arguments) => sign::run(arguments, log),
        Blind::Finalize(arguments) => finalize::run(arguments, log),
        Blind::Verify(arguments) => verify::run(arguments, log),
        Blind::Key(arguments) => key(arguments),
    }
}

fn key(arguments: &BlindKey) -> Result<()> {
    const BITS: usize = 2048;
    let out = Destination::of(arguments.out.path())?;
    out.check_terminal("the key")?;
    let loaded = keys::public(&arguments.key, &arguments.reading)?;
    let bits = loaded.key.bits();
    if bits != BITS {
        let name = arguments.key.display();
        let what = format!("{name} has {bits} bits, and keys of token issuers have {BITS}");
        return Err(Failure::new(Class::Input, what)
            .advice("'rsalab keygen --bits 2048' makes one that fits"));
    }
    let scheme = Variant::PssDeterministic.scheme();
    check_algorithm(&arguments.key, loaded.usage, &scheme)?;
    loaded
        .restrictions
        .check(Purpose::Verify(&scheme))
        .map_err(|error| {
            Failure::step(format!("cannot use {}", arguments.key.display()), error)
                .advice("take another key")
        })?;
    out.write(&token_key(&loaded.key), Privacy::Public)
}

/// Refuses a key whose file says that it is for something else: by its algorithm, or by its restrictions.
fn check_use<K>(
    options: &KeyOptions,
    loaded: &Loaded<K>,
    purpose: impl Fn(&SignatureScheme) -> Purpose<'_>,
    variant: Variant,
) -> Result<()> {
    let scheme = variant.scheme();
    check_algorithm(&options.key, loaded.usage, &scheme)?;
    keys::check_use(options, loaded, purpose(&scheme))
}

/// RFC 4055, section 3.3: the hashes are the key's, and the salt is not shorter than the key says.
fn check_algorithm(path: &Path, usage: Usage, scheme: &SignatureScheme) -> Result<()> {
    let (Usage::Pss(Some(own)), SignatureScheme::Pss(pss)) = (usage, scheme) else {
        return Ok(());
    };
    let bytes = |salt_len| match salt_len {
        SaltLen::Bytes(bytes) => bytes,
        _ => pss.hash.digest_len(),
    };
    let fits = (own.hash, own.mgf_hash) == (pss.hash, pss.mgf_hash)
        && bytes(pss.salt_len) >= bytes(own.salt_len);
    match fits {
        true => Ok(()),
        false => {
            let what = format!(
                "the key {} is for RSASSA-PSS with {} and a salt of {} bytes at least",
                path.display(),
                own.hash,
                bytes(own.salt_len)
            );
            Err(Failure::new(Class::Input, what)
                .advice("blind signatures take sha384, with a salt of 48 bytes or (psszero) none"))
        }
    }
}

/// The issuer's public key, made ready for a variant that its file allows.
fn blinding_key(
    options: &KeyOptions,
    loaded: &Loaded<PublicKey>,
    variant: Variant,
) -> Result<BlindingKey> {
    check_use(options, loaded, |scheme| Purpose::Verify(scheme), variant)?;
    let backend = keys::backend(options)?;
    Ok(BlindingKey::with_backend(&loaded.key, variant, &backend)?)
}

/// The message in a file, or on standard input, with its prefix.
fn read_message(path: Option<&Path>, variant: Variant, prefix: &[u8]) -> Result<InputMessage> {
    let (source, _) = files::open(path)?;
    InputMessage::read(variant, prefix, source)?
        .map_err(|error| Failure::io(format!("cannot read {}", files::name(path)), error))
}

/// Where something goes, or comes from: as it was typed, or next to the one file that is read.
fn beside(
    typed: Option<&PathBuf>,
    file: Option<&Path>,
    ending: &str,
    option: &str,
) -> Result<PathBuf> {
    match (typed, file.filter(|file| !files::is_dash(file))) {
        (Some(typed), _) => Ok(typed.clone()),
        (None, Some(file)) => Ok(super::inputs::with_ending(file, ending)),
        (None, None) => {
            let what = "the message is read from standard input, which has no name";
            Err(Failure::new(Class::Usage, what).advice(format!("name a file with {option}")))
        }
    }
}

/// The files that were typed; options that name files of a single one are refused if there are several.
fn inputs(options: &crate::arguments::InputOptions, of_one: &[(&str, bool)]) -> Result<Inputs> {
    let inputs = Inputs::of(options)?;
    let typed = of_one.iter().find(|(_, is_typed)| *is_typed);
    match (&inputs, typed) {
        (Inputs::Many(_), Some((option, _))) => {
            let what = format!("{option} names one file, and there are several messages");
            Err(Failure::new(Class::Usage, what)
                .advice("leave it out: names are made of each FILE's"))
        }
        _ => Ok(inputs),
    }
}

/// Does something with many files, in groups: each is made, is there already, or has failed.
fn each_group(
    paths: &[PathBuf],
    noun: &str,
    log: Log,
    mut group: impl FnMut(&[&PathBuf]) -> Result<Vec<Result<bool>>>,
) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    let paths: Vec<&PathBuf> = paths.iter().filter(|path| seen.insert(*path)).collect();
    let mut tally = Tally::default();
    for paths in paths.chunks(super::per_file::GROUP) {
        for (path, made) in paths.iter().zip(group(paths)?) {
            match made {
                Ok(is_made) => tally.add(is_made),
                Err(failure) => tally.fail(path, failure),
            }
        }
    }
    tally.end(paths.len(), noun, log)
}
