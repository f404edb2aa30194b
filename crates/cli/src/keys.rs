//! A user's keys. They are read into this process and never leave it.
//!
//! This is the door: a key that comes through it is well formed, its numbers fit each other, and the primes of a private one
//! are prime.

use std::{fs::File, path::Path};

use rsalab_rsa::{
    CpuBackend, Error, PrivateKey, PublicKey,
    format::{self, Loaded, Usage},
    keys::Weakness,
    primality::ROUNDS_AT_THE_DOOR,
    random::SystemRng,
};

use crate::{
    arguments::KeyOptions,
    exit::{Class, Failure},
    output::Talk,
    passwords::{self, Password},
};

/// The public key in a file; of a private key or a certificate, its public half.
pub(crate) fn public(options: &KeyOptions) -> Result<Loaded<PublicKey>, Failure> {
    let path = &options.key;
    load(path, options.password_file.as_deref(), format::load_public).map_err(|failure| {
        failure
            .or_advice("name the file of an RSA key: 'rsalab keygen --public-out FILE' makes one")
    })
}

/// The private key in a file, with its primes tested.
pub(crate) fn private(options: &KeyOptions) -> Result<Loaded<PrivateKey>, Failure> {
    let path = &options.key;
    load(path, options.password_file.as_deref(), format::load_private)
        .and_then(|loaded| {
            loaded
                .key
                .check_primes(ROUNDS_AT_THE_DOOR, &mut SystemRng, &CpuBackend::auto())
                .map_err(|error| unusable(path, error))?;
            Ok(loaded)
        })
        .map_err(|failure| {
            failure.or_advice(
                "name the file of an RSA private key: 'rsalab keygen --out FILE' makes one",
            )
        })
}

/// A key that may be used for anything, or the reason why not.
pub(crate) fn of_any_use<K>(options: &KeyOptions, loaded: Loaded<K>) -> Result<K, Failure> {
    match loaded.usage {
        Usage::Any => Ok(loaded.key),
        Usage::Pss(_) => {
            let what = format!(
                "the key {} is for RSASSA-PSS signatures only",
                options.key.display()
            );
            Err(Failure::new(Class::Input, what)
                .advice("use it with 'rsalab sign' or 'rsalab verify', or take another key"))
        }
    }
}

/// Says what makes a key weak, which is no reason not to use it; 'rsalab key check --strict' refuses it.
pub(crate) fn warn(options: &KeyOptions, weaknesses: &[Weakness], talk: Talk) {
    for weakness in weaknesses {
        talk.say(format_args!(
            "warning: the key {} is weak: {weakness}",
            options.key.display()
        ));
    }
}

/// Reads a key from a file, and asks for its password if it needs one and no file holds it.
pub(crate) fn load<K>(
    path: &Path,
    password_file: Option<&Path>,
    load: impl Fn(&[u8], Option<&[u8]>) -> Result<K, Error>,
) -> Result<K, Failure> {
    let bytes = File::open(path)
        .and_then(format::read)
        .map_err(|error| Failure::io(format!("cannot read the key {}", path.display()), error))?;
    let given: Option<Password> = password_file.map(passwords::from_file).transpose()?;
    let mut loaded = load(&bytes, given.as_ref().map(|given| &given[..]));
    if given.is_none() && matches!(loaded, Err(Error::Password { .. })) {
        let asked = passwords::of_key(path, "--password-file")?;
        loaded = load(&bytes, Some(&asked));
    }
    loaded.map_err(|error| unusable(path, error))
}

fn unusable(path: &Path, error: Error) -> Failure {
    let class = match error {
        Error::Randomness { .. } => Class::Unavailable,
        _ => Class::Input,
    };
    let failure = Failure::new(class, format!("cannot use {} as a key", path.display()));
    match error {
        Error::Password { .. } => failure
            .because(error)
            .advice("give the file whose first line is the password with --password-file"),
        _ => failure.because(error),
    }
}
