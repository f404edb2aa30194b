//! Options that several commands have.

use std::{
    path::{Path, PathBuf},
    thread,
};

use clap::{Args, ValueEnum};
use rsalab_study::plan::{Seed, THREADS};

use super::values::{seconds, within};

/// Data for programs in place of tables for people.
#[derive(Args)]
pub(crate) struct JsonOption {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The kernel of our own engine.
#[derive(Args, Clone)]
pub(crate) struct KernelOption {
    /// The kernel of our own engine, in place of the best one for this CPU ('rsalab engines' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) kernel: Option<String>,
}

impl KernelOption {
    /// The name that was typed.
    pub(crate) fn name(&self) -> Option<&str> {
        self.kernel.as_deref()
    }
}

/// Where random inputs come from.
#[derive(Args)]
pub(crate) struct SeedOption {
    /// The seed of the keys and inputs, 64 hexadecimal digits; a new one if not given.
    #[arg(long, value_name = "HEX")]
    pub(crate) seed: Option<Seed>,
}

/// How signatures and ciphertexts are written.
#[derive(Args)]
pub(crate) struct EncodingOption {
    /// How the signature or the block is written; raw if not given.
    #[arg(long, value_enum)]
    pub(crate) encoding: Option<Encoding>,
}

impl EncodingOption {
    /// As it was typed.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding.unwrap_or(Encoding::Raw)
    }
}

/// Forms of a signature or a ciphertext.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encoding {
    /// Its bytes.
    Raw,
    /// Base64, on one line; white space is ignored where it is read, and the alphabet of web addresses is read too.
    Base64,
    /// Hexadecimal digits, on one line.
    Hex,
}

/// Where the result goes.
#[derive(Args)]
pub(crate) struct OutOption {
    /// The file to make, which must not exist; standard output if there is none, or '-'.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

impl OutOption {
    /// The file that was named.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.out.as_deref()
    }
}

/// How many threads do the work.
#[derive(Args)]
pub(crate) struct ThreadsOption {
    /// Threads that share the work; one for each CPU if not given.
    #[arg(long, value_name = "N", value_parser = within(THREADS))]
    pub(crate) threads: Option<usize>,
}

impl ThreadsOption {
    /// As many as were asked for, or one for each CPU.
    pub(crate) fn count(&self) -> usize {
        self.threads.unwrap_or_else(Self::built_in)
    }

    /// One for each CPU.
    pub(crate) fn built_in() -> usize {
        thread::available_parallelism().map_or(1, usize::from)
    }
}

/// Settings that suit this machine.
#[derive(Args)]
pub(crate) struct ProfileOption {
    /// Take the threads and the kernel, where not given, from a profile that 'rsalab profile' wrote.
    ///
    /// Without this option the profile that the variable RSALAB_PROFILE names, if it is set. One of another CPU is not
    /// used, which is said.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
}

/// How the file of a key is read.
#[derive(Args, Clone)]
pub(crate) struct KeyFileOptions {
    /// The file whose first line is the password of an encrypted key; without it, rsalab asks for the password.
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Accept keys of more than 8192 bits, up to 16384.
    ///
    /// They take seconds to read and to use.
    #[arg(long)]
    pub(crate) large_keys: bool,
    /// Which key of several: a JWK's kid, or a name that 'key check' shows.
    ///
    /// 'rsalab key check' shows the names of each key in a file.
    // A thumbprint in base64url may begin with a hyphen.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    pub(crate) kid: Option<String>,
}

/// Options of every measurement.
#[derive(Args)]
pub(crate) struct MeasureOptions {
    /// Measure although this build is not optimised; the results say so.
    #[arg(long)]
    pub(crate) allow_unoptimised: bool,
    /// Kill a worker after S seconds without an answer.
    #[arg(long, value_name = "S", default_value_t = 300.0, value_parser = seconds)]
    pub(crate) give_up_after: f64,
}
