//! Faults of one key.

use rsalab_rsa::{ModulusFault, keys::Weakness};

use crate::rule::{Rule, Severity, rule};

/// Something that is wrong with a key: nothing of it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The kind.
    pub rule: &'static Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The fault, in a sentence about "it".
    pub what: String,
}

impl Issue {
    /// An issue of a rule, as bad as the rule says.
    ///
    /// # Panics
    ///
    /// If there is no such rule.
    pub fn new(id: &str, what: impl Into<String>) -> Issue {
        let rule = rule(id);
        Issue {
            rule,
            severity: rule.severity,
            what: what.into(),
        }
    }
}

/// The longest modulus that was factored by the number field sieve (RSA-250, 2020): what is shorter can be bought.
const FACTORED_BITS: usize = 829;

impl From<&Weakness> for Issue {
    fn from(weakness: &Weakness) -> Issue {
        let issue = Issue::new(weakness.name(), weakness.to_string());
        match weakness {
            Weakness::ShortModulus { bits } if *bits <= FACTORED_BITS => Issue {
                severity: Severity::Critical,
                ..issue
            },
            _ => issue,
        }
    }
}

impl From<ModulusFault> for Issue {
    fn from(fault: ModulusFault) -> Issue {
        let id = match fault {
            ModulusFault::Square => "square-modulus",
            ModulusFault::Prime => "prime-modulus",
            _ => "small-factor",
        };
        Issue::new(id, fault.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weakness_has_a_rule() {
        let all = [
            Weakness::ShortModulus { bits: 1024 },
            Weakness::SmallExponent,
            Weakness::LargeExponent { bits: 300 },
            Weakness::ShortPrivateExponent { bits: 300 },
            Weakness::FermatFactorable { steps: 1 },
            Weakness::Roca,
            Weakness::ClosePrimes,
            Weakness::ShortPrimes { primes: 5, bits: 300 },
            Weakness::Wiener,
            Weakness::SparsePrivateExponent,
            Weakness::PatternedModulus { period: 1 },
            Weakness::RepeatingModulus { period: 1 },
            Weakness::PatternedPrime,
            Weakness::ShortSleeve { width: 32, unused: 10 },
            Weakness::ShortSleevePrime,
            Weakness::BiasedModulus { percent: 10 },
            Weakness::BiasedPrime,
            Weakness::XzBackdoor,
        ];
        for weakness in &all {
            assert_eq!(Issue::from(weakness).rule.id, weakness.name());
        }
        assert_eq!(Issue::from(&all[0]).severity, Severity::High);
        assert_eq!(
            Issue::from(&Weakness::ShortModulus { bits: 512 }).severity,
            Severity::Critical
        );
    }
}
