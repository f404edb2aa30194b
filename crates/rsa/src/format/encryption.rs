//! How a file protects its private key: what is said of an encrypted key that was read.

use std::fmt;

/// How a file keeps its private key from whoever does not know the password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encryption {
    /// The algorithms, such as `PBES2, scrypt, aes-256-cbc`.
    pub method: String,
    /// Why it protects little, if it does.
    pub weakness: Option<String>,
}

impl fmt::Display for Encryption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.method)
    }
}
