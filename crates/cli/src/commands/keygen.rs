//! `rsalab keygen`: one private key, by FIPS 186-5 A.1.3; or one that a measured engine made.

mod by_engine;

use std::{path::Path, time::Instant};

use rsalab_rsa::{
    Backend, Error, PrivateKey,
    format::{self, Encoding, PrivateFormat, PublicFormat},
    generate::{Generated, generate},
    random::SystemRng,
};
use serde::Serialize;

use crate::{
    arguments::{KeyFormat, Keygen},
    exit::{Class, Failure},
    files::{self, NewFile, Privacy},
    kernels,
    output::{self, Talk},
};

/// Keys below this size are refused unless asked for in so many words.
const LEAST_SECURE_BITS: usize = 2048;

/// What `--json` prints about the key: nothing that is secret.
#[derive(Serialize)]
struct Made<'a> {
    bits: usize,
    e: u64,
    /// The engine that made it, if not the program itself.
    engine: Option<&'a str>,
    kernel: &'a str,
    /// The work, where it is known.
    candidates: Option<u64>,
    tests: Option<u64>,
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

/// Makes a key and writes its files.
pub(crate) fn run(arguments: &Keygen, talk: Talk) -> Result<(), Failure> {
    let (private_path, public_path) = (&arguments.out, arguments.public_out.as_deref());
    check_size(arguments)?;
    let kernel = arguments.kernel.kernel.as_deref();
    if let (Some(_), Some(_)) = (&arguments.engine, kernel) {
        let what = "--kernel chooses a kernel of this program's own, and --engine has another engine make the key";
        return Err(Failure::new(Class::Usage, what).advice("leave one of them out"));
    }
    files::check_absent(private_path)?;
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
        None => make(arguments.bits, arguments.e, kernel)?,
    };
    let elapsed_ns = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);

    let (private_format, public_format, encoding) = arguments.format.parts();
    let private = format::encode_private(&key, private_format, encoding);
    let public = format::encode_public(key.public(), public_format, encoding);
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

    if arguments.json.json {
        return output::json(&Made {
            bits: key.bits(),
            e: arguments.e,
            engine: arguments.engine.as_deref(),
            kernel: &kernel,
            candidates,
            tests,
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

/// A key of this program's own.
fn make(bits: usize, e: u64, kernel: Option<&str>) -> Result<Origin, Failure> {
    let backend = kernels::backend(kernel)?;
    let Generated { key, counts } = generate(bits, e, &mut SystemRng, &backend).map_err(told)?;
    Ok(Origin {
        key,
        kernel: backend.kernel().to_owned(),
        candidates: Some(counts.candidates),
        tests: Some(counts.tests),
    })
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

impl KeyFormat {
    fn parts(self) -> (PrivateFormat, PublicFormat, Encoding) {
        match self {
            KeyFormat::Pkcs8Pem => (PrivateFormat::Pkcs8, PublicFormat::Spki, Encoding::Pem),
            KeyFormat::Pkcs8Der => (PrivateFormat::Pkcs8, PublicFormat::Spki, Encoding::Der),
            KeyFormat::Pkcs1Pem => (PrivateFormat::Pkcs1, PublicFormat::Pkcs1, Encoding::Pem),
            KeyFormat::Pkcs1Der => (PrivateFormat::Pkcs1, PublicFormat::Pkcs1, Encoding::Der),
        }
    }
}
