//! The fairness ledger: the conditions under which a figure was obtained.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{ensure, exponent::Exponent, op::Op};

/// The owner of the threads: who starts, pins and stops the threads of a measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThreadOwner {
    /// The harness: pinned, released by a barrier, the same for every engine.
    Harness,
    /// The engine, which is charged for its split, start and collection.
    #[default]
    Engine,
}

/// The owner of the clock: who reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockOwner {
    /// The harness's one timing loop.
    Harness,
    /// The engine reports the time of a block, and the coordinator brackets it.
    #[default]
    Engine,
}

/// The ledger of a time: what was and was not done in it. `None` means that the question does not arise.
///
/// On the wire every entry may be `null` or left out. Then nothing was prepared, an item is worked on alone, and
/// threads and clock are the engine's own: whoever does not say so was not timed by the harness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The private operation used the Chinese remainder theorem.
    pub crt: Option<bool>,
    /// The input was blinded.
    pub blinding: Option<bool>,
    /// The result was checked before it was released.
    pub result_check: Option<bool>,
    /// The engine claims that its time does not depend on secrets.
    pub constant_time: Option<bool>,
    /// Primality testing, in words: the tests and their number.
    pub rounds: Option<String>,
    /// The sieve before the first primality test, in words.
    pub sieve: Option<String>,
    /// The public exponent, where it has a part in the time.
    pub exponent: Option<Exponent>,
    /// Primes of the key that the private operation used, where there were more than two: whoever does not say so takes
    /// keys of two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primes: Option<usize>,
    /// Keys that the items of a batch were under, where there were several: whoever does not say so takes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<usize>,
    /// The padding, in words; none for raw blocks.
    pub padding: Option<String>,
    /// Work that was prepared beforehand and is not in the time; empty if nothing was.
    #[serde(default, deserialize_with = "or_default")]
    pub setup: String,
    /// Items the engine works on side by side.
    #[serde(default = "one_lane", deserialize_with = "or_one_lane")]
    pub lanes: usize,
    /// Whose threads ran.
    #[serde(default, deserialize_with = "or_default")]
    pub threads: ThreadOwner,
    /// Whose clock was read.
    #[serde(default, deserialize_with = "or_default")]
    pub clock: ClockOwner,
}

fn one_lane() -> usize {
    1
}

/// An entry that is `null` as if it were left out.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

fn or_one_lane<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_else(one_lane))
}

/// The padding of the signatures that are measured, in words.
const SIGNATURE_PADDING: &str = "PKCS#1 v1.5 with SHA-256, of a digest";

/// As [`SIGNATURE_PADDING`], where signatures are screened.
const SCREENED_PADDING: &str = "PKCS#1 v1.5 with SHA-256, of a digest; a batch is accepted by its product";

/// As [`SIGNATURE_PADDING`], where the hash is in the time.
const MESSAGE_PADDING: &str = "PKCS#1 v1.5 with SHA-256, of a message that is hashed in the time";

impl Ledger {
    /// The ledger of every library that the harness calls: its threads, its clock, one item at a time, and no claim.
    /// An engine states the entries that are otherwise. `setup` is what was prepared beforehand, in words.
    pub fn native(setup: impl Into<String>) -> Self {
        Ledger {
            crt: None,
            blinding: None,
            result_check: None,
            constant_time: None,
            rounds: None,
            sieve: None,
            exponent: None,
            primes: None,
            keys: None,
            padding: None,
            setup: setup.into(),
            lanes: 1,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Harness,
        }
    }

    /// That keys of so many primes are used whole.
    pub fn of_all_primes(self, primes: usize) -> Self {
        Ledger {
            primes: (primes > 2).then_some(primes),
            ..self
        }
    }

    /// That items are done one by one under their keys, of which this states the conditions for one.
    pub(crate) fn one_by_one(self, keys: usize) -> Self {
        Ledger {
            keys: Some(keys),
            lanes: 1,
            setup: format!("for each of {keys} keys: {}; items are done one by one", self.setup),
            ..self
        }
    }

    /// This, unless the keys of a job are more, or have more primes, than whoever wrote it says that it takes.
    pub(crate) fn checked_for(self, primes: usize, keys: usize) -> Result<Ledger, Reason> {
        ensure!(
            keys == 1 || self.keys == Some(keys),
            "it works under one key at a time, and the items of a batch are under {keys}"
        );
        ensure!(
            primes == 2 || self.primes == Some(primes),
            "it takes keys of two primes, and these have {primes}"
        );
        Ok(self)
    }

    /// With the padding that an operation has: that of signatures, and none for raw blocks.
    pub fn padded_for(self, op: Op) -> Self {
        let padding = match op {
            Op::Sign | Op::Verify | Op::ImportVerify => Some(SIGNATURE_PADDING.to_owned()),
            Op::SignMessage => Some(MESSAGE_PADDING.to_owned()),
            Op::Screen => Some(SCREENED_PADDING.to_owned()),
            _ => None,
        };
        Ledger { padding, ..self }
    }

    /// The entries in which two figures differ so that their ratio must be marked, by name.
    pub fn differences(&self, other: &Ledger) -> Vec<&'static str> {
        let mut names = Vec::new();
        let mut note = |name, same: bool| {
            if !same {
                names.push(name);
            }
        };
        note("CRT", self.crt == other.crt);
        note("blinding", self.blinding == other.blinding);
        note("result check", self.result_check == other.result_check);
        note("constant time", self.constant_time == other.constant_time);
        note("rounds", self.rounds == other.rounds);
        note("sieve", self.sieve == other.sieve);
        note("exponent", self.exponent == other.exponent);
        note("padding", self.padding == other.padding);
        note("threads", self.threads == other.threads);
        note("clock", self.clock == other.clock);
        names
    }
}

/// Why an engine does not do a job, as the table's cell prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Reason(pub String);

/// Refuses a job, with the [`Reason`] in words, unless a condition holds.
#[macro_export]
macro_rules! ensure {
    ($holds:expr, $($words:tt)+) => {
        if !$holds {
            return Err($crate::Reason(format!($($words)+)));
        }
    };
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Reason {
    fn from(reason: &str) -> Self {
        Reason(reason.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger() -> Ledger {
        Ledger {
            crt: Some(true),
            blinding: Some(true),
            result_check: Some(true),
            constant_time: Some(true),
            rounds: Some("5 Miller–Rabin".to_owned()),
            sieve: None,
            exponent: Some(Exponent::F4),
            primes: Some(3),
            keys: None,
            padding: None,
            setup: "key".to_owned(),
            lanes: 8,
            threads: ThreadOwner::Harness,
            clock: ClockOwner::Harness,
        }
    }

    #[test]
    fn each_difference_that_marks_a_ratio_has_its_name() {
        type Change = fn(&mut Ledger);
        let changes: [(&str, Change); 10] = [
            ("CRT", |l| l.crt = Some(false)),
            ("blinding", |l| l.blinding = Some(false)),
            ("result check", |l| l.result_check = None),
            ("constant time", |l| l.constant_time = Some(false)),
            ("rounds", |l| l.rounds = Some("20 Miller–Rabin".to_owned())),
            ("sieve", |l| l.sieve = Some("trial division".to_owned())),
            ("exponent", |l| l.exponent = Some(Exponent::Random)),
            ("padding", |l| l.padding = Some("OAEP".to_owned())),
            ("threads", |l| l.threads = ThreadOwner::Engine),
            ("clock", |l| l.clock = ClockOwner::Engine),
        ];
        let mut all = ledger();
        for (name, change) in changes {
            let mut other = ledger();
            change(&mut other);
            assert_eq!(ledger().differences(&other), [name]);
            assert_eq!(other.differences(&ledger()), [name]);
            change(&mut all);
        }
        assert_eq!(ledger().differences(&all), changes.map(|(name, _)| name));
    }

    #[test]
    fn lanes_and_preparation_are_the_engines_own_affair() {
        let other = Ledger {
            lanes: 1,
            setup: "nothing".to_owned(),
            ..ledger()
        };
        assert!(ledger().differences(&other).is_empty());
    }

    #[test]
    fn whatever_a_worker_leaves_out_is_a_question_that_does_not_arise() {
        let silent = Ledger {
            crt: None,
            blinding: None,
            result_check: None,
            constant_time: None,
            rounds: None,
            exponent: None,
            primes: None,
            keys: None,
            setup: String::new(),
            lanes: 1,
            threads: ThreadOwner::Engine,
            clock: ClockOwner::Engine,
            ..ledger()
        };
        assert_eq!(serde_json::from_str::<Ledger>("{}").unwrap(), silent);
        // One entry after another is taken away, or says nothing.
        let whole = serde_json::to_value(ledger()).unwrap();
        for name in whole.as_object().unwrap().keys() {
            let (mut without, mut empty) = (whole.clone(), whole.clone());
            without.as_object_mut().unwrap().remove(name);
            empty[name] = serde_json::Value::Null;
            let read: Ledger = serde_json::from_value(without).expect(name);
            assert_eq!(read, serde_json::from_value(empty).expect(name), "{name}");
        }
    }

    #[test]
    fn a_ledger_survives_the_pipe() {
        let sent = serde_json::to_string(&ledger()).unwrap();
        assert_eq!(serde_json::from_str::<Ledger>(&sent).unwrap(), ledger());
    }
}
