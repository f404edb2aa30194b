//! Studies and their reports.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};
use rsalab_study::{
    part::Part,
    plan::{REPEATS, SYMBOLS, THREADS},
};

use super::{
    shared::{JsonOption, KernelOption, MeasureOptions, OutOption, SeedOption},
    values::{bits, seconds, within},
};

/// Plan a study, run it, and write a report
///
/// A study is a preset or a TOML file. Every block of measurements is stored as soon as its answers have been checked,
/// so that a study can be stopped or killed at any time; 'rsalab resume' continues it. The path of the report's page is
/// printed.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab study                              the preset 'quick': at most three minutes
  rsalab study quick --engines own,gmp --bits 1024,2048
  rsalab study text-threads                 article (a): texts of seven sizes over 8 to 1 threads
  rsalab study papers                       the articles in short form, one report
  rsalab study prime-cycles                 article (b): pairs of primes in ticks, for hours; stop and resume it
  rsalab study keygen-libraries             article (c): keys of 256 to 4096 bits, the median of ten means
  rsalab study text-threads --max-threads 4 --repeats 20 --symbols 1000,100000
  rsalab study prime-cycles --repeats 10000 ten thousand pairs at each size
  rsalab study text-threads --text my.txt   the same over a text of your own
  rsalab study cpu-gpu                      article (d): Crypto++ and Montgomery, one message or 600, and a GPU
  rsalab study cpu-gpu --bits 1280          the same at a key size of your own
  rsalab study quick --print-plan > plan.toml
  rsalab study plan.toml --out results/mine")]
pub(crate) struct Study {
    /// A preset, or a file with a plan.
    #[arg(value_name = "PRESET|FILE.toml", default_value = "quick")]
    pub(crate) plan: OsString,
    /// The directory of the study, new or empty; results/NAME-TIME if not given.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Measure a part of the plan, as 3/8: its groups of cells are dealt out in turn. All parts need one seed (--seed),
    /// and --out; the same command goes on with a part, and 'rsalab merge' makes a study of all.
    #[arg(long, value_name = "I/N", requires = "out")]
    pub(crate) shard: Option<Part>,
    /// Print the plan as a file to start from, with what the other options change of it, and measure nothing.
    #[arg(long, conflicts_with_all = ["out", "json"])]
    pub(crate) print_plan: bool,
    /// Measure these engines in place of the plan's, in every cell.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) engines: Option<Vec<String>>,
    /// Keep these of the plan's key sizes. If one is not the plan's they replace all: each is measured as the next
    /// larger one that was planned.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', value_parser = bits)]
    pub(crate) bits: Option<Vec<usize>>,
    /// Replace the plan's thread counts.
    #[arg(long, value_name = "T[,T]", value_delimiter = ',', value_parser = within(THREADS))]
    pub(crate) threads: Option<Vec<usize>>,
    /// Replace the plan's thread counts by N, N-1, down to 1.
    #[arg(long, value_name = "N", conflicts_with = "threads", value_parser = within(THREADS))]
    pub(crate) max_threads: Option<usize>,
    /// Replace the plan's text sizes, in symbols of one byte.
    #[arg(long, value_name = "N[,N]", value_delimiter = ',', value_parser = within(SYMBOLS))]
    pub(crate) symbols: Option<Vec<usize>>,
    /// Encrypt this text, of at most 1,000,000 bytes of UTF-8, in place of random ones ('-': standard input); with
    /// --symbols, its beginnings.
    #[arg(long, value_name = "FILE")]
    pub(crate) text: Option<PathBuf>,
    /// Ask for the text at the terminal.
    #[arg(long, conflicts_with = "text")]
    pub(crate) text_typed: bool,
    /// Seconds of measurement for each cell, in place of the plan's.
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) seconds: Option<f64>,
    /// Calls after which a cell ends, in place of the plan's; for texts, whole texts; of keys and pairs of primes each
    /// one counts.
    #[arg(long, value_name = "N", value_parser = within(REPEATS))]
    pub(crate) repeats: Option<u64>,
    #[command(flatten)]
    pub(crate) seed: SeedOption,
    /// Run at a lower priority, as 'nice -n N' does, 0 to 19, in place of the plan's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=19))]
    pub(crate) nice: Option<u8>,
    #[command(flatten)]
    pub(crate) kernel: KernelOption,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Continue a study that was stopped or killed
#[derive(Args)]
pub(crate) struct Resume {
    /// The directory of the study.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Merge the parts of a study, or of many keys
///
/// The parts come from 'rsalab study --shard' or 'rsalab keygen --shard'. All must be there, each once, complete, of
/// one plan, one seed and one version of rsalab; a study's also of one kind of CPU. Checksums are compared first:
/// nothing is written if anything does not fit, and the parts are left as they are.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab merge parts/* --out results/whole         a study, with its report
  rsalab merge keys-*.tar --out keys.tar           one archive of all keys
  rsalab merge keys-*.tar --out keys.jsonl         which key is in which archive; the archives stay as they are
  rsalab merge keys-*.tar --out keys.parquet       a table of the public keys")]
pub(crate) struct Merge {
    /// Directories of a study's parts, or archives of keys.
    #[arg(value_name = "PART", required = true)]
    pub(crate) parts: Vec<PathBuf>,
    /// The directory of the whole study; or an archive (FILE.tar) or an index (FILE.jsonl) of all keys, or a table of
    /// their public halves (FILE.parquet).
    #[arg(long, short, value_name = "DIR|FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Write the report of a study again, from its database or its results.json
#[derive(Args)]
pub(crate) struct Report {
    /// The directory of the study; or the results.json of a report, as it is or compressed by gzip, and then --out or
    /// --into is needed.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The directory of the report; that of the study if not given. Only what a report of the same study made is
    /// replaced.
    #[arg(long, short, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Also write results/result_BITS_run_COUNT.txt, a file for each batch of primes, as the program of article (b)
    /// does.
    #[arg(long)]
    pub(crate) batch_files: bool,
    /// Also put speeds into a Markdown file, such as a README: a table of engines and operations replaces what stands
    /// between the lines '<!-- rsalab speeds 2048 private keygen -->', with a key size and operations of the study, and
    /// '<!-- rsalab end -->'.
    #[arg(long, value_name = "FILE")]
    pub(crate) into: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Compare studies: versions, days, machines
///
/// Each is a directory of a study, or the results.json of a report. Cells of the same job on the same engine are
/// compared with the first study's. A difference is a change only if its interval, corrected for the number of cells,
/// lies more than 2 % away from 1, what a machine drifts by. Engines that did not change are the control: where they
/// moved by more than 1.5 % the machine changed, and changes of others are void; their own cells are never called
/// faster or slower. Between machines ratios are shown, and nothing is called a change.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab compare results/quick-… results/quick-…
  rsalab compare --fail-if slower base/results.json new/results.json   exit code 4 for CI
  rsalab compare --out page.html zen4/ xeon/ graviton/                 one page for many machines
  rsalab compare --bencher results/quick-… > bmf.json                  for: bencher run --adapter json --file bmf.json")]
pub(crate) struct Compare {
    /// Directories of studies, or results.json of their reports, as they are or compressed by gzip; the first is what
    /// the others are compared with.
    #[arg(value_name = "STUDY", required = true)]
    pub(crate) studies: Vec<PathBuf>,
    /// The engine that did not change, which shows whether the machine did; if not given, all engines but our own whose
    /// version and code path are the same in both.
    #[arg(long, value_name = "ENGINE")]
    pub(crate) control: Option<String>,
    /// End with exit code 4 if a cell became slower, or changed at all, or failed, or if changes are void because the
    /// machine changed.
    #[arg(long, value_name = "WHAT")]
    pub(crate) fail_if: Option<FailIf>,
    /// Also write the comparison as a page, of one file that needs nothing else.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print the cells of the last study in Bencher's Metric Format, in place of the comparison.
    #[arg(long, conflicts_with = "json")]
    pub(crate) bencher: bool,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// The change that ends the program with a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailIf {
    /// A cell became slower, or failed.
    Slower,
    /// A cell became slower or faster, or failed.
    Changed,
}

/// Write the settings that a study found to be best, for commands that read them
///
/// For each operation, key size and length of text that our own engine was measured with: the threads, the batch and
/// the kernel that are fastest, and the fastest engine of all. Of settings within 2 % of the fastest the plainest is
/// taken: no forced kernel, few threads, a small batch. 'text-encrypt', 'text-decrypt' and 'bench' read a profile, and
/// so do the libraries. What is typed comes first, then the profile, then what is built in. A profile of another CPU,
/// or of another number of CPUs, is not used, which is said.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab profile results/text-threads-… --out profile.json
  rsalab text-encrypt --profile profile.json --key public.pem message.txt --out message.rsa
  rsalab profile results/one --against results/another")]
pub(crate) struct Profile {
    /// The directory of the study.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Compare the settings with those of another study of the same machine; exit code 4 if one is more than 5 % slower
    /// than the fastest there.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) against: Option<PathBuf>,
    /// Use cells that other programs or a quota disturbed, too, and compare settings by the medians of their times.
    #[arg(long)]
    pub(crate) with_disturbed: bool,
    #[command(flatten)]
    pub(crate) out: OutOption,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Write the samples of a study to one file, for other programs
///
/// Every call that was timed is a row, or several short calls that were timed as one, with the cell that it is of and
/// its place in the order of the measurement. The column 'counted' says whether the figures of the report are made of
/// it: blocks that were interrupted and cells that are not done are written too.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  rsalab export results/quick-… --samples --out samples.csv
  rsalab export results/quick-… --samples --out samples.parquet
  rsalab export results/quick-… --samples | gzip > samples.csv.gz")]
pub(crate) struct Export {
    /// The directory of the study.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// Write the samples: the only thing to export so far.
    #[arg(long, required = true)]
    pub(crate) samples: bool,
    /// The format of the file; Parquet if its name ends in .parquet, else CSV.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<TableFormat>,
    #[command(flatten)]
    pub(crate) out: OutOption,
}

/// How a table for other programs is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Text, the names of the columns in the first line.
    Csv,
    /// Apache Parquet: smaller, and with the types of the columns.
    Parquet,
}
