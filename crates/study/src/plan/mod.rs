//! The plan of a study: a TOML file or a preset, checked, and unfolded into groups of cells.
//!
//! ```toml
//! title = "Private operation, two sizes"
//! # article = "text-threads"      # the report shows this article's figures and judges its claims
//!
//! [measure]
//! precision = 0.01            # stop when the interval of the median is this narrow, relative to it
//! budget_s = 5.0              # or when a cell has been measured for so long
//!
//! [[grid]]
//! operations = ["private"]
//! engines = ["own", "gmp:powm_sec", "openssl"]   # or "present": every engine found on this machine
//! bits = [2048, 3072]
//! threads = [1, 2]            # or "each" (1, 2, 3 … CPUs) or "doubling" (1, 2, 4 … CPUs)
//!
//! [[grid]]
//! operations = ["text_encrypt", "text_decrypt"]
//! engines = "present"
//! bits = [1024]
//! threads = "each"
//! symbols = [10_000]
//! measure = { repeats = 100, block_calls = 10 }  # overrides [measure] for this grid: 10 blocks of 10 texts
//! ```
//!
//! Every combination of a grid's lists is a cell. The cells that differ only in their engine form a [`Group`]: they
//! are measured interleaved, so that their ratio survives a noisy machine.

mod article;
mod article_plan;
mod check;
mod error;
mod file;
mod grid;
mod groups;
mod host;
mod limits;
mod measure;
mod message;
mod preset;
mod seed;

pub use self::{
    article::Article,
    article_plan::Scale,
    error::PlanError,
    grid::{Engines, Grid, Message, Plan, Threads},
    groups::{Cell, Group, op_title, title},
    host::Host,
    limits::{
        BATCH, BITS, DEFAULT_EXPONENT, KEYS, MAX_CELLS, MAX_CIPHERTEXT_BYTES, MAX_FILE_BYTES, MAX_MESSAGES,
        MAX_PORTIONS, MAX_TEXT, MESSAGE_BYTES, PRIMES, REPEATS, SYMBOLS, THREADS,
    },
    measure::{Measure, MeasureChange},
    preset::Preset,
    seed::{BadSeed, Seed},
};
pub(crate) use self::{
    groups::{Dimension, title_without, titles},
    message::scaled_message,
};
