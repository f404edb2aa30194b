//! The barometer.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::shared::JsonOption;

/// Measurements of many machines: pack a study, verify entries, list them
#[derive(Subcommand)]
pub(crate) enum Barometer {
    Pack(BarometerPack),
    Verify(BarometerVerify),
    Page(BarometerPage),
}

/// Make an entry of a complete study, to be sent
///
/// The entry holds every sample, the machine's description, and the checksum of this program. It is verified before it
/// is written, but for the checksum, which is compared where published programs are known.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab barometer pack results/quick-… --out my-machine.json.gz")]
pub(crate) struct BarometerPack {
    /// The directory of the study.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// The file of the entry.
    #[arg(long, short, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// Verify entries
///
/// Checksums, facts of the machine, samples, figures computed again from them, what a CPU can do at most, and what is
/// known of engines relative to each other. Exit code 3: a file is no entry. Exit code 4: an entry is refused.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab barometer verify docs/results/barometer/*.json.gz --programs docs/results/barometer/programs.toml")]
pub(crate) struct BarometerVerify {
    /// The entries.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The published programs, by version and checksum; without them no program is known.
    #[arg(long, value_name = "FILE")]
    pub(crate) programs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) json: JsonOption,
}

/// Print the page that lists the entries of a directory, by CPU
///
/// Each is verified; one that is refused ends the program with exit code 4, and there is no page.
#[derive(Args)]
#[command(after_long_help = "\
Example:
  rsalab barometer page docs/results/barometer > docs/results/barometer/README.md")]
pub(crate) struct BarometerPage {
    /// The directory: entries (*.json.gz), and programs.toml.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
}
