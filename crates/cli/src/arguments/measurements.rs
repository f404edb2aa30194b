//! Measurements that are not stored, engines, and their conformance.

use std::{ops::RangeInclusive, path::PathBuf};

use clap::{Args, builder::PossibleValuesParser};
use rsalab_engines::Op;
use rsalab_study::plan::{BATCH, KEYS, MESSAGE_BYTES, PRIMES, SYMBOLS, THREADS};

use super::{
    shared::{JsonOption, KernelOption, MeasureOptions, SeedOption},
    values::{bits, op, pause, seconds, share, within},
};

/// Random inputs of one operation.
const CASES: RangeInclusive<usize> = 1..=1_000_000;
/// Runs of a calibration.
const RUNS: RangeInclusive<usize> = 1..=10_000;
/// Launches of one comparison.
const LAUNCHES: RangeInclusive<usize> = 1..=1000;

/// Compare engines on a few cells, now
///
/// Every engine gets the same inputs and the same key. Their blocks of measurements are interleaved, so that the ratios
/// hold even on a machine whose speed drifts. Nothing is stored.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab bench --op private --bits 2048 --engines own,openssl,gmp
  rsalab bench --op private --bits 1024 --engines own,gmp --bare
  rsalab bench --op sign --engines own,openssl --batch 16 --keys 8
  rsalab bench --op text_encrypt --bits 1024 --engines own --threads 4 --json")]
pub(crate) struct Bench {
    /// The operation.
    #[arg(long, value_name = "OP", value_parser = op())]
    pub(crate) op: Op,
    /// Bits of the modulus; several are separated by commas.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', default_value = "2048", value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Engines; the others are compared with the first, and one that is named twice with itself.
    #[arg(long, value_name = "A,B", value_delimiter = ',', required = true)]
    pub(crate) engines: Vec<String>,
    /// Threads that run at once; 1 if neither this nor --profile is given.
    #[arg(long, value_name = "T", value_parser = within(THREADS))]
    pub(crate) threads: Option<usize>,
    /// Items that an engine gets in one call; 1 if neither this nor --profile is given.
    #[arg(long, value_name = "B", value_parser = within(BATCH))]
    pub(crate) batch: Option<usize>,
    /// Take the threads and the batch, where not given, from a profile that 'rsalab profile' wrote, for the first of
    /// the sizes.
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,
    /// Primes of the key, 2 to 5, for the operations that use them.
    #[arg(long, value_name = "P", default_value_t = 2, value_parser = within(PRIMES))]
    pub(crate) primes: usize,
    /// Keys that the items of a batch are under by turns; they divide the batch.
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = within(KEYS))]
    pub(crate) keys: usize,
    /// Bytes of each message, for sign_message.
    #[arg(long, value_name = "N", value_parser = within(MESSAGE_BYTES))]
    pub(crate) message_bytes: Option<usize>,
    /// Bytes of the text, for the operations that take one.
    #[arg(long, value_name = "N", value_parser = within(SYMBOLS))]
    pub(crate) symbols: Option<usize>,
    #[command(flatten)]
    pub(crate) seed: SeedOption,
    /// Our own engine without blinding and without the check of its results, as bare peers work.
    #[arg(long)]
    pub(crate) bare: bool,
    /// Seconds of measurement for each engine at each size.
    #[arg(long, value_name = "S", default_value_t = 3.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Start the workers L times: where an engine lies in memory can change its speed.
    #[arg(long, value_name = "L", default_value_t = 1, value_parser = within(LAUNCHES))]
    pub(crate) launches: usize,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// List the engines, and how to install the ones that are absent
#[derive(Args)]
pub(crate) struct Engines {
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Compare the answers of engines, or answer requests from a stream: conformance
///
/// Each engine does the operations on the same inputs through its worker, as in a study; every answer is compared with
/// a plain model. Nothing is timed.
///
/// With '-' this program answers requests from standard input, a JSON object a line, with a line each: verify, sign,
/// encrypt, decrypt, raw_priv, raw_pub, primality, keygen_kat, keycheck and loadkey. docs/src/reference/conformance.md
/// lists the fields.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab vectors
  rsalab vectors --engines own,gmp:powm_sec --bits 2048 --count 100 --json
  rsalab vectors - --kernel mont64x1_portable --batch 33 < requests.jsonl > answers.jsonl")]
pub(crate) struct Vectors {
    /// '-': answer the requests on standard input.
    #[arg(value_name = "-", value_parser = PossibleValuesParser::new(["-"]), conflicts_with_all = ["engines", "bits", "count", "seed", "json"])]
    pub(crate) stream: Option<String>,
    /// Take N requests at once, and batch those of one key and scheme.
    #[arg(long, value_name = "N", requires = "stream", value_parser = within(BATCH))]
    pub(crate) batch: Option<usize>,
    /// The engines; every installed one if not given.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) engines: Option<Vec<String>>,
    /// Bits of the modulus.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', default_values_t = [768, 1024, 2048, 3072, 4096, 6144], value_parser = bits)]
    pub(crate) bits: Vec<usize>,
    /// Random inputs of each operation at each size.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = within(CASES))]
    pub(crate) count: usize,
    #[command(flatten)]
    pub(crate) seed: SeedOption,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Describe this machine, and say whether it is too busy to measure on
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab machine
  rsalab machine --calibrate
  rsalab machine --calibrate --launches 6 --seconds 2
  rsalab machine --calibrate --op keygen --engine openssl --seconds 60")]
pub(crate) struct Machine {
    /// Measure this machine's rates of false alarms and of missed differences: an engine is compared with itself, and
    /// with itself after a known delay, again and again.
    #[arg(long)]
    pub(crate) calibrate: bool,
    #[command(flatten)]
    pub(crate) calibration: Calibration,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Measurements of a calibration.
#[derive(Args)]
pub(crate) struct Calibration {
    /// The engine.
    #[arg(long, value_name = "NAME", default_value = "own", requires = "calibrate")]
    pub(crate) engine: String,
    /// The operation.
    #[arg(long, value_name = "OP", default_value = "private", value_parser = op(), requires = "calibrate")]
    pub(crate) op: Op,
    /// Bits of the modulus.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = bits, requires = "calibrate")]
    pub(crate) bits: usize,
    /// Repetitions, each with new workers.
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = within(RUNS), requires = "calibrate")]
    pub(crate) runs: usize,
    /// Seconds of measurement for each worker in each launch.
    #[arg(long, value_name = "S", default_value_t = 4.0, value_parser = seconds, requires = "calibrate")]
    pub(crate) seconds: f64,
    /// Start the workers L times in each run, whose ratio is the median: what a new worker changes, as its memory lies
    /// elsewhere, is then in the interval. Intervals of 95 % take 6.
    #[arg(long, value_name = "L", default_value_t = 1, value_parser = within(LAUNCHES), requires = "calibrate")]
    pub(crate) launches: usize,
    /// The delay, as a fraction of a call's time, 0 for none; if not given, 0.02, and none for operations of random
    /// duration.
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "calibrate")]
    pub(crate) plant: Option<f64>,
    /// Let the delay add up to pauses of so many milliseconds, in place of one after each call: '--plant 0.1 --pause 5'
    /// is a pause of 5 ms after 50 ms of work, in the mean.
    #[arg(long, value_name = "MS", value_parser = pause, default_value = "0", requires = "calibrate")]
    pub(crate) pause: f64,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
}

/// Print the completions of a shell
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab completions bash > ~/.local/share/bash-completion/completions/rsalab")]
pub(crate) struct Completions {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Serve an engine over standard input and output; started by the other commands
#[derive(Args)]
#[command(hide = true)]
pub(crate) struct Worker {
    /// The engine.
    #[arg(long, value_name = "NAME")]
    pub(crate) engine: String,
    /// Make every call longer by this fraction of its time.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) plant: Option<f64>,
    /// In pauses of so many milliseconds in the mean.
    #[arg(long, value_name = "MS", value_parser = pause, default_value = "0")]
    pub(crate) pause: f64,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
}
