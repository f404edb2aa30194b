//! The file that a part of an audit leaves, and how all parts become the report of one audit.
//!
//! A part examines its share of the keys and compares their moduli with all. What it leaves has its findings, and the
//! keys that share a prime; no prime, which is computed again from all of those keys.

use std::sync::Arc;

use rsalab_rsa::format::Place;
use serde::{Deserialize, Serialize};

use crate::{
    finding::{Finding, KeyName, Location, Report, Summary},
    record::{Record, Used, Where},
    registry::Registry,
    rule::{self, Severity},
    search::Share,
    sharing::shared_primes,
};

/// A part of an audit: nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    rsalab_audit_part: u32,
    number: u64,
    of: u64,
    /// SHA-256 of all moduli and names of files.
    inputs: String,
    files: Numbers,
    /// Names of files; those of the first part alone.
    names: Vec<String>,
    findings: Vec<Found>,
    /// The keys of this part that share a prime.
    sharing: Vec<Key>,
}

/// The numbers of the whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Numbers {
    files: usize,
    without_keys: usize,
    keys: usize,
    private: usize,
    moduli: usize,
    foreign: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Found {
    rule: String,
    severity: Severity,
    what: String,
    places: Vec<(String, Where)>,
    keys: Vec<(String, usize)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Key {
    n: String,
    e: String,
    places: Vec<(u32, String, String, Where)>,
}

/// Why parts are not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PartError {
    /// A text is no part.
    #[error("it is no part of an audit")]
    Unreadable,
    /// It is of another version of the format.
    #[error("it is of another version of the format")]
    Version,
    /// Parts have read different files.
    #[error("parts {0} and {1} have read different keys")]
    Inputs(u64, u64),
    /// They are not all parts, each once.
    #[error("they are not all parts of one audit, each once")]
    Set,
}

const VERSION: u32 = 1;

impl Part {
    pub(crate) fn of(report: Report, share: Share, inputs: String, sharing: Vec<Record>) -> Part {
        let summary = report.summary;
        Part {
            rsalab_audit_part: VERSION,
            number: share.number,
            of: share.of,
            inputs,
            files: Numbers {
                files: summary.files,
                without_keys: summary.without_keys,
                keys: summary.keys,
                private: summary.private,
                moduli: summary.moduli,
                foreign: summary.foreign,
            },
            names: match share.number {
                1 => report.files.iter().map(|name| name.to_string()).collect(),
                _ => Vec::new(),
            },
            findings: report.findings.iter().map(Found::of).collect(),
            sharing: sharing.into_iter().map(Key::of).collect(),
        }
    }

    /// Which part it is.
    pub fn share(&self) -> Share {
        Share {
            number: self.number,
            of: self.of,
        }
    }

    /// SHA-256 of what was read, all moduli and names of files, in hexadecimal.
    pub fn inputs(&self) -> &str {
        &self.inputs
    }

    /// How many findings it has of its own.
    pub fn findings(&self) -> usize {
        self.findings.len()
    }

    /// How many of its keys share a prime.
    pub fn sharing(&self) -> usize {
        self.sharing.len()
    }

    /// As JSON.
    ///
    /// # Panics
    /// Never: all of it is text and numbers.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("text and numbers")
    }

    /// Of its JSON.
    ///
    /// # Errors
    /// It is none, or of another version.
    pub fn from_json(text: &[u8]) -> Result<Part, PartError> {
        #[derive(Deserialize)]
        struct AnyVersion {
            rsalab_audit_part: u32,
        }
        let version: AnyVersion = serde_json::from_slice(text).map_err(|_| PartError::Unreadable)?;
        match version.rsalab_audit_part {
            VERSION => serde_json::from_slice(text).map_err(|_| PartError::Unreadable),
            _ => Err(PartError::Version),
        }
    }

    /// The report of the audit that these are all parts of.
    ///
    /// # Errors
    /// They are not, or one of them was not written by this program.
    pub fn merge(mut parts: Vec<Part>, threads: usize) -> Result<Report, PartError> {
        parts.sort_by_key(|part| part.number);
        let of = parts.len() as u64;
        if parts.is_empty()
            || parts
                .iter()
                .zip(1..)
                .any(|(part, number)| (part.number, part.of) != (number, of))
        {
            return Err(PartError::Set);
        }
        let first = &parts[0];
        if let Some(other) = parts
            .iter()
            .find(|part| (&part.inputs, &part.files) != (&first.inputs, &first.files))
        {
            return Err(PartError::Inputs(first.number, other.number));
        }
        let sharing = parts.iter().flat_map(|part| &part.sharing);
        let sharing = sharing.map(Key::record).collect::<Option<Vec<Record>>>();
        let sharing = sharing.ok_or(PartError::Unreadable)?;
        let (registry, places) = Registry::of_parts(&sharing);
        let moduli: Vec<&[u8]> = registry.moduli().into_iter().map(|(_, modulus)| modulus).collect();
        let (mut findings, shared_primes) = registry.shared(shared_primes(&moduli, &places, threads));
        let mut files = Vec::new();
        let numbers = parts[0].files.clone();
        for part in parts {
            files.extend(part.names.into_iter().map(Arc::from));
            for found in part.findings {
                findings.push(found.finding().ok_or(PartError::Unreadable)?);
            }
        }
        findings.sort_by(Finding::order);
        Ok(Report {
            findings,
            summary: Summary {
                files: numbers.files,
                without_keys: numbers.without_keys,
                keys: numbers.keys,
                private: numbers.private,
                moduli: numbers.moduli,
                foreign: numbers.foreign,
            },
            files,
            shared_primes,
        })
    }
}

impl Found {
    fn of(finding: &Finding) -> Found {
        let place = |location: &Location| (location.file.to_string(), location.place.into());
        let key = |key: &KeyName| (key.fingerprint.clone(), key.bits);
        Found {
            rule: finding.rule.id.to_owned(),
            severity: finding.severity,
            what: finding.what.clone(),
            places: finding.places.iter().map(place).collect(),
            keys: finding.keys.iter().map(key).collect(),
        }
    }

    fn finding(self) -> Option<Finding> {
        let place = |(file, place): (String, Where)| Location {
            file: file.into(),
            place: Place::from(place),
        };
        let key = |(fingerprint, bits)| KeyName { fingerprint, bits };
        Some(Finding {
            rule: rule::find(&self.rule)?,
            severity: self.severity,
            what: self.what,
            places: self.places.into_iter().map(place).collect(),
            keys: self.keys.into_iter().map(key).collect(),
        })
    }
}

impl Key {
    fn of(record: Record) -> Key {
        let place = |used: Used| (used.document, used.file.to_string(), used.form.to_string(), used.place);
        Key {
            n: hex::encode(record.n),
            e: hex::encode(record.e),
            places: record.uses.into_iter().map(place).collect(),
        }
    }

    fn record(&self) -> Option<Record> {
        let used = |(document, file, form, place): &(u32, String, String, Where)| Used {
            document: *document,
            file: file.as_str().into(),
            form: form.as_str().into(),
            place: *place,
        };
        Some(Record {
            n: hex::decode(&self.n).ok()?,
            e: hex::decode(&self.e).ok()?,
            uses: self.places.iter().map(used).collect(),
        })
    }
}
