//! The catalogue: everything that an audit can find, how bad it is, what to do, and who found it first.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// To be known; the key protects what it should, or its password was not given.
    Low,
    /// To be mended when there is time; or nothing is known of the key.
    Medium,
    /// To be replaced: the key protects less than its length promises.
    High,
    /// To be replaced at once: others have the private key, or can compute it.
    Critical,
}

impl Severity {
    /// All of them, the mildest first.
    pub const ALL: [Severity; 4] = [Severity::Low, Severity::Medium, Severity::High, Severity::Critical];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A kind of finding.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// A word for programs, which does not change.
    pub id: &'static str,
    /// How bad it is, unless the finding knows better.
    pub severity: Severity,
    /// The kind, in a few words.
    pub title: &'static str,
    /// The remedy.
    pub remedy: &'static str,
    /// Who found it, or which standard asks for it.
    pub source: &'static str,
}

const REPLACE: &str = "make a new key, revoke what was signed for this one, and stop using it";
const REPLACE_AND_SEARCH: &str = "make new keys, revoke what was signed for these, and find out which device or program made them: others of it are alike";
const MAKE_AGAIN: &str = "take the key from where it came from, or make a new one";
const LOOK: &str = "look at the file, and name the right one";

macro_rules! rules {
    ($($id:literal, $severity:ident, $title:literal, $remedy:expr, $source:literal;)*) => {
        /// All rules, the most severe first.
        pub const RULES: &[Rule] = &[$(Rule {
            id: $id,
            severity: Severity::$severity,
            title: $title,
            remedy: $remedy,
            source: $source,
        }),*];
    };
}

rules! {
    "shared-prime", Critical, "Keys share a prime", REPLACE_AND_SEARCH,
        "Heninger, Durumeric, Wustrow, Halderman 2012; Lenstra and others 2012";
    "fermat-factorable", Critical, "Primes are nearly the same", REPLACE_AND_SEARCH, "Böck 2023; CVE-2022-26320";
    "roca", Critical, "Primes of the faulty library of ROCA", REPLACE_AND_SEARCH,
        "Nemec, Sys, Svenda, Klinec, Matyas 2017; CVE-2017-15361";
    "wiener", Critical, "The private exponent follows from the public key", REPLACE, "Wiener 1990";
    "patterned-modulus", Critical, "Primes are a pattern that repeats", REPLACE_AND_SEARCH,
        "Bernstein, Chang, Cheng, Chou, Heninger, Lange, van Someren 2013";
    "short-sleeve", Critical, "The modulus is factored as a polynomial", REPLACE_AND_SEARCH,
        "Ryan, Böck 2026 (CompleteFTP, and others)";
    "small-factor", Critical, "A small prime divides the modulus", MAKE_AGAIN, "badkeys";
    "prime-modulus", Critical, "The modulus is a prime", MAKE_AGAIN, "FIPS 186-5, A.1";
    "square-modulus", Critical, "The modulus is a square", MAKE_AGAIN, "FIPS 186-5, A.1";
    "known-weak", Critical, "The key is in a list of known keys", REPLACE_AND_SEARCH, "CVE-2008-0166, and the list";
    "made-from-a-seed", Critical, "The key was made for tests", REPLACE, "the mark in its file";
    "xz-backdoor", Critical, "The modulus is a message to the backdoor of xz",
        "find out who sent or made it: it is a sign of an attack", "CVE-2024-3094";
    "composite-prime", Critical, "A prime of a private key is composite", REPLACE, "FIPS 186-5, A.1; Miller 1976, Rabin 1980";
    "shared-modulus", High, "Keys have one modulus and different public exponents", REPLACE, "Simmons 1983; DeLaurentis 1984";
    "short-modulus", High, "The modulus is short", "make a new key of 2048 bits at the least", "NIST SP 800-131A rev. 2";
    "invalid-key", High, "The numbers of a key contradict each other", MAKE_AGAIN, "RFC 8017, 3.1 and 3.2; FIPS 186-5, A.1";
    "repeating-modulus", High, "A part of the modulus repeats itself", REPLACE, "badkeys";
    "close-primes", High, "Primes are closer than the standard allows", REPLACE, "FIPS 186-5, A.1.3, step 5.4";
    "short-private-exponent", High, "The private exponent is short", REPLACE, "FIPS 186-5, A.1.1; Boneh, Durfee 1999";
    "sparse-private-exponent", High, "Hardly any bit of the private exponent is set", REPLACE, "FIPS 186-5, A.1.1";
    "short-primes", High, "A prime is short for its key", REPLACE, "OpenSSL's limits; Lenstra 1987 (ECM)";
    "patterned-prime", High, "A prime is a pattern that repeats", REPLACE_AND_SEARCH, "Bernstein and others 2013";
    "short-sleeve-prime", High, "The limbs of a prime were filled in part", REPLACE_AND_SEARCH, "Ryan, Böck 2026";
    "biased-prime", High, "A prime has far more zeros than ones, or ones than zeros", REPLACE_AND_SEARCH, "badkeys";
    "manifest-mismatch", High, "A file holds another key than its manifest says",
        "find out who changed the file; restore it, or make the folder's keys anew", "rsalab keygen";
    "biased-modulus", Medium, "The modulus has far more zeros than ones, or ones than zeros", REPLACE, "badkeys";
    "small-exponent", Medium, "The public exponent is small", "make a new key with the exponent 65537", "FIPS 186-5, A.1.1";
    "duplicate-key", Medium, "A key is there more than once", "give each owner a key of its own, or remove the copies",
        "CA/Browser Forum Baseline Requirements 6.1.1.3; NIST SP 800-57";
    "unreadable", Medium, "A key cannot be read", MAKE_AGAIN, "-";
    "not-read", Medium, "A file cannot be read", "give the right to read it, or mend the disk", "-";
    "no-key", Medium, "No key is there", LOOK, "-";
    "missing-file", Medium, "A file of a manifest is not there", "restore it, or run the same 'rsalab keygen' again", "rsalab keygen";
    "not-examined", Medium, "A key could not be examined",
        "give its password (--password-file), convert or unpack it, or allow its size (--large-keys)", "-";
    "large-exponent", Low, "The public exponent is long", "make a new key with the exponent 65537", "FIPS 186-5, A.1.1";
}

/// The rule of an id.
///
/// # Panics
///
/// If there is none.
pub fn rule(id: &str) -> &'static Rule {
    find(id).unwrap_or_else(|| panic!("there is no rule {id}"))
}

/// The rule of an id, if there is one.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_the_order_is_by_severity() {
        let ids: std::collections::BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
        assert!(RULES.is_sorted_by(|one, other| one.severity >= other.severity));
        assert!(RULES.iter().all(|rule| find(rule.id) == Some(rule)));
    }
}
