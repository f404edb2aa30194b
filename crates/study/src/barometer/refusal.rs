//! Why an entry is not listed.

use std::fmt;

/// A check of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// The program that made it.
    Program,
    /// Facts that must be known of the machine.
    Facts,
    /// The CPU.
    Cpu,
    /// The samples.
    Samples,
    /// The figures.
    Figures,
    /// The bound of what a CPU can do.
    Peak,
    /// Known ratios between engines and between operations.
    Ratios,
}

impl Check {
    /// The word that a refusal begins with.
    pub fn name(self) -> &'static str {
        match self {
            Check::Program => "program",
            Check::Facts => "facts",
            Check::Cpu => "cpu",
            Check::Samples => "samples",
            Check::Figures => "figures",
            Check::Peak => "peak",
            Check::Ratios => "ratios",
        }
    }
}

/// Why an entry is not listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The check.
    pub check: Check,
    /// A sentence.
    pub sentence: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check.name(), self.sentence)
    }
}

/// Refusals as they are found.
#[derive(Default)]
pub(super) struct Refusals(pub(super) Vec<Refusal>);

impl Refusals {
    /// One more, unless something holds.
    pub(super) fn unless(&mut self, holds: bool, check: Check, sentence: impl FnOnce() -> String) {
        if !holds {
            self.0.push(Refusal {
                check,
                sentence: sentence(),
            });
        }
    }
}
