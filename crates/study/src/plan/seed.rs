//! The 32 bytes from which a study's keys and inputs derive.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A study's seed. It is stored with the study, so everything made from it is public: study keys are insecure on
/// purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Seed(pub [u8; 32]);

impl Seed {
    /// A seed from the system's generator, different each time.
    pub fn random() -> Result<Seed, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(Seed(bytes))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl FromStr for Seed {
    type Err = BadSeed;

    fn from_str(text: &str) -> Result<Self, BadSeed> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| BadSeed)?;
        Ok(Seed(bytes))
    }
}

impl TryFrom<String> for Seed {
    type Error = BadSeed;

    fn try_from(text: String) -> Result<Self, BadSeed> {
        text.parse()
    }
}

impl From<Seed> for String {
    fn from(seed: Seed) -> String {
        seed.to_string()
    }
}

/// Text that is not a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a seed is 32 bytes written as 64 hexadecimal digits")]
pub struct BadSeed;
