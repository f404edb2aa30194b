//! The articles that a plan can name.

use serde::{Deserialize, Serialize};

/// An article whose study can be done again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Article {
    /// (a): a Java application that splits a text over threads.
    TextThreads,
    /// (b): a C program on GMP that counts the ticks of prime search and of each step of RSA.
    PrimeCycles,
    /// (c): a comparison of key generation in Intel IPP and OpenSSL.
    KeygenLibraries,
    /// (d): Crypto++ beside Montgomery exponentiation on one thread, on several and on a GPU.
    CpuGpu,
}

impl Article {
    /// Every article, by its letter.
    pub const ALL: [Article; 4] = [
        Article::TextThreads,
        Article::PrimeCycles,
        Article::KeygenLibraries,
        Article::CpuGpu,
    ];
}
