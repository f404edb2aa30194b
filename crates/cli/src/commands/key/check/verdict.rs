//! Verdicts, as they are printed.

use rsalab_rsa::{
    Error, PublicKey,
    format::{Key, Loaded, Place, Usage},
};
use serde::Serialize;

use crate::{exit::Failure, printable::printable, table::Table};

/// A verdict on a key, with what is known of it: nothing that is secret.
#[derive(Serialize)]
pub(super) struct Verdict {
    file: String,
    /// The number of the key in a set or a list of JSON Web Keys.
    #[serde(rename = "key", skip_serializing_if = "Option::is_none")]
    number: Option<usize>,
    /// The line of the key in a file that has a key a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// `good`; `weak`: well formed, and protects less than its length promises; `wrong`: an RSA key whose numbers do
    /// not make one; `unsupported`: a key, and maybe a good one, that rsalab does not work with; `unreadable`: no key
    /// that can be read, but another file, a damaged one, one whose password is not known, or none at all.
    pub(super) verdict: &'static str,
    /// Why it is not good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fault: Option<String>,
    #[serde(flatten)]
    pub(super) known: Option<Known>,
    #[serde(skip)]
    pub(super) key: Option<PublicKey>,
    #[serde(skip)]
    pub(super) failure: Option<Failure>,
}

#[derive(Serialize)]
pub(super) struct Known {
    pub(super) holds: &'static str,
    pub(super) private: bool,
    pub(super) bits: usize,
    /// Of a private key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) primes: Option<usize>,
    /// The public exponent, in hexadecimal.
    pub(super) e: String,
    #[serde(rename = "use")]
    pub(super) usage: String,
    /// SHA-256 of the SubjectPublicKeyInfo.
    pub(super) fingerprint: String,
    #[serde(flatten)]
    pub(super) names: Names,
    /// Rounds of the Miller–Rabin test that each prime of a private key passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rounds: Option<usize>,
    pub(super) weaknesses: Vec<Weak>,
    /// How the file keeps the key from whoever does not know a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encryption: Option<String>,
    /// Why that protects little, if it does. It says nothing of the key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encryption_weakness: Option<String>,
}

/// Names of the key in other programs.
#[derive(Serialize)]
pub(super) struct Names {
    /// As `ssh-keygen -l` shows it.
    pub(super) ssh_fingerprint: String,
    /// RFC 7638.
    pub(super) jwk_thumbprint: String,
}

#[derive(Serialize)]
pub(super) struct Weak {
    pub(super) name: &'static str,
    pub(super) what: String,
}

impl Verdict {
    pub(super) fn new(file: String, place: Place) -> Verdict {
        Verdict {
            file,
            number: match place {
                Place::Key(number) => Some(number),
                _ => None,
            },
            line: match place {
                Place::Line(number) => Some(number),
                _ => None,
            },
            verdict: "good",
            fault: None,
            known: None,
            key: None,
            failure: None,
        }
    }

    /// A key that could be examined.
    pub(super) fn of(file: String, place: Place, known: Known, key: PublicKey) -> Verdict {
        Verdict {
            known: Some(known),
            key: Some(key),
            ..Verdict::new(file, place)
        }
    }

    /// A key that could not.
    pub(super) fn refused(file: String, place: Place, failure: Failure) -> Verdict {
        let verdict = match failure.cause_as::<Error>() {
            Some(Error::Unsupported { .. } | Error::KeySize { .. }) => "unsupported",
            _ => "unreadable",
        };
        Verdict {
            verdict,
            fault: Some(failure.sentence()),
            failure: Some(failure),
            ..Verdict::new(file, place)
        }
    }

    /// As it is, where the command has done all that can be asked.
    pub(super) fn without_failure(self) -> Verdict {
        Verdict { failure: None, ..self }
    }

    /// The file, and where in it the key stands.
    pub(super) fn name(&self) -> String {
        let place = match (self.number, self.line) {
            (Some(number), _) => Place::Key(number),
            (None, Some(line)) => Place::Line(line),
            (None, None) => Place::Whole,
        };
        called(&self.file, place)
    }
}

/// A key of a file, in words.
pub(super) fn called(file: &str, place: Place) -> String {
    match place {
        Place::Key(number) => format!("{file}, key {number}"),
        Place::Line(number) => format!("{file}, line {number}"),
        _ => file.to_owned(),
    }
}

/// The uses of a key, by its algorithm and its file.
pub(super) fn usage_in_words(loaded: &Loaded<Key>) -> String {
    let by_algorithm = match &loaded.usage {
        Usage::Any => None,
        Usage::Pss(None) => Some("pss".to_owned()),
        Usage::Pss(Some(pss)) => {
            let salt = loaded.usage.least_salt();
            Some(format!("pss {}, mask {}, salt {salt}", pss.hash, pss.mgf_hash))
        }
        Usage::Oaep(None) => Some("oaep".to_owned()),
        Usage::Oaep(Some(oaep)) => {
            let label = oaep.label.len();
            Some(format!(
                "oaep {}, mask {}, label of {label} bytes",
                oaep.hash, oaep.mgf_hash
            ))
        }
        _ => Some("another".to_owned()),
    };
    let by_file = (!loaded.restrictions.is_none()).then(|| loaded.restrictions.to_string());
    let by_attribute = loaded.annotations.key_usage();
    let by_attribute = by_attribute.map(|usage| format!("attribute key usage {usage}"));
    let all = [by_algorithm, by_file, by_attribute];
    let said: Vec<String> = all.into_iter().flatten().collect();
    match said.is_empty() {
        true => "any".to_owned(),
        false => said.join("; "),
    }
}

/// The table that people read.
pub(super) fn shown(verdicts: &[Verdict]) -> String {
    let known =
        |verdict: &Verdict, cell: fn(&Known) -> String| verdict.known.as_ref().map_or_else(|| "–".to_owned(), cell);
    let table = Table::of(verdicts)
        .left("file", Verdict::name)
        .verdict("verdict", |verdict| verdict.verdict.to_owned())
        .right("bits", |verdict| known(verdict, |known| known.bits.to_string()))
        .right("primes", |verdict| {
            let primes = verdict.known.as_ref().and_then(|known| known.primes);
            primes.map_or_else(|| "–".to_owned(), |primes| primes.to_string())
        })
        .right("e", |verdict| known(verdict, |known| short_exponent(&known.e)))
        .left("use", |verdict| known(verdict, |known| known.usage.clone()))
        .left("holds", |verdict| known(verdict, |known| known.holds.to_owned()))
        .render();
    let mut names = String::new();
    for verdict in verdicts {
        if let Some(known) = &verdict.known {
            names += &format!("{}:\n", printable(&verdict.name()));
            for (label, name) in [
                ("SPKI SHA-256", &known.fingerprint),
                ("OpenSSH", &known.names.ssh_fingerprint),
                ("JWK thumbprint", &known.names.jwk_thumbprint),
            ] {
                names += &format!("  {label:<14}  {name}\n");
            }
        }
    }
    let mut remarks = String::new();
    for verdict in verdicts {
        let weaknesses = verdict.known.iter().flat_map(|known| &known.weaknesses);
        let known = verdict.known.as_ref();
        let encryption = known.and_then(|known| known.encryption_weakness.as_ref());
        let remarks_of_file = weaknesses.map(|weak| &weak.what).chain(encryption);
        for what in remarks_of_file.chain(&verdict.fault) {
            remarks += &format!("{}: {}\n", printable(&verdict.name()), printable(what));
        }
    }
    let parts = [table, names, remarks].into_iter();
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// The exponent as people know it, or how long it is.
fn short_exponent(hex: &str) -> String {
    u64::from_str_radix(hex, 16).map_or_else(|_| format!("{} bits", bits(hex)), |e| e.to_string())
}

/// Bits of a number in hexadecimal.
fn bits(hex: &str) -> usize {
    let digits = hex.trim_start_matches('0');
    let first = digits.chars().next().and_then(|digit| digit.to_digit(16));
    first.map_or(0, |first| 4 * digits.len() - (first.leading_zeros() as usize - 28))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exponent_is_as_long_as_it_is() {
        assert_eq!(short_exponent("010001"), "65537");
        assert_eq!(short_exponent(&format!("02{}", "00".repeat(31))), "250 bits");
        assert_eq!(short_exponent(&format!("08{}", "00".repeat(31))), "252 bits");
        assert_eq!(short_exponent(&"ff".repeat(32)), "256 bits");
    }
}
