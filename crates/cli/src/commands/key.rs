//! `rsalab key`: what a key is, its public half, and the same key in another format.

use std::path::Path;

use rsalab_rsa::{
    Error, PrivateKey, PublicKey,
    format::{self, Loaded, Usage},
    keys::Weakness,
    primality::rounds_in_a_second,
    random::SystemRng,
};
use serde::Serialize;
use zeroize::Zeroizing;

use super::{form::Form, inputs::Destination};
use rsalab_study::number;

use crate::{
    arguments::{Key, KeyCheck, KeyConvert, KeyFormat, KeyOptions, KeyPublic},
    blocklist::Blocklists,
    exit::{Class, Failure},
    files::Privacy,
    keys,
    output::{self, Talk, printable},
    passwords,
    table::{Align, Table},
};

/// Does what was typed.
pub(crate) fn run(arguments: &Key, talk: Talk) -> Result<(), Failure> {
    match arguments {
        Key::Check(arguments) => check(arguments, talk),
        Key::Public(arguments) => public(arguments, talk),
        Key::Convert(arguments) => convert(arguments, talk),
    }
}

/// What is known of a key: nothing that is secret.
#[derive(Serialize)]
struct Verdict {
    file: String,
    verdict: Standing,
    /// Why it is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(flatten)]
    known: Option<Known>,
    #[serde(skip)]
    failure: Option<Failure>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Good,
    /// Well formed, and protects less than its length promises.
    Weak,
    /// An RSA key whose numbers do not make one.
    Wrong,
    /// A key, and maybe a good one, that rsalab does not work with.
    Unsupported,
    /// No key that can be read: another file, a damaged one, one whose password is not known, or none at all.
    Unreadable,
}

impl Standing {
    fn name(self) -> &'static str {
        match self {
            Standing::Good => "good",
            Standing::Weak => "weak",
            Standing::Wrong => "wrong",
            Standing::Unsupported => "unsupported",
            Standing::Unreadable => "unreadable",
        }
    }
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
    /// Rounds of the Miller–Rabin test that each prime of a private key passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<usize>,
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

fn check(arguments: &KeyCheck, talk: Talk) -> Result<(), Failure> {
    let blocklists = Blocklists::open(&arguments.blocklist)?;
    if arguments.strict && blocklists.is_empty() {
        talk.say(
            "no list of known weak keys is installed here (Debian's openssl-blacklist, openssh-blacklist): none was looked in",
        );
    }
    let judge = Judge {
        arguments,
        blocklists,
    };
    let verdicts: Vec<Verdict> = arguments
        .files
        .iter()
        .map(|file| judge.verdict(file))
        .collect();
    let printed = match arguments.json.json {
        true => output::json(&verdicts),
        false => output::report(&shown(&verdicts)),
    };
    conclude(verdicts, arguments.strict).and(printed)
}

/// One verdict of all: what is refused, and why the first of them is.
fn conclude(mut verdicts: Vec<Verdict>, strict: bool) -> Result<(), Failure> {
    let all = verdicts.len();
    verdicts.retain(|verdict| match verdict.verdict {
        Standing::Good => false,
        Standing::Weak => strict,
        Standing::Wrong | Standing::Unsupported | Standing::Unreadable => true,
    });
    let refused = verdicts.len();
    // A key that is wrong or weak weighs more than a file that cannot be read.
    let class = |verdict: &Verdict| match &verdict.failure {
        Some(failure) => failure.class(),
        None => Class::Input,
    };
    let Some(gravest) = verdicts.iter().map(class).max() else {
        return Ok(());
    };
    let place = verdicts
        .iter()
        .position(|verdict| class(verdict) == gravest);
    let first = verdicts.swap_remove(place.expect("one of them is the gravest"));
    let failure = match (first.failure, &first.known) {
        (Some(failure), _) => failure,
        (None, known) => {
            let weak = known.iter().flat_map(|known| &known.weaknesses).next();
            let why = weak.map_or_else(String::new, |weak| weak.what.clone());
            let what = format!("the key {} is weak: {why}", first.file);
            Failure::new(Class::Input, what).advice(REPLACE)
        }
    };
    Err(match all {
        1 => failure,
        _ => {
            let keys = number::counted(all, "key");
            failure.among(&format!("{refused} of {keys} refused, the first"))
        }
    })
}

const REPLACE: &str = "do not use it: 'rsalab keygen' makes another";

/// What keys are judged by.
struct Judge<'a> {
    arguments: &'a KeyCheck,
    blocklists: Blocklists,
}

impl Judge<'_> {
    /// Every file gets a verdict, whatever is in it, and whether it can be read or not.
    fn verdict(&self, file: &Path) -> Verdict {
        let name = file.display().to_string();
        let password_file = self.arguments.password_file.as_deref();
        match keys::load(file, password_file, |bytes, password| {
            self.judge(bytes, password)
        }) {
            Ok(Ok(known)) => Verdict {
                file: name,
                verdict: match known.weaknesses.is_empty() {
                    true => Standing::Good,
                    false => Standing::Weak,
                },
                fault: None,
                known: Some(known),
                failure: None,
            },
            Ok(Err(error)) => {
                let what = format!("the key {name} is wrong");
                let failure = Failure::new(Class::Input, what).advice(REPLACE);
                Verdict::refused(
                    name,
                    Standing::Wrong,
                    error.to_string(),
                    failure.because(error),
                )
            }
            Err(failure) => {
                let standing = match failure.cause_as::<Error>() {
                    Some(Error::Unsupported { .. } | Error::KeySize { .. }) => {
                        Standing::Unsupported
                    }
                    _ => Standing::Unreadable,
                };
                let fault = failure.sentence();
                Verdict::refused(name, standing, fault, failure)
            }
        }
    }

    /// What is known of a key; or what is wrong with it, where it is one.
    fn judge(&self, bytes: &[u8], password: Option<&[u8]>) -> Result<Result<Known, Error>, Error> {
        let limits = self.arguments.size.limits();
        let judged = match format::load_private_within(bytes, password, limits) {
            Ok(loaded) => self.private(&loaded),
            // What is no private key may be a public one; any other fault of a private key is the answer.
            Err(as_private @ Error::Format { .. }) => {
                match format::load_public_within(bytes, password, limits) {
                    Ok(loaded) => self.public(&loaded),
                    Err(Error::Format { .. }) => Err(as_private),
                    Err(as_public) => Err(as_public),
                }
            }
            Err(error) => Err(error),
        };
        match judged {
            Err(error @ Error::InvalidKey { .. }) => Ok(Err(error)),
            judged => judged.map(Ok),
        }
    }

    fn private(&self, loaded: &Loaded<PrivateKey>) -> Result<Known, Error> {
        let key = &loaded.key;
        let usual = rounds_in_a_second(key.bits());
        let rounds = self.arguments.rounds.unwrap_or(usual);
        key.check_primes(rounds, &mut SystemRng)?;
        let known = self.known(key.public(), loaded, key.weaknesses());
        Ok(Known {
            private: true,
            rounds: Some(rounds),
            ..known
        })
    }

    fn public(&self, loaded: &Loaded<PublicKey>) -> Result<Known, Error> {
        let key = &loaded.key;
        key.check_modulus()?;
        Ok(self.known(key, loaded, key.weaknesses()))
    }

    fn known<K>(&self, key: &PublicKey, loaded: &Loaded<K>, found: Vec<Weakness>) -> Known {
        let mut weaknesses: Vec<Weak> = found.into_iter().map(Weak::from).collect();
        weaknesses.extend(self.blocklists.list_of(key).map(|list| Weak {
            name: "known-weak",
            what: format!("it is in the list of known weak keys {}", list.display()),
        }));
        Known {
            holds: loaded.content.name(),
            private: false,
            bits: key.bits(),
            e: hex::encode(key.e()),
            usage: match loaded.restrictions.is_none() {
                true => usage_in_words(loaded.usage),
                false => loaded.restrictions.to_string(),
            },
            fingerprint: hex::encode(format::fingerprint(key)),
            rounds: None,
            weaknesses,
        }
    }
}

impl Verdict {
    fn refused(file: String, verdict: Standing, fault: String, failure: Failure) -> Verdict {
        Verdict {
            file,
            verdict,
            fault: Some(fault),
            known: None,
            failure: Some(failure),
        }
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
        let standing = verdict.verdict.name().to_owned();
        match &verdict.known {
            Some(known) => {
                table.row([
                    verdict.file.clone(),
                    standing,
                    known.bits.to_string(),
                    short_exponent(&known.e),
                    known.usage.clone(),
                    known.holds.to_owned(),
                    known.fingerprint.clone(),
                ]);
                for weak in &known.weaknesses {
                    remarks += &remark(&verdict.file, &weak.what);
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
            remarks += &remark(&verdict.file, fault);
        }
    }
    match remarks.is_empty() {
        true => table.render(),
        false => format!("{}\n{remarks}", table.render()),
    }
}

fn remark(file: &str, what: &str) -> String {
    format!("{}: {}\n", printable(file), printable(what))
}

/// The exponent as people know it, or how long it is.
fn short_exponent(hex: &str) -> String {
    u64::from_str_radix(hex, 16).map_or_else(|_| format!("{} bits", bits(hex)), |e| e.to_string())
}

/// Bits of a number in hexadecimal.
fn bits(hex: &str) -> usize {
    let digits = hex.trim_start_matches('0');
    let first = digits.chars().next().and_then(|digit| digit.to_digit(16));
    first.map_or(0, |first| {
        4 * digits.len() - (first.leading_zeros() as usize - 28)
    })
}

fn public(arguments: &KeyPublic, talk: Talk) -> Result<(), Failure> {
    let out = Destination::of(arguments.out.as_deref())?;
    refuse_set(arguments.format)?;
    let loaded = keys::public(&KeyOptions {
        key: arguments.file.clone(),
        password_file: arguments.password_file.clone(),
        size: arguments.size,
    })?;
    let form = Form::new(arguments.format, None).of(&loaded);
    form.say_what_is_lost(talk);
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
        size: arguments.size,
    })?;
    let password = match (&arguments.new_password_file, is_encrypted) {
        (Some(path), _) => Some(passwords::from_file(path)?),
        (None, true) => Some(passwords::new_one("--new-password-file")?),
        (None, false) => None,
    };
    let form = Form::new(arguments.format, password).of(&loaded);
    form.say_what_is_lost(talk);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponent_is_as_long_as_it_is() {
        assert_eq!(short_exponent("010001"), "65537");
        assert_eq!(
            short_exponent(&format!("02{}", "00".repeat(31))),
            "250 bits"
        );
        assert_eq!(
            short_exponent(&format!("08{}", "00".repeat(31))),
            "252 bits"
        );
        assert_eq!(short_exponent(&"ff".repeat(32)), "256 bits");
    }
}
