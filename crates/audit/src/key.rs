//! The checks of one key: `rsalab key check` and `rsalab audit` do the same.

use rsalab_rsa::{
    Error, PrivateKey, PublicKey, Result,
    format::{Key, Loaded, fingerprint},
    keys::{MIN_BITS, Weakness},
    random::WorkerRng,
};
use sha2::{Digest, Sha256};

use crate::{issue::Issue, known::Lists, rule::Severity};

/// Digests that a key is found by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digests {
    /// SHA-256 of the SubjectPublicKeyInfo.
    pub(crate) fingerprint: [u8; 32],
    /// SHA-256 of the modulus.
    pub(crate) modulus: [u8; 32],
}

impl Digests {
    pub(crate) fn of(key: &PublicKey) -> Digests {
        Digests {
            fingerprint: fingerprint(key),
            modulus: Sha256::digest(key.n()).into(),
        }
    }
}

/// Faults that the key, its file and the lists of known keys show: all but whether its numbers are what they should be,
/// which [`faults`] says.
pub fn issues(loaded: &Loaded<Key>, lists: &Lists) -> Vec<Issue> {
    let weaknesses = match &loaded.key {
        Key::Private(key) => key.weaknesses(),
        Key::Public(key) => key.weaknesses(),
    };
    let mut issues: Vec<Issue> = weaknesses.iter().map(Issue::from).collect();
    issues.extend(listed(loaded.key.public(), lists));
    issues.extend(marked(loaded.annotations.is_insecure));
    issues
}

/// An issue if a list of known keys has it.
pub fn listed(key: &PublicKey, lists: &Lists) -> Option<Issue> {
    let list = lists.list_of(key)?.display();
    Some(Issue::new(
        "known-weak",
        format!("it is in the list of known weak keys {list}"),
    ))
}

/// An issue if its file says that it was made for tests.
pub fn marked(is_insecure: bool) -> Option<Issue> {
    is_insecure.then(|| {
        let what = "its file says that it was made from a seed, for tests: whoever has the seed has the key";
        Issue::new("made-from-a-seed", what)
    })
}

/// Faults of many keys, which are tested together: the modulus of a public key that is seen to be none, and primes of a
/// private key that are composite. Each prime gets so many rounds of the Miller–Rabin test.
///
/// # Errors
///
/// [`Error::Randomness`] if there is none, and errors of the arithmetic.
pub fn faults(keys: &[&Key], rounds: usize) -> Result<Vec<Option<Issue>>> {
    let mut faults = vec![None; keys.len()];
    let (mut public, mut private) = (Vec::new(), Vec::new());
    for (place, key) in keys.iter().enumerate() {
        match key {
            Key::Private(key) => private.push((place, &**key)),
            Key::Public(key) => public.push((place, key)),
        }
    }
    if !public.is_empty() {
        let keys: Vec<&PublicKey> = public.iter().map(|&(_, key)| key).collect();
        for (&(place, _), fault) in public.iter().zip(PublicKey::modulus_faults(&keys)?) {
            faults[place] = fault.map(Issue::from);
        }
    }
    if !private.is_empty() {
        let keys: Vec<&PrivateKey> = private.iter().map(|&(_, key)| key).collect();
        let verdicts = PrivateKey::check_many(&keys, rounds, &mut WorkerRng::from_system()?)?;
        for (&(place, _), verdict) in private.iter().zip(verdicts) {
            faults[place] = match verdict {
                Ok(()) => None,
                Err(Error::InvalidKey { reason }) => Some(Issue::new("composite-prime", reason)),
                Err(error) => return Err(error),
            };
        }
    }
    Ok(faults)
}

/// Why a key could not be read, or is none, as an issue.
pub fn unread(error: &Error) -> Issue {
    match error {
        // A modulus that is refused may be such a message, too.
        Error::InvalidKey { reason } if *reason == Weakness::XzBackdoor.to_string() => {
            Issue::from(&Weakness::XzBackdoor)
        }
        Error::InvalidKey { reason } => Issue::new("invalid-key", reason.clone()),
        Error::KeySize { bits, .. } if *bits < MIN_BITS => {
            Issue::new("invalid-key", format!("its modulus has {bits} bits, which no key has"))
        }
        // Whoever gives no password knows that.
        Error::PasswordMissing => Issue {
            severity: Severity::Low,
            ..Issue::new("not-examined", error.to_string())
        },
        Error::Unsupported { .. } | Error::KeySize { .. } | Error::PasswordWrong => {
            Issue::new("not-examined", error.to_string())
        }
        _ => Issue::new("unreadable", error.to_string()),
    }
}
