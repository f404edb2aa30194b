//! `rsalab key check`: a verdict on each key.

mod verdict;

use std::path::Path;

use rsalab_audit::{
    Issue,
    key::{faults, issues},
    known::Lists,
    sharing::{Sharing, shared},
};
use rsalab_rsa::{
    Error, PublicKey,
    format::{self, Found, Key, Loaded, Place},
    primality::rounds_in_a_second,
};
use rsalab_study::number;

use self::verdict::{Known, Names, Verdict, Weak};
use crate::{
    arguments::KeyCheck,
    exit::{self, Class, Failure, Result},
    keys, lists,
    output::{self, Log},
    steps,
};

/// Checks each key, and prints a verdict on it.
pub(super) fn run(arguments: &KeyCheck, log: Log) -> Result<()> {
    let lists = lists::open(&arguments.blocklist)?;
    if arguments.strict && lists.is_empty() {
        log.note(
            "no list of known weak keys is installed here (Debian's openssl-blacklist, openssh-blacklist): none was searched",
        );
    }
    let check = Check { arguments, lists };
    let files = arguments.files.iter();
    let mut verdicts: Vec<Verdict> = files.flat_map(|file| check.verdicts(file)).collect();
    find_shared(&mut verdicts);
    for verdict in &mut verdicts {
        verdict.judge(arguments.strict);
    }
    let printed = output::print(arguments.json.json, &verdicts, || verdict::shown(&verdicts));
    let failures = verdicts.into_iter().map(|verdict| verdict.failure);
    exit::of_several(failures, "refused", "key").and(printed)
}

/// Adds what the keys of one call show together: a prime that two of them share is a divisor of both moduli that
/// anybody finds.
fn find_shared(verdicts: &mut [Verdict]) {
    let there: Vec<(usize, &PublicKey)> = verdicts
        .iter()
        .enumerate()
        .filter_map(|(place, verdict)| Some((place, verdict.key.as_ref()?)))
        .collect();
    let keys: Vec<&PublicKey> = there.iter().map(|(_, key)| *key).collect();
    let found = shared(&keys, 1);
    let places: Vec<usize> = there.iter().map(|(place, _)| *place).collect();
    for (place, shared) in found {
        let name = verdicts[places[shared.other]].name();
        let weak = match shared.sharing {
            Sharing::Factor => Weak {
                name: "shared-prime",
                what: match shared.more {
                    0 => format!(
                        "it shares a prime with the key {name}: whoever has both public keys computes both private ones"
                    ),
                    more => format!(
                        "it shares a prime with the key {name}, and with {}: whoever has two of these public keys computes their private ones",
                        number::counted(more, "other")
                    ),
                },
            },
            Sharing::Modulus => Weak {
                name: "shared-modulus",
                what: match shared.more {
                    0 => format!(
                        "it has the modulus of the key {name} and another public exponent: the owner of either computes the other"
                    ),
                    more => format!(
                        "it has the modulus of the key {name}, and of {}, with another public exponent: the owner of one computes the rest",
                        number::counted(more, "other")
                    ),
                },
            },
        };
        if let Some(known) = &mut verdicts[places[place]].known {
            known.weaknesses.push(weak);
        }
    }
}

/// Options and lists that keys are checked by.
struct Check<'a> {
    arguments: &'a KeyCheck,
    lists: Lists,
}

impl Check<'_> {
    /// Every key of a file gets a verdict, whatever is in it, and whether it can be read or not.
    fn verdicts(&self, file: &Path) -> Vec<Verdict> {
        let name = file.display().to_string();
        let reading = &self.arguments.reading;
        let found = keys::load(file, reading, |bytes, reading| {
            match format::load_each(bytes, reading) {
                // The numbers of the only key do not make one: that is a verdict, and no failure to read it.
                Err(error @ Error::InvalidKey { .. }) => Ok(vec![Found {
                    place: Place::Whole,
                    is_foreign: false,
                    key: Err(error),
                    public: None,
                }]),
                found => found,
            }
        });
        match found {
            Ok(found) => {
                let has_rsa = found.iter().any(|found| !found.is_foreign);
                let verdicts = found.into_iter().map(|found| {
                    let is_passed_over = found.is_foreign && has_rsa;
                    let verdict = self.verdict(&name, found);
                    match is_passed_over {
                        true => verdict.without_failure(),
                        false => verdict,
                    }
                });
                verdicts.collect()
            }
            Err(failure) => vec![Verdict::refused(name, Place::Whole, failure)],
        }
    }

    fn verdict(&self, name: &str, found: Found) -> Verdict {
        let place = found.place;
        let called = verdict::called(name, place);
        let examined = found.key.and_then(|loaded| {
            keys::note(&called, &loaded, loaded.key.public());
            let known = self.examine(&loaded)?;
            note_examined(&called, &known);
            Ok((known, loaded.key.public().clone()))
        });
        match examined {
            Ok((known, key)) => Verdict::of(name.to_owned(), place, known, key),
            Err(error @ Error::InvalidKey { .. }) => Verdict::wrong(name.to_owned(), place, error),
            Err(error) => {
                let failure = keys::unusable(&called, &self.arguments.reading, None, error);
                Verdict::refused(name.to_owned(), place, failure)
            }
        }
    }

    /// The facts of a key; or what is wrong with it.
    fn examine(&self, loaded: &Loaded<Key>) -> Result<Known, Error> {
        let is_private = matches!(loaded.key, Key::Private(_));
        let rounds = self
            .arguments
            .rounds
            .unwrap_or_else(|| rounds_in_a_second(loaded.key.public().bits()));
        if let Some(Issue { what, .. }) = faults(&[&loaded.key], rounds)?.remove(0) {
            return Err(Error::InvalidKey { reason: what });
        }
        let found = issues(loaded, &self.lists);
        let weak = |issue: Issue| Weak {
            name: issue.rule.id,
            what: issue.what,
        };
        let weaknesses = found.into_iter().map(weak).collect();
        Ok(known(loaded, is_private.then_some(rounds), weaknesses))
    }
}

/// The facts of a key that has no fault.
fn known(loaded: &Loaded<Key>, rounds: Option<usize>, weaknesses: Vec<Weak>) -> Known {
    let key = loaded.key.public();
    Known {
        holds: loaded.content.name(),
        private: rounds.is_some(),
        bits: key.bits(),
        primes: match &loaded.key {
            Key::Private(key) => Some(key.primes()),
            Key::Public(_) => None,
        },
        e: hex::encode(key.e()),
        usage: verdict::usage_in_words(loaded),
        fingerprint: hex::encode(format::fingerprint(key)),
        names: Names {
            ssh_fingerprint: format::openssh::fingerprint(key),
            jwk_thumbprint: format::jwk::thumbprint(key),
        },
        rounds,
        weaknesses,
        encryption: loaded.encryption.as_ref().map(ToString::to_string),
        encryption_weakness: loaded.encryption.as_ref().and_then(keys::encryption_weakness),
    }
}

/// Tells what was looked for in a key.
fn note_examined(called: &str, known: &Known) {
    steps::ended(|| {
        let primes = match known.rounds {
            Some(rounds) => format!("its primes pass {}", number::counted(rounds, "Miller–Rabin round")),
            None => "its modulus is no prime".to_owned(),
        };
        let found: Vec<&str> = known.weaknesses.iter().map(|weak| weak.name).collect();
        let found = match found.is_empty() {
            true => "none".to_owned(),
            false => found.join(", "),
        };
        format!("{called}: {primes}; weaknesses and lists of weak keys looked through: {found}")
    });
}

const REPLACE: &str = "do not use it: 'rsalab keygen' makes another";

impl Verdict {
    /// Decides whether a key that could be examined is good, once all of its weaknesses are known.
    fn judge(&mut self, is_strict: bool) {
        let Some(weak) = self.known.as_ref().and_then(|known| known.weaknesses.first()) else {
            return;
        };
        self.verdict = "weak";
        if is_strict {
            let what = format!("the key {} is weak: {}", self.name(), weak.what);
            self.failure = Some(Failure::new(Class::Input, what).advice(REPLACE));
        }
    }

    fn wrong(file: String, place: Place, error: Error) -> Verdict {
        let what = format!("the key {} is wrong", verdict::called(&file, place));
        let fault = error.to_string();
        let failure = Failure::new(Class::Input, what).advice(REPLACE).because(error);
        let mut verdict = Verdict::new(file, place);
        verdict.verdict = "wrong";
        verdict.fault = Some(fault);
        verdict.failure = Some(failure);
        verdict
    }
}
