//! A user's keys. They are read into this process and never leave it.
//!
//! A key that is read here is well formed, its numbers fit each other, the primes of a private one are prime, the modulus of a
//! public one is composite, and it is for what it is to be used for.

use std::{fs::File, path::Path};

use rsalab_rsa::{
    Error, PrivateKey, PublicKey,
    format::{self, Limits, Loaded, Purpose, Usage},
    keys::Weakness,
    primality::ROUNDS_BEFORE_USE,
    random::SystemRng,
};

use crate::{
    arguments::{KeyOptions, SizeOption, UseOption},
    exit::{Class, Failure},
    output::Talk,
    passwords::{self, Password},
};

/// The public key in a file; of a private key or a certificate, its public half. Its modulus is looked at.
pub(crate) fn public(options: &KeyOptions) -> Result<Loaded<PublicKey>, Failure> {
    let (path, limits) = (&options.key, options.size.limits());
    load(path, options.password_file.as_deref(), |bytes, password| {
        let loaded = format::load_public_within(bytes, password, limits)?;
        loaded.key.check_modulus()?;
        Ok(loaded)
    })
    .map_err(|failure| {
        failure
            .or_advice("name the file of an RSA key: 'rsalab keygen --public-out FILE' makes one")
    })
}

/// The private key in a file, with its primes tested.
pub(crate) fn private(options: &KeyOptions) -> Result<Loaded<PrivateKey>, Failure> {
    let (path, limits) = (&options.key, options.size.limits());
    load(path, options.password_file.as_deref(), |bytes, password| {
        let loaded = format::load_private_within(bytes, password, limits)?;
        let rounds = ROUNDS_BEFORE_USE;
        loaded.key.check_primes(rounds, &mut SystemRng)?;
        Ok(loaded)
    })
    .map_err(|failure| {
        failure
            .or_advice("name the file of an RSA private key: 'rsalab keygen --out FILE' makes one")
    })
}

impl SizeOption {
    /// How long the modulus of a key may be.
    pub(crate) fn limits(&self) -> Limits {
        match self.large_keys {
            true => Limits::NONE,
            false => Limits::QUICK,
        }
    }
}

impl UseOption {
    /// Refuses a key for what its file says that it is not for, unless that is to be ignored.
    pub(crate) fn check<K>(
        &self,
        key: &KeyOptions,
        loaded: &Loaded<K>,
        purpose: Purpose<'_>,
    ) -> Result<(), Failure> {
        if self.any_use {
            return Ok(());
        }
        loaded.restrictions.check(purpose).map_err(|error| {
            Failure::new(Class::Input, format!("cannot use {}", key.key.display()))
                .because(error)
                .advice("take another key; or add --any-use, if you know better than the file")
        })
    }

    /// A key whose algorithm allows any scheme, and whose file allows the purpose.
    pub(crate) fn of_any_scheme<K>(
        &self,
        key: &KeyOptions,
        loaded: Loaded<K>,
        purpose: Purpose<'_>,
    ) -> Result<K, Failure> {
        self.check(key, &loaded, purpose)?;
        match loaded.usage {
            Usage::Any => Ok(loaded.key),
            Usage::Pss(_) => {
                let what = format!(
                    "the key {} is for RSASSA-PSS signatures only",
                    key.key.display()
                );
                Err(Failure::new(Class::Input, what)
                    .advice("use it with 'rsalab sign' or 'rsalab verify', or take another key"))
            }
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
    if given.is_none() && matches!(loaded, Err(Error::PasswordMissing)) {
        let asked = passwords::of_key(path, "--password-file")?;
        loaded = load(&bytes, Some(&asked));
    }
    loaded.map_err(|error| unusable(path, password_file, error))
}

fn unusable(path: &Path, password_file: Option<&Path>, error: Error) -> Failure {
    let class = match error {
        Error::Randomness { .. } => Class::Unavailable,
        Error::Backend { .. } => Class::Internal,
        _ => Class::Input,
    };
    let failure = Failure::new(class, format!("cannot use {} as a key", path.display()));
    let advice = match (&error, password_file) {
        (Error::PasswordWrong, Some(file)) => {
            format!("the first line of {} is not its password", file.display())
        }
        (Error::PasswordWrong, None) => "try again with another password".to_owned(),
        (Error::KeySize { bits, .. }, _) if *bits > Limits::QUICK.most_bits => {
            "add --large-keys to take it all the same: that costs seconds".to_owned()
        }
        _ => return failure.because(error),
    };
    failure.because(error).advice(advice)
}
