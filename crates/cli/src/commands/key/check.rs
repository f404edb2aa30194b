//! `rsalab key check`: a verdict on each key.

use std::path::Path;

use rsalab_rsa::{
    Error, PrivateKey, PublicKey,
    format::{self, Loaded, Usage},
    keys::Weakness,
    primality::rounds_in_a_second,
    random::SystemRng,
};
use serde::Serialize;

use crate::{
    arguments::KeyCheck,
    blocklist::Blocklists,
    exit::{self, Class, Failure, Result},
    keys,
    output::{self, Log},
    printable::printable,
    table::Table,
};

/// What is known of a key: nothing that is secret.
#[derive(Serialize)]
struct Verdict {
    file: String,
    /// `good`; `weak`: well formed, and protects less than its length promises; `wrong`: an RSA key whose numbers do not make one;
    /// `unsupported`: a key, and maybe a good one, that rsalab does not work with; `unreadable`: no key that can be read, but another file,
    /// a damaged one, one whose password is not known, or none at all.
    verdict: &'static str,
    /// Why it is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(flatten)]
    known: Option<Known>,
    #[serde(skip)]
    failure: Option<Failure>,
}

#[derive(Serialize)]
struct Known {
    holds: &'static str,
    private: bool,
    bits: usize,
    /// Of a private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    primes: Option<usize>,
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
    /// How the file keeps the key from whoever does not know a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption: Option<String>,
    /// Why that protects little, if it does. It says nothing of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption_weakness: Option<String>,
}

#[derive(Serialize)]
struct Weak {
    name: &'static str,
    what: String,
}

/// Checks each key, and prints a verdict on it.
pub(super) fn run(arguments: &KeyCheck, log: Log) -> Result<()> {
    let blocklists = Blocklists::open(&arguments.blocklist)?;
    if arguments.strict && blocklists.is_empty() {
        log.note(
            "no list of known weak keys is installed here (Debian's openssl-blacklist, openssh-blacklist): none was searched",
        );
    }
    let check = Check {
        arguments,
        blocklists,
    };
    let files = arguments.files.iter();
    let verdicts: Vec<Verdict> = files.map(|file| check.verdict(file)).collect();
    let printed = output::print(arguments.json.json, &verdicts, || shown(&verdicts));
    let failures = verdicts.into_iter().map(|verdict| verdict.failure);
    exit::of_several(failures, "refused", "key").and(printed)
}

const REPLACE: &str = "do not use it: 'rsalab keygen' makes another";

/// What keys are checked by.
struct Check<'a> {
    arguments: &'a KeyCheck,
    blocklists: Blocklists,
}

impl Check<'_> {
    /// Every file gets a verdict, whatever is in it, and whether it can be read or not.
    fn verdict(&self, file: &Path) -> Verdict {
        let name = file.display().to_string();
        let reading = &self.arguments.reading;
        let (verdict, fault, known, failure) = match keys::load(file, reading, |bytes, password| {
            self.examine(bytes, password)
        }) {
            Ok(Ok(known)) => match known.weaknesses.first() {
                None => ("good", None, Some(known), None),
                Some(weak) => {
                    let what = format!("the key {name} is weak: {}", weak.what);
                    let failure = Failure::new(Class::Input, what).advice(REPLACE);
                    let failure = self.arguments.strict.then_some(failure);
                    ("weak", None, Some(known), failure)
                }
            },
            Ok(Err(error)) => {
                let what = format!("the key {name} is wrong");
                let fault = error.to_string();
                let failure = Failure::new(Class::Input, what).advice(REPLACE);
                ("wrong", Some(fault), None, Some(failure.because(error)))
            }
            Err(failure) => {
                let standing = match failure.cause_as::<Error>() {
                    Some(Error::Unsupported { .. } | Error::KeySize { .. }) => "unsupported",
                    _ => "unreadable",
                };
                (standing, Some(failure.sentence()), None, Some(failure))
            }
        };
        Verdict {
            file: name,
            verdict,
            fault,
            known,
            failure,
        }
    }

    /// What is known of a key; or what is wrong with it, where it is one.
    fn examine(
        &self,
        bytes: &[u8],
        password: Option<&[u8]>,
    ) -> Result<Result<Known, Error>, Error> {
        let limits = keys::limits(&self.arguments.reading);
        let examined = match format::load_private_within(bytes, password, limits) {
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
        match examined {
            Err(error @ Error::InvalidKey { .. }) => Ok(Err(error)),
            examined => examined.map(Ok),
        }
    }

    fn private(&self, loaded: &Loaded<PrivateKey>) -> Result<Known, Error> {
        let key = &loaded.key;
        let usual = rounds_in_a_second(key.bits());
        let rounds = self.arguments.rounds.unwrap_or(usual);
        key.check_primes(rounds, &mut SystemRng)?;
        let known = self.known(key.public(), loaded, key.weaknesses(), Some(rounds));
        Ok(Known {
            primes: Some(key.primes()),
            ..known
        })
    }

    fn public(&self, loaded: &Loaded<PublicKey>) -> Result<Known, Error> {
        let key = &loaded.key;
        key.check_modulus()?;
        Ok(self.known(key, loaded, key.weaknesses(), None))
    }

    fn known<K>(
        &self,
        key: &PublicKey,
        loaded: &Loaded<K>,
        found: Vec<Weakness>,
        rounds: Option<usize>,
    ) -> Known {
        let known = found
            .iter()
            .map(|weakness| (weakness.name(), weakness.to_string()));
        let listed = self.blocklists.list_of(key).map(|list| {
            let list = list.display();
            (
                "known-weak",
                format!("it is in the list of known weak keys {list}"),
            )
        });
        let weaknesses = known.chain(listed);
        Known {
            holds: loaded.content.name(),
            private: rounds.is_some(),
            bits: key.bits(),
            primes: None,
            e: hex::encode(key.e()),
            usage: match (loaded.usage.only(), loaded.restrictions.is_none()) {
                (_, true) => usage_in_words(&loaded.usage),
                (None, false) => loaded.restrictions.to_string(),
                (Some(_), false) => {
                    let usage = usage_in_words(&loaded.usage);
                    format!("{usage}; {}", loaded.restrictions)
                }
            },
            fingerprint: hex::encode(format::fingerprint(key)),
            rounds,
            weaknesses: weaknesses.map(|(name, what)| Weak { name, what }).collect(),
            encryption: loaded.encryption.as_ref().map(ToString::to_string),
            encryption_weakness: loaded
                .encryption
                .as_ref()
                .and_then(keys::encryption_weakness),
        }
    }
}

fn usage_in_words(usage: &Usage) -> String {
    match usage {
        Usage::Any => "any".to_owned(),
        Usage::Pss(None) => "pss".to_owned(),
        Usage::Pss(Some(pss)) => {
            let salt = usage.least_salt();
            format!("pss {}, mask {}, salt {salt}", pss.hash, pss.mgf_hash)
        }
        Usage::Oaep(None) => "oaep".to_owned(),
        Usage::Oaep(Some(oaep)) => {
            let label = oaep.label.len();
            format!(
                "oaep {}, mask {}, label of {label} bytes",
                oaep.hash, oaep.mgf_hash
            )
        }
        _ => "another".to_owned(),
    }
}

fn shown(verdicts: &[Verdict]) -> String {
    let known = |verdict: &Verdict, cell: fn(&Known) -> String| {
        verdict.known.as_ref().map_or_else(|| "–".to_owned(), cell)
    };
    let table = Table::of(verdicts)
        .left("file", |verdict| verdict.file.clone())
        .verdict("verdict", |verdict| verdict.verdict.to_owned())
        .right("bits", |verdict| {
            known(verdict, |known| known.bits.to_string())
        })
        .right("primes", |verdict| {
            let primes = verdict.known.as_ref().and_then(|known| known.primes);
            primes.map_or_else(|| "–".to_owned(), |primes| primes.to_string())
        })
        .right("e", |verdict| {
            known(verdict, |known| short_exponent(&known.e))
        })
        .left("use", |verdict| known(verdict, |known| known.usage.clone()))
        .left("holds", |verdict| {
            known(verdict, |known| known.holds.to_owned())
        })
        .left("fingerprint", |verdict| {
            known(verdict, |known| known.fingerprint.clone())
        })
        .render();
    let mut remarks = String::new();
    for verdict in verdicts {
        let weaknesses = verdict.known.iter().flat_map(|known| &known.weaknesses);
        let encryption = verdict
            .known
            .iter()
            .flat_map(|known| &known.encryption_weakness);
        let remarks_of_file = weaknesses.map(|weak| &weak.what).chain(encryption);
        for what in remarks_of_file.chain(&verdict.fault) {
            remarks += &format!("{}: {}\n", printable(&verdict.file), printable(what));
        }
    }
    match remarks.is_empty() {
        true => table,
        false => format!("{table}\n{remarks}"),
    }
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
