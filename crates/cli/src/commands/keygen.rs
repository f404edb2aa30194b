//! `rsalab keygen`: private keys, by FIPS 186-5 A.1.3; or one that a measured engine made.
//!
//! | question | file |
//! |---|---|
//! | one key, in files of its own | here |
//! | one key, of an engine's making | `by_engine` |
//! | many keys, over threads | `bulk` |
//! | where they lie, and how that is gone on with | `folder`, `archive`, `manifest` |

mod archive;
mod bulk;
mod by_engine;
mod folder;
mod manifest;

use std::{path::Path, time::Instant};

use rand_core::TryCryptoRng;
use rsalab_engines::Exponent;
use rsalab_rsa::{
    Backend, CpuBackend, Error, PrivateKey,
    generate::{Generated, Generation, PublicExponent, generate_strict_on},
    random::{InsecureStudySeed, SystemRng, WorkerRng},
};
use rsalab_study::plan::Seed;
use serde::Serialize;
use zeroize::Zeroizing;

use super::form::Form;
use crate::{
    arguments::{KeyFormat, Keygen},
    exit::{Class, Failure},
    files::{self, NewFile, Privacy},
    kernels,
    output::{self, Talk},
    passwords::{self, Password},
};

/// Keys below this size are refused unless asked for in so many words.
const LEAST_SECURE_BITS: usize = 2048;

/// What `--json` prints about the key: nothing that is secret.
#[derive(Serialize)]
struct Made<'a> {
    bits: usize,
    e: Exponent,
    /// The engine that made it, if not the program itself.
    engine: Option<&'a str>,
    kernel: &'a str,
    /// The work, where it is known.
    candidates: Option<u64>,
    tests: Option<u64>,
    /// Whether it was made from a seed, so that it protects nothing.
    insecure: bool,
    elapsed_ns: u64,
    private: String,
    public: Option<String>,
}

/// A key, and what is known of how it was made.
struct Origin {
    key: PrivateKey,
    kernel: String,
    candidates: Option<u64>,
    tests: Option<u64>,
}

/// Makes keys and writes their files.
pub(crate) fn run(arguments: &Keygen, talk: Talk) -> Result<(), Failure> {
    check_size(arguments)?;
    let is_insecure = arguments.insecure_seed.is_some();
    let form = Form::new(arguments.format, password(arguments)?).insecure(is_insecure);
    match arguments.count {
        Some(count) => bulk::run(arguments, count, &form, talk),
        None => one(arguments, &form, talk),
    }
}

/// The password, where the format takes one.
fn password(arguments: &Keygen) -> Result<Option<Password>, Failure> {
    let is_wanted = arguments.format == KeyFormat::Pkcs8Encrypted;
    match (&arguments.password_file, is_wanted) {
        (None, false) => Ok(None),
        (Some(_), false) => {
            let what = format!(
                "keys of the format {} have no password",
                arguments.format.name()
            );
            Err(Failure::new(Class::Usage, what).advice("add --format pkcs8-encrypted"))
        }
        (Some(path), true) => passwords::from_file(path).map(Some),
        (None, true) => passwords::new_one("--password-file").map(Some),
    }
}

/// Makes a key and writes its files.
fn one(arguments: &Keygen, form: &Form, talk: Talk) -> Result<(), Failure> {
    let (private_path, public_path) = (&arguments.out, arguments.public_out.as_deref());
    let many = [
        ("--public", arguments.public),
        ("--threads", arguments.threads.is_some()),
        ("--format jwk-set", arguments.format == KeyFormat::JwkSet),
    ];
    if let Some((option, _)) = many.iter().find(|(_, is_given)| *is_given) {
        let what = format!("{option} is for many keys");
        return Err(Failure::new(Class::Usage, what).advice("say how many with --count"));
    }
    let kernel = arguments.kernel.kernel.as_deref();
    if let (Some(_), Some(_)) = (&arguments.engine, kernel) {
        let what = "--kernel chooses a kernel of this program's own, and --engine has another engine make the key";
        return Err(Failure::new(Class::Usage, what).advice("leave one of them out"));
    }
    if !files::is_dash(private_path) {
        files::check_absent(private_path)?;
    } else if public_path.is_some() || arguments.json.json {
        let what = "a key on standard output has neither --public-out nor --json beside it";
        return Err(Failure::new(Class::Usage, what).advice("name a file with --out"));
    } else {
        output::check_open()?;
    }
    if let Some(path) = public_path {
        files::check_absent(path)?;
        if path == private_path {
            let what = format!("--out and --public-out both name {}", path.display());
            return Err(Failure::new(Class::Usage, what).advice("name a file for each"));
        }
    }

    let begun = Instant::now();
    let Origin {
        key,
        kernel,
        candidates,
        tests,
    } = match &arguments.engine {
        Some(engine) => by_engine::make(engine, arguments.bits, arguments.e)?,
        None => make(arguments, kernel)?,
    };
    let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);

    let private = form.private(&key)?;
    if files::is_dash(private_path) {
        let bytes = Zeroizing::new([&private, form.separator()].concat());
        output::deliver(&bytes)?;
        say_if_insecure(arguments, talk);
        return Ok(());
    }
    let public = form.public(key.public())?;
    let private_file = NewFile {
        path: private_path,
        bytes: &private,
        privacy: Privacy::Private,
    };
    let public_file = public_path.map(|path| NewFile {
        path,
        bytes: &public,
        privacy: Privacy::Public,
    });
    let files: Vec<NewFile<'_>> = [private_file].into_iter().chain(public_file).collect();
    files::create(&files)?;
    say_if_insecure(arguments, talk);

    if arguments.json.json {
        return output::json(&Made {
            bits: key.bits(),
            e: arguments.e,
            engine: arguments.engine.as_deref(),
            kernel: &kernel,
            candidates,
            tests,
            insecure: arguments.insecure_seed.is_some(),
            elapsed_ns,
            private: shown(private_path),
            public: public_path.map(shown),
        });
    }
    talk.say(format_args!(
        "a key of {} bits is in {}, readable by its owner only",
        key.bits(),
        private_path.display()
    ));
    Ok(())
}

/// Said even of one key, which has no name that says it.
fn say_if_insecure(arguments: &Keygen, talk: Talk) {
    if arguments.insecure_seed.is_some() {
        talk.say("it is INSECURE: whoever has the seed has the key");
    }
}

/// A key of this program's own.
fn make(arguments: &Keygen, kernel: Option<&str>) -> Result<Origin, Failure> {
    let (bits, e) = (arguments.bits, arguments.e);
    let backend = kernels::backend(kernel)?;
    let kernel = backend.kernel().to_owned();
    let made = match arguments.insecure_seed {
        None if arguments.strict => {
            generate_strict_on(bits, strict_exponent(e)?, &mut SystemRng, &backend, None)
        }
        // As the first of many.
        Some(Seed(seed)) => first(bits, e, backend, InsecureStudySeed::new(seed).stream(1)),
        None => WorkerRng::from_system().and_then(|rng| first(bits, e, backend, rng)),
    };
    let Generated { key, counts } = made.map_err(told)?;
    Ok(Origin {
        key,
        kernel,
        candidates: Some(counts.candidates),
        tests: Some(counts.tests),
    })
}

/// The exponent of keys by the letter of the standard, which has it chosen before the primes.
fn strict_exponent(e: Exponent) -> Result<u64, Failure> {
    e.fixed().ok_or_else(|| {
        let what = "--strict takes a number for the public exponent";
        Failure::new(Class::Usage, what).advice("leave out --strict, or name the exponent")
    })
}

fn in_bulk(e: Exponent) -> PublicExponent {
    match e {
        Exponent::Fixed(e) => PublicExponent::Fixed(e),
        Exponent::Random => PublicExponent::Random,
    }
}

fn first<R: TryCryptoRng>(
    bits: usize,
    e: Exponent,
    backend: CpuBackend,
    rng: R,
) -> Result<Generated, Error> {
    let generation = Generation::with_backend(bits, in_bulk(e), Box::new(backend))?;
    let mut keys = generation.generator(rng)?.keys(1)?;
    Ok(keys.remove(0))
}

/// JSON is UTF-8, a path need not be.
fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn check_size(arguments: &Keygen) -> Result<(), Failure> {
    if arguments.bits >= LEAST_SECURE_BITS || arguments.insecure_size {
        return Ok(());
    }
    let what = format!(
        "a key of {} bits protects nothing: {LEAST_SECURE_BITS} are the least",
        arguments.bits
    );
    Err(Failure::new(Class::Usage, what).advice("for a study, add --insecure-size"))
}

fn told(error: Error) -> Failure {
    let class = match error {
        Error::KeySize { .. } => Class::Usage,
        Error::Randomness { .. } => Class::Unavailable,
        _ => Class::Internal,
    };
    Failure::new(class, "no key was made").because(error)
}
