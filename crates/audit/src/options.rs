//! How an audit is done, and how far it is.

use std::{path::Path, thread};

use rsalab_rsa::{format::Limits, primality::ROUNDS_BEFORE_USE};

use crate::{known::Lists, search::Share, store::Store};

/// How an audit is done.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The password of encrypted keys.
    pub password: Option<&'a [u8]>,
    /// How long a modulus may be; what is longer is not examined.
    pub limits: Limits,
    /// Rounds of the Miller–Rabin test for each prime of a private key.
    pub rounds: usize,
    /// Threads that examine keys; another one reads files.
    pub threads: usize,
    /// Lists of known keys.
    pub lists: Option<&'a Lists>,
    /// The name of the column of moduli in tables.
    pub column: Option<&'a str>,
    /// Bytes of memory that all of it may take, beyond which the search for shared primes takes longer. What is known
    /// of the keys takes what it takes.
    pub memory: Option<u64>,
    /// A folder for what does not fit the memory, and for what is done of a search, which goes on there after a kill.
    pub scratch: Option<&'a Path>,
    /// The part of the keys that is examined and compared with all.
    pub share: Share,
    /// Keys of earlier audits, which new ones are compared with.
    pub against: Option<&'a Store>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Options {
            password: None,
            limits: Limits::QUICK,
            rounds: ROUNDS_BEFORE_USE,
            threads: thread::available_parallelism().map_or(1, usize::from),
            lists: None,
            column: None,
            memory: None,
            scratch: None,
            share: Share::WHOLE,
            against: None,
        }
    }
}

/// How far an audit is.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Progress {
    /// Files are read and keys examined.
    Keys {
        /// Files so far.
        files: usize,
        /// Bytes so far.
        bytes: u64,
    },
    /// Shared primes are searched.
    Shared {
        /// Moduli that are compared.
        moduli: usize,
        /// The part that is done, 0 to 1.
        done: f64,
    },
}
