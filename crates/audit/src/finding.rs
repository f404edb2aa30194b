//! Findings, and the report of an audit.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use rsalab_rsa::format::Place;
use zeroize::Zeroizing;

use crate::rule::{RULES, Rule, Severity};

/// A place that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file as it was named, or as it was found in a folder; of a member of an archive, `ARCHIVE:MEMBER`.
    pub file: Arc<str>,
    /// Where in the file.
    pub place: Place,
}

impl Location {
    /// The file, and where in it the key stands.
    pub fn in_words(&self) -> String {
        let file = &self.file;
        match self.place {
            Place::Key(number) => format!("{file}, key {number}"),
            Place::Line(number) => format!("{file}, line {number}"),
            Place::Block(number) => format!("{file}, block {number}"),
            Place::Row(number) => format!("{file}, row {number}"),
            _ => file.to_string(),
        }
    }
}

/// The key that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyName {
    /// SHA-256 of the SubjectPublicKeyInfo, in hexadecimal.
    pub fingerprint: String,
    /// Bits of its modulus.
    pub bits: usize,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The kind, with what to do and who found it first.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The fault, in a sentence.
    pub what: String,
    /// Where: of one key every copy of it, of several keys all of them.
    pub places: Vec<Location>,
    /// The keys that it is about.
    pub keys: Vec<KeyName>,
}

impl Finding {
    /// The most severe first, then by rule and by place.
    pub(crate) fn order(&self, other: &Finding) -> Ordering {
        let rule = |finding: &Finding| RULES.iter().position(|rule| rule == finding.rule);
        let severity = other.severity.cmp(&self.severity);
        let rule = severity.then_with(|| rule(self).cmp(&rule(other)));
        let places = rule.then_with(|| order_of_places(&self.places, &other.places));
        places.then_with(|| self.what.cmp(&other.what))
    }
}

/// Places by file, and by where they are in it.
pub(crate) fn order_of_places(one: &[Location], other: &[Location]) -> Ordering {
    let key = |location: &Location| (location.file.clone(), order(location.place));
    one.iter().map(key).cmp(other.iter().map(key))
}

/// Places in a file, as they follow each other.
pub(crate) fn order(place: Place) -> usize {
    match place {
        Place::Key(number) | Place::Line(number) | Place::Block(number) | Place::Row(number) => number,
        _ => 0,
    }
}

/// A prime that several keys share. It is a secret: whoever has it has their private keys.
#[derive(Debug)]
pub struct SharedSecret {
    /// The prime, big-endian, wiped when it is dropped.
    pub factor: Zeroizing<Vec<u8>>,
    /// The keys.
    pub keys: Vec<KeyName>,
    /// Where they are.
    pub places: Vec<Location>,
}

/// Numbers of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that were looked at, members of archives among them.
    pub files: usize,
    /// Files of folders that are no keys, and do not look like one.
    pub without_keys: usize,
    /// RSA keys that were read, copies among them.
    pub keys: usize,
    /// Private keys among them.
    pub private: usize,
    /// Different moduli.
    pub moduli: usize,
    /// Keys of other algorithms, which are not examined.
    pub foreign: usize,
}

/// Everything that an audit found.
#[derive(Debug)]
pub struct Report {
    /// The most severe first.
    pub findings: Vec<Finding>,
    /// Its numbers.
    pub summary: Summary,
    /// Every file that was looked at, in order.
    pub files: Vec<Arc<str>>,
    /// The primes that keys share.
    pub shared_primes: Vec<SharedSecret>,
}

impl Report {
    /// How many findings there are of each severity.
    pub fn by_severity(&self) -> BTreeMap<Severity, usize> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.severity).or_default() += 1;
        }
        counts
    }

    /// The worst severity that was found.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}
