//! `rsalab key`: what a key is, its public half, and the same key in another format.

use std::path::Path;

use rsalab_rsa::{
    CpuBackend, Error, PrivateKey, PublicKey,
    format::{self, Loaded, Usage},
    keys::Weakness,
    primality::ROUNDS,
    random::SystemRng,
};
use serde::Serialize;
use zeroize::Zeroizing;

use super::{form::Form, inputs::Destination};
use crate::{
    arguments::{Key, KeyCheck, KeyConvert, KeyFormat, KeyOptions, KeyPublic},
    exit::{Class, Failure},
    files::Privacy,
    keys,
    output::{self, Talk},
    passwords, quantity,
    table::{Align, Table},
};

/// Does what was typed.
pub(crate) fn run(arguments: &Key, talk: Talk) -> Result<(), Failure> {
    match arguments {
        Key::Check(arguments) => check(arguments),
        Key::Public(arguments) => public(arguments),
        Key::Convert(arguments) => convert(arguments, talk),
    }
}

/// What is known of a key: nothing that is secret.
#[derive(Serialize)]
struct Verdict {
    file: String,
    verdict: Standing,
    /// Why it is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(flatten)]
    known: Option<Known>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Good,
    Weak,
    Wrong,
}

#[derive(Serialize)]
struct Known {
    holds: &'static str,
    private: bool,
    bits: usize,
    /// The public exponent, in hexadecimal.
    e: String,
    #[serde(rename = "use")]
    usage: String,
    /// SHA-256 of the SubjectPublicKeyInfo.
    fingerprint: String,
    weaknesses: Vec<Weak>,
}

#[derive(Serialize)]
struct Weak {
    name: &'static str,
    what: String,
}

impl From<Weakness> for Weak {
    fn from(weakness: Weakness) -> Self {
        Weak {
            name: weakness.name(),
            what: weakness.to_string(),
        }
    }
}

fn check(arguments: &KeyCheck) -> Result<(), Failure> {
    let verdicts = arguments
        .files
        .iter()
        .map(|file| judge(file, arguments.password_file.as_deref()))
        .collect::<Result<Vec<_>, _>>()?;
    match arguments.json.json {
        true => output::json(&verdicts)?,
        false => output::data(shown(&verdicts).as_bytes())?,
    }
    let is_refused = |verdict: &&Verdict| match verdict.verdict {
        Standing::Wrong => true,
        Standing::Weak => arguments.strict,
        Standing::Good => false,
    };
    let refused: Vec<&Verdict> = verdicts.iter().filter(is_refused).collect();
    let Some(first) = refused.first() else {
        return Ok(());
    };
    let why = match (&first.fault, &first.known) {
        (Some(fault), _) => fault.clone(),
        (None, Some(known)) => known
            .weaknesses
            .first()
            .map_or_else(String::new, |weak| weak.what.clone()),
        (None, None) => String::new(),
    };
    let what = match verdicts.len() {
        1 => format!("the key {} is refused: {why}", first.file),
        all => format!(
            "{} of {} refused, the first {}: {why}",
            refused.len(),
            quantity::counted(all, "key"),
            first.file
        ),
    };
    Err(Failure::new(Class::Input, what).advice("do not use it: 'rsalab keygen' makes another"))
}

/// A key in a file that can be read gets a verdict, whatever is in it.
fn judge(file: &Path, password_file: Option<&Path>) -> Result<Verdict, Failure> {
    let name = file.display().to_string();
    let found = keys::load(file, password_file, |bytes, password| {
        match format::load_private(bytes, password) {
            Ok(loaded) => private_known(&loaded).map(Ok),
            Err(error @ (Error::Password { .. } | Error::Randomness { .. })) => Err(error),
            Err(as_private) => match format::load_public(bytes, password) {
                Ok(loaded) => public_known(&loaded).map(Ok),
                // What is wrong with a private key is wrong with its public half too, mostly.
                Err(_) => Ok(Err(as_private)),
            },
        }
        .or_else(|error| match error {
            Error::InvalidKey { .. } | Error::KeySize { .. } | Error::Format { .. } => {
                Ok(Err(error))
            }
            error => Err(error),
        })
    })?;
    Ok(match found {
        Ok(known) => Verdict {
            file: name,
            verdict: match known.weaknesses.is_empty() {
                true => Standing::Good,
                false => Standing::Weak,
            },
            fault: None,
            known: Some(known),
        },
        Err(error) => Verdict {
            file: name,
            verdict: Standing::Wrong,
            fault: Some(error.to_string()),
            known: None,
        },
    })
}

fn private_known(loaded: &Loaded<PrivateKey>) -> Result<Known, Error> {
    loaded
        .key
        .check_primes(ROUNDS, &mut SystemRng, &CpuBackend::auto())?;
    Ok(known(
        loaded.key.public(),
        loaded,
        true,
        loaded.key.weaknesses(),
    ))
}

fn public_known(loaded: &Loaded<PublicKey>) -> Result<Known, Error> {
    loaded
        .key
        .check_modulus(&mut SystemRng, &CpuBackend::auto())?;
    Ok(known(&loaded.key, loaded, false, loaded.key.weaknesses()))
}

fn known<K>(
    key: &PublicKey,
    loaded: &Loaded<K>,
    private: bool,
    weaknesses: Vec<Weakness>,
) -> Known {
    Known {
        holds: loaded.content.name(),
        private,
        bits: key.bits(),
        e: hex::encode(key.e()),
        usage: usage_in_words(loaded.usage),
        fingerprint: hex::encode(format::fingerprint(key)),
        weaknesses: weaknesses.into_iter().map(Weak::from).collect(),
    }
}

fn usage_in_words(usage: Usage) -> String {
    use rsalab_rsa::scheme::SaltLen;
    match usage {
        Usage::Any => "any".to_owned(),
        Usage::Pss(None) => "pss".to_owned(),
        Usage::Pss(Some(pss)) => {
            let salt = match pss.salt_len {
                SaltLen::Bytes(bytes) => bytes,
                _ => pss.hash.digest_len(),
            };
            format!("pss {}, mask {}, salt {salt}", pss.hash, pss.mgf_hash)
        }
    }
}

fn shown(verdicts: &[Verdict]) -> String {
    let mut table = Table::new([
        ("file", Align::Left),
        ("verdict", Align::Left),
        ("bits", Align::Right),
        ("e", Align::Right),
        ("use", Align::Left),
        ("holds", Align::Left),
        ("fingerprint", Align::Left),
    ]);
    let mut remarks = String::new();
    for verdict in verdicts {
        let standing = format!("{:?}", verdict.verdict).to_lowercase();
        match &verdict.known {
            Some(known) => {
                table.row([
                    verdict.file.clone(),
                    standing,
                    known.bits.to_string(),
                    short_exponent(&known.e),
                    known.usage.clone(),
                    known.holds.to_owned(),
                    known.fingerprint[..16].to_owned(),
                ]);
                for weak in &known.weaknesses {
                    remarks += &format!("{}: {}\n", verdict.file, weak.what);
                }
            }
            None => {
                let none = || "–".to_owned();
                table.row([
                    verdict.file.clone(),
                    standing,
                    none(),
                    none(),
                    none(),
                    none(),
                    none(),
                ]);
            }
        }
        if let Some(fault) = &verdict.fault {
            remarks += &format!("{}: {fault}\n", verdict.file);
        }
    }
    match remarks.is_empty() {
        true => table.render(),
        false => format!("{}\n{remarks}", table.render()),
    }
}

/// The exponent as people know it, or how long it is.
fn short_exponent(hex: &str) -> String {
    u64::from_str_radix(hex, 16).map_or_else(
        |_| format!("{} bits", 4 * hex.trim_start_matches('0').len()),
        |e| e.to_string(),
    )
}

fn public(arguments: &KeyPublic) -> Result<(), Failure> {
    let out = Destination::of(arguments.out.as_deref())?;
    refuse_set(arguments.format)?;
    let loaded = keys::public(&KeyOptions {
        key: arguments.file.clone(),
        password_file: arguments.password_file.clone(),
    })?;
    let form = Form::new(arguments.format, None).with_usage(loaded.usage);
    let bytes = form.public(&loaded.key)?;
    match arguments.format {
        KeyFormat::Pkcs8Der | KeyFormat::Pkcs1Der => out.check_terminal("the key")?,
        _ => {}
    }
    out.write(&with_line_end(&bytes, arguments.format), Privacy::Public)
}

fn convert(arguments: &KeyConvert, talk: Talk) -> Result<(), Failure> {
    let out = Destination::of(Some(&arguments.out))?;
    let is_encrypted = arguments.format == KeyFormat::Pkcs8Encrypted;
    if arguments.new_password_file.is_some() && !is_encrypted {
        let what = format!(
            "keys of the format {} have no password",
            arguments.format.name()
        );
        return Err(Failure::new(Class::Usage, what).advice("add --format pkcs8-encrypted"));
    }
    refuse_set(arguments.format)?;
    let loaded = keys::private(&KeyOptions {
        key: arguments.file.clone(),
        password_file: arguments.password_file.clone(),
    })?;
    let password = match (&arguments.new_password_file, is_encrypted) {
        (Some(path), _) => Some(passwords::from_file(path)?),
        (None, true) => Some(passwords::new_one("--new-password-file")?),
        (None, false) => None,
    };
    let form = Form::new(arguments.format, password).with_usage(loaded.usage);
    let bytes = form.private(&loaded.key)?;
    out.write(&with_line_end(&bytes, arguments.format), Privacy::Private)?;
    if let Destination::File(path) = out {
        talk.say(format_args!(
            "{} is in {}, readable by its owner only",
            arguments.file.display(),
            path.display()
        ));
    }
    Ok(())
}

/// JSON on one line ends it in a file.
fn with_line_end(bytes: &[u8], format: KeyFormat) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(match format {
        KeyFormat::Jwk => [bytes, b"\n"].concat(),
        _ => bytes.to_vec(),
    })
}

fn refuse_set(format: KeyFormat) -> Result<(), Failure> {
    match format {
        KeyFormat::JwkSet => Err(
            Failure::new(Class::Usage, "--format jwk-set is for many keys")
                .advice("take --format jwk"),
        ),
        _ => Ok(()),
    }
}
