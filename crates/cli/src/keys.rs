//! A user's keys. They are read into this process and never leave it.
//!
//! A key that is read here is well formed, its numbers belong together, the primes of a private one are prime, the
//! modulus of a public one is composite, and its file does not restrict it to another use.

use std::{fs::File, io, path::Path};

use rsalab_rsa::{
    CpuBackend, Error, PrivateKey, PublicKey,
    format::{self, Encryption, Limits, Loaded, Purpose, Reading, Usage},
    keys::{MAX_BITS, Weakness},
    primality::ROUNDS_BEFORE_USE,
    random::SystemRng,
    scheme::EncryptionScheme,
};
use rsalab_study::number;

use crate::{
    arguments::{KeyFileOptions, KeyOptions},
    exit::{Class, Failure, Result},
    files, kernels,
    output::Log,
    passwords,
    patience::Patient,
    steps,
};

/// The public key in a file; of a private key or a certificate, its public half. Its modulus is examined.
pub(crate) fn public(path: &Path, reading: &KeyFileOptions, log: Log) -> Result<Loaded<PublicKey>> {
    let loaded = load(path, reading, |bytes, reading| {
        let loaded = format::load_public_with(bytes, reading)?;
        note(&files::name(Some(path)), &loaded, &loaded.key);
        loaded.key.check_modulus()?;
        steps::ended(|| format!("{}: its modulus is no prime", files::name(Some(path))));
        Ok(loaded)
    })
    .map_err(|failure| failure.or_advice("name the file of an RSA key: 'rsalab keygen --public-out FILE' makes one"))?;
    warn_of_encryption(path, &loaded, log);
    Ok(loaded)
}

/// The private key in a file, with its primes tested.
pub(crate) fn private(path: &Path, reading: &KeyFileOptions, log: Log) -> Result<Loaded<PrivateKey>> {
    let loaded = load(path, reading, |bytes, reading| {
        let loaded = format::load_private_with(bytes, reading)?;
        note(&files::name(Some(path)), &loaded, loaded.key.public());
        loaded.key.check_primes(ROUNDS_BEFORE_USE, &mut SystemRng)?;
        let rounds = number::counted(ROUNDS_BEFORE_USE, "round");
        steps::ended(|| format!("{}: its primes pass {rounds} of Miller–Rabin", files::name(Some(path))));
        Ok(loaded)
    })
    .map_err(|failure| {
        failure.or_advice("name the file of an RSA private key: 'rsalab keygen --out FILE' makes one")
    })?;
    warn_of_encryption(path, &loaded, log);
    Ok(loaded)
}

/// Tells what a key was read from, how long it is, and what it is for.
pub(crate) fn note<K>(name: &str, loaded: &Loaded<K>, public: &PublicKey) {
    steps::ended(|| {
        let (content, bits) = (loaded.content.name(), public.bits());
        let encryption = loaded.encryption.as_ref();
        let encryption = encryption.map_or_else(String::new, |how| format!(", decrypted ({how})"));
        let algorithm = loaded
            .usage
            .only()
            .map(|scheme| format!("by its algorithm {scheme} only"));
        let restricted = (!loaded.restrictions.is_none()).then(|| format!("by its file {}", loaded.restrictions));
        let uses: Vec<String> = algorithm.into_iter().chain(restricted).collect();
        let uses = match uses.is_empty() {
            true => "any use".to_owned(),
            false => uses.join(", "),
        };
        format!("{name}: read as {content} of {bits} bits{encryption}; for {uses}")
    });
}

/// Prints why the password of a file protects little.
fn warn_of_encryption<K>(path: &Path, loaded: &Loaded<K>, log: Log) {
    if let Some(encryption) = &loaded.encryption
        && let Some(weakness) = encryption_weakness(encryption)
    {
        let name = files::name(Some(path));
        log.note(format_args!("warning: {name}: {weakness}; {ENCRYPT_ANEW}"));
    }
}

/// Why an encryption protects little, with its name.
pub(crate) fn encryption_weakness(encryption: &Encryption) -> Option<String> {
    let weakness = encryption.weakness.as_ref()?;
    Some(format!("its encryption, {encryption}, protects little: {weakness}"))
}

const ENCRYPT_ANEW: &str = "'rsalab key convert FILE --format pkcs8-encrypted --out NEW' encrypts it anew";

/// How long the modulus of a key may be.
fn limits(options: &KeyFileOptions) -> Limits {
    match options.large_keys {
        true => Limits::NONE,
        false => Limits::QUICK,
    }
}

/// The kernel that works with the key.
pub(crate) fn backend(options: &KeyOptions) -> Result<CpuBackend> {
    kernels::backend(options.kernel.name())
}

/// Refuses a key whose file restricts it to another use, unless that is to be ignored.
pub(crate) fn check_use<K>(options: &KeyOptions, loaded: &Loaded<K>, purpose: Purpose<'_>) -> Result<()> {
    let name = files::name(Some(&options.key));
    if options.any_use {
        steps::ended(|| format!("{name}: its restrictions are passed over, as --any-use asks"));
        return Ok(());
    }
    loaded.restrictions.check(purpose).map_err(|error| {
        Failure::step(format!("cannot use {name}"), error)
            .advice("take another key; or add --any-use, if you know better than the file")
    })?;
    steps::ended(|| format!("{name}: its file allows this use"));
    Ok(())
}

/// A key whose algorithm and file allow the purpose, which is no signature.
pub(crate) fn of_any_scheme<K>(options: &KeyOptions, loaded: Loaded<K>, purpose: Purpose<'_>) -> Result<K> {
    check_scheme(options, &loaded, purpose)?;
    Ok(loaded.key)
}

/// Refuses a key whose algorithm or file does not allow the purpose, which is no signature.
pub(crate) fn check_scheme<K>(options: &KeyOptions, loaded: &Loaded<K>, purpose: Purpose<'_>) -> Result<()> {
    check_use(options, loaded, purpose)?;
    let name = files::name(Some(&options.key));
    let is_oaep = matches!(
        purpose,
        Purpose::Encrypt(Some(EncryptionScheme::Oaep(_))) | Purpose::Decrypt(Some(EncryptionScheme::Oaep(_)))
    );
    match &loaded.usage {
        Usage::Any => Ok(()),
        Usage::Oaep(_) if is_oaep && (options.any_use || loaded.usage.check(purpose).is_ok()) => Ok(()),
        Usage::Oaep(Some(own)) if is_oaep => {
            let what = format!(
                "the key {name} is for OAEP with {}, a mask of {} and a label of {} bytes",
                own.hash,
                own.mgf_hash,
                own.label.len()
            );
            Err(Failure::new(Class::Input, what)
                .advice("leave out --hash, --mgf-hash and --label; or add --any-use, if you know better than the file"))
        }
        Usage::Oaep(_) => {
            let what = format!("the key {name} is for OAEP encryption only");
            Err(Failure::new(Class::Input, what)
                .advice("use it with 'rsalab encrypt' or 'rsalab decrypt' and --scheme oaep, or take another key"))
        }
        _ => {
            let what = format!("the key {name} is for RSASSA-PSS signatures only");
            Err(Failure::new(Class::Input, what)
                .advice("use it with 'rsalab sign' or 'rsalab verify', or take another key"))
        }
    }
}

/// Prints what makes a key weak. It is used all the same; 'rsalab key check --strict' refuses it.
pub(crate) fn warn(options: &KeyOptions, weaknesses: &[Weakness], log: Log) {
    let name = files::name(Some(&options.key));
    for weakness in weaknesses {
        log.note(format_args!("warning: the key {name} is weak: {weakness}"));
    }
}

/// Reads a key from a file, and asks for its password if it needs one that no file holds.
pub(crate) fn load<K>(
    path: &Path,
    options: &KeyFileOptions,
    load: impl Fn(&[u8], &Reading<'_>) -> Result<K, Error>,
) -> Result<K> {
    let password_is_stdin = options.password_file.as_deref().is_some_and(files::is_dash);
    if files::is_dash(path) && password_is_stdin {
        let what = "the key and its password cannot both be standard input";
        return Err(Failure::new(Class::Usage, what).advice("name a file for one of them"));
    }
    let bytes = match files::is_dash(path) {
        true => format::read(Patient::new(io::stdin().lock())),
        false => File::open(path).and_then(|file| format::read(Patient::new(file))),
    }
    .map_err(|error| {
        let what = format!("cannot read the key {}", files::name(Some(path)));
        Failure::io(what, error)
    })?;
    let given = options.password_file.as_deref();
    let password = given.map(passwords::from_file).transpose()?;
    let reading = |password| Reading {
        password,
        limits: limits(options),
        name: options.kid.as_deref(),
    };
    let mut loaded = load(&bytes, &reading(password.as_ref().map(|password| &password[..])));
    if given.is_none() && matches!(loaded, Err(Error::PasswordMissing)) {
        let typed = passwords::of_key(path, "--password-file")?;
        loaded = load(&bytes, &reading(Some(&typed)));
    }
    let oddity = password.as_deref().and_then(|password| passwords::oddity(password));
    let name = files::name(Some(path));
    loaded.map_err(|error| unusable(&name, options, oddity, error))
}

/// A key that cannot be used, with what helps against it.
pub(crate) fn unusable(name: &str, options: &KeyFileOptions, oddity: Option<&str>, error: Error) -> Failure {
    let advice = match (&error, options.password_file.as_deref()) {
        (Error::PasswordWrong, Some(file)) => {
            let name = file.display();
            Some(match oddity {
                Some(oddity) => format!("the first line of {name} is not its password: {oddity}"),
                None => format!("the first line of {name} is not its password"),
            })
        }
        (Error::PasswordWrong, None) => Some("try again with another password".to_owned()),
        (Error::KeySize { bits, .. }, _)
            if !options.large_keys && (Limits::QUICK.most_bits + 1..=MAX_BITS).contains(bits) =>
        {
            Some("add --large-keys to use it nevertheless, which takes seconds".to_owned())
        }
        (Error::Several { .. }, _) => {
            Some("choose one with --kid, by a JSON Web Key's kid or by a name that 'rsalab key check' shows".to_owned())
        }
        _ => None,
    };
    let failure = Failure::step(format!("cannot use {name} as a key"), error);
    match advice {
        Some(advice) => failure.advice(advice),
        None => failure,
    }
}
